"""Nothing stale is ever shown, whoever wrote; and a change of a view param reads nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb

RATINGS = (
    "dict(capacity=dict(value=5.0, unit='A.h'), voltage_min=dict(value=2.5, unit='V'), "
    "voltage_max=dict(value=4.2, unit='V'))"
)
PLAN = {
    "steps": {
        "cells": {"op": "list", "source": "instances", "fields": ["id", "name"]},
        "tests": {
            "op": "list",
            "source": "measurements",
            "fields": ["id", "name"],
            "where": {"instanceIds": "$cells"},
        },
        "curves": {
            "op": "series",
            "source": "measurements",
            "ids": {"from": "tests", "column": "id"},
            "x": "Time [s]",
            "columns": ["Voltage [V]"],
        },
        "cycles": {
            "op": "summary",
            "dataset": "cycles",
            "ids": {"from": "tests", "column": "id"},
            "columns": ["Cycle count", "Discharge capacity [A.h]"],
        },
        "life": {
            "op": "aggregate",
            "input": "cycles",
            "group_by": ["measurement_id"],
            "metrics": {"charge": {"fn": "sum", "column": "Discharge capacity [A.h]"}},
        },
    }
}
PARAMS = {
    "cells": {
        "kind": "data",
        "default": None,
        "control": {"optionsFrom": {"step": "cells", "value": "id", "label": "name"}},
    },
    "width": {"kind": "view", "default": 2, "control": {"min": 1, "max": 9}},
}
SCRIPT = """
def transform(data, params):
    figure = go.Figure()
    for id, frame in data["curves"].items():
        figure.add_scatter(x=frame["Time [s]"], y=frame["Voltage [V]"], line={"width": params["width"]})
    figure.update_layout(title={"text": str(data["life"]["charge"].sum())})
    return figure
"""
RECIPE = wb.Recipe(plan=PLAN, transform=SCRIPT, params=PARAMS)
OTHER = """
import json, sys, traceback
import numpy as np
import workbench as wb

def frame(start, n, step=0):
    time = np.arange(start, start + n, dtype=float)
    return {"Time [s]": time, "Current [A]": np.full(n, 2.0), "Voltage [V]": 4.0 - time / 1000,
            "Step count": np.full(n, step), "Cycle count": np.zeros(n, int)}

benches = {}
for line in sys.stdin:
    path, words = json.loads(line)
    try:
        benches.setdefault(path, wb.open(path))
        exec(words, {"bench": benches[path], "frame": frame, "wb": wb})
        answer = ""
    except Exception:
        answer = traceback.format_exc()
    print(json.dumps(answer), flush=True)
