"""The command line from outside: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from support import needs

import workbench as wb
from workbench.cli import console, main
from workbench.transform import protected


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, demo_store: Path
) -> Run:
    """Run the command in a folder of its own, on the demo's store."""
    monkeypatch.setenv("WORKBENCH_STORE", str(demo_store))
    for printer in (console.out, console.err):
        monkeypatch.setattr(printer, "_width", 200)
    monkeypatch.delenv("WORKBENCH_PROJECT", raising=False)
    monkeypatch.chdir(tmp_path)

    def ran(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, words)])
        try:
            main()
            code = None
        except SystemExit as ended:
            code = ended.code
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Ended(0 if code is None else int(code), printed.out, printed.err)

    return ran


CYCLES = """Time [s],Current [A],Voltage [V]
0,1.0,4.0
10,1.0,3.9
20,1.0,3.8
30,0.0,3.85
40,0.0,3.86
50,-1.0,3.9
60,-1.0,4.0
70,-1.0,4.1
"""


def recipe_of(folder: Path, name: str = "own.json", **parts: Any) -> Path:
    raw = {
        "plan": {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name", "batch_name"]}}},
        "transform": "def transform(data, params):\n    return px.bar(data['cells'], x='name')\n",
        **parts,
    }
    path = folder / name
    path.write_text(json.dumps(raw))
    return path


# Ways to go wrong


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["catalog", "--store", "absent.db"], 2, "There is no store at 'absent.db'"),
        (["catalog", "--store", "{folder}"], 1, "is a folder; a store is one file"),
        (["catalog", "--store", "taken"], 1, "a store is one file. Did you mean 'taken/workbench.db'?"),
        (["catalog", "--store", "taken/workbench.bd"], 2, "Did you mean 'taken/workbench.db'?"),
        (["catalog", "--store", "notes.txt"], 1, "is not an SQLite file"),
        (["catalog", "--store", "foreign.db"], 1, "a database of another application"),
        (["verify", "--store", "foreign.db"], 1, "a database of another application"),
        (["backup", "b.db", "--store", "foreign.db"], 1, "a database of another application"),
        (["catalog", "--project", "Ageeing"], 2, "There is no project 'Ageeing'. The projects are 'Default'."),
        (["catalog", "--organization", "Nope"], 2, "There is no organization 'Nope'"),
        (["verify", "--project", "Nope"], 2, "There is no project 'Nope'"),
        (["backup", "b.db", "--project", "Nope"], 2, "There is no project 'Nope'"),
        (["backup", "absent/b.db"], 2, "to write 'b.db' in. Create it, or name another one"),
        (
            ["copy-store", "taken/workbench.db", "absent/b.db"],
            2,
            "to write 'b.db' in. Create it, or name another one",
        ),
        (["demo", "foreign.db"], 2, "'foreign.db' is a file. Name a folder for the demo"),
        (["check", "absent.json"], 2, "'absent.json' cannot be read: No such file"),
        (["check", "ow.json"], 2, "Did you mean 'own.json'?"),
        (["check", "ow.json", "--store", "taken/workbench.db"], 2, "Did you mean 'own.json'?"),
        (["inspect", "own.jsn"], 2, "Did you mean 'own.json'?"),
        (["run", "Fade by btch", "-o", "x.html"], 2, "There is no saved plot 'Fade by btch'"),
        (["check", "notes.txt"], 1, "This is not JSON"),
        (["check", "latin.json"], 1, "config"),
        (["run", "notes.txt", "-o", "x.html"], 1, "This is not JSON"),
        (["run", "own.json", "-o", "x.xlsx"], 2, "A file ending in '.xlsx' cannot be written: 'x.xlsx'."),
        (
            ["run", "own.json", "-o", "taken.csv"],
            2,
            "'taken.csv' is a folder, so a file of this name cannot be written.",
        ),
        (["run", "own.json", "-o", "absent/x.html"], 2, "There is no folder 'absent' to write 'x.html' in."),
        (["run", "own.json"], 2, "Missing option '-o'"),
        (["run", "own.json", "-o", "x.csv", "--step", "cell"], 2, "has no step 'cell'. Did you mean 'cells'?"),
        (["run", "own.json", "-o", "x.png", "--step", "cells"], 2, "A step's rows go to .csv or .parquet"),
        (["run", "own.json", "-o", "x.csv", "-p", "color"], 2, "write name=text, or name:=JSON"),
        (["run", "own.json", "-o", "x.csv", "-p", "color=red"], 2, "The recipe has no param 'color'"),
        (["search", "x"], 2, "at least two characters"),
        (["search", "   "], 2, "at least two characters"),
        (["ingest", "absent.csv", "--store", "new.db"], 1, ""),
        (["ingest", "note.txt", "--store", "new.db"], 1, "Did you mean 'notes.txt'?"),
        (["ingest", "take", "--store", "new.db"], 1, "Did you mean 'taken' or 'taken.csv'?"),
        (["ingest", "notes.txt", "--store", "new.db", "--sheet", "note.txt"], 2, "Did you mean 'notes.txt'?"),
        (["ingest", "notes.txt", "--store", "new.db", "--format", "newware"], 2, "There is no format 'newware'"),
        (
            ["ingest", "notes.txt", "--store", "new.db", "--map", "Volts"],
            2,
            "--map takes 'their column=our column'",
        ),
        (["ingest", "notes.txt", "--store", "new.db", "--sign", "left"], 2, "left"),
        (["ingest", "notes.txt", "--store", "new.db", "--rating", "big"], 2, "big"),
        (["ingest", "notes.txt", "--store", "absent/new.db"], 2, "There is no folder 'absent'"),
        (["ingest"], 2, "Missing argument"),
        (["catalogue"], 2, "No such command"),
        (["catalog", "--jsn"], 2, "No such option"),
        (["demo", "taken"], 2, "is a store of your own, not a demo"),
    ],
)
def test_a_mistake_ends_in_a_sentence(run: Run, tmp_path: Path, words: list[str], code: int, told: str) -> None:
    (tmp_path / "notes.txt").write_text("no data in here, and no store either")
    (tmp_path / "latin.json").write_bytes(b'{"plan": "\xe9"}')
    recipe_of(tmp_path)
    with sqlite3.connect(tmp_path / "foreign.db") as foreign:
        foreign.execute("create table notes (text)")
    foreign.close()
    (tmp_path / "taken.csv").mkdir()
    (tmp_path / "taken").mkdir()
    wb.open(tmp_path / "taken" / "workbench.db").close()
    ended = run(*[word.format(folder=tmp_path) for word in words])
    said = ended.out + ended.err
    assert ended.code == code, said
    assert told in " ".join(said.replace("│", " ").split())
    assert not list(tmp_path.glob("x.*"))
    assert not list(tmp_path.glob("taken.csv.json"))


