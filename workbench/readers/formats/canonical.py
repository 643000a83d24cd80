"""Series as the workbench itself writes them: canonical names, positive current discharges."""

from __future__ import annotations

from ..table.columns import KNOWN, From
from ..table.header_units import split_header
from ..table.text_format import TextFormat
from ..table.typed_columns import ParquetFormat

EXACT = ("Time [s]", "Current [A]", "Voltage [V]", "Step count")
COLUMNS = tuple(From(name, (split_header(name).key,)) for name in KNOWN)
_ABOUT = "Series with the workbench's own column names, 'Step count' among them."
_NEEDS = (("time",), ("current",), ("voltage",), ("step count",))

OWN = TextFormat(
    name="workbench",
    brand="Battery Workbench",
    endings=(".csv",),
    about=_ABOUT,
    needs=_NEEDS,
    columns=COLUMNS,
    sign="discharge",
    counters="step",
    exact=EXACT,
)
OWN_PARQUET = ParquetFormat(
    name="workbench-parquet",
    brand="Battery Workbench",
    endings=(".parquet",),
    about=_ABOUT,
    needs=_NEEDS,
    columns=COLUMNS,
    sign="discharge",
    counters="step",
    exact=EXACT,
)
