"""Diffusion from galvanostatic intermittent titration (GITT)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..allowed import ABOVE_0, FROM_0, LIMITS, takes
from ..checked import T_COLUMNS, Checked, checked, joined, temperature_cells, voltage_noise
from ..half_cycles import rest_limit
from ..inputs import Floats, Refusal, positive, refusing
from ..pulses import PulsePlace, PulseSamples, onset_time, pulse_places
from ..rests import drift, why_no_rest
from ..result import VALID, WARNING, Cell, Remark, result
from ..state_of_charge import CountedCharge, Limits, count_charge
from .diffusion import LONG, SENSITIVE, TAKEN, Geometry, Window, apart, diffusion_rate, square_root_fit

COLUMNS = (
    "Pulse",
    "Time [s]",
    "Direction",
    "SOC",
    "OCV [V]",
    "Pulse duration [s]",
    "Current [A]",
    "Onset gap [s]",
    "Rest [s]",
    "Drift [mV/h]",
    "dE_s [V]",
    "dE/dsqrt(t) [V.s^-0.5]",
    "r2",
    "Samples",
    "D/R2 [1/s]",
    "D/R2 second window [1/s]",
    "D [m2/s]",
    "D second window [m2/s]",
    "Window sensitive",
    *T_COLUMNS,
)
APPARENT = Remark(
    "apparent",
    "D of a cell of two electrodes is apparent: it holds the change of both. Only a half cell, or a cell with a "
    "reference electrode, gives that of one.",
)
_WHAT = "Titration pulses"
_FEWEST = 3
_ENOUGH = 10
_CUT = 0.05
_STRAIGHT = 0.98
_ABOVE_NOISE = 5.0
_RELAXED = 1.0
_REST_END = 600.0
_LONGER = 3.0
_LASTS = 0.05
"""By which share D may be too large, since the end of a pulse is not known."""


@dataclass(frozen=True)
class _How:
    """The parameters of one run, the usual duration and current of its pulses, and the usual largest gap of its rests,
    s."""

    radius: float | None
    geometry: Geometry
    window: Window
    second: Window
    duration: float
    current: float
    gap: float


@takes(**TAKEN, least=ABOVE_0, rest=FROM_0, limits=LIMITS, capacity=ABOVE_0)
@refusing(COLUMNS)
def gitt(
    frame: pd.DataFrame,
    *,
    radius: float | None = None,
    geometry: Geometry = "sphere",
    window: Window = (1.0, 60.0),
    second_window: Window = (1.0, 10.0),
    least: float | None = None,
    rest: float | None = None,
    limits: Limits | None = None,
    capacity: float | None = None,
) -> pd.DataFrame:
    """The diffusion coefficient of each titration pulse, with two windows of time.

    D = 4 / (9 pi) [R (dE_s / tau) / (dE_t / dsqrt(t))]^2 for spheres of radius R, 4 / pi [L ...]^2 for slabs:
    W. Weppner, R. A. Huggins, J. Electrochem. Soc. 124 (1977) 1569. tau is the duration of the pulse, dE_s the change
    between the ends of the rests before and after it, dE_t / dsqrt(t) the slope in the window. Errors of the method:
    S. D. Kang, W. C. Chueh, J. Electrochem. Soc. 168 (2021) 120504; Geng et al. (2022),
    DOI 10.1016/j.electacta.2021.139727. Of an exact sphere (D = 1e-15 m2/s, R = 1.8 um) the formula gives 0.87 of D
    with the window from 1 to 10 s and 0.74 with 1 to 60 s: a number of this method is known within a factor.

    Parameters
    ----------
    frame : every sample of ``Time [s]``, ``Current [A]`` and ``Voltage [V]`` in order of time.
    radius : m, of the particle (of a slab its thickness). Without it D is NaN and ``D/R2 [1/s]`` is what is known.
    geometry : "sphere" or "slab".
    window, second_window : s after the onset.
    least, rest : A, as in ``dcir``.
    limits, capacity : V and A.h, as in ``dcir``: what SOC refers to.

    Returns one row a pulse: ``D [m2/s]`` (NaN without ``radius``), ``D/R2 [1/s]``, ``Valid``, ``Warning``, and
    ``OCV [V]`` and ``SOC`` at the end of the rest before it. A row is not valid,
    and its D is NaN, where the onset is not known (the first sample under load comes later than the window begins),
    the window holds fewer than 3 samples, no rest follows, the rest has a gap that may hide a pulse (as long as one,
    and 3 times as long as is usual), dE_s is below 5 times the noise (a plateau has no D) or has the other sign than
    the slope (something else moved the voltage), or the pulse differs from the others by more than 5 % of its duration
    or current. ``Warning`` names fewer than 10 samples, r2 below 0.98, a voltage that drifts by more than 1 mV/h at
    the end of a rest, D t / R^2 above 0.01 at the end of the window, windows that differ by more than a factor of 2
    (``Window sensitive``), and pulses whose end has no sample, where that may change D by more than 5 %.
    """
    positive(radius, "radius")
    samples = checked(frame, _WHAT, exact=True)
    measured = PulseSamples.of(samples.frame)
    still = rest_limit(measured.current) if rest is None else rest
    places = list(pulse_places(measured.current, still, least))
    if len(places) < _FEWEST:
        raise Refusal(
            "no_pulses",
            f"{_WHAT} are at least {_FEWEST} equal loads, each after a rest; the test has {len(places)}."
            f"{why_no_rest(measured.current, still)}",
        )
    ends = [place.rest for place in places[1:]] + [len(samples.time) - 1]
    gaps = [_largest_gap(samples.time, place, end) for place, end in zip(places, ends, strict=True)]
    lengths = [float(measured.time[place.last] - onset_time(measured, place.rest)) for place in places]
    currents = [abs(float(np.median(measured.current[place.top : place.last + 1]))) for place in places]
    how = _How(
        radius,
        geometry,
        window,
        second_window,
        float(np.median(lengths)),
        float(np.median(currents)),
        float(np.median(gaps)),
    )
    counted = count_charge(samples, limits, capacity)
    rows = [
        _row(samples, measured, counted, place, end, how, still, number)
        for number, (place, end) in enumerate(zip(places, ends, strict=True))
        if not samples.excluded[place.last]
    ]
    return result(rows, COLUMNS, [*samples.remarks, *counted.remarks, APPARENT])


def _row(
    samples: Checked,
    measured: PulseSamples,
    counted: CountedCharge,
    place: PulsePlace,
    end: int,
    how: _How,
    still: float,
    number: int,
) -> dict[str, Cell]:
    """The row of one pulse; ``end`` is the last sample of the rest after it, or of the test."""
    time, voltage = samples.time, samples.voltage
    onset = onset_time(measured, place.rest)
    passed = time[place.rest + 1 : place.last + 1] - onset
    volts = voltage[place.rest + 1 : place.last + 1]
    tau = float(time[place.last] - onset)
    current = float(np.median(samples.current[place.top : place.last + 1]))
    fit = square_root_fit(passed, volts, how.window)
    after = slice(place.last + 1, end + 1)
    rested = bool(end > place.last) and bool((np.abs(samples.current[after]) <= still).all())
    gap = _largest_gap(time, place, end)
    change = float(voltage[end] - voltage[place.rest]) if rested else float("nan")
    noise = max(
        voltage_noise(voltage[max(0, place.rest - 200) : place.rest + 1]), voltage_noise(voltage[after][-200:])
    )
    moving = drift(time[after], voltage[after], _REST_END) * 3.6e6 if rested else float("nan")
    row: dict[str, Cell] = {
        "Pulse": number,
        "Time [s]": onset,
        "Direction": "discharge" if current > 0 else "charge",
        "SOC": float(counted.soc[place.rest]),
        "OCV [V]": float(voltage[place.rest]),
        "Pulse duration [s]": tau,
        "Current [A]": current,
        "Onset gap [s]": float(passed[0]),
        "Rest [s]": float(time[end] - time[place.last]) if rested else None,
        "Drift [mV/h]": moving,
        "dE_s [V]": change,
        "dE/dsqrt(t) [V.s^-0.5]": fit.slope,
        "r2": fit.r2,
        "Samples": fit.samples,
        **temperature_cells(samples.temperature[place.rest : end + 1]),
    }
    why = [
        f"the first sample under load comes {passed[0]:.3g} s after the onset"
        if passed[0] > how.window[0]
        else "",
        f"{fit.samples} of at least {_FEWEST} samples in the window" if fit.samples < _FEWEST else "",
        "" if rested else "no rest follows the pulse",
        f"no sample for {gap:.4g} s in the rest, as long as a pulse: another load may be in it"
        if rested and gap >= how.duration and gap > _LONGER * how.gap
        else "",
        _cut(tau, abs(current), how),
        f"dE_s of {change * 1000:.3g} mV is below 5 times the noise" if abs(change) < _ABOVE_NOISE * noise else "",
        f"dE_s of {change * 1000:.3g} mV goes against the voltage in the pulse" if change * fit.slope < 0 else "",
    ]
    if refusal := joined(why):
        row["dE/dsqrt(t) [V.s^-0.5]"] = None if passed[0] > how.window[0] else fit.slope
        return {**row, VALID: False, WARNING: joined([refusal, counted.words])}
    rate = diffusion_rate(change / tau, fit.slope, how.geometry)
    other = square_root_fit(passed, volts, how.second)
    second = diffusion_rate(change / tau, other.slope, how.geometry)
    sensitive = apart(rate, second) > SENSITIVE
    longer = _may_last_longer(measured, place, tau)
    said = [
        f"{fit.samples} samples in the window, fewer than {_ENOUGH}" if fit.samples < _ENOUGH else "",
        f"r2 {fit.r2:.3f} is below {_STRAIGHT}" if fit.r2 < _STRAIGHT else "",
        f"the voltage drifts by {moving:.2g} mV/h at the end of the rest" if abs(moving) > _RELAXED else "",
        f"D t/R2 is {rate * how.window[1]:#.3g} at the end of the window, above {LONG}"
        if rate * how.window[1] > LONG
        else "",
        "the two windows differ by more than a factor of 2" if sensitive else "",
        f"the pulse may have lasted up to {longer:.4g} s longer, for which no sample is there: D is up to "
        f"{1 - (1 + longer / tau) ** -2:.0%} smaller"
        if longer
        else "",
        counted.words,
    ]
    square = how.radius**2 if how.radius is not None else float("nan")
    return {
        **row,
        "D/R2 [1/s]": rate,
        "D/R2 second window [1/s]": second,
        "D [m2/s]": rate * square,
        "D second window [m2/s]": second * square,
        "Window sensitive": bool(sensitive),
        WARNING: joined(said),
    }


def _largest_gap(time: Floats, place: PulsePlace, end: int) -> float:
    """The longest time without a sample from the end of a pulse to the end of its rest, s."""
    return float(np.diff(time[place.last : end + 1]).max(initial=0.0))


def _may_last_longer(measured: PulseSamples, place: PulsePlace, tau: float) -> float:
    """How much longer than until its last sample a pulse may have lasted, s; 0 where D would hardly change.

    A cycler that writes no sample at the end of a step shows the end only by its first sample of the rest, or by the
    time of that in its step.
    """
    first = place.last + 1
    if first >= len(measured.time):
        return 0.0
    ended = onset_time(measured, place.last) if np.isfinite(measured.since[first]) else float(measured.time[first])
    longer = ended - float(measured.time[place.last])
    return longer if (1 + longer / tau) ** 2 - 1 > _LASTS else 0.0


def _cut(tau: float, current: float, how: _How) -> str:
    """In words, where a pulse differs from the others."""
    if not tau > 0 or not how.duration > 0:
        return "the pulse has no duration: its samples are of one time"
    if abs(tau / how.duration - 1) > _CUT:
        return f"the pulse lasts {tau:.4g} s and the others {how.duration:.4g} s"
    if abs(current / how.current - 1) > _CUT:
        return f"the pulse has {current:.4g} A and the others {how.current:.4g} A"
    return ""
