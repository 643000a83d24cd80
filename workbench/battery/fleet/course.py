"""The course of a cell's capacity: the cycles that count, as a share of a reference, and where it jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...messages import counted
from ..capacity.reference import PART_CHARGED, Kind, Reference, came_part_charged, reference_of
from ..inputs import (
    TEMPERATURE,
    Floats,
    Refusal,
    flags,
    in_order,
    incomplete,
    need,
    numbers,
    positive,
    temperatures,
)
from ..off_course import BESIDE, MOST_AT_OTHER, currents, left_out, other_current, reasons
from ..result import Remark

_MADS = 6.0
_BESIDE = 10
_SUDDEN = 0.3
"""Of the change of level, the least share that comes at once."""


@dataclass(frozen=True)
class Course:
    """``x`` (n,) ascending, ``retention`` (n,) of the ``reference``, the mean ``temperature``, and what to know."""

    x: Floats
    retention: Floats
    reference: Reference
    temperature: float
    remarks: tuple[Remark, ...]


def course(
    cycles: pd.DataFrame, *, value: str, x: str, reference: Kind, rated: float | None, least: int
) -> Course:
    """The cycles of one cell that count: complete ones with a capacity, at one rate.

    A cycle counts as complete unless ``Complete`` says that it is not, or the cell came part-charged. Where most
    discharge at one current, cycles at another are left out, and so are check-ups and parts of cycles; see
    ``off_course``.

    Raises
    ------
    Refusal
        Without the columns, with fewer than ``least`` cycles that count, or where no rate is that of most cycles.
    """
    positive(rated, "rated capacity")
    need(cycles, (x, value), 1, "cycle")
    rows = in_order(cycles, x)
    values = numbers(rows, value)
    counts = np.isfinite(values) & (values > 0)
    complete = flags(rows, "Complete")
    unfinished = np.array([one is False for one in complete])
    remarks = incomplete(int(unfinished.sum()), len(rows))
    counts &= ~unfinished
    if came_part_charged(values, complete):
        counts[0] = False
        remarks.append(PART_CHARGED)
    current = currents(rows)
    known = counts & np.isfinite(current)
    other = other_current(current, counts)
    if other.any():
        if other.sum() > MOST_AT_OTHER * known.sum():
            low, high = current[known].min(), current[known].max()
            raise Refusal("rates_differ", f"The discharges are at different currents, {low:.3g} to {high:.3g} A.")
        usual = np.median(current[known])
        words = f"{counted(int(other.sum()), 'cycle')} at another current than {usual:.3g} A left out."
        remarks.append(Remark("rates_differ", words))
        counts &= ~other
    beside = counts & np.array([word == BESIDE for word in reasons(values, complete, current)])
    if beside.any():
        remarks.append(left_out(int(beside.sum())))
        counts &= ~beside
    if counts.sum() < least:
        words = f"At least {least} complete cycles are needed; there are {int(counts.sum())}."
        raise Refusal("too_few", words)
    base = reference_of(values[counts], reference, rated)
    warm = numbers(rows, TEMPERATURE)[counts]
    remarks += temperatures(warm)
    temperature = float(np.nanmean(warm)) if np.isfinite(warm).any() else np.nan
    return Course(numbers(rows, x)[counts], values[counts] / base.value, base, temperature, tuple(remarks))


def jumps(retention: Floats, least: float) -> list[int]:
    """The places at which the course jumps and stays: the first value after each jump.

    A first difference more than 6 median absolute deviations from their median, with the level of ten values after it
    more than ``least`` from that of ten before.
    """
    steps = np.diff(retention)
    if len(steps) < 2 * _BESIDE:
        return []
    usual = float(np.median(steps))
    spread = float(np.median(np.abs(steps - usual)))
    found: list[tuple[float, int]] = []
    for place in (np.flatnonzero(np.abs(steps - usual) > _MADS * spread) + 1).tolist():
        if place < 2 or place > len(retention) - 2:
            continue
        step = steps[place - 1] - usual
        before, after = retention[max(place - _BESIDE, 0) : place], retention[place : place + _BESIDE]
        level = float(np.median(after) - np.median(before)) - usual * (len(before) + len(after)) / 2
        if level * step > 0 and abs(level) >= least and abs(step) >= _SUDDEN * abs(level):
            found.append((-abs(float(step)), place))
    kept: list[int] = []
    for _, place in sorted(found):
        if all(abs(place - other) > _BESIDE for other in kept):
            kept.append(place)
    return sorted(kept)
