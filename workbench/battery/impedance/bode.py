"""Modulus and phase of impedance over frequency."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..checked import T_COLUMNS
from ..inputs import refusing
from ..nyquist import FREQUENCY
from ..result import WARNING, Cell, result
from .spectra import HEAD, Spectrum, spectra_of

COLUMNS = (*HEAD, FREQUENCY, "Z_Mod [Ohm]", "Minus phase [deg]", *T_COLUMNS)


@refusing(COLUMNS)
def bode(frame: pd.DataFrame) -> pd.DataFrame:
    """Modulus and minus phase of each spectrum: one row a frequency, from the highest.

    Parameters
    ----------
    frame : ``Frequency [Hz]``, ``Z_Re [Ohm]`` and ``Z_Im [Ohm]`` (negative where capacitive); ``SOC`` and
        ``Voltage [V]`` are used if they are there. A new spectrum begins with another ``Cycle count``, or where the
        frequency goes back by a decade.

    Returns ``Spectrum`` (from 0), ``SOC``, ``Voltage [V]``, ``Frequency [Hz]``, ``Z_Mod [Ohm]``, ``Minus phase [deg]``
    (positive where capacitive), temperatures, ``Valid`` and ``Warning``. ``Warning`` names points without a value,
    frequencies that are not in order or measured twice, fewer than 5 points a decade, and spectra that are inductive in
    more than 75 % of their points.
    """
    return result([row for spectrum in spectra_of(frame) for row in _rows(spectrum)], COLUMNS)


def _rows(spectrum: Spectrum) -> list[dict[str, Cell]]:
    phase = -np.degrees(np.angle(spectrum.z))
    return [
        {
            **spectrum.head,
            FREQUENCY: float(f),
            "Z_Mod [Ohm]": float(size),
            "Minus phase [deg]": float(angle),
            **spectrum.warmth,
            WARNING: spectrum.words,
        }
        for f, size, angle in zip(spectrum.frequency, np.abs(spectrum.z), phase, strict=True)
    ]
