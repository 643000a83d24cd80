"""Files that hold several cells or tests: each becomes a measurement of its own, and nothing is merged."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from support.local_and_remote import opened
from support.workbooks import workbook

import workbench as wb
from workbench.errors import FileRefused
from workbench.ingest.read.tests_apart import TestsApart
from workbench.readers import SeveralTests, read
from workbench.table import Column, Table, concat

CELLS = ("A1", "A2", "B 7")
ROWS = 24


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


def table(cells: tuple[object, ...] = CELLS, name: str = "cell", rows: int = ROWS) -> pd.DataFrame:
    """A discharge and a charge of one hour each. Cell number n has n + 1 A."""
    frames = []
    for number, cell in enumerate(cells):
        way = [1.0 if k < rows // 2 else -1.0 for k in range(rows)]
        volts, voltage = [], 4.0
        for sense in way:
            volts.append(voltage - 0.1 * sense)
            voltage -= 0.05 * sense
        flow = [sense * (number + 1) for sense in way]
        time = [300.0 * k for k in range(rows)]
        frames.append(pd.DataFrame({"time [s]": time, "current [A]": flow, "voltage [V]": volts, name: cell}))
    return pd.concat(frames, ignore_index=True)


def interleaved(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values("time [s]", kind="stable", ignore_index=True)


def put(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        workbook(path, {"Sheet1": [list(frame.columns), *frame.astype(object).to_numpy().tolist()]})
    return path


def held(bench: wb.Bench) -> dict[str, float]:
    """Cell -> its largest current, A."""
    found = bench.measurements.list(fields=["id", "instance_name", "name"])
    return {row["instance_name"]: float(bench.measurements.time_series(row["id"])["Current [A]"].max())
            for row in found.to_dict("records")}  # fmt: skip


@pytest.mark.parametrize(("ending", "mixed"), [(".csv", True), (".parquet", True), (".xlsx", False)])
def test_each_cell_of_a_table_is_a_measurement(ending: str, mixed: bool, bench: wb.Bench, tmp_path: Path) -> None:
    frame = table()
    path = put(interleaved(frame) if mixed else frame, tmp_path / f"rack{ending}")
    report = bench.ingest(path)
    assert [file.status for file in report] == ["stored"] * 3
    assert [file.path for file in report] == [f"{path}!{cell}" for cell in CELLS]
    assert [file.rows for file in report] == [ROWS] * 3
    assert held(bench) == {"A1": 1.0, "A2": 2.0, "B 7": 3.0}
    for file in report:
        assert any("holds 3 cells" in said for said in file.assumed)
        cycles = bench.measurements.cycles(file.measurement_id)
        size = CELLS.index(file.instance) + 1
        assert float(cycles["Discharge capacity [A.h]"].sum()) == pytest.approx(size, rel=0.1)
    again = bench.ingest(path)
    assert [file.status for file in again] == ["duplicate"] * 3


@pytest.mark.parametrize("where", ["near", "far"])
def test_a_server_splits_them_too_and_names_them(where: str, tmp_path: Path) -> None:
    path = put(table(), tmp_path / "rack.csv")
    with opened(tmp_path / "lab.db", where) as bench:
        report = bench.ingest(path)
        assert [(file.path, file.instance) for file in report] == [(f"{path}!{cell}", cell) for cell in CELLS]


def test_a_sheet_names_one_cell_of_a_file(bench: wb.Bench, tmp_path: Path) -> None:
    path = put(table(), tmp_path / "rack.csv")
    rows = [
        {"file": "rack.csv", "specification": "S", "batch": "7"},
        {"file": "rack.csv!A2", "cell": "K2", "mass [g]": 61},
    ]
    report = bench.ingest(path, sheet=rows)
    assert [(file.instance, file.batch) for file in report] == [("A1", "7"), ("K2", "7"), ("B 7", "7")]
    assert report.unused == []
    assert bench.instances.get("K2").properties["mass"] == {"value": 61.0, "unit": "g"}
    rows[1]["mass [g]"] = 62
    again = bench.ingest(path, sheet=rows)
    assert [file.status for file in again] == ["duplicate", "updated", "duplicate"]


def test_a_cell_that_is_gone_comes_back(bench: wb.Bench, tmp_path: Path) -> None:
    path = put(table(), tmp_path / "rack.csv")
    report = bench.ingest(path)
    bench.measurements.delete(report[1].measurement_id)
    again = bench.ingest(path)
    assert [file.status for file in again] == ["duplicate", "stored", "duplicate"]


def test_a_table_that_grows_grows_each_cell(bench: wb.Bench, tmp_path: Path) -> None:
    frame = interleaved(table())
    path = put(frame.head(51), tmp_path / "rack.csv")
    first = bench.ingest(path)
    put(frame, path)
    report = bench.ingest(path)
    assert [file.status for file in report] == ["extended"] * 3
    assert [file.measurement_id for file in report] == [file.measurement_id for file in first]
    assert held(bench) == {"A1": 1.0, "A2": 2.0, "B 7": 3.0}


def test_a_column_of_another_name_is_split_by_a_map_and_kept_whole_by_a_map(
    bench: wb.Bench, tmp_path: Path
) -> None:
    path = put(table(name="who"), tmp_path / "rack.csv")
    report = bench.ingest(path, column_map={"who": "Cell"})
    assert [file.instance for file in report] == list(CELLS)
    whole = put(table(("x", "x")), tmp_path / "one.csv")
    assert [file.instance for file in bench.ingest(whole)] == ["one"]
    numbered = put(table((1, 2)), tmp_path / "numbers.csv")
    with pytest.raises(SeveralTests, match="'1' and '2'"):
        read(numbered)
    whole = concat(list(read(numbered, column_map={"cell": "cell (no cell)"}).batches))
    assert whole.n == 2 * ROWS


NAMES = (
    "Cell-Name",
    "Cell#",
    "sn",
    "S/N",
    "Serial Number",
    "DUT",
    "Kanal",
    "Zell-Nr",
    "Pouch ID",
    "电芯编号",
    "Chan.",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_cells_is_known_in_any_usual_spelling(tmp_path: Path, name: str) -> None:
    for path in (
        put(table(name=name), tmp_path / "a.csv"),
        put(interleaved(table(name=name)), tmp_path / "b.parquet"),
    ):
        with pytest.raises(SeveralTests) as several:
            read(path)
        assert several.value.tests == CELLS


@pytest.mark.parametrize("name", ["Cell type", "Cell voltage limit", "Sample", "Channel (no cell)", "Serial port"])
def test_other_columns_name_no_cells(tmp_path: Path, name: str) -> None:
    assert read(put(table(name=name), tmp_path / "a.csv")).format == "delimited"


def test_a_serial_number_that_counts_the_rows_of_each_step_is_not_of_cells(tmp_path: Path) -> None:
    frame = table(("A1",))
    frame["S/N"] = [k % 12 for k in range(len(frame))]
    assert concat(list(read(put(frame, tmp_path / "a.csv")).batches)).n == ROWS


def test_the_column_that_has_several_names_is_taken_where_two_could_name_cells(
    bench: wb.Bench, tmp_path: Path
) -> None:
    frame = table((1, 2, 3), "Channel")
    frame["Cell name"] = "LG M50"
    for name in ("a.csv", "b.parquet"):
        with pytest.raises(SeveralTests, match="'Channel' names 3 cells"):
            read(put(frame, tmp_path / name))
    assert [file.instance for file in bench.ingest(tmp_path / "a.csv")] == ["1", "2", "3"]


@pytest.mark.parametrize("mixed", [False, True])
def test_a_text_with_which_time_starts_anew_is_asked_about(bench: wb.Bench, tmp_path: Path, mixed: bool) -> None:
    frame = table(name="source file")
    path = put(interleaved(frame) if mixed else frame, tmp_path / "all.csv")
    (refused,) = bench.ingest(path, sign="discharge")
    assert refused.status == "refused"
    assert "'all.csv' seems to hold 3 tests" in refused.why
    assert 'column_map={"source file": "Cell"}' in refused.why
    whole = {"source file": "source file (no cell)"}
    assert 'column_map={"source file": "source file (no cell)"}' in refused.why
    split = bench.ingest(path, sign="discharge", column_map={"source file": "Cell"})
    assert [file.instance for file in split] == list(CELLS)
    (one,) = bench.ingest(path, sign="discharge", column_map=whole)
    assert one.rows == 3 * ROWS


def test_numbers_with_which_time_starts_anew_are_warned_about(bench: wb.Bench, tmp_path: Path) -> None:
    (file,) = bench.ingest(put(table((7, 8), "rack"), tmp_path / "all.csv"), sign="discharge")
    assert any('If it names cells, say column_map={"rack": "Cell"}' in said for said in file.odd)


@pytest.mark.parametrize(
    "texts",
    [
        ["CC_Chg"] * ROWS + ["CC_DChg"] * ROWS,  # steps
        ["2024-05-01"] * ROWS + ["2024-05-02"] * ROWS,  # a time of day
        ["on", "off"] * ROWS,  # flags
        ["x"] * (2 * ROWS),
        [f"row {k}" for k in range(2 * ROWS)],
    ],
)
def test_texts_that_part_no_tests_are_kept_without_a_question(
    bench: wb.Bench, tmp_path: Path, texts: list[str]
) -> None:
    frame = table(("A", "A"), "cell").drop(columns="cell").assign(note=texts)
    (file,) = bench.ingest(put(frame, tmp_path / "one.csv"), sign="discharge")
    assert file.status == "stored"
    assert not any("names cells" in said for said in file.odd)


def test_a_column_parts_tests_over_all_batches_of_a_file() -> None:
    time = Column.from_python([0.0, 1.0, 2.0] * 2)
    for texts, parts in (([*"aaabbb"], True), ([*"aabbab"], False), ([None] * 6, False)):
        whole = Table.of({"Time [s]": time, "note": Column.text(texts)})
        for size in (1, 2, 6):
            watch = TestsApart()
            for at in range(0, 6, size):
                watch.feed(whole.slice(at, at + size))
            if parts:
                with pytest.raises(FileRefused, match="seems to hold 2 tests"):
                    watch.findings("x.csv")
            else:
                assert watch.findings("x.csv") == []


def test_what_an_older_version_read_as_one_is_named(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(table(), tmp_path / "rack.csv")
    with monkeypatch.context() as older:
        older.setattr("workbench.ingest.read.worker_pool.can_lock", lambda: False)  # it reads in this process
        older.setattr("workbench.readers.table.text_format._of_one_cell", lambda *_: [])
        older.setattr("workbench.ingest.read.tests_apart.TestsApart.findings", lambda *_: [])
        older.setattr("workbench.ingest.plan.read_options.reader_version", lambda: "0.1.0")
        assert [file.instance for file in bench.ingest(path)] == ["rack"]
    report = bench.ingest(path)
    assert [file.status for file in report] == ["stored"] * 3
    assert "The measurement 'rack' of 'rack' has all tests of this file as one." in " ".join(report[0].odd)


def test_rows_that_name_no_cell_are_reported(bench: wb.Bench, tmp_path: Path) -> None:
    frame = table()
    frame.loc[[3, 30], "cell"] = None
    report = bench.ingest(put(frame, tmp_path / "rack.csv"))
    assert [file.rows for file in report] == [ROWS - 1, ROWS - 1, ROWS]
    assert all(any("2 rows without a name in 'cell'" in said for said in file.odd) for file in report)


def test_more_names_than_cells_are_asked_for(tmp_path: Path) -> None:
    frame = table(tuple(range(1100)), rows=2)
    path = put(frame, tmp_path / "rack.csv")
    with pytest.raises(wb.errors.FileRefused, match=r"1\s100 different values"):
        read(path)
    assert concat(list(read(path, column_map={"cell": "cell (no cell)"}, sign="discharge").batches)).n == 2200
    single = frame.drop_duplicates("cell")
    buffer = io.StringIO()
    single.to_csv(buffer, index=False)
    path.write_text(buffer.getvalue())
    assert concat(list(read(path, sign="discharge").batches)).n == 1100


def test_a_name_that_no_cell_has_is_refused(tmp_path: Path) -> None:
    for ending in (".csv", ".parquet"):
        path = put(table(), tmp_path / f"rack{ending}")
        with pytest.raises(wb.errors.FileRefused, match="has no cell 'C'"):
            read(path, test="C")
        path = put(table(name="who"), tmp_path / f"rack{ending}")
        with pytest.raises(wb.errors.FileRefused, match="no column that names cells"):
            read(path, test="C")


def test_an_option_of_a_file_holds_for_its_later_rows(bench: wb.Bench, tmp_path: Path) -> None:
    frame = interleaved(table())
    path = put(frame.head(51), tmp_path / "rack.csv")
    bench.ingest(path, column_map={"cell": "Cell", "current [A]": "Current [mA]"})
    put(frame, path)
    assert {file.status for file in bench.ingest(path)} == {"extended"}
    assert held(bench) == {"A1": 0.001, "A2": 0.002, "B 7": 0.003}
