"""Made tests for analyses: pulses, titration, slow half cycles and spectra whose answers are known."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tools.validation.made_samples import series, slow_half_cycle


def joined(*parts: pd.DataFrame, apart: float = 10.0) -> pd.DataFrame:
    """Frames one after the other."""
    found, start = [], 0.0
    for part in parts:
        found.append(part.assign(**{"Time [s]": part["Time [s]"] + start}))
        start = float(found[-1]["Time [s]"].iloc[-1]) + apart
    return pd.concat(found, ignore_index=True)


def rest(seconds: float, volts: float, every: float = 10.0) -> pd.DataFrame:
    time = np.arange(0, seconds + 1e-9, every)
    return series(time, 0 * time, volts + 0 * time)


def open_circuit(soc: np.ndarray | float) -> np.ndarray:
    """A plateau at SOC 0.3 (a peak of dQ/dV) and a step at 0.6 (a maximum of dV/dQ), V."""
    s = np.asarray(soc)
    return np.asarray(3.4 + 0.7 * s - 0.04 * np.tanh((s - 0.3) / 0.06) + 0.04 * np.tanh((s - 0.6) / 0.05))


def hppc(ohm: float = 0.05, every: float = 0.1, levels: int = 5, long: float = 0.2, sign: int = 1) -> pd.DataFrame:
    """A 2 A.h cell of one resistance from full to empty: at each level an hour of rest, 10 s at 2 A, 40 s of rest and
    10 s at -1 A; between levels a discharge of 0.5 A."""
    rows: list[tuple[float, float, float]] = []
    now, soc = 0.0, 1.0

    def step(seconds: float, amps: float, gap: float) -> None:
        nonlocal now, soc
        for passed in np.append(np.arange(gap, seconds - 1e-6, gap), seconds):
            left = soc - amps * passed / 3600 / 2.0
            rows.append((now + passed, sign * amps, float(open_circuit(left)) - amps * ohm))
        now, soc = now + seconds, soc - amps * seconds / 3600 / 2.0

    for _ in range(levels):
        step(3600, 0.0, 60.0)
        step(10, 2.0, every)
        step(40, 0.0, 1.0 if every < 1 else every)
        step(10, -1.0, every)
        step(600, 0.0, 60.0)
        step(2.0 * (1.0 / levels) / 0.5 * 3600 - 10, 0.5, 30.0)
    return pd.DataFrame(rows, columns=["Time [s]", "Current [A]", "Voltage [V]"])


def titrated(pulses: int = 12) -> pd.DataFrame:
    """A discharge at 0.1 A in pulses of 1 h with rests of 1 h between them, sampled every minute."""
    time = np.arange(0, pulses * 7200, 60.0)
    on = time % 7200 < 3600
    passed = np.cumsum(np.where(on, 0.1 * 60 / 3600, 0.0))
    return series(time, np.where(on, 0.1, 0.0), open_circuit(1 - passed / 2) - np.where(on, 0.02, 0.0))


def slow(*, charge: bool, hours: float = 20.0, ampere_hours: float = 2.0, ohm: float = 0.2) -> pd.DataFrame:
    """A half cycle of a 2 A.h cell whose open-circuit voltage is ``open_circuit``."""
    current = ampere_hours / hours
    if charge:
        return slow_half_cycle(lambda q: open_circuit(q / 2) + current * ohm, hours, ampere_hours, charge=True)
    return slow_half_cycle(lambda q: open_circuit(1 - q / 2) - current * ohm, hours, ampere_hours, charge=False)


def both_ways(hours: float = 20.0, discharged: float = 2.0) -> pd.DataFrame:
    return joined(slow(charge=True, hours=hours), slow(charge=False, hours=hours, ampere_hours=discharged))
