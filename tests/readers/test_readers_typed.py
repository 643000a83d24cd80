"""Columns that bring their types, from parquet or a binary reader, keep them with their nulls and bits."""

from __future__ import annotations

import importlib
import math
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.errors import FileRefused, TooLarge
from workbench.readers import limits, read, recognise
from workbench.table import Table, concat


def parquet(folder: Path, columns: dict[str, Any]) -> Path:
    path = folder / "table.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=3)
    return path


def table(path: Path, **options: Any) -> Table:
    return concat(list(read(path, **options).batches))


SAMPLES = {
    "test_time_s": pa.array([5.0, 15.0, 25.0, 35.0]),
    "current_mA": pa.array([0, 1500, -1500, None], pa.int32()),
    "voltage_V": pa.array([3.5, 3.6, 3.4, 3.4], pa.float32()),
}


def test_samples_are_canonical_and_the_rest_keeps_type_and_nulls(tmp_path: Path) -> None:
    moments = [datetime(2024, 5, 13, 10, tzinfo=UTC), None, datetime(2024, 5, 13, 11, tzinfo=UTC), None]
    path = parquet(
        tmp_path,
        {
            **SAMPLES,
            "big": pa.array([2**60 + 1, None, -1, 0], pa.int64()),
            "small": pa.array([1, 2, None, 4], pa.uint8()),
            "half": pa.array([0.5, None, math.nan, -0.0], pa.float32()),
            "truth": pa.array([True, None, False, True]),
            "word": pa.array(["a", None, "", "b"]),
            "coded": pa.array(["x", "y", None, "x"]).dictionary_encode(),
            "moment": pa.array(moments, pa.timestamp("ns", "UTC")),
            "day": pa.array([date(2024, 5, 13), None, None, date(1969, 12, 31)]),
            "cost": pa.array([Decimal("1.25"), None, None, Decimal("-3.50")]),
            "nothing": pa.nulls(4),
            "list": pa.array([[1], [2], None, []]),
        },
    )
    reading = read(path)
    made = concat(list(reading.batches))
    assert reading.format == "parquet"
    assert made["Time [s]"].tolist() == [0.0, 10.0, 20.0, 30.0]
    assert made["Current [A]"].tolist() == [0.0, -1.5, 1.5, None]
    assert made["Voltage [V]"].values.dtype == np.float32
    assert made["big"].tolist() == [2**60 + 1, None, -1, 0]
    assert made["small"].values.dtype == np.uint8
    half = made["half"]
    assert half.valid is not None
    assert half.valid.tolist() == [True, False, True, True]
    assert math.isnan(half.values[2])
    assert np.signbit(half.values[3])
    assert made["truth"].tolist() == [True, None, False, True]
    assert made["word"].tolist() == ["a", None, "", "b"]
    assert made["coded"].tolist() == ["x", "y", None, "x"]
    assert made["moment"].tolist() == moments
    assert made["day"].tolist()[3] == datetime(1969, 12, 31, tzinfo=UTC)
    assert made["cost"].tolist() == [1.25, None, None, -3.5]
    assert made["nothing"].kind == "null"
    assert "list" not in made
    assert "column_left_out" in {note.code for note in reading.notes}


def test_text_and_clock_times_in_parquet(tmp_path: Path) -> None:
    for times, last in (
        (pa.array(["00:00:00", "00:00:10", "00:01:00", "26:00:00"]), 93600.0),
        (pa.array([datetime(2024, 5, 13, 10, 0, second) for second in (0, 10, 20, 30)]), 30.0),
        (
            pa.array(["2024-05-13 10:00:00", "2024-05-13 10:00:01", "2024-05-13 10:00:02", "2024-05-13 10:00:09"]),
            9.0,
        ),
    ):
        reading = read(parquet(tmp_path, {**SAMPLES, "test_time_s": times}))
        assert concat(list(reading.batches))["Time [s]"].tolist()[-1] == last


