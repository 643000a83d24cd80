"""Values as cyclers write them (numbers with either decimal mark, durations, clock times) and columns of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...table import Column
from .fixed_width_clocks import fixed_width_clocks, fixed_width_durations

Floats = NDArray[np.float64]
Texts: TypeAlias = "pd.Series[str]"
Cells: TypeAlias = "pd.Series[float] | pd.Series[int] | pd.Series[bool] | pd.Series[str]"
"""One column of a text file as pandas parsed it. Both are strings: a Series takes no parameter at run time."""

# Days, hours, minutes, seconds: "0d 00:22:05.05", "2-03:00:00", "130:00:05,5", "00:30".
_DURATION = (
    r"^\s*(?:(?P<d>\d{1,6})\s*(?:d|days?|-|\.)[\s,]*)?(?:(?P<h>\d{1,8}):)?"
    r"(?P<m>\d{1,2}):(?P<s>\d{1,2}(?:[.,]\d{1,20})?)\s*$"
)
# With the letters of the units: "0h 1m 10s", "1 d 2 h", "3min 4.5 s".
_IN_UNITS = (
    r"^\s*(?:(?P<d>\d{1,6})\s*d(?:ays?)?[\s,]*)?(?:(?P<h>\d{1,8})\s*h(?:rs?|ours?)?[\s,]*)?"
    r"(?:(?P<m>\d{1,8})\s*m(?:ins?|inutes?)?[\s,]*)?(?:(?P<s>\d{1,8}(?:[.,]\d{1,20})?)\s*s(?:ecs?|econds?)?)?\s*$"
)
_MILLISECONDS = (r"^(.*\d:[0-5]\d:[0-5]\d):(\d{3})\s*$", r"\1.\2")
"""Milliseconds behind a colon, ``00:00:10:000``, and as they are usual."""
_WITH_POINTS = (r"^\s*(\d{1,2})\.([0-5]\d)\.([0-5]\d)\s*$", r"\1:\2:\3")
"""Times of day with points, ``10.00.00``, and as they are usual."""
_MAY_BE_DATE = r"^\s*(?:0?[1-9]|[12]\d|3[01])\.(?:0[1-9]|1[0-2])\.\d\d\s*$"
"""What may be the 14th of March 2019 as well: ``14.03.19``."""
_TO_MINUTES = re.compile(r"[\[(/]\s*h{1,3}:m(?:m|in)?\s*[\])]?\s*$", re.IGNORECASE)
"""The unit of a header whose times end in minutes: ``Time (hh:mm)``."""
_SECONDS_IN = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_GROUPED = r"^\s*[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?\s*$"
_OTHER_MINUS = "^[\u2212\u2013]"
_MINUS = rf"{_OTHER_MINUS}(?=[\d.,])"
"""A typographic minus before a number, as spreadsheets and word processors write it."""
_BEHIND_OR_AROUND = r"^\s*(?:\(\s*([\d.,]*\d[\d.,]*)\s*\)|([\d.,]*\d[\d.,]*)-)\s*$"
"""A number whose minus is a pair of brackets, as in accounts, or stands behind it."""
_APART = " \u00a0\u2009\u202f'\u2019"
_GROUPED_APART = rf"^[+-]?\d{{1,3}}(?:[{_APART}]\d{{3}})+(?:[.,]\d*)?$"
"""A number whose thousands are apart by a blank (French) or an apostrophe (Swiss)."""

_DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%d-%b-%y",
    "%d-%b-%Y",
    "%m-%d-%Y",
    "%d-%m-%Y",
)
_LONG_DATES = (
    "%d %B %Y,", "%B %d %Y,", "%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%B %d, %Y", "%b %d, %Y", "%d %b %Y", "%d %B %Y",
    "%Y年%m月%d日", "%Y.%m.%d", "%Y:%m:%d",
)  # fmt: skip
_OTHER_CLOCKS = (
    "%Y%m%dT%H%M%S", "%Y%m%d %H%M%S", "%Y%m%d_%H%M%S", "%Y-%m-%d_%H-%M-%S", "%Y-%m-%d %H-%M-%S", "%a %b %d %H:%M:%S %Y",
    *(f"{date} %H.%M.%S" for date in _DATES),
    *(f"%Y年%m月%d日{blank}%H{hour}%M分%S秒" for hour in "时時" for blank in ("", " ")),
    "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S.%f UTC", "%Y-%m-%d %H:%M:%S GMT",
)  # fmt: skip
"""Clock times without marks, as in names of files, of C, with points, in Chinese, and with the word for their zone."""
_OF_GERMAN = ("%d.%m.%Y", "%d.%m.%y", "%Y-%m-%d")
_HOURS = ("%H:%M:%S", "%H:%M:%S.%f", "%I:%M:%S %p", "%I:%M:%S.%f %p", "%H:%M:%S %p", "%H:%M", "%I:%M %p")
CLOCKS = (
    tuple(f"{date} {hour}" for date in _DATES + _LONG_DATES for hour in _HOURS)
    + tuple(f"%Y-%m-%dT{hour}" for hour in ("%H:%M:%S", "%H:%M:%S.%f", "%H:%M:%SZ", "%H:%M:%S.%fZ"))
    + tuple(f"%Y-%m-%d{mark}{hour}%z" for mark in "T " for hour in ("%H:%M:%S", "%H:%M:%S.%f"))
    + _OTHER_CLOCKS
    + _DATES
    + tuple(f"{date}, {hour}" for date in _DATES for hour in _HOURS)
    + tuple(f"{hour} {date}" for date in _DATES for hour in _HOURS)
    + tuple(f"{date} {hour} Uhr" for date in _OF_GERMAN for hour in ("%H:%M:%S", "%H:%M:%S.%f", "%H:%M"))
    + tuple(f"{date} {hour}{blank}%z" for date in _DATES for hour in _HOURS for blank in ("", " "))
    + tuple(f"{date}{mark}{hour}" for date in _DATES for mark in (" - ", "_") for hour in _HOURS[:2])
    + tuple(f"%d%b%Y{mark}{hour}" for mark in " :" for hour in _HOURS[:2])
    + tuple(f"{date} %I:%M:%S%p" for date in _DATES)
)
_TO_THE_MINUTE = ((0, 59), (0, 23), (1, 31), (1, 12))
_WRITTEN = {14: ((0, 59), *_TO_THE_MINUTE), 12: _TO_THE_MINUTE}
"""Digits of a date and time without separators -> the bounds of its pairs of digits, the last pair first."""
_FRACTION = re.compile(r"(?<=\d:\d\d:\d\d)(?<![a-z]\d{4}:\d\d:\d\d)[,:](?=\d{1,9}(?!\d))")
"""Seconds whose fraction is behind a comma, as Python's logging and German exports write it, or behind a colon."""
_FINER = re.compile(r"(\.\d{6})\d+")
"""Digits of a second beyond the microsecond, which pandas reads and Python does not."""
_ZONES = {
    "CET": "+0100", "CEST": "+0200", "MEZ": "+0100", "MESZ": "+0200", "EST": "-0500", "EDT": "-0400", "MST": "-0700",
    "MDT": "-0600", "PST": "-0800", "PDT": "-0700", "JST": "+0900",
}  # fmt: skip
"""Names of zones that mean one. CST is not there: it is a zone of America and of China."""
_ZONE = re.compile(rf"(?<=[\dMm ])(?:{'|'.join(_ZONES)})$")
_ONE_TEST, _A_MONTH = 0.5, 20.0
"""Days: the longest gap of a test that shows the order of its dates, and a gap where the other order has a midnight."""
_DAY_FIRST = {"%m/%d/%Y": "%d/%m/%Y", "%m-%d-%Y": "%d-%m-%Y", "%m/%d/%y": "%d/%m/%y"}


