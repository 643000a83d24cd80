"""Reads the answer of a language model, or what a person pasted: what it says, and the draft in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from ..errors import Invalid, Loc, Problem, instead
from ..recipe.jsontext import plain, read_json, show
from ..recipe.strict import Raw, kind
from .edits import SHAPE

PARTS = ("say", "draft", "edits")
_DRAFT = ("name", "config")
_RECIPE = ("plan", "transform")
MOST_SAID = 10_000
"""Characters of what is said to the person."""
_FENCE = re.compile(r"```[a-zA-Z]*[^\S\n]*\n")
_FENCE_ENDS = re.compile(r"\n[^\S\n]*```")
_OPENS = re.compile(r"""\{\s*["']|^\s*\{""")
"""The beginning of an object, among words that may have braces of their own."""
_BROKEN = re.compile("[\0\ud800-\udfff]")
"""What is not a character: it can be in JSON, and neither in a store nor in a reply."""


@dataclass(frozen=True)
class Answer:
    """An answer as it was sent. ``draft`` may be unsound; ``edits`` change a draft that its reader has; ``problems``
    are those of the answer around them."""

    say: str
    draft: JsonValue
    problems: tuple[Problem, ...] = ()
    edits: tuple[JsonValue, ...] | None = None


def read_answer(raw: Raw) -> Answer:
    """The answer in a text or an object. Nothing is raised: what cannot be read is a problem.

    A text may have words around its JSON, or a fence of Markdown. A text without any JSON is an answer in words. An
    object may be the draft itself, without ``say``.
    """
    if isinstance(raw, str):
        return _of_text(raw)
    value, problems = plain(raw)
    if not isinstance(value, dict):
        return Answer("", None, (Problem((), f"{_EXPECTED}, not {kind(value)}.", "model_type"),))
    return _of_object(value, problems)


_EXPECTED = 'An answer is one JSON object {"say": text, "draft": {"name", "config"} or null}'


def _of_text(text: str) -> Answer:
    opens = _OPENS.search(text)
    if opens is None:
        said = _unfenced(text).strip()
        return _said(said, None) if said else Answer("", None, (Problem((), f"{_EXPECTED}, not an empty text."),))
    found, before = _json_in(text, opens.start())
    try:
        value = read_json(found, ())
    except Invalid as error:
        return Answer("", None, tuple(error.problems))
    if not isinstance(value, dict):
        return Answer("", None, (Problem((), f"{_EXPECTED}, not {kind(value)}.", "model_type"),))
    made = _of_object(value, [])
    return made if made.say or "say" in value else replace(made, say=before[:MOST_SAID])


def _unfenced(text: str) -> str:
    return next((inside for _, inside in _fenced(text)), text)


def _fenced(text: str) -> Iterator[tuple[int, str]]:
    """The parts of a text in fences, each with the place of its fence. It takes linear time: one pattern for a whole
    part would take hours for a text with many empty lines."""
    at = 0
    while (begun := _FENCE.search(text, at)) and (end := _FENCE_ENDS.search(text, begun.end())):
        yield begun.start(), text[begun.end() : end.start()].strip()
        at = end.end()


def _json_in(text: str, start: int) -> tuple[str, str]:
    """The JSON of a text, and the words before it: a fenced part that is an object, else from ``start`` on."""
    for place, inside in _fenced(text):
        if inside.startswith("{"):
            return inside, text[:place].strip()
    end = text.rfind("}")
    return text[start : end + 1] if end > start else text[start:], text[:start].strip()


def whole_characters(text: str) -> str:
    """A text with a sign in the place of what is not a character: NUL, and halves of surrogate pairs."""
    return _BROKEN.sub("\ufffd", text)


def _whole(value: JsonValue, at: Loc, problems: list[Problem]) -> JsonValue:
    """A value whose texts are whole; where one was not is a problem."""
    if isinstance(value, dict):
        return {
            _whole_text(key, at, problems): _whole(one, (*at, whole_characters(key)), problems)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_whole(one, (*at, place), problems) for place, one in enumerate(value)]
    return _whole_text(value, at, problems) if isinstance(value, str) else value


def _whole_text(text: str, at: Loc, problems: list[Problem]) -> str:
    found = _BROKEN.search(text)
    if found:
        message = f"The text holds U+{ord(found[0]):04X}, which is not a character. Leave it out."
        problems.append(Problem(at, message, "string_unicode"))
    return whole_characters(text)


def _of_object(raw: dict[str, JsonValue], problems: list[Problem]) -> Answer:
    value = {
        name: one if name == "say" else _whole(one, (whole_characters(name),), problems)
        for name, one in raw.items()
    }
    if "config" in value and "draft" not in value:
        say = value.get("say")
        bare = {key: part for key, part in value.items() if key != "say"}
        return _said(say, bare, [one.below(("draft",)) for one in problems])
    if set(_RECIPE) & value.keys() and not set(PARTS) & value.keys():
        wrong = 'This is a recipe alone. Send {"say": text, "draft": {"name": text, "config": the recipe}}.'
        return Answer("", None, (Problem((), wrong, "model_type"),))
    for name in value:
        if name not in PARTS:
            hint = f"'{name}' is not a part of an answer. {instead(name, PARTS, 'parts')}"
            problems.append(Problem((name,), hint, "extra_forbidden"))
    edits = value.get("edits")
    if edits is not None:
        return _with_edits(value, edits, problems)
    if "draft" not in value and not value.get("say"):
        problems.append(Problem(("draft",), f"'draft' is missing. {_EXPECTED}.", "missing"))
    draft = value.get("draft")
    if draft is not None and not isinstance(draft, Mapping):
        problems.append(Problem(("draft",), f"'draft' needs an object or null, not {kind(draft)}.", "dict_type"))
        draft = None
    if draft is None and not value.get("say") and not problems:
        problems.append(Problem(("say",), "Without a draft, 'say' must give the reason in words.", "missing"))
    return _said(value.get("say"), draft, problems)


def _with_edits(value: Mapping[str, JsonValue], edits: JsonValue, problems: list[Problem]) -> Answer:
    if value.get("draft") is not None:
        problems.append(
            Problem(("edits",), "Send a draft or edits of the one that is there, not both.", "value_error")
        )
    if not isinstance(edits, list):
        problems.append(Problem(("edits",), f"'edits' needs a list, not {kind(edits)}: {SHAPE}.", "list_type"))
        edits = []
    return replace(_said(value.get("say"), None, problems), edits=tuple(edits))


def _said(say: JsonValue, draft: JsonValue, problems: list[Problem] | None = None) -> Answer:
    found = problems or []
    if say is not None and not isinstance(say, str):
        found.append(Problem(("say",), f"'say' needs a text, not {kind(say)} ({show(say, 40)}).", "string_type"))
        say = None
    say = whole_characters(say) if isinstance(say, str) else None
    if say is not None and len(say) > MOST_SAID:
        message = f"'say' has {len(say)} characters; at most {MOST_SAID} are allowed."
        found.append(Problem(("say",), message, "string_too_long"))
        say = say[:MOST_SAID]
    return Answer(say or "", draft, tuple(found))


def place_in(answer: Loc) -> Loc:
    """The place of a problem of a recipe (``config`` ...) in the answer that holds it."""
    return ("draft", *answer) if answer[:1] == ("config",) else answer
