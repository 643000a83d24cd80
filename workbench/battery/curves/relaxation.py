"""How the voltage relaxes after a load."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..allowed import ABOVE_0, FROM_0, LIMITS, WINDOW, takes
from ..checked import T_COLUMNS, Checked, checked, joined, temperature_cells
from ..half_cycles import rest_limit
from ..inputs import Floats, Refusal, refusing
from ..least_squares import minima
from ..rests import Rest, rests_of, why_no_rest
from ..result import VALID, WARNING, Cell, result
from ..state_of_charge import CountedCharge, Limits, count_charge
from .ocv_from_rests import direction_before

_AT = (10.0, 60.0, 1800.0)
_FEATURES = ("Variance [V2]", "Skewness", "Kurtosis", "Largest [V]", "Smallest [V]", "Mean [V]")
COLUMNS = (
    "Rest",
    "Time [s]",
    "Direction before",
    "SOC",
    "Current before [A]",
    "Rest [s]",
    "Onset gap [s]",
    "Resistance [Ohm]",
    *(f"Voltage at {at:g} s [V]" for at in _AT),
    "Voltage at the end [V]",
    "V_inf [V]",
    "a1 [V]",
    "tau1 [s]",
    "a2 [V]",
    "tau2 [s]",
    "rms [mV]",
    "dV/dsqrt(t) [V.s^-0.5]",
    *_FEATURES,
    *T_COLUMNS,
)
_WHAT = "Relaxations"
_FEWEST = 20
_POINTS = 300
_FAR = 0.020
_EVERY = 10.0
_BOUND = 1.01
_APART = 2.0
_MISSED, _NOTICED = 2.0, 0.001
"""The fit does not describe a rest that is past V_inf by more than so many times its rms and so many V."""
_EXACT = 1e-12
"""A mean square of residuals, in the square of the range, that is as good as none."""
_BETTER = 10.0
"""What n ln(cost / cost) must gain for two more parameters: 4 as Akaike has it, and 6 that the choice is clear."""
_FEWER = {
    1: "the samples show one time constant only",
    0: "the voltage does not move beyond its noise: no time constant",
}


class _Fit(NamedTuple):
    """V = end - a1 exp(-t / tau1) - a2 exp(-t / tau2), V and s, tau1 < tau2, or with one of them, or none; and the rms
    of the residual, V. ``shortest``, s, is the least that a time constant may be."""

    end: float
    amounts: tuple[float, ...]
    taus: tuple[float, ...]
    rms: float
    shortest: float


@takes(least=ABOVE_0, window=WINDOW, rest=FROM_0, limits=LIMITS, capacity=ABOVE_0)
@refusing(COLUMNS)
def relaxation(
    frame: pd.DataFrame,
    *,
    least: float = 1800.0,
    window: tuple[float, float] = (1.0, 60.0),
    rest: float | None = None,
    limits: Limits | None = None,
    capacity: float | None = None,
) -> pd.DataFrame:
    """How the voltage relaxes in each long rest after a load: one row a rest.

    t counts from the last sample under load. V(t) = V_inf - a1 exp(-t / tau1) - a2 exp(-t / tau2) is fitted to samples
    that are spread evenly over log t; with one exponential where a second one makes the fit no better than noise does.
    Variance, skewness, kurtosis, largest, smallest and mean voltage are those of the first ``least`` seconds, every
    10 s; NaN where the first sample comes later: J. Zhu et al., Nature Communications 13 (2022) 2261.

    Parameters
    ----------
    frame : every sample of ``Time [s]``, ``Current [A]`` and ``Voltage [V]`` in order of time.
    least : s, the shortest rest that counts.
    window : s, where the slope over sqrt(t) is fitted.
    rest, limits, capacity : as in ``ocv_from_rests``.

    Returns one row a rest. ``Resistance [Ohm]`` is the jump at the end of the load over its current, NaN where the
    first sample comes later than 1 s. A voltage at a time is NaN where the samples around it are further apart than
    half of that time. A time constant that is longer than the rest is NaN with its amount and ``V_inf [V]``; one that
    is as short as the time of the first sample, the least that the fit allows, is NaN with its amount. ``V_inf [V]`` is
    NaN too where the last sample is past it by more than 1 mV and twice the rms: then two exponentials do not
    describe the rest. A row is not valid with fewer than 20 samples. ``Warning`` names an extrapolated V_inf: more than
    20 mV from the last sample.
    """
    samples = checked(frame, _WHAT, exact=True)
    still = rest_limit(samples.current) if rest is None else rest
    found = [one for one in rests_of(samples, still, least) if one.loaded and not samples.excluded[one.last]]
    if not found:
        words = f"No rest after a load lasts {least:g} s. GITT, HPPC or any long rest would do."
        raise Refusal("no_rests", words + why_no_rest(samples.current, still))
    counted = count_charge(samples, limits, capacity)
    rows = [_row(samples, counted, one, number, least, window) for number, one in enumerate(found)]
    return result(rows, COLUMNS, [*samples.remarks, *counted.remarks])


def _row(
    samples: Checked, counted: CountedCharge, one: Rest, number: int, least: float, window: tuple[float, float]
) -> dict[str, Cell]:
    part = slice(one.first, one.last + 1)
    t, u = samples.time[part] - one.began, samples.voltage[part]
    current, loaded = float(samples.current[one.first - 1]), float(samples.voltage[one.first - 1])
    gap = float(t[0])
    row: dict[str, Cell] = {
        "Rest": number,
        "Time [s]": one.began,
        "Direction before": direction_before(samples, one),
        "SOC": float(counted.soc[one.last]),
        "Current before [A]": current,
        "Rest [s]": float(t[-1]),
        "Onset gap [s]": gap,
        "Resistance [Ohm]": (float(u[0]) - loaded) / current if gap <= 1 else None,
        **{f"Voltage at {at:g} s [V]": _at(t, u, at) for at in _AT},
        "Voltage at the end [V]": float(u[-1]),
        "dV/dsqrt(t) [V.s^-0.5]": _slope(t, u, window),
        **temperature_cells(samples.temperature[part]),
    }
    said = [f"no resistance: the first sample comes {gap:.3g} s after the load" if gap > 1 else "", counted.words]
    if len(t) < _FEWEST:
        short = f"{len(t)} samples, fewer than {_FEWEST}"
        return {**row, VALID: False, WARNING: joined([short, *said])}
    fit = _fit(t, u)
    row["rms [mV]"] = 1000 * fit.rms
    at_bound = bool(fit.taus) and fit.taus[0] <= _BOUND * fit.shortest
    for name, amount, tau in zip("12", fit.amounts, fit.taus, strict=False):
        if tau <= _BOUND * fit.shortest:
            # The fit would go further: the value says where its bound is, and the amount belongs to that value.
            said.append(f"tau{name} is not known: it is as short as the fit allows, {fit.shortest:.3g} s")
        elif at_bound and tau <= _APART * fit.taus[0]:
            said.append(f"tau{name} is not known: it is too close to tau1")
        elif tau <= t[-1]:
            row |= {f"a{name} [V]": amount, f"tau{name} [s]": tau}
    said.append(_FEWER.get(len(fit.taus), ""))
    off = fit.end - float(u[-1])
    # A term that is still there at the end says from which side the voltage comes to V_inf.
    passed = -off * float(np.sign(fit.amounts[-1])) if fit.taus else 0.0
    if fit.taus and fit.taus[-1] > t[-1]:
        said.append("the slow time constant is longer than the rest: V_inf is not known")
    elif passed > max(_MISSED * fit.rms, _NOTICED):
        said.append(f"the last sample is {1000 * passed:.3g} mV past the end of the fit: V_inf is not known")
    else:
        row["V_inf [V]"] = fit.end
        said.append(f"V_inf is extrapolated by {1000 * abs(off):.3g} mV" if abs(off) > _FAR else "")
    return {**row, **_features(t, u, least), WARNING: joined(said)}


def _at(t: Floats, u: Floats, moment: float) -> float:
    """The voltage at a moment, V; NaN where the samples around it are too far apart."""
    after = int(np.searchsorted(t, moment - 1e-6))
    if after >= len(t):
        return float("nan")
    if after == 0:
        return float(u[0]) if abs(t[0] - moment) <= 1e-3 * moment else float("nan")
    apart = float(t[after] - t[after - 1])
    close = float(np.abs(t[after - 1 : after + 1] - moment).min()) <= 0.01 * moment
    return float(np.interp(moment, t, u)) if close or apart <= moment / 2 else float("nan")


def _slope(t: Floats, u: Floats, window: tuple[float, float]) -> float:
    """The slope over sqrt(t) in a window, V/sqrt(s); NaN for fewer than 5 samples."""
    inside = (t >= window[0] - 1e-6) & (t <= window[1] + 1e-6)
    if int(inside.sum()) < 5:
        return float("nan")
    return float(np.polyfit(np.sqrt(t[inside]), u[inside], 1)[0])


def _features(t: Floats, u: Floats, least: float) -> dict[str, Cell]:
    """Moments of the voltage over even time; none where the first sample is later than the first step of that."""
    if t[0] > _EVERY:
        return dict.fromkeys(_FEATURES)
    grid = np.arange(max(t[0], 0.0), min(least, t[-1]) + 1e-6, _EVERY)
    values = np.interp(grid, t, u)
    mean, spread = float(values.mean()), float(values.std())
    scaled = (values - mean) / spread if spread > 0 else np.full(len(values), np.nan)
    found = (
        float(values.var(ddof=1)) if len(values) > 1 else float("nan"),
        float((scaled**3).mean()),
        float((scaled**4).mean()),
        float(values.max()),
        float(values.min()),
        mean,
    )
    return dict(zip(_FEATURES, found, strict=True))


def _fit(t: Floats, u: Floats) -> _Fit:
    """As many exponentials, up to two, as the samples show, from starts at time constants spread over the rest."""
    wanted = np.geomspace(max(t[0], t[-1] / 1e5, 1e-3), t[-1], _POINTS)
    kept = np.unique(np.clip(np.searchsorted(t, wanted), 0, len(t) - 1))
    x, y = t[kept], u[kept]
    shift, size = float(y[-1]), max(float(np.ptp(y)), 1e-9)
    scaled = (y - shift) / size
    shortest, longest = max(x[0], t[-1] / 1e5, 1e-3), 100 * t[-1]
    found = [_exponentials(count, x, scaled, t[-1], (shortest, longest)) for count in (2, 1, 0)]
    best = found[0]
    for fewer in found[1:]:
        better = len(x) * np.log((fewer[1] + _EXACT * len(x)) / (best[1] + _EXACT * len(x)))
        best = fewer if better < _BETTER else best
    place, cost = best
    taus, amounts = np.exp(place[1 + len(place) // 2 :]), size * place[1 : 1 + len(place) // 2]
    order = np.argsort(taus)
    return _Fit(
        shift + size * float(place[0]),
        tuple(amounts[order].tolist()),
        tuple(taus[order].tolist()),
        size * float(np.sqrt(2 * cost / len(x))),
        shortest,
    )


def _exponentials(
    count: int, x: Floats, y: Floats, end: float, between: tuple[float, float]
) -> tuple[Floats, float]:
    """The end, the amounts and the logarithms of the time constants of so many exponentials, and their cost."""
    if not count:
        return np.array([y.mean()]), float(0.5 * ((y - y.mean()) ** 2).sum())
    low, high = np.log(between[0]), np.log(between[1])

    def residual(p: Floats) -> tuple[Floats, Floats]:
        tau, amount = np.exp(p[:, 1 + count :, None]), p[:, 1 : 1 + count, None]
        decay = np.exp(-x / tau)
        left = p[:, [0]] - (amount * decay).sum(axis=1) - y
        slopes = [np.ones((len(p), 1, len(x))), -decay, -amount * decay * x / tau]
        return left, np.concatenate(slopes, axis=1).transpose(0, 2, 1)

    fast = np.linspace(low, np.log(end), 6)
    starts = np.array([[0.0, *[1 / count] * count, *taus] for taus in combinations(fast, count)])
    starts[:, 1 : 1 + count] *= np.sign(y[-1] - y[0]) or 1.0
    bounds = np.array([10.0, *[20.0] * count])
    lows, highs = np.concatenate([-bounds, [low] * count]), np.concatenate([bounds, [high] * count])
    found = minima(residual, starts, lows, highs)
    return found.places[int(np.argmin(found.costs))], float(found.costs.min())
