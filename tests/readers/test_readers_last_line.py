"""The last line of a text file: it is left out where it lacks fields or digits, and kept where it may be whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import FileRefused
from workbench.readers import limits, read
from workbench.readers.table.last_line import is_cut
from workbench.table import Table, concat

HEAD = "Time [s],Current [A],Voltage [V]"
ROWS = [f"{k}.0,1.0000,{4 - 0.001 * k:.5f}" for k in range(399)]
LAST = "399.0,1.0000,3.60100"


def samples(folder: Path, text: str) -> tuple[Table, list[str]]:
    path = folder / "file.csv"
    path.write_text(text)
    reading = read(path, sign="discharge")
    table = concat(list(reading.batches))
    return table, [note.code for note in reading.notes if note.level == "odd"]


@pytest.mark.parametrize("length", range(1, len(LAST)))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_last_line_that_was_cut_anywhere_is_left_out(end: str, length: int, tmp_path: Path) -> None:
    table, said = samples(tmp_path, end.join([HEAD, *ROWS, LAST[:length]]))
    assert table["Time [s]"].floats()[-1] == 398.0
    assert table.n == len(ROWS)
    assert said == ["cut_short"]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_a_whole_last_line_is_kept_with_and_without_a_line_end(end: str, tmp_path: Path) -> None:
    table, said = samples(tmp_path, "\n".join([HEAD, *ROWS, LAST]) + end)
    assert (table.n, said) == (400, [])
    assert table["Voltage [V]"].floats()[-1] == 3.601


@pytest.mark.parametrize("last", ["399.0,1.0000,3", "399.0,1.0000,3.6"])
def test_a_last_line_with_a_line_end_is_kept_with_fewer_decimals(last: str, tmp_path: Path) -> None:
    table, said = samples(tmp_path, "\n".join([HEAD, *ROWS, last, ""]))
    assert (table.n, said) == (400, [])


@pytest.mark.parametrize(
    ("above", "last", "cut"),
    [
        (["3.45", "3.50", "3.55"], "3.6", True),
        (["3.45", "3.50", "3.55"], "3.60", False),
        (["3.45", "3.50", "3.55"], "-", False),
        (["3.45", "3.50", "3.55"], "end", False),
        (["3.45", "3.51", "3.55"], "3.6", False),
        (["3.45", "3.5", "3.55"], "3", False),
        (["3.45", "3.50"], "3.6", False),
        (["3", "10", "20"], "2", False),
        (["1.0", "2.0", "2.5"], "2", True),
        ([".50", "-.25", ".10"], "-.", True),
        (["-3.50", "-3.55", "-3.40"], "-", False),
        (["1.50E-10", "1.25E-09", "1.75E-10"], "1.50E-1", True),
        (["1.50E-10", "1.25E-09", "1.75E-10"], "1.50E-10", False),
        (["1.50e-5", "1.25e-10", "1.75e-5"], "1.50e-5", False),
        (["02.01.2024 22:10", "02.01.2024 22:20", "02.01.2024 22:30"], "03.01.2024 0:00", False),
        (['"3.45"', '"3.50"', '"3.55"'], '"3.60"', False),
        (["", "3.50", "3.55", "3.45"], "3", False),
    ],
)
def test_only_numbers_of_a_fixed_number_of_decimals_show_that_digits_are_lost(
    above: list[str], last: str, cut: bool
) -> None:
    text = "\n".join(["t,x", *(f"1,{field}" for field in above), f"2,{last}"])
    assert is_cut(text.encode(), ",", 2) is cut
    assert not is_cut(f"{text}\n".encode(), ",", 2)


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("note", ['"c\nd"', '"c\n\n,d,\ne ""f"""', '"\n"'])
def test_a_last_row_whose_text_has_line_breaks_is_whole(note: str, end: str, tmp_path: Path) -> None:
    rows = [f"{row},ok" for row in ROWS]
    table, said = samples(tmp_path, "\n".join([f"{HEAD},Note", *rows, f"{LAST},{note}"]) + end)
    assert (table.n, said) == (400, [])
    assert table["Note"].tolist()[-1] == (note[1:-1].replace('""', '"').strip() or None)


def test_a_cut_line_below_a_text_with_line_breaks_is_left_out(tmp_path: Path) -> None:
    rows = [*(f"{row},ok" for row in ROWS[:-1]), f'{ROWS[-1]},"a\nb"']
    table, said = samples(tmp_path, "\n".join([f"{HEAD},Note", *rows, "399.0,1.0000"]))
    assert (table.n, said) == (399, ["cut_short"])


@pytest.mark.parametrize("last", [LAST, LAST[:-1], LAST[:-5]])
def test_fields_apart_by_blanks_lose_no_digits_either(last: str, tmp_path: Path) -> None:
    table, said = samples(tmp_path, "\n".join([HEAD, *ROWS, last]).replace(" [", "[").replace(",", "  "))
    assert (table.n, said) == ((400, []) if last == LAST else (399, ["cut_short"]))


@pytest.mark.parametrize("last", [LAST, LAST[:-1]])
def test_nested_lines_lose_no_digits_either(last: str, tmp_path: Path) -> None:
    header = (
        "Cycle ID,Cap_DChg(Ah)\n,Step ID,Step Name\n,,Record ID,Time(s),Current(A),Voltage(V)\n1,1.0\n,1,CC DChg\n"
    )
    text = header + "\n".join(f",,{k},{row}" for k, row in enumerate([*ROWS, last], 1))
    table, said = samples(tmp_path, text)
    assert (table.n, said) == ((400, []) if last == LAST else (399, ["cut_short"]))


def test_only_the_end_of_a_long_file_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHUNK_ROWS", 50)
    table, said = samples(tmp_path, "\n".join([HEAD, *ROWS * 5, "399.0,1.0000,3.6"]))
    assert (table.n, said) == (5 * 399, ["cut_short"])


THOUSANDS = [f'{n},"1,{n:03}.50",3.{n % 90 + 10}00,"2,{n:03}.50"' for n in range(60)]


@pytest.mark.parametrize("end", range(1, len(THOUSANDS[-1]) - 1))
def test_a_last_line_cut_between_quotes_or_after_them_is_left_out(end: int, tmp_path: Path) -> None:
    head = 'Time [s],Current [A],Voltage [V],"Discharge capacity [A.h]"'
    table, said = samples(tmp_path, "\n".join([head, *THOUSANDS[:-1], THOUSANDS[-1][:end]]))
    assert table.n == 59
    assert "cut_short" in said
    assert table["Discharge capacity [A.h]"].tolist()[-1] == 2058.5


def test_a_quote_that_opens_above_the_last_line_is_refused(tmp_path: Path) -> None:
    rows = [*ROWS[:5], f'{ROWS[5]},"a', *ROWS[6:]]
    with pytest.raises(FileRefused, match="cannot be cut into rows and columns"):
        samples(tmp_path, "\n".join([f"{HEAD},Note", *rows, LAST]))


@pytest.mark.parametrize("last", ["", "80,1.0", "80,1.0,"])
def test_a_cut_line_does_not_hide_the_direction_of_the_last_step(last: str, tmp_path: Path) -> None:
    rows = [f"{n},1.0,{3 + n / 1000:.4f}" for n in range(80)]
    path = tmp_path / "file.csv"
    path.write_text("\n".join([HEAD, *rows, last]))
    (table,) = read(path, sign="unsigned").batches
    assert (table.n, set(table["Current [A]"].tolist())) == (80, {-1.0})
