"""What analyses ask of the frames that they are given, and how they refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import wraps
from numbers import Real
from typing import ParamSpec

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..messages import counted, quoted
from .result import Remark, refused

Floats = NDArray[np.float64]
CYCLE = "Cycle count"
STEP = "Step count"
DISCHARGE, CHARGE = "Discharge capacity [A.h]", "Charge capacity [A.h]"
TEMPERATURE = "Mean temperature [degC]"
T_MEAN = "T mean [degC]"
EXCLUDED = "Excluded"
"""Rows that somebody left out: charge is counted through them, and they give no result. Optional in each frame."""
WIDEST = 2.0
"""K; values at temperatures that differ by more are not compared without a warning."""
P = ParamSpec("P")


class Refusal(Exception):
    """An analysis that cannot answer. ``code`` is for programs, the text for people."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def refusing(columns: Sequence[str]) -> Callable[[Callable[P, pd.DataFrame]], Callable[P, pd.DataFrame]]:
    """An analysis whose ``Refusal`` becomes its table: one row of nulls with the reason. Its ``columns`` are those of
    the table, without ``Valid`` and ``Warning``."""

    def made(analysis: Callable[P, pd.DataFrame]) -> Callable[P, pd.DataFrame]:
        @wraps(analysis)
        def run(*args: P.args, **kwargs: P.kwargs) -> pd.DataFrame:
            try:
                return analysis(*args, **kwargs)
            except Refusal as refusal:
                return refused(columns, refusal.code, str(refusal))

        run.__dict__["columns"] = tuple(columns)
        return run

    return made


def need(frame: pd.DataFrame, columns: Sequence[str], least: int = 1, noun: str = "row") -> None:
    """Refuse a frame that lacks one of ``columns``, or has fewer than ``least`` rows.

    Raises
    ------
    Refusal
        With the code ``missing_column`` or ``too_few``.
    """
    absent = [name for name in columns if name not in frame]
    if absent:
        close = [name for one in absent for name in get_close_matches(one, [str(c) for c in frame], 1, 0.75)]
        hint = f" There is {quoted(close)}." if close else ""
        word = "column" if len(absent) == 1 else "columns"
        raise Refusal("missing_column", f"The {word} {quoted(absent)} must be in the frame.{hint}")
    if len(frame) < least:
        raise Refusal("too_few", f"At least {counted(least, noun)} must be in the frame; it has {len(frame)}.")


def numbers(frame: pd.DataFrame, name: str) -> Floats:
    """(n,) a column as float; NaN for nulls, infinities and a column that is absent."""
    if name not in frame:
        return np.full(len(frame), np.nan)
    column = frame[name]
    if not pd.api.types.is_numeric_dtype(column):
        column = pd.to_numeric(column, errors="coerce")
    values = column.to_numpy(float, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def excluded(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """(n,) the rows that are left out; none without the column. Tests one below the other have it in some rows."""
    return frame[EXCLUDED].eq(True).to_numpy(bool) if EXCLUDED in frame else np.zeros(len(frame), bool)


def in_order(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    """The rows in the order of a number that each has once.

    Raises
    ------
    Refusal
        If a number is missing, or two rows have the same: the rows of one test are wanted.
    """
    values = numbers(frame, by)
    if np.isnan(values).any():
        raise Refusal("missing_number", f"Some rows have no '{by}'.")
    order = np.argsort(values, kind="stable")
    same = np.flatnonzero(np.diff(values[order]) == 0)
    if len(same):
        twice = values[order][same[0]]
        raise Refusal(
            "several_tests",
            f"Two rows have '{by}' {twice:g}: give the rows of one test, or of one life, at a time.",
        )
    return frame.iloc[order]


def flags(frame: pd.DataFrame, name: str) -> list[bool | None]:
    """A boolean column; None where it is null or the column is absent."""
    if name not in frame:
        return [None] * len(frame)
    return [None if value is None or pd.isna(value) else bool(value) for value in frame[name]]


def positive(value: float | None, what: str) -> float | None:
    """A parameter that must be above 0 if it is given.

    Raises
    ------
    ValueError
        If it is not.
    """
    if value is not None and not (isinstance(value, Real) and np.isfinite(value) and value > 0):
        raise ValueError(f"The {what} must be a number above 0; it is {value!r}.")
    return value


def temperatures(values: Floats) -> list[Remark]:
    """What to say of the temperatures that are compared: unknown, or too far apart."""
    known = values[np.isfinite(values)]
    if not len(known):
        return [Remark("temperature_unknown", "The temperature is unknown: the data have none.")]
    if np.ptp(known) > WIDEST:
        low, high = known.min(), known.max()
        words = f"The temperatures differ by more than {WIDEST:g} K: {low:.1f} to {high:.1f} degC."
        return [Remark("temperature_spread", words)]
    return []


def incomplete(lost: int, of: int) -> list[Remark]:
    """The remark that so many of the cycles do not count since they are not complete; none without any."""
    if not lost:
        return []
    return [Remark("incomplete", f"{lost} of {counted(of, 'cycle')} left out: not complete, or excluded.")]


def missing_from(counts: Floats) -> tuple[int, str] | None:
    """The place after the first gap in numbers that rise by one, and the missing numbers in words; None without one.

    A sum over rows, such as what all cycles passed, lacks what the missing ones passed.
    """
    gaps = np.flatnonzero(np.diff(counts) > 1)
    if not len(gaps):
        return None
    first, last = counts[gaps[0]] + 1, counts[gaps[0] + 1] - 1
    which = f"{first:g}" if first == last else f"{first:g} to {last:g}"
    more = f", nor are others after {'it' if first == last else 'them'}" if len(gaps) > 1 else ""
    return int(gaps[0]) + 1, f"{which} {'is' if first == last else 'are'} not in the frame{more}"


def not_summed(counts: Floats, what: str) -> list[Remark]:
    """The remark that a sum over rows lacks some; ``what`` they are, such as "cycle"."""
    missing = missing_from(counts)
    if missing is None:
        return []
    return [Remark("rows_left_out", f"{what.capitalize()} {missing[1]}: what passed there is not counted.")]
