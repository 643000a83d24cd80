"""Clock times such as ``04/30/2024 14:41:19`` and ``4/30/2024 2:41:19 PM``, read column by column of their letters.

pandas parses each text apart unless the date begins with its year. Cyclers write a clock time in each row, which took a
fifth of the time of a text file, and more than half where hours go to 12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_DIGITS = {"Y": 4, "m": 2, "d": 2, "H": 2, "I": 2, "M": 2, "S": 2, "p": 2}
"""The digits of each part of a clock time; ``p`` has two letters, AM or PM."""
_MAY_BE_ONE = "mdHI"
"""Parts that programs write with one digit where that is enough. Others without their zero are left to pandas."""
_PART = re.compile(r"%(.)|([^%])")
_YEARS = 1700, 2200
"""Years that all units of time of pandas hold."""
_FINEST = 9
"""Digits of a second that pandas reads."""
_SMALL = 0x20
"""What makes a letter of ASCII a small one."""
_SHORTEST = len("0:00:00")
_MOST_HOURS, _MOST_FINE = 8, 13
"""Digits of the hours, and of the parts of a second with which seconds are whole numbers that a float holds."""


def fixed_width_clocks(texts: pa.Array, pattern: str) -> NDArray[np.datetime64]:
    """(n,) datetime64[us] of texts that have the parts of the pattern, with one digit or two for the month, the day and
    the hour; NaT for others, which may still fit it.

    Only patterns of ``%Y``, ``%m``, ``%d``, ``%M``, ``%S``, ``%H`` or ``%I`` with ``%p``, and at their end ``%f``, are
    known here.

    >>> fixed_width_clocks(pa.array(["30.04.2024 14:41", "3.4.2024 4:41"]), "%d.%m.%Y %H:%M").astype(str).tolist()
    ['2024-04-30T14:41:00.000000', '2024-04-03T04:41:00.000000']
    """
    made = np.full(len(texts), np.datetime64("NaT", "us"))
    head = pattern.removesuffix("%f")
    layouts = list(_layouts(head))
    if not layouts or not pattern.isascii():
        return made
    finest = _FINEST if head != pattern else 0
    lengths = pc.fill_null(pc.binary_length(texts), -1).to_numpy(zero_copy_only=False)
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        letters: NDArray[np.uint8] | None = None
        for places, marks, width in layouts:
            if not (width + min(finest, 1) <= length <= width + finest):
                continue
            if letters is None:
                letters = _letters(texts if len(rows) == len(texts) else texts.take(pa.array(rows)), int(length))
            made[rows] = found = _moments(letters, places, marks, width)
            if not (others := np.isnat(found)).any():
                break
            rows, letters = rows[others], letters[others]
    return made


def fixed_width_durations(texts: pa.Array) -> NDArray[np.float64]:
    """(n,) s of texts such as ``130:00:05.50``: digits for the hours, and two for the minutes and for the seconds; NaN
    for others, which may still be durations.

    >>> fixed_width_durations(pa.array(["00:01:30", "130:00:05.5", "1:30"])).tolist()
    [90.0, 468005.5, nan]
    """
    made = np.full(len(texts), np.nan)
    lengths = pc.fill_null(pc.binary_length(texts), -1).to_numpy(zero_copy_only=False)
    for length in np.unique(lengths).tolist():
        if not _SHORTEST <= length <= 7 + _MOST_HOURS + _MOST_FINE:
            continue
        rows = np.flatnonzero(lengths == length)
        letters = _letters(texts if len(rows) == len(texts) else texts.take(pa.array(rows)), length)
        # Where the first one has its point the others have theirs, or they are read in another way.
        point = bytes(letters[0]).find(b".")
        made[rows] = _seconds(letters, length if point < 0 else point)
    return made


def _seconds(letters: NDArray[np.uint8], point: int) -> NDArray[np.float64]:
    """(n,) s of durations whose whole seconds end before the place ``point``; NaN for other texts."""
    length = letters.shape[1]
    made = np.full(len(letters), np.nan)
    if not _SHORTEST <= point <= 6 + _MOST_HOURS or not (length == point or 1 < length - point <= 1 + _MOST_FINE):
        return made
    digits = letters - np.uint8(ord("0"))
    marks = {point - 6: ":", point - 3: ":"} | ({point: "."} if point < length else {})
    fits = np.ones(len(letters), bool)
    for place in range(length):
        fits &= letters[:, place] == ord(marks[place]) if place in marks else digits[:, place] <= 9

    def number(places: range) -> NDArray[np.float64]:
        value = np.zeros(len(letters), np.int64)
        for place in places:
            value = 10 * value + digits[:, place]
        return value.astype(np.float64)

    fine = range(point + 1, length)
    seconds = number(range(point - 2, point))
    if fine:
        # One division of whole numbers is the nearest number to what is written.
        seconds = (seconds * 10 ** len(fine) + number(fine)) / 10 ** len(fine)
    total = number(range(point - 6)) * 3600.0 + number(range(point - 5, point - 3)) * 60.0 + seconds
    made[fits] = total[fits]
    return made


def _layouts(pattern: str) -> Iterator[tuple[dict[str, slice], dict[int, int], int]]:
    """Where each part of a pattern is, the marks between them, and the width: first with all its digits, then with one
    digit for some of the parts. Nothing for a pattern that is not known here."""
    found = _PART.findall(pattern)
    parts = [part for part, _ in found if part]
    known = len(set(parts)) == len(parts) and set(parts) <= set(_DIGITS) and set(parts) >= {"Y", "m", "d"}
    if not known or ("I" in parts) != ("p" in parts) or ("I" in parts and "H" in parts):
        return
    # Digits of two parts without a mark between them could be cut in several ways.
    apart = all(bool(part) != bool(after) for (part, _), (after, _) in pairwise(found))
    short = [part for part in parts if part in _MAY_BE_ONE and apart]
    for many in range(len(short) + 1):
        for ones in combinations(short, many):
            yield _layout(found, ones)


def _layout(found: list[tuple[str, str]], ones: tuple[str, ...]) -> tuple[dict[str, slice], dict[int, int], int]:
    places: dict[str, slice] = {}
    marks: dict[int, int] = {}
    at = 0
    for part, mark in found:
        if mark:
            marks[at] = ord(mark)
            at += 1
        else:
            digits = 1 if part in ones else _DIGITS[part]
            places[part] = slice(at, at + digits)
            at += digits
    return places, marks, at


def _letters(texts: pa.Array, length: int) -> NDArray[np.uint8]:
    """(n, length) the bytes of texts that all have this length."""
    whole = pa.concat_arrays([texts.cast(pa.binary(length))])
    _, held = whole.buffers()
    bytes_ = np.frombuffer(held, np.uint8)[whole.offset * length : (whole.offset + len(whole)) * length]
    return bytes_.reshape(len(whole), length)


def _moments(
    letters: NDArray[np.uint8], places: dict[str, slice], marks: dict[int, int], width: int
) -> NDArray[np.datetime64]:
    """(n,) datetime64[us]; NaT for a row with another mark, a letter for a digit, or a moment that there is not."""
    digits = letters - np.uint8(ord("0"))  # what stands before "0" becomes large
    fits = np.ones(len(letters), bool)
    for place, mark in marks.items():
        fits &= letters[:, place] == mark
    half = places.get("p", slice(0, 0))
    for place in range(letters.shape[1]):
        if place not in marks and not half.start <= place < half.stop:
            fits &= digits[:, place] <= 9

    def number(of: slice) -> NDArray[np.int64]:
        value = np.zeros(len(letters), np.int64)
        for place in range(of.start, of.stop):
            value = 10 * value + digits[:, place]
        return value

    values = {part: number(place) for part, place in places.items() if part != "p"}
    if "I" in values:
        first, last = (letters[:, place] | _SMALL for place in range(half.start, half.stop))
        fits &= ((first == ord("a")) | (first == ord("p"))) & (last == ord("m"))
        fits &= (values["I"] >= 1) & (values["I"] <= 12)
        values["H"] = values["I"] % 12 + 12 * (first == ord("p"))
    fits &= (values["Y"] >= _YEARS[0]) & (values["Y"] < _YEARS[1])
    fits &= (values["m"] >= 1) & (values["m"] <= 12)
    seconds = np.zeros(len(letters), np.int64)
    for part, most, each in (("H", 24, 3600), ("M", 60, 60), ("S", 60, 1)):
        if part in values:
            fits &= values[part] < most
            seconds += each * values[part]
    months = (12 * (np.where(fits, values["Y"], 1970) - 1970) + np.where(fits, values["m"], 1) - 1).astype("M8[M]")
    days = months.astype("M8[D]") + (np.where(fits, values["d"], 1) - 1)
    fits &= (values["d"] >= 1) & (days.astype("M8[M]") == months)
    micros = 1_000_000 * seconds
    if letters.shape[1] > width:
        fraction = slice(width, min(letters.shape[1], width + 6))  # what is finer is cut, as pandas does
        micros = micros + number(fraction) * 10 ** (6 - (fraction.stop - fraction.start))
    made = days.astype("M8[us]") + micros
    made[~fits] = np.datetime64("NaT", "us")
    return np.asarray(made)
