"""The two texts from which a language model, or a person, writes a recipe for one project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from pydantic import JsonValue

from ..cycling.steps import STEP_TYPES
from ..recipe.modules import ALLOWED, GIVEN
from ..records import Session
from ..records.catalog import Catalog
from . import catalog_text as sources
from .edits import HOW, texts_of
from .examples import examples
from .helpers import MOST as MOST_ANALYSES
from .helpers import analyses, helpers
from .recipe_fields import fields
from .topics import Wish

ROOM = 24_000
"""Characters of both texts that the catalog may fill up."""
LEAST, MOST = 6_000, 14_000
"""Fewest and most characters of the catalog, whatever the length of the other parts."""
_MORE = "# More of `battery`, nearest to the wish first"
_ANALYSES = "Tables of analyses have `Valid` (false: not computed) and `Warning` (why)."
_RULES = Path(__file__).with_name("rules.md")
_TASK = (
    "You write plots for a battery data workbench. Answer with one JSON object and nothing else: "
    '{"say": text, "draft": an AuthoringDraft, or null}. '
    "`say` is for the person, in the language of the wish. In the draft use only the "
    "fields, columns and helpers named here. The script is one JSON text: write line breaks as \\n, and single quotes."
)


@dataclass(frozen=True)
class AuthoringContext:
    """What a writer of recipes must know: ``system`` holds for all projects, ``prompt`` for this one and this wish;
    ``session_id`` is the conversation they belong to."""

    session_id: str
    system: str
    prompt: str


@cache
def system_text() -> str:
    """The recipe, its meaning, the script's helpers and worked examples."""
    parts = [
        _TASK,
        _rules(),
        f"# Helpers for scripts: `from workbench import battery`\n\n{helpers()}",
        f"# Fields and limits\n\n{fields()}",
        f"# Examples of answers\n\n{examples()}",
    ]
    return "\n\n".join(parts)


def prompt_text(
    prompt: str, catalog: Catalog, draft: Mapping[str, JsonValue] | None = None, tests: Sequence[str] = ()
) -> str:
    """The catalog of the project, what is known of its tests (``tests``, parts of a text, the most important first),
    the recipe to be changed, if there is one, and the wish."""
    wish = Wish(prompt)
    changed = [] if draft is None else [_to_be_changed(draft)]
    wanted = [*changed, f"# What is wanted\n\n{prompt}"]
    # A plot that is to be changed comes on top.
    room = ROOM + sum(map(len, texts_of(draft).values() if draft is not None else ()))
    options = list(_less_and_less(wish, tests))
    least = len(sources.told(catalog, LEAST, wish))
    for told, held in options:
        parts = [*([f"{_MORE}\n\n{_ANALYSES}\n{told}"] if told else []), *held, *wanted]
        left = room - len(system_text()) - sum(len(part) for part in parts) - 2 * len(parts)
        if left >= least:
            break
    return "\n\n".join([sources.told(catalog, min(max(left, LEAST), MOST), wish), *parts])


def _less_and_less(wish: Wish, tests: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """The analyses and the parts about tests, in fewer and fewer words: the names of the project come before them.

    What gives way first are the names of helpers that are not near the wish, the columns of analyses, and what is said
    of a second one; then, one by one, the parts about tests but the first; then the analyses; then that part.
    """
    for columns, others, most in product((True, False), (True, False), range(MOST_ANALYSES, 0, -1)):
        yield analyses(wish, most, columns=columns, others=others), tests
    nearest = analyses(wish, 1, columns=False, others=False)
    for kept in range(len(tests) - 1, 0, -1):
        yield nearest, tests[:kept]
    yield "", tests[:1]
    yield nearest, ()
    yield "", ()


def texts(
    session: Session,
    prompt: str,
    catalog: Catalog,
    draft: Mapping[str, JsonValue] | None = None,
    tests: Sequence[str] = (),
) -> AuthoringContext:
    """Both texts; ``draft`` is the named recipe that is to be changed, ``tests`` what is known of the tests."""
    return AuthoringContext(session.id, system_text(), prompt_text(prompt, catalog, draft, tests))


def _to_be_changed(draft: Mapping[str, JsonValue]) -> str:
    texts = texts_of(draft)
    fenced = {"plan": "json", "params": "json", "transform": "python"}
    shown = [f"`{part}`:\n```{kind}\n{texts[part].rstrip()}\n```" for part, kind in fenced.items()]
    how = f"Answer with edits of these parts in place of `draft`, or with the whole draft, as changed. {HOW}"
    return "\n\n".join(["# The plot to be changed", how, f"`name`: {texts['name']}", *shown])


def _rules() -> str:
    given = ", ".join(f"`{name}` ({module})" for name, module in GIVEN.items())
    text = _RULES.read_text("utf-8").strip()
    for name, words in (
        ("{given}", given),
        ("{allowed}", ALLOWED),
        ("{step_types}", ", ".join(STEP_TYPES)),
    ):
        text = text.replace(name, words)
    return text