TENS = [0.0, 10.0, 20.0, 1234.5]


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("coded", [False, True])
def test_numbers_as_texts_are_numbers(mark: str, coded: bool, tmp_path: Path) -> None:
    """As a program writes them that read a text file without looking for types."""
    made = {
        "test_time_s": [f"{t:.2f}" for t in TENS],
        "current_A": ["0.000", "1.500", "-1.500", ""],
        "voltage_V": ["3.5000", "3.6000", "3.4000", "3.4000"],
        "charge_capacity_mAh": ["0.000", "1.000", "1.250", "1.250"],
        "note": ["1,5", "a", "b", "c"],
    }
    columns = {
        name: pa.array([text if name == "note" else text.replace(".", mark) for text in texts])
        for name, texts in made.items()
    }
    columns = {name: array.dictionary_encode() if coded else array for name, array in columns.items()}
    found = table(parquet(tmp_path, columns))
    assert found["Time [s]"].tolist() == TENS
    assert found["Current [A]"].tolist() == [0.0, -1.5, 1.5, None]
    assert found["Voltage [V]"].tolist() == [3.5, 3.6, 3.4, 3.4]
    assert found["Charge capacity [A.h]"].tolist() == [0.0, 0.001, 0.00125, 0.00125]
    assert found["note"].tolist()[0] == "1,5"


