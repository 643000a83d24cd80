"""Impedance of a simulated cell: L + R0 + (R1 | Q1) + (R2 | Q2) + finite diffusion, and the fit that undoes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import least_squares
from simulated_cell import FARADAY, GAS, Cell

Floats = npt.NDArray[np.float64]

FREQUENCIES: Floats = np.logspace(4, -2, 49)
NAMES = ["L", "R0", "R1", "Q1", "a1", "R2", "Q2", "a2", "RW", "TW"]


@dataclass(frozen=True)
class Circuit:
    """Inductance H, resistances Ohm, constant-phase elements F s^(a-1) with exponent a, diffusion Ohm and s."""

    L: float
    R0: float
    R1: float
    Q1: float
    a1: float
    R2: float
    Q2: float
    a2: float
    RW: float
    TW: float

    def __call__(self, frequency: Floats) -> npt.NDArray[np.complex128]:
        """Impedance at frequencies in Hz, Ohm."""
        jw = 2j * np.pi * frequency
        diffusion = self.RW * np.tanh(np.sqrt(jw * self.TW)) / np.sqrt(jw * self.TW)
        film = 1.0 / (1.0 / self.R1 + self.Q1 * jw**self.a1)
        transfer = 1.0 / (1.0 / self.R2 + self.Q2 * jw**self.a2)
        return np.asarray(jw * self.L + self.R0 + film + transfer + diffusion)


def circuit_of(cell: Cell) -> Circuit:
    """The circuit of a cell in its present state: film and negative at high, positive at middle frequency."""
    thermal = GAS * (cell.temperature + 273.15) / FARADAY
    negative, positive = cell.exchange_currents()
    film = thermal / negative * 0.8
    transfer = thermal / positive * (1.0 + 0.5 * np.exp(-6.0 * _charge(cell)))
    scale = cell.design.rated / 5.0
    return Circuit(
        L=4e-8 if scale > 0.1 else 6e-7,
        R0=cell.ohmic() * 0.85,
        R1=film,
        Q1=0.6 * scale,
        a1=0.80,
        R2=transfer,
        Q2=4.5 * scale,
        a2=0.86,
        RW=cell.design.electrolyte_resistance * 1.1 * (1.0 + 1.2 * (2 * _charge(cell) - 1.0) ** 4),
        TW=cell.design.electrolyte_time * 1.6,
    )


def _charge(cell: Cell) -> float:
    """State of charge by the negative electrode, 0 to 1."""
    negative = cell.design.negative
    return (cell.x_negative - negative.empty) / (negative.full - negative.empty)


def measure(circuit: Circuit, rng: np.random.Generator) -> pd.DataFrame:
    """A spectrum with 0.2 % noise: columns frequency (Hz), real and imaginary (Ohm)."""
    exact = circuit(FREQUENCIES)
    noise = 0.002 * np.abs(exact) * (rng.normal(size=exact.size) + 1j * rng.normal(size=exact.size))
    seen = exact + noise
    return pd.DataFrame({"frequency": FREQUENCIES, "real": seen.real, "imaginary": seen.imag})


def fit(spectrum: pd.DataFrame, guess: Circuit) -> tuple[dict[str, float], float]:
    """Least squares on the relative error, parameters by logarithm: values by name and the rms error (1)."""
    frequency = spectrum["frequency"].to_numpy()
    seen = spectrum["real"].to_numpy() + 1j * spectrum["imaginary"].to_numpy()
    begin = np.log([getattr(guess, name) * 1.1 if name not in ("a1", "a2") else 0.83 for name in NAMES])

    def miss(logs: Floats) -> Floats:
        error = (Circuit(*np.exp(logs))(frequency) - seen) / np.abs(seen)
        return np.concatenate([error.real, error.imag])

    found = least_squares(miss, begin, max_nfev=400)
    values = {name: float(value) for name, value in zip(NAMES, np.exp(found.x), strict=True)}
    return values, float(np.sqrt(np.mean(found.fun**2)))
