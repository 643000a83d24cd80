"""The charge that passed in a half cycle: from the cycler's counter, or by the trapezoid rule. Rests count nothing.

The trapezoid rule gives each sample half of the interval on either side. Where rows were left out (``half_cycles``
leaves out rests), a sample keeps its own half interval, and nothing is integrated over the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..messages import counted as counted_words
from .completeness import STEP_COUNT, left_out, warn_left_out
from .doubts import ChargeDiffers, SamplesLeftOut
from .half_cycles import CURRENT, rest_limit
from .neighbours import TIME, Neighbours

DIRECTIONS = ("charge", "discharge")
LONGEST, TIMES = 60.0, 10.0
"""An interval longer than this, s, and than so many times those before and after it is a gap: nothing is integrated
over it. Slow logging is not a gap: its intervals are alike."""
_DIFFERENCE = 0.005
_NOTABLE = 0.001
_SURELY = 1.5
"""So many times what a current can have passed between two samples: more did not pass."""
_ZERO = 1e-9
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChargeRows:
    """What the charge of some rows is counted from, (n,) each; None for a column that they lack.

    ``time`` s, ``current`` A, ``counters`` A.h by direction, ``steps`` the numbers of their steps, ``numbers`` those of
    the samples. ``known``: what a half cycle remembers of the rows that were left out. ``missing``: which samples are
    not there, in words; empty if none.
    """

    n: int
    time: Floats | None
    current: Floats | None
    counters: Mapping[str, Floats]
    steps: Floats | None
    numbers: NDArray[np.int64] | None
    known: Neighbours | None
    missing: str

    @classmethod
    def of(cls, frame: pd.DataFrame) -> ChargeRows:
        whole = frame.index.nlevels == 1 and pd.api.types.is_integer_dtype(frame.index.dtype)
        counters = {direction: _column(frame, _counter(direction)) for direction in DIRECTIONS}
        return cls(
            len(frame),
            _column(frame, TIME),
            _column(frame, CURRENT),
            {direction: values for direction, values in counters.items() if values is not None},
            _column(frame, STEP_COUNT) if any(name in frame for name in map(_counter, DIRECTIONS)) else None,
            frame.index.to_numpy(np.int64) if whole else None,
            Neighbours.in_frame(frame),
            left_out(frame) or "",
        )

    def half_cycle(self, rows: NDArray[np.intp], known: Neighbours | None, missing: str) -> ChargeRows:
        """Some of these rows, as ``of`` reads them from the frame of a half cycle; without a frame for each."""
        time, current, steps = (
            None if values is None else values[rows] for values in (self.time, self.current, self.steps)
        )
        numbers = None if self.numbers is None else self.numbers[rows]
        counters = {direction: values[rows] for direction, values in self.counters.items()}
        known = None if known is None else known.of_half_cycle(rows)
        return ChargeRows(len(rows), time, current, counters, steps, numbers, known, missing)


def _counter(direction: str) -> str:
    return f"{direction.capitalize()} capacity [A.h]"


def _column(frame: pd.DataFrame, name: str) -> Floats | None:
    return frame[name].to_numpy(float, na_value=np.nan) if name in frame else None


def charge_passed(frame: pd.DataFrame, direction: str) -> Floats:
    """Charge since the first row of a half cycle: (n,) float, A.h, starts at 0, never falls. Needs the cycler's
    capacity of that direction, or ``Current [A]`` and ``Time [s]``.

    From the column ``Discharge capacity [A.h]`` or ``Charge capacity [A.h]`` if it is there, else by the trapezoid rule
    from ``Current [A]`` and ``Time [s]``. A fall is the counter's restart in a new step; the charge between two steps
    comes from the current, if it is there, which holds beyond the last sample of a step for at most the interval by
    which the step was logged. Rests that ``half_cycles`` left out count nothing.

    Warns with ``SamplesLeftOut`` where samples are missing that it needs, and where it integrates nothing over a
    gap (an interval above 60 s and above 10 times those beside it) or where the time falls, and with
    ``ChargeDiffers`` where counter and integral differ by more than 0.5 %.

    Raises
    ------
    ValueError
        If ``direction`` is neither "charge" nor "discharge", or the frame has neither.
    """
    rows = ChargeRows.of(frame)
    charge, missing = counted_of(rows, direction)
    if missing and not warn_left_out(frame, "The charge passed"):
        warnings.warn(missing, SamplesLeftOut, stacklevel=2)
    elif not missing and (differs := _differs(rows, direction, charge)):
        warnings.warn(differs, ChargeDiffers, stacklevel=2)
    return charge


def counted(frame: pd.DataFrame, direction: str) -> tuple[Floats, str]:
    """``charge_passed`` without its warnings, and what it lacked in words; empty if nothing."""
    return counted_of(ChargeRows.of(frame), direction)


def counted_of(rows: ChargeRows, direction: str, *, by_counter: bool = True) -> tuple[Floats, str]:
    """``counted``; without ``by_counter`` by the current, whether there is a counter or not."""
    if direction not in DIRECTIONS:
        raise ValueError(f"The direction of a half cycle is 'charge' or 'discharge', not {direction!r}.")
    if by_counter and direction in rows.counters:
        return _by_counter(rows, rows.counters[direction], direction)
    if rows.current is not None and rows.time is not None:
        rises, gap = _integrated(rows.time, rows.current, rows, direction, straight=bool(rows.missing))
        return _running(rises), rows.missing or gap
    raise ValueError(f"The charge needs a column '{_counter(direction)}', or '{CURRENT}' and '{TIME}'.")


def _running(rises: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(rises)])


def _by_counter(rows: ChargeRows, values: Floats, direction: str) -> tuple[Floats, str]:
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < 2:
        return np.zeros(rows.n), ""
    rises = np.diff(values[known])
    fallen = rises < 0
    rises = np.where(fallen, values[known][1:], rises)
    in_new_step = _new_steps(rows.steps, known)
    restarts = fallen | (in_new_step & (values[known][1:] <= _ZERO * values[known].max()))
    if restarts.any() and rows.current is not None and rows.time is not None:
        by_current = np.diff(_running(_integrated(rows.time, rows.current, rows, direction)[0])[known])
        likely, most = _between(rows.time[known], rows.current[known], direction, in_new_step)
        by_current = np.minimum(by_current, likely)
        # A counter that falls to more than the current can have passed since did not start anew: it counts down.
        counts_down = fallen & ~in_new_step & (rises > _SURELY * most)
        rises = np.where(restarts, np.where(counts_down, by_current, np.maximum(rises, by_current)), rises)
    charge = np.zeros(rows.n)
    charge[known[1:]] = rises
    return np.cumsum(charge), "" if _is_one_step(rows.steps) else rows.missing


def _is_one_step(steps: Floats | None) -> bool:
    if steps is None:
        return False
    known = steps[~np.isnan(steps)]
    return not len(known) or bool((known == known[0]).all())


def _between(
    time: Floats, current: Floats, direction: str, in_new_step: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """The charge that passed between each of some rows and the next, and the most that can have passed, A.h.

    Each current holds for half of the interval. Nobody logs when a step begins and ends: its current holds before its
    first sample and after its last one for no longer than the step itself was logged by, since the first sample of a
    rest may come minutes after the last one under load.
    """
    flow = _flow(current, direction)
    apart = np.diff(time)
    inside = np.concatenate([[np.inf], np.where(in_new_step, np.inf, apart), [np.inf]])
    before, after = (np.where(in_new_step, np.fmin(apart, own), apart) for own in (inside[:-2], inside[2:]))
    likely: Floats = (flow[:-1] * before + flow[1:] * after) / 7200
    most: Floats = np.fmax(flow[:-1], flow[1:]) * apart / 3600
    return np.where(np.isfinite(likely), likely, np.inf), np.where(np.isfinite(most), most, np.inf)


def _new_steps(steps: Floats | None, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether each of ``rows`` but the first belongs to another step than the one before, whose counter starts anew."""
    if steps is None:
        return np.zeros(len(rows) - 1, bool)
    return np.asarray(steps[rows[1:]] != steps[rows[:-1]])


