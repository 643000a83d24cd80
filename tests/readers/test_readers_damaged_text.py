"""Text with bytes that a power failure left, headers that are units alone, and curves side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.errors import FileRefused
from workbench.readers import Reading, limits, read
from workbench.readers.file import source
from workbench.table import Table, concat

N = 60
T = 10.0 * np.arange(N)
FLOW = np.where(np.arange(N) % 20 < 10, 0.0, 2.0)
VOLTS = 3.6 + 0.001 * np.cumsum(FLOW) + 0.05 * FLOW
ROWS = [f"{t:.1f},{v:.4f},{i:.3f}\n" for t, v, i in zip(T, VOLTS, FLOW, strict=True)]
HEAD = "Time (s),Voltage (V),Current (A)\n"


def got(folder: Path, data: bytes) -> tuple[Reading, Table]:
    path = folder / "file.csv"
    path.write_bytes(data)
    reading = read(path)
    return reading, concat(list(reading.batches))


def holds(table: Table, times: np.ndarray = T) -> None:
    assert table["Time [s]"].floats() == pytest.approx(times)
    assert table["Current [A]"].floats() == pytest.approx(-FLOW)
    assert table["Voltage [V]"].floats() == pytest.approx(VOLTS, abs=1e-4)


@pytest.mark.parametrize("place", [30, N])
@pytest.mark.parametrize("size", [8, 300, 4096, 3 << 20])
@pytest.mark.parametrize("long", [False, True])
def test_bytes_that_a_power_failure_left_are_left_out(place: int, size: int, long: bool, tmp_path: Path) -> None:
    above = (
        "".join(f"Note {number}: a line above the header of the table\n" for number in range(3)) if long else ""
    )
    text = above + HEAD + "".join(ROWS[:place])
    reading, table = got(tmp_path, text.encode() + bytes(size) + "".join(ROWS[place:]).encode())
    holds(table)
    (note,) = [note for note in reading.notes if note.level == "odd"]
    assert note.code == "empty_bytes"
    assert "without content" in note.message


@pytest.mark.parametrize("block", [1, 7, 1 << 18])
def test_letters_of_several_bytes_and_bytes_that_are_none(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_BLOCK", block)
    monkeypatch.setattr(limits, "HEAD_BYTES", 512)
    # The last is latin-1, as where a program adds to a file of another one; the second ends within a letter.
    words = ["放电".encode(), "放".encode()[:2], "a mark \ufffd".encode(), "25 °C".encode("latin-1")]
    notes = [words[0]] * (N - 3) + words[1:]
    rows = b"".join(
        row.encode().rstrip(b"\n") + b"," + note + b"\n" for row, note in zip(ROWS, notes, strict=True)
    )
    reading, table = got(tmp_path, HEAD.encode().rstrip(b"\n") + b",Note\n" + rows)
    holds(table)
    assert table["Note"].tolist()[-4:] == [note.decode("utf-8", "replace") for note in words]
    (warning,) = [note.message for note in reading.notes if note.code == "unread_letters"]
    assert warning.startswith(
        "2 letters of the file are not written in utf-8, as its beginning is, and kept as '\ufffd'"
    )
    assert "(lines 59, 60, 61)" in warning


def test_marks_that_a_file_has_for_lost_letters_are_not_warned_of(tmp_path: Path) -> None:
    rows = "".join(row.rstrip("\n") + ",25 \ufffdC\n" for row in ROWS)
    for encoding in ("utf-8", "utf-8-sig"):
        reading, table = got(tmp_path, (HEAD.rstrip("\n") + ",Note\n" + rows).encode(encoding))
        holds(table)
        assert [note for note in reading.notes if note.level == "odd"] == []


def test_a_letter_of_another_encoding_after_the_head_is_warned_of(tmp_path: Path) -> None:
    rows = [row.rstrip("\n").encode() + b"," + b"x" * 8000 + b"\n" for row in ROWS]
    rows[50] = ROWS[50].rstrip("\n").encode() + b",25\xb0C\n"
    reading, table = got(tmp_path, HEAD.rstrip("\n").encode() + b",Note\n" + b"".join(rows))
    holds(table)
    (warning,) = [note.message for note in reading.notes if note.level == "odd"]
    assert "1 letter of the file is not written in utf-8" in warning
    assert "(line 52)" in warning


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize("block", [7, 1 << 18])
def test_a_file_that_ends_within_a_letter_keeps_its_last_row(
    encoding: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_BLOCK", block)
    rows = "".join(row.rstrip("\n") + ",放电\n" for row in ROWS)
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    data = (mark + HEAD.rstrip("\n") + ",Note\n" + rows).encode(encoding)
    cut = data[: -len("\n".encode(encoding)) - 1]  # copied while it was written, or from a full disk
    _, table = got(tmp_path, cut)
    holds(table)
    assert table["Note"].tolist()[-2:] == ["放电", "放�"]


@pytest.mark.parametrize("place", [0, N - 1])
def test_empty_bytes_within_a_letter_leave_it_whole(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HEAD_BYTES", 512)
    rows = [row.rstrip("\n").encode() + ",放电\n".encode() for row in ROWS]
    letter = "放".encode()
    rows[place] = rows[place].replace(letter, letter[:1] + bytes(8) + letter[1:])
    _, table = got(tmp_path, HEAD.rstrip("\n").encode() + b",Note\n" + b"".join(rows))
    holds(table)
    assert set(table["Note"].tolist()) == {"放电"}


def test_bytes_of_zero_within_binary_data_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="is a binary file"):
        got(tmp_path, b"abc\0def\0\0\1\2" * 40)


@pytest.mark.parametrize(
    ("header", "times", "of_current"),
    [("s,V,A", 1.0, 1.0), ("s,V,mA", 1.0, 1e3), ("min,V,µA", 1 / 60, 1e6), ("h,mV,uA", 1 / 3600, 1e6)],
)
def test_headers_that_are_units_alone_mean_their_quantities(
    header: str, times: float, of_current: float, tmp_path: Path
) -> None:
    of_voltage = 1e3 if "mV" in header else 1.0
    rows = "".join(
        f"{times * t:.8f},{of_voltage * v:.4f},{of_current * i:.3f}\n"
        for t, v, i in zip(T, VOLTS, FLOW, strict=True)
    )
    reading, table = got(tmp_path, f"{header}\n{rows}".encode())
    holds(table)
    assert not {note.code for note in reading.notes} & {"unit", "time_unit"}


def test_one_letter_among_names_is_no_time(tmp_path: Path) -> None:
    rows = "".join(f"{k // 10},{row}" for k, row in enumerate(ROWS))
    _, table = got(tmp_path, f"S,{HEAD}{rows}".encode())
    holds(table)
    with pytest.raises(FileRefused, match="no column that is known as time"):
        got(tmp_path, f"s,Voltage (V),Current (A)\n{''.join(ROWS)}".encode())


@pytest.mark.parametrize("names", ["t_rel,U_soll,I_ist", "a,b,c"])
def test_units_below_names_do_not_say_which_column_is_which(names: str, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="no column that is known as"):
        got(tmp_path, f"{names}\ns,V,A\n{''.join(ROWS)}".encode())


def test_two_columns_of_one_unit_are_not_guessed(tmp_path: Path) -> None:
    rows = "".join(f"{t},4.2,{v},{i}\n" for t, v, i in zip(T, VOLTS, FLOW, strict=True))
    with pytest.raises(FileRefused, match="no column that is known as"):
        got(tmp_path, f"s,V,mV,A\n{rows}".encode())


def test_units_below_the_dates_of_curves_mean_their_quantities(tmp_path: Path) -> None:
    dated = "Date and time measurement:,2024-05-13 10:00:00"
    rows = "".join(f"{t},{v:.4f},{t},{i}\n" for t, v, i in zip(T, VOLTS, FLOW, strict=True))
    text = f"Chronopotentiometry: CP,,CP i vs t,\n{dated},{dated}\ns,V,s,A\n{rows}"
    holds(got(tmp_path, text.encode("utf-16"))[1])


def test_a_unit_in_the_camel_case_of_a_name_counts(tmp_path: Path) -> None:
    rows = "".join(f"{t},{1e3 * v:.1f},{1e3 * i:.1f}\n" for t, v, i in zip(T, VOLTS, FLOW, strict=True))
    holds(got(tmp_path, f"time_s,voltageMv,currentMa\n{rows}".encode())[1])


def test_siemens_are_not_offered_as_seconds(tmp_path: Path) -> None:
    rows = "".join(f"{10.0 ** (4 - k / 5)},{0.5 + k / 100},{0.1 * k}\n" for k in range(30))
    with pytest.raises(FileRefused) as found:
        got(tmp_path, f"f (Hz),Y' (S),Y'' (S)\n{rows}".encode())
    assert '"Y\' (S)": "Time [s]"' not in str(found.value)


def test_spectra_side_by_side_are_refused_until_one_is_named(tmp_path: Path) -> None:
    frequency = np.logspace(4, -1, 30)
    z = 0.02 + 0.03 / (1 + 1j * frequency / 10)
    header = "f (Hz),Z' (Ohm),Z'' (Ohm)"
    rows = "".join(
        f"{f},{a.real},{a.imag},{f},{2 * a.real},{2 * a.imag}\n" for f, a in zip(frequency, z, strict=True)
    )
    with pytest.raises(FileRefused, match="holds 2 spectra side by side"):
        got(tmp_path, f"{header},{header}\n{rows}".encode())
    second = {"f (Hz) (2)": "Frequency [Hz]", "Z' (Ohm) (2)": "Z_Re [Ohm]", "Z'' (Ohm) (2)": "Z_Im [Ohm]"}
    table = concat(list(read(tmp_path / "file.csv", column_map=second).batches))
    assert table["Z_Re [Ohm]"].floats() == pytest.approx(2 * z.real)


def test_open_circuit_records_side_by_side_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"{t},{3.7 - t / 1e6},{t},{3.8 - t / 1e6}\n" for t in T)
    header = "Time (s),WE(1).Potential (V)"
    with pytest.raises(FileRefused, match="holds 2 tests side by side"):
        got(tmp_path, f"{header},{header}\n{rows}".encode())
