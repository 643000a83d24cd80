"""What is asked of the methods about records, files, plans and figures, local and remote."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd

import workbench as wb

from .asked_methods import (
    COVERED,
    DATA,
    NOWHERE,
    PLAN,
    RATINGS,
    ROWS,
    SCRIPT,
    TABLE,
    Ask,
    Row,
    recipe,
    row,
    samples,
)

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
