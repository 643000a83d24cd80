"""Columns of texts that look like numbers, and whole numbers of many digits: kept as the file writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.readers import LaterRows, limits, read
from workbench.table import Column, concat

N = 200
LONG = 2**53 + 1


@pytest.fixture(params=[N + 1, 150, 40], ids=["one batch", "two batches", "many batches"], autouse=True)
def rows_of_a_batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHUNK_ROWS", request.param)


def column(folder: Path, cells: list[str]) -> Column:
    """The column X of a test whose rows have these cells in it, read in one pass where that is possible."""
    path = folder / "file.csv"
    rows = [f"{k}.0,{-1.0 if k % 40 < 20 else 1.0},{3.5 + k % 40 / 100},{cell}" for k, cell in enumerate(cells)]
    path.write_text("\n".join(["Time [s],Current [A],Voltage [V],X", *rows, ""]))
    reading = read(path, sign="charge")
    made = concat(list(reading.batches))["X"]
    assert [note.code for note in reading.notes if note.level == "odd"] == []
    try:
        once = concat(list(read(path, sign="charge", one_pass=True).batches))["X"]
    except LaterRows:
        return made
    assert (once.kind, once.tolist()) == (made.kind, made.tolist())
    return made


@pytest.mark.parametrize("at", [1, 100, 180])
@pytest.mark.parametrize("first", ["000", "-0", "+7", "TRUE", "007 "])
def test_texts_are_kept_as_written_though_the_first_look_like_numbers(first: str, at: int, tmp_path: Path) -> None:
    made = column(tmp_path, [first] * at + ["A07"] * (N - at))
    assert made.kind == "text"
    assert made.tolist() == [first.strip()] * at + ["A07"] * (N - at)


@pytest.mark.parametrize("gaps", [[0], [7], [100], [199], [7, 160], range(60, 120)])
def test_long_whole_numbers_with_gaps_are_exact(gaps: list[int], tmp_path: Path) -> None:
    numbers = [None if k in gaps else (-1) ** k * (LONG + 2 * k) for k in range(N)]
    made = column(tmp_path, ["" if number is None else str(number) for number in numbers])
    assert (made.kind, made.tolist()) == ("integer", numbers)


def test_short_whole_numbers_with_gaps_stay_numbers(tmp_path: Path) -> None:
    made = column(tmp_path, ["" if k == 7 else str(k) for k in range(N)])
    assert (made.kind, made.tolist()[6:9]) == ("number", [6.0, None, 8.0])


@pytest.mark.parametrize("other", ["0.5", "1e17"])
@pytest.mark.parametrize("at", [3, 120, 190])
def test_long_whole_numbers_among_other_numbers_are_floats(other: str, at: int, tmp_path: Path) -> None:
    cells = [str(LONG + 2 * k) for k in range(N)]
    cells[1], cells[at] = "", other
    made = column(tmp_path, cells)
    assert made.kind == "number"
    assert made.tolist()[at] == float(other)
    assert made.tolist()[0] == float(LONG)
