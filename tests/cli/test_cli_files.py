"""The commands that take files in and give measurements out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.cycler_file import cycler_text

import workbench as wb
from workbench.cli import app
from workbench.errors import BadRequest, NotFound
from workbench.ingest import Report
from workbench.ingest.processes import warm_workers
from workbench.ingest.report.report import FileReport

RULE = "{batch}_{cell}_{test}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(2):
        (folder / f"A_c{number}_RPT.csv").write_text(cycler_text(2, number / 10))
    (tmp_path / "cells.csv").write_text('file,specification,rating,tags\n*,LG M50,"5Ah,2.5V,4.2V",x\n')
    return folder


def run(*words: str | Path) -> int:
    try:
        app([str(word) for word in words], standalone_mode=False)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_a_folder_by_one_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "lab.db"
    words = ["ingest", data, "--store", store, "--sheet", tmp_path / "cells.csv", "--name-rule", RULE, "--json"]
    assert run(*words, "--dry-run") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["dry_run"]
    assert [file["status"] for file in told["files"]] == ["stored", "stored"]
    assert not store.exists()
    assert run(*words, "--report", tmp_path / "r.csv") == 0
    assert (tmp_path / "r.csv").read_text().count("stored") == 2
    capsys.readouterr()
    assert run(*words) == 0
    assert json.loads(capsys.readouterr().out)["summary"] == "2 already there"
    with wb.open(store) as bench:
        assert set(bench.measurements.list()["batch_name"]) == {"A"}


def test_a_reader_starts_before_the_store_is_opened(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def opened(*_: object, **__: object) -> None:
        done.append("store")
        raise NotFound("There is no such store.")

    monkeypatch.setattr(warm_workers, "start", lambda: done.append("reader"))
    monkeypatch.setattr("workbench.cli.files.open_bench", opened)
    words = ["ingest", data, "--store", tmp_path / "lab.db"]
    for more, expected in (([], ["reader", "store"]), (["--executor", "threads"], ["store"])):
        with pytest.raises(NotFound):
            run(*words, *more)
        assert done == expected
        done.clear()


def test_a_watch_that_ends(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["watch", data, "--store", tmp_path / "lab.db", "--name-rule", RULE, "--settle", "0.05", "--once"]
    assert run(*words) == 0
    out = capsys.readouterr().out
    assert out.count("stored") == 2
    assert "c1 RPT, 66 rows" in out


def test_a_watch_says_which_last_line_it_left_out(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "A_c1_RPT.csv"
    (data / name).write_text((data / name).read_text().rstrip("\n"))
    assert run("watch", data, "--store", tmp_path / "lab.db", "--settle", "0.05", "--once") == 0
    (said,) = [line for line in capsys.readouterr().out.splitlines() if "not complete yet" in line]
    assert f"The last line of '{name}'" in said
    assert said.endswith("If the file ends there, ingest it.")


def test_a_watch_of_no_folder_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="There is no folder"):
        run("watch", tmp_path / "exprots", "--store", tmp_path / "lab.db")
    assert not (tmp_path / "lab.db").exists()


def test_a_watch_says_the_same_of_a_file_once(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = FileReport("a.csv", "stored", instance="a", measurement="a", added=1, odd=["It repeats."])
    grown = replace(one, status="extended", odd=["It repeats.", "It falls."])
    rounds = [Report([one]), Report([grown]), Report([FileReport("b.csv", why="No.")] * 2)]
    monkeypatch.setattr(wb.Bench, "watch", lambda *_, **__: iter(rounds))
    assert run("watch", data, "--store", tmp_path / "lab.db") == 0
    said = capsys.readouterr().out
    assert "a.csv  a a, 1 row\n" in said
    assert [said.count(text) for text in ("It repeats.", "It falls.", "No.")] == [1, 1, 2]


def test_a_measurement_goes_out(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, path = tmp_path / "lab.db", tmp_path / "out.bdf.csv"
    run("ingest", data, "--store", store, "--name-rule", RULE)
    capsys.readouterr()
    assert run("export", "RPT", "--instance", "c1", "-o", path, "--store", store) == 0
    assert "out.bdf.csv and" in capsys.readouterr().out
    assert path.exists()
    assert (tmp_path / "out.bdf.json").exists()


def test_no_other_cells_measurement_goes_out(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, path = tmp_path / "lab.db", tmp_path / "out.parquet"
    run("ingest", data, "--store", store, "--name-rule", RULE)
    with wb.open(store) as bench:
        bench.measurements.update(bench.measurements.list(batch="A").iloc[0]["id"], name="only here")
        held = bench.measurements.get("only here").instance_id
        cells = bench.instances.list()
        other = cells[cells["id"] != held].iloc[0]["name"]
    with pytest.raises(NotFound, match="it belongs to another cell"):
        run("export", "only here", "--instance", other, "-o", path, "--store", store)
    assert not path.exists()