@pytest.mark.parametrize("header", ["test_time_s", "test_time_h", "time"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_and_times_of_day_name_their_unit_themselves(header: str, unit: str, tmp_path: Path) -> None:
    whole = [0, 10, 20, 1234]
    over = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    day = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    rest = {name: array for name, array in SAMPLES.items() if name != "test_time_s"}
    for kind in (pa.duration(unit), day):
        reading = read(parquet(tmp_path, {header: pa.array([t * over for t in whole], kind), **rest}))
        assert concat(list(reading.batches))["Time [s]"].tolist() == whole
        assert "time_unit" not in {note.code for note in reading.notes}


def of_days(form: str, moments: list[datetime]) -> dict[str, Any]:
    days, hours = [at.date() for at in moments], [at.time() for at in moments]
    if form == "texts":
        return {"Date": [f"{day:%d.%m.%Y}" for day in days], "Time": [f"{hour:%H:%M:%S}" for hour in hours]}
    midnights = [datetime(day.year, day.month, day.day) for day in days]
    return {"Date": pa.array(days if form == "types" else midnights), "Time": pa.array(hours)}


@pytest.mark.parametrize("form", ["types", "texts", "midnights"])
@pytest.mark.parametrize("later", [3 * 86400, 20 * 3600])
def test_a_day_and_a_time_of_day_are_one_clock(form: str, later: int, tmp_path: Path) -> None:
    """The test pauses to a later hour of another day, so the time of day does not fall there."""
    seconds = [0, 600, 1200, 1200 + later]
    moments = [datetime(2024, 5, 13, 23, 45) + timedelta(seconds=at) for at in seconds]
    rest = {name: array for name, array in SAMPLES.items() if name != "test_time_s"}
    reading = read(parquet(tmp_path, {**of_days(form, moments), **rest}))
    assert concat(list(reading.batches))["Time [s]"].tolist() == seconds
    assert reading.start_time == datetime(2024, 5, 13, 23, 45, tzinfo=UTC)
    assert {"time_from_clock", "time_zone"} <= {note.code for note in reading.notes}


def test_a_time_of_day_alone_goes_on_over_midnight(tmp_path: Path) -> None:
    rest = {name: array for name, array in SAMPLES.items() if name != "test_time_s"}
    times = [clock(23, 40), clock(23, 59, 30), clock(0, 1), clock(0, 30)]
    reading = read(parquet(tmp_path, {"Time": pa.array(times), **rest}))
    assert concat(list(reading.batches))["Time [s]"].tolist() == [0, 1170, 1260, 3000]
    assert "midnights" in {note.code for note in reading.notes}


@pytest.mark.parametrize("text", [False, True])
def test_a_clock_without_a_day_says_how_to_take_it(text: bool, tmp_path: Path) -> None:
    """The text of such a table is refused too."""
    moments = [datetime(2024, 5, 13, 23, 58) + timedelta(seconds=30 * n) for n in range(12)]
    times = (
        [f"{at:%H:%M:%S}" for at in moments] if text else pa.array([at.time() for at in moments], pa.time64("us"))
    )
    path = parquet(tmp_path, {"DateTime": times, "Current [A]": [1.0] * 12, "Voltage [V]": [3.6] * 12})
    with pytest.raises(FileRefused, match="have no day"):
        read(path, sign="charge")
    made = table(path, sign="charge", column_map={"DateTime": "Time [s]"})
    assert made["Time [s]"].tolist() == [30.0 * n for n in range(12)]


@pytest.mark.parametrize(
    "times",
    [["a", "b", "c", "d"], [[0.0], [1.0], [2.0], [3.0]], pa.array([b"0123456789ab"] * 4, pa.binary(12))],
)
def test_times_that_are_none_are_refused(times: Any, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=r"The times in column 'test_time_s' .* cannot be read"):
        table(parquet(tmp_path, {**SAMPLES, "test_time_s": times}))
    rest = {name: array for name, array in SAMPLES.items() if name != "test_time_s"}
    with pytest.raises(FileRefused, match=r"The times in column 'timestamp' .* cannot be read"):
        table(parquet(tmp_path, {"timestamp": times, **rest}))


def test_a_column_map_of_parquet(tmp_path: Path) -> None:
    renamed = dict(zip("abc", SAMPLES.values(), strict=True))
    path = parquet(tmp_path, renamed)
    with pytest.raises(FileRefused, match="'a', 'b' and 'c'"):
        read(path)
    mapping = {"a": "Time [s]", "b": "Current [mA]", "c": "Voltage [V]"}
    assert table(path, column_map=mapping, format="parquet")["Current [A]"].tolist() == [0.0, -1.5, 1.5, None]
    assert table(path, column_map=mapping).n == 4


def test_names_of_bdf_new_old_and_preferred(tmp_path: Path) -> None:
    for names in (
        ("test_time_second", "current_ampere", "voltage_volt", "cycle_count", "unix_time_second"),
        (
            "test_time_millisecond",
            "current_ampere",
            "voltage_volt",
            "cycle_dimensionless",
            "date_time_millisecond",
        ),
        ("Test Time / s", "Current / A", "Voltage / V", "Cycle Count / 1", "Unix Time / s"),
    ):
        factor = 1000 if "millisecond" in names[0] else 1
        columns = {
            names[0]: [0.0, 10.0 * factor],
            names[1]: [1.0, -1.0],
            names[2]: [3.6, 3.4],
            names[3]: [1, 2],
            names[4]: [1.7e9 * factor, 1.7e9 * factor + 10 * factor],
        }
        reading = read(parquet(tmp_path, columns))
        made = concat(list(reading.batches))
        assert reading.format == "bdf-parquet"
        assert made["Time [s]"].tolist() == [0.0, 10.0]
        assert made["Current [A]"].tolist() == [-1.0, 1.0]
        assert made["Cycle from cycler"].tolist() == [1, 2]
        assert reading.start_time == datetime.fromtimestamp(1.7e9, UTC)


def test_our_own_names_discharge_and_those_of_pyprobe_charge(tmp_path: Path) -> None:
    samples = {"Time [s]": [0.0, 1.0], "Current [A]": [1.0, 1.0], "Voltage [V]": [3.6, 3.5]}
    own = parquet(tmp_path, {**samples, "Step count": [0, 0]})
    assert recognise(own) == "workbench-parquet"
    assert table(own)["Current [A]"].tolist() == [1.0, 1.0]
    theirs = parquet(tmp_path, {**samples, "Step": [1, 1], "Event": [0, 0], "Capacity [Ah]": [0.0, 0.1]})
    assert recognise(theirs) == "pyprobe-parquet"
    assert table(theirs)["Current [A]"].tolist() == [-1.0, -1.0]


def test_parquet_past_a_bound_or_without_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path, SAMPLES)
    monkeypatch.setattr(limits, "MOST_ROWS", 3)
    with pytest.raises(TooLarge, match="4 rows"):
        read(path)
    monkeypatch.undo()
    with pytest.raises(FileRefused, match="has no rows"):
        read(parquet(tmp_path, {name: column.slice(0, 0) for name, column in SAMPLES.items()}))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileRefused, match="damaged or incomplete"):
        read(path)


def test_without_its_library_a_binary_is_refused_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def absent(name: str, package: str | None = None) -> Any:
        if name == "fastnda":
            raise ImportError(name)
        return real(name, package)

    path = tmp_path / "test.nda"
    path.write_bytes(b"NEWARE" + bytes(5000))
    monkeypatch.setattr(importlib, "import_module", absent)
    assert recognise(path) == "neware-nda"
    with pytest.raises(FileRefused, match=r"pip install 'battery-workbench\[neware\]'"):
        read(path)
