"""The samples of a small ageing test, for stores of many of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

CYCLES, EACH = 12, 8


def small_test(number: int) -> pd.DataFrame:
    """Twelve full cycles between rests; each test fades at a rate of its own."""
    legs = [
        leg
        for cycle in range(CYCLES)
        for full in [3600.0 * (1 - 1e-3 * cycle * (1 + number % 5))]
        for leg in ((-1.0, full, 3.0, 4.2), (0.0, 600.0, 4.15, 4.1), (1.0, full, 4.1, 3.0), (0.0, 600.0, 3.3, 3.4))
    ]
    begins = np.concatenate([[0.0], np.cumsum([seconds for _, seconds, _, _ in legs])[:-1]])
    shares = np.linspace(0.0, 1.0, EACH, endpoint=False)
    return pd.DataFrame(
        {
            "Time [s]": np.concatenate([at + leg[1] * shares for at, leg in zip(begins, legs, strict=True)]),
            "Current [A]": np.repeat([leg[0] for leg in legs], EACH),
            "Voltage [V]": np.concatenate([leg[2] + (leg[3] - leg[2]) * shares for leg in legs]),
            "Step count": np.repeat(np.arange(len(legs), dtype=float), EACH),
            "Cycle count": np.repeat(np.arange(CYCLES, dtype=float), 4 * EACH),
        }
    )
