"""The distribution of relaxation times of a spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..allowed import takes, whole
from ..checked import T_COLUMNS, joined
from ..inputs import Floats, Refusal, refusing
from ..nyquist import FREQUENCY, IMAGINARY, REAL
from ..result import VALID, WARNING, Cell, result
from .kk import REFUSED, doubt_of, kramers_kronig
from .spectra import HEAD, Spectrum, spectra_of

TAU, GAMMA = "Time constant [s]", "Distribution [Ohm]"
COLUMNS = (
    *HEAD,
    TAU,
    GAMMA,
    "Peak",
    "Peak area [Ohm]",
    FREQUENCY,
    REAL,
    IMAGINARY,
    "Lambda",
    "Peaks",
    "Peaks at lambda / 10",
    "Peaks at 10 lambda",
    "R ohmic [Ohm]",
    "Inductance [H]",
    "Polarisation [Ohm]",
    "rms relative",
    *T_COLUMNS,
)
_BEYOND = 0.5
_FOLDS = 5
_LAMBDAS = np.geomspace(1e-9, 1.0, 19)
_SMALL = 0.01
_COARSE_FIT = 0.02


@dataclass(frozen=True)
class _Fit:
    """Ohm for each time constant, the ohmic resistance and the inductance, none negative; the impedance they give."""

    gamma: Floats
    ohmic: float
    inductance: float
    z: NDArray[np.complex128]


@takes(per_decade=whole(1))
@refusing(COLUMNS)
def drt(frame: pd.DataFrame, *, per_decade: int = 10, strength: float | None = None) -> pd.DataFrame:
    """How the polarisation is distributed over time constants, and the impedance that this distribution gives.

    Z = R + iwL + integral of g(ln tau) / (1 + iw tau) over ln tau. g is not negative, and is found by least squares
    weighted with ``1/|Z|`` and a penalty on its second difference (Tikhonov): T. H. Wan et al., Electrochimica Acta 184
    (2015) 483. The strength of the penalty, lambda, is what predicts left-out frequencies best: every fifth one in
    turn. Time constants reach half a decade beyond both ends of the spectrum.

    Parameters
    ----------
    frame : as for ``bode``, ten or more points a spectrum.
    per_decade : time constants a decade.
    strength : lambda itself, instead of the rule.

    Returns one row a time constant: ``Time constant [s]``, ``Distribution [Ohm]`` (over ln tau), ``Peak`` (its number
    from the shortest time constant; each goes from valley to valley) and ``Peak area [Ohm]``; the impedance that the
    distribution gives at ``Frequency [Hz]`` = 1/(2 pi tau), as ``Z_Re [Ohm]`` and ``Z_Im [Ohm]``; and of the spectrum
    ``Lambda``, ``Peaks``, ``R ohmic [Ohm]``, ``Inductance [H]``, ``Polarisation [Ohm]`` (the sum of all areas) and
    ``rms relative`` of the fit. How many peaks there are depends on lambda: ``Peaks at lambda / 10`` and ``Peaks at 10
    lambda`` say how much. ``Warning`` says where the distribution is still open at its longest time constant, as with
    diffusion that goes on below the lowest frequency: that area is not known. Nothing is fitted where ``kk`` leaves
    more than 5 %, and a fit that leaves more than 5 % (rms) is not given: the spectrum is not a sum of relaxations, as
    that of a capacitor in series or of a negative resistance, or lambda is too large.
    """
    if per_decade < 3:
        raise Refusal("too_coarse", f"{per_decade} time constants a decade are too few: 3 or more, 10 are usual.")
    if strength is not None and not strength > 0:
        raise Refusal("wrong_strength", f"A strength of {strength:g} is not above 0.")
    rows: list[dict[str, Cell]] = []
    for spectrum in spectra_of(frame):
        rows += _rows(spectrum, per_decade, strength)
    return result(rows, COLUMNS)


def _rows(spectrum: Spectrum, per_decade: int, strength: float | None) -> list[dict[str, Cell]]:
    head = {**spectrum.head, **spectrum.warmth}
    try:
        judged = kramers_kronig(spectrum)
        if judged.largest > REFUSED:
            raise Refusal("kramers_kronig", f"nothing is fitted: {doubt_of(spectrum, judged)}")
    except Refusal as refusal:
        return [{**head, VALID: False, WARNING: joined([str(refusal), spectrum.words])}]
    tau = _time_constants(spectrum, per_decade)
    weight = strength if strength is not None else _chosen(spectrum, tau)
    fit = _fitted(spectrum, tau, weight)
    rms = float(np.sqrt(np.mean(np.abs((fit.z - spectrum.z) / spectrum.z) ** 2)))
    if rms > REFUSED:
        words = f"no distribution is given: the fit leaves {rms:.1%} of the impedance"
        said = [words, doubt_of(spectrum, judged), spectrum.words]
        return [{**head, "Lambda": weight, "rms relative": rms, VALID: False, WARNING: joined(said)}]
    peaks, areas = _peaks(fit.gamma, tau)
    counts = [
        int(_peaks(_fitted(spectrum, tau, weight * factor).gamma, tau)[0].max()) + 1 for factor in (0.1, 10.0)
    ]
    is_open = bool(fit.gamma[-1] > _SMALL * fit.gamma.max())
    said = [
        "the distribution is open at its longest time constant: the area of its last peak is not known"
        if is_open
        else "",
        f"the fit leaves {rms:.1%}" if rms > _COARSE_FIT else "",
        doubt_of(spectrum, judged),
        spectrum.words,
    ]
    made = _impedance(tau, 1 / tau) @ fit.gamma + fit.ohmic + 1j * fit.inductance / tau
    whole: dict[str, Cell] = {
        "Lambda": weight,
        "Peaks": int(peaks.max()) + 1,
        "Peaks at lambda / 10": counts[0],
        "Peaks at 10 lambda": counts[1],
        "R ohmic [Ohm]": fit.ohmic,
        "Inductance [H]": fit.inductance,
        "Polarisation [Ohm]": float(areas.sum()),
        "rms relative": rms,
        WARNING: joined(said),
    }
    return [
        {
            **head,
            TAU: float(at),
            GAMMA: float(value),
            "Peak": int(peak),
            "Peak area [Ohm]": float(areas[peak]),
            FREQUENCY: float(1 / (2 * np.pi * at)),
            REAL: float(z.real),
            IMAGINARY: float(z.imag),
            **whole,
        }
        for at, value, peak, z in zip(tau, fit.gamma, peaks, made, strict=True)
    ]


def _time_constants(spectrum: Spectrum, per_decade: int) -> Floats:
    low, high = np.log10(1 / spectrum.omega.max()) - _BEYOND, np.log10(1 / spectrum.omega.min()) + _BEYOND
    return np.logspace(low, high, int(np.ceil((high - low) * per_decade)) + 1)


def _step(tau: Floats) -> float:
    return float(np.log(tau[1] / tau[0]))


def _impedance(tau: Floats, omega: Floats) -> NDArray[np.complex128]:
    """What 1 Ohm of the distribution gives at each frequency, (frequencies, time constants)."""
    return np.asarray(_step(tau) / (1 + 1j * omega[:, None] * tau), np.complex128)


def _fitted(spectrum: Spectrum, tau: Floats, strength: float, kept: NDArray[np.bool_] | None = None) -> _Fit:
    """The fit to the points that are kept; its impedance is that at all points."""
    from scipy.optimize import nnls  # takes a third of a second, and few figures need it

    omega, z = spectrum.omega, spectrum.z
    kept = np.ones(len(z), bool) if kept is None else kept
    size = float(np.median(np.abs(z)))
    fast = float(omega.max())
    columns = np.column_stack([_impedance(tau, omega), np.ones(len(z)), 1j * omega / fast])
    weights = (size / np.abs(z))[:, None]
    scaled = columns * weights
    matrix = np.concatenate([scaled.real[kept], scaled.imag[kept]])
    wanted = np.concatenate([(z.real / np.abs(z))[kept], (z.imag / np.abs(z))[kept]])
    bends = np.diff(np.eye(len(tau)), 2, axis=0) / _step(tau) ** 1.5
    penalty = np.column_stack([np.sqrt(strength) * bends, np.zeros((len(bends), 2))])
    found, _ = nnls(
        np.concatenate([matrix, penalty]), np.concatenate([wanted, np.zeros(len(bends))]), maxiter=10_000
    )
    found = found * size
    return _Fit(found[:-2], float(found[-2]), float(found[-1]) / fast, np.asarray(columns @ found, np.complex128))


def _chosen(spectrum: Spectrum, tau: Floats) -> float:
    """The strength that predicts left-out frequencies best."""
    turns = np.arange(len(spectrum.z)) % _FOLDS

    def error(strength: float) -> float:
        off = np.zeros(len(spectrum.z))
        for turn in range(_FOLDS):
            out = turns == turn
            off[out] = np.abs((_fitted(spectrum, tau, strength, ~out).z - spectrum.z) / spectrum.z)[out] ** 2
        return float(off.mean())

    return float(min(_LAMBDAS, key=error))


def _peaks(gamma: Floats, tau: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The peak that each time constant belongs to, (n,), and the area of each, Ohm. Peaks go from valley to valley; one
    with less than 1 % of all is part of its larger neighbour."""
    inner = np.arange(1, len(gamma) - 1)
    valleys = inner[(gamma[1:-1] <= gamma[:-2]) & (gamma[1:-1] < gamma[2:])]
    edges = [0, *valleys.tolist(), len(gamma)]
    parts = [float(gamma[low:high].sum()) * _step(tau) for low, high in pairwise(edges)]
    whole = sum(parts)
    while len(parts) > 1 and min(parts) < _SMALL * whole:
        least = int(np.argmin(parts))
        before = parts[least - 1] if least > 0 else -1.0
        after = parts[least + 1] if least + 1 < len(parts) else -1.0
        place = least if after > before else least - 1
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        del edges[place + 1]
    numbers = np.repeat(np.arange(len(parts)), np.diff(edges))
    return numbers, np.array(parts)
