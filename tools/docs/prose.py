"""Docstrings and signatures as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

MADE = "Made from the code by `python -m tools.docs`; change it there."
_SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)


def cell(text: str) -> str:
    return marked(" ".join(text.split())).replace("|", "\\|")


def marked(text: str) -> str:
    return text.replace("``", "`")


def described(function: Callable[..., object], name: str) -> Iterator[str]:
    signature = inspect.signature(function)
    shown = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in ("self", "cls")]
    yield f"`{name}{signature.replace(parameters=shown, return_annotation=signature.empty)}`"
    answer = signature.return_annotation
    if isinstance(answer, str) and answer not in ("None", "R"):
        yield f"-> `{answer}`"
    yield ""
    yield from prose(inspect.getdoc(function) or "")


def prose(text: str) -> Iterator[str]:
    """A docstring as Markdown: its sections as lists, its examples as code."""
    parts = _SECTION.split(text)
    yield from _paragraphs(parts[0])
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        yield f"{title}:"
        yield ""
        yield from _items(body)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            yield from ("```pycon", paragraph, "```", "")
        elif paragraph:
            yield from (marked(paragraph), "")


def _items(body: str) -> Iterator[str]:
    prose, *rest = re.split(r"\n\n(?=\S)", body.strip("\n"), maxsplit=1)
    for item in re.split(r"\n(?=\S)", prose):
        head, *told = (line.strip() for line in item.split("\n"))
        named, colon, first = head.partition(" : ")
        words = " ".join([first, *told] if colon else told)
        yield marked(f"- **{named}**: {words}" if words else f"- {named}")
    yield ""
    for text in rest:
        yield from _paragraphs(text)
