"""Battery Data Format, csv and parquet: machine-readable names, preferred labels, and names of old releases."""

from __future__ import annotations

from ..table.columns import From
from ..table.text_format import TextFormat
from ..table.typed_columns import ParquetFormat

_ABOUT = "Known by 'test_time_second' or 'Test Time / s' with voltage and current; milliseconds of old releases."
NEEDS = (("test time",), ("voltage",), ("current",))
COLUMNS = (
    From("Time [s]", ("test time",), "s"),
    From("Current [A]", ("current",), "A"),
    From("Voltage [V]", ("voltage",), "V"),
    From("Step from cycler", ("step index", "step id", "step count")),
    From("Cycle from cycler", ("cycle count", "cycle", "cycle index")),
    From("Charge capacity [A.h]", ("charging capacity", "charge capacity"), "A.h", positive=True),
    From("Discharge capacity [A.h]", ("discharging capacity", "discharge capacity"), "A.h", positive=True),
    From("Charge energy [W.h]", ("charging energy", "charge energy"), "W.h", positive=True),
    From("Discharge energy [W.h]", ("discharging energy", "discharge energy"), "W.h", positive=True),
    From("Power [W]", ("power",), "W"),
    From(
        "Temperature [degC]",
        ("temperature t1", "surface temperature", "cell temperature", "temperature", "surface temperature t1"),
        "degC",
    ),
    From("Ambient temperature [degC]", ("ambient temperature",), "degC"),
)
CLOCKS = ("unix time", "date time", "datetime", "date time iso")
# Headers of which at least one is BDF's alone: other brands know a test time too.
MARKS = (
    "test_time_second",
    "test_time_millisecond",
    "Test Time / s",
    "Test Time / ms",
)

BDF = TextFormat(
    name="bdf",
    brand="Battery Data Format",
    endings=(".bdf.csv", ".bdf.csv.gz"),
    about=_ABOUT,
    needs=NEEDS,
    columns=COLUMNS,
    sign="charge",
    clocks=CLOCKS,
    marks=MARKS,
    rule=7,
)
BDF_PARQUET = ParquetFormat(
    name="bdf-parquet",
    brand="Battery Data Format",
    endings=(".bdf.parquet",),
    about=_ABOUT,
    needs=NEEDS,
    columns=COLUMNS,
    sign="charge",
    clocks=CLOCKS,
    marks=MARKS,
    rule=5,
)
