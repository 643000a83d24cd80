"""Edits of a draft by search and replace: its author sends what changes, and not all of it again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from ..errors import Invalid, Loc, Problem, instead
from ..messages import counted
from ..recipe.jsontext import read_json, show
from ..recipe.strict import kind

PARTS = ("name", "plan", "params", "transform")
_OF_JSON = ("plan", "params")
SHAPE = '{"say": text, "edits": [{"part": "plan", "old": text, "new": text}, ...]}'
HOW = (
    f"Edits are {SHAPE}; `part` is {', '.join(PARTS[:-1])} or {PARTS[-1]} (the script); `old` is copied from that part "
    "and long enough to be there only once; `new` takes its place. They apply in order."
)
"""What an author must know to send edits; texts for authors say it."""
MOST_EDITS = 100
_KEYS = ("part", "old", "new")
_SPACES = re.compile(r"\s+")
_NO_SPACE = re.compile(r"\S")
_AROUND = re.compile(r" ?([{}\[\],:]) ?")
_SHOWN = 120
_MOST_LINES = 10
_LOOKED_AT = 100_000
"""Characters of a part in which the nearest line is looked for."""


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
    old = raw.get("old")
    if old == "" or (isinstance(old, str) and old.isspace() and part in _OF_JSON):
        hint = "To add text, give a line that is there as 'old', and it with the addition as 'new'."
        yield Problem((*at, "old"), f"'old' is empty. {hint}", "string_too_short")


def _replace(texts: dict[str, str], part: str, old: str, new: str) -> str | None:
    """Change the text of a part; a sentence if ``old`` is not there exactly once."""
    text = texts[part]
    # JSON means the same however it is broken into lines; a script does not.
    found = _places(text, old) if part not in _OF_JSON else _places_of_json(text, old)
    if len(found) == 1:
        start, end = found[0]
        texts[part] = text[:start] + new + text[end:]
        return None
    what = show(old, _SHOWN)
    if found:
        lines = list(dict.fromkeys(text.count("\n", 0, start) + 1 for start, _ in found[:_MOST_LINES]))
        where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
        where += " and more" if len(found) > _MOST_LINES else ""
        more = "Give more of the text around the place that you mean."
        return f"{what} is in '{part}' {counted(len(found), 'time')}, in {where}. {more}"
    return f"{what} is not in '{part}'. {_nearest(text, old) or _elsewhere(texts, part, old)}"


def _nearest(text: str, old: str) -> str:
    """A sentence on the line that has the longest part of what was looked for; empty if none has half of it."""
    wanted = max(old.strip().splitlines() or [""], key=len).strip()[: 2 * _SHOWN]
    text = text[:_LOOKED_AT]

    def found(size: int) -> list[int]:
        parts = {wanted[start : start + size] for start in range(len(wanted) - size + 1)}
        return [place for part in parts if (place := text.find(part)) >= 0]

    # Text that has a part of some length has all the shorter ones in it too.
    least, most = len(wanted) // 2 + 1, len(wanted)
    while least < most:
        size = (least + most + 1) // 2
        least, most = (size, most) if found(size) else (least, size - 1)
    places = found(least) if wanted else []
    if not places:
        return ""
    line = text.count("\n", 0, min(places))
    return f"The nearest line there is {show(text.split(chr(10))[line].strip(), 2 * _SHOWN)}."


def _elsewhere(texts: Mapping[str, str], part: str, old: str) -> str:
    wanted = _bare(old)
    others = [name for name, text in texts.items() if name != part and wanted in _bare(text)]
    return f"It is in '{others[0]}'." if others else "Copy the text as it is there."


def _places(text: str, old: str) -> list[tuple[int, int]]:
    """Where a text is in another, from the first place on without overlaps."""
    found: list[tuple[int, int]] = []
    at = text.find(old)
    while at >= 0:
        found.append((at, at + len(old)))
        at = text.find(old, at + len(old))
    return found


def _places_of_json(text: str, old: str) -> list[tuple[int, int]]:
    """Where a part of a JSON text is, however its spaces and lines are set. It takes linear time, which a pattern with
    spaces between all signs would not."""
    bare = _bare(text)
    found = _places(bare, _bare(old))
    if not found:
        return []
    # Both texts have the same signs in the same order, but for spaces.
    signs = [sign.start() for sign in _NO_SPACE.finditer(text)]
    made: list[tuple[int, int]] = []
    before = last = 0
    for start, end in found:
        first = before + (start - last) - bare.count(" ", last, start)
        before, last = first + (end - start) - bare.count(" ", start, end), end
        made.append((signs[first], signs[before - 1] + 1))
    return made


def _bare(text: str) -> str:
    """JSON without the spaces around its signs, and with one where words have some between them."""
    return _AROUND.sub(r"\1", _SPACES.sub(" ", text.strip()))


def _draft_of(
    before: Mapping[str, JsonValue], texts: Mapping[str, str]
) -> tuple[dict[str, JsonValue] | None, list[Problem]]:
    """The draft of the changed texts; what was not changed stays as it was."""
    old, config = texts_of(before), before.get("config")
    recipe = dict(config) if isinstance(config, dict) else {}
    problems: list[Problem] = []
    for part in _OF_JSON:
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
