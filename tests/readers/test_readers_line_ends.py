"""Text whose lines end in other ways than most: all samples are read, and messages name the lines of the file."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from workbench.readers import limits, read
from workbench.readers.file import source
from workbench.readers.file.line_ends import PlainLineEnds, split_lines
from workbench.table import Table, concat

N = 400
T = 10.0 * np.arange(N)
FLOW = np.where(np.arange(N) // 50 % 2 == 0, -1.0, 1.0)
VOLTS = 3.5 - 0.001 * np.cumsum(FLOW)
ABOVE = ["Cell: A1", "Operator: X", "", "Nominal capacity: 1 Ah"]
HEAD = "Time [s],Current [A],Voltage [V]"
ROWS = [f"{t:.1f},{i:.4f},{v:.5f}" for t, i, v in zip(T, FLOW, VOLTS, strict=True)]
ENDS = ["\n", "\r\n", "\r", "\r\r\n"]


def samples(folder: Path, data: bytes) -> Table:
    path = folder / "file.csv"
    path.write_bytes(data)
    return concat(list(read(path, sign="discharge").batches))


def is_whole(table: Table) -> bool:
    return table.n == N and all(
        np.allclose(table[name].floats(), values)
        for name, values in (("Time [s]", T), ("Current [A]", FLOW), ("Voltage [V]", VOLTS))
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
@pytest.mark.parametrize("of_rows", ENDS)
@pytest.mark.parametrize("above", ENDS)
def test_no_row_is_lost_whatever_ends_the_lines(above: str, of_rows: str, encoding: str, tmp_path: Path) -> None:
    top = "".join(line + above for line in [*ABOVE, "Room: 25 °C"])
    rows = of_rows.join([HEAD, *ROWS, ""])
    assert is_whole(samples(tmp_path, (top + rows).encode(encoding)))
    units = of_rows.join(["Time,Current,Voltage", "s,A,V", *ROWS, ""])
    assert is_whole(samples(tmp_path, (top + units).encode(encoding)))


@pytest.mark.parametrize("block", [1, 2, 3, 7])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_line_end_that_two_blocks_share_is_one(
    encoding: str, end: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_BLOCK", block)
    monkeypatch.setattr(limits, "HEAD_BYTES", 512)
    assert is_whole(samples(tmp_path, end.join([*ABOVE, HEAD, *ROWS, ""]).encode(encoding)))


def test_a_comment_with_a_return_in_it_costs_no_row(tmp_path: Path) -> None:
    text = "Comment: a\rb\r\n" + "\r\n".join([*ABOVE, HEAD, *ROWS, ""])
    assert is_whole(samples(tmp_path, text.encode()))


@pytest.mark.parametrize("end", ENDS)
def test_messages_name_the_lines_of_the_file(end: str, tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    broken = [*ROWS[:249], "2490.0,x,3.5", *ROWS[250:]]
    path.write_bytes(end.join([*ABOVE, HEAD, *broken[:200], HEAD, *broken[200:], ""]).encode())
    reading = read(path, sign="discharge")
    assert concat(list(reading.batches)).n == N
    said = {note.code: note.message for note in reading.notes}
    assert "(line 206)" in said["header_repeated"]
    assert "in line 256" in said["unreadable_values"]


def test_blocks_are_cut_into_the_lines_of_the_whole_text() -> None:
    random_ = random.Random(1)
    for _ in range(3000):
        text = "".join(random_.choice("\r\r\na") for _ in range(random_.randrange(1, 16)))
        ends, made, place = PlainLineEnds(), b"", 0
        while place < len(text):
            size = random_.randrange(1, 5)
            made += ends.feed(text[place : place + size].encode(), ended=False)
            place += size
        made += ends.feed(b"", ended=True)
        assert made.decode().replace("\r\n", "\n").split("\n") == split_lines(text), repr(text)
        assert b"\r" not in made.replace(b"\r\n", b"")
