"""Long texts are parsed in blocks and in one pass, with the answers of all rows at once and of a pass before."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import FileRefused
from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.read import samples_file
from workbench.ingest.read.prepare import Prepared, prepare
from workbench.readers import LaterRows, read
from workbench.readers.file.source import LineStream
from workbench.readers.table import text_blocks
from workbench.readers.table.text_layout import header_lines
from workbench.table import Column, Table, concat

ROWS = 40
_HEAD = "time [s],current [A],voltage [V]"
_WORDS = ["", "N/A", "nan", "x"]
LATE: dict[str, list[str]] = {
    "whole": [str(n) for n in range(ROWS)],
    "late fraction": ["7"] * 30 + ["0.5"] * 10,
    "zeros, then fractions": ["0"] * 30 + ["0.1"] * 10,
    "a negative zero, then fractions": ["0"] * 10 + ["-0"] + ["0"] * 19 + ["0.1"] * 10,
    "a negative zero beside a gap, then fractions": ["0"] * 9 + ["", "-0"] + ["0"] * 19 + ["0.1"] * 10,
    "a wide number beside a gap, then fractions": ["", "9007199254740993"] + ["1"] * 28 + ["0.5"] * 10,
    "early fraction": ["0.30000000000000004"] + ["0"] * 39,
    "too wide for a float": ["9007199254740993"] * 30 + ["0.5"] * 10,
    "wider than 64 bits": ["1"] * 30 + ["36893488147419103232"] * 10,
    "unsigned, then negative": ["18446744073709551615"] * 30 + ["-1"] * 10,
    "the least": ["-9223372036854775808"] * 30 + ["1.5"] * 10,
    "late word": ["007"] * 30 + ["x"] * 10,
    "blank, then words": [""] * 30 + ["pause"] * 10,
    "blank, then numbers": [""] * 30 + ["3"] * 10,
    "truth": ["True"] * 20 + ["False"] * 20,
    "truth, then blank": ["True"] * 20 + [""] * 20,
    "truth, then numbers": ["True"] * 20 + ["1"] * 20,
    "words between": [_WORDS[n % 4] for n in range(ROWS)],
    "exponents": [f"{n}.5E-{n % 9}" for n in range(ROWS)],
}


def _text(columns: dict[str, list[str]]) -> str:
    rows = [
        ",".join([f"{n}", f"{1 - 2 * (n % 2)}.0", f"{3.5 - 0.1 * (1 - 2 * (n % 2)):.1f}", *cells])
        for n, cells in enumerate(zip(*columns.values(), strict=True))
    ]
    return "\n".join([",".join([_HEAD, *columns]), *rows]) + "\n"


def _bits(column: Column) -> tuple[object, ...]:
    valid = None if column.valid is None else column.valid.tolist()
    return column.kind, column.values.dtype.str, column.values.tobytes(), valid, column.words


def _all_bits(table: Table) -> dict[str, tuple[object, ...]]:
    return {name: _bits(column) for name, column in table.items()}


@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("size", [1, 7, 16])
def test_blocks_give_what_all_rows_at_once_give(
    name: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test.csv"
    path.write_text(_text({"x": LATE[name]}))
    for rows in (ROWS + 1, 15):
        monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", rows)
        monkeypatch.setattr(text_blocks, "ROWS", 10 * ROWS)
        whole = read(path)
        at_once = concat(list(whole.batches))
        monkeypatch.setattr(text_blocks, "ROWS", size)
        blocks = read(path)
        assert _all_bits(concat(list(blocks.batches))) == _all_bits(at_once)
        assert blocks.notes == whole.notes


@pytest.mark.parametrize("name", [name for name in LATE if "a negative zero" in name])
@pytest.mark.parametrize("size", [4, 12])
def test_a_negative_zero_keeps_its_sign_in_blocks(
    name: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test.csv"
    path.write_text(_text({"x": LATE[name]}))
    monkeypatch.setattr(text_blocks, "ROWS", size)
    values = concat(list(read(path).batches))["x"].values
    assert np.flatnonzero(np.signbit(values)).tolist() == [10]


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ([b"1,-0,2\n"], True),
        ([b"1,-", b"0\n"], True),
        ([b"1,-000\n"], True),
        ([b"-0.5,2022-05-18,-0E1,10-20\n"], False),
        ([b"1,-0", b".5\n"], True),  # what is not certain counts as one
    ],
)
def test_negative_zeros_are_found_across_blocks(blocks: list[bytes], found: bool) -> None:
    assert text_blocks.has_negative_zero(blocks) is found


def _prepared(path: Path) -> tuple[Prepared, list[tuple[str, dict[str, tuple[object, ...]]]]]:
    with io.BytesIO() as spool:
        made = prepare(path, ReadOptions(), spool)
        spool.seek(0)
        return made, [(name, _all_bits(table)) for name, table in samples_file.tables(spool)]


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of the lines above the rows of each pass over a text."""
    seen: list[int] = []
    begin = LineStream.__init__

    def counted(self: LineStream, head: object, skip: int, **more: object) -> None:
        seen.append(skip)
        begin(self, head, skip, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(LineStream, "__init__", counted)
    return seen


def test_a_long_text_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: list[int]) -> None:
    path = tmp_path / "test.csv"
    path.write_text(_text({"Step": LATE["whole"], "y": LATE["exponents"]}))
    short = _prepared(path)
    passes.clear()
    monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", 9)
    long = _prepared(path)
    assert len(passes) == 1
    assert long[0].content_hash == short[0].content_hash
    assert long[0].findings == short[0].findings


@pytest.mark.parametrize("name", LATE)
def test_one_pass_gives_what_a_pass_before_gives(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test.csv"
    path.write_text(_text({"x": LATE[name]}))
    monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", 9)
    once = _prepared(path)
    monkeypatch.setattr(
        "workbench.ingest.read.prepare.read", lambda *given, one_pass, **more: read(*given, **more)
    )
    assert _prepared(path) == once


def test_a_later_kind_is_seen_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "test.csv"
    path.write_text(_text({"x": LATE["late fraction"]}))
    monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", 9)
    reading = read(path, one_pass=True)
    with pytest.raises(LaterRows):
        list(reading.batches)
    assert {batch["x"].kind for batch in read(path).batches} == {"number"}


def test_a_direction_that_later_rows_decide_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first rows rest: only later ones show what a positive current means."""
    rows = [f"{n},0,3.5" for n in range(20)]
    rows += [f"{n},{1 - 2 * (n // 5 % 2)},{3.5 - 0.1 * (1 - 2 * (n // 5 % 2)):.1f}" for n in range(20, 40)]
    path = tmp_path / "test.csv"
    path.write_text("\n".join([_HEAD, *rows]) + "\n")
    monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", 9)
    reading = read(path, one_pass=True)
    assert concat(list(reading.batches))["Current [A]"].tolist()[20:30] == [1.0] * 5 + [-1.0] * 5
    assert "sign_from_voltage" in {note.code for note in reading.notes}


def test_a_long_text_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text(f"{_HEAD}\n")
    with pytest.raises(FileRefused, match="no rows below it"):
        read(path, one_pass=True)


def test_one_pass_searches_for_the_header_as_often_as_without(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text(_text({"x": LATE["whole"]}))
    searched = []
    for one_pass in (False, True):
        before = header_lines.cache_info().misses
        read(path, one_pass=one_pass)
        searched.append(header_lines.cache_info().misses - before)
    assert searched[0] == searched[1] > 0
