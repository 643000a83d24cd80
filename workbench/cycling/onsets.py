"""The resistance at the onset of each step that begins from rest, from all samples, in batches.

R = -(U - U0) / (I - I0), with U0 and I0 of the last sample at rest and U and I 10 s after it, as in
``battery.pulse_resistance``. Each step is judged by its own samples and the one before it, so that a series that grows
has the same values as one that is read at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .run_statistics import Cut, Floats

RESISTANCE, GAP = "Resistance at 10 s [Ohm]", "Onset gap [s]"
AFTER = 10.0
"""The time after the onset, s."""
REST = 0.01
"""The current before the onset is rest up to this part of the current of the load."""
LOADED = 0.02
"""The first sample that differs from rest by this part of the load is the first sample under load."""
CONSTANT = 0.01
"""In the second half of the time the current differs from that of the load by at most this part of it."""
STEADY = 0.5
"""The largest ``Std current`` of the step, as a part of the load: more is noise at rest, or no pulse."""
_EQUAL = 1e-5  # s; two times that are nearer than this are the same


class Sample(NamedTuple):
    """A sample with time (s), current (A) and voltage (V)."""

    time: float
    current: float
    voltage: float


class Onsets:
    """Collects the onsets of runs of samples. Memory holds 20 s of samples and a few numbers for each run.

    Parameters
    ----------
    before : the last complete sample before the first that will be fed; None at the start of a series.
    """

    def __init__(self, before: Sample | None = None) -> None:
        self._run = -1
        held = np.array([] if before is None else [before], np.float64).reshape(-1, 3)
        self._held = _Complete(held[:, 0], held[:, 1], held[:, 2], np.full(len(held), -1))
        self._found: list[dict[str, Floats]] = []

    def feed(self, cut: Cut, time: Floats, current: Floats, voltage: Floats) -> None:
        """Take the next samples, (n,) each, n > 0, cut into runs. NaN is null."""
        runs = cut.run + self._run + (0 if cut.continues else 1)
        self._run = int(runs[-1])
        known = np.isfinite(time) & np.isfinite(current) & np.isfinite(voltage)
        if len(cut.starts) == 1 and len(self._held.run) and self._held.run[0] == self._run:
            kept: NDArray[np.intp] | slice = np.flatnonzero(known)[-1:]  # its onset is noted already
        else:
            kept = slice(None) if bool(known.all()) else np.flatnonzero(known)
        held = self._held
        t = np.maximum.accumulate(np.concatenate([held.time, time[kept]]))
        i, u = np.concatenate([held.current, current[kept]]), np.concatenate([held.voltage, voltage[kept]])
        self._take(_Complete(t, i, u, np.concatenate([held.run, runs[kept]])), is_end=False)

    def finish(self, std: Floats) -> dict[str, Floats]:
        """Resistance, Ohm, and onset gap, s, of each run, (g,); NaN where there is none.

        ``std`` (g,) is the deviation of the current in each run, A.
        """
        self._take(self._held, is_end=True)
        made = {RESISTANCE: np.full(len(std), np.nan), GAP: np.full(len(std), np.nan)}
        for found in self._found:
            run = found["run"].astype(np.intp)
            pulse = (np.abs(found["rest"]) <= REST * np.abs(found["load"])) & (found["step"] != 0)
            pulse &= np.nan_to_num(std[run]) <= STEADY * np.abs(found["step"])
            made[GAP][run] = np.where(pulse, found["gap"], np.nan)
            made[RESISTANCE][run] = np.where(pulse, found["resistance"], np.nan)
        return made

    def _take(self, samples: _Complete, *, is_end: bool) -> None:
        """Note the onsets of the runs that are known far enough, and hold what the others need."""
        starts = np.flatnonzero(np.diff(samples.run)) + 1
        ends = np.append(starts[1:], len(samples.run))
        hold = len(samples.run) - 1
        if len(starts) and not is_end:
            before = int(starts[-1]) - 1
            if samples.time[-1] < samples.time[before] + 2 * AFTER + 2 * _EQUAL:
                starts, ends, hold = starts[:-1], ends[:-1], before
        if len(starts):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                self._found.append(_onsets(samples, starts, ends))
        hold = max(hold, 0)
        self._held = _Complete(
            samples.time[hold:], samples.current[hold:], samples.voltage[hold:], samples.run[hold:]
        )


class _Complete(NamedTuple):
    """Samples without nulls, (n,) each, and the run of each."""

    time: Floats
    current: Floats
    voltage: Floats
    run: NDArray[np.int64]


def _onsets(samples: _Complete, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> dict[str, Floats]:
    """The onset of each run from ``starts`` to before ``ends``, (g,); every run has a sample before it."""
    t, i, u, run = samples
    first = _first_loaded(t, i, starts, ends)
    rest = first - 1
    moment = t[rest] + AFTER
    after = np.searchsorted(t, moment - _EQUAL)
    over = after >= ends
    after = np.clip(after, first, ends - 1)
    exact = t[after] <= moment + _EQUAL
    before = np.where(exact, after, np.maximum(after - 1, first))
    share = np.where(after == before, 0.0, (moment - t[before]) / (t[after] - t[before]))
    at_moment = i[before] + share * (i[after] - i[before])
    load = np.where(over, i[ends - 1], at_moment)
    step = load - i[rest]
    half = np.clip(np.searchsorted(t, t[rest] + AFTER / 2 - _EQUAL), first, before)
    middle = (_over(np.maximum, i, half, before) + _over(np.minimum, i, half, before)) / 2
    constant = np.abs(middle - at_moment) <= CONSTANT * np.abs(step)
    known = ~over & (exact | (after > first)) & constant
    resistance = -(u[before] + share * (u[after] - u[before]) - u[rest]) / step
    return {
        "run": run[starts].astype(np.float64),
        "rest": i[rest],
        "load": load,
        "step": step,
        "gap": t[first] - t[rest],
        "resistance": np.where(known, resistance, np.nan),
    }


def _first_loaded(t: Floats, i: Floats, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """(g,) the first sample under load of each run. A cycler may log the rest once more as the first of the step."""
    before = i[starts - 1]
    level = np.clip(np.searchsorted(t, t[starts - 1] + AFTER + _EQUAL) - 1, starts, ends - 1)
    least = LOADED * np.abs(i[level] - before)
    late = np.flatnonzero(np.abs(i[starts] - before) < least)
    first = starts.copy()
    if len(late):
        lengths = level[late] - starts[late] + 1
        offsets = np.cumsum(lengths) - lengths
        rows = np.arange(int(lengths.sum())) + np.repeat(starts[late] - offsets, lengths)
        loaded = np.abs(i[rows] - np.repeat(before[late], lengths)) >= np.repeat(least[late], lengths)
        first[late] = np.minimum.reduceat(np.where(loaded, rows, len(t)), offsets)
    return first


def _over(find: np.ufunc, values: Floats, first: NDArray[np.intp], last: NDArray[np.intp]) -> Floats:
    """(g,) the largest or smallest of the values from ``first`` to ``last`` of each."""
    padded = np.append(values, values[-1])
    places = np.stack([first, last + 1], axis=1).ravel()
    return np.asarray(find.reduceat(padded, places)[::2], np.float64)