_FIRST_CLOCKS = 5000
"""Clock times of a column that are looked at for the first that can be read."""


class CountedClock(NamedTuple):
    """A clock that is a number: ``value * seconds - zero`` is a Unix time in s, for values from ``low`` to ``high``."""

    low: float
    high: float
    seconds: float
    zero: float = 0.0

    @property
    def is_local(self) -> bool:
        """Whether it counts days, as programs do that show the time of a place; Unix time is UTC."""
        return self.seconds == _DAY

    def moment(self, value: float) -> datetime:
        return datetime.fromtimestamp(value * self.seconds - self.zero, UTC)


_DAY = 86400.0
_COUNTED = (
    *(CountedClock(1e8 * finer, 5e9 * finer, 1 / finer) for finer in (1.0, 1e3, 1e6, 1e9)),
    CountedClock(715_000, 800_000, _DAY, 719_529 * _DAY),
    CountedClock(25_569, 80_000, _DAY, 25_569 * _DAY),
)
"""Unix times in s, ms, µs and ns, days of MATLAB and days of Excel."""


def written_date(values: Floats) -> str | None:
    """The first of numbers that are all dates and times without separators, with them: ``20240228220000`` is
    ``2024-02-28 22:00:00``. None for other numbers. As seconds they would lose 40 s with each minute."""
    present = np.floor(values[np.isfinite(values)])
    for digits, bounds in _WRITTEN.items():
        if not len(present) or not ((present >= 10 ** (digits - 1)) & (present < 10**digits)).all():
            continue
        rest, fits = present, np.ones(len(present), bool)
        for low, high in bounds:
            rest, part = np.divmod(rest, 100)
            fits &= (part >= low) & (part <= high)
        if (fits & (rest >= 1970) & (rest < 2100)).all():
            text = f"{present[0]:.0f}".ljust(14, "0")
            return f"{text[:4]}-{text[4:6]}-{text[6:8]} {text[8:10]}:{text[10:12]}:{text[12:]}"
    return None


