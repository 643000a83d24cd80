"""The commands of alerts: what was found is listed until it is acknowledged; a watch says it once and sends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.alert_case import RECIPE
from support.cycler_file import cycler_text
from support.hook_server import hook_server
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=True)
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


@pytest.mark.filterwarnings("ignore::workbench.errors.StoreNotice")
def test_a_watch_says_what_alerts_find_and_sends_it(tmp_path: Path) -> None:
    store, folder = tmp_path / "lab.db", tmp_path / "data"
    folder.mkdir()
    lines = cycler_text(4).splitlines(keepends=True)
    (folder / "a.csv").write_text("".join(lines[:67]))
    watch = ("watch", str(folder), "--store", str(store), "--once", "--settle", "0", "--every", "0.1")
    assert "Alert" not in run(*watch)
    with hook_server() as hook:
        assert f"{hook.url}, also in the own network" in run(
            "webhooks", "allow", hook.url, "--private", "--store", str(store)
        )
        with wb.open(store) as bench:
            plot = bench.dashboards.create("Ageing").save("Cycles", RECIPE)
            bench.alerts.create(plot, "A cycle", "cycles", "Discharge capacity [A.h]", above=0, webhook=hook.url)
        (folder / "a.csv").write_text("".join(lines))
        said = [line for line in run(*watch).splitlines() if line.startswith("Alert")]
        assert [line.rpartition(", Discharge")[0] for line in said] == [
            "Alert     'A cycle': a, a, Cycle count 2",
            "Alert     'A cycle': a, a, Cycle count 3",
        ]
        assert run(*watch).count("Alert") == 0
        (found, other) = json.loads(run("alerts", "list", "--store", str(store), "--json"))
        assert sorted(hook.ids) == sorted((found["id"], other["id"]))
    listed = run("alerts", "list", "--store", str(store))
    assert "delivered" in listed
    assert "a, a, Cycle" in listed
    run("alerts", "acknowledge", found["id"], "--store", str(store))
    assert len(json.loads(run("alerts", "list", "--store", str(store), "--json"))) == 1
    assert len(json.loads(run("alerts", "list", "--all", "--store", str(store), "--json"))) == 2
    assert json.loads(run("webhooks", "list", "--store", str(store), "--json"))[0]["address"] == hook.url
    run("webhooks", "remove", hook.url, "--store", str(store))
    assert json.loads(run("webhooks", "list", "--store", str(store), "--json")) == []
