"""Diffusion and resistance from intermittent current interruption (ICI)."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..allowed import ABOVE_0, FROM_0, LIMITS, takes
from ..checked import T_COLUMNS, Checked, checked, joined, temperature_cells
from ..half_cycles import rest_limit
from ..inputs import Floats, Refusal, positive, refusing
from ..result import VALID, WARNING, Cell, result
from ..state_of_charge import Limits, count_charge
from .diffusion import TAKEN, Geometry, SquareRootFit, Window, apart, diffusion_rate, square_root_fit
from .gitt import APPARENT

COLUMNS = (
    "Pulse",
    "Time [s]",
    "Direction",
    "SOC",
    "OCV [V]",
    "Pulse duration [s]",
    "Current [A]",
    "Onset gap [s]",
    "dE_OC/dt [V/s]",
    "dE/dsqrt(t) [V.s^-0.5]",
    "r2",
    "Samples",
    "Resistance [Ohm]",
    "k [Ohm.s^-0.5]",
    "D/R2 [1/s]",
    "D/R2 second window [1/s]",
    "D [m2/s]",
    "D second window [m2/s]",
    "Window sensitive",
    *T_COLUMNS,
)
_WHAT = "Interruptions"
_FEWEST = 8
_SAMPLES = 5
_STRAIGHT = 0.98
_CUT = 0.5
_EQUAL = 0.02
_STEADY = {"sphere": 0.1, "slab": 0.2}
"""Times under current, in R^2 / D (of a slab in L^2 / D), after which the gradient in a particle is steady: what is
left of its first mode is below a seventh."""


class _Break(NamedTuple):
    """A load and the break after it: the first and the last sample of the load, and the last of the break."""

    first: int
    last: int
    end: int


@takes(**TAKEN, longest=ABOVE_0, rest=FROM_0, limits=LIMITS, capacity=ABOVE_0)
@refusing(COLUMNS)
def ici(
    frame: pd.DataFrame,
    *,
    radius: float | None = None,
    geometry: Geometry = "sphere",
    window: Window = (1.0, 10.0),
    second_window: Window = (1.0, 5.0),
    longest: float = 30.0,
    rest: float | None = None,
    limits: Limits | None = None,
    capacity: float | None = None,
) -> pd.DataFrame:
    """Resistance and diffusion at each short break of a constant current.

    In the break E = E(0) + S sqrt(t). ``R = |E(0) - U| / |I|`` with U the last voltage under load, ``k = |S| / |I|``,
    and D = 4 / (9 pi) [R_p (dE_OC/dt) / S]^2 for spheres, 4 / pi [L ...]^2 for slabs. dE_OC/dt is the slope of the
    voltage under load over the time *under current*: the breaks do not count, else D of 300 s and 10 s breaks is 6.8 %
    low. Y.-C. Chien et al. (2023), DOI 10.1038/s41467-023-37989-6. Of an exact sphere with R^2 / D = 8300 s the formula
    gives 1.18 of D with the window from 1 to 10 s, and twice D before the gradient is steady.

    Parameters
    ----------
    frame : every sample of ``Time [s]``, ``Current [A]`` and ``Voltage [V]`` in order of time.
    radius : m, of the particle (of a slab its thickness). Without it D is NaN and ``D/R2 [1/s]`` is what is known.
    geometry : "sphere" or "slab".
    window, second_window : s after the last sample under load.
    longest : s; a rest that is longer is not a break.
    rest : A, the largest ``|I|`` that is rest; by default ``rest_limit``.
    limits, capacity : V and A.h, as in ``dcir``: what SOC refers to.

    Returns one row a break; ``OCV [V]`` is E(0). Fewer than 8 breaks are refused. A row is not valid where the window
    holds fewer than 5 samples, the first sample of the break comes later than the window begins, the break is less than
    half as long as the others, or the current before and after the break differs by more than 2 %. ``Warning`` names r2
    below 0.98, windows that differ by more than a factor of 2, an E(0) beyond U, whose resistance is doubtful, and
    breaks that come before the gradient is steady: after less than 0.1 R^2 / D under current (of a slab 0.2 L^2 / D).
    """
    positive(radius, "radius")
    samples = checked(frame, _WHAT, exact=True)
    still = rest_limit(samples.current) if rest is None else rest
    breaks = _breaks(samples, still, longest)
    if len(breaks) < _FEWEST:
        raise Refusal(
            "no_breaks",
            f"{_WHAT} are at least {_FEWEST} rests of 1 to {longest:g} s in a constant current; the test has "
            f"{len(breaks)}.",
        )
    counted = count_charge(samples, limits, capacity)
    under = _time_under_current(samples, still)
    slopes = _slopes(samples, breaks, under, still)
    begun = _begun(samples, breaks)
    rows: list[dict[str, Cell]] = []
    usual = float(np.median([samples.time[one.end] - samples.time[one.last] for one in breaks]))
    for number, (one, drive) in enumerate(zip(breaks, slopes, strict=True)):
        if samples.excluded[one.last]:
            continue
        base: dict[str, Cell] = {"Pulse": number, "SOC": float(counted.soc[one.last])}
        rows.append(
            base
            | _row(
                samples,
                one,
                drive,
                (window, second_window),
                usual,
                radius,
                geometry,
                float(under[one.last] - under[begun[number]]),
                counted.words,
            )
        )
    return result(rows, COLUMNS, [*samples.remarks, *counted.remarks, APPARENT])


def _breaks(samples: Checked, still: float, longest: float) -> list[_Break]:
    """The rests of 1 s to ``longest`` between loads of one direction."""
    loaded = np.abs(samples.current) > still
    edges = np.flatnonzero(loaded[1:] != loaded[:-1])
    found = []
    for number, edge in enumerate(edges.tolist()):
        if not loaded[edge] or number + 1 >= len(edges):
            continue
        end = int(edges[number + 1])
        lasts = float(samples.time[end] - samples.time[edge])
        one_way = samples.current[edge] * samples.current[end + 1] > 0
        if 1.0 <= lasts <= longest and one_way:
            found.append(_Break(int(edges[number - 1]) + 1 if number else 0, edge, end))
    last = len(samples.time) - 1
    if len(edges) and loaded[edges[-1]] and found:  # the test ends in a break
        lasts = float(samples.time[last] - samples.time[edges[-1]])
        if 1.0 <= lasts <= longest:
            found.append(_Break(int(edges[-2]) + 1 if len(edges) > 1 else 0, int(edges[-1]), last))
    return found


def _time_under_current(samples: Checked, still: float) -> Floats:
    """The time under current until each sample, (n,) s."""
    loaded = np.abs(samples.current[1:]) > still
    return np.concatenate([[0.0], np.cumsum(np.where(loaded, np.diff(samples.time), 0.0))])


def _begun(samples: Checked, breaks: list[_Break]) -> list[int]:
    """For each break the sample at which its current began: after the last longer rest, or at a change of direction."""
    found: list[int] = []
    before: _Break | None = None
    for one in breaks:
        first = max(one.first - 1, 0)
        goes_on = (
            before is not None
            and before.end == first
            and samples.current[before.last] * samples.current[one.last] > 0
        )
        found.append(found[-1] if goes_on else first)
        before = one
    return found


def _slopes(samples: Checked, breaks: list[_Break], under: Floats, still: float) -> Floats:
    """How fast the voltage under load changes at each break, V/s of time under current: within the breaks of one
    current in a row. A load in the other direction between two breaks, and another current, begin a new run: the
    voltage before it says nothing of the slope after it."""
    lasts = np.array([one.last for one in breaks])
    current = samples.current
    slopes = np.full(len(lasts), np.nan)
    apart = [
        number
        for number, (before, after) in enumerate(pairwise(lasts.tolist()), 1)
        if abs(current[after] - current[before]) > _EQUAL * abs(current[before])
        or bool((current[before : after + 1] * np.sign(current[before]) < -still).any())
    ]
    for run in np.split(np.arange(len(lasts)), apart):
        rows = lasts[run]
        if len(run) > 2 and bool((np.diff(under[rows]) > 0).all()):
            slopes[run] = np.gradient(samples.voltage[rows], under[rows])
    return slopes


def _row(
    samples: Checked,
    one: _Break,
    drive: float,
    windows: tuple[Window, Window],
    usual: float,
    radius: float | None,
    geometry: Geometry,
    driven: float,
    words: str,
) -> dict[str, Cell]:
    passed = samples.time[one.last + 1 : one.end + 1] - samples.time[one.last]
    volts = samples.voltage[one.last + 1 : one.end + 1]
    current, before = float(samples.current[one.last]), float(samples.voltage[one.last])
    fit, other = (square_root_fit(passed, volts, window) for window in windows)
    row: dict[str, Cell] = {
        "Time [s]": float(samples.time[one.last]),
        "Direction": "discharge" if current > 0 else "charge",
        "Pulse duration [s]": float(samples.time[one.last] - samples.time[max(one.first - 1, 0)]),
        "Current [A]": current,
        "Onset gap [s]": float(passed[0]),
        "dE_OC/dt [V/s]": drive,
        "r2": fit.r2,
        "Samples": fit.samples,
        **temperature_cells(samples.temperature[one.first : one.end + 1]),
    }
    level = float(np.median(samples.current[one.first : one.last + 1]))
    after = float(samples.current[one.end + 1]) if one.end + 1 < len(samples.current) else current
    why = [
        f"{fit.samples} samples in the window, fewer than {_SAMPLES}" if fit.samples < _SAMPLES else "",
        f"the first sample of the break comes {passed[0]:.3g} s after the load"
        if passed[0] > windows[0][0]
        else "",
        f"the break lasts {passed[-1]:.3g} s and the others {usual:.3g} s" if passed[-1] < _CUT * usual else "",
        "" if abs(current - level) <= _EQUAL * abs(current) else "the current before the break is not constant",
        ""
        if abs(after - current) <= _EQUAL * abs(current)
        else "the current after the break differs from that before it",
        "the slope under current is not known" if not np.isfinite(drive) else "",
    ]
    if refusal := joined(why):
        return {**row, VALID: False, WARNING: joined([refusal, words])}
    return {**row, **_values(fit, other, before, current, drive, radius, geometry, driven, words)}


def _values(
    fit: SquareRootFit,
    other: SquareRootFit,
    before: float,
    current: float,
    drive: float,
    radius: float | None,
    geometry: Geometry,
    driven: float,
    words: str,
) -> dict[str, Cell]:
    """The numbers of a break that can be used."""
    rate, second = (diffusion_rate(drive, one.slope, geometry) for one in (fit, other))
    sensitive = apart(rate, second) > 2
    step = fit.intercept - before
    back = step * drive > 0
    square = radius**2 if radius is not None else float("nan")
    said = [
        f"r2 {fit.r2:.3f} is below {_STRAIGHT}" if fit.r2 < _STRAIGHT else "",
        "the two windows differ by more than a factor of 2" if sensitive else "",
        "E(0) lies beyond the voltage under load: the resistance is doubtful" if back else "",
        f"the gradient is not steady after {driven:.3g} s under current"
        if rate * driven < _STEADY[geometry]
        else "",
        words,
    ]
    return {
        "OCV [V]": fit.intercept,
        "dE/dsqrt(t) [V.s^-0.5]": fit.slope,
        "Resistance [Ohm]": abs(step / current),
        "k [Ohm.s^-0.5]": abs(fit.slope / current),
        "D/R2 [1/s]": rate,
        "D/R2 second window [1/s]": second,
        "D [m2/s]": rate * square,
        "D second window [m2/s]": second * square,
        "Window sensitive": bool(sensitive),
        WARNING: joined(said),
    }
