"""When two values of a plan are equal: the rule behind groups, keys, choices and equality filters.

Numbers are equal by value whatever their type (``1`` is ``1.0``, ``-0.0`` is ``0.0``), booleans equal only
booleans, texts only texts, letter by letter; a date-time is its UTC text of fixed width. Null and NaN are
missing and equal nothing. Columns are turned into small integer codes, equal values into equal codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..table import Column, time_text, to_micros

Codes = NDArray[np.int64]
_NUMBERS = ("number", "integer")
_LARGEST = np.iinfo(np.int64).max


class Coded(NamedTuple):
    """``codes`` (n,) int64 from 0, -1 where missing; every code is below ``size``, and not all need occur."""

    codes: Codes
    size: int


def key_of(value: Any) -> tuple[str, Any] | None:
    """The hashable identity of one value; None for null and NaN.

    >>> key_of(1) == key_of(1.0), key_of(True) == key_of(1), key_of(float("nan"))
    (True, False, None)
    """
    if value is None or value != value:
        return None
    if isinstance(value, bool | np.bool_):
        return "boolean", bool(value)
    if isinstance(value, datetime):
        return "text", time_text(to_micros(value))
    return ("text" if isinstance(value, str) else "number"), value


def plain(column: Column) -> list[Any]:
    """Python scalars as JSON knows them: (n,) None for null and NaN, date-times as UTC text of fixed width."""
    items = (times_as_text(column) if column.kind == "datetime" else column).tolist()
    if column.kind in ("number", "mixed"):
        for place in np.flatnonzero(column.missing()).tolist():
            items[place] = None
    if column.kind == "mixed":
        return [time_text(to_micros(item)) if isinstance(item, datetime) else item for item in items]
    return items


def iso_texts(micros: NDArray[np.int64]) -> list[str]:
    """UTC texts of fixed width of times in microseconds since 1970."""
    texts: list[str] = np.datetime_as_string(micros.view("M8[us]"), unit="us").tolist()
    return [text + "Z" for text in texts]


def times_as_text(column: Column) -> Column:
    """A date-time column as text of fixed width: text order is time order."""
    micros = np.where(column.null_mask(), 0, column.values)
    distinct, codes = np.unique(micros, return_inverse=True)
    return Column("text", codes.astype(np.int32), column.valid, tuple(iso_texts(distinct)))


def whole_numbers(column: Column) -> NDArray[np.generic]:
    """The values of an integer column as int64, or as Python integers where they do not fit; 0 under nulls."""
    values = column.values
    if column.valid is not None:
        values = np.where(column.valid, values, np.zeros(1, values.dtype))
    if values.dtype == np.uint64 and len(values) and int(values.max()) > _LARGEST:
        return values.astype(object)
    return values.astype(np.int64, copy=False)


def by_python(column: Column) -> bool:
    """Whether values are compared one by one: of several types, or whole numbers that the array of floats rounds."""
    return column.kind == "mixed" or column.exact is not None


def codes_of(column: Column) -> Coded:
    """Codes of one column: equal values, equal codes."""
    if column.kind == "null" or not len(column):
        return Coded(np.full(len(column), -1, np.int64), 1)
    if column.kind == "text":
        codes, size = _word_codes(column)
    elif column.kind == "boolean":
        codes, size = column.values.astype(np.int64), 2
    elif by_python(column):
        return _python_codes(map(key_of, column.exact_list()), {}, len(column))
    else:
        codes, size = _number_codes(_comparable(column))
    return Coded(_with_missing(column, codes), size)


def matched(left: Column, right: Column) -> tuple[Codes, Coded]:
    """Codes of both columns in one space, that of ``right``: -1 on the left where no right value is equal."""
    if by_python(left) or by_python(right):
        return _matched_python(left, right)
    if {left.kind, right.kind} == {"datetime", "text"}:
        left, right = (times_as_text(side) if side.kind == "datetime" else side for side in (left, right))
    same = left.kind == right.kind or (left.kind in _NUMBERS and right.kind in _NUMBERS)
    if not same or left.kind == "null" or not len(right):
        return np.full(len(left), -1, np.int64), codes_of(right)
    if left.kind == "text":
        return _matched_text(left, right)
    if left.kind == "boolean":
        coded = codes_of(right)
        return _with_missing(left, _held(coded)[left.values.astype(np.int64)]), coded
    return _matched_numbers(left, right)


def is_any_of(column: Column, values: Sequence[Any]) -> NDArray[np.bool_]:
    """(n,) bool: rows that equal one of ``values``; a null among them holds for missing rows."""
    wanted = Column.from_python([value for value in values if key_of(value) is not None])
    codes, _ = matched(column, wanted)
    holds: NDArray[np.bool_] = codes >= 0
    if any(key_of(value) is None for value in values):
        holds |= column.missing()
    return holds


def first_rows(column: Column) -> NDArray[np.intp]:
    """Positions of the first row of each distinct value that is not missing, rising; as values are shown."""
    codes = codes_of(replace(column, exact=None)).codes
    _, first = np.unique(codes, return_index=True)
    return np.sort(first[codes[first] >= 0])


def distinct(column: Column) -> list[Any]:
    """The distinct values that are not missing, in row order, as plain scalars."""
    return plain(column.take(first_rows(column)))


def _with_missing(column: Column, codes: Codes) -> Codes:
    if column.valid is None and column.kind != "number":
        return codes
    return np.where(column.missing(), -1, codes)


def _word_codes(column: Column) -> tuple[Codes, int]:
    places: dict[str, int] = {}
    by_word = np.array([places.setdefault(word, len(places)) for word in column.words] or [0], np.int64)
    if len(places) == len(column.words):
        return column.values.astype(np.int64), max(len(places), 1)
    return by_word[column.values], len(places)


def _comparable(column: Column) -> NDArray[Any]:
    if column.kind == "integer":
        return whole_numbers(column)
    if column.kind == "datetime":
        return np.where(column.null_mask(), 0, column.values)
    # Adding zero turns -0.0 into 0.0; missing values must not make the sort below slow or loud.
    return np.where(column.missing(), 0.0, column.values.astype(np.float64)) + 0.0


def _number_codes(values: NDArray[Any]) -> tuple[Codes, int]:
    if values.dtype == np.int64:
        low, high = int(values.min()), int(values.max())
        if high - low < 4 * len(values) + 1024:
            return values - low, high - low + 1
    found, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), len(found)


def _python_codes(keys: Iterable[Any], places: dict[Any, int], n: int) -> Coded:
    codes = np.fromiter((-1 if key is None else places.setdefault(key, len(places)) for key in keys), np.int64, n)
    return Coded(codes, max(len(places), 1))


def _matched_python(left: Column, right: Column) -> tuple[Codes, Coded]:
    places: dict[Any, int] = {}
    coded = _python_codes(map(key_of, right.exact_list()), places, len(right))
    keys = map(key_of, left.exact_list())
    return np.fromiter((places.get(key, -1) for key in keys), np.int64, len(left)), coded


def _matched_text(left: Column, right: Column) -> tuple[Codes, Coded]:
    coded = codes_of(right)
    places: dict[str, int] = {}
    for word in right.words:
        places.setdefault(word, len(places))
    held = _held(coded)
    by_word = np.array([held[places[word]] if word in places else -1 for word in left.words] or [-1], np.int64)
    return _with_missing(left, by_word[left.values]), coded


def _held(coded: Coded) -> Codes:
    """Code -> itself where some row has it, else -1."""
    held = np.full(coded.size, -1, np.int64)
    present = coded.codes[coded.codes >= 0]
    held[present] = present
    return held


def _matched_numbers(left: Column, right: Column) -> tuple[Codes, Coded]:
    sides = [_comparable(left), _comparable(right)]
    usable = [~left.missing(), ~right.missing()]
    if any(side.dtype == object for side in sides):
        return _matched_python(left, right)
    if sides[0].dtype != sides[1].dtype:
        for place, side in enumerate(sides):
            if side.dtype == np.float64:
                fits = (side == np.floor(side)) & (side >= -(2.0**63)) & (side < 2.0**63)
                usable[place] &= fits
                sides[place] = np.where(fits, side, 0.0).astype(np.int64)
    values = np.unique(sides[1][usable[1]])
    if not len(values):
        return np.full(len(left), -1, np.int64), Coded(np.full(len(right), -1, np.int64), 1)
    made = []
    for side, ok in zip(sides, usable, strict=True):
        places = np.minimum(np.searchsorted(values, side), len(values) - 1)
        made.append(np.where(ok & (values[places] == side), places, -1).astype(np.int64))
    return made[0], Coded(made[1], len(values))
