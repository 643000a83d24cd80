"""The process that draws begins to start before the widgets of a notebook are imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.import_path import pythonpath

RECIPE = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
    "transform": "def transform(data, params):\n    return {'data': [], 'layout': {'title': {'text': 'drawn'}}}",
    "params": {},
}
PROGRAM = """
import json, sys
import workbench as wb
from workbench.transform import own_process_pipe
imported = lambda: sorted({"ipywidgets", "plotly", "pandas"} & sys.modules.keys())
began = []
popen = own_process_pipe.subprocess.Popen
def noted(*words, **how):
    began.append(imported())
    if sys.argv[2] == "no process": raise BlockingIOError
    return popen(*words, **how)
with wb.open(sys.argv[1]) as bench:
    shown = bench.dashboards.get("Board") if sys.argv[2] == "board" else bench.dashboards.get("Board").plot("Plot")
    own_process_pipe.subprocess.Popen = noted
    class Shown(Exception): pass
    class Views:
        def find_spec(self, name, path=None, target=None):
            if name.startswith("workbench.notebook"): raise Shown
    sys.meta_path.insert(0, Views())
    try: shown.show(**json.loads(sys.argv[3]))
    except Shown: pass
print(json.dumps(began))
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("early") / "lab.db"
    with wb.open(path) as bench:
        bench.dashboards.create(name="Board").save("Plot", wb.Recipe(RECIPE))
    return path


def begun(store: Path, what: str, **how: Any) -> list[list[str]]:
    words = [sys.executable, "-c", PROGRAM, str(store), what, json.dumps(how)]
    environment = {**os.environ, "PYTHONPATH": pythonpath()}
    made = subprocess.run(words, check=True, timeout=120, capture_output=True, text=True, env=environment)
    found: list[list[str]] = json.loads(made.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("what", ["plot", "board"])
def test_it_begins_before_anything_that_draws_or_shows_is_imported(store: Path, what: str) -> None:
    assert begun(store, what) == [[]]


def test_none_begins_for_a_script_that_runs_locked(store: Path) -> None:
    assert begun(store, "plot", protected=True) == []


def test_where_no_process_can_be_started_the_view_is_still_made(store: Path) -> None:
    assert begun(store, "no process") == [[]]
