"""The samples of a simple cell: its voltage rises along a line with its charge, from 3.0 V to 4.2 V, without
resistance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

import workbench as wb

LOW, HIGH = 3.0, 4.2
RATINGS = {
    "capacity": {"value": 1.0, "unit": "A.h"},
    "voltage_min": {"value": LOW, "unit": "V"},
    "voltage_max": {"value": HIGH, "unit": "V"},
}


@dataclass
class Cell:
    """What a cycler writes of a cell of 1 A h, step by step."""

    share: float = 0.0
    resistance: float = 0.0
    seconds: float = 0.0
    cycle: int = 0
    parts: list[pd.DataFrame] = field(default_factory=list)

    def flow(self, charge: float, amperes: float, lost: float = 0.0, samples: int = 40) -> None:
        """Pass a charge, A h, positive on discharge; ``lost`` of it is not in the cell."""
        hours = np.linspace(0.0, abs(charge) / amperes, samples)
        way = np.sign(charge)
        share = self.share - (charge + lost) * hours / hours[-1]
        self._append(hours * 3600, way * amperes, LOW + (HIGH - LOW) * share - way * amperes * self.resistance)
        self.share = float(share[-1])

    def rest(self, seconds: float, fall: float = 0.0, samples: int = 20) -> None:
        """Rest, while the voltage falls by so many V."""
        time = np.linspace(0.0, seconds, samples)
        begins = LOW + (HIGH - LOW) * self.share
        self._append(time, 0.0, begins - fall * time / seconds)

    def _append(self, time: np.ndarray, amperes: float, volts: np.ndarray) -> None:
        # The first sample of a step comes 1 s after the last one of the step before.
        columns = {"Time [s]": self.seconds + 1.0 + time, "Current [A]": amperes, "Voltage [V]": volts}
        steps = {"Cycle count": self.cycle, "Step count": len(self.parts)}
        self.parts.append(pd.DataFrame({**columns, **steps}))
        self.seconds += 1.0 + float(time[-1])

    @property
    def frame(self) -> pd.DataFrame:
        made = pd.concat(self.parts, ignore_index=True)
        return made.assign(**{"Time [s]": made["Time [s]"] - 1.0})


def add(bench: wb.Bench, name: str, frame: pd.DataFrame, *tags: str, **fields: object) -> None:
    """A cell with one test; both have one name."""
    if bench.specifications.list().empty:
        bench.specifications.create(name="design", ratings=RATINGS)
    bench.instances.create(name=name, specification="design")
    bench.measurements.create(
        instance=name, name=name, time_series=frame, tags=[*tags], sign="discharge", **fields
    )


def notes(figure: wb.Figure) -> str:
    """What is written above a figure."""
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)
