"""``calendar``: capacity or resistance over the time of storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ..inputs import Floats, need, numbers, refusing
from ..result import Cell, result

TIME = "Storage time [d]"
COLUMNS = (
    "Group",
    "n",
    "First",
    "Last",
    "Longest [d]",
    "Linear slope [1/d]",
    "Linear r2",
    "Root slope [d^-0.5]",
    "Root r2",
)
FEWEST = 4


@refusing(COLUMNS)
def calendar(
    checkups: pd.DataFrame,
    *,
    value: str = "Retention",
    time: str = TIME,
    by: Sequence[str] = ("Temperature [degC]", "SOC"),
) -> pd.DataFrame:
    """Lines through a value over the time of storage, and over its square root, for each condition.

    y = y0 + s t, and y = y0 + s sqrt(t) (a film whose growth is limited by diffusion); both with r2, so that nobody
    need choose one beforehand. A condition with fewer than 4 check-ups is refused.

    Parameters
    ----------
    checkups : one row for each check-up of each cell: ``time`` in days from the start of the storage, ``value``, and
        columns ``by`` of the condition; those that are absent make no difference.
    value : the column of a retention, or of a resistance over the first.
    """
    need(checkups, (time, value), 1, "check-up")
    return result([_row(name, rows, value, time) for name, rows in _groups(checkups, by)], COLUMNS)


def _groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    there = [name for name in by if name in frame]
    if not there:
        yield "all", frame
        return
    for keys, rows in frame.groupby(there, dropna=False, sort=True):
        yield ", ".join(f"{name} {_short(key)}" for name, key in zip(there, keys, strict=True)), rows


def _short(key: object) -> str:
    return f"{key:g}" if isinstance(key, float) else str(key)


def _row(group: str, rows: pd.DataFrame, value: str, time: str) -> dict[str, Cell]:
    x, y = numbers(rows, time), numbers(rows, value)
    known = np.isfinite(x) & np.isfinite(y) & (x >= 0)
    order = np.argsort(x[known], kind="stable")
    x, y = x[known][order], y[known][order]
    row: dict[str, Cell] = {"Group": group, "n": len(x)}
    if len(np.unique(x)) < FEWEST:
        reason = f"at least {FEWEST} check-ups are needed; there are {len(np.unique(x))}"
        return row | {"Valid": False, "Warning": reason}
    linear, linear_r2 = _line(x, y)
    root, root_r2 = _line(np.sqrt(x), y)
    return row | {
        "First": y[0],
        "Last": y[-1],
        "Longest [d]": x[-1],
        "Linear slope [1/d]": linear,
        "Linear r2": linear_r2,
        "Root slope [d^-0.5]": root,
        "Root r2": root_r2,
    }


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """The slope of the line of least squares, and r2; r2 is NaN where nothing varies."""
    slope, intercept = np.polyfit(x, y, 1)
    total = float(((y - y.mean()) ** 2).sum())
    return float(slope), 1 - float(((y - slope * x - intercept) ** 2).sum()) / total if total > 0 else np.nan
