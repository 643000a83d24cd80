"""What a sheet and the names of files say: read, checked, put into records, and brought up to date."""

from __future__ import annotations

import datetime as dt
import io
import unicodedata
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.cycler_file import cycler_text

import workbench as wb
from workbench.errors import BadRequest
from workbench.ingest.commit.commit import Committer
from workbench.ingest.plan.headings import Heading, plain
from workbench.ingest.plan.labels import Labels
from workbench.ingest.plan.name_rule import NameRule
from workbench.ingest.plan.sheet import read_sheet

RULE = "{batch}_{cell}_{test}"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two batches of two cells; the cells are numbered anew in each."""
    folder = tmp_path / "in"
    folder.mkdir()
    for place, batch in enumerate("AB"):
        for cell in (1, 2):
            text = cycler_text(offset=place / 10 + cell / 100)
            (folder / f"{batch}_c{cell}_RPT.csv").write_text(text)
    return folder


def sheet(folder: Path, text: str, name: str = "cells.csv") -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_names_with_accents_as_macos_writes_them_are_those_that_people_type(
    bench: wb.Bench, tmp_path: Path
) -> None:
    """Such a file fitted no row of its sheet, and its cell could not be found by its name, which looks the same."""
    folder = tmp_path / unicodedata.normalize("NFD", "Prüfling")
    folder.mkdir()
    for cell in ("Ä1", "É2"):
        name = unicodedata.normalize("NFD", f"A_{cell}_Alterung")
        (folder / f"{name}.csv").write_text(cycler_text(offset=len(name) / 10 + (cell == "É2") / 100))
    listed = sheet(tmp_path, "file,batch,temperature [degC]\nA_Ä1_Alterung.csv,B,25\nPrüfling/A_É2*,B,45\n")
    report = bench.ingest(folder, specification="X", sheet=listed, name_rule="A_{cell}_{test}")
    assert report.ok
    assert not report.unused
    assert {(name, cell) for name, cell, *_ in names(bench)} == {("Alterung", "Ä1"), ("Alterung", "É2")}
    assert {batch for _, _, batch, *_ in names(bench)} == {"B"}
    assert bench.search("Ä1")["name"].tolist() == ["Ä1"]


def names(bench: wb.Bench) -> list[tuple[Any, ...]]:
    fields = ["name", "instance_name", "batch_name", "specification_name", "tags"]
    return [tuple(row.values()) for row in bench.measurements.list(fields=fields)[fields].to_dict("records")]


def workbook(rows: list[list[Any]]) -> bytes:
    """The least that makes an Excel workbook of one sheet."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = [
            f'<c r="{"ABCDEFG"[place]}{number}"><v>{value}</v></c>'
            if isinstance(value, int | float)
            else f'<c r="{"ABCDEFG"[place]}{number}" t="inlineStr"><is><t>{value}</t></is></c>'
            for place, value in enumerate(row)
            if value is not None
        ]
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packed = "http://schemas.openxmlformats.org/package/2006"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{packed}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{packed}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packed}/relationships"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData></worksheet>',
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for name, text in files.items():
            out.writestr(name, text)
    return made.getvalue()


# What is written


@pytest.mark.parametrize(
    ("heading", "text", "said"),
    [
        ("Specification", "LG M50", {"specification": "LG M50"}),
        ("cell", "c1", {"instance": "c1"}),
        ("Test", "RPT", {"measurement": "RPT"}),
        ("temperature [°C]", "25", {"test": {"temperature": {"value": 25.0, "unit": "degC"}}}),
        ("mass (mg)", "12,5", {"cell": {"mass": {"value": 12.5, "unit": "mg"}}}),
        ("thickness / um", "80", {"cell": {"thickness": {"value": 80.0, "unit": "um"}}}),
        ("test.operator", "Ada", {"test": {"operator": "Ada"}}),
        ("specification.porosity", "0.3", {"design": {"porosity": 0.3}}),
        ("rated capacity [mAh]", "3200", {"ratings": {"capacity": {"value": 3200.0, "unit": "mAh"}}}),
        ("tags", "a; b,a", {"tags": ["a", "b"]}),
        ("sign", "charge", {"reading": {"sign": "charge"}}),
        ("map", "Volts=Voltage [V]; Amps=Current [A]", {"reading": {"column_map": {
            "Volts": "Voltage [V]", "Amps": "Current [A]"}}}),
        ("supplier", "", {}),
    ],
)  # fmt: skip
def test_headings_and_values(heading: str, text: str, said: dict[str, Any]) -> None:
    assert Heading(heading, "here").labels(text).said() == said


