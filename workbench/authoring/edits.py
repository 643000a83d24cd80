"""Edits of a draft by search and replace: its author sends what changes, and not all of it again."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from ..errors import Invalid, Loc, Problem, instead
from ..messages import counted
from ..recipe.jsontext import read_json, show
from ..recipe.strict import kind

PARTS = ("name", "plan", "params", "transform")
SHAPE = '{"say": text, "edits": [{"part": "plan", "old": text, "new": text}, ...]}'
HOW = (
    f"Edits are {SHAPE}; `part` is {', '.join(PARTS[:-1])} or {PARTS[-1]} (the script); `old` is copied from that part "
    "and long enough to be there only once; `new` takes its place. They apply in order."
)
"""What an author must know to send edits; texts for authors say it."""
MOST_EDITS = 100
_KEYS = ("part", "old", "new")
_SIGNS = re.compile(r"\s+|[{}\[\],:]|[^\s{}\[\],:]+")
_SHOWN = 120
_LONGEST_LINE = 2000


def texts_of(draft: Mapping[str, JsonValue]) -> dict[str, str]:
    """The parts of a draft as texts, in which edits are looked for. Plan and params have a line for each entry."""
    config = draft.get("config")
    parts = config if isinstance(config, dict) else {}
    plan = parts.get("plan")
    return {
        "name": str(draft.get("name", "")),
        "plan": _in_lines(plan, inside="steps"),
        "params": _in_lines(parts.get("params") or {}),
        "transform": str(parts.get("transform", "")),
    }


def edited(
    draft: Mapping[str, JsonValue] | None, edits: Sequence[JsonValue]
) -> tuple[dict[str, JsonValue] | None, list[Problem]]:
    """The draft with all edits, or None and everything that is wrong with them: then nothing is changed.

    Parameters
    ----------
    draft : a name and a recipe, also an unsound one; None if there is nothing to change.
    edits : objects with ``part``, ``old`` and ``new``, as they were sent.
    """
    at: Loc = ("edits",)
    if draft is None:
        return None, [Problem(at, "There is no plot to change here. Send the whole draft.", "no_draft")]
    if not 0 < len(edits) <= MOST_EDITS:
        message = f"'edits' has {len(edits)} entries; 1 to {MOST_EDITS} are allowed."
        return None, [Problem(at, message, "too_short" if not edits else "too_long")]
    texts = texts_of(draft)
    problems: list[Problem] = []
    for place, raw in enumerate(edits):
        found = list(_wrong(raw, (*at, place)))
        if found or not isinstance(raw, dict):
            problems += found
            continue
        part, old, new = (str(raw[key]) for key in _KEYS)
        problem = _replace(texts, part, old, new)
        if problem is not None:
            problems.append(Problem((*at, place, "old"), problem, "not_once"))
    if problems:
        return None, problems
    return _draft_of(draft, texts)


def _wrong(raw: JsonValue, at: Loc) -> Iterator[Problem]:
    """What is wrong with the shape of one edit."""
    if not isinstance(raw, dict):
        yield Problem(at, f'An edit is {{"part", "old", "new"}}, not {kind(raw)}.', "dict_type")
        return
    for name in raw:
        if name not in _KEYS:
            yield Problem((*at, name), f"'{name}' is not a part of an edit. {instead(name, _KEYS, 'parts')}")
    for key in _KEYS:
        value = raw.get(key)
        if not isinstance(value, str):
            message = f"'{key}' needs a text, not {kind(value)}." if key in raw else f"'{key}' is missing."
            yield Problem((*at, key), message, "string_type" if key in raw else "missing")
    part = raw.get("part")
    if isinstance(part, str) and part not in PARTS:
        yield Problem((*at, "part"), f"A draft has no part '{part}'. {instead(part, PARTS, 'parts')}")
    if raw.get("old") == "":
        hint = "To add text, give a line that is there as 'old', and it with the addition as 'new'."
        yield Problem((*at, "old"), f"'old' is empty. {hint}", "string_too_short")


def _replace(texts: dict[str, str], part: str, old: str, new: str) -> str | None:
    """Change the text of a part; a sentence if ``old`` is not there exactly once."""
    text = texts[part]
    # JSON means the same however it is broken into lines; a script does not.
    pattern = re.escape(old) if part in ("name", "transform") else _with_any_spaces(old)
    found = list(re.finditer(pattern, text))
    if len(found) == 1:
        texts[part] = text[: found[0].start()] + new + text[found[0].end() :]
        return None
    what = show(old, _SHOWN)
    if found:
        lines = sorted({text.count("\n", 0, one.start()) + 1 for one in found})
        where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
        more = "Give more of the text around the place that you mean."
        return f"{what} is in '{part}' {counted(len(found), 'time')}, in {where}. {more}"
    return f"{what} is not in '{part}'. {_nearest(text, old) or _elsewhere(texts, part, old)}"


def _nearest(text: str, old: str) -> str:
    """A sentence on the line that has the longest part of what was looked for; empty if none has half of it."""
    wanted = max(old.strip().splitlines() or [""], key=len).strip()[: 2 * _SHOWN]
    best, line = 0, ""
    for one in text.splitlines():
        matcher = difflib.SequenceMatcher(None, wanted, one[:_LONGEST_LINE], autojunk=False)
        size = matcher.find_longest_match().size
        if size > best:
            best, line = size, one.strip()
    return f"The nearest line there is {show(line, 2 * _SHOWN)}." if 2 * best > len(wanted) else ""


def _elsewhere(texts: Mapping[str, str], part: str, old: str) -> str:
    others = [name for name, text in texts.items() if name != part and re.search(_with_any_spaces(old), text)]
    return f"It is in '{others[0]}'." if others else "Copy the text as it is there."


def _with_any_spaces(old: str) -> str:
    """A pattern for a part of a JSON text, however its spaces and lines are set."""
    made: list[str] = []
    for sign in _SIGNS.findall(old.strip()):
        around = r"\s*"
        pieces = [around] if sign.isspace() else [re.escape(sign)]
        if sign in "{}[],:":
            pieces = [around, re.escape(sign), around]
        made += [one for place, one in enumerate(pieces) if place or not made or one != made[-1] or one != around]
    return "".join(made).removeprefix(r"\s*").removesuffix(r"\s*")


def _draft_of(
    before: Mapping[str, JsonValue], texts: Mapping[str, str]
) -> tuple[dict[str, JsonValue] | None, list[Problem]]:
    """The draft of the changed texts; what was not changed stays as it was."""
    old, config = texts_of(before), before.get("config")
    recipe = dict(config) if isinstance(config, dict) else {}
    problems: list[Problem] = []
    for part in ("plan", "params"):
        if texts[part] == old[part]:
            continue
        try:
            recipe[part] = read_json(texts[part], ("edits",))
        except Invalid as error:
            problems += [
                Problem(one.loc, f"After the edits, '{part}' is not JSON. {one.msg}", one.type, one.ctx)
                for one in error.problems
            ]
    if texts["transform"] != old["transform"]:
        recipe["transform"] = texts["transform"]
    return (None, problems) if problems else ({**before, "name": texts["name"], "config": recipe}, [])


def _in_lines(value: JsonValue, inside: str = "") -> str:
    """JSON with a line for each entry of an object, or of the object ``inside`` it."""
    if not isinstance(value, dict):
        return _json(value)
    if inside and isinstance(value.get(inside), dict):
        entries = [
            f"{_json(key)}: {_in_lines(one) if key == inside else _json(one)}" for key, one in value.items()
        ]
        return f"{{{', '.join(entries)}}}"
    lines = ",\n".join(f"{_json(key)}: {_json(one)}" for key, one in value.items())
    return f"{{\n{lines}}}" if lines else "{}"


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
