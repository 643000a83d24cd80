"""What is read off a spectrum without a circuit."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..checked import T_COLUMNS, joined
from ..inputs import Floats, refusing
from ..result import VALID, WARNING, Cell, result
from .spectra import FEWEST, HEAD, Spectrum, spectra_of
from .turns import turns

COLUMNS = (
    *HEAD,
    "R ohmic [Ohm]",
    "Arc width [Ohm]",
    "Top frequency [Hz]",
    "Top minus Z_Im [Ohm]",
    "Z_Re at 1 kHz [Ohm]",
    "Tail slope",
    *T_COLUMNS,
)
_TAIL = 4
_SHARE = 0.03
_NOISES = 7.0
_ORDER = 4


@refusing(COLUMNS)
def eis_features(frame: pd.DataFrame) -> pd.DataFrame:
    """Ohmic resistance, arc and tail of each spectrum: one row a spectrum.

    Parameters
    ----------
    frame : as for ``bode``, ten or more points a spectrum.

    Returns ``R ohmic [Ohm]`` (Z_Re where Z_Im is 0, between two points, from the highest frequency), ``Arc width
    [Ohm]`` (from there to the first minimum of -Z_Im after its first maximum), ``Top frequency [Hz]`` and ``Top minus
    Z_Im [Ohm]`` of that maximum, ``Z_Re at 1 kHz [Ohm]`` (over log f), ``Tail slope`` (of -Z_Im over Z_Re at the four
    lowest frequencies; 1 is a Warburg of 45 degrees), temperatures, ``Valid`` and ``Warning``. What a spectrum does
    not have is NaN: without a zero of Z_Im there is no ohmic resistance, and not the smallest Z_Re instead.

    A maximum and a minimum count where -Z_Im then turns back by more than 3 % of its largest maximum and by more than
    7 times its noise, so that a bump of noise, or a dip as shallow as that between two arcs, does not. The noise is
    the median of the fourth differences over ``|Z|``, which vanish where a curve is smooth.
    """
    return result([_row(spectrum) for spectrum in spectra_of(frame)], COLUMNS)


def _row(spectrum: Spectrum) -> dict[str, Cell]:
    row: dict[str, Cell] = {**spectrum.head, **spectrum.warmth}
    if len(spectrum.z) < FEWEST or spectrum.sign:
        few = f"{len(spectrum.z)} points, fewer than {FEWEST}" if len(spectrum.z) < FEWEST else ""
        return {**row, VALID: False, WARNING: joined([few, spectrum.words])}
    real, up = spectrum.z.real, -spectrum.z.imag
    ohmic = _crossing(real, up)
    top, valley = _arc(up, np.abs(spectrum.z))
    width = float("nan") if valley is None else float(real[valley]) - ohmic
    no_width = "no arc ends in a minimum of -Z_Im that is clear of the noise" if valley is None else ""
    if width <= 0:
        width, no_width = float("nan"), "the arc ends at a lower Z_Re than the ohmic resistance"
    said = [
        "" if np.isfinite(ohmic) else "Z_Im does not reach 0: no ohmic resistance",
        "" if top is not None else "no maximum of -Z_Im is clear of the noise",
        no_width if top is not None else "",
        spectrum.words,
    ]
    row |= {"R ohmic [Ohm]": ohmic, "Z_Re at 1 kHz [Ohm]": _at_1_khz(spectrum), "Tail slope": _tail(real, up)}
    if top is not None:
        row |= {"Top frequency [Hz]": float(spectrum.frequency[top]), "Top minus Z_Im [Ohm]": float(up[top])}
    return {**row, "Arc width [Ohm]": width, WARNING: joined(said)}


def _crossing(real: Floats, up: Floats) -> float:
    """Z_Re where -Z_Im first rises through 0, Ohm; NaN if it does not."""
    rises = np.flatnonzero((up[:-1] <= 0) & (up[1:] > 0))
    if not len(rises):
        return float("nan")
    at = int(rises[0])
    share = float(-up[at] / (up[at + 1] - up[at]))
    return float(real[at] + share * (real[at + 1] - real[at]))


def _arc(up: Floats, size: Floats) -> tuple[int | None, int | None]:
    """The first maximum of -Z_Im above 0 that is clear of the noise, and the first such minimum after it; None where
    there is none. ``size`` is ``|Z|``, Ohm."""
    inner = up[1:-1]
    tops = inner[(inner > up[:-2]) & (inner >= up[2:]) & (inner > 0)]
    if not len(tops):
        return None, None
    clear = np.maximum(_SHARE * float(tops.max()), _NOISES * _noise(up, size) * size)
    top = None
    for at, is_top in turns(up, clear):
        if top is None and is_top and at > 0 and up[at] > 0:
            top = at
        elif top is not None and not is_top:
            return top, at
    return top, None


def _noise(up: Floats, size: Floats) -> float:
    """The standard deviation of -Z_Im over ``|Z|``, from differences of the fourth order. Those of white noise are
    sqrt(70) times as large, 70 being the sum of the squares of 1, 4, 6, 4 and 1; 0.6745 is the median of ``|x|`` of
    the normal distribution."""
    differences = np.abs(np.diff(up, _ORDER)) / size[_ORDER // 2 : -_ORDER // 2]
    return float(np.median(differences)) / 0.6745 / float(np.sqrt(70))


def _at_1_khz(spectrum: Spectrum) -> float:
    f = spectrum.frequency[::-1]
    if not f[0] <= 1000 <= f[-1]:
        return float("nan")
    return float(np.interp(3.0, np.log10(f), spectrum.z.real[::-1]))


def _tail(real: Floats, up: Floats) -> float:
    x, y = real[-_TAIL:], up[-_TAIL:]
    return float(np.polyfit(x, y, 1)[0]) if float(np.ptp(x)) > 0 and (y > 0).all() else float("nan")
