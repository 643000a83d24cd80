"""What the fields of a record may hold: texts, names, times, days and JSON, checked and brought to one form."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime

import numpy as np
from pydantic import JsonValue

from ..table import JsonObject, Plain

LONGEST_NAME = 500
DEEPEST = 50
_HALF = re.compile("[\ud800-\udfff]")


def is_whole(text: str) -> bool:
    """Whether a text has no half of a character pair. Texts with one cannot be stored."""
    return text.isascii() or _HALF.search(text) is None


def clean_text(text: str) -> str:
    """The text itself. Refuses a NUL and half a character pair, which no file or answer can hold."""
    if "\0" in text or not is_whole(text):
        raise ValueError("Text must be whole Unicode characters without NUL.")
    return text


def composed(text: str) -> str:
    """A name with each letter and its accent as one sign: macOS writes names with two, where people type one."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spellings(text: str) -> list[str]:
    """A text in all forms in which a store may hold it: with each accent in one sign with its letter, as names are
    written now, apart from it, and as it is. Older versions kept each name as it came."""
    if text.isascii():
        return [text]
    return list(dict.fromkeys((composed(text), unicodedata.normalize("NFD", text), text)))


def is_same_name(name: str, wanted: Plain) -> bool:
    """Whether a name is the one that somebody typed, whatever the form of its accents."""
    return isinstance(wanted, str) and composed(name) == composed(wanted)


def plain_name(text: str) -> str:
    """A name: 1 to 500 characters, not all of them blank."""
    clean_text(text)
    if not text.strip():
        raise ValueError("A name must not be blank.")
    if len(text) > LONGEST_NAME:
        raise ValueError(f"A name has at most {LONGEST_NAME} characters, this one has {len(text)}.")
    return text


def as_moment(value: Plain) -> datetime:
    """A time in UTC, from a ``datetime`` or its ISO 8601 text; without a zone it is UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"'{value}' is not an ISO 8601 time such as 2026-01-31T12:00:00Z.") from None
    if not isinstance(value, datetime):
        raise ValueError("A time is an ISO 8601 text such as 2026-01-31T12:00:00Z.")
    if type(value) is datetime and value.tzinfo is UTC and not value.fold:
        return value
    try:
        aware = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError(f"'{value}' lies outside the years 1 to 9999.") from None
    # A pandas Timestamp is a datetime with nanoseconds; the store keeps microseconds.
    return datetime.fromisoformat(aware.isoformat(timespec="microseconds"))


def as_date(value: Plain) -> date:
    """A day, from a ``date`` or its text YYYY-MM-DD."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"'{value}' is not a day such as 2026-01-31.") from None
    if isinstance(value, datetime):
        raise ValueError(f"'{value}' is a time, not a day. Give the day, such as {value:%Y-%m-%d}.")
    if not isinstance(value, date):
        raise ValueError("A day is a text such as 2026-01-31.")
    return value


def json_object(value: Mapping[str, Plain]) -> JsonObject:
    """The object as JSON keeps it: numpy scalars become numbers, and times become text.

    Raises
    ------
    ValueError
        For a value that JSON cannot hold; the message names its place."""
    return {_key(key, ""): _json(item, str(key), 1) for key, item in value.items()}


def json_value(value: Plain) -> JsonValue:
    """Any JSON value, by the rules of `json_object`."""
    return _json(value, "", 0)


def _key(key: Plain, place: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"The keys of '{place}' must be texts, not {type(key).__name__}.")
    return clean_text(key)


def _json(value: Plain, place: str, depth: int) -> JsonValue:
    if depth > DEEPEST:
        raise ValueError(f"'{place[:80]}' is nested deeper than {DEEPEST} levels.")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            shown = value if value.bit_length() < 200 else f"a number of {value.bit_length()} bits"
            raise ValueError(f"'{place}' is {shown}; whole numbers have at most 64 bits.")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"'{place}' is {value}, which JSON cannot hold; use null.")
        return value
    if isinstance(value, datetime):
        return as_moment(value).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {_key(key, place): _json(item, f"{place}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item, f"{place}[{n}]", depth + 1) for n, item in enumerate(value)]
    raise ValueError(f"'{place}' is a {type(value).__name__}, which JSON cannot hold.")