def _integrated(
    time: Floats, current: Floats, held: ChargeRows, direction: str, *, straight: bool = False
) -> tuple[Floats, str]:
    """What passed between each row and the next, (n - 1,), A.h; and the gaps that count nothing, in words.

    ``straight``: rows that are missing are bridged by a straight line, as between any two samples.
    """
    flow = _flow(current, direction)
    rows = np.flatnonzero(np.isfinite(time) & np.isfinite(flow))
    rises = np.zeros(max(held.n - 1, 0))
    if len(rows) < 2:
        return rises, ""
    low, high = rows[:-1], rows[1:]
    apart = np.maximum(time[high] - time[low], 0.0)
    before, after, next_to = apart.copy(), apart.copy(), np.ones(len(apart), bool)
    known = held.known
    if known is not None:
        # Rows that a script took out of a half cycle are bridged like any that are missing.
        next_to = (known.order[high] == known.order[low] + 1) | (known.place[high] != known.place[low] + 1)
        before, after = np.where(next_to, apart, known.before[high]), np.where(next_to, apart, known.after[low])
    elif not straight:
        next_to = ~_numbers_missing(held.numbers, low, high)
    whole = (flow[low] * after + flow[high] * before) / 7200
    longest = longest_intervals(np.where(next_to, apart, np.minimum(after, before)))
    counts = [interval <= longest for interval in (after, before)]
    if known is None:
        counts = [one & next_to for one in counts]
    passed = (flow[low] * after * counts[0] + flow[high] * before * counts[1]) / 7200
    rises[high - 1] = passed
    falls = int((time[high] < time[low]).sum())
    if falls:
        times = counted_words(falls, "time")
        return rises, f"'{TIME}' falls {times}: the rows are not in order, and no charge is counted there"
    gaps = np.flatnonzero(whole > passed)
    if (whole - passed).sum() <= _NOTABLE * passed.sum():
        return rises, ""
    hours = apart[gaps].sum() / 3600
    return rises, (
        f"No charge is counted over {counted_words(len(gaps), 'gap')} of {hours:.3g} h in all, the first from "
        f"{time[low[gaps[0]]]:g} s to {time[high[gaps[0]]]:g} s: the frame has no sample there"
    )


