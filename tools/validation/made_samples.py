"""Made samples whose answers are known: series of time, current and voltage, and spectra."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
AMPWORKS = "cases/ampworks"
"""The folder of the shared data with the files of ampworks."""


def series(time: ArrayLike, current: ArrayLike, voltage: ArrayLike) -> pd.DataFrame:
    """A frame of samples: s, A (positive on discharge), V."""
    return pd.DataFrame({"Time [s]": time, "Current [A]": current, "Voltage [V]": voltage})


def of_ampworks(shared: Path, name: str) -> pd.DataFrame:
    """A file of ampworks, whose discharge current is negative."""
    names = {"Seconds": "Time [s]", "Amps": "Current [A]", "Volts": "Voltage [V]"}
    frame = pd.read_csv(shared / AMPWORKS / f"{name}.csv.gz").rename(columns=names)
    return series(frame["Time [s]"], -frame["Current [A]"], frame["Voltage [V]"])


def half_cell(shared: Path, name: str) -> pd.DataFrame:
    """A half cell of ampworks, its charge scaled from 0 to 1."""
    frame = pd.read_csv(shared / AMPWORKS / f"{name}.csv.gz")
    return pd.DataFrame({"Stoichiometry": frame["Ah"] / frame["Ah"].max(), "Voltage [V]": frame["Volts"]})


def slow_half_cycle(
    voltage: Callable[[Floats], Floats], hours: float, ampere_hours: float, *, charge: bool, points: int = 4000
) -> pd.DataFrame:
    """A half cycle at constant current; ``voltage`` of the charge passed, A.h."""
    passed = np.linspace(0, ampere_hours, points)
    current = (-1 if charge else 1) * ampere_hours / hours
    return series(passed / ampere_hours * hours * 3600, np.full(points, current), voltage(passed))


def peak_on_charge(height: float, at: float, scale: float, hours: float = 20.0) -> pd.DataFrame:
    """A charge from 3.4 to 4 V with Q = A / (1 + exp(-(V - at) / scale)): dQ/dV has a peak of height A / (4 scale) and
    area A."""
    volts = np.linspace(3.4, 4.0, 40_000)
    charge = 4 * scale * height / (1 + np.exp(-(volts - at) / scale))
    charge = charge - charge[0]
    return series(charge / charge[-1] * hours * 3600, np.full(len(volts), -charge[-1] / hours), volts)


def sphere_titration(diffusion: float, radius: float, pulses: int = 6) -> pd.DataFrame:
    """Titration of one sphere with a straight open-circuit line: the exact surface concentration under a constant flux,
    pulses of 600 s after rests of 20 000 s."""
    roots = _roots(100)
    on, off = 600.0, 20_000.0
    once = np.concatenate([np.arange(0.1, 60.05, 0.1), np.arange(61.0, on + 0.5, 1.0)])
    times, currents = [np.array([0.0, off])], [np.zeros(2)]
    for number in range(pulses):
        start = off + number * (on + off)
        rest = start + on + np.concatenate([np.geomspace(0.1, off - 1, 200), [off]])
        times += [start + once, rest]
        currents += [np.full(len(once), 0.001), np.zeros(len(rest))]
    time, current = np.concatenate(times), np.concatenate(currents)
    surface = np.zeros(len(time))
    for number in range(pulses):
        start = off + number * (on + off)
        surface += _response(time - start, diffusion, radius, roots) - _response(
            time - start - on, diffusion, radius, roots
        )
    return series(time, current, 4.0 - 0.5 * surface)


def _roots(count: int) -> Floats:
    """The positive roots of tan x = x."""
    n = np.arange(1, count + 1)
    x = (n + 0.5) * np.pi
    for _ in range(50):
        x = (n + 0.5) * np.pi - np.arctan(1 / x)
    return np.asarray(x, float)


def _response(t: Floats, diffusion: float, radius: float, roots: Floats) -> Floats:
    """The surface concentration of a sphere under a unit flux from t = 0 (Carslaw and Jaeger), 0 before."""
    tau = np.maximum(t, 0) * diffusion / radius**2
    decay = np.exp(-np.minimum(tau[:, None] * roots**2, 700)) / roots**2
    # Roots that the sum leaves out: they have decayed, or they add the integral of exp(-tau x^2) / x^2.
    rest = 1 / (np.pi * (len(roots) + 1)) * np.exp(-tau * roots[-1] ** 2)
    return np.asarray(np.where(t > 0, 3 * tau + 0.2 - 2 * decay.sum(axis=1) - 2 * rest / np.pi, 0.0), float)


def spectrum(frequency: ArrayLike, impedance: ArrayLike) -> pd.DataFrame:
    """A frame of impedance: Hz, Ohm."""
    z = np.asarray(impedance, complex)
    return pd.DataFrame({"Frequency [Hz]": frequency, "Z_Re [Ohm]": z.real, "Z_Im [Ohm]": z.imag})


def two_arcs(noise: float = 0.0) -> pd.DataFrame:
    """0.01 Ohm, an arc of 0.02 Ohm and 1 F, one of 0.03 Ohm and 100 F, with relative noise."""
    f = np.geomspace(1e4, 1e-2, 49)
    w = 2j * np.pi * f
    z = 0.01 + 0.02 / (1 + 0.02 * w) + 0.03 / (1 + 3 * w)
    rng = np.random.default_rng(0)
    return spectrum(f, z * (1 + noise * (rng.normal(size=49) + 1j * rng.normal(size=49))))


def example_spectrum(shared: Path) -> pd.DataFrame:
    """The spectrum of the documentation of impedance.py."""
    names = ["Frequency [Hz]", "Z_Re [Ohm]", "Z_Im [Ohm]"]
    return pd.read_csv(shared / "cases" / "impedance_py" / "exampleData.csv", header=None, names=names)
