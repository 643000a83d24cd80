"""What somebody does with a bench on a server, every public method once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import workbench as wb
from tests.recordings.asking import UNKNOWN
from tests.recordings.operations import RATINGS

FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "projects": ({"description": "slow"}, {"description": "slower"}),
    "specifications": ({"ratings": RATINGS}, {"manufacturer": "LG"}),
    "batches": ({"specification": "Pouch 500"}, {"notes": "late"}),
    "instances": (
        {"specification": "Pouch 500", "batch": "B"},
        {"properties": {"mass": {"value": 69.5, "unit": "g"}}},
    ),
    "measurements": ({"instance": "P-A-1", "tags": ["b", "A"]}, {"tags": ["c"], "protocol": {"name": "RPT"}}),
    "analyses": ({"analysis_type": "dcir"}, {"metadata": {"a": [1, 2.5, None]}}),
    "materials": ({"manufacturer": "M"}, {"source": {"doi": "10/x"}}),
    "material_properties": ({"material": "NMC 811"}, {"notes": "n"}),
    "models": ({"config": {"type": "SPM"}}, {"description": "single particle", "chemistry": "ecm"}),
    "simulations": ({"specification": "Pouch 500"}, {"metrics": {"x": 1.5}}),
    "studies": ({"description": "why"}, {"description": "because"}),
    "drive_cycles": ({"data": [[0, 1], [1, 2.5]]}, {"name": "another"}),
    "dashboards": ({"description": "d"}, {"description": "e", "layout": []}),
}
"""Of every collection: what its record is made with, and changed to."""
UNIQUE = ("projects", "specifications", "batches", "instances", "measurements", "dashboards")
"""Collections in which a name is given once."""
TABLE = {"SOC": [0.1, 0.5, None], "R [Ohm]": [0.03, -0.0, 5e-324], "word": ["a", None, "ü"]}
SCRIPT = "def transform(data, params):\n    print(params)\n    return px.bar(data['cells'], x='name')\n"
PLAN = {
    "steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"], "where": {"ids": "$cells"}}}
}
PARAMS = {"cells": {"kind": "data", "default": None}, "scale": {"kind": "view", "default": 1}}
RECIPE = {"plan": PLAN, "transform": SCRIPT, "params": PARAMS}


def samples(n: int = 60, start: float = 0.0, step: int = 0) -> pd.DataFrame:
    half = np.arange(n) < n // 2
    return pd.DataFrame(
        {
            "Time [s]": start + np.arange(n, dtype=float),
            "Current [A]": np.where(half, 1.0, -1.0),
            "Voltage [V]": np.where(half, 4.0 - np.arange(n) / n, 3.2 + np.arange(n) / n),
            "Step count": step + np.where(half, 0, 1),
        }
    )


def run(bench: wb.Bench, folder: Path) -> None:
    """All of it, in its order; what is answered is looked at where one number says enough."""
    for name in FIELDS:
        _records(bench, name)
    _sampled(bench, folder)
    _studies(bench)
    _recipes(bench, folder)
    _boards(bench)
    _conversations(bench)
    _files(bench, folder)
    _whole(bench, folder)


def refused(call: Any, kind: type[Exception] = wb.WorkbenchError) -> None:
    """A call that must be refused."""
    try:
        call()
    except kind:
        return
    raise AssertionError(f"this was not refused: {call.__code__.co_names}, line {call.__code__.co_firstlineno}")


def _records(bench: wb.Bench, name: str) -> None:
    collection, fields = getattr(bench, name), dict(FIELDS[name][0])
    if name == "analyses":
        fields["measurement"] = bench.measurements.list(name="weighing")["id"][0]
    made = collection.create(name=f"a new one of {name}", **fields)
    if name in UNIQUE:
        refused(lambda: collection.create(name=f"a new one of {name}", **fields), wb.Conflict)
    refused(lambda: collection.create(name="x", nme=1, **fields), wb.Invalid)
    refused(lambda: collection.get("a new ome"), wb.NotFound)
    assert collection.get(made.id).name == collection.get(f"a new one of {name}").name
    collection.update(made.id, **FIELDS[name][1])
    refused(lambda: collection.update(made.id, name="  "), wb.Invalid)
    assert len(collection.list()) >= len(collection.list(name_contains="NEW ONE"))
    collection.list(limit=1)
    refused(lambda: collection.list(nme="x"))
    collection.delete(made.id)
    refused(lambda: collection.delete(made.id), wb.NotFound)


def _sampled(bench: wb.Bench, folder: Path) -> None:
    tests = bench.measurements
    made = tests.create(instance="P-A-1", name="by hand", time_series=samples(), sign="charge", tags=["t"])
    assert list(tests.time_series(made)["Current [A]"][:2]) == [-1.0, -1.0]
    assert len(tests.time_series("by hand", ["Voltage [V]"])) == 60
    refused(lambda: tests.time_series(made, ["Voltag"]))
    for life in (False, True):
        tests.steps(made, life=life)
        tests.cycles(made, life=life)
    steps = tests.steps(made).drop(columns="Step type")
    tests.create(instance="P-A-1", name="with steps", time_series=samples(), steps=steps, sign="discharge")
    refused(lambda: tests.create(instance="P-A-1", name="x", time_series=samples()[::-1]))
    tests.extend(made, samples(20, 60.0, 2))
    refused(lambda: tests.extend(made, samples(20)))
    assert len(tests.time_series(made)) == 80
    tests.export(made, folder / "m.bdf.csv")
    run_ = bench.simulations.create(name="by hand", model="Circuit", time_series=samples(), steps=TABLE)
    assert len(bench.simulations.time_series(run_)) == 60
    assert len(bench.simulations.steps(run_)) == 3
    analysis = bench.analyses.create(name="by hand", measurement=made, analysis_type="r", table=TABLE)
    sets = bench.material_properties.create(name="by hand", material="NMC 811", table=TABLE)
    assert bench.analyses.table(analysis).equals(bench.material_properties.table(sets))


def _studies(bench: wb.Bench) -> None:
    study = bench.studies.create(name="assigned")
    ids = list(bench.measurements.list(fields=["id"], limit=2)["id"])
    bench.studies.assign(study, measurements=ids, simulations=["1C"])
    assert len(bench.measurements.list(study_id=study, fields=["name"])) == 2
    bench.studies.unassign("assigned", measurements=ids[:1], simulations=["1C"])
    refused(lambda: bench.studies.assign(study, measurements=[UNKNOWN]), wb.NotFound)


def _recipes(bench: wb.Bench, folder: Path) -> None:
    cells = list(bench.instances.list(fields=["id"], limit=2)["id"])
    missing = {
        "plan": {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["nme"]}}},
        "transform": SCRIPT,
    }
    assert bench.check(RECIPE, {"cells": cells}) == []
    assert len(bench.check(missing)) == 1
    bench.config_of(RECIPE)
    assert len(bench.dataset(RECIPE)["cells"]) >= 5
    assert len(bench.dataset(RECIPE, {"cells": cells})["cells"]) == 2
    refused(lambda: bench.dataset(missing), wb.Invalid)
    bench.look(RECIPE)
    bench.values(RECIPE, ["scale=2"])
    figure = bench.figure(RECIPE, {"cells": cells})
    assert len(figure.data[0].x) == 2
    bench.figure(RECIPE, {"cells": cells, "scale": 2})
    bench.figure(RECIPE, protected=True)
    bench.figure_widget(RECIPE)
    refused(lambda: bench.figure({**RECIPE, "transform": "def transform(data, params):\n    return 1 / 0\n"}))
    bench.export(RECIPE, folder / "f.json")
    bench.export(RECIPE, folder / "s.csv", step="cells")
    assert len(bench.show(RECIPE).refresh(wait=True).figure().data) == 1


def _boards(bench: wb.Bench) -> None:
    board = bench.dashboards.create("Saved", description="d")
    assert (board.name, bench.dashboards.get(board.id).id) == ("Saved", board.id)
    board.save("one", RECIPE)
    plot = board.save("one", {**RECIPE, "transform": SCRIPT + "# another\n"})
    assert (plot.name, plot.revision) == ("one", 2)
    refused(lambda: board.save("one", RECIPE, since=1), wb.Conflict)
    refused(lambda: board.save("x", {**RECIPE, "transform": "import os"}), wb.Invalid)
    assert [one.id for one in board.plots()] == [board.plot("one").id] == [plot.id]
    assert plot.recipe(1).transform == SCRIPT
    assert len(plot.history()) == 2
    assert plot.restore(1).revision == 3
    plot.figure()
    plot.show().refresh(wait=True)
    board.show().refresh(wait=True)
    bench.dashboards.delete(board.id)


def _conversations(bench: wb.Bench) -> None:
    session = bench.sessions.create("A title")
    draft = {"type": "draft", "draft": {"name": "n", "config": RECIPE}}
    bench.sessions.say(session, "user", {"text": "ü"})
    bench.sessions.say(session.id, "assistant", {"parts": [draft]})
    assert [message.role for message in bench.sessions.messages(session)] == ["user", "assistant"]
    assert bench.sessions.get(session.id).name == "A title"
    assert len(bench.sessions.list(limit=2)) == 2
    bench.sessions.delete(session)
    board = bench.dashboards.create("Authored")
    begun = bench.authoring_context(board, "A bar", draft={"name": "drafted", "config": RECIPE})
    made = bench.authoring_decision(board, new_plot_id=UNKNOWN, session=begun.session_id)
    assert made.recipe().transform
    bench.authoring_context(board, "Make it red", plot=made)
    refused(lambda: bench.authoring_decision(board, plot=made, session=UNKNOWN))


def _files(bench: wb.Bench, folder: Path) -> None:
    place = folder / "in"
    place.mkdir()
    for name, length in (("Q-1_RPT.csv", 60), ("Q-2_RPT.csv", 80)):
        samples(length).assign(**{"Cycle count": 0}).to_csv(place / name, index=False)
    (place / "notes.xyz").write_text("no test\n")
    given: dict[str, Any] = {"specification": "Pouch 500", "name_rule": "{cell}_{test}", "sign": "discharge"}
    bench.ingest(place, dry_run=True, **given)
    report = bench.ingest(place, **given)
    assert [file.status for file in report.files] == ["stored", "stored"], report
    list(bench.watch(place, once=True, settle=0.0, every=0.05, **given))
    bench.quick(place / "Q-1_RPT.csv")


def _whole(bench: wb.Bench, folder: Path) -> None:
    assert len(bench.catalog().sources) > 5
    assert len(bench.search("life")) > 0
    assert bench.find("life", per_type=1).total > 0
    assert bench.project("Second project").instances.get("Q-1").name == "Q-1"
    refused(lambda: bench.project("nobody"), wb.NotFound)
    refused(bench.verify)
    refused(bench.recompute)
    refused(bench.serve, wb.BadRequest)
