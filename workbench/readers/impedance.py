"""Impedance given as modulus and phase has a real and an imaginary part too."""

from __future__ import annotations

import numpy as np

from ..cycling.columns import FREQUENCY
from ..table import Column
from .values import number_column

RE, IM, MODULUS, PHASE = "Z_Re [Ohm]", "Z_Im [Ohm]", "Z_Mod [Ohm]", "Z_Phase [deg]"


def with_parts(made: dict[str, Column]) -> dict[str, Column]:
    """The columns with real and imaginary part, where they are of impedance and lack these."""
    if not {FREQUENCY, MODULUS, PHASE} <= made.keys() or {RE, IM} & made.keys():
        return made
    angle = np.deg2rad(made[PHASE].floats())
    modulus = made[MODULUS].floats()
    return {**made, RE: number_column(modulus * np.cos(angle)), IM: number_column(modulus * np.sin(angle))}
