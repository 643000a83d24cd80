"""What spares a look at each cell of a text gives what the look at each cell gives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from workbench.readers import read
from workbench.readers.file import line_ends
from workbench.readers.file.source import look
from workbench.readers.formats import by_blanks
from workbench.readers.table import text_layout

CELLS = (
    *(
        "1",
        "-2.5",
        "3,25",
        "1,234",
        "1.234",
        "2.500",
        "0,125",
        "100",
        ".5",
        "1e-3",
        "",
        " ",
        " 7",
        "x",
        "12:30:05",
    ),
    *('"4,5"', "1.2.3", "+", "e5", "5.", "-"),
)


def _texts() -> list[str]:
    chance = np.random.default_rng(8)
    made = []
    for number in range(36):
        mark = text_layout.DELIMITERS[number % 4]
        usual = chance.choice(CELLS, 3).tolist()
        rows = ["Time [s],Voltage [mV],Current [A],Note".replace(",", mark)]
        for place in range(int(chance.integers(290, 420))):
            odd = chance.random() < (0.0, 0.002, 0.2)[number % 3]
            cells = chance.choice(CELLS, 4).tolist() if odd else [str(place), *usual]
            rows.append(mark.join(cells))
        made.append("\n".join(rows) + "\n")
    return made


def test_a_layout_is_the_same_whether_all_rows_are_looked_at_or_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in _texts():
        (path := tmp_path / "test.csv").write_text(text)
        with monkeypatch.context() as patched:
            header = text_layout.header_lines(look(path))[0]
            fast = _layout(look(path), header)
            patched.setattr(text_layout, "_show_marks", lambda *_: False)
            assert _layout(look(path), header) == fast, text[:300]


@pytest.mark.parametrize("mark", [".", ","])
def test_most_layouts_need_the_first_rows_alone(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "1.5;3.71\n".replace(".", mark) * 2000
    (path := tmp_path / "test.csv").write_text(f"Time [s];Voltage [V]\n{rows}")
    head = look(path)
    marks = text_layout.decimal_marks
    monkeypatch.setattr(
        text_layout,
        "decimal_marks",
        lambda sample, *more: pytest.fail("all rows") if len(sample) > 300 else marks(sample, *more),
    )
    assert text_layout.lay_out(head, text_layout.header_lines(head)[0]).decimal == mark


def _layout(head: text_layout.Head, header: text_layout.HeaderLine) -> object:
    try:
        return text_layout.lay_out(head, header)
    except text_layout.FileRefused as refused:
        return str(refused)


def test_header_lines_are_the_same_without_the_pattern_for_rows_of_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_layout, "_SAMPLE", 10_000)  # both look at all lines
    matched = 0
    for text in _texts():
        (path := tmp_path / "test.csv").write_text(text)
        fast = text_layout.header_lines(look(path))
        patterns = text_layout._ROWS.values()
        rows = {
            place for place, line in enumerate(text.splitlines()) if any(one.fullmatch(line) for one in patterns)
        }
        matched += len(rows)
        with monkeypatch.context() as patched:
            patched.setattr(text_layout, "_ROWS", dict.fromkeys(text_layout.DELIMITERS, re.compile("(?!)")))
            slow = text_layout.header_lines(look(path))
        # A row of numbers that is parted at its decimal commas instead holds no name, and needs no comparison.
        named = [[vars(line) for line in found if line.line not in rows] for found in (fast, slow)]
        assert named[0] == named[1] != []
    assert matched > 300


def test_rows_of_numbers_and_clocks_are_not_taken_for_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that begins with a clock may be a header of fields between blanks; each was compared with those below."""
    looked: list[int] = []
    monkeypatch.setattr(by_blanks, "_width", lambda rows, *, commas: looked.append(len(rows)) or 0)
    path = tmp_path / "cell.csv"
    rows = "".join(f"2024-03-01 10:00:{s:02d},{s},CC Chg,{3.6 + s / 1000:.4f},1.0\n" for s in range(60))
    path.write_text(f"Date,Time (s),State,Voltage (V),Current (A)\n{rows}")
    assert sum(batch.n for batch in read(path, sign="charge").batches) == 60
    assert not looked


def test_lines_are_cut_where_the_pattern_cuts_them() -> None:
    chance = np.random.default_rng(2)
    for _ in range(500):
        text = "".join(chance.choice(["a", "\r", "\n", "\r\n", "\r\r\n"], 12))
        assert line_ends.split_lines(text) == line_ends._END.split(text), text
