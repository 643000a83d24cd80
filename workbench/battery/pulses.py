"""Resistance from current pulses: R = -dU/dI across the onset of a load, at given times after it.

The definition is that of hybrid pulse power characterisation (US DOE, Battery Test Manual for Electric
Vehicles, revision 3, INL/EXT-15-34184, 2015): the change of voltage over the change of current since the last
sample before the pulse. With discharge counted positive the quotient carries a minus, and R is positive.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..messages import counted
from .completeness import refuse_left_out
from .differential import VOLTAGE
from .doubts import UncertainResistance
from .half_cycles import CURRENT, rest_limit
from .neighbours import TIME

STEP_TIME = "Step time [s]"
ONSET_GAP = "Onset gap [s]"
WARNING = "Warning"
Floats = NDArray[np.float64]
_AT_ONCE = 1.0
"""The resistance at 0 s is that of the first sample under load, if that comes within this time, s."""
_EARLY = 0.1
_CONSTANT = 0.01
_FULL = 0.9
_STILL_RISING = 0.02
_SAME = 1e-6
_OTHERWISE = (
    "Or take the column 'Resistance at 10 s [Ohm]' of the steps summary, which is computed from every sample."
)


def resistance_column(seconds: float) -> str:
    """The name of the column for the resistance at a time after the onset: ``Resistance at 10 s [Ohm]``."""
    return f"Resistance at {seconds:g} s [Ohm]"


def pulse_resistance(
    frame: pd.DataFrame,
    at: Sequence[float] = (0.0, 1.0, 10.0),
    *,
    least: float | None = None,
    rest: float | None = None,
) -> pd.DataFrame:
    """The resistance of every pulse that starts from rest, of a series with every sample of time, current and
    voltage: one row a pulse, in order.

    A pulse starts where the current leaves rest, at once or in a ramp, and reaches at least ``least``. It ends where
    the current next changes by that much or rests. Time counts from the last sample at rest, which cyclers log as the
    end of the step; with a column ``Step time [s]``, from the start of the step that it gives.

    Parameters
    ----------
    frame : with ``Time [s]``, ``Current [A]`` (positive on discharge) and ``Voltage [V]``, in order of time. It must
        hold every sample: give the series step x ``Step count``, a window and ``max_points`` 10000.
    at : s, times after the onset; 0 is the first sample under full load. Between samples U and I are interpolated.
    least : A, the smallest jump; by default a fifth of the largest ``|I|``.
    rest : A, the largest ``|I|`` that is rest; by default as in ``half_cycles``.

    Returns the columns ``Time [s]`` of the onset, ``Direction``, ``Voltage before [V]``, ``Current step [A]``,
    ``Duration [s]``, ``Resistance at ... s [Ohm]`` for each of ``at``, ``Onset gap [s]`` and ``Warning``. The gap is
    from the onset to the first sample under load. A resistance is NaN where the pulse ended before,
    where the first sample under load comes later than that time (for 0 s: later than 1 s), and where the current
    differs from that of the pulse until then by more than 1 %; ``Warning`` says which and why. It also says where the
    gap is more than a tenth of the time, so that the value is uncertain.

    Raises
    ------
    NeedsEverySample
        If the frame was thinned, or samples inside a step are missing.
    ValueError
        If a column is missing.
    """
    missing = [name for name in (TIME, CURRENT, VOLTAGE) if name not in frame]
    if missing:
        raise ValueError(
            f"Pulses need a column '{missing[0]}'; the frame has {', '.join(map(repr, frame.columns))}."
        )
    refuse_left_out(frame, "Pulses", _OTHERWISE)
    samples = PulseSamples.of(frame)
    still = rest_limit(samples.current) if rest is None else rest
    rows = [_row(samples, place, at, still) for place in pulse_places(samples.current, still, least)]
    _warn(rows)
    names = [TIME, "Direction", "Voltage before [V]", "Current step [A]", "Duration [s]"]
    columns = [*names, *map(resistance_column, at), ONSET_GAP, WARNING]
    made = pd.DataFrame([row.values for row in rows], columns=columns)
    kinds = {name: "str" if name in ("Direction", WARNING) else "float64" for name in columns}
    return made.astype(kinds)


@dataclass(frozen=True)
class PulseSamples:
    """The samples with time, current and voltage, (n,) each; ``since`` is the time since the start of the step, s, NaN
    where it is unknown."""

    time: Floats
    current: Floats
    voltage: Floats
    since: Floats

    @classmethod
    def of(cls, frame: pd.DataFrame) -> PulseSamples:
        arrays = [frame[name].to_numpy(float, na_value=np.nan) for name in (TIME, CURRENT, VOLTAGE)]
        since = frame[STEP_TIME].to_numpy(float, na_value=np.nan) if STEP_TIME in frame else np.nan * arrays[0]
        kept = np.isfinite(arrays[0]) & np.isfinite(arrays[1]) & np.isfinite(arrays[2])
        return cls(*(values[kept] for values in (*arrays, since)))


class PulsePlace(NamedTuple):
    """Where a pulse is: the last sample at rest, the first after the ramp of its onset, and its last sample."""

    rest: int
    top: int
    last: int


def pulse_places(current: Floats, still: float, least: float | None = None) -> Iterator[PulsePlace]:
    """The pulses that start from rest. ``still``: the largest ``|I|`` that is rest, A. ``least``: the smallest jump, A;
    by default a fifth of the largest ``|I|``."""
    if least is None:
        least = 0.2 * float(np.abs(current).max(initial=0.0))
    if least <= 0 or len(current) < 2:
        return
    resting = np.abs(current) <= still
    turned = np.sign(current[1:]) != np.sign(current[:-1])
    leaves = np.append(np.flatnonzero(resting[1:] | turned), len(current) - 1)
    ends = np.append(np.flatnonzero(resting[1:] | turned | (np.abs(np.diff(current)) >= least)), len(current) - 1)
    for rest in np.flatnonzero(resting[:-1] & ~resting[1:]).tolist():
        size = np.abs(current[rest : int(leaves[np.searchsorted(leaves, rest + 1)]) + 1] - current[rest])
        reached = int(np.argmax(size >= least))
        if size[reached] < least or float(np.diff(size[: reached + 1]).min()) < -still:
            continue
        top = reached
        while top + 1 < len(size) and size[top + 1] - size[top] > _STILL_RISING * size[top + 1]:
            top += 1
        yield PulsePlace(rest, rest + top, int(ends[np.searchsorted(ends, rest + top)]))


class Pulse:
    """One pulse: its onset, its samples from full load on, and its resistances."""

    def __init__(self, samples: PulseSamples, place: PulsePlace, longest: float, still: float) -> None:
        self.still = still
        self.onset = onset_time(samples, place.rest)
        # From the last sample at rest: of a long test with thousands of pulses each looks at its own samples alone.
        own = slice(place.rest, place.last + 1)
        time, i, u = samples.time[own], samples.current[own], samples.voltage[own]
        self.voltage, self.current = float(u[0]), float(i[0])
        passed, size = time - self.onset, np.abs(i - self.current)
        self.gap = float(passed[1])
        top, last = place.top - place.rest, place.last - place.rest
        asked = int(np.searchsorted(passed, longest, "right"))
        level = float(np.median(size[top : max(asked, top + 1)]))
        while last > top and size[last] < _FULL * level and size[last - 1] - size[last] > _CONSTANT * level:
            last -= 1  # a ramp down belongs to the rest after it
        full = 1 + int(np.argmax(size[1 : last + 1] >= _FULL * level))
        self.passed, self.i, self.u = (values[full : last + 1] for values in (passed, i, u))
        self.step = float(self.i[0]) - self.current
        self.duration = float(self.passed[-1])

    def resistance(self, seconds: float) -> tuple[float, str, bool]:
        """The resistance, Ohm; what is to be said of it; and whether that is a doubt of the value, rather than that the
        pulse is over."""
        limit = seconds * (1 + _SAME) + _SAME
        if seconds > self.duration + _SAME * max(1.0, seconds):
            return float("nan"), f"the pulse ended after {self.duration:.4g} s", False
        if max(self.gap, 0.0) > max(limit, _AT_ONCE if seconds == 0 else 0.0):
            return float("nan"), f"the first sample under load comes {self.gap:.4g} s after the onset", True
        if self.passed[0] > max(limit, _AT_ONCE if seconds == 0 else 0.0):
            return float("nan"), f"the current is still rising until {self.passed[0]:.4g} s", True
        moment = min(max(seconds, float(self.passed[0])), self.duration)
        apart = self._apart(moment)
        u, i = (float(np.interp(moment, self.passed, values)) for values in (self.u, self.i))
        typical = float(np.median(self.i[: max(1, int(np.searchsorted(self.passed, moment, "right")))]))
        if abs(i - typical) > max(_CONSTANT * abs(typical - self.current), self.still):
            share = abs((i - typical) / (typical - self.current))
            return float("nan"), f"the current is not constant, it differs by {share:.1%}", True
        value = (self.voltage - u) / (i - self.current)
        early = max(self.gap, float(self.passed[0]) if seconds == 0 else 0.0)
        if early > _EARLY * (seconds or _AT_ONCE) * (1 + _SAME) + _SAME:
            return value, f"uncertain, the first sample under load comes {early:.4g} s after the onset", True
        if apart > seconds / 2 > 0:
            return value, f"interpolated between samples {apart:.4g} s apart", False
        return value, "", False

    def _apart(self, moment: float) -> float:
        """How far the samples around a moment are apart, s; 0 where one is at that moment."""
        after = min(int(np.searchsorted(self.passed, moment)), len(self.passed) - 1)
        if after == 0 or np.abs(self.passed[after - 1 : after + 1] - moment).min() <= _CONSTANT * moment:
            return 0.0
        return float(self.passed[after] - self.passed[after - 1])


def onset_time(samples: PulseSamples, rest: int) -> float:
    """When the load began, s: at the last sample at rest, or where the time within the step says so."""
    first = rest + 1
    gap = float(samples.time[first] - samples.time[rest])
    since, before = float(samples.since[first]), float(samples.since[rest])
    if 0 <= since <= gap and not since >= before + gap - _SAME:
        return float(samples.time[first]) - since
    return float(samples.time[rest])


class _Row(NamedTuple):
    values: list[float | str]
    doubts: list[str]


def _row(samples: PulseSamples, place: PulsePlace, at: Sequence[float], still: float) -> _Row:
    pulse = Pulse(samples, place, max([*at, _AT_ONCE]), still)
    found = [pulse.resistance(seconds) for seconds in at]
    said = [
        f"{resistance_column(seconds)}: {words}" for seconds, (_, words, _) in zip(at, found, strict=True) if words
    ]
    doubts = [
        words for words, (_, _, doubtful) in zip(said, (one for one in found if one[1]), strict=True) if doubtful
    ]
    direction = "discharge" if pulse.step > 0 else "charge"
    head: list[float | str] = [pulse.onset, direction, pulse.voltage, pulse.step, pulse.duration]
    return _Row([*head, *(value for value, _, _ in found), pulse.gap, "; ".join(said)], doubts)


def _warn(rows: Sequence[_Row]) -> None:
    doubtful = [row for row in rows if row.doubts]
    if doubtful:
        words = (
            f"{counted(len(doubtful), 'pulse')} of {len(rows)} with resistances that are NaN or uncertain, the first "
            f"at {doubtful[0].values[0]:g} s: {'; '.join(doubtful[0].doubts)}. The column 'Warning' says which and why"
        )
        warnings.warn(words, UncertainResistance, stacklevel=3)
