"""Clocks as loggers write them, dates that look like numbers, and rows that are not in the order of their times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb

N = 240
TIMES = 10.0 * np.arange(N)
FLOW = np.where(np.arange(N) % 60 < 30, 1.0, -1.0)
VOLTS = 3.7 + 0.1 * FLOW + 1e-4 * np.cumsum(FLOW)
BEGIN = datetime(2024, 2, 28, 23, 50, 0, 125000)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


def frame(name: str, times: object) -> pd.DataFrame:
    return pd.DataFrame({name: times, "Current (A)": FLOW, "Voltage (V)": VOLTS})


@pytest.mark.parametrize("name", ["Timestamp", "time", "Date/Time", "Datum/Zeit"])
@pytest.mark.parametrize(
    "form", ["%Y-%m-%d %H:%M:%S,%f", "%Y-%m-%dT%H:%M:%S,%f", "%d.%m.%Y %H:%M:%S,%f", "%Y/%m/%d %H:%M:%S:%f"]
)
def test_a_fraction_of_a_second_behind_a_comma(name: str, form: str, bench: wb.Bench, tmp_path: Path) -> None:
    texts = [(BEGIN + timedelta(seconds=t)).strftime(form)[:-3] for t in TIMES]
    frame(name, texts).to_csv(tmp_path / "own.csv", index=False, sep=";")
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge")
    assert report.status == "stored", report.why
    kept = bench.measurements.time_series(str(report.measurement_id))
    assert kept["Time [s]"].to_numpy() == pytest.approx(TIMES)
    start = bench.measurements.get(str(report.measurement_id)).start_time
    assert start is not None
    assert start.replace(tzinfo=None) == BEGIN


@pytest.mark.parametrize("name", ["time", "Timestamp", "Date"])
@pytest.mark.parametrize("form", ["%Y%m%d%H%M%S", "%Y%m%d%H%M"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_date_without_separators_is_never_a_number_of_seconds(
    name: str, form: str, ending: str, bench: wb.Bench, tmp_path: Path
) -> None:
    own = frame(name, [int((BEGIN + timedelta(seconds=t)).strftime(form)) for t in TIMES])
    path = tmp_path / f"own.{ending}"
    if ending == "csv":
        own.to_csv(path, index=False)
    else:
        own.to_parquet(path)
    (report,) = bench.ingest(path, sign="charge")
    assert report.status == "refused"
    assert f"'{name}' are dates and times without separators" in report.why
    assert "Write them as '2024-02-28 23:50:00'" in report.why


def test_moments_in_milliseconds_are_no_dates(bench: wb.Bench, tmp_path: Path) -> None:
    frame("Timestamp", (1.709e12 + 1e3 * TIMES).astype(np.int64)).to_csv(tmp_path / "own.csv", index=False)
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge")
    kept = bench.measurements.time_series(str(report.measurement_id))
    assert kept["Time [s]"].to_numpy() == pytest.approx(TIMES)


def test_rows_in_no_order_are_refused(bench: wb.Bench, tmp_path: Path) -> None:
    own = frame("Time (s)", TIMES)
    own.sample(frac=1, random_state=7).to_csv(tmp_path / "own.csv", index=False)
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge")
    assert report.status == "refused"
    assert "the rows are not in the order of their times. Sort them by time" in report.why


def test_rows_from_the_newest_on_are_refused_for_that_alone(bench: wb.Bench, tmp_path: Path) -> None:
    frame("Time (s)", TIMES).iloc[::-1].to_csv(tmp_path / "own.csv", index=False)
    (report,) = bench.ingest(tmp_path / "own.csv")
    assert report.status == "refused"
    assert "newest row comes first" in report.why
    assert "sign" not in report.why


@pytest.mark.parametrize("length", [2, 3, 5])
@pytest.mark.parametrize("begins", [0.0, 10.0])
def test_short_times_of_steps_are_in_order(length: int, begins: float, bench: wb.Bench, tmp_path: Path) -> None:
    within = begins + 10.0 * (np.arange(N) % length)
    frame("Time (s)", within).to_csv(tmp_path / "own.csv", index=False)
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge")
    assert report.status == "stored"


@pytest.mark.parametrize("written", [0.0, "1.49901E+12", "02.07.2017"], ids=["zero", "rounded by Excel", "a day"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_time_that_stands_still_is_a_warning(
    written: float | str, ending: str, bench: wb.Bench, tmp_path: Path
) -> None:
    own = frame("Time (s)" if written == 0.0 else "Date", [written] * N)
    path = tmp_path / f"own.{ending}"
    own.to_csv(path, index=False) if ending == "csv" else own.to_parquet(path, index=False)
    (report,) = bench.ingest(path, sign="charge")
    (said,) = [text for text in report.odd if "stands still" in text]
    assert "all 240 samples have the same time" in said
    assert "If another column is the time" in said


def test_a_test_that_has_just_begun_may_have_one_time(bench: wb.Bench, tmp_path: Path) -> None:
    frame("Time (s)", 0.0).head(2).to_csv(tmp_path / "own.csv", index=False)
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge")
    assert not [text for text in report.odd if "stands still" in text]


@pytest.mark.parametrize("unit", ["", " (s)"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_clock_that_stands_still_beside_a_time_is_said(
    unit: str, ending: str, bench: wb.Bench, tmp_path: Path
) -> None:
    own = frame(f"Test time{unit}", TIMES).assign(DateTime="2017-07-02 15:40:00")
    path = tmp_path / f"own.{ending}"
    own.to_csv(path, index=False) if ending == "csv" else own.to_parquet(path, index=False)
    (report,) = bench.ingest(path, sign="charge")
    (said,) = [text for text in report.odd if "DateTime" in text and "stand still" in text]
    assert "the start of the test" in said


def test_a_day_alone_beside_a_time_is_no_warning(bench: wb.Bench, tmp_path: Path) -> None:
    frame("Test time (s)", TIMES).assign(Date="2017-07-02").to_csv(tmp_path / "own.csv", index=False)
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge")
    assert not report.odd


@pytest.mark.parametrize("form", ["05:00.0", "300.0"], ids=["minutes and seconds", "seconds"])
def test_a_time_without_its_hours_beside_a_clock_says_what_to_map(
    form: str, bench: wb.Bench, tmp_path: Path
) -> None:
    hourless = [f"{t // 60:02.0f}:{t % 60:04.1f}" if ":" in form else f"{t:.1f}" for t in 3 * TIMES % 3600]
    own = frame("Test time", hourless).assign(Date=[f"{BEGIN + timedelta(seconds=3 * t):%F %T}" for t in TIMES])
    own.to_csv(tmp_path / "own.csv", index=False)
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge")
    (said,) = [text for text in report.odd if "go on. A spreadsheet" in text]
    assert said.startswith("'Test time' falls once")
    (report,) = bench.ingest(tmp_path / "own.csv", sign="charge", column_map={"Date": "Time [s]"})
    kept = bench.measurements.time_series(str(report.measurement_id))
    assert kept["Time [s]"].to_numpy() == pytest.approx(3 * TIMES, abs=1.0)


def test_parts_that_overlap_say_what_to_do(bench: wb.Bench, tmp_path: Path) -> None:
    whole = frame("Time (s)", TIMES).assign(Date=[f"{BEGIN + timedelta(seconds=t):%F %T}" for t in TIMES])
    whole.head(150).to_csv(tmp_path / "c1_age_1.csv", index=False)
    whole.tail(150).to_csv(tmp_path / "c1_age_2.csv", index=False)
    (report,) = bench.ingest(tmp_path, sign="charge", name_rule="{cell}_{test}_{part}")
    (said,) = [text for text in report.odd if "'c1_age_2.csv' began 590 s before 'c1_age_1.csv' ended" in text]
    assert "If both hold the same samples, these count twice: remove them" in said
