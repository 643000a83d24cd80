"""The next rows of a text are parsed on a thread while those before them are worked on, and nothing else changes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from workbench.errors import TooLarge
from workbench.readers import limits, read
from workbench.readers.table import plain_rows, rows_ahead
from workbench.table import Table

pytestmark = pytest.mark.skipif(plain_rows.PARSER is None, reason="no C compiler was there at the installation")
ROWS = 60
HEADER = "Time [s],Current [A],Voltage [V],Step name"


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of ten batches, so long that not all of it is read at once."""
    monkeypatch.setattr(limits, "CHUNK_ROWS", ROWS)
    monkeypatch.setattr(plain_rows, "_LEAST", 256)
    monkeypatch.setattr("workbench.readers.file.source._BLOCK", 1024)
    path = tmp_path / "test.csv"
    path.write_text("\n".join([HEADER, *lines()]) + "\n")
    return path


def lines() -> list[str]:
    current = [1.0 if n // 50 % 2 else -1.0 for n in range(10 * ROWS)]
    return [f"{n},{flow},{3.5 + n / 7000!r},{'DChg' if flow > 0 else 'Chg'}" for n, flow in enumerate(current)]


def is_parsed_aside() -> bool:
    return any(thread.name == "workbench-rows" for thread in threading.enumerate())


def same(one: list[Table], other: list[Table]) -> bool:
    return [(table.n, {name: table[name].tolist() for name in table}) for table in one] == [
        (table.n, {name: table[name].tolist() for name in table}) for table in other
    ]


@pytest.mark.parametrize("one_pass", [True, False])
def test_the_batches_are_those_of_one_thread(one_pass: bool, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = set[str]()
    batch = plain_rows.PlainRows.batch

    def seen(self: plain_rows.PlainRows, rows: int) -> object:
        parsed.add(threading.current_thread().name)
        return batch(self, rows)

    monkeypatch.setattr(plain_rows.PlainRows, "batch", seen)
    ahead = [*read(text, one_pass=one_pass, sign="discharge").batches]
    assert parsed == {"MainThread", "workbench-rows"}
    parsed.clear()
    monkeypatch.setattr(rows_ahead, "MOST_BYTES", 0)
    alone = [*read(text, one_pass=one_pass, sign="discharge").batches]
    assert parsed == {"MainThread"}
    assert [table.n for table in ahead] == [ROWS] * 10
    assert same(ahead, alone)


def test_a_batch_is_given_before_the_next_one_is_parsed(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store can begin with its samples."""
    monkeypatch.setattr(rows_ahead, "MOST_BYTES", 0)
    made = list[int]()
    batch = plain_rows.PlainRows.batch

    def counted(self: plain_rows.PlainRows, rows: int) -> object:
        made.append(rows)
        return batch(self, rows)

    monkeypatch.setattr(plain_rows.PlainRows, "batch", counted)
    batches = iter(read(text, one_pass=True, sign="discharge").batches)
    for number in (1, 2, 3):
        next(batches)
        assert len(made) == number


@pytest.mark.parametrize("place", [ROWS - 1, ROWS, 3 * ROWS + 5, 10 * ROWS - 1])
def test_text_that_is_not_plain_goes_to_pandas_where_it_begins(
    place: int, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = lines()
    rows[place] = rows[place].replace("Chg", '"Chg"') if "DChg" not in rows[place] else rows[place] + ' "x"'
    text.write_text("\n".join([HEADER, *rows]))
    ahead = [*read(text).batches]
    monkeypatch.setattr(plain_rows, "PARSER", None)
    assert same(ahead, [*read(text).batches])


@pytest.mark.parametrize("left", [0, 1, 20])
@pytest.mark.parametrize("one_pass", [True, False])
def test_a_last_line_that_is_cut_is_left_out(left: int, one_pass: bool, text: Path) -> None:
    """Also where it is the only one of its batch."""
    rows = lines()[: 3 * ROWS + left]
    text.write_text("\n".join([HEADER, *rows, f"{len(rows)},-1.0"]))
    reading = read(text, one_pass=one_pass, sign="discharge")
    assert sum(table.n for table in reading.batches) == len(rows)
    assert [note.code for note in reading.notes if note.code == "cut_short"] == ["cut_short"]


def test_blank_lines_at_the_end_are_no_batch(text: Path) -> None:
    text.write_text("\n".join([HEADER, *lines()]) + "\n" * 3000)
    reading = read(text, one_pass=True, sign="discharge")
    assert [table.n for table in reading.batches] == [ROWS] * 10
    assert not [note for note in reading.notes if note.level == "odd"]


def test_what_stops_the_reading_stops_it_here(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = lines()
    rows[5 * ROWS] = rows[5 * ROWS].replace("Chg", "Chg" * 3000)
    text.write_text("\n".join([HEADER, *rows]))
    monkeypatch.setattr(limits, "LONGEST_LINE", 4096)
    batches = iter(read(text, one_pass=True, sign="discharge").batches)
    assert [next(batches).n for _ in range(4)] == [ROWS] * 4
    with pytest.raises(TooLarge, match="a line of more than 4 KiB"):
        list(batches)
    assert not is_parsed_aside()


def test_a_reading_that_ends_early_leaves_no_thread(text: Path) -> None:
    batches = read(text, one_pass=True, sign="discharge").batches
    next(iter(batches))
    batches.close()  # type: ignore[attr-defined]  # they are a generator
    assert not is_parsed_aside()


def test_without_threads_it_is_read_all_the_same(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [*read(text, one_pass=True, sign="discharge").batches]

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert same([*read(text, one_pass=True, sign="discharge").batches], wanted)
