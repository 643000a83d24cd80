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


@pytest.mark.parametrize("step", [1, 7])
@pytest.mark.parametrize("repair", [(), ("time",)])
@pytest.mark.parametrize(
    ("begin", "falls"),
    [
        (datetime(2024, 10, 26, 23, 10, tzinfo=UTC), True),
        (datetime(2024, 3, 31, 0, 10, tzinfo=UTC), False),
    ],
)
def test_a_change_of_summer_time_is_named_with_its_zone(
    begin: datetime, falls: bool, repair: tuple[str, ...], step: int, bench: wb.Bench, tmp_path: Path
) -> None:
    path = written(tmp_path, begin, parquet=False, step=step)
    (report,) = bench.ingest(path, sign="discharge", repair=repair)
    (said,) = [text for text in report.odd if "summer time" in text]
    assert f"summer time {'ends' if falls else 'begins'} then, for example in Europe/Berlin" in said
    assert 'zone="Europe/Berlin"' in said
    assert not any("clock stand still" in text or "begins there" in text for text in report.odd)
    (again,) = bench.ingest(path, sign="discharge", zone="Europe/Berlin", repair="time")
    assert not any("summer time" in text for text in again.odd)
    assert not again.repaired
    frame = bench.measurements.time_series(str(report.measurement_id))
    assert frame["Time [s]"].to_numpy() == pytest.approx(TIMES[::step])


@pytest.mark.parametrize("zone", ["America/New_York", "Australia/Lord_Howe", "Europe/London"])
def test_a_change_in_another_zone_is_named_too(zone: str, bench: wb.Bench, tmp_path: Path) -> None:
    begins = {
        "America/New_York": (2024, 11, 3, 4),
        "Australia/Lord_Howe": (2024, 4, 6, 13),
        "Europe/London": (2024, 10, 27, 0),
    }
    begin = datetime(*begins[zone], tzinfo=UTC)
    walls = [(begin + timedelta(seconds=t)).astimezone(ZoneInfo(zone)).replace(tzinfo=None) for t in TIMES]
    path = tmp_path / "a.csv"
    pd.DataFrame({"Date": walls, "Current (A)": FLOW, "Voltage (V)": VOLTS}).to_csv(path, index=False)
    (report,) = bench.ingest(path, sign="discharge")
    (said,) = [text for text in report.odd if "summer time" in text]
    advised = said.split('zone="')[1].split('"')[0]
    (again,) = bench.ingest(path, sign="discharge", zone=advised)
    frame = bench.measurements.time_series(str(again.measurement_id))
    assert frame["Time [s]"].to_numpy() == pytest.approx(TIMES)


@pytest.mark.parametrize("day", [datetime(2024, 7, 1, 12), datetime(2024, 10, 27, 12)])
def test_a_clock_that_was_set_back_at_another_time_is_not_summer_time(
    day: datetime, bench: wb.Bench, tmp_path: Path
) -> None:
    walls = [day + timedelta(seconds=t - 3600 * (t > 7200)) for t in TIMES]
    path = tmp_path / "a.csv"
    pd.DataFrame({"Date": walls, "Current (A)": FLOW, "Voltage (V)": VOLTS}).to_csv(path, index=False)
    (report,) = bench.ingest(path, sign="discharge")
    assert not any("summer time" in text for text in report.odd)
    assert any('repair="time" makes the clock stand still there' in text for text in report.odd)


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize(
    "begin", [datetime(2024, 10, 26, 23, 10, tzinfo=UTC), datetime(2024, 3, 31, 0, 10, tzinfo=UTC)]
)
def test_days_that_are_counted_are_of_a_place_too(
    begin: datetime, parquet: bool, bench: wb.Bench, tmp_path: Path
) -> None:
    walls = [(begin + timedelta(seconds=t)).astimezone(BERLIN).replace(tzinfo=None) for t in TIMES]
    days = [(wall - datetime(1899, 12, 30)) / timedelta(days=1) for wall in walls]
    frame = pd.DataFrame({"Date": days, "Current (A)": FLOW, "Voltage (V)": VOLTS})
    path = tmp_path / ("a.parquet" if parquet else "a.csv")
    if parquet:
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    (report,) = bench.ingest(path, sign="discharge")
    assert "time_zone" in report.codes
    assert any("summer time" in text for text in report.odd)
    (report,) = bench.ingest(path, sign="discharge", zone="Europe/Berlin")
    kept = bench.measurements.time_series(str(report.measurement_id))
    assert kept["Time [s]"].to_numpy() == pytest.approx(TIMES, abs=1e-3)


@pytest.mark.parametrize(
    "begin", [datetime(2024, 10, 26, 23, 10, tzinfo=UTC), datetime(2024, 3, 31, 0, 10, tzinfo=UTC)]
)
def test_a_finer_time_within_the_steps_is_not_moved_twice(
    begin: datetime, bench: wb.Bench, tmp_path: Path
) -> None:
    path = written(tmp_path, begin, parquet=False)
    frame = pd.read_csv(path)
    step = np.arange(N) // 120
    frame["Step"] = step
    frame["Step Time (s)"] = TIMES - 7200.0 * step + 0.25 * (np.arange(N) % 2)
    frame.to_csv(path, index=False)
    (report,) = bench.ingest(path, sign="discharge", zone="Europe/Berlin")
    kept = bench.measurements.time_series(str(report.measurement_id))
    assert kept["Time [s]"].to_numpy() == pytest.approx(TIMES, abs=62)
    assert kept["Time [s]"].diff().max() < 122
