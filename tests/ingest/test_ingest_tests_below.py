"""Two tests below each other without a header between them: refused if that is certain, else both ways out are said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.ingest.report.report import FileReport


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


def one(cycles: int, amps: float) -> pd.DataFrame:
    """Cycles of rest, charge, discharge, at 10 s."""
    step = np.tile(np.repeat([1, 2, 3], 40), cycles)
    flow = np.choose(step - 1, [0.0, amps, -amps])
    n = len(step)
    return pd.DataFrame(
        {
            "Record": np.arange(1, n + 1),
            "Time (s)": 10.0 * np.arange(n),
            "Cycle": np.repeat(np.arange(1, cycles + 1), 120),
            "Step": step,
            "Current (A)": flow,
            "Voltage (V)": 3.5 + 0.05 * flow / amps + np.cumsum(flow) * 0.002 / amps,
        }
    )


def within(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The same with the time from the begin of each group."""
    return frame.assign(**{"Time (s)": frame["Time (s)"] - frame.groupby(by)["Time (s)"].transform("min")})


def stored(bench: wb.Bench, tmp_path: Path, frame: pd.DataFrame, repair: str = "") -> FileReport:
    path = tmp_path / "both.csv"
    frame.to_csv(path, index=False)
    (report,) = bench.ingest(path, sign="charge", repair=repair or ())
    return report


@pytest.mark.parametrize("cycles", [(3, 2), (1, 1), (2, 4), (1, 3)])
@pytest.mark.parametrize("has", [["Record", "Cycle", "Step"], ["Cycle", "Step"], ["Record"]])
def test_tests_below_each_other_are_refused(
    cycles: tuple[int, int], has: list[str], bench: wb.Bench, tmp_path: Path
) -> None:
    both = pd.concat([one(cycles[0], 1.0), one(cycles[1], 0.5)])
    both = both[[*has, "Time (s)", "Current (A)", "Voltage (V)"]]
    report = stored(bench, tmp_path, both)
    assert report.status == "refused"
    assert (
        f"seems to hold 2 tests below each other: at sample {120 * cycles[0]} the time begins anew" in report.why
    )
    assert 'repair="time"' in report.why
    again = stored(bench, tmp_path, both, repair="time")
    assert (again.status, again.rows) == ("stored", len(both))


@pytest.mark.parametrize("has", [[], ["Step"]])
def test_where_nothing_shows_it_both_ways_out_are_said(has: list[str], bench: wb.Bench, tmp_path: Path) -> None:
    both = pd.concat([one(2, 1.0), one(2, 0.5)])[[*has, "Time (s)", "Current (A)", "Voltage (V)"]]
    report = stored(bench, tmp_path, both)
    assert report.status == "stored"
    (said,) = [text for text in report.odd if text.startswith("Time falls once")]
    assert "put each test in a file of its own" in said
    assert 'repair="time" makes it go on' in said


@pytest.mark.parametrize("without", [[], ["Record"], ["Record", "Cycle"]])
@pytest.mark.parametrize("by", [["Cycle"], ["Cycle", "Step"]])
def test_a_time_of_cycles_or_steps_is_of_one_test(
    by: list[str], without: list[str], bench: wb.Bench, tmp_path: Path
) -> None:
    report = stored(bench, tmp_path, within(one(3, 1.0), by).drop(columns=without))
    assert report.status == "stored"
    assert any("it is the time of a step or a cycle" in text for text in report.odd)


def test_a_last_row_of_sums_is_not_a_test(bench: wb.Bench, tmp_path: Path) -> None:
    frame = one(2, 1.0)
    report = stored(bench, tmp_path, pd.concat([frame, frame.head(1)]))
    assert report.status == "stored"


def test_a_time_of_steps_that_rises_by_1_numbers_no_rows(bench: wb.Bench, tmp_path: Path) -> None:
    step = np.tile(np.repeat([1, 2, 3], 300), 2)
    flow = np.choose(step - 1, [0.0, 1.0, -1.0])
    frame = pd.DataFrame(
        {
            "Time (s)": np.tile(np.arange(900), 2),
            "t in step": np.tile(np.arange(300), 6),
            "Current (A)": flow,
            "Voltage (V)": 3.5 + 0.05 * flow + np.cumsum(flow) * 1e-4,
        }
    )
    assert stored(bench, tmp_path, frame).status == "stored"