def longest_intervals(intervals: Floats) -> Floats:
    """For each interval the length from which it is a gap, s."""
    padded = np.concatenate([[0.0], intervals, [0.0]])
    longest: Floats = np.maximum(LONGEST, TIMES * np.maximum(padded[:-2], padded[2:]))
    return longest


def _numbers_missing(
    numbers: NDArray[np.int64] | None, low: NDArray[np.intp], high: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether sample numbers are missing between rows ``low`` and ``high``: rows were left out there."""
    if numbers is None:
        return np.zeros(len(low), bool)
    return np.asarray(numbers[high] - numbers[low] > high - low)


def _flow(current: Floats, direction: str) -> Floats:
    """The current in one direction, at least 0. A current of one sign counts whatever its sign: it may be without."""
    limit = rest_limit(current)
    with np.errstate(invalid="ignore"):
        out, into = bool((current > limit).any()), bool((current < -limit).any())
        discharges = out if out != into else direction == "discharge"
        return np.maximum(current if discharges else -current, 0.0)


def _differs(rows: ChargeRows, direction: str, charge: Floats) -> str:
    """In words, where the counter and the integral of the current differ; else empty."""
    if direction not in rows.counters or rows.current is None or rows.time is None:
        return ""
    rises, gap = _integrated(rows.time, rows.current, rows, direction)
    integral, total = float(rises.sum()), float(charge[-1]) if len(charge) else 0.0
    # The trapezoid rule itself is not better than about one interval.
    if gap or abs(integral - total) <= _DIFFERENCE * max(integral, total) + float(rises.max(initial=0.0)):
        return ""
    return (
        f"The counter of the {direction} passes {total:.6g} A.h and the integral of the current {integral:.6g} A.h; "
        "the counter is used. Leave its column out of the step to take the integral"
    )
