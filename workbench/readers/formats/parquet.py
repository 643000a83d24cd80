"""Parquet files: any with a time, a current and a voltage, and those of PyProBE."""

from __future__ import annotations

from dataclasses import dataclass

from ..file.source import Head
from ..table.columns import From
from ..table.impedance import settle_imaginary
from ..table.missing_columns import may_be_samples
from ..table.typed_columns import ParquetFormat, parquet_names
from .delimited import CLOCK_NAMES, COLUMNS, CURRENT_NAMES, IMPEDANCE, OPEN_CIRCUIT, TIME_NAMES, VOLTAGE_NAMES

PYPROBE = ParquetFormat(
    name="pyprobe-parquet",
    brand="PyProBE",
    endings=(".parquet",),
    about="Known by 'Event' and 'Capacity [Ah]'; its positive current charges, while ours discharges.",
    needs=(("time",), ("current",), ("voltage",)),
    columns=(
        From("Time [s]", ("time",), "s"),
        From("Current [A]", ("current",), "A"),
        From("Voltage [V]", ("voltage",), "V"),
        From("Step from cycler", ("step",)),
        From("Cycle from cycler", ("cycle",)),
        From("Temperature [degC]", ("temperature",), "degC"),
    ),
    sign="charge",
    exact=("Time [s]", "Step", "Event", "Current [A]", "Voltage [V]", "Capacity [Ah]"),
    clocks=("date",),
)
PARQUET = ParquetFormat(
    name="parquet",
    brand="any parquet",
    endings=(".parquet",),
    about="Columns by their common names with units from the names, or by --map.",
    needs=((*TIME_NAMES, *CLOCK_NAMES), CURRENT_NAMES, VOLTAGE_NAMES),
    columns=COLUMNS,
    sign="found",
    clocks=CLOCK_NAMES,
    rule=9,
)


@dataclass(frozen=True)
class OpenCircuitParquet(ParquetFormat):
    """As `delimited.OpenCircuit`."""

    def matches(self, head: Head) -> bool:
        return super().matches(head) and not may_be_samples(parquet_names(head) or ())


OPEN_CIRCUIT_PARQUET = OpenCircuitParquet(
    name="open-circuit-parquet",
    brand="open-circuit curve",
    endings=(".parquet",),
    about=OPEN_CIRCUIT.about,
    needs=OPEN_CIRCUIT.needs,
    columns=OPEN_CIRCUIT.columns,
    sign="found",
)
IMPEDANCE_PARQUET = ParquetFormat(
    name="impedance-parquet",
    brand="impedance spectra",
    endings=(".parquet",),
    about=IMPEDANCE.about,
    needs=IMPEDANCE.needs,
    columns=IMPEDANCE.columns,
    sign="found",
    settle=settle_imaginary,
)
