"""The columns of a series that the workbench knows by name, each with its unit, kind and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from ..table import Kind
from ..units import split_unit

TIME = "Time [s]"
CURRENT = "Current [A]"
VOLTAGE = "Voltage [V]"
STEP_COUNT = "Step count"
CYCLE_COUNT = "Cycle count"
CYCLER_STEP = "Step from cycler"
CYCLER_CYCLE = "Cycle from cycler"
COMPLETE = "Complete"
POWER = "Power [W]"
TEMPERATURE = "Temperature [degC]"
FREQUENCY = "Frequency [Hz]"
FRAME = "Frame"
DISCHARGE_CAPACITY = "Discharge capacity [A.h]"
CHARGE_CAPACITY = "Charge capacity [A.h]"
DISCHARGE_ENERGY = "Discharge energy [W.h]"
CHARGE_ENERGY = "Charge energy [W.h]"
COUNTERS = (DISCHARGE_CAPACITY, CHARGE_CAPACITY, DISCHARGE_ENERGY, CHARGE_ENERGY)
IMPEDANCE_AXES = ({"Z_Re [Ohm]", "Z_Im [Ohm]"}, {"Z_Mod [Ohm]", "Z_Phase [deg]"})
OPEN_CIRCUIT_AXES = ("Capacity [A.h]", "Stoichiometry", "SOC")


@dataclass(frozen=True)
class Described:
    """A column that the workbench knows by name. The unit is part of the name: ``Voltage [V]``."""

    name: str
    kind: Kind
    meaning: str

    @property
    def unit(self) -> str | None:
        return split_unit(self.name)[1]


SERIES_COLUMNS: tuple[Described, ...] = (
    Described(TIME, "number", "Time since the first sample; never falls."),
    Described(CURRENT, "number", "Current, positive on discharge and negative on charge."),
    Described(VOLTAGE, "number", "Voltage between the terminals of the cell."),
    Described(STEP_COUNT, "integer", "Number of the step in the series, from 0, rising by one at each new step."),
    Described(CYCLE_COUNT, "integer", "Number of the cycle in the series, from 0, rising with each cycler cycle."),
    Described(CYCLER_STEP, "integer", "Step number as the cycler wrote it."),
    Described(CYCLER_CYCLE, "integer", "Cycle number as the cycler wrote it."),
    Described(DISCHARGE_CAPACITY, "number", "Charge passed on discharge since the start of the step."),
    Described(CHARGE_CAPACITY, "number", "Charge passed on charge since the start of the step."),
    Described(DISCHARGE_ENERGY, "number", "Energy passed on discharge since the start of the step."),
    Described(CHARGE_ENERGY, "number", "Energy passed on charge since the start of the step."),
    Described(POWER, "number", "Voltage times current, positive on discharge."),
    Described(TEMPERATURE, "number", "Temperature of the cell."),
    Described("Ambient temperature [degC]", "number", "Temperature around the cell."),
    Described(FREQUENCY, "number", "Frequency of an impedance sample."),
    Described("Z_Re [Ohm]", "number", "Real part of the impedance."),
    Described("Z_Im [Ohm]", "number", "Imaginary part of the impedance, negative where capacitive."),
    Described("Z_Mod [Ohm]", "number", "Modulus of the impedance."),
    Described("Z_Phase [deg]", "number", "Phase of the impedance."),
    Described("Capacity [A.h]", "number", "Charge axis of open-circuit data."),
    Described("Stoichiometry", "number", "Lithium content axis of open-circuit data, from 0 to 1."),
    Described("SOC", "number", "State of charge axis of open-circuit data."),
    Described(FRAME, "integer", "Nested level of the procedure, if the cycler writes it."),
)
