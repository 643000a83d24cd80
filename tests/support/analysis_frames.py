"""Frames that each analysis answers, to be spoiled by the tests of its refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from tools.validation.made import discharges, step_row, storage
from workbench import battery


@dataclass(frozen=True)
class Known:
    """An analysis, a frame that it answers, the columns that it needs, those that hold what it measures, and what it
    makes of the first row alone: "refused"; "exact", as with the others; "part", which a test of its own looks at."""

    run: Callable[..., pd.DataFrame]
    frame: pd.DataFrame
    needs: tuple[str, ...]
    values: tuple[str, ...]
    alone: Literal["refused", "exact", "part"] = "refused"
    params: Mapping[str, float | str] = field(default_factory=dict)

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        return self.run(frame, **self.params)


def cycles(n: int = 200, slope: float = 4e-4) -> pd.DataFrame:
    """Cycles of a cell of 2 A.h that fades along a line."""
    count = np.arange(n)
    left = 2 * (1 - slope * count)
    return pd.DataFrame(
        {
            "Cycle count": count,
            "Discharge capacity [A.h]": left,
            "Charge capacity [A.h]": left / 0.999,
            "Discharge energy [W.h]": 3.6 * left,
            "Charge energy [W.h]": 3.8 * left,
            "Cycle duration [s]": 7200.0,
            "Mean discharge current [A]": 2.0,
            "Mean temperature [degC]": 25.0,
            "Complete": True,
        }
    )


def bent(n: int = 400) -> pd.DataFrame:
    """Cycles with two bends."""
    made = cycles(n, 1e-4)
    count = made["Cycle count"]
    extra = 3e-4 * np.maximum(count - 200, 0) + 1e-3 * np.maximum(count - 320, 0)
    return made.assign(**{"Discharge capacity [A.h]": made["Discharge capacity [A.h]"] - 2 * extra})


def formation_steps() -> pd.DataFrame:
    """Four cycles at C/20 and one at C/2, from an empty cell of 2 A.h."""
    rows = []
    for cycle, (current, into, out) in enumerate(
        [(0.1, 2.3, 2.0), (0.1, 2.02, 2.0), (0.1, 2.01, 2.0), (0.1, 2.005, 2.0), (1.0, 1.9, 1.9)]
    ):
        rows.append(step_row(2 * cycle, "Constant current charge", -current, into / current, 2.5, 4.2, cycle))
        rows.append(step_row(2 * cycle + 1, "Constant current discharge", current, out / current, 4.2, 2.5, cycle))
    return pd.DataFrame(rows)


def curves() -> pd.DataFrame:
    """Samples of the discharges of cycles 10 and 100 at 1 A."""
    parts = []
    for cycle, capacity in ((10, 1.0), (100, 0.97)):
        passed = np.linspace(0.0, capacity, 400)
        time = 3600 * passed
        volts = 4.2 - 1.5 * (passed / capacity) ** 2
        parts.append(
            pd.DataFrame(
                {
                    "Cycle count": cycle,
                    "Time [s]": time + 1e4 * cycle,
                    "Current [A]": 1.0,
                    "Voltage [V]": volts,
                    "Discharge capacity [A.h]": passed,
                    "Temperature [degC]": 25.0,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def fleet() -> pd.DataFrame:
    """Seven cells of one batch, one of them weak."""
    left = [0.93, 0.95, 0.94, 0.96, 0.92, 0.945, 0.80]
    return pd.DataFrame({"Cell": [f"c{n}" for n in range(7)], "Group": "a", "Retention": left})


def early() -> pd.DataFrame:
    """Twelve cells on a line, the last without a life."""
    feature = np.linspace(-5, -3, 12)
    life = 10 ** (1.3 - 0.4 * feature)
    life[-2] = np.nan
    return pd.DataFrame({"Cell": range(12), "log10 var [(A.h)^2]": feature, "Cycle life": life, "Group": "a"})


DISCHARGED = "Discharge capacity [A.h]"
STEPS = ("Step count", "Step type", DISCHARGED, "Charge capacity [A.h]")
PASSED = (DISCHARGED, "Charge capacity [A.h]")
RATES = discharges([(0.2, 2.0), (1.0, 1.9), (2.0, 1.8), (4.0, 1.7)])
LAW = pd.DataFrame(
    {"Temperature [degC]": [10.0, 25.0, 40.0, 55.0], "Rate": np.exp(-3600 / (np.array([10, 25, 40, 55]) + 273.15))}
)
STORED = pd.DataFrame(
    {"Storage time [d]": [0.0, 50, 100, 200, 300], "Retention": [1, 0.98, 0.97, 0.95, 0.94], "SOC": 0.5}
)
TESTS = pd.DataFrame({"Check-up": range(3), DISCHARGED: [2, 1.9, 1.7], "Resistance [Ohm]": [0.02, 0.025, 0.034]})

KNOWN = {
    "capacity_by_step": Known(battery.capacity_by_step, RATES, (*STEPS, "Cycle count"), PASSED, "part"),
    "efficiency": Known(battery.efficiency, cycles(), ("Cycle count", *PASSED), PASSED, "exact"),
    "retention": Known(battery.retention, cycles(), ("Cycle count", DISCHARGED), (DISCHARGED,), "exact"),
    "soh": Known(battery.soh, TESTS, ("Check-up",), (DISCHARGED, "Resistance [Ohm]"), "exact"),
    "formation": Known(battery.formation, formation_steps(), STEPS, PASSED),
    "cycle_count": Known(battery.cycle_count, RATES, STEPS, PASSED, "part"),
    "equivalent_cycles": Known(
        battery.equivalent_cycles, cycles(), ("Cycle count", DISCHARGED), (DISCHARGED,), "exact", {"rated": 2.0}
    ),
    "rate_capability": Known(battery.rate_capability, RATES, STEPS, PASSED),
    "peukert": Known(battery.peukert, RATES, STEPS, PASSED),
    "self_discharge": Known(battery.self_discharge, storage(30.0, 2.0, 1.9, 1.98), STEPS, PASSED),
    "calendar": Known(battery.calendar, STORED, ("Storage time [d]", "Retention"), ("Retention",)),
    "knee": Known(battery.knee, bent(), ("Cycle count", DISCHARGED), (DISCHARGED,), params={"bootstrap": 20}),
    "end_of_life": Known(battery.end_of_life, cycles(600), ("Cycle count", DISCHARGED), (DISCHARGED,)),
    "eol_extrapolation": Known(battery.eol_extrapolation, cycles(450), ("Cycle count", DISCHARGED), (DISCHARGED,)),
    "delta_q": Known(battery.delta_q, curves(), ("Cycle count", "Voltage [V]"), ("Voltage [V]",)),
    "early_life": Known(
        battery.early_life, early(), ("Cell", "Cycle life", "log10 var [(A.h)^2]"), ("log10 var [(A.h)^2]",)
    ),
    "outliers": Known(battery.outliers, fleet(), ("Cell", "Retention"), ("Retention",)),
    "batch_spread": Known(battery.batch_spread, fleet(), ("Cell", "Retention"), ("Retention",), "part"),
    "arrhenius": Known(battery.arrhenius, LAW, ("Temperature [degC]", "Rate"), ("Rate",)),
}
