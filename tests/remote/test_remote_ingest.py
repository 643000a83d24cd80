"""Files sent to a server become the same measurements, reported in the same words, as files read here."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.cycler_file import cycler_text
from support.local_and_remote import Sides, sides
from support.waiting import until

import workbench as wb
from workbench.ingest import FileReport

DATA = Path(__file__).parents[2] / "sample_data"


def told(report: Any) -> list[dict[str, Any]]:
    """What a report says, without ids and times."""
    return [
        {key: value for key, value in asdict(file).items() if key not in ("measurement_id", "seconds")}
        for file in report
    ]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Some tests, a file that is none of a cycler, one that is not there, and one that comes twice."""
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for number in range(3):
        rows = (f"{60 * n},{3.7 + 0.01 * number - 0.001 * n},{1 if n < 50 else -1}" for n in range(100))
        (folder / f"cell {number}.csv").write_text("\n".join(["Time [s],Voltage [V],Current [A]", *rows, ""]))
    (folder / "sub" / "cell 0.csv").write_bytes((folder / "cell 0.csv").read_bytes())
    (folder / "no test.csv").write_bytes(b"\x00\x01 nothing")
    return [*sorted(folder.rglob("*.csv")), folder / "absent.csv"]


def test_files_become_the_same_measurements(tmp_path: Path, files: list[Path]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with wb.open(tmp_path / "a" / "lab.db") as here, sides(tmp_path / "b" / "lab.db") as there:
        options: dict[str, Any] = {"specification": "LG M50", "rating": "5Ah,2.5V,4.2V", "batch": "A"}
        near = here.ingest(files, **options)
        steps: list[tuple[int, int, str]] = []
        far = there.far.ingest(files, progress=lambda *step: steps.append(step), **options)
        assert told(near) == told(far)
        assert {file.status for file in far} == {"stored", "duplicate", "refused"}
        assert steps[-1][:2] == (5, 5)
        assert any("sending" in what for _, _, what in steps)
        assert all(what for _, _, what in steps[:-1])
        assert all(one != two for one, two in pairwise(steps))
        for one, two in zip(near.stored, far.stored, strict=True):
            assert one.measurement_id is not None
            for table in ("time_series", "steps", "cycles"):
                pd.testing.assert_frame_equal(
                    getattr(here.measurements, table)(one.measurement_id),
                    getattr(there.far.measurements, table)(two.measurement_id),
                    check_exact=True,
                )
        again = there.far.ingest(files[0], **options)
        assert [file.status for file in again] == ["duplicate"]
        assert repr(again).startswith("Ingest: 1 already there")


def test_an_estimate_names_the_file_that_it_is_from(tmp_path: Path, lab: Sides) -> None:
    for name, amperes in (("small.csv", 1), ("large.csv", 100)):
        rows = "".join(f"{60 * n},{3.7 - 0.001 * n},{amperes}\n" for n in range(100))
        (tmp_path / name).write_text("Time [s],Voltage [V],Current [A]\n" + rows)
    lab.far.ingest(tmp_path / "small.csv", specification="Unrated")
    (report,) = lab.far.ingest(tmp_path / "large.csv", specification="Unrated")
    assert lab.far.specifications.get("Unrated").source["file"] == "small.csv"
    assert any("only an estimate from 'small.csv'" in sentence for sentence in report.odd)


def test_files_of_one_name_in_two_folders_are_two_cells(lab: Sides, tmp_path: Path) -> None:
    for place, folder in enumerate(("A", "B")):
        (tmp_path / "in" / folder).mkdir(parents=True)
        (tmp_path / "in" / folder / "c1.csv").write_text(cycler_text(offset=place / 100))
    report = lab.far.ingest(tmp_path / "in")
    assert [file.instance for file in report] == ["A c1", "B c1"]
    assert all(len(file.fixes) == len(file.assumed) for file in report)
    (tmp_path / "in" / "B" / "c1.csv").write_text(cycler_text(cycles=3, offset=0.02))
    assert [file.instance for file in lab.far.ingest(tmp_path / "in" / "B")] == ["B c1"]


def test_a_folder_a_pattern_and_options_that_are_wrong(lab: Sides, files: list[Path]) -> None:
    with pytest.raises(wb.BadRequest, match="no format"):
        lab.far.ingest(files, format="nonsense")
    with pytest.raises(wb.BadRequest, match="no sign"):
        lab.far.ingest(files, sign="nonsense")
    report = lab.far.ingest(str(files[0].parent / "no*thing.csv"))
    assert [file.why for file in report] == [f"No file matches '{files[0].parent / 'no*thing.csv'}'."]
    nothing: list[FileReport] = list(lab.far.ingest([]))
    assert nothing == []
    assert len(lab.far.ingest(files[0].parent).files) >= 3


def test_a_run_is_its_beginners_and_files_are_taken_once(lab: Sides) -> None:
    client = lab.far.backend.client  # type: ignore[attr-defined]
    place = f"/projects/{lab.far.backend.project.id}/ingests"
    other = lab.connect(lab.person("other@lab", role="Admin")).backend.client  # type: ignore[attr-defined]
    path = next(path for path in sorted(DATA.rglob("*.csv")) if path.stat().st_size < 1_500_000)
    sent = client.upload(f"{place}/files", path, params={"name": path.name}).json()["file"]
    with pytest.raises(wb.NotFound):
        other.ask("POST", place, json={"files": [sent]}, changes=True)
    run = client.ask("POST", place, json={"files": [sent]}, changes=True).json()
    with pytest.raises(wb.NotFound):
        client.ask("POST", place, json={"files": [sent]}, changes=True)
    with pytest.raises(wb.WorkbenchError, match="Only the user who began"):
        other.get(f"{place}/{run['id']}")

    def ended() -> dict[str, Any] | None:
        now: dict[str, Any] = client.get(f"{place}/{run['id']}").json()
        return None if now["state"] == "running" else now

    run = until(ended, "the end of the run")
    assert run["state"] == "done"
    (file,) = run["report"]["files"]
    assert file["path"] == path.name
    for bad in ({"files": []}, {"files": [sent], "options": {"jobs": "two"}}, {"files": [3]}, {"files": ["../x"]}):
        with pytest.raises(wb.WorkbenchError):
            client.ask("POST", place, json=bad, changes=True)
    for name in ("", "a/b", "..", "x" * 300):
        with pytest.raises(wb.Invalid):
            client.upload(f"{place}/files", path, params={"name": name})


TESTS: tuple[Any, ...] = (
    5,
    {},
    {"files": []},
    {"files": [1]},
    {"files": [-1]},
    {"files": [True]},
    {"files": ["0"]},
    {"files": [0], "beside": [0]},
    {"files": [0], "more": 1},
    {"files": [0], "odd": [1]},
    {"files": [0], "labels": {"cellar": "x"}},
    {"files": [0], "labels": {"batch": 5}},
    {"files": [0], "labels": {"batch": "a\0b"}},
    {"files": [0], "labels": {"tags": "x"}},
    {"files": [0], "labels": {"cell": {"mass": {"value": "1", "unit": "g"}}}},
    {"files": [0], "labels": {"cell": {"mass": [1]}}},
    {"files": [0], "labels": {"ratings": {"capacity": 5}}},
    {"files": [0], "labels": {"reading": {"parts": ["/etc/passwd"]}}},
    {"files": [0], "labels": {"reading": {"sign": "nonsense"}}},
)
"""What no ingest takes for a test."""


def test_what_no_sheet_says_is_refused_and_the_file_stays(lab: Sides, files: list[Path]) -> None:
    client = lab.far.backend.client  # type: ignore[attr-defined]
    place = f"/projects/{lab.far.backend.project.id}/ingests"
    sent = client.upload(f"{place}/files", files[0], params={"name": files[0].name}).json()["file"]
    for test in TESTS:
        with pytest.raises(wb.Invalid):
            client.ask("POST", place, json={"files": [sent], "tests": [test]}, changes=True)
    run = client.ask("POST", place, json={"files": [sent], "tests": [{"files": [0]}]}, changes=True).json()
    assert run["of"] == 1


def written(path: Path, start: int = 0) -> Path:
    """A discharge of a hundred seconds."""
    rows = (f"{start + n},1.0,{4 - (start + n) / 1000}" for n in range(100))
    path.write_text("\n".join(["Time [s],Current [A],Voltage [V]", *rows, ""]))
    return path


@pytest.mark.parametrize("name", ["out.bdf.csv", "mine.csv"])
def test_an_exported_file_brings_what_is_known_of_it(tmp_path: Path, name: str) -> None:
    told_of: list[Any] = []
    for where in ("near", "far"):
        folder = tmp_path / where
        folder.mkdir()
        with sides(folder / "lab.db") as lab:
            bench = lab.near if where == "near" else lab.far
            report = lab.near.ingest(
                written(folder / "c.csv"), specification="S", rating="5Ah,2.5V,4.2V", batch="B", instance="c"
            )
            record = lab.near.measurements.update(str(report[0].measurement_id), tags=["told"])
            lab.near.measurements.export(record, folder / "out.bdf.csv")
            lab.near.measurements.delete(record)
            (folder / "out.bdf.csv").rename(folder / name)
            (folder / "out.bdf.json").rename(folder / name.replace(".csv", ".json"))
            (again,) = bench.ingest(folder / name)
            made = bench.measurements.get(str(again.measurement_id))
            told_of.append((made.tags, made.instance_name, made.batch_name, made.name, again.format))
    assert told_of[0] == told_of[1]
    assert told_of[0][0] == ["told"]


def test_parts_of_one_test_are_joined_there(tmp_path: Path) -> None:
    reports = []
    folder = tmp_path / "in"
    folder.mkdir()
    for number in (1, 2):
        written(folder / f"c_t_{number}.csv", 100 * number)
    for where in ("near", "far"):
        (tmp_path / where).mkdir()
        with sides(tmp_path / where / "lab.db") as lab:
            bench = lab.near if where == "near" else lab.far
            reports.append(told(bench.ingest(folder, name_rule="{cell}_{test}_{part}", zone="Europe/Berlin")))
    assert reports[0] == reports[1]
    assert reports[0][0]["path"].endswith("and 1 more part")
    assert (reports[0][0]["status"], reports[0][0]["rows"]) == ("stored", 200)


def test_a_sheet_labels_each_cell_of_one_table(lab: Sides, tmp_path: Path) -> None:
    """The sheet is read here and the table there: its rows about cells of the table go along."""
    time = np.arange(100.0)
    flow = np.where(time < 50, 1.0, -1.0)
    columns = {"time [s]": time, "voltage [V]": 3.7 - 0.001 * time}
    cells = [pd.DataFrame({"cell": name, **columns, "current [A]": flow * n}) for n, name in enumerate("AB", 1)]
    (tmp_path / "in").mkdir()
    pd.concat(cells).to_csv(tmp_path / "in" / "rack.csv", index=False)
    files = ["rack.csv!A", "in/rack.csv!B", "rack.csv!C", "other.csv!A"]
    sheet = pd.DataFrame({"file": files, "cell": ["one", "two", "three", "four"], "batch": ["X", "Y", "X", "X"]})
    for bench, folder in ((lab.far, tmp_path / "in"), (lab.near, tmp_path / "in" / "rack.csv")):
        report = bench.ingest(folder, sheet=sheet)
        assert [file.status for file in report.files] == ["stored" if bench is lab.far else "duplicate"] * 2
        assert report.unused == [
            "Row 4: no file matches 'rack.csv!C'.",
            "Row 5: no file matches 'other.csv!A'.",
        ]
        assert [remark for file in report.files for remark in file.odd if "No row" in remark] == []
    batches = {row["name"]: row["batch_name"] for row in lab.near.instances.list().to_dict("records")}
    assert batches == {"one": "X", "two": "Y"}