@pytest.mark.parametrize("heading", ["specfication", "bacth", "tset", "temprature"])
def test_a_heading_that_is_nearly_one_of_ours_is_a_slip(heading: str) -> None:
    with pytest.raises(BadRequest, match=f"'{heading}' is not a known heading. Did you mean .*cell.{heading}"):
        Heading(heading, "The sheet")


def test_numbers_as_people_write_them() -> None:
    values = [plain(text) for text in ("1.5", "1,5", "12", "-3e-2", "007", "1-2", "yes", "True")]
    assert values == [1.5, 1.5, 12, -0.03, "007", "1-2", "yes", True]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('file,mass [mg]\na,"3,200"\n', None),
        ('file,supplier\na,"3,200"\n', None),
        ('file,mass [mg]\na,"3,200"\nb,"0,985"\n', 3.2),
        ('file,mass [mg],area [cm2]\na,"3,200","1,5"\n', 3.2),
        ("file;mass [mg]\na;3,200\n", 3.2),
        ('file,mass [mg]\na,"3200,125"\n', 3200.125),
    ],
)
def test_a_comma_that_may_part_thousands_is_not_guessed(tmp_path: Path, text: str, read: float | None) -> None:
    """`3,200` mg was read as 3.2 mg."""
    path = sheet(tmp_path, text)
    if read is None:
        with pytest.raises(BadRequest, match=r"Row 2: '3,200' under '.*' is 3.200 or 3200"):
            read_sheet(path)
        return
    assert read_sheet(path).rows[0].labels.cell["mass"] == {"value": read, "unit": "mg"}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_sheets_as_programs_write_them(tmp_path: Path, separator: str, encoding: str) -> None:
    rows = [["file", "cell", "thickness [µm]"], ["a*", "Zelle ü", "80"], [""] * 3]
    text = "\r\n".join(separator.join(row) for row in rows)
    (tmp_path / "s.csv").write_bytes(text.encode(encoding))
    (row,) = read_sheet(tmp_path / "s.csv").rows
    assert row.labels.instance == "Zelle ü"
    assert row.labels.cell == {"thickness": {"value": 80.0, "unit": "µm"}}