def counted_clock(values: Floats) -> CountedClock | None:
    """How the numbers of a clock column count; None if they are not moments. Whole days have no time of day."""
    present = values[np.isfinite(values)]
    if not len(present):
        return None
    low, high = float(present.min()), float(present.max())
    found = next((clock for clock in _COUNTED if clock.low <= low and high <= clock.high), None)
    if found is None or (found.seconds == _DAY and are_whole(present)) or written_date(values) is not None:
        return None
    return found


def is_text(series: Cells) -> bool:
    return not (pd.api.types.is_numeric_dtype(series.dtype) or pd.api.types.is_bool_dtype(series.dtype))


def numbers(series: Cells, decimal: str | None = None) -> tuple[Floats, int]:
    """(n,) float, NaN where a cell is not a number, and the number of texts that could not be read.

    A text may have commas for thousands (``1,499.88``), and a decimal comma (``0,5``) if ``decimal`` is a comma or
    unknown. Blanks and apostrophes for thousands (``1 499,88``) and a typographic minus are read too, and a minus
    behind the number (``1.5-``) or as brackets around it (``(1.5)``).
    """
    if not is_text(series):
        return np.asarray(series.to_numpy(np.float64, na_value=np.nan), np.float64), 0
    text = series.astype("str").str.strip()
    text = _plainly_written(text.mask(text == ""))
    if decimal == ",":
        text = _comma_decimals(text)
    else:
        grouped = _fits(text, _GROUPED)
        text = text.mask(grouped, text.str.replace(",", "", regex=False))
        if decimal is None:
            text = _comma_decimals(text)
    made = pd.to_numeric(text, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    unread = int(
        (
            np.isnan(made)
            & text.notna().to_numpy()
            & (text.str.casefold() != "nan").to_numpy(bool, na_value=False)
        ).sum()
    )
    return made, unread


def without_points(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """The frame without the points that group thousands in these columns."""
    for label in columns:
        if label in frame and is_text(frame[label]):
            frame[label] = frame[label].astype("str").str.replace(".", "", regex=False)
    return frame


def _plainly_written(text: Texts) -> Texts:
    """Numbers with a plain minus, and without what stands between thousands; other texts stay as they are."""
    if _fits(text, _OTHER_MINUS).any():
        text = text.str.replace(_MINUS, "-", regex=True)
    marked = text.str.endswith((")", "-")).fillna(False).astype(bool)
    if marked.any():
        text = text.mask(marked, text.str.replace(_BEHIND_OR_AROUND, r"-\1\2", regex=True))
    grouped = _fits(text, _GROUPED_APART)
    return text.mask(grouped, text.str.replace(f"[{_APART}]", "", regex=True)) if grouped.any() else text


def _fits(text: Texts, pattern: str) -> NDArray[np.bool_]:
    """(n,) whether each text has a part of this pattern, of the syntax of RE2; pandas would ask Python of each."""
    found = pc.match_substring_regex(pa.array(text, type=pa.string(), from_pandas=True), pattern)
    return np.asarray(pc.fill_null(found, fill_value=False).to_numpy(zero_copy_only=False))


def _comma_decimals(text: Texts) -> Texts:
    with_comma = _fits(text, r"^[+-]?[\d.]*,\d*(?:[eE][+-]?\d+)?$")
    plain = text.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    return text.mask(with_comma, plain)


def have_two_parts(texts: Cells) -> bool:
    """Whether times are as ``0:30``, which may be minutes and seconds, or hours and minutes."""
    return bool(_fits(texts.astype("str"), r"^\s*\d{1,8}:\d{1,2}\s*$").all())


def durations(series: Cells, header: str = "") -> tuple[Floats, int]:
    """(n,) float s of texts such as ``130:00:05.5`` or ``0d 00:00:05``, and the number that could not be read.

    ``00:30`` is half a minute, and half an hour below a ``header`` whose unit is ``hh:mm`` (`Planned.of_durations`).
    """
    text = pa.array(series.astype("str"), type=pa.string(), from_pandas=True)
    if _TO_MINUTES.search(header):
        text = pc.replace_substring_regex(text, r"^(\s*[^:]*:\d{1,2})\s*$", r"\1:00")
    total = fixed_width_durations(text)
    others = np.isnan(total)
    if others.any():
        total[others] = _durations(text.filter(pa.array(others)))
    missing = np.isnan(total)
    return total, int((missing & pc.is_valid(text).to_numpy(zero_copy_only=False)).sum())


def _durations(text: pa.Array) -> Floats:
    """(n,) s of durations in any form; NaN where a text is not one."""
    text = pc.replace_substring_regex(text, *_MILLISECONDS)
    if not pc.all(pc.match_substring_regex(text, _MAY_BE_DATE)).as_py():
        text = pc.replace_substring_regex(text, *_WITH_POINTS)
    total = _of_parts(text, _DURATION)
    others = np.isnan(total) & pc.match_substring_regex(text, r"\d").fill_null(False).to_numpy(
        zero_copy_only=False
    )
    if others.any():
        total[others] = _of_parts(text.filter(pa.array(others)), _IN_UNITS)
    return total


def _of_parts(text: pa.Array, form: str) -> Floats:
    """(n,) s of texts whose days, hours, minutes and seconds a form finds; NaN for others."""
    parts = pc.extract_regex(text, form)
    total = np.zeros(len(text))
    for name, seconds in _SECONDS_IN.items():
        part = pc.replace_substring(pc.struct_field(parts, name), ",", ".")
        part = pc.if_else(pc.equal(part, ""), "0", part)
        total += pc.cast(part, pa.float64()).to_numpy(zero_copy_only=False) * seconds
    return total


def some_texts(series: Cells) -> list[str]:
    """Different texts from the first 20 000 of a column: all of them up to 2 000, else every few."""
    texts = series.iloc[:40_000].dropna().unique()  # most often these are enough
    if len(texts) < 20_000 and len(series) > 40_000:
        texts = series.dropna().unique()
    texts = texts[:20_000]
    return [str(text) for text in texts[:: max(1, len(texts) // 1000)]]


def later_texts(series: Cells) -> list[str]:
    """About 1 000 texts from all rows of a column, which may be others than those of ``some_texts``."""
    return [str(text) for text in series.iloc[:: max(1, len(series) // 1000)].dropna().unique()]


_LONGEST_CLOCK = 200
"""Characters. A longer text is not a clock time."""


def clock_format(
    sample: Sequence[str], day_first: bool | None = None, later: Sequence[str] = (), usual: bool = False
) -> tuple[str | None, bool]:
    """The format of ``CLOCKS`` that all texts of the sample fit, and whether day and month could be swapped.

    ``day_first``: what a person said of the order of dates. Where nobody did, the dates themselves may show it, with
    those of ``later``; else it is the ``usual`` one: whether the day is first.
    """
    texts = pd.Series(list(dict.fromkeys(text.strip() for text in sample)), dtype="str")
    if texts.empty:
        return None, False
    # Enough to see a day after the 12th of a month. A later text that does not fit is counted when it is read.
    texts = texts[:: max(1, len(texts) // 1000)]
    first = str(texts.iloc[0])
    for pattern in CLOCKS:
        if (
            not (_may_fit(first, pattern) or _may_fit(first, _whole(pattern)))
            or np.isnat(clocks(texts[:1], pattern)).any()
        ):
            continue
        made = _all_clocks(texts, pattern)
        if made is None:
            continue
        date = next((date for date in _DAY_FIRST if date in pattern), None)
        if date is None:
            return pattern, False
        swapped = pattern.replace(date, _DAY_FIRST[date])
        other = _all_clocks(texts, swapped)
        if other is None:
            return pattern, False
        if bool((other == made).all()):
            return pattern, False
        shown = _shown(pd.Series([*texts, *later], dtype="str"), pattern, swapped)
        if day_first is None and shown is not None:
            return shown, _has_no_hours(shown)
        return (swapped if (usual if day_first is None else day_first) else pattern), True
    return None, False


def _has_no_hours(pattern: str) -> bool:
    return "%H" not in pattern and "%I" not in pattern


def _shown(texts: Texts, pattern: str, swapped: str) -> str | None:
    """Which of two orders of the date the texts show: more of them fit it, or only with it they go on over midnight."""
    unread, gaps = [], []
    for form in (pattern, swapped):
        times = clocks(texts, form)
        unread.append(int(np.isnat(times).sum()))
        days = np.sort(times[~np.isnat(times)]).astype(np.int64) / 86.4e9
        gaps.append(float(np.diff(days).max(initial=0.0)))
    if unread[0] != unread[1]:
        return pattern if unread[0] < unread[1] else swapped
    if min(gaps) > (1.0 if _has_no_hours(pattern) else _ONE_TEST) or max(gaps) < _A_MONTH:
        return None
    return pattern if gaps[0] < gaps[1] else swapped


def _may_fit(text: str, pattern: str) -> bool:
    """Whether a text may fit a pattern. This is fifty times faster than pandas, and most patterns do not fit."""
    if len(text) > _LONGEST_CLOCK or not _marks_of(pattern) <= set(text.casefold()):
        return False
    try:
        datetime.strptime(_FINER.sub(r"\1", _FRACTION.sub(".", _with_offset(text, pattern))), pattern)
    except ValueError:
        return False
    return True


def _with_offset(text: str, pattern: str) -> str:
    """A clock time whose zone is a number, as ``%z`` asks for it, and not a name."""
    return _ZONE.sub(lambda name: _ZONES[name[0]], text) if pattern.endswith("%z") else text


@cache
def _marks_of(pattern: str) -> frozenset[str]:
    """The marks that a text must have to fit a pattern. A blank may be any, and a point before a fraction another."""
    return frozenset(re.sub(r"%[A-Za-z]|\s|\.%f", "", pattern).casefold())


def _parsed(texts: Texts, pattern: str) -> pd.Series[pd.Timestamp]:
    """Moments as UTC, without their zone; NaT where none fits. A fraction may be behind a comma or a colon."""
    if pattern.endswith("%z"):
        texts = texts.map(lambda text: _with_offset(text, pattern), na_action="ignore")
    made = pd.to_datetime(texts, format=pattern, errors="coerce", cache=False, utc=True)
    if made.isna().any() and texts.str.contains(_FRACTION).any():
        plain = texts.str.replace(_FRACTION, ".", regex=True)
        made = pd.to_datetime(plain, format=pattern, errors="coerce", cache=False, utc=True)
    return made.dt.tz_localize(None)


def clocks(series: Cells, pattern: str) -> NDArray[np.datetime64]:
    """(n,) datetime64[us], NaT where a text does not fit the pattern."""
    texts = series.astype("str").str.strip()
    made = fixed_width_clocks(pa.array(texts, type=pa.string(), from_pandas=True), pattern)
    # A whole second may have no fraction, as Python writes it, also where those before or after it have one.
    for form in (pattern, _whole(pattern) if ".%f" in pattern else pattern.replace("%S", "%S.%f")):
        others = np.isnat(made)
        if others.any():
            made[others] = _parsed(texts[others], form).to_numpy("datetime64[us]")
    return made


def _whole(pattern: str) -> str:
    """The pattern for the whole seconds of a clock whose other seconds have a fraction."""
    return pattern.replace(".%f", "")


def first_clock(series: Cells, pattern: str) -> datetime | None:
    """The first clock time of a column that can be read, of the first ones."""
    present = series.dropna()
    for many in (1, _FIRST_CLOCKS):  # most often the first one can be
        times = clocks(present.head(many), pattern)
        if len(times := times[~np.isnat(times)]):
            return moment(times[0])
    return None


def moment(time: np.datetime64) -> datetime:
    """A clock time as UTC."""
    made: datetime = time.astype("datetime64[us]").item()
    return made.replace(tzinfo=UTC)


def _all_clocks(texts: Texts, pattern: str) -> NDArray[np.datetime64] | None:
    """(n,) datetime64[us] of stripped texts; None if one of them does not fit."""
    made = fixed_width_clocks(pa.array(texts, type=pa.string(), from_pandas=True), pattern)
    others = np.isnat(made)
    if not others.any():
        return made
    # Most often one text shows that they do not fit.
    forms = dict.fromkeys((pattern, _whole(pattern)))
    if all(_parsed(texts[others][:1], form).isna().any() for form in forms):
        return None
    for form in forms:
        others = np.isnat(made)
        made[others] = _parsed(texts[others], form).to_numpy("datetime64[us]")
    return None if np.isnat(made).any() else made


def are_words(series: Cells) -> NDArray[np.bool_]:
    """(n,) True where a cell begins with a letter and has no digit: the first cell of a line that is not a sample."""
    if not is_text(series):
        return np.zeros(len(series), bool)
    text = series.astype("str").str.strip()
    words = text.str[:1].str.isalpha() & ~text.str.casefold().isin(["nan", "null", "none", "n/a", "na", "inf"])
    found = words.to_numpy(bool, copy=True, na_value=False)
    if found.any():
        found[found] = ~text[found].str.contains(r"\d").to_numpy(bool)
    return found


def one_clock(text: str, day_first: bool = False) -> datetime | None:
    """The date and time in a line of a header, as UTC; None if it is not one."""
    text = re.sub(r"\s+", " ", text.strip())
    # Cyclers write both "12:22:12 PM" and "15:22:12 PM"; the second has its hour of 24 already.
    pattern, _ = clock_format([text], usual=day_first)
    if pattern is None:
        return None
    made = _parsed(pd.Series([text], dtype="str"), pattern).iloc[0]
    return made.to_pydatetime().replace(tzinfo=UTC) if not pd.isna(made) else None


def names_zone(text: str) -> bool:
    """Whether a clock time names its zone."""
    return re.search(r"(?:Z|[+-]\d\d:?\d\d)$", text.strip()) is not None or _ZONE.search(text.strip()) is not None


def number_column(values: Floats) -> Column:
    """A number column whose NaNs are nulls: in a text file an absent value and a NaN are the same."""
    missing = np.isnan(values)
    return Column("number", values, ~missing if missing.any() else None)


def count_column(values: Floats) -> Column:
    """An integer column from whole numbers, in which NaN is null."""
    missing = np.isnan(values)
    whole = np.where(missing, 0.0, values).astype(np.int64)
    return Column("integer", whole, ~missing if missing.any() else None)


def are_whole(values: Floats) -> bool:
    """Whether all numbers except NaN are integers that a float holds exactly."""
    present = values[~np.isnan(values)]
    return bool((np.isfinite(present) & (np.abs(present) < 2**53) & (present == np.trunc(present))).all())


def text_column(series: Cells) -> Column:
    """A text column, without blanks around its texts. An empty text is null."""
    codes, words = pd.factorize(series.astype("str").str.strip(), use_na_sentinel=True)
    valid = codes >= 0
    kept = tuple(str(word) for word in words)
    if "" in kept:
        valid &= codes != kept.index("")
    return Column("text", np.maximum(codes, 0).astype(np.int32), None if valid.all() else valid, kept or ("",))


def whole_numbers(texts: Cells) -> Column:
    """An integer column from texts of whole numbers of up to 64 bits, to the last digit. An empty text is null.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a text is something else.
    """
    stripped = texts.astype("str").str.strip()
    made = pa.array(stripped.mask(stripped == ""), type=pa.string(), from_pandas=True).cast(pa.int64())
    missing = np.asarray(made.is_null())
    values = made.fill_null(0).to_numpy()
    return Column("integer", values, ~missing if missing.any() else None)


def column_of(series: Cells, kind: str) -> tuple[Column, int]:
    """A column of this kind, and the number of values that did not fit.

    Kinds are "null", "integer", "number", "boolean", "text", and "long integer" for texts of whole numbers.
    """
    n = len(series)
    if kind == "text":
        return (text_column(series), 0) if is_text(series) else (text_column(series.astype("str")), 0)
    if kind == "boolean":
        if series.dtype == np.bool_:
            return Column("boolean", series.to_numpy()), 0
        truth = series.astype("str").str.casefold()
        known = truth.isin(["true", "false"]).to_numpy(bool)
        lost = int((~known & series.notna().to_numpy()).sum())
        return Column("boolean", (truth == "true").to_numpy(bool), None if known.all() else known), lost
    if kind == "null":
        return Column.nulls(n), int(series.notna().sum())
    if kind == "integer" and series.dtype.kind in "iu":
        return Column("integer", series.to_numpy()), 0
    if kind == "long integer":
        return whole_numbers(series), 0
    values, lost = numbers(series)
    return (count_column(values) if kind == "integer" else number_column(values)), lost
