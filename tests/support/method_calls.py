"""What is asked of every public method of a bench, once local and once remote: right things and wrong ones.

A row is named after the methods that it is about, ``measurements.create``; its function gets a bench and ``ask``, which
takes down what a call answers, or raises, and gives the answer back.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import workbench as wb
from workbench.bench import SavedPlot

Ask = Callable[[Callable[[], Any]], Any]
Row = Callable[[wb.Bench, Ask, Path], None]
ROWS: dict[str, Row] = {}
COVERED: set[str] = set()

DATA = Path(__file__).parents[2] / "sample_data"
SCRIPT = "def transform(data, params):\n    return px.bar(data['cells'], x='name')\n"
PLAN = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}}
NOWHERE = "01890000-0000-7000-8000-000000000000"
RATINGS = {
    "capacity": {"value": 5.0, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
TABLE = {"SOC": [0.1, 0.5, None], "R [Ohm]": [0.03, -0.0, 5e-324], "word": ["a", None, "ü"]}


def row(*methods: str) -> Callable[[Row], Row]:
    """These methods are asked by the function."""

    def keep(function: Row) -> Row:
        ROWS[function.__name__] = function
        COVERED.update(methods)
        return function

    return keep


def samples(n: int = 60, start: float = 0.0, step: int = 0) -> pd.DataFrame:
    """A charge and a discharge, a sample a second."""
    half = np.arange(n) < n // 2
    current = np.where(half, -1.0, 2.0)
    return pd.DataFrame(
        {
            "Time [s]": start + np.arange(n, dtype=float),
            "Current [A]": current,
            "Voltage [V]": np.where(half, 3.0, 4.0) - np.sign(current) * np.arange(n) / n / 2,
            "Step count": step + np.where(half, 0, 1),
            "Remark": [None, "x"] * (n // 2),
        }
    )


def recipe(script: str = SCRIPT, **params: Any) -> dict[str, Any]:
    return {"plan": PLAN, "transform": script, **({"params": params} if params else {})}


# The five methods that every collection has

FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "projects": ({"description": "slow"}, {"description": "slower"}),
    "specifications": ({"ratings": RATINGS, "notes": "n"}, {"manufacturer": "LG", "form_factor": "21700"}),
    "batches": ({"specification": "SIM M50 21700"}, {"notes": "late"}),
    "instances": ({"specification": "SIM M50 21700"}, {"properties": {"mass": {"value": 69.5, "unit": "g"}}}),
    "measurements": ({"instance": "M50-A-01", "tags": ["b", "A"]}, {"tags": ["c"], "protocol": {"name": "RPT"}}),
    "analyses": ({"measurement": "", "analysis_type": "dcir"}, {"metadata": {"a": [1, 2.5, None]}}),
    "materials": ({"manufacturer": "M"}, {"source": {"doi": "10/x"}}),
    "material_properties": ({"material": ""}, {"notes": "n"}),
    "models": ({"config": {"type": "SPM"}}, {"description": "single particle", "chemistry": "ecm"}),
    "simulations": ({"specification": "SIM M50 21700"}, {"metrics": {"x": 1.5}}),
    "studies": ({"description": "why"}, {"description": "because"}),
    "drive_cycles": ({"data": [[0, 1], [1, 2.5]]}, {"name": "another"}),
    "dashboards": ({"description": "d"}, {"description": "e", "layout": []}),
}
WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("no field", {"nme": 3}),
    ("a name that is none", {"name": "  "}),
    ("a name of another type", {"name": 3}),
    ("what no store keeps", {"name": "a\0b"}),
    ("read only", {"id": NOWHERE}),
    ("the store's own", {"created_at": "2020-01-01T00:00:00Z"}),
    ("whose it is", {"organization_id": NOWHERE}),
    ("null", {"name": None}),
)
FILTERS: dict[str, tuple[dict[str, Any], ...]] = {
    "measurements": (
        {"batch": "A"},
        {"instance_ids": ["nothing"]},
        {"measurement_type": "time_series", "limit": 3},
        {"measurement_type": "nonsense"},
        {"fields": ["name", "protocol.name", "sample_count", "tags"]},
        {"fields": "name"},
        {"fields": ["nme"]},
        {"limit": 0},
        {"limit": -1},
        {"study_id": NOWHERE},
    ),
    "instances": ({"specification_ids": "nobody"}, {"ids": []}, {"batch": None}, {"limit": "3"}, {"name": 5}),
    "dashboards": ({"fields": ["id", "layout"]}, {"fields": ["nme"]}, {"limit": 1}, {"batch": "A"}, {"name": 5}),
    "projects": ({"fields": ["name"]}, {"fields": ["nme"]}, {"limit": 1}, {"batch": "A"}, {"limit": 0}),
}


def _fields(bench: wb.Bench, name: str) -> dict[str, Any]:
    made = dict(FIELDS[name][0])
    if name == "analyses":
        made["measurement"] = bench.measurements.list(fields=["id"], limit=1)["id"][0]
    if name == "material_properties":
        made["material"] = bench.materials.list()["id"][0]
    return made


def _every_method_of(name: str) -> Row:
    def asked(bench: wb.Bench, ask: Ask, folder: Path) -> None:
        collection = getattr(bench, name)
        fields = _fields(bench, name)
        made = ask(lambda: collection.create(name=f"a new one of {name}", **fields))
        ask(lambda: collection.create(name=f"a new one of {name}", **fields))
        for _, wrong in WRONG:
            ask(lambda wrong=wrong: collection.create(**{"name": "another", **fields, **wrong}))
        ask(lambda: collection.create())
        for ref in (made, made.id, f"a new one of {name}", "a new ome", NOWHERE, "", 5, None):
            ask(lambda ref=ref: collection.get(ref))
        ask(lambda: collection.update(made, **FIELDS[name][1]))
        ask(lambda: collection.update(made.id))
        ask(lambda: collection.update("nobody", name="x"))
        for _, wrong in WRONG:
            ask(lambda wrong=wrong: collection.update(made, **wrong))
        for filters in (
            {},
            {"name": f"a new one of {name}"},
            {"name_contains": "NEW ONE"},
            {"nam": "x"},
            {"name": "nobody"},
            *FILTERS.get(name, ()),
        ):
            ask(lambda filters=filters: collection.list(**filters))
        ask(lambda: repr(collection))
        ask(lambda: collection.delete(made))
        ask(lambda: collection.delete(made.id))
        ask(lambda: collection.get(f"a new one of {name}"))

    return asked


for _name in FIELDS:
    ROWS[f"every method of {_name}"] = _every_method_of(_name)
    COVERED.update(f"{_name}.{method}" for method in ("create", "get", "list", "update", "delete"))


# Sampled data


@row("measurements.create", "measurements.time_series", "measurements.steps", "measurements.cycles")
def measured(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    cell = bench.instances.get("M50-A-01")
    made = ask(lambda: bench.measurements.create(instance=cell, name="by hand", time_series=samples(), tags=["t"]))
    for ref in (made, "by hand", NOWHERE):
        for life in (False, True):
            ask(lambda ref=ref, life=life: bench.measurements.steps(ref, life=life))
            ask(lambda ref=ref, life=life: bench.measurements.cycles(ref, life=life))
        ask(lambda ref=ref: bench.measurements.time_series(ref))
    for columns in (["Voltage [V]"], ["Voltag [V]"], []):
        ask(lambda columns=columns: bench.measurements.time_series(made, columns))
    create = bench.measurements.create
    ask(lambda: create(instance=cell, name="by hand", time_series=samples()))
    ask(lambda: create(instance=cell, name="charge", time_series=samples(), sign="charge"))
    ask(lambda: create(instance=cell, name="x", time_series=samples(), sign="nonsense"))
    ask(lambda: create(instance=cell, name="x", time_series=samples()[::-1]))
    ask(lambda: create(instance=cell, name="x", time_series=samples().drop(columns="Time [s]")))
    ask(lambda: create(instance=cell, name="x", time_series=samples().head(0)))
    ask(lambda: create(instance=cell, name="x", time_series=5))
    ask(lambda: create(instance="nobody", name="x", time_series=samples()))
    ask(lambda: create(instance=cell, name="", time_series=samples()))
    ask(lambda: create(name="x", time_series=samples()))
    steps = bench.measurements.steps(made).drop(columns="Step type")
    ask(lambda: create(instance=cell, name="with steps", time_series=samples(), steps=steps))
    ask(lambda: bench.measurements.steps("with steps"))
    ask(lambda: create(instance=cell, name="x", time_series=samples(), steps=steps.head(1)))
    ask(lambda: create(instance=cell, name="x", time_series=samples(), steps=pd.DataFrame({"a": [1]})))
    ask(lambda: create(instance=cell, name="no samples"))
    for kept in ({"content_hash": "x"}, {"processing_status": "failed"}, {"files": []}):
        ask(lambda kept=kept: create(instance=cell, name="x", **kept))
        ask(lambda kept=kept: create(instance=cell, name="x", time_series=samples(), **kept))
        ask(lambda kept=kept: bench.measurements.update("no samples", **kept))
    for kind in ("properties", "time_series"):
        ask(lambda kind=kind: bench.measurements.update("no samples", measurement_type=kind))
    ask(lambda: bench.models.create(name="x", config={}, is_custom_model=True))
    ask(lambda: bench.measurements.time_series("no samples"))
    ask(lambda: bench.measurements.steps("no samples", life=True))


@row("measurements.extend")
def extended(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    extend = bench.measurements.extend
    made = bench.measurements.create(instance="M50-A-01", name="running", time_series=samples(20))
    ask(lambda: extend(made, samples(20, 20.0, 1)))
    ask(lambda: extend("running", samples(20, 40.0, 2)))
    ask(lambda: bench.measurements.time_series(made))
    ask(lambda: bench.measurements.cycles(made))
    ask(lambda: extend(made, samples(20)))
    ask(lambda: extend(made, samples(20, 60.0, 3).drop(columns="Step count")))
    ask(lambda: extend(made, samples(20, 60.0, 3).assign(more=1)))
    ask(lambda: extend(made, samples(20, 60.0, 3).head(0)))
    ask(lambda: extend("nobody", samples()))
    ask(lambda: extend(made, "text"))
    bench.measurements.create(instance="M50-A-01", name="not extended")
    ask(lambda: extend("not extended", samples()))
    bench.measurements.update(made, end_time="2024-01-01T00:00:00Z")
    ask(lambda: extend(made, samples(20, 60.0, 3)))


@row("measurements.export")
def exported(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    made = bench.measurements.list(name_contains="RPT", fields=["id"])["id"][0]
    for name in ("m.bdf.csv", "m.bdf.parquet", "m.parquet", "m.xyz", "nowhere/m.parquet"):
        ask(lambda name=name: bench.measurements.export(made, folder / name))
    for name in ("m.bdf.csv", "m.bdf.parquet", "m.parquet", "m.bdf.json"):
        ask(lambda name=name: (folder / name).read_bytes().hex())
    bench.measurements.create(instance="M50-A-01", name="nothing to export")
    ask(lambda: bench.measurements.export("nothing to export", folder / "n.parquet"))


@row("simulations.create", "simulations.time_series", "simulations.steps")
def simulated(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    create = bench.simulations.create
    model = bench.models.list()["name"][0]
    made = ask(lambda: create(name="1C", model=model, specification="SIM M50 21700", time_series=samples()))
    ask(lambda: create(name="1C", model=model, time_series=samples(), steps=TABLE))
    ask(lambda: create(name="x", model="nobody", time_series=samples()))
    ask(lambda: create(name="x", time_series=samples(), nonsense=1))
    ask(lambda: create(name="x", time_series={"a": [1, "b"]}))
    ask(lambda: create(name="x", time_series=samples().head(0)))
    ask(lambda: create(name="x", time_series=samples(), steps=pd.DataFrame({"a": []})))
    ask(lambda: bench.simulations.time_series(made))
    ask(lambda: bench.simulations.time_series(made, ["Voltage [V]"]))
    ask(lambda: bench.simulations.time_series(made, ["V"]))
    ask(lambda: bench.simulations.steps(made))


@row("analyses.create", "analyses.table", "material_properties.create", "material_properties.table")
def tables(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    of = {
        "analyses": {
            "measurement": bench.measurements.list(fields=["id"], limit=1)["id"][0],
            "analysis_type": "r",
        },
        "material_properties": {"material": bench.materials.list()["id"][0]},
    }
    for name, fields in of.items():
        collection = getattr(bench, name)
        made = ask(lambda c=collection, f=fields: c.create(name="table", table=TABLE, **f))
        ask(lambda c=collection, m=made: c.table(m))
        ask(lambda c=collection, f=fields: c.create(name="bare", **f))
        ask(lambda c=collection: c.table("bare"))
        ask(lambda c=collection: c.create(name="x", table=TABLE))
        ask(lambda c=collection, f=fields: c.create(name="x", table={"a": []}, **f))
        ask(lambda c=collection, f=fields: c.create(name="x", table={"a": [1], "b": [1, 2]}, **f))


@row("studies.assign", "studies.unassign")
def studied(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    study = bench.studies.create(name="assigned")
    ids = list(bench.measurements.list(fields=["id"], limit=2)["id"])
    run = bench.simulations.create(name="assigned", time_series=samples())
    for _ in range(2):
        ask(lambda: bench.studies.assign(study, measurements=ids, simulations=[run]))
    ask(lambda: bench.studies.get("assigned"))
    ask(lambda: bench.measurements.list(study_id=study, fields=["name"]))
    ask(lambda: bench.simulations.list(study_id=study.id, fields=["name"]))
    for _ in range(2):
        ask(lambda: bench.studies.unassign("assigned", measurements=[ids[0]]))
    ask(lambda: bench.measurements.list(study_id=study, fields=["name"]))
    for wrong in ("nobody", NOWHERE):
        ask(lambda wrong=wrong: bench.studies.assign(wrong, measurements=ids))
        ask(lambda wrong=wrong: bench.studies.assign(study, measurements=[wrong]))
        ask(lambda wrong=wrong: bench.studies.unassign(study, simulations=[wrong]))


# Files


@row("Bench.ingest", "Bench.watch")
def ingested(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    place = folder / "in"
    (place / "sub").mkdir(parents=True)
    chosen = sorted(path for path in DATA.rglob("*.csv") if path.stat().st_size < 300_000)[:2]
    for number, path in enumerate(chosen):
        shutil.copy(path, place / "sub" / f"Q_c{number}_RPT.csv")
    (place / "notes.xyz").write_text("no test\n")
    sheet = [{"file": "Q_c1*", "tags": "from a sheet"}, {"file": "nothing", "tags": "x"}]
    rule = "{batch}_{cell}_{test}"
    given: dict[str, Any] = {"specification": "Q", "rating": "5Ah,2.5V,4.2V", "name_rule": rule, "sheet": sheet}
    ask(lambda: bench.ingest(place, dry_run=True, **given))
    ask(lambda: bench.ingest(place, **given))
    ask(lambda: bench.ingest(place, **given))
    ask(lambda: bench.ingest(place, format="nonsense"))
    ask(lambda: list(bench.watch(place, once=True, settle=0.0, every=0.05, **given)))
    ask(lambda: list(bench.watch(folder / "nowhere", once=True)))


@row("Bench.quick")
def quick(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    path = sorted(path for path in DATA.rglob("*.csv") if path.stat().st_size < 300_000)[0]
    for options in ({}, {"y": "Voltage [V]"}, {"y": "Voltag"}, {"show": "nonsense"}):
        ask(lambda options=options: bench.quick(path, **options))
    ask(lambda: bench.quick(folder / "nothing.csv"))
    ask(lambda: bench.instances.list(fields=["name"]))


# What there is


@row("Bench.catalog", "Bench.search", "Bench.find")
def found(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    ask(lambda: bench.catalog())
    options: tuple[dict[str, Any], ...] = (
        {},
        {"per_type": 1},
        {"limit": 2, "offset": 1},
        {"entity_types": ["cell_instance", "plot"]},
        {"entity_types": ["nonsense"]},
        {"entity_types": []},
        {"limit": 0},
        {"limit": 101, "offset": -1, "per_type": 21},
    )
    for more in options:
        for text in ("m50", "a", "  ", "no such thing", "M50-A ", "ä\0"):
            ask(lambda text=text, more=more: bench.search(text, **more))
    ask(lambda: bench.find("m50", per_type=2))
    ask(lambda: bench.find("m50", nonsense=2) if False else None)


@row("Bench.project", "Bench.close", "Bench.verify", "Bench.backup", "Bench.recompute", "Bench.serve")
def whole(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    made = bench.projects.create(name="for another bench")
    for ref in (made, made.id, made.name):
        ask(lambda ref=ref: bench.project(ref).instances.list())
        ask(lambda ref=ref: repr(bench.project(ref)).partition(", ")[2])
    ask(lambda: bench.project("nobody"))
    ask(lambda: bench.project(made).instances.get("M50-A-01"))


@row("Bench.warm", "Bench.export_tests")
def many_at_once(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    for name in (["nobody"], "nobody"):
        ask(lambda name=name: bench.warm(name))
    bench.dashboards.create(name="to warm")
    ask(lambda: bench.warm("to warm").as_dict())
    (folder / "tests").mkdir()
    for where in ({"name": "nothing"}, {"nmae": "x"}, {"name": "M50-A-01_HPPC_fresh"}):
        ask(lambda where=where: bench.export_tests(folder / "tests", where))
    ask(lambda: bench.export_tests(folder / "tests", ending=".xls"))
    ask(lambda: sorted(path.name for path in (folder / "tests").iterdir()))


# Recipes


@row("Bench.check", "Bench.config_of", "Bench.values", "Bench.dataset", "Bench.look")
def recipes(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    control = {"optionsFrom": {"step": "all", "value": "id", "label": "name"}}
    chosen = {"kind": "data", "default": [], "control": control}
    steps = {"all": PLAN["steps"]["cells"], "cells": {**PLAN["steps"]["cells"], "where": {"ids": "$cells"}}}
    whole = {"plan": {"steps": steps}, "transform": SCRIPT, "params": {"cells": chosen}}
    missing = {
        "plan": {"steps": {"cells": {**PLAN["steps"]["cells"], "fields": ["nme"]}}},
        "transform": "import os",
    }
    wb.Recipe(whole).save(folder / "r.json")
    ids = list(bench.instances.list(fields=["id"], limit=2)["id"])
    for one in (whole, PLAN, missing, {"plan": 3}, folder / "r.json", folder / "nothing.json"):
        ask(lambda one=one: bench.check(one))
        ask(lambda one=one: bench.config_of(one).dump())
        ask(lambda one=one: bench.dataset(one))
        ask(lambda one=one: bench.look(one))
    for values in ({"cells": ids}, {"cells": ["nobody"]}, {"cell": ids}, {"cells": 5}, {"cells": {"from": "x"}}):
        ask(lambda values=values: bench.check(whole, values))
        ask(lambda values=values: bench.dataset(whole, values))
        ask(lambda values=values: bench.look(whole, values))
    for words in (["cells=M50-A-01"], ["cells=M50-A-1"], ["cells:=[1"], ["cell=x"], ["nothing"]):
        ask(lambda words=words: bench.values(whole, words))


@row("Bench.figure", "Bench.figure_widget", "Bench.show", "Bench.export", "Bench.export_size")
def drawn(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    many = {"kind": "view", "default": 3, "control": {"min": 0, "max": 5}}
    script = "def transform(data, params):\n    print(params)\n    return px.bar(data['cells'], x='name')\n"
    config = recipe(script, many=many)
    broken = recipe("def transform(data, params):\n    print('before')\n    return 1 / 0\n")
    for one in (config, broken, recipe("x ="), {"plan": PLAN}, PLAN):
        ask(lambda one=one: bench.figure(one))
        ask(lambda one=one: bench.figure_widget(one))
        for name in ("f.json", "f.csv", "f.ipynb", "f.xyz", "nowhere/f.json"):
            ask(lambda one=one, name=name: _untimed(bench.export(one, folder / name)))
    for name in ("f.json", "f.csv"):
        ask(lambda name=name: (folder / name).read_text())
    ask(lambda: _untimed(bench.export(config, folder / "s.csv", step="cells")))
    ask(lambda: (folder / "s.csv").read_text())
    for step, name in (("cell", "s.csv"), ("cells", "s.json")):
        ask(lambda step=step, name=name: bench.export(config, folder / name, step=step))
    for values in ({"many": 4}, {"many": 9}, {"most": 1}):
        ask(lambda values=values: bench.figure(config, values))
        ask(lambda values=values: bench.show(config, values).values)
    ask(lambda: bench.show(config).refresh(wait=True).figure())
    for one in (config, broken):
        ask(lambda one=one: bench.export_size(one))


def _untimed(account: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in account.items() if name != "timings"}


# Dashboards


@row(
    *("Board.save", "Board.plots", "Board.plot", "Board.show", "Board.id", "Board.name", "SavedPlot.id"),
    *("SavedPlot.name", "SavedPlot.revision", "SavedPlot.recipe", "SavedPlot.history", "SavedPlot.restore"),
    *("SavedPlot.figure", "SavedPlot.show", "Board.export", "Board.export_size", "Board.backend"),
)
def boards(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    board = ask(lambda: bench.dashboards.create("Saved", description="d"))
    ask(lambda: (board.id, board.name, repr(board)))
    project = bench.projects.create(name="with a board")
    ask(lambda: bench.dashboards.create(project, "Saved"))
    ask(lambda: bench.dashboards.create("with a board", "Saved"))
    ask(lambda: bench.dashboards.create("nobody", "Saved"))
    plot = ask(lambda: board.save("one", recipe()))
    ask(lambda: (plot.id, plot.name, plot.revision, repr(plot)))
    again = ask(lambda: board.save("one", recipe(SCRIPT + "# another\n")))
    for since in (0, 1, 3):
        ask(lambda since=since: board.save("one", recipe(SCRIPT + "# late\n"), since=since))
    again = ask(lambda: board.save("one", recipe(SCRIPT + "# in time\n"), since=2))
    ask(lambda: board.save("never there", recipe(), since=7))
    for name, wrong in (("", recipe()), ("x", recipe("import os")), ("x", {"plan": 3}), ("x" * 501, recipe())):
        ask(lambda name=name, wrong=wrong: board.save(name, wrong))
    ask(lambda: board.plots())
    for ref in ("one", "on", plot.id, plot.record, NOWHERE, ""):
        ask(lambda ref=ref: board.plot(ref))
    for number in (None, 1, 2, 3, 0):
        ask(lambda number=number: _whose(again, number))
    ask(lambda: again.history())
    for number in (1, 9, 0):
        ask(lambda number=number: again.restore(number))
    ask(lambda: again.history())
    ask(lambda: again.figure())
    ask(lambda: again.figure({"nothing": 1}))
    ask(lambda: again.show().refresh(wait=True).figure())
    ask(lambda: len(board.show().refresh(wait=True).values))
    ask(lambda: board.backend is bench.backend)
    ask(lambda: board.export_size())
    for name in ("board.html", "board.xyz"):
        ask(lambda name=name: board.export(folder / name))
    bench.dashboards.delete(board.id)
    ask(lambda: board.plots())
    ask(lambda: board.save("late", recipe()))
    ask(lambda: again.history())
    ask(lambda: again.restore(1))
    ask(lambda: board.show())


@row("SavedPlot.trust", "Bench.trust", "Bench.distrust", "Bench.untrusted")
def trusted(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    board = bench.dashboards.create("To trust")
    plot = ask(lambda: board.save("to trust", recipe(SCRIPT + "# to trust\n")))
    ask(lambda: plot.recipe().foreign)
    ask(lambda: bench.distrust(plot))
    ask(lambda: bench.distrust(plot="to trust"))
    ask(lambda: plot.recipe().foreign)
    found = bench.untrusted()
    ask(lambda: found[found["plot"] == "to trust"].drop(columns=["project"]).to_dict("list"))
    ask(lambda: plot.trust().recipe().foreign)
    for one in (plot, plot.recipe(), plot.recipe().raw(), {"plan": {}}):
        ask(lambda one=one: bench.trust(one))
    ask(lambda: bench.trust(plot="to trusd"))
    ask(lambda: bench.trust(plot, author="nobody"))
    bench.dashboards.delete(board.id)


def _whose(plot: SavedPlot, number: int | None) -> Any:
    found = plot.recipe(number)
    return found.raw(), found.foreign


# Conversations


@row(
    "sessions.list",
    "sessions.create",
    "sessions.get",
    "sessions.messages",
    "sessions.say",
    "sessions.delete",
    "sessions.replay",
)
def conversations(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    made = [ask(lambda title=title: bench.sessions.create(title)) for title in (None, "A title", "t" * 200)]
    for title in ("  ", "", "a\0b", "t" * 501):
        ask(lambda title=title: bench.sessions.create(title))
    ask(lambda: repr(bench.sessions))
    for page in ({}, {"limit": 2}, {"limit": 1, "offset": 1}, {"offset": 50}, {"limit": 0}, {"limit": -1}):
        ask(lambda page=page: bench.sessions.list(**page))
    one = made[1]
    parts = {
        "parts": [{"type": "text", "text": "ü"}, {"type": "draft", "draft": {"name": "n", "config": recipe()}}]
    }
    for role, content in (
        ("user", {"text": "hello"}),
        ("assistant", parts),
        ("system", {}),
        ("user", {"a": None}),
    ):
        ask(lambda role=role, content=content: bench.sessions.say(one, role, content))
    ask(lambda: bench.sessions.messages(one))
    for ref in (one.id, NOWHERE, "nobody", ""):
        ask(lambda ref=ref: bench.sessions.get(ref))
        ask(lambda ref=ref: bench.sessions.messages(ref))
        ask(lambda ref=ref: bench.sessions.say(ref, "user", {}))
    ask(lambda: [_without_times(one) for one in bench.sessions.replay(made[1])])
    ask(lambda: bench.sessions.replay(NOWHERE))
    ask(lambda: bench.sessions.delete(one))
    for ref in (one, one.id):
        ask(lambda ref=ref: bench.sessions.delete(ref))
    ask(lambda: bench.sessions.list())


@row("Bench.authoring_context", "Bench.authoring_decision", "SavedPlot.session")
def authored(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    board = bench.dashboards.create("Authored")
    draft = {"name": "drafted", "config": recipe()}
    decide, context = bench.authoring_decision, bench.authoring_context
    ask(lambda: decide(board, new_plot_id=NOWHERE))
    begun = ask(lambda: context(board, "A bar for each cell", draft=draft))
    ask(lambda: context("Authored", "Another", plot="nobody"))
    for prompt in ("", "x" * 10_001, 5):
        ask(lambda prompt=prompt: context(board, prompt))
    for wrong in ({"name": "n"}, {"name": "", "config": recipe()}, {"name": "n", "config": {"plan": 3}}):
        ask(lambda wrong=wrong: context(board, "p", draft=wrong))
    ask(lambda: context("nobody", "p"))
    ask(lambda: decide(board))
    ask(lambda: decide(board, new_plot_id="no uuid"))
    ask(lambda: decide(board, new_plot_id=NOWHERE, session=NOWHERE))
    made = ask(lambda: decide(board, new_plot_id=NOWHERE, session=begun.session_id))
    ask(lambda: decide(board, new_plot_id=NOWHERE))
    ask(lambda: decide(board, name="drafted", new_plot_id=NOWHERE[:-1] + "1"))
    ask(lambda: context(board, "Make it red", plot=made))
    ask(lambda: made.recipe().foreign)
    broken = {"name": "broken", "config": recipe("import os")}
    bench.sessions.say(begun.session_id, "assistant", {"parts": [{"type": "draft", "draft": broken}]})
    ask(lambda: decide(board, plot=made, session=begun.session_id))
    worse = context(board, "Another", draft={"name": "worse", "config": recipe("import os")})
    ask(lambda: decide(board, new_plot_id=NOWHERE[:-1] + "2", session=worse.session_id))
    ask(lambda: decide(board, plot=made, name="renamed"))
    ask(lambda: made.history())
    for number in (None, 1, 99):
        ask(lambda number=number: made.session(number))
    ask(lambda: decide(board, plot="nobody"))


@row("Bench.context_texts")
def costs(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    for wish in ("", "Fade by batch", "x" * 10_001):
        ask(lambda wish=wish: bench.context_texts(wish))


@row("Bench.author")
def authoring(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    for board in (None, "nobody"):
        ask(lambda board=board: bench.author("How many cells are there in each batch?", board))
    view = bench.author("How many cells are there in each batch?", bench.dashboards.create("Wished"))
    ask(lambda: [one.text for one in view.conversation.said])
    ask(lambda: view.draft)
    ask(lambda: _without_times(view.ask("Plot the pressure over time")))
    ask(lambda: _without_times(view.paste("Nothing.")))
    ask(lambda: view.accept("Wished for").name)
    ask(view.undo)
    ask(lambda: bench.author("Wider", "Wished", "nobody"))
    view.close()


@row("Bench.check_answer")
def answered(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    draft = {"name": "drafted", "config": recipe(word={"kind": "view", "default": "a"})}
    for answer in (
        {"say": "A bar for each cell.", "draft": draft},
        {"say": "Nothing of this is here.", "draft": None},
        {"say": "", "draft": {"name": "", "config": {**recipe("import os"), "plann": 3}}},
        {"say": 5},
        "Nothing of this is here.",
        '{"say": "cut',
        "",
        7,
    ):
        ask(lambda answer=answer: _without_times(bench.check_answer(answer)))
    ask(lambda: _without_times(bench.check_answer({"draft": draft, "say": ""}, {"word": "b"})))
    ask(lambda: _without_times(bench.check_answer({"draft": draft, "say": ""}, {"wrd": "b"})))
    for old in ("drafted", "nowhere"):
        edits = {"edits": [{"part": "name", "old": old, "new": "edited"}]}
        ask(lambda edits=edits: _without_times(bench.check_answer(edits, draft=draft)))
        ask(lambda edits=edits: _without_times(bench.check_answer(edits)))


def _without_times(checked: Any) -> Any:
    return checked.model_copy(update={"timings": {}})


@row("Bench.analyse", "Bench.analyse_on_arrival", "Bench.analysis_types", "Bench.kinds", "Bench.gallery")
def analysed(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    ask(bench.analysis_types)
    assert ask(bench.analyse_on_arrival) in (None, False)
    ask(lambda: bench.analyse_on_arrival(True))
    ask(lambda: bench.analyse_on_arrival(False))
    ask(bench.kinds)
    ask(lambda: bench.gallery().recipe("fade"))
    ask(lambda: bench.gallery().recipe("fad"))
    ask(lambda: bench.gallery("M50-A-01_ageing").recipe("fade"))
    ask(lambda: bench.gallery("nobody"))
    done = ask(lambda: bench.analyse("efficiency", "M50-A-01_ageing", check=True).as_dict())
    assert done is None or done
    for wrong in ("efficienc", "", "kind:rpt"):
        ask(lambda wrong=wrong: bench.analyse(wrong))
    ask(lambda: bench.analyse("efficiency", "nobody"))
    ask(lambda: bench.analyse("efficiency", {"batch": "nobody"}).as_dict())
    ask(lambda: bench.analyse("efficiency", "M50-A-01_ageing", threshold=3))


@row("Bench.exclude", "Bench.exclusions", "Bench.include")
def excluded(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    made = ask(lambda: bench.exclude("M50-A-01_ageing", cycles=[3, 4, 9], reason="the door was open"))
    ask(bench.exclusions)
    ask(lambda: bench.exclude("M50-A-01_ageing", cycles=5, reason="a power cut", name="mine"))
    for cycles, reason in (([-1], "below"), ([], "none"), (None, ""), ([1.5], "half")):
        ask(lambda cycles=cycles, reason=reason: bench.exclude("M50-A-01_ageing", cycles=cycles, reason=reason))
    ask(lambda: bench.exclude("nobody", reason="x"))
    ask(lambda: bench.include("min"))
    ask(lambda: bench.include("mine"))
    ask(lambda: bench.include(made.name))
    ask(bench.exclusions)


@row("Bench.simulate", "Bench.start_simulation")
def modelled(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    """Models run on this machine, wherever the store is; what cannot run is refused in the same words."""
    for begin in (bench.simulate, bench.start_simulation):
        ask(lambda begin=begin: begin("Nobody2020", "Discharge at 1C until 2.5 V"))
        ask(lambda begin=begin: begin("Chen2020", []))
        ask(lambda begin=begin: begin("Chen2020", "Rest for 1 hour", model="nonsense"))


@row(*(f"alerts.{name}" for name in ("create", "choices", "list", "delete", "occurrences", "acknowledge")))
def watched(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    board = bench.dashboards.create("Watched")
    plot = board.save("Cells", {"plan": PLAN, "transform": SCRIPT})
    ask(lambda: bench.alerts.choices(plot))
    made = ask(lambda: bench.alerts.create(plot, "New cell", "cells"))
    ask(lambda: bench.alerts.create(plot, "Named", "cells", "name", equals="nobody", key=["id"]))
    for step, column, bounds in (
        ("cell", None, {}),
        ("cells", "nam", {}),
        ("cells", "name", {"above": 3}),
        ("cells", None, {"below": 3}),
        ("cells", "name", {"equals": "a", "below": 3}),
        ("cells", None, {"key": ["nam"]}),
        ("cells", None, {"webhook": "https://elsewhere.example.com/"}),
        ("cells", None, {"webhook": "file:///etc/passwd"}),
    ):
        ask(lambda step=step, column=column, bounds=bounds: bench.alerts.create(plot, "x", step, column, **bounds))
    ask(lambda: list(bench.alerts.list()["name"]))
    ask(lambda: len(bench.alerts.occurrences()))
    ask(lambda: bench.alerts.acknowledge("nothing"))
    ask(lambda: bench.alerts.delete("nothing"))
    ask(lambda: bench.alerts.delete(made))
    ask(lambda: list(bench.alerts.list()["name"]))


@row("alerts.allow", "alerts.addresses", "alerts.disallow")
def webhooks(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    ask(lambda: bench.alerts.allow("https://hooks.example.com/lab")["private"])
    ask(lambda: bench.alerts.allow("https://hooks.example.com/lab", private=True)["private"])
    ask(lambda: bench.alerts.allow("ftp://hooks.example.com/lab"))
    ask(lambda: [one["address"] for one in bench.alerts.addresses()])
    ask(lambda: bench.alerts.disallow("https://hooks.example.com/other"))
    ask(lambda: bench.alerts.disallow("https://hooks.example.com/lab"))
    ask(bench.alerts.addresses)
