"""The Kramers-Kronig test of a spectrum by a linear fit (lin-KK)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..allowed import SHARE, takes, whole
from ..checked import T_COLUMNS, joined
from ..inputs import Floats, Refusal, refusing
from ..nyquist import FREQUENCY
from ..result import VALID, WARNING, Cell, result
from .spectra import FEWEST, HEAD, Spectrum, spectra_of

COLUMNS = (*HEAD, FREQUENCY, "Residual real", "Residual imaginary", "M", "mu", "Largest residual", *T_COLUMNS)
DOUBTFUL, REFUSED = 0.01, 0.05
"""Residuals, relative to |Z|, above which a spectrum is doubtful, and above which nothing is fitted to it."""
_PER_DECADE = 3.0


class KramersKronig(NamedTuple):
    """The residuals of a spectrum, (n,) relative to |Z|; the number of RC elements; mu; the largest residual."""

    real: Floats
    imaginary: Floats
    elements: int
    mu: float
    largest: float


@takes(mu=SHARE, elements=whole(1))
@refusing(COLUMNS)
def kk(frame: pd.DataFrame, *, mu: float = 0.85, elements: int | None = None) -> pd.DataFrame:
    """How far each spectrum is from linear, stable and causal: the residuals of a fit that must be all three.

    Z is fitted by R0 + L + 1/C + M elements RC with fixed time constants, spaced evenly in the logarithm from 1/w of
    the highest to 1/w of the lowest frequency, by linear least squares weighted with ``1/|Z|``. M is the first
    for which mu = 1 - sum|R < 0| / sum|R >= 0| is at most ``mu``: M. Schönleber et al., Electrochimica Acta 131 (2014)
    20; but at least 3 a decade, since that rule alone stops too early on good spectra (4.5 % residual on two
    RC elements with 0.2 % noise), and at most half the number of points.

    Parameters
    ----------
    frame : as for ``bode``.
    mu : the limit of mu.
    elements : M itself, instead of the rule.

    Returns one row a frequency: ``Frequency [Hz]``, ``Residual real`` and ``Residual imaginary`` (relative to ``|Z|``),
    ``M``, ``mu`` and ``Largest residual`` of its spectrum. Above 1 % ``Warning`` names the frequencies; above 5 % the
    rows are not valid, and ``circuit`` fits nothing. A passed test does not prove that the cell stood still: a
    resistance that drifts by 20 % through the sweep shows 0.5 %. Compare the voltage before and after too.
    """
    rows: list[dict[str, Cell]] = []
    for spectrum in spectra_of(frame):
        rows += _rows(spectrum, mu, elements)
    return result(rows, COLUMNS)


def kramers_kronig(spectrum: Spectrum, limit: float = 0.85, elements: int | None = None) -> KramersKronig:
    """The test of one spectrum.

    Raises
    ------
    Refusal
        If it has fewer than 10 points, or an impedance of 0.
    """
    count = len(spectrum.z)
    if count < FEWEST:
        raise Refusal("too_few", f"{count} points, fewer than {FEWEST}")
    if not (np.abs(spectrum.z) > 0).all():
        raise Refusal("zero_impedance", "an impedance of 0")
    if elements is not None:
        return _fit(spectrum, elements)
    decades = float(np.log10(spectrum.frequency[0] / spectrum.frequency[-1]))
    most = count // 2
    least = min(int(np.ceil(_PER_DECADE * decades)), most)
    for number in range(1, most + 1):
        found = _fit(spectrum, number)
        if found.mu <= limit and number >= least:
            return found
    return _fit(spectrum, most)


def _fit(spectrum: Spectrum, elements: int) -> KramersKronig:
    omega, z = spectrum.omega, spectrum.z
    tau = np.geomspace(1 / omega.max(), 1 / omega.min(), elements) if elements > 1 else np.array([1 / omega.max()])
    columns = np.concatenate(
        [
            np.ones((len(omega), 1), complex),
            1 / (1 + 1j * omega[:, None] * tau),
            1 / (1j * omega[:, None]),
            1j * omega[:, None],
        ],
        axis=1,
    )
    weight = 1 / np.abs(z)
    matrix = np.concatenate([columns.real * weight[:, None], columns.imag * weight[:, None]])
    # Columns of equal size: L and 1/C are many powers of ten apart.
    size = np.linalg.norm(matrix, axis=0)
    wanted = np.concatenate([z.real * weight, z.imag * weight])
    found = np.linalg.lstsq(matrix / size, wanted, rcond=None)[0] / size
    left = (z - columns @ found) * weight
    r = found[1 : elements + 1]
    positive = float(r[r >= 0].sum())
    mu = 1 - float(np.abs(r[r < 0]).sum()) / positive if positive > 0 else -np.inf
    largest = float(max(np.abs(left.real).max(), np.abs(left.imag).max()))
    return KramersKronig(np.asarray(left.real), np.asarray(left.imag), elements, mu, largest)


def doubt_of(spectrum: Spectrum, found: KramersKronig) -> str:
    """Which frequencies have a residual above 1 %, in words; empty if none."""
    if found.largest <= DOUBTFUL:
        return ""
    off = np.maximum(np.abs(found.real), np.abs(found.imaginary)) > DOUBTFUL
    f = spectrum.frequency[off]
    return (
        f"Kramers-Kronig residual of {found.largest:.1%} at most, above 1 % at {int(off.sum())} frequencies from "
        f"{f.min():.3g} to {f.max():.3g} Hz"
    )


def _rows(spectrum: Spectrum, limit: float, elements: int | None) -> list[dict[str, Cell]]:
    try:
        found = kramers_kronig(spectrum, limit, elements)
    except Refusal as refusal:
        return [{**spectrum.head, **spectrum.warmth, VALID: False, WARNING: str(refusal)}]
    words = joined([doubt_of(spectrum, found), spectrum.words])
    return [
        {
            **spectrum.head,
            FREQUENCY: float(f),
            "Residual real": float(real),
            "Residual imaginary": float(imaginary),
            "M": found.elements,
            "mu": found.mu,
            "Largest residual": found.largest,
            **spectrum.warmth,
            VALID: found.largest <= REFUSED,
            WARNING: words,
        }
        for f, real, imaginary in zip(spectrum.frequency, found.real, found.imaginary, strict=True)
    ]
