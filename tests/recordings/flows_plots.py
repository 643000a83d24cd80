"""Recipes, figures, plots and the conversations they come from: each flow on a fresh copy of the store."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from tests.recordings.asking import UNKNOWN, Asking, flow
from tests.recordings.operations import (
    IDS,
    PLOT,
    RECIPE,
    D,
    P,
    parquet,
)
from tests.stores.golden_plans import DISCHARGE, FADED, FRACTION, PLANS, summary
from tests.stores.old_store import id_of

ARROW = "application/vnd.apache.arrow.stream"
HERE, BOARD, SAVED = P.format_map(IDS), D.format_map(IDS), PLOT.format_map(IDS)
CELL = f"/cell_instances/{IDS['instance_id']}"
_LAST = (
    *(
        "plot_id}",
        "dashboard_id}",
        "/simulations/{simulation_id}",
        "study_id}",
        "analysis_id}",
        "property_set_id}",
    ),
    *("material_id}", "raw_data_id}", "model_id}", "record_id}", "measurement_id}", "batch_id}", "instance_id}"),
    *("specification_id}", "drive_cycle_id}", "user_id}", "project_id}"),
)


@flow()
def datasets(asking: Asking) -> None:
    """The data of recipes as JSON and as Arrow, plain, packed, and left out where known; choices, checks."""
    place = f"{HERE}/datasets"
    for name in ("series, selected", "end of life", "live choices", "an unknown id", "dotted names", "steps"):
        config, values = PLANS[name]
        body = {"config": config, "values": values}
        for who in ("admin", "viewer"):
            asking("POST", place, body, who=who, note=name)
        first = asking("POST", place, body, headers={"Accept": ARROW}, note=f"{name}, Arrow")
        content = first.headers.get("x-workbench-content", "")
        packed = {"Accept": f"{ARROW}; compression=zstd"}
        asking("POST", place, body, headers=packed, note=f"{name}, packed")
        asking("POST", place, body, headers={"Accept": ARROW, "x-workbench-have": content}, note=f"{name}, known")
        asking("POST", f"{HERE}/recipes/options", body, note=name)
        asking("POST", f"{HERE}/recipes/check", body, note=name)
    config, _ = PLANS["end of life"]
    for values in (
        {"fraction": None},
        {"fraction": "0.8"},
        {"fraction": 0.4},
        {"fration": 1},
        {"fraction": [0.9]},
        [],
        None,
    ):
        asking("POST", place, {"config": config, "values": values}, note=f"values {values}")
        asking("POST", f"{HERE}/recipes/check", {"config": config, "values": values}, note=f"values {values}")
        asking("POST", f"{HERE}/recipes/options", {"config": config, "values": values}, note=f"values {values}")
    for wrong in WRONG_CONFIGS:
        for path in (place, f"{HERE}/recipes/check", f"{HERE}/recipes/options"):
            asking("POST", path, {"config": wrong})


@flow(longest=4_000)
def many_cycles(asking: Asking) -> None:
    """Cycles of tests that differ in length, columns, types and nulls, reduced by test: new, and asked again. The
    answer about all of them is so large that it enters the cache's file only when it is asked for again. Recorded
    by the version that still read them test by test."""
    made = []
    for number, rows in enumerate((6000, 6000, 1, 300, 30, 17_000, 6000, 6000)):
        fields = {"name": f"cycled {number}", "instance_id": IDS["instance_id"]}
        sent = {"fields": json.dumps({**fields, "measurement_type": "time_series"})}
        files = {"cycles": ("cycles.parquet", parquet(_cycles(number, rows)), "application/octet-stream")}
        place = f"{HERE}/records/measurements/with-tables"
        made.append(asking.json("POST", place, data=sent, files=files, note=fields["name"])["id"])
    energy, voltage = "Discharge energy [W.h]", "Max voltage [V]"
    functions = {fn: {"fn": fn, "column": DISCHARGE} for fn in ("first", "last", "min", "max", "mean", "sum")}
    several = {**FADED, "metrics": {**FADED["metrics"], **functions}}
    plain, many = ("Cycle count", DISCHARGE), ("Cycle count", DISCHARGE, energy)
    few = made[2:5]
    for ids, life, columns in (
        (made, several, many),
        (few, FADED, plain),
        (few, several, many),
        (few[::-1], several, many),
        (few, {**FADED, "group_by": ["measurement_id", "Note"]}, (*plain, voltage, "Note")),
        (few, FADED, (*plain, "Cycle in life")),
    ):
        steps = {"cycles": summary("cycles", *columns, ids=ids), "life": life}
        body = {"config": {"plan": {"steps": steps}, "params": FRACTION}, "values": {"fraction": 0.8}}
        note = f"{len(ids)} tests from {made.index(ids[0])}: {', '.join(columns)}"
        for again in ("", ", again", ", once more"):
            first = asking("POST", f"{HERE}/datasets", body, headers={"Accept": ARROW}, note=note + again)
        known = {"Accept": ARROW, "x-workbench-have": first.headers.get("x-workbench-content", "")}
        asking("POST", f"{HERE}/datasets", body, headers=known, note=f"{note}, known")
        if ids is not made:
            asking("POST", f"{HERE}/datasets", body, note=f"{note}, JSON")


def _cycles(number: int, rows: int) -> pa.Table:
    """Cycles of one test: capacities that fade, some unknown; a column of the cycler and energies of some tests."""
    count = np.arange(rows)
    discharge = 5 - 2 * count / rows + (count * (number + 3) % 7) * 1e-3
    discharge[(number % 3 == 0) & (count % 50 == 7)] = np.nan
    held = {
        "Cycle count": pa.array(count.astype(np.int64 if number % 2 else float)),
        DISCHARGE: pa.array(discharge),
        "Max voltage [V]": pa.array(np.where(count % 2 == 0, 4.2, 4.1), mask=count % 5 == number % 5),
    }
    if number % 4:
        held["Discharge energy [W.h]"] = pa.array(3.6 * discharge)
    if number % 3:
        held["Note"] = pa.array([None if k % 3 else f"note {k % 4}" for k in range(rows)])
    return pa.table(held)


_CELLS = RECIPE["plan"]["steps"]["cells"]
WRONG_CONFIGS: tuple[Any, ...] = (
    5,
    {},
    {"plan": {}},
    {"plan": {"steps": {}}},
    {"plan": {"steps": {"a b": _CELLS}}},
    {"plan": {"steps": {"a": {"op": "lst"}}}},
    {"plan": {"steps": {"a": {**_CELLS, "limit": 5000}}}},
    {"plan": {"steps": {"a": {**_CELLS, "limt": 1}}}},
    {"plan": {"steps": {"a": {**_CELLS, "where": {"ids": "$no"}}}}},
    {"plan": {"steps": {"a": {**_CELLS, "where": {"studyId": "x"}}}}},
    {"plan": {"steps": {"a": {**_CELLS, "where": {"ids": {"from": "b", "column": "id"}}}, "b": _CELLS}}},
    {"plan": {"steps": {"a": _CELLS}, "caps": {"max_sources": 501}}},
    {"plan": {"steps": {"a": _CELLS}}, "params": {"p": {"kind": "dta", "default": 1}}},
    {"plan": {"steps": {"a": _CELLS}}, "params": {"p": {"kind": "view", "default": 9, "control": {"max": 5}}}},
    {
        "plan": {"steps": {"a": _CELLS}},
        "params": {"p": {"kind": "data", "default": 1, "control": {"optionsFrom": {"step": "b", "value": "id"}}}},
    },
    {"plan": {"steps": {"a": _CELLS}}, "transform": ""},
    {"plan": {"steps": {"a": _CELLS}}, "nonsense": 1},
)


@flow()
def figures(asking: Asking) -> None:
    """Figures: drawn, then from the cache; other values, older revisions, scripts that fail, and finer detail."""
    plots = {name: f"{BOARD}/plots/{id_of('plots', name)}" for name in ("Masses", "Curves", "Fade")}
    two = [id_of("measurements", "P-A-1", "life 1"), id_of("measurements", "P-A-2", "life 1")]
    for place in plots.values():
        asking("POST", f"{place}/figure", {}, note="drawn")
        asking("POST", f"{place}/figure", {}, who="viewer", note="from the cache")
    curves = plots["Curves"]
    for values in (
        {"tests": two},
        {"tests": two, "scale": 1000},
        {"tests": ["gone"]},
        {"scale": 7},
        {"scle": 1},
        {"from": -1},
    ):
        asking("POST", f"{curves}/figure", {"values": values})
        asking("POST", f"{curves}/dataset", {"values": values}, who="viewer")
    for revision in (1, 2, 4, 5, 0, "1", None, True):
        asking("POST", f"{plots['Masses']}/figure", {"revision": revision})
        asking("POST", f"{plots['Masses']}/dataset", {"revision": revision})
    for more in (
        {},
        {"y": [3.5, 4]},
        {"y": None},
        {"x": [0]},
        {"x": ["a", 1]},
        {"width": 0},
        {"width": 20001},
        {"traces": [-1]},
        {"traces": [999]},
        {"z": 1},
    ):
        part = {"values": {"tests": two}, "traces": [0, 1], "x": [1000, 9000], "width": 300, **more}
        asking("POST", f"{curves}/figure/detail", part)
    for script in (
        "def transform(data, params):\n    print('said')\n    return 1 / 0\n",
        "def transform(data, params):\n    return 5\n",
        "def transform(data, params):\n    return {'data': data['cell'], 'layout': {}}\n",
        "import os\ndef transform(data, params):\n    return {}\n",
        "def transform(data, params)\n",
        "def other():\n    pass\n",
        "def transform(data, params):\n    open('/etc/passwd')\n",
        RECIPE["transform"],
        RECIPE["transform"],
    ):
        asking("POST", f"{HERE}/figures", {"config": {**RECIPE, "transform": script}}, note=script)
        asking("POST", f"{HERE}/recipes/check", {"config": {**RECIPE, "transform": script}}, note=script)
    body = {"config": RECIPE, "traces": [0], "x": [0, 1], "width": 100}
    asking("POST", f"{HERE}/figures/detail", body, note="of a recipe")
    asking("PATCH", f"/cell_instances/{IDS['instance_id']}", {"properties": {"mass": {"value": 99, "unit": "g"}}})
    for _ in range(2):
        asking("POST", f"{plots['Masses']}/figure", {}, note="after a change")


@flow()
def data_files(asking: Asking) -> None:
    """The data of a plot as files."""
    curves = f"{BOARD}/plots/{id_of('plots', 'Curves')}"
    chosen = json.dumps({"tests": [id_of("measurements", "P-A-1", "life 2")]})
    for params in (
        {},
        {"format": "csv"},
        {"format": "parquet"},
        {"format": "xlsx"},
        {"step": "all"},
        {"step": "curves"},
        {"step": "curves", "values": chosen},
        {"step": "curves", "values": chosen, "format": "parquet"},
        {"values": chosen},
        {"values": chosen, "format": "parquet"},
        {"step": "none"},
        {"values": "{no json"},
        {"values": "[]"},
        {"values": '{"scale": 7}'},
    ):
        asking("GET", f"{curves}/data", params=params)
        asking("GET", f"{SAVED}/data", params=params, who="viewer")


@flow()
def plots(asking: Asking) -> None:
    """Plots and their revisions; a change that started from an older one."""
    made = asking.json("POST", f"{BOARD}/plots", {"name": "made", "config": RECIPE})
    one = f"{BOARD}/plots/{made['id']}"
    other = {**RECIPE, "transform": RECIPE["transform"] + "# more\n"}
    for body in (
        {"revision": 1, "config": other},
        {"revision": 1, "name": "late"},
        {"revision": 2, "name": "in time"},
        {"revision": 3, "name": "Curves"},
        {"revision": 9, "name": "x"},
        {"revision": -1},
        {"revision": 1.0, "name": "x"},
        {"revision": 3},
        {"revision": 3, "config": {"plan": 5}},
        {"revision": 3, "config": {**RECIPE, "transform": "import os"}},
        {"name": "x"},
        {"revision": 3, "config": RECIPE, "dashboard_id": UNKNOWN},
    ):
        asking("PATCH", one, body)
        asking("PATCH", one, body, who="viewer")
    for number in (1, 2, 9):
        asking("POST", f"{one}/revisions/{number}/restore")
    for path in (one, f"{one}/revisions", f"{one}/revisions?limit=2&offset=1", f"{BOARD}/plots", BOARD):
        asking("GET", path)
    for config in WRONG_CONFIGS:
        asking("POST", f"{BOARD}/plots", {"name": "wrong", "config": config})
    layout = [{"i": made["id"], "x": 0, "y": 1.5}]
    for body in (
        {"layout": layout},
        {"layout": "x"},
        {"layout": None},
        {"description": "d"},
        {"name": "Empty board"},
    ):
        asking("PATCH", BOARD, body)
    asking("DELETE", one)
    asking("GET", f"{one}/revisions")
    asking("DELETE", BOARD)
    asking("POST", f"{one}/figure", {})
    asking("GET", f"{HERE}/dashboards")


@flow()
def authoring(asking: Asking) -> None:
    """A plot from its prompt to its decision, and everybody's own sessions."""
    context, decision = f"{BOARD}/authoring-context", f"{BOARD}/authoring-decision"
    draft = {"name": "drafted", "config": RECIPE}
    begun = asking.json("POST", context, {"prompt": "A bar for each cell", "draft": draft})
    session = begun["session_id"]
    for body in (
        {"prompt": ""},
        {"prompt": "p" * 10_001},
        {"prompt": "p", "plot_id": "no uuid"},
        {"prompt": "p", "plot_id": UNKNOWN},
        {"prompt": "p", "plot_id": IDS["plot_id"]},
        {"prompt": "p", "draft": {"name": "n"}},
        {"prompt": "p", "draft": {"name": "", "config": RECIPE}},
        {"prompt": "p", "draft": {"name": "n", "config": {"plan": 3}}},
        {"prompt": "a\x00b"},
    ):
        asking("POST", context, body)
    for body in (
        {},
        {"new_plot_id": "no uuid"},
        {"plot_id": "no uuid"},
        {"new_plot_id": UNKNOWN, "session_id": UNKNOWN},
        {"new_plot_id": UNKNOWN, "name": " "},
        {"new_plot_id": UNKNOWN, "session_id": session},
        {"new_plot_id": UNKNOWN, "session_id": session},
        {"plot_id": UNKNOWN, "session_id": session},
        {"plot_id": IDS["plot_id"]},
        {"plot_id": UNKNOWN, "name": "Masses", "session_id": session},
        {"name": "from the store", "new_plot_id": UNKNOWN[:-1] + "1"},
    ):
        asking("POST", decision, body)
    messages = f"/agent/sessions/{session}/messages"
    broken = {"name": "broken", "config": {**RECIPE, "transform": "import os"}}
    sound = {"name": "sound", "config": RECIPE}
    for body in (
        {"role": "user", "content": {"text": "ü 电"}},
        {"role": "assistant", "content": {"parts": [{"type": "draft", "draft": broken}]}},
        {"role": "system", "content": {}},
        {"role": "user", "content": []},
        {"role": "user", "content": {"n": [1, 1.0, None, True]}},
    ):
        asking("POST", messages, body)
        asking("POST", messages, body, who="contributor")
    asking("POST", decision, {"new_plot_id": UNKNOWN[:-1] + "2", "session_id": session})
    said = {"role": "assistant", "content": {"parts": [{"type": "draft", "draft": sound}]}}
    asking("POST", messages, said)
    asking("POST", decision, {"new_plot_id": UNKNOWN[:-1] + "2", "session_id": session})
    for params in ({}, {"limit": "2"}, {"limit": "2", "offset": "1"}):
        asking("GET", messages, params=params)
    for who in ("admin", "viewer", "contributor", "stranger"):
        asking("GET", messages, who=who)
        asking("GET", "/agent/sessions", who=who)
    for title in ("mine", None, " ", "t" * 501, 5):
        asking("POST", "/agent/sessions", {"project_id": IDS["project_id"], "title": title}, who="contributor")
    asking(
        "POST", "/agent/sessions", {"project_id": IDS["project_id"], "sdk_session_id": "abc"}, who="contributor"
    )
    asking("GET", "/agent/sessions", who="contributor", params={"project_id": IDS["project_id"]})
    asking("DELETE", f"{HERE}/records/sessions/{session}")
    asking("GET", messages)
