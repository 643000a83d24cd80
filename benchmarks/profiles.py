"""Two made measurements: as cyclers print them (decimals), and the worst case for a codec (single floats, jitter)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COLUMNS = ("t", "U", "I", "temp", "Qc", "Qd", "step", "cyc")
STEPS = (("charge", 3000), ("hold", 1200), ("rest", 600), ("discharge", 3300), ("rest", 600))
CYCLE = sum(seconds for _, seconds in STEPS)


def decimal(n: int, seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """n samples of constant-current, constant-voltage cycling at 1 s: 0.1 mV, 0.1 mA, 0.1 K, 0.1 mA.h; (n,) each."""
    smooth = _smooth(n, seed)
    rng = np.random.default_rng(seed)
    digits = {"t": 0, "U": 4, "I": 4, "temp": 1, "Qc": 4, "Qd": 4, "step": 0, "cyc": 0}
    noise = {"U": 3e-4, "I": 2e-4, "temp": 0.1}
    return {
        name: np.round(values + rng.normal(0, noise[name], n) if name in noise else values, digits[name]) + 0.0
        for name, values in smooth.items()
    }


def single(n: int, seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """As ``decimal``, but single-precision noise on voltage, current and temperature and a jittering clock."""
    smooth = _smooth(n, seed)
    rng = np.random.default_rng(seed)
    for name, size in {"U": 3e-4, "I": 2e-4, "temp": 0.1}.items():
        smooth[name] = (smooth[name] + rng.normal(0, size, n)).astype(np.float32).astype(np.float64)
    smooth["t"] = np.maximum.accumulate(np.round(smooth["t"] + rng.normal(0, 2e-3, n), 3))
    for name in ("Qc", "Qd"):
        smooth[name] = smooth[name].astype(np.float32).astype(np.float64)
    return smooth


def spiked(n: int, seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """``decimal`` with 60 spikes of one sample on voltage and temperature."""
    made = decimal(n, seed)
    rng = np.random.default_rng(seed + 1)
    for name, size in {"U": 0.3, "temp": 8.0}.items():
        made[name][rng.choice(n, 60, replace=False)] += size
    return made


def _smooth(n: int, seed: int) -> dict[str, NDArray[np.float64]]:
    t = np.arange(n, dtype=np.float64)
    within = t % CYCLE
    bounds = np.cumsum([0, *(seconds for _, seconds in STEPS)])
    step = np.searchsorted(bounds, within, side="right") - 1
    since = within - bounds[step]
    fade = 1 - 2e-4 * (t // CYCLE) * (1 + 0.1 * (seed % 7))
    current = np.select([step == 0, step == 1, step == 3], [-3.0, -3.0 * np.exp(-since / 400), 2.7], 0.0)
    held = 400 * (1 - np.exp(-since / 400))
    charged = 3.0 / 3600 * np.select([step == 0, step == 1, step > 1], [since, 3000 + held, 3380.0]) * fade
    discharged = 2.7 / 3600 * np.select([step < 3, step == 3, step == 4], [0.0, since, 3300.0]) * fade
    filled = (charged - discharged) / 2.9
    voltage = 3.0 + 1.1 * filled + 0.08 * np.tanh(20 * (filled - 0.05)) - 0.03 * current
    temperature = 25 + 2.5 * np.abs(current) / 3 * (1 - np.exp(-since / 500)) + np.sin(t / 43200)
    return {
        "t": t,
        "U": voltage,
        "I": current,
        "temp": temperature,
        "Qc": charged,
        "Qd": discharged,
        "step": t // CYCLE * len(STEPS) + step,
        "cyc": t // CYCLE,
    }