"""

Elsewhere = Callable[[str], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


@pytest.fixture(scope="module")
def other() -> Iterator[subprocess.Popen[str]]:
    """Another process that keeps its bench open, as a second notebook does."""
    words = [sys.executable, "-c", OTHER]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def elsewhere(path: Path, other: subprocess.Popen[str]) -> Elsewhere:
    """Run a few lines on the same store in the other process, with ``bench`` and ``frame`` at hand."""

    def ran(lines: str) -> None:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write(json.dumps([str(path), lines]) + "\n")
        other.stdin.flush()
        answer = json.loads(other.stdout.readline())
        assert not answer, answer

    return ran


@pytest.fixture
def bench(path: Path, elsewhere: Elsewhere) -> Iterator[wb.Bench]:
    elsewhere(
        f"bench.specifications.create(name='M50', ratings={RATINGS})\n"
        "for name in ('a1', 'a2'):\n"
        "    bench.instances.create(name=name, specification='M50')\n"
        "bench.measurements.create(instance='a1', name='first', time_series=frame(0, 100))\n"
    )
    with wb.open(path) as opened:
        yield opened


def title(figure: Any) -> float:
    return float(figure.layout.title.text)


def test_another_process_writes_and_the_next_answer_has_it(bench: wb.Bench, elsewhere: Elsewhere) -> None:
    before = bench.figure(RECIPE)
    assert (len(before.data), len(before.data[0].x)) == (1, 100)
    assert bench.figure(RECIPE).workbench.cache == {"dataset": "hit", "figure": "hit"}

    elsewhere("bench.measurements.create(instance='a2', name='second', time_series=frame(0, 50))")
    created = bench.figure(RECIPE)
    assert created.workbench.cache["dataset"] == "miss"
    assert [len(trace.x) for trace in created.data] == [100, 50]

    elsewhere("bench.measurements.extend('first', frame(100, 30))")
    extended = bench.figure(RECIPE)
    assert [len(trace.x) for trace in extended.data] == [130, 50]
    assert title(extended) == pytest.approx(2 * (129 + 49) / 3600)
    assert len(bench.dataset(RECIPE)["curves"]) == 2

    elsewhere("bench.instances.create(name='a3', specification='M50')")
    offered = bench.figure(RECIPE).workbench.options["cells"]
    assert [option["label"] for option in offered] == ["a1", "a2", "a3"]

    elsewhere("bench.instances.update('a3', name='renamed')")
    assert [option["label"] for option in bench.figure(RECIPE).workbench.options["cells"]][-1] == "renamed"

    elsewhere("bench.measurements.delete('first')")
    assert [len(trace.x) for trace in bench.figure(RECIPE).data] == [50]
    assert bench.figure(RECIPE).workbench.reads == {"steps": 0, "sources": 0}


def test_a_chosen_record_that_went_is_dropped_with_a_warning(bench: wb.Bench, elsewhere: Elsewhere) -> None:
    chosen = bench.instances.get("a1").id
    assert len(bench.figure(RECIPE, cells=chosen).data) == 1
    elsewhere("bench.instances.delete('a1')")
    figure = bench.figure(RECIPE, cells=chosen)
    assert figure.workbench.warnings[0]["code"] == "value_dropped"
    assert len(figure.data) == 0


def test_a_view_change_runs_no_step_and_reads_no_source(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.figure(RECIPE)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a source was read")

    series = type(bench.backend.store.series)
    for name in ("read", "many", "sample", "sample_rows"):
        monkeypatch.setattr(series, name, refuse)
    for width in (3, 4, 5):
        figure = bench.figure(RECIPE, width=width)
        assert figure.data[0].line.width == width
        assert figure.workbench.reads == {"steps": 0, "sources": 0}
        assert figure.workbench.cache == {"dataset": "hit", "figure": "miss"}
    monkeypatch.undo()
    assert bench.figure(RECIPE, width=3).workbench.cache == {"dataset": "hit", "figure": "hit"}


def test_a_figure_made_elsewhere_is_a_hit_here(bench: wb.Bench, elsewhere: Elsewhere, tmp_path: Path) -> None:
    recipe = RECIPE.save(tmp_path / "r.json")
    elsewhere(f"bench.figure({str(recipe)!r}, width=7)")
    figure = bench.figure(RECIPE, width=7)
    assert figure.workbench.cache == {"dataset": "hit", "figure": "hit"}
    assert figure.workbench.reads == {"steps": 0, "sources": 0}


def test_what_does_not_touch_the_plan_keeps_the_answer(bench: wb.Bench, elsewhere: Elsewhere) -> None:
    bench.figure(RECIPE)
    elsewhere("bench.materials.create(name='graphite')")
    assert bench.figure(RECIPE).workbench.cache == {"dataset": "hit", "figure": "hit"}


def test_the_caches_may_be_deleted(bench: wb.Bench, path: Path) -> None:
    before = bench.figure(RECIPE)
    bench.close()
    side = [file for file in path.parent.iterdir() if file.name.startswith(path.name) and file != path]
    for file in side:
        if "cache" in file.name:
            file.unlink()
    with wb.open(path) as again:
        figure = again.figure(RECIPE)
        assert figure.workbench.cache == {"dataset": "miss", "figure": "miss"}
        assert figure.to_json() == before.to_json()


def test_projects_do_not_see_each_other(bench: wb.Bench) -> None:
    bench.figure(RECIPE)
    other = bench.project(bench.projects.create(name="Other"))
    data = other.dataset(RECIPE)
    assert data.cache["dataset"] == "miss"
    assert data["cells"].empty
    assert data["curves"] == {} or len(data["curves"]) == 0
