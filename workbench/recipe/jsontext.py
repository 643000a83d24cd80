"""From JSON text, or from what Python hands over, to plain JSON values; whatever JSON cannot say is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime

from pydantic import JsonValue

from ..errors import Invalid, Loc, Problem
from ..messages import said_of_json
from .strict import Raw

MOST_DEPTH = 64
_LEAST, _MOST = -(2**63), 2**63 - 1


def read_json(text: str | bytes, at: Loc = ("config",)) -> JsonValue:
    """The value of a JSON text.

    Raises
    ------
    Invalid
        If the text is not JSON, names a key twice in one object or nests too deep; with line and column.
    """

    def once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        made = dict(pairs)
        if len(made) < len(pairs):
            seen: set[str] = set()
            # set.add gives None, so `or` only remembers the key.
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise Invalid(Problem(at, f"The key '{twice}' stands twice in one object; keep one.", "json_twice"))
        return made

    try:
        value: JsonValue = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        # Python's words for a line break in a text end in 'at'.
        message = (
            f"This is not JSON: {error.msg.removesuffix(' at')} in line {error.lineno}, column {error.colno}."
        )
        raise Invalid(Problem(at, message, "json_invalid", place)) from None
    except (UnicodeDecodeError, ValueError) as error:
        raise Invalid(Problem(at, f"This is not JSON: {said_of_json(error)}.", "json_invalid")) from None
    except RecursionError:
        raise Invalid(Problem(at, _too_deep(), "json_depth")) from None
    if _is_too_deep(value):
        raise Invalid(Problem(at, _too_deep(), "json_depth"))
    return value


def _is_too_deep(value: JsonValue) -> bool:
    """Whether a value nests deeper than those who walk through it can follow."""
    level: list[JsonValue] = [value]
    for _ in range(MOST_DEPTH + 1):
        level = [
            item
            for one in level
            if isinstance(one, dict | list)
            for item in (one.values() if isinstance(one, dict) else one)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def plain(raw: Raw, at: Loc = ()) -> tuple[JsonValue, list[Problem]]:
    """``raw`` as plain JSON values, and what JSON cannot say in it, each at its place.

    Tuples become lists, arrays and their scalars (whatever has ``tolist``) Python values, date-times UTC text of
    fixed width, dates text. A refused value becomes null, so that the rest can still be looked at.
    """
    problems: list[Problem] = []
    return _plain(raw, at, 0, problems), problems


def _plain(raw: Raw, at: Loc, depth: int, problems: list[Problem]) -> JsonValue:
    if raw is None or isinstance(raw, bool):
        return raw
    if not isinstance(raw, str | int | float | list | tuple | Mapping) and hasattr(raw, "tolist"):
        raw = raw.tolist()
    if isinstance(raw, Mapping | list | tuple):
        return _container(raw, at, depth, problems)
    value, wrong = _scalar(raw)
    if wrong:
        problems.append(Problem(at, wrong, "json_value"))
    return value


def _container(
    raw: Mapping[Raw, Raw] | list[Raw] | tuple[Raw, ...], at: Loc, depth: int, problems: list[Problem]
) -> JsonValue:
    if depth >= MOST_DEPTH:
        problems.append(Problem(at, _too_deep(), "json_depth"))
        return None
    if not isinstance(raw, Mapping):
        return [
            # Most lists are of ids, by the hundreds.
            item if type(item) is str and item.isascii() else _plain(item, (*at, place), depth + 1, problems)
            for place, item in enumerate(raw)
        ]
    made: dict[str, JsonValue] = {}
    for key, item in raw.items():
        if not isinstance(key, str):
            problems.append(Problem(at, f"The key {key!r} is not a text; write it in quotes.", "json_key"))
        elif wrong := _scalar(key)[1]:
            problems.append(Problem(at, f"A key is unreadable. {wrong}", "json_key"))
        else:
            made[key] = _plain(item, (*at, key), depth + 1, problems)
    return made


def _scalar(raw: Raw) -> tuple[JsonValue, str | None]:
    """A plain scalar, or null and what is wrong with it."""
    if raw is None or isinstance(raw, bool):
        return raw, None
    if isinstance(raw, str):
        try:
            raw.encode()
        except UnicodeEncodeError:
            return None, "The text holds half of a surrogate pair, which is not a character."
        return str(raw), None
    if isinstance(raw, int):
        if _LEAST <= raw <= _MOST:
            return int(raw), None
        return None, "The integer does not fit into 64 bits; write it with an exponent (1e30)."
    if isinstance(raw, float):
        if math.isfinite(raw):
            return float(raw), None
        return None, "NaN and infinities are not JSON numbers; use null, or leave the bound out."
    if isinstance(raw, datetime):
        if raw != raw:
            return None, "NaT is a missing time, which is not a JSON value; use null."
        aware = raw.replace(tzinfo=UTC) if raw.tzinfo is None else raw.astimezone(UTC)
        return aware.strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0") + "Z", None
    if isinstance(raw, date):
        return raw.isoformat(), None
    return None, f"A {type(raw).__name__} is not a JSON value."


def _too_deep() -> str:
    return f"The value nests more than {MOST_DEPTH} deep; flatten it."


def canonical(value: Raw) -> bytes:
    """JSON without spaces, keys in the order given, as UTF-8: equal values give equal bytes."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def show(value: Raw, most: int = 80) -> str:
    """A value as JSON text, cut to fit a sentence."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[: most - 1] + "…"
