"""A refused file names the column that is its time, whatever loggers call it, and the map with which it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb

TIMES = 10.0 * np.arange(120)
FLOW = np.where(np.arange(120) % 60 < 30, 1.0, -1.0)
VOLTS = 3.7 + 0.1 * FLOW + 1e-4 * np.cumsum(FLOW)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


def refused(bench: wb.Bench, folder: Path, **columns: object) -> str:
    frame = pd.DataFrame({**columns, "current_a": FLOW, "voltage_v": VOLTS})
    frame.to_csv(folder / "own.csv", index=False)
    (report,) = bench.ingest(folder / "own.csv", sign="charge")
    assert report.status == "refused"
    return report.why


def advised(why: str) -> dict[str, str]:
    found = ast.literal_eval(why.split("column_map=")[1].split("}")[0] + "}")
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        *(("ts", 1.0), ("tsec", 1.0), ("sec", 1.0), ("s", 1.0), ("ms", 1e3), ("millis", 1e3), ("us", 1e6)),
        *(("min", 1 / 60), ("hours", 1 / 3600), ("duration", 1.0), ("clock", 1.0), ("ticks", 1.0), ("aika", 1.0)),
        *(("ts_ms", 1e3), ("uptime", 1.0), ("unix", 1.0)),
    ],
)
def test_the_map_that_is_proposed_reads_the_file(
    name: str, factor: float, bench: wb.Bench, tmp_path: Path
) -> None:
    given = advised(refused(bench, tmp_path, **{name: TIMES * factor}))
    assert list(given) == [name]
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge", column_map=given)
    frame = bench.measurements.time_series(str(report.measurement_id))
    assert frame["Time [s]"].to_numpy() == pytest.approx(TIMES)


@pytest.mark.parametrize("name", ["ts", "epoch", "epoch_ms", "created_at", "when"])
def test_a_clock_is_proposed_too(name: str, bench: wb.Bench, tmp_path: Path) -> None:
    if name == "epoch_ms":
        given = advised(refused(bench, tmp_path, **{name: (1.7e12 + 1e3 * TIMES).astype(np.int64)}))
    elif name in ("ts", "epoch"):
        given = advised(refused(bench, tmp_path, **{name: 1.7e9 + TIMES}))
    else:
        texts = pd.to_datetime(1.7e9 + TIMES, unit="s").strftime("%Y-%m-%dT%H:%M:%S")
        given = advised(refused(bench, tmp_path, **{name: texts}))
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge", column_map=given)
    frame = bench.measurements.time_series(str(report.measurement_id))
    assert frame["Time [s]"].to_numpy() == pytest.approx(TIMES)


@pytest.mark.parametrize("name", ["C-rate", "Current [C]", "I/C", "c_rate"])
def test_a_rate_is_no_current(name: str, bench: wb.Bench, tmp_path: Path) -> None:
    """The advice was to take it for amperes."""
    frame = pd.DataFrame({"Time [s]": TIMES, name: FLOW, "Voltage [V]": VOLTS})
    frame.to_csv(tmp_path / "own.csv", index=False)
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge")
    assert f"'{name}' is over the rated capacity, not the current of the cell" in report.why
    assert "column_map" not in report.why


def test_a_name_goes_before_the_unit_of_another_column(bench: wb.Bench, tmp_path: Path) -> None:
    why = refused(bench, tmp_path, loop_ms=np.full(120, 5), ts=TIMES)
    assert list(advised(why)) == ["ts"]
    assert "'loop_ms' could be the time too" in why


def test_a_time_without_a_unit_says_which_is_taken(bench: wb.Bench, tmp_path: Path) -> None:
    assert "Numbers of 'ts' are then seconds; if they are milliseconds, say 'Time [ms]'." in refused(
        bench, tmp_path, ts=TIMES
    )


def test_a_duration_beside_means_is_of_a_step(bench: wb.Bench, tmp_path: Path) -> None:
    assert "belong to a table of steps or cycles" in refused(bench, tmp_path, duration=TIMES, max_u=VOLTS)
