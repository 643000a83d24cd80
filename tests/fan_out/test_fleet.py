"""All dashboards and all tests of a project at once: the same local, remote and in other processes."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from support.local_and_remote import opened
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.errors import BadRequest, ExecutorAway, NotFound
from workbench.exchange import writing
from workbench.exchange.passport import Passport
from workbench.fleet import Place, measurement_written
from workbench.records import Dashboard

SCRIPT = "def transform(data, params):\n    return px.bar(data['cells'], x='name')\n"
BROKEN = "def transform(data, params):\n    raise ValueError('no such thing')\n"
FILES = ["C_1_RPT_1.bdf.parquet", "C_1_rpt_1_2.bdf.parquet", "C_1_.._up.bdf.parquet"]


def recipe(name: str, script: str = SCRIPT) -> wb.Recipe:
    where = {"nameContains": name}
    step = {"op": "list", "source": "instances", "fields": ["id", "name"], "where": where}
    return wb.Recipe(plan={"steps": {"cells": step}}, transform=script)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with wb.open(tmp_path / "lab.db") as bench:
        ratings = {"capacity": {"value": 1.0, "unit": "A.h"}, "voltage_min": {"value": 3.0, "unit": "V"}}
        bench.specifications.create(name="S", ratings={**ratings, "voltage_max": {"value": 4.2, "unit": "V"}})
        bench.instances.create(name="C/1", specification="S")
        for number, name in enumerate(("RPT 1", "rpt 1", "../up")):
            samples = {
                "Time [s]": [0.0, 10, 20],
                "Current [A]": [1.0, 1, 1 + number],
                "Voltage [V]": [4.0, 3.9, 3.8],
            }
            bench.measurements.create(
                name=name, instance="C/1", time_series=pd.DataFrame(samples), sign="discharge"
            )
        for name in ("First", "Second"):
            bench.dashboards.create(name=name).save("Cells", recipe(name))
    return tmp_path / "lab.db"


def at_hand(bench: wb.Bench, board: str) -> bool:
    """Whether a dataset and a figure of a dashboard are in the cache."""
    (plot,) = bench.backend.plots(bench.backend.get(Dashboard, board))
    return bench.backend.cached_figure(bench.config_of(recipe(board)), {}) is not None and plot.name == "Cells"


@pytest.mark.parametrize("executor", ["serial", "processes:1"])
def test_what_was_warmed_is_at_hand_and_nothing_else(place: Path, executor: str) -> None:
    said: list[tuple[int, int, str]] = []
    with wb.open(place, executor=executor) as bench:
        assert not at_hand(bench, "First")
        done = bench.warm("First", progress=lambda *told: said.append(told))
        assert (done.plots, done.failed) == (1, {})
        assert (at_hand(bench, "First"), at_hand(bench, "Second")) == (True, False)
        assert bench.warm().plots == 2
        assert at_hand(bench, "Second")
        assert said == [(0, 1, "First: Cells"), (1, 1, "")]


def test_a_plot_that_fails_is_named_and_the_others_are_ready(place: Path) -> None:
    with wb.open(place) as bench:
        bench.dashboards.get("Second").save("Broken", recipe("Second", BROKEN))
        done = bench.warm(["First", "Second"])
        assert (done.plots, [*done.failed]) == (2, ["Second: Broken"])
        assert "no such thing" in done.failed["Second: Broken"]
        assert repr(done).splitlines()[0] == "2 plots ready."
        with pytest.raises(NotFound):
            bench.warm("Third")


@pytest.mark.parametrize("where", ["near", "far"])
def test_a_server_warms_and_exports_the_same(place: Path, tmp_path: Path, where: str) -> None:
    (tmp_path / "out").mkdir()
    with opened(place, where) as bench:
        assert bench.warm().plots == 2
        assert bench.export_tests(tmp_path / "out") == {}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)


def test_exported_tests_are_the_same_from_other_processes(place: Path, tmp_path: Path) -> None:
    for executor in ("serial", "processes:1"):
        (tmp_path / executor[:6]).mkdir()
        with wb.open(place, executor=executor) as bench:
            assert bench.export_tests(tmp_path / executor[:6]) == {}
    for name in FILES:
        frames = [pd.read_parquet(tmp_path / folder / name) for folder in ("serial", "proces")]
        pd.testing.assert_frame_equal(*frames)


@pytest.mark.long
def test_exported_tests_come_back(place: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with wb.open(place, executor="processes:2") as bench:
        assert bench.export_tests(tmp_path / "out") == {}
    with wb.open(tmp_path / "back.db") as bench:
        assert [one.status for one in bench.ingest(tmp_path / "out").files] == ["stored"] * 3
        assert sorted(bench.measurements.list()["name"]) == ["../up", "RPT 1", "rpt 1"]


def test_what_cannot_be_written_is_said_before_anything_is(place: Path, tmp_path: Path) -> None:
    with wb.open(place) as bench:
        with pytest.raises(BadRequest, match=r"cannot be written as '.xlsx'. The endings are .bdf.csv"):
            bench.export_tests(tmp_path, ending=".xlsx")
        with pytest.raises(BadRequest, match="There is no folder"):
            bench.export_tests(tmp_path / "absent")
        made = Place(bench.backend)
        with pytest.raises(ExecutorAway, match=r"cannot reach the folder '.*absent'"):
            measurement_written(made, "any", str(tmp_path / "absent" / "a.parquet"))


def test_a_file_that_the_system_refuses_does_not_stop_the_others(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    write = writing._parquet

    def parquet(path: Path, tables: Iterator[pa.Table], passport: Passport) -> None:
        if passport.measurement["name"] == "rpt 1":
            raise OSError(errno.ENOSPC, "Error writing bytes to file")
        write(path, tables, passport)

    monkeypatch.setattr(writing, "_parquet", parquet)
    with wb.open(place) as bench:
        assert bench.export_tests(tmp_path / "out") == {FILES[1]: "No space left on device."}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([FILES[0], FILES[2]])


def test_the_commands_say_what_they_did(place: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, [*words, "--store", str(place)])
        assert done.exit_code == 0, done.output
        return done.output

    assert "2 plots ready." in run("warm")
    assert '"plots": 1' in run("warm", "First", "--json")
    exported = ("export-tests", str(tmp_path / "out"), "--ending", ".parquet", "--where")
    assert "Wrote 1 test to" in run(*exported, "name=RPT 1")
    assert '"written": 1' in run(*exported, "name=RPT 1", "--json")
    assert "No test was found" in run(*exported, "batch=Z")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["C_1_RPT_1.parquet"]
