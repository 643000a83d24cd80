"""Tests below each other in one text, with the same header: each is a test of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.errors import FileRefused
from workbench.readers import SeveralTests, read
from workbench.table import concat

N = 60
T = 10.0 * np.arange(N)
FLOW = np.where(np.arange(N) % 20 < 10, 0.0, 2.0)
VOLTS = 3.6 + 0.001 * np.cumsum(FLOW) + 0.05 * FLOW
HEAD = "Time (s),Voltage (V),Current (A)"


def rows(size: float = 1.0, start: float = 0.0) -> str:
    return "".join(f"{t + start:.1f},{v:.4f},{size * i:.3f}\n" for t, v, i in zip(T, VOLTS, FLOW, strict=True))


def written(folder: Path, text: str) -> Path:
    path = folder / "both.csv"
    path.write_text(text)
    return path


def names(path: Path) -> tuple[str, ...]:
    with pytest.raises(SeveralTests) as found:
        read(path)
    return found.value.tests


def flow_of(path: Path, test: str) -> np.ndarray:
    reading = read(path, test=test)
    table = concat(list(reading.batches))
    assert table["Time [s]"].floats() == pytest.approx(T)
    assert not [note for note in reading.notes if note.level == "odd"]
    return -table["Current [A]"].floats()


@pytest.mark.parametrize("between", ["", "\n", "\n\nExported by a program\n"])
@pytest.mark.parametrize("units", ["", "s,V,A\n"])
def test_a_time_that_starts_anew_below_the_same_header_is_another_test(
    between: str, units: str, tmp_path: Path
) -> None:
    head = f"{HEAD}\n" if not units else "Time,Voltage,Current\n" + units
    path = written(tmp_path, f"{head}{rows()}{between}{head}{rows(0.5)}{between}{head}{rows(0.25)}")
    assert names(path) == ("/1", "/2", "/3")
    for test, size in (("/1", 1.0), ("/2", 0.5), ("/3", 0.25)):
        assert flow_of(path, test) == pytest.approx(size * FLOW)
    with pytest.raises(FileRefused, match="it has no test '/4'"):
        read(path, test="/4")


def test_the_cells_that_titles_name_are_the_cells(tmp_path: Path) -> None:
    path = written(tmp_path, f"Cell: A1\n{HEAD}\n{rows()}\nCell: B7\nOperator: x\n{HEAD}\n{rows(0.5)}")
    assert names(path) == ("A1", "B7")
    assert flow_of(path, "B7") == pytest.approx(0.5 * FLOW)
    bench = wb.open(tmp_path / "lab.db")
    report = bench.ingest(path)
    assert [file.status for file in report] == ["stored", "stored"]
    passed = [
        float(bench.measurements.cycles(str(file.measurement_id))["Charge capacity [A.h]"].sum())
        for file in report
    ]
    whole = float(np.sum((FLOW[1:] + FLOW[:-1]) / 2 * 10) / 3600)
    assert passed == pytest.approx([whole, 0.5 * whole], rel=1e-3)
    bench.close()


def test_clocks_of_another_cell_below_do_not_spoil_the_dates(tmp_path: Path) -> None:
    def dated(day: int) -> str:
        moments = pd.Timestamp(f"2024-05-{day}") + pd.to_timedelta(T, "s")
        frame = pd.DataFrame({"Date": moments.strftime("%Y-%m-%d %H:%M:%S"), "V": VOLTS, "I": FLOW})
        return frame.to_csv(index=False)

    path = written(tmp_path, f"Cell: A1\n{dated(13)}\nCell: B7\n{dated(15)}")
    assert names(path) == ("A1", "B7")
    assert flow_of(path, "A1") == pytest.approx(FLOW)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}\n{rows()}{HEAD}\n{rows(start=600)}",
        f"{HEAD}\nCycle 1\n{rows()}\nCycle 2\n{HEAD}\n{rows()}",
        f"Cell: A1\n{HEAD}\n{rows()}Cell: A1\n{HEAD}\n{rows(start=600)}",
    ],
)
def test_a_header_that_comes_again_within_a_test_is_no_other_test(text: str, tmp_path: Path) -> None:
    assert concat(list(read(written(tmp_path, text)).batches)).n == 2 * N


def test_cycles_that_go_on_below_the_header_are_one_test(tmp_path: Path) -> None:
    text = "".join(
        f"Cycle,{HEAD}\n" + "".join(f"{cycle},{line}\n" for line in rows().splitlines()) for cycle in (1, 2, 3)
    )
    assert concat(list(read(written(tmp_path, text)).batches)).n == 3 * N