def test_a_store_with_several_projects_asks_which(
    run: Run, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wb.open(demo_copy) as bench:
        bench.projects.create(name="Second")
    at = ("--store", demo_copy)
    asked = run("catalog", *at)
    assert asked.code == 2
    assert "There are 2 projects here: 'Default', 'Second'. Say which with --project NAME." in asked.err
    assert "--project" in asked.err
    assert json.loads(run("catalog", *at, "--project", "Second", "--json").out)["sources"][0]["records"] < 20
    monkeypatch.setenv("WORKBENCH_PROJECT", "Default")
    assert run("catalog", *at).code == 0
    monkeypatch.delenv("WORKBENCH_PROJECT")
    assert run("verify", *at).code == 0
    assert run("backup", "both.db", *at).code == 0


# Each command


def test_ingest_reports_and_stores_once(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cell 1.csv").write_text(CYCLES)
    (tmp_path / "broken.csv").write_text("nothing,of,use\n1,2,3\n")
    words = ("ingest", "cell 1.csv", "--store", "lab.db", "--specification", "Mine", "--batch", "A")
    first = run(*words, "--rating", "5Ah,2.5V,4.2V")
    assert first.code == 0, first
    assert "cell 1" in first.out
    assert "1 stored" in first.out
    assert "Stored in lab.db, project 'Default'." in first.out
    again = json.loads(run(*words, "--json").out)
    assert again["files"][0]["status"] == "duplicate"
    assert again["files"][0]["measurement"] == "cell 1"
    both = run("ingest", "broken.csv", "cell 1.csv", "--store", "lab.db", "--json")
    assert both.code == 1
    assert [file["status"] for file in json.loads(both.out)["files"]] == ["refused", "duplicate"]
    with wb.open("lab.db") as bench:
        assert list(bench.measurements.list(batch="A")["name"]) == ["cell 1"]
        assert bench.specifications.get("Mine").ratings.capacity.value == 5


def test_ingest_says_when_it_cannot_estimate_a_capacity(run: Run, tmp_path: Path) -> None:
    (tmp_path / "idle.csv").write_text("Time [s],Current [A],Voltage [V]\n0,0.0,3.7\n60,0.0,3.7\n120,0.0,3.7\n")
    report = json.loads(run("ingest", "idle.csv", "--store", "lab.db", "--json").out)["files"][0]
    assert report["status"] == "stored"
    assert any("No charge flows in this file" in sentence for sentence in report["odd"])


def test_ingest_takes_a_column_map_and_a_sign(run: Run, tmp_path: Path) -> None:
    swapped = CYCLES.replace("Current [A]", "Strom").replace("Voltage [V]", "Spannung")
    (tmp_path / "odd.csv").write_text(swapped)
    maps = ("--map", "Strom=Current [A]", "--map", "Spannung=Voltage [V]", "--sign", "charge")
    ended = run("ingest", tmp_path / "odd.csv", "--store", "lab.db", *maps)
    assert ended.code == 0, ended
    with wb.open("lab.db") as bench:
        assert list(bench.measurements.time_series("odd")["Current [A]"][:3]) == [-1.0, -1.0, -1.0]


def test_catalog_names_sources_columns_units_and_counts(run: Run) -> None:
    printed = run("catalog").out
    assert "measurements: 77 records" in printed
    assert "Discharge capacity [A.h]" in printed
    assert "properties.ageing_temperature.value" in printed
    as_json = json.loads(run("catalog", "--json").out)
    measurements = next(source for source in as_json["sources"] if source["source"] == "measurements")
    assert measurements["records"] == 77
    assert {"name": "Voltage [V]", "type": "number", "unit": "V", "records": 77} in measurements["series"]
    step_type = next(column for column in as_json["steps"] if column["name"] == "Step type")
    assert step_type["records"] == 77


def test_check_tells_every_problem_with_its_place(run: Run, tmp_path: Path) -> None:
    steps = {"cells": {"op": "list", "source": "instances", "feilds": ["name"]}}
    bad = recipe_of(tmp_path, plan={"steps": steps}, transform="import os\ndef draw(data, params): pass\n")
    ended = run("check", bad)
    assert ended.code == 1
    assert "plan.steps.cells.feilds" in ended.err
    assert "config." not in ended.err
    assert "'fields'" in ended.err
    assert "line 1: import os" in ended.err
    details = json.loads(run("check", bad, "--json").out)
    assert details[0]["loc"] == ["config", "plan", "steps", "cells", "feilds"]


def test_check_against_a_store_and_without_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {"cells": {"op": "list", "source": "instances", "fields": ["name", "batch_nam"]}}
    path = recipe_of(tmp_path, plan={"steps": steps})
    against = run("check", path)
    assert against.code == 1
    assert "batch_nam" in against.err
    assert "'batch_name'" in against.err
    sound = run("check", recipe_of(tmp_path, "sound.json"))
    assert sound.code == 0
    assert "is sound, checked against" in sound.out
    monkeypatch.delenv("WORKBENCH_STORE")
    without = run("check", recipe_of(tmp_path, "sound.json"))
    assert "is sound, checked without a store" in without.out


@pytest.mark.parametrize("ending", ["html", "json", "csv", "parquet", "ipynb"])
def test_run_writes_what_the_ending_says(run: Run, demo_folder: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"fade.{ending}"
    ended = run("run", demo_folder / "recipes" / "fade-by-batch.json", "-o", out)
    assert ended.code == 0, ended
    assert ended.out.startswith(f"Wrote {out}: ")
    if ending == "html":
        assert "Plotly.newPlot" in out.read_text()
    elif ending == "json":
        assert set(json.loads(out.read_text())) >= {"data", "layout"}
    elif ending == "csv":
        assert out.read_text().startswith("trace,name,x,y")
    elif ending == "parquet":
        assert pq.read_table(out).column_names[:4] == ["trace", "name", "x", "y"]
    else:
        assert json.loads(out.read_text())["nbformat"] == 4


@pytest.mark.parametrize(
    ("output", "what"),
    [(["-o", "f.csv", "--step", "fade"], "the rows of a step"), (["-o", "f.ipynb"], "a notebook")],
)
def test_a_paper_is_only_for_a_figure(
    run: Run, demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: list[str], what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("run", demo_folder / "recipes" / "fade-by-batch.json", *output, "--width", "8 cm")
    assert (ended.code, list(tmp_path.glob("f.*"))) == (2, [])
    assert f"are for a figure, not for {what}." in ended.err


def test_run_and_check_take_the_name_of_a_saved_plot(run: Run, demo_store: Path, tmp_path: Path) -> None:
    with wb.open(demo_store) as bench:
        (board, *_) = bench.dashboards.list()["name"]
        name = bench.dashboards.get(board).plots()[0].name
    out = tmp_path / "plot.csv"
    ended = run("run", name, "-o", out, "--store", demo_store)
    assert ended.code == 0, ended
    assert out.read_text().startswith("trace,name,x,y")
    ended = run("check", name, "--store", demo_store)
    assert ended.code == 0, ended
    assert f"{name} is sound" in ended.out


@pytest.mark.long
def test_run_writes_a_picture(run: Run, demo_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("kaleido")
    needs.chromium()
    ended = run("run", demo_folder / "recipes" / "cycle-life.json", "-o", "life.png")
    assert ended.code == 0, ended
    assert (tmp_path / "life.png").read_bytes().startswith(b"\x89PNG")


def test_run_fits_a_figure_to_paper(run: Run, demo_folder: Path, tmp_path: Path) -> None:
    recipe = demo_folder / "recipes" / "fade-by-batch.json"
    ended = run("run", recipe, "-o", "fade.json", "--paper", "nature", "--width", "8.5 cm", "--font", "8 pt")
    assert ended.code == 0, ended
    layout = json.loads((tmp_path / "fade.json").read_text())["layout"]
    assert layout["template"]["layout"]["width"] == 321
    assert layout["yaxis"]["title"]["text"] == "Capacity retention (%)"
    ended = run("run", recipe, "-o", "fade.csv", "--tidy")
    assert ended.code == 0, ended
    assert (tmp_path / "fade.csv").read_text().startswith("Curve,Series,Cycle count,Capacity retention [%]")
    ended = run("run", recipe, "-o", "fade.json", "--width", "wide")
    assert (ended.code, "width cannot be read: 'wide'" in ended.err) == (2, True), ended


def test_run_writes_the_rows_of_a_step(run: Run, demo_folder: Path, tmp_path: Path) -> None:
    ended = run("run", demo_folder / "recipes" / "cycle-life.json", "-o", "life.csv", "--step", "rows")
    assert ended.code == 0, ended
    head, *rows = (tmp_path / "life.csv").read_text().splitlines()
    assert head.startswith("measurement_id,Cycle count,Discharge capacity [A.h]")
    assert len(rows) > 1400


def test_run_reads_values_by_option_label_and_type(run: Run, demo_folder: Path, tmp_path: Path) -> None:
    recipe = demo_folder / "recipes" / "cycle-life.json"

    def drawn(*words: str) -> dict[str, Any]:
        assert run("run", recipe, "-o", "life.json", *words).code == 0
        figure: dict[str, Any] = json.loads((tmp_path / "life.json").read_text())
        return figure

    by_value = drawn("-p", "color=none", "-p", "sort=false")
    assert drawn("-p", "color=one for all", "-p", "sort:=false") == by_value
    assert drawn() != by_value
    account = json.loads(run("run", recipe, "-o", "life.json", "-p", "cells=M50-A-01", "--json").out)
    assert account["values"]["cells"] == ["M50-A-01"]
    assert account["reads"]["steps"] > 0
    again = json.loads(
        run("run", recipe, "-o", "life.json", "-p", "cells=M50-A-01", "-p", "threshold=80", "--json").out
    )
    assert again["values"]["threshold"] == 80
    assert again["reads"] == {"steps": 0, "sources": 0}


def test_run_finds_live_choices_by_their_label(run: Run, demo_store: Path, tmp_path: Path) -> None:
    control = {"optionsFrom": {"step": "cells", "value": "id", "label": "name"}}
    fields = ["id", "name"]
    path = recipe_of(
        tmp_path,
        plan={
            "steps": {
                "cells": {"op": "list", "source": "instances", "fields": fields},
                "chosen": {"op": "list", "source": "instances", "fields": fields, "where": {"ids": "$cells"}},
            }
        },
        params={"cells": {"kind": "data", "default": [], "control": control}},
        transform="def transform(data, params):\n    return px.bar(data['chosen'], x='name')\n",
    )
    words = ("-p", "cells=M50-A-02", "-p", "cells=LFP-C-01")
    assert run("run", path, "-o", "chosen.csv", "--step", "chosen", *words).code == 0
    assert sorted(line.split(",")[1] for line in (tmp_path / "chosen.csv").read_text().splitlines()[1:]) == [
        "LFP-C-01",
        "M50-A-02",
    ]
    gone = run("run", path, "-o", "none.csv", "--step", "chosen", "-p", "cells=M50-Z-99")
    assert gone.code == 0
    assert "Not among the choices of 'cells'" in gone.err


def test_run_shows_where_a_script_failed(run: Run, tmp_path: Path) -> None:
    script = "def transform(data, params):\n    return data['cells']['nmae']\n"
    ended = run("run", recipe_of(tmp_path, transform=script), "-o", "x.html")
    assert ended.code == 1
    assert "transform: Line 2" in ended.err
    assert "config." not in ended.err
    assert "line 2: return data['cells']['nmae']" in ended.err


@pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's")
def test_run_draws_protected_if_asked(run: Run, tmp_path: Path) -> None:
    reads = (
        "def transform(data, params):\n    return {'data': [], 'layout': {'meta': pd.io.common.os.listdir('/')}}\n"
    )
    path = recipe_of(tmp_path, transform=reads)
    assert run("run", path, "-o", "near.json").code == 0
    try:
        refused = run("run", path, "-o", "far.json", "--protected")
        assert refused.code == 1
        assert "Line 2: PermissionError" in refused.err
        assert not (tmp_path / "far.json").exists()
        honest = recipe_of(tmp_path, "honest.json")
        assert run("run", honest, "-o", "a.json").code == 0
        drawn = run("run", honest, "-o", "b.json", "--protected", "--json")
        assert json.loads(drawn.out)["cache"]["figure"] == "miss"
        assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    finally:
        protected.shared().close()


def test_what_a_script_says_moves_nothing_on_a_terminal(run: Run, tmp_path: Path) -> None:
    says = "def transform(data, params):\n    raise ValueError('\\x1b]52;c;ZXZpbA==\\x07\\x1b[2J\\rfine\\x9b\\u202e')\n"
    ended = run("run", recipe_of(tmp_path, transform=says), "-o", "x.html")
    assert ended.code == 1
    assert r"ValueError: \x1b]52;c;ZXZpbA==\x07\x1b[2J\rfine\x9b\u202e" in ended.err
    assert not set(ended.err) & set("\x1b\x07\r\x9b\u202e")


def test_search_prints_kind_and_name(run: Run) -> None:
    printed = run("search", "m50-a-01").out
    assert "cell_instance" in printed
    assert "M50-A-01_RPT0" in printed
    assert json.loads(run("search", "m50-a-01", "--json").out)["query"] == "m50-a-01"
    assert "No name and no note holds 'zzzz'" in run("search", "zzzz").out
    assert "see more with --limit" in run("search", "M50", "--limit", "3").out
    assert "Only the first 20 are shown of: cell_measurement." in run("search", "M50", "--limit", "100").out


def test_backup_and_verify(run: Run, tmp_path: Path) -> None:
    assert run("verify").out.endswith("is sound.\n")
    assert run("backup", "copy.db").code == 0
    taken = run("backup", "copy.db")
    assert taken.code == 2
    assert "exists already" in taken.err
    assert json.loads(run("backup", "other.db", "--json").out)["bytes"] > 0
    assert run("verify", "--store", "copy.db", "--json").out.strip() == "[]"
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        name = copy.execute("select name from sqlite_master where name like 'chunk%'").fetchone()[0]
        columns = [row[1] for row in copy.execute(f"pragma table_info({name})") if row[2] == "BLOB"]
        damaged = f"zeroblob(length({columns[0]}))"
        copy.execute(f"update {name} set {columns[0]} = {damaged} where rowid = (select max(rowid) from {name})")
    copy.close()
    found = run("verify", "--store", "copy.db")
    assert found.code == 1
    assert found.err.strip()


def test_demo_uses_the_one_that_is_there(run: Run, tmp_path: Path, demo_copy: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    demo_copy.rename(folder / "workbench.db")
    ended = run("demo", folder, "--no-serve", "--check")
    assert ended.code == 0, ended
    assert "Fade by batch" in ended.out
    assert str(folder / "figures" / "index.html") in ended.out
    assert (folder / "figures" / "index.html").exists()


def test_version_and_help(run: Run) -> None:
    assert run("--version").out.strip() == wb.__version__
    assert "ingest" in run("--help").out


def test_the_installed_command_prints_utf8_and_no_bar_into_a_pipe(demo_store: Path, tmp_path: Path) -> None:
    script = "import sys; from workbench.cli import main; sys.argv[0] = 'workbench'; main()"
    words = [sys.executable, "-c", script, "verify", "--store", str(demo_store)]
    done = subprocess.run(words, capture_output=True, timeout=60, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == b""