def test_a_workbook_and_a_frame_say_the_same(tmp_path: Path) -> None:
    frame = pd.DataFrame({"file": ["a.csv", "b*"], "cell": [7, 8], "mass [g]": [1.5, None], "made": ["x", None]})
    cells = [list(frame.columns), *frame.astype(object).where(frame.notna(), None).values.tolist()]
    (tmp_path / "s.xlsx").write_bytes(workbook(cells))
    of_file, of_frame = read_sheet(tmp_path / "s.xlsx"), read_sheet(frame)
    assert [row.labels for row in of_file.rows] == [row.labels for row in of_frame.rows]
    assert of_frame.rows[1].labels.said() == {"instance": "8"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("cell,batch\na,b\n", "has no column 'file'"),
        ("file,cell,Instance\na,b,c\n", "has two columns for the same thing: 'cell' and 'Instance'"),
        ("file,mass [g]\na,heavy\n", "Row 2: the column 'mass .g.' takes numbers, not 'heavy'"),
        ("file,cell\n,c\n", "Row 2: the column for the file is empty"),
        ("file,rating\na,5Ah\n", "Row 2: A rating needs one capacity"),
        ("file,sign\na,plus\n", "there is no sign 'plus'"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_said_by_row(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        read_sheet(sheet(tmp_path, text))


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [("a_1.csv", True), ("a_1", True), ("a_*", True), ("sub/a_*", True), ("./sub/*.csv", True), ("A_*", False),
     ("a", False), ("other/a_1.csv", False), ("sub\\a_1.csv", True)],
)  # fmt: skip
def test_which_files_a_row_is_about(tmp_path: Path, pattern: str, *, fits: bool) -> None:
    (row,) = read_sheet([{"file": pattern}]).rows
    assert row.fits(tmp_path / "sub" / "a_1.csv") is fits


def test_a_later_row_goes_before_an_earlier_one_and_that_is_said() -> None:
    rows = [{"file": "*", "batch": "A", "tags": "x"}, {"file": "a*", "batch": "B"}, {"file": "z*", "batch": "C"}]
    made = read_sheet(rows)
    labels, remarks = made.labels(Path("a.csv"))
    assert labels == Labels(batch="B", tags=("x",))
    assert remarks == ["Row 3 of the sheet gives another 'batch' than a row above it; the lower row was used."]
    assert made.unused() == ["Row 4: no file matches 'z*'."]


# Names


@pytest.mark.parametrize(
    ("rule", "path", "said"),
    [
        (RULE, "A_c1_RPT.csv", {"batch": "A", "instance": "c1", "measurement": "RPT"}),
        (RULE, "A_c1_RPT_2.csv.gz", {"batch": "A", "instance": "c1", "measurement": "RPT_2"}),
        ("{cell}-{temperature [degC]}C*", "c1-45C-old.txt",
         {"instance": "c1", "test": {"temperature": {"value": 45.0, "unit": "degC"}}}),
        ("{batch}/{}/{cell}", "x/A/tests/c1.csv", {"batch": "A", "instance": "c1"}),
        (RULE, "c1.csv", None),
    ],
)  # fmt: skip
def test_what_names_say(rule: str, path: str, said: dict[str, Any] | None) -> None:
    labels, _ = NameRule(rule).labels(Path(path))
    assert (None if labels is None else labels.said()) == said


def test_a_name_that_fits_in_several_ways_says_how_it_was_read() -> None:
    labels, remark = NameRule(RULE).labels(Path("A_cell_1_RPT.csv"))
    assert labels == Labels(batch="A", instance="cell", measurement="1_RPT")
    assert "was read as batch 'A', cell 'cell', test '1_RPT'" in remark


@pytest.mark.parametrize("rule", ["cells", "{cell}{test}", "{cell}_{cell}", "{cell", "{file}", "{tset}"])
def test_rules_that_cannot_be_meant(rule: str) -> None:
    with pytest.raises(BadRequest):
        NameRule(rule)


# Into records


def test_a_sheet_and_a_rule_label_a_folder(bench: wb.Bench, data: Path) -> None:
    listed = "file,specification,rating,cell,temperature [degC],mass [g],tags,protocol\n"
    listed += 'A_*,LG M50,"5Ah,2.5V,4.2V",,25,68,x;y,RPT v2\nB_c1*,LG M50,,Bee,45,,,\nC_*,Other,,,,,,\n'
    report = bench.ingest(data, sheet=sheet(data, listed), name_rule=RULE)
    assert report.ok
    assert report.skipped == []
    assert report.unused == ["Row 4: no file matches 'C_*'."]
    assert names(bench) == [
        ("RPT", "c1", "A", "LG M50", "x, y"),
        ("RPT", "c2", "A", "LG M50", "x, y"),
        ("RPT", "Bee", "B", "LG M50", ""),
        ("RPT", "c2", "B", "Unspecified c2", ""),
    ]
    first = bench.measurements.get(report[0].measurement_id)
    assert first.properties == {"temperature": {"value": 25.0, "unit": "degC"}}
    assert first.protocol == {"name": "RPT v2"}
    assert bench.instances.get(first.instance_id).properties == {"mass": {"value": 68.0, "unit": "g"}}
    assert bench.specifications.get("LG M50").ratings.capacity.value == 5.0
    assert "No row of the sheet matches this file." in report[3].odd


def test_cells_numbered_anew_in_each_batch_stay_apart(bench: wb.Bench, data: Path) -> None:
    report = bench.ingest(data, specification="LG M50", name_rule=RULE)
    assert [name[1:3] for name in names(bench)] == [("c1", "A"), ("c2", "A"), ("B c1", "B"), ("B c2", "B")]
    assert "There is a cell 'c1' in another batch, so this cell is called 'B c1'." in report[2].assumed
    (data / "B_c1_ageing.csv").write_text(cycler_text(3, 0.3))
    assert bench.ingest(data, specification="LG M50", name_rule=RULE)[2].instance == "B c1"


def test_the_same_sheet_again_changes_nothing(bench: wb.Bench, data: Path) -> None:
    listed = sheet(data, "file,tags,mass [g]\n*,x,68\n")
    bench.ingest(data, sheet=listed, name_rule=RULE)
    bench.measurements.update(bench.measurements.list()["id"][0], tags=["mine"])
    before = bench.backend.store.revisions(["measurements", "instances", "series"], [])
    report = bench.ingest(data, sheet=listed, name_rule=RULE)
    assert [file.status for file in report] == ["duplicate"] * 4
    assert bench.backend.store.revisions(["measurements", "instances", "series"], []) == before
    assert names(bench)[0][4] == "mine"


def test_a_changed_sheet_updates(bench: wb.Bench, data: Path) -> None:
    bench.ingest(
        data, sheet=sheet(data, "file,tags,temperature [degC]\nA_c1*,x;y,25\nA_c2*,x,25\n"), name_rule=RULE
    )
    first = bench.measurements.list()["id"][0]
    bench.measurements.update(first, tags=["x", "y", "mine"])
    listed = 'file,specification,rating,tags,temperature [degC],mass [g]\nA_*,LG M50,"5Ah,2.5V,4.2V",y,45,68\n'
    report = bench.ingest(data, sheet=sheet(data, listed), name_rule=RULE)
    assert [file.status for file in report] == ["updated", "updated", "duplicate", "duplicate"]
    assert names(bench)[0] == ("RPT", "c1", "A", "LG M50", "mine, y")
    record = bench.measurements.get(first)
    assert record.properties == {"temperature": {"value": 45.0, "unit": "degC"}}
    assert bench.instances.get(record.instance_id).properties["mass"]["value"] == 68.0
    assert bench.specifications.get("LG M50").ratings.capacity.value == 5.0
    assert any("temperature from 25 degC to 45 degC" in change for change in report[0].changed)
    assert len(bench.instances.list()) == 4
    assert bench.verify() == []


def test_a_cell_is_renamed_and_a_test_moved(bench: wb.Bench, data: Path) -> None:
    (data / "A_c1_ageing.csv").write_text(cycler_text(3, 0.5))
    bench.ingest(data, name_rule=RULE)
    rows = [{"file": "A_c2*", "cell": "two"}, {"file": "A_c1_ageing*", "cell": "two", "test": "ageing 1"}]
    report = bench.ingest(data, sheet=rows, name_rule=RULE)
    told = {file.path.rpartition("/")[2]: file for file in report}
    assert told["A_c1_ageing.csv"].status == "updated"
    assert {name[:2] for name in names(bench)} == {
        ("RPT", "c1"), ("RPT", "two"), ("ageing 1", "two"), ("RPT", "B c1"), ("RPT", "B c2")
    }  # fmt: skip


def test_reading_options_of_one_file(bench: wb.Bench, tmp_path: Path) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text(cycler_text().replace("Time [s],Current [A],Voltage [V]", "Secs,Amps,Volts"))
    rows = [{"file": "odd*", "map": "Secs=Time [s];Amps=Current [A];Volts=Voltage [V]", "sign": "discharge"}]
    report = bench.ingest(odd, sheet=rows)
    assert report.ok, report
    assert bench.ingest(odd, sheet=rows)[0].status == "duplicate"


def test_an_assumption_is_settled_in_place_and_stays_so(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(cycler_text(2))
    first = bench.ingest(path)[0]
    bench.measurements.update(first.measurement_id, tags=["mine"])
    again = bench.ingest(path, column_map={"Note": "Word"}, sign="charge")[0]
    assert (again.status, again.measurement_id) == ("updated", first.measurement_id)
    frame = bench.measurements.time_series(first.measurement_id)
    assert frame["Current [A]"].iloc[0] == 1.0
    assert bench.ingest(path)[0].status == "duplicate"
    path.write_text(cycler_text(3))
    assert bench.ingest(path)[0].status == "extended"
    frame = bench.measurements.time_series(first.measurement_id)
    assert frame["Current [A]"].iloc[[0, -1]].tolist() == [1.0, -1.0]
    assert len(bench.measurements.list()) == 1
    assert bench.measurements.get(first.measurement_id).tags == ["mine"]
    assert bench.verify() == []


def test_a_zone_settles_clock_times(bench: wb.Bench, tmp_path: Path) -> None:
    lines = cycler_text().splitlines()
    begin = dt.datetime(2026, 7, 1, 12)
    stamps = ["Date"] + [
        f"{begin + dt.timedelta(seconds=60 * k):%Y-%m-%d %H:%M:%S}" for k in range(len(lines) - 1)
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(f"{line},{stamp}" for line, stamp in zip(lines, stamps, strict=True)) + "\n")
    plain_ = bench.ingest(path)[0]
    assert "time_zone" in plain_.codes
    assert bench.measurements.get(plain_.measurement_id).start_time == begin.replace(tzinfo=dt.UTC)
    there = bench.ingest(path, zone="Europe/Berlin")[0]
    assert (there.status, there.measurement_id) == ("updated", plain_.measurement_id)
    assert "time_zone" not in there.codes
    assert bench.measurements.get(plain_.measurement_id).start_time == dt.datetime(2026, 7, 1, 10, tzinfo=dt.UTC)
    assert bench.ingest(path)[0].status == "duplicate"
    with pytest.raises(BadRequest, match="Europe/Berlin"):
        bench.ingest(path, zone="Europe/Berlni")


# A dry run


def test_a_dry_run_says_all_and_changes_nothing(bench: wb.Bench, data: Path) -> None:
    (data / "bad.csv").write_text("nothing\n")
    options: dict[str, Any] = {
        "sheet": sheet(data, "file,specification,tags\n*,LG M50,x\n"),
        "name_rule": RULE,
        "jobs": 2,
    }
    before = bench.backend.store.revisions(
        ["measurements", "instances", "specifications", "batches", "series"], []
    )
    told = bench.ingest([data, data / "bad.csv"], dry_run=True, **options)
    assert (
        bench.backend.store.revisions(["measurements", "instances", "specifications", "batches", "series"], [])
        == before
    )
    assert len(bench.measurements.list()) == len(bench.batches.list()) == 0
    assert told.summary.startswith("dry run, nothing was changed; it would be: 4 stored, 1 refused")
    done = bench.ingest([data, data / "bad.csv"], **options)
    for one, other in zip(told, done, strict=True):
        assert (one.path, one.status, one.created, one.assumed, one.instance, one.batch) == (
            other.path, other.status, other.created, other.assumed, other.instance, other.batch
        )  # fmt: skip
    assert bench.verify() == []


def test_a_dry_run_keeps_no_writer_waiting(bench: wb.Bench, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit, written = Committer.commit, []

    def committed(*args: Any) -> None:
        with ThreadPoolExecutor(1) as other:
            made = other.submit(bench.studies.create, name=f"Study {len(written)}")
            written.append(made.result(timeout=10))
        commit(*args)

    monkeypatch.setattr(Committer, "commit", committed)
    told = bench.ingest(data, dry_run=True)
    assert [file.status for file in told] == ["stored"] * 4
    assert len(bench.studies.list()) == len(written) == 4
    assert len(bench.measurements.list()) == 0


def test_a_dry_run_tells_of_growth_and_of_new_labels(bench: wb.Bench, data: Path) -> None:
    bench.ingest(data, name_rule=RULE)
    (data / "A_c1_RPT.csv").write_text(cycler_text(3, 0.01))
    told = bench.ingest(data, name_rule=RULE, sheet=[{"file": "B*", "tags": "x"}], dry_run=True)
    assert [file.status for file in told] == ["extended", "duplicate", "updated", "updated"]
    assert bench.measurements.list()["sample_count"].tolist() == [66] * 4
    assert set(bench.measurements.list()["tags"]) == {""}
