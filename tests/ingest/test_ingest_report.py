"""The report of an ingest: what it holds, how it is kept, and that every assumption names what settles it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from support.cycler_file import cycler_text

import workbench as wb
from workbench.errors import BadRequest
from workbench.ingest.report.report import FileReport, Report
from workbench.ingest.report.said_often import short_names
from workbench.ingest.report.settled_by import settled_by
from workbench.messages import typed_in

SOURCES = Path(wb.__file__).parent


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


def codes() -> set[str]:
    """The codes of all that readers, checks and ingest assume, out of their sources."""
    found = set()
    for folder in ("readers", "cycling", "ingest"):
        for path in (SOURCES / folder).rglob("*.py"):
            text = path.read_text()
            found |= set(re.findall(r"(?:Note|Finding|_say)\(\s*\"assumed\",\s*\"([a-z_]+)\"", text))
            found |= set(re.findall(r"\.assume\(\s*\"([a-z_]+)\"", text))
    return found | {"sign_from_state", "sign_from_voltage"}


def test_every_assumption_has_what_settles_it() -> None:
    known = codes()
    assert len(known) > 15
    assert [code for code in sorted(known) if settled_by(code) is None] == []
    assert settled_by("no such code") is None
    assert "--" not in str(settled_by("sign_kept"))  # no option changes a drive cycle
    with typed_in("terminal"):
        assert settled_by("time_zone", "--zone UTC") == "--zone UTC"
        assert settled_by("one_cycle") == '--map "their column=Cycle from cycler"'


def test_one_file_names_the_option_that_settles_an_assumption(bench: wb.Bench, tmp_path: Path) -> None:
    rows = "".join(f"{60 * n},{3.7 - 0.001 * n},{1 if n < 50 else -1}\n" for n in range(100))
    (tmp_path / "one.csv").write_text("Time,Voltage [V],Current [A]\n" + rows)
    report = bench.ingest(tmp_path / "one.csv", sign="discharge")
    option = 'Settled by column_map={"Time": "Time [s]"}.'
    screen = Console(file=io.StringIO(), width=400)
    screen.print(report)
    assert option in screen.file.getvalue()
    assert option in repr(report)
    assert option.replace('"', "&quot;") in report._repr_html_()


def test_headings_of_a_notebook_are_above_what_they_head(bench: wb.Bench, tmp_path: Path) -> None:
    """JupyterLab writes the cells of a table at the right: the headings of texts were there, the texts at the left."""
    (tmp_path / "one.csv").write_text(cycler_text(2, 0.0))
    table = bench.ingest(tmp_path / "one.csv")._repr_html_()
    side = r"<t(h|d) style='text-align:(left|right)'>"
    heads, cells = ([found[1] for found in re.findall(side, table) if found[0] == kind] for kind in "hd")
    assert heads[:9] == cells[:9] == ["left"] * 3 + ["right"] * 3 + ["left"] * 3


def test_in_sum(bench: wb.Bench, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.csv").write_text(cycler_text(2, number / 10))
    (folder / "notes.txt").write_text("hello\n")
    report = bench.ingest(folder, sheet=[{"file": "9*", "tags": "x"}])
    assert report.summary.startswith("4 stored")
    sums = {row["format"]: row for row in report.by_format()}
    assert (sums["delimited"]["files"], sums["delimited"]["rows"], sums["delimited"]["cycles"]) == (4, 264, 8)
    (sign,) = [row for row in report.assumptions() if row["assumed"] == "sign_from_voltage"]
    assert (sign["files"], sign["settled by"]) == (4, 'sign="discharge"')
    assert report.unused == ["Row 2: no file matches '9*'."]
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report)
    text = console.export_text()
    for words in ("By format", "What was assumed, and what settles it", 'sign="discharge"', "match no file"):
        assert words in text
    assert "What was assumed" in report._repr_html_()


def test_a_table_that_no_format_knows_is_told_with_its_map_apart_from_junk(
    bench: wb.Bench, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [f"{n},{3.5 + n / 100:.2f},{1.0}" for n in range(20)]
    (folder / "own.csv").write_text("\n".join(["Zeitpunkt,U_Zelle,I_Zelle", *rows]))
    (folder / "half.csv").write_text("\n".join(["seconds passed,cell volts,flow", *rows]))
    (folder / "masses.csv").write_text("\n".join(["cell,mass,height", *rows]))
    (folder / "prose.txt").write_text("The time, the current, and the voltage\nwere, all three, measured.\n" * 9)
    for number in range(12):
        (folder / f"note {number}.md").write_text("# hello\n")
    report = bench.ingest(folder)
    assert report.ok
    assert sorted(Path(file.path).name for file in report.unmapped) == ["half.csv", "own.csv"]
    assert len(report.skipped) == 14
    assert report.summary == "2 not read: names of columns are missing, 14 skipped: no known format"
    (half,) = [file for file in report.unmapped if "half" in file.path]
    assert 'column_map={"seconds passed": "Time [s]", "cell volts": "Voltage [V]"}' in half.why
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report)
    text = " ".join(console.export_text().split())
    for words in ("Tables that look like tests", "half.csv", "cell volts", "note 11.md", "masses.csv"):
        assert words in text
    assert "more" not in text.partition("Skipped")[2]
    assert "cell volts" in report._repr_html_()
    frame = report.frame()
    assert (frame["status"] == "skipped").sum() == 16
    assert len(report.as_dict()["unmapped"]) == 2


def test_of_very_many_skipped_files_the_kinds_are_told_and_where_all_stand() -> None:
    report = Report([], skipped=[f"{n}.jpg" for n in range(1200)] + ["README"])
    console = Console(width=200, record=True, file=io.StringIO())
    with typed_in("terminal"):
        console.print(report)
    text = " ".join(console.export_text().split())
    assert "Skipped: 1 201 files (1 200 of .jpg, 1 of no ending); --report keeps their names." in text
    assert len(report.frame()) == 1201


def test_many_files_are_told_in_short() -> None:
    files = [FileReport(f"{n}.csv", "stored", created=["x"]) for n in range(40)]
    files[3].odd.append("Look at this <b>.")
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(Report(files))
    text = console.export_text()
    assert "39 files were read without warnings." in text
    assert "Look at this" in text
    assert "17.csv" not in text
    assert "&lt;b&gt;" in Report(files)._repr_html_()


def test_it_can_be_kept(bench: wb.Bench, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(cycler_text())
    report = bench.ingest([tmp_path / "a.csv", tmp_path / "none.csv"], batch="A")
    frame = report.frame()
    assert frame["status"].tolist() == ["stored", "refused"]
    assert frame.loc[0, ["rows", "added", "batch", "instance", "measurement"]].tolist() == [66, 66, "A", "a", "a"]
    assert "There is no file" in frame["why"][1]
    csv = pd.read_csv(report.save(tmp_path / "r.csv"), keep_default_na=False)
    parquet = pd.read_parquet(report.save(tmp_path / "r.parquet"))
    for kept in (csv, parquet):
        assert list(kept) == list(frame)
        assert kept["assumed"].tolist() == frame["assumed"].tolist()
    told = json.loads(report.save(tmp_path / "r.json").read_text())
    assert told["summary"] == report.summary
    assert told["files"][0]["measurement_id"] == report[0].measurement_id
    with pytest.raises(BadRequest, match="csv"):
        report.save(tmp_path / "r.cvs")


def test_what_a_hundred_files_say_is_said_once() -> None:
    files = [
        FileReport(f"/data/of/the/lab/{n // 10}/c{n % 10}.csv", "stored", measurement_id=str(n))
        for n in range(100)
    ]
    for n, file in enumerate(files):
        file.odd.append(f"Time falls {n + 1} times, first at sample {7 * n}, in 'Time {n}'.")
        file.created.append(f"batch '{n}'")
    files[3].odd.append("Only this one.")
    files += [FileReport(f"/data/of/the/lab/bad {n}.csv", why=f"'bad {n}.csv' has no rows.") for n in range(5)]
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(Report(files))
    text = console.export_text()
    assert text.count("Time falls") == 1
    assert text.count("has no rows") == 1
    assert text.count("Only this one.") == 1
    assert "0/c3.csv" in text
    assert "/data/of" not in text
    assert "104 files were read without warnings of their own." not in text
    assert "99 files were read without warnings of their own, and 5 were refused." in text
    assert "Created: 100 batches" in text
    assert "Time falls 1 times" in Report(files)._repr_html_()


def test_names_of_files_are_short_and_differ() -> None:
    assert short_names(["x/a.csv"]) == ["a.csv"]
    assert short_names(["x/1/a.csv", "x/2/a.csv", "b.csv"]) == ["1/a.csv", "2/a.csv", "b.csv"]
    assert short_names(["a.csv", "x/a.csv"]) == ["a.csv", "x/a.csv"]
    long = ["n" * 60 + f"{n}.csv" for n in range(2)]
    assert [len(name) for name in short_names(long)] == [40, 40]
    assert short_names(["same.csv", "same.csv"]) == ["same.csv", "same.csv"]
    alike = [f"{n}{'x' * 60}.csv" for n in range(2)]
    assert short_names(alike) == alike
