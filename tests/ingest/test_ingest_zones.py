"""A local clock that changes to summer or winter time: with its zone the time of the test goes on through it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import workbench as wb

N = 240
BERLIN = ZoneInfo("Europe/Berlin")
TIMES = 60.0 * np.arange(N)
FLOW = np.where(np.arange(N) % 60 < 30, 1.0, -1.0)
VOLTS = 3.7 - 0.1 * FLOW - 1e-4 * np.cumsum(FLOW)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


def written(folder: Path, begin: datetime, *, parquet: bool, step: int = 1) -> Path:
    walls = [(begin + timedelta(seconds=t)).astimezone(BERLIN).replace(tzinfo=None) for t in TIMES[::step]]
    frame = pd.DataFrame(
        {"Date": pd.DatetimeIndex(walls), "Current (A)": FLOW[::step], "Voltage (V)": VOLTS[::step]}
    )
    path = folder / ("a.parquet" if parquet else "a.csv")
    if parquet:
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, date_format="%Y-%m-%d %H:%M:%S")
    return path


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize("step", [1, 7])
@pytest.mark.parametrize(
    "begin",
    [
        datetime(2024, 10, 26, 23, 10, tzinfo=UTC),
        datetime(2024, 10, 27, 0, 20, tzinfo=UTC),
        datetime(2024, 3, 31, 0, 10, tzinfo=UTC),
        datetime(2024, 7, 1, 12, 0, tzinfo=UTC),
    ],
)
def test_the_time_goes_on_where_the_clock_changes(
    begin: datetime, step: int, parquet: bool, bench: wb.Bench, tmp_path: Path
) -> None:
    path = written(tmp_path, begin, parquet=parquet, step=step)
    (report,) = bench.ingest(path, zone="Europe/Berlin", sign="discharge")
    assert (report.status, "time_falls" in report.codes) == ("stored", False)
    frame = bench.measurements.time_series(str(report.measurement_id))
    assert frame["Time [s]"].to_numpy() == pytest.approx(TIMES[::step])
    moments = pd.DatetimeIndex(frame["Date"]).tz_localize(None)
    assert ((moments - pd.Timestamp(begin.replace(tzinfo=None))).total_seconds().to_numpy() == TIMES[::step]).all()
    assert bench.measurements.get(str(report.measurement_id)).start_time == begin


def test_a_clock_that_runs_on_beside_a_time_of_the_test_changes_nothing(bench: wb.Bench, tmp_path: Path) -> None:
    path = written(tmp_path, datetime(2024, 3, 31, 0, 10, tzinfo=UTC), parquet=False)
    frame = pd.read_csv(path)
    frame.insert(0, "Time (s)", TIMES)
    frame.to_csv(path, index=False)
    (report,) = bench.ingest(path, zone="Europe/Berlin", sign="discharge")
    assert bench.measurements.time_series(str(report.measurement_id))["Time [s]"].to_numpy() == pytest.approx(
        TIMES
    )
