"""The page of the analyses: what each is, and its numbers beside those of a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules

from tools import validation
from tools.validation import Check
from workbench import battery

from .prose import MADE, described, marked

_HEAD = f"""`from workbench import battery`: each analysis is a function of a frame that gives a frame: its columns,
then `Valid` and `Warning`. A row that cannot be computed is there, with nulls and the reason; what concerns the whole
table is in `.attrs["warnings"]`, each with a code, a message and what it concerns. No analysis guesses: it gives a
right number or a reason.

## Our numbers beside those of others

`{validation.COMMAND}` computes the numbers where the data and the other programs are; tests compute them again. A
difference is ours less that of the reference, in the unit of the quantity.
"""


def page() -> str:
    """The page as Markdown."""
    lines = ["# Analyses", "", f"<!-- {MADE} -->", "", _HEAD]
    lines += _table([check for checks in validation.written().values() for check in checks])
    for title, functions in families():
        lines += [f"## {title}", ""]
        for function in functions:
            lines += [f"### {function.__name__}", "", *described(function, f"battery.{function.__name__}")]
    return "\n".join(lines).rstrip("\n") + "\n"


def families() -> Iterator[tuple[str, list[Callable[..., object]]]]:
    """Each family of analyses, a package in ``workbench.battery``, by the first words of its docstring, and its
    functions."""
    for item in iter_modules(battery.__path__):
        if item.ispkg:
            family = import_module(f"{battery.__name__}.{item.name}")
            yield marked((family.__doc__ or "").split(":")[0]), [getattr(family, name) for name in family.__all__]


def _table(checks: list[Check]) -> Iterator[str]:
    yield "| analysis | quantity | case | reference | its number | our number | difference | allowed |"
    yield "|---|---|---|---|---|---|---|---|"
    for check in sorted(checks, key=lambda check: check.analysis):
        numbers = f"{check.its:.6g} | {check.ours:.6g} | {check.difference:.2g} | {check.allowed:.2g}"
        yield f"| `{check.analysis}` | {check.quantity} | {check.case} | {check.reference} | {numbers} |"
    yield ""
