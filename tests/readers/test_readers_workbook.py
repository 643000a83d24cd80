"""Workbooks: several sheets, series that go on in the next, impedance beside, dates and numbers of cells."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from support.workbooks import ARBIN, DAY, LONG, TIME, parts, samples, sheet_xml, workbook, write

from workbench.errors import FileRefused
from workbench.readers import read, recognise
from workbench.table import Table, concat


def table_of(path: Path, **how: object) -> Table:
    return concat(list(read(path, **how).batches))  # type: ignore[arg-type]


def codes(path: Path) -> set[str]:
    reading = read(path)
    list(reading.batches)
    return {note.code for note in reading.notes}


def test_a_sheet_is_read_to_the_last_bit_with_its_dates(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "test.xlsx",
        {"Info": [["TEST REPORT"], ["Channel", 7]], "Channel_7_1": [ARBIN, *samples(1, 20)]},
    )
    assert recognise(path) == "arbin"
    reading = read(path)
    table = concat(list(reading.batches))
    assert reading.start_time == datetime(2024, 5, 13, 0, 0, 1, tzinfo=UTC)
    assert table["Current [A]"].tolist() == [-1 / 3] * 20
    assert table["Charge capacity [A.h]"].tolist() == [n / 7000 for n in range(1, 21)]
    assert table["Voltage [V]"].tolist() == [3.6 + n / 300 for n in range(1, 21)]
    assert table["Step from cycler"].kind == "integer"


def test_sheets_that_go_on_are_one_series(tmp_path: Path) -> None:
    sheets = {
        "Channel_7_1": [ARBIN, *samples(1, 10)],
        "Statistics_7": [["Cycle_Index", "Charge_Capacity(Ah)"], [1, 0.5]],
        "Channel_7_2": [ARBIN, *samples(11, 10)],
    }
    path = workbook(tmp_path / "test.xlsx", sheets)
    assert table_of(path)["Time [s]"].floats() == pytest.approx(1.1 * np.arange(20))
    assert "sheets" not in codes(path)


@pytest.mark.parametrize("name", ["Cycle {}", "cyc_{}", "Zyklus {}", "循环{}"])
def test_a_sheet_for_each_cycle_is_one_series_if_time_goes_on(name: str, tmp_path: Path) -> None:
    sheets = {name.format(cycle): [ARBIN, *samples(1 + 10 * (cycle - 1), 10)] for cycle in (1, 2, 3)}
    path = workbook(tmp_path / "test.xlsx", sheets)
    assert table_of(path)["Time [s]"].floats() == pytest.approx(1.1 * np.arange(30))
    assert "sheets" not in codes(path)


@pytest.mark.parametrize("extra", [None, "Vmax_On_Cycle(V)"])
def test_statistics_of_the_cycler_are_no_other_series(extra: str | None, tmp_path: Path) -> None:
    statistics = [
        [*ARBIN, *([extra] if extra else [])],
        *([*row, *([4.2] if extra else [])] for row in samples(5, 30)),
    ]
    name = "Summary" if extra else "StatisticsByCycle-Chan_7"
    sheets = {"Channel_7_1": [ARBIN, *samples(1, 10)], name: statistics}
    path = workbook(tmp_path / "test.xlsx", sheets)
    assert table_of(path).n == 10
    assert "sheets" not in codes(path)
    assert table_of(workbook(tmp_path / "alone.xlsx", {name: statistics})).n == 30


def test_sheets_that_were_joined_are_several(tmp_path: Path) -> None:
    sheets = {
        "Channel_7_1": [ARBIN, *samples(1, 10)],
        "Channel_7_2": [ARBIN, *samples(11, 10)],
        "Channel_8_1": [ARBIN, *samples(1, 5)],
    }
    reading = read(workbook(tmp_path / "test.xlsx", sheets))
    (note,) = [note for note in reading.notes if note.code == "sheets"]
    assert note.message.startswith(
        "The sheets 'Channel_7_1' and 'Channel_7_2' were read as one series; 'Channel_8_1' holds a series too"
    )
    assert note.level == "odd", "what is not stored is a warning, not an assumption"


@pytest.mark.parametrize("names", [("Channel_7_1", "Channel_8_1"), ("Cell 1", "Cell 2"), ("A", "B")])
def test_sheets_of_other_cells_are_not_joined_and_can_be_chosen(names: tuple[str, str], tmp_path: Path) -> None:
    first, second = names
    sheets = {first: [ARBIN, *samples(1, 12)], second: [ARBIN, *samples(20, 10)]}
    path = workbook(tmp_path / "test.xlsx", sheets)
    assert table_of(path).n == 12
    assert "sheets" in codes(path)
    chosen = {f"{second}!Voltage(V)": "Voltage [V]"}
    assert table_of(path, column_map=chosen)["Voltage [V]"].tolist() == [3.6 + n / 300 for n in range(20, 30)]
    with pytest.raises(FileRefused, match="no column 'Channel_9_1!Voltage"):
        read(path, column_map={"Channel_9_1!Voltage(V)": "Voltage [V]"})


def test_a_series_that_starts_anew_in_the_next_sheet_is_another(tmp_path: Path) -> None:
    sheets = {"Channel_7_1": [ARBIN, *samples(1, 12)], "Channel_7_2": [ARBIN, *samples(1, 10)]}
    assert table_of(workbook(tmp_path / "test.xlsx", sheets)).n == 12


def test_impedance_in_a_sheet_beside_becomes_rows_behind_its_step(tmp_path: Path) -> None:
    sweep = [["Cycle_ID", "Step_ID", "Pt", "Freq", "Zmod", "Zphz"]]
    sweep += [[1, 2, n, 1000 / 10**n, 0.01 * (n + 1), -30.0 * n] for n in range(3)]
    rows = [*samples(1, 5, 1), *samples(6, 5, 2), *samples(11, 5, 3)]
    path = workbook(tmp_path / "test.xlsx", {"ACIM_Chan7": sweep, "Channel_7_1": [ARBIN, *rows]})
    table = table_of(path)
    assert table.n == 18
    frequency = table["Frequency [Hz]"].floats()
    assert frequency[10:13].tolist() == [1000.0, 100.0, 10.0]
    assert np.isnan(frequency[[9, 13]]).all()
    for name in ("Time [s]", "Current [A]", "Voltage [V]"):
        assert table[name].missing().tolist() == [10 <= n < 13 for n in range(18)]
    assert table["Step from cycler"].tolist() == [1] * 5 + [2] * 8 + [3] * 5
    z = table["Z_Mod [Ohm]"].floats()[12] * np.exp(1j * np.deg2rad(table["Z_Phase [deg]"].floats()[12]))
    assert table["Z_Re [Ohm]"].floats()[12] == pytest.approx(z.real)
    assert table["Z_Im [Ohm]"].floats()[12] == pytest.approx(z.imag)
    assert table["Z_Im [Ohm]"].floats()[12] < 0
    assert "impedance_beside" in codes(path)


def test_each_sweep_of_a_step_that_comes_again_goes_behind_its_own_time(tmp_path: Path) -> None:
    sweep: list[list[object]] = [["Cycle_ID", "Step_ID", "Freq", "Zmod", "Zphz"]]
    sweep += [[1, 2, f, 0.01, -10.0] for f in (1000.0, 10.0, 1000.0, 10.0)]
    sweep += [[1, 9, f, 0.01, -10.0] for f in (1000.0, 10.0)]
    rows = [*samples(1, 3, 1), *samples(4, 3, 2), *samples(7, 3, 1), *samples(10, 3, 2)]
    table = table_of(workbook(tmp_path / "test.xlsx", {"Data": [ARBIN, *rows], "ACIM": sweep}))
    swept = np.flatnonzero(~np.isnan(table["Frequency [Hz]"].floats()))
    assert swept.tolist() == [6, 7, 14, 15, 16, 17]


def test_hours_past_a_day_are_durations(tmp_path: Path) -> None:
    header = ["DataPoint", "Cycle Index", "Step Index", "Step Type", "Total Time", "Current(A)", "Voltage(V)"]
    rows = [[n, 1, 1, "CC Chg", (n / 4, LONG), 1.0, 3.5 + n / 100] for n in range(9)]
    path = workbook(tmp_path / "test.xlsx", {"record": [header, *rows]})
    assert read(path).format == "neware"
    assert table_of(path)["Time [s]"].floats() == pytest.approx(21600.0 * np.arange(9))


@pytest.mark.parametrize("days", [0.3, 0.5, 0.97])
@pytest.mark.parametrize("first", [0, 1904])
def test_durations_with_the_format_of_a_date_go_on_past_a_day(first: int, days: float, tmp_path: Path) -> None:
    """Such a cell shows hours below 24, and its value is a date at the beginning of the calendar of the workbook."""
    rows = [["Test Time", "Current(A)", "Voltage(V)"]]
    rows += [[(n * days, TIME), 1.0 - n % 2 * 2, 3.6 - n % 2 / 10] for n in range(300)]
    made = parts({"record": sheet_xml(rows)})
    if first:
        made["xl/workbook.xml"] = made["xl/workbook.xml"].replace("<sheets>", '<workbookPr date1904="1"/><sheets>')
    path = write(tmp_path / "test.xlsx", made)
    assert table_of(path)["Time [s]"].floats() == pytest.approx(days * 86400.0 * np.arange(300), abs=0.001)


def test_a_day_and_a_time_of_day_in_two_columns_are_one_clock(tmp_path: Path) -> None:
    """The cells of days have the time of midnight. Between two rows there may be more than one of them."""
    seconds = np.array([0.0, 600.0, 1200.0, 3 * 86400.0, 3 * 86400.0 + 600.0])
    rows = [["Date", "Time", "Current(A)", "Voltage(V)"]]
    for n, at in enumerate((DAY + 0.98 + seconds / 86400).tolist()):
        rows.append([(at // 1, TIME), (at % 1, TIME), 1.0 - n % 2 * 2, 3.6 - n % 2 / 10])
    reading = read(workbook(tmp_path / "days.xlsx", {"S": rows}))
    table = concat(list(reading.batches))
    assert table["Time [s]"].floats() == pytest.approx(seconds, abs=0.01)
    assert reading.start_time is not None
    assert (reading.start_time.day, reading.start_time.hour) == (13, 23)


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_not_read_before_one_that_is_shown(state: str, tmp_path: Path) -> None:
    made = parts({"Old": sheet_xml([ARBIN, *samples(1, 30)]), "New": sheet_xml([ARBIN, *samples(1, 20)])})
    xml = made["xl/workbook.xml"].replace('name="Old"', f'name="Old" state="{state}"')
    path = write(tmp_path / "test.xlsx", made | {"xl/workbook.xml": xml})
    reading = read(path)
    assert sum(batch.n for batch in reading.batches) == 20
    assert any("'Old' holds a series too, and was left out" in note.message for note in reading.notes)
    alone = xml.replace('name="New"', f'name="New" state="{state}"')
    assert table_of(write(tmp_path / "alone.xlsx", made | {"xl/workbook.xml": alone})).n == 30


def test_a_packed_workbook_is_opened(tmp_path: Path) -> None:
    path = workbook(tmp_path / "test.xlsx", {"Channel_7_1": [ARBIN, *samples(1, 9)]})
    packed = tmp_path / "test.xlsx.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert table_of(packed).n == 9


def test_a_workbook_without_a_series_names_what_it_has(tmp_path: Path) -> None:
    path = workbook(tmp_path / "test.xlsx", {"Cells": [["cell", "mass"], ["A1", 0.3], ["A2", 0.4]]})
    with pytest.raises(FileRefused, match="Its columns are 'cell' and 'mass'"):
        read(path)


def test_what_is_made_for_reading_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gc
    import tempfile

    from workbench.readers.file import sheets as views
    from workbench.readers.table import text_layout as layout
    from workbench.readers.table import typed_columns as arrow

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for number in range(4):
        table_of(workbook(tmp_path / f"{number}.xlsx", {"Channel_7_1": [ARBIN, *samples(1, 9)]}))
    for kept in (views._cached, layout.header_lines, arrow.parquet_names):
        kept.cache_clear()
    gc.collect()
    assert not list(tmp_path.glob("workbench-*"))


def test_a_sheet_that_goes_on_without_a_header_line_is_part_of_the_series(tmp_path: Path) -> None:
    """Programs that write a fixed number of rows to a sheet write the header above the first."""
    first, later, early = samples(1, 20), samples(21, 20), samples(5, 20)
    path = workbook(tmp_path / "on.xlsx", {"Channel_1_1": [ARBIN, *first], "Channel_1_2": later})
    assert table_of(path)["Voltage [V]"].tolist() == [3.6 + n / 300 for n in range(1, 41)]
    for name, rows in (("Channel_1_2", early), ("Notes", later)):
        path = workbook(tmp_path / "apart.xlsx", {"Channel_1_1": [ARBIN, *first], name: rows})
        reading = read(path)
        assert sum(batch.n for batch in reading.batches) == 20
        assert any(f"'{name}' has rows like those of the series, but no" in note.message for note in reading.notes)
    path = workbook(tmp_path / "info.xlsx", {"Channel_1_1": [ARBIN, *first], "Info": [["Operator", 7]]})
    assert "sheets" not in codes(path)


def test_a_clock_that_passes_midnight_is_a_clock(tmp_path: Path) -> None:
    """At midnight a cell is a date alone."""
    rows = [[(DAY + (n - 2) / 8640, TIME), 1.0 - n % 2 * 2, 3.6 - n % 2 / 10] for n in range(6)]
    path = workbook(tmp_path / "night.xlsx", {"S": [["Date", "Current(A)", "Voltage(V)"], *rows]})
    assert table_of(path)["Time [s]"].tolist() == pytest.approx([10.0 * n for n in range(6)], abs=1e-3)
