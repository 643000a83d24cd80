"""Equivalent circuits fitted to spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...messages import counted
from ..allowed import SHARE, takes, whole
from ..checked import T_COLUMNS, joined
from ..inputs import Floats, Refusal, refusing
from ..least_squares import minima
from ..result import VALID, WARNING, Cell, result
from .circuit_text import Circuit, circuit_of
from .kk import DOUBTFUL, REFUSED, doubt_of, kramers_kronig
from .spectra import FEWEST, HEAD, Complexes, Spectrum, spectra_of

_TAIL = ("rms relative", "Starts", "AICc", "KK valid", "Points", *T_COLUMNS)
_STANDARD = "R0-p(R1,CPE1)-p(R2,CPE2)-Wo1"
_REACHED = 0.02
_EQUAL = 1e-6
"""rms, relative to |Z|, by which fits may differ in any case: all that is left without noise is rounding."""
_RARE = 0.1
_EDGE = 1e-3


class _Fit(NamedTuple):
    """The parameters of a circuit; the deviation of each, relative; rms of the residual relative to |Z|; how many
    starts reached it; AICc; the columns of parameters at a bound."""

    circuit: Circuit
    values: Floats
    spread: Floats
    rms: float
    reached: int
    aicc: float
    bounded: tuple[str, ...]


@takes(starts=whole(1), seed=whole(0), mu=SHARE)
def circuit(
    frame: pd.DataFrame,
    *,
    circuit: str | Sequence[str] = _STANDARD,
    starts: int = 40,
    seed: int = 0,
    mu: float = 0.85,
) -> pd.DataFrame:
    """An equivalent circuit fitted to each spectrum: one row a spectrum.

    Complex least squares weighted by ``1/|Z|`` on the logarithms of the parameters, from many starts inside bounds that
    come from the spectrum. Deviations are from the Jacobian at the optimum.

    Parameters
    ----------
    frame : as for ``bode``, ten or more points a spectrum.
    circuit : ``R0-p(R1,CPE1)-Wo1``: ``-`` in series, ``p(,)`` parallel; elements R, C, L, CPE (Q, a), W (infinite
        Warburg: S (1 - j) / sqrt(w)), Wo (finite, blocking: R coth(sqrt(jwT)) / sqrt(jwT)), Ws (finite, tanh) and G
        (Gerischer: R / sqrt(1 + jwT)), each with a number. Of several circuits the one with the least AICc is given.
        Without an L inductive points are left out.
    starts, seed : how many starts, and the seed that makes them.
    mu : as in ``kk``.

    Returns ``Spectrum``, ``SOC``, ``Voltage [V]``, ``Circuit``, each parameter with its unit (``R1 [Ohm]``, ``CPE1 Q
    [F.s^(a-1)]``, ``CPE1 a``, ``Wo1 T [s]``) and its ``relative sd``, ``rms relative``, ``Starts`` (that reached the
    optimum within 2 %), ``AICc``, ``KK valid`` (residuals of ``kk`` below 1 %), ``Points``, temperatures, ``Valid``
    and ``Warning``. A parameter whose deviation is above 100 %, or that is at a bound, is NaN: these data do not know
    it. Arcs of one form are in order of their time constants. Nothing is fitted where ``kk`` leaves more than 5 %, or
    to fewer points than parameters. ``Warning`` says where fewer than 10 % of the starts reach the optimum.

    Raises
    ------
    ValueError
        If a text is not a circuit.
    """
    wanted = [circuit_of(text) for text in ([circuit] if isinstance(circuit, str) else circuit)]
    named = dict.fromkeys(column for one in wanted for column in one.columns)
    columns = [*HEAD, "Circuit", *(name for one in named for name in (one, _spread(one))), *_TAIL]

    @refusing(columns)
    def table() -> pd.DataFrame:
        return result([_row(one, wanted, starts, seed, mu) for one in spectra_of(frame)], columns)

    return table()


def _spread(column: str) -> str:
    """``R1 [Ohm]`` -> ``R1 relative sd``."""
    return f"{column.partition(' [')[0]} relative sd"


def _row(spectrum: Spectrum, wanted: Sequence[Circuit], starts: int, seed: int, mu: float) -> dict[str, Cell]:
    row: dict[str, Cell] = {**spectrum.head, **spectrum.warmth}
    try:
        judged = kramers_kronig(spectrum, mu)
        row["KK valid"] = judged.largest <= DOUBTFUL
        if judged.largest > REFUSED:
            raise Refusal("kramers_kronig", f"nothing is fitted: {doubt_of(spectrum, judged)}")
        fits = [fit_circuit(one, spectrum, starts, seed) for one in wanted]
    except Refusal as refusal:
        return {**row, VALID: False, WARNING: joined([str(refusal), spectrum.words])}
    best = min(fits, key=lambda fit: fit.aicc)
    known = {
        column: bool(spread <= 1.0) and column not in best.bounded
        for column, spread in zip(best.circuit.columns, best.spread, strict=True)
    }
    row |= {"Circuit": best.circuit.text, "rms relative": best.rms, "Starts": best.reached, "AICc": best.aicc}
    for column, value, spread in zip(best.circuit.columns, best.values, best.spread, strict=True):
        row |= {column: float(value) if known[column] else None, _spread(column): float(spread)}
    unknown = [column.partition(" [")[0] for column, there in known.items() if not there]
    fitted = _points(best.circuit, spectrum)
    left = len(spectrum.z) - int(fitted.sum())
    said = [
        f"not known by these data: {', '.join(unknown)}" if unknown else "",
        f"only {best.reached} of {starts} starts reach the optimum" if best.reached < _RARE * starts else "",
        doubt_of(spectrum, judged),
        f"{counted(left, 'inductive point')} left out: the circuit has no L" if left else "",
        spectrum.words,
    ]
    return {**row, "Points": int(fitted.sum()), WARNING: joined(said)}


def _points(made: Circuit, spectrum: Spectrum) -> NDArray[np.bool_]:
    """Which points are fitted, (n,)."""
    return np.asarray((spectrum.z.imag <= 0) | made.inductive, bool)


def fit_circuit(made: Circuit, spectrum: Spectrum, starts: int, seed: int) -> _Fit:
    """Fit a circuit to a spectrum.

    Raises
    ------
    Refusal
        If the points that can be used are fewer than 10 or than the parameters.
    """
    kept = _points(made, spectrum)
    omega, z = spectrum.omega[kept], spectrum.z[kept]
    if len(z) < max(FEWEST, len(made.columns)):
        raise Refusal(
            "too_few",
            f"{counted(len(z), 'point')} that can be fitted, for {counted(len(made.columns), 'parameter')}; "
            f"{max(FEWEST, len(made.columns))} are needed",
        )
    low, high = _bounds(made, omega, z)
    weight = 1 / np.abs(z)

    def residual(logs: Floats) -> tuple[Floats, Floats]:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            made_of, slopes = made.response(omega, _values(made, logs))
            left, slopes = (made_of - z) * weight, slopes * weight[:, None]
        return (
            np.nan_to_num(np.concatenate([left.real, left.imag], axis=1), nan=1e6, posinf=1e6, neginf=-1e6),
            np.nan_to_num(np.concatenate([slopes.real, slopes.imag], axis=1)),
        )

    rng = np.random.default_rng(seed)
    begin = np.stack([_begin(made, omega, z, rng) for _ in range(starts)])
    found = minima(residual, np.clip(begin, low, high), low, high)
    chosen = int(np.argmin(found.costs))
    best, least, costs = found.places[chosen], float(found.costs[chosen]), found.costs
    reached = int((costs <= max(least * (1 + _REACHED), least + len(z) * _EQUAL**2 / 2)).sum())
    spread = _deviation(residual(best[None])[1][0], least)
    bounded = np.minimum(best - low, high - best) < _EDGE * (high - low)
    values = _values(made, best[None])[0]
    order = made.in_order(values)
    values = values[order]
    at_bound = tuple(name for name, is_at in zip(made.columns, bounded[order], strict=True) if is_at)
    n, k = 2 * len(z), len(low) + 1
    aicc = (
        n * np.log(max(2 * least / n, 1e-300)) + 2 * k + (2 * k * (k + 1) / (n - k - 1) if n > k + 1 else np.inf)
    )
    return _Fit(made, values, spread[order], float(np.sqrt(2 * least / len(z))), reached, float(aicc), at_bound)


def _values(made: Circuit, logs: Floats) -> Floats:
    """Parameters from what is fitted: logarithms, and exponents as they are."""
    exponent = np.array([kind == "exponent" for kind in made.kinds])
    return np.where(exponent, logs, np.exp(np.where(exponent, 0.0, logs)))


def _begin(made: Circuit, omega: Floats, z: Complexes, rng: np.random.Generator) -> Floats:
    """One start, (k,): arcs with time constants over the range of frequencies, in the order of the text, Warburg
    elements at its slow end, and resistances of the size of the spectrum."""
    span, slow, fast = float(np.ptp(z.real)), 1 / float(omega.min()), 1 / float(omega.max())
    span = span or float(np.abs(z).max())  # a resistor alone has no span
    ohms = span * np.exp(rng.uniform(np.log(0.03), 0.0, len(made.kinds)))
    if made.series_resistance is not None:
        ohms[made.series_resistance] = float(z.real[np.argmax(omega)]) * rng.uniform(0.7, 1.1)
    times = np.sort(np.exp(rng.uniform(np.log(fast), np.log(slow), made.kinds.count("capacitance"))))
    values = np.zeros(len(made.kinds))
    arc = 0
    for place, kind in enumerate(made.kinds):
        if kind == "exponent":
            values[place] = rng.uniform(0.6, 1.0)
            values[place - 1] += (values[place] - 1) * np.log(times[arc - 1])
        elif kind == "capacitance":
            values[place] = np.log(times[arc] / ohms[made.resistance_beside[place]])
            arc += 1
        elif kind == "time":
            values[place] = np.log(slow) + rng.uniform(-4.0, 2.0)
        elif kind == "inductance":
            values[place] = np.log(ohms[place] * fast) + rng.uniform(-3.0, 0.0)
        elif kind == "warburg":
            values[place] = np.log(ohms[place] / np.sqrt(slow))
        else:
            values[place] = np.log(max(ohms[place], 1e-300))
    return values


def _bounds(made: Circuit, omega: Floats, z: Complexes) -> tuple[Floats, Floats]:
    """The bounds of what is fitted, from the size of the spectrum and its frequencies."""
    size = np.abs(z)
    ohm = (1e-3 * float(size.min()), 10 * float(size.max()))
    time = (0.01 / float(omega.max()), 100 / float(omega.min()))
    limits = {
        "resistance": ohm,
        "time": time,
        "capacitance": (time[0] / ohm[1], time[1] / ohm[0]),
        "inductance": (1e-5 * ohm[0] / float(omega.max()), ohm[1] / float(omega.max())),
        "warburg": (1e-3 * ohm[0] * float(omega.min()) ** 0.5, ohm[1] * float(omega.max()) ** 0.5),
    }
    pairs = [(0.3, 1.0) if kind == "exponent" else tuple(np.log(limits[kind])) for kind in made.kinds]
    low, high = np.array(pairs, float).T
    return np.asarray(low, float), np.asarray(high, float)


def _deviation(matrix: Floats, cost: float) -> Floats:
    """The deviation of each parameter, (k,), relative for those that are fitted as logarithms, from the derivatives of
    the residuals (n, k); infinite where the data do not know it."""
    count, free = matrix.shape
    normal = matrix.T @ matrix
    scale = np.sqrt(np.maximum(np.diag(normal), 1e-300))
    try:
        inverse = np.linalg.inv(normal / np.outer(scale, scale)) / np.outer(scale, scale)
    except np.linalg.LinAlgError:
        return np.full(free, np.inf)
    variance = np.diag(inverse) * 2 * cost / max(count - free, 1)
    return np.where(variance >= 0, np.sqrt(np.maximum(variance, 0)), np.inf)
