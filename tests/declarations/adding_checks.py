"""What must hold in a copy of the workbench to which the blocks of ``adding-things.md`` were applied.

Run as a script in a folder of its own; prints the failures as JSON, by the name of the check.
"""

from __future__ import annotations

import inspect
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2 as httpx

import workbench as wb
from tools.docs.recipe import page
from workbench import steps
from workbench.authoring.catalog_text import told
from workbench.authoring.recipe_fields import fields
from workbench.recipe.schema import schema
from workbench.records import Instance
from workbench.table import Table

SCRIPT = "def transform(data, params): return go.Figure()"
RATINGS = {name: {"value": 5.0, "unit": "A.h"} for name in ("capacity", "voltage_min", "voltage_max")}
CURVE = Table.of({"x": [0.0, 1.0, 2.0], "Voltage [V]": [3.0, 3.1, 3.2]})


class Lab:
    def __init__(self) -> None:
        self.bench = wb.open("adding.db")
        self.specification = self.bench.specifications.create(name="M50", ratings=RATINGS)
        self.batch = self.bench.batches.create(name="A", specification_id=self.specification.id)
        work: Any = self.bench.backend
        given = {"name": "A-01", "specification_id": self.specification.id, "batch_id": self.batch.id}
        self.cell = work.create_with_tables(Instance, given, {"series": CURVE})
        self.bench.instances.create(name="A-02", specification_id=self.specification.id)
        self.backend = work

    def run(self, plan: dict[str, Any], params: dict[str, Any] | None = None, **values: Any) -> Any:
        return self.bench.dataset({"plan": {"steps": plan}, "params": params or {}}, **values)

    def problems(self, plan: dict[str, Any], params: dict[str, Any] | None = None) -> list[tuple[Any, str]]:
        recipe = {"plan": {"steps": plan}, "transform": SCRIPT, "params": params or {}}
        return [(problem.loc[3:], problem.msg) for problem in self.bench.check(recipe)]

    def plot(self, board: str) -> Any:
        recipe = {"plan": {"steps": PLAN}, "transform": SCRIPT, "params": LEAST}
        return self.bench.dashboards.create(board).save("Fade", recipe)

    def refused(self, kind: type[Exception], call: Callable[[], Any]) -> None:
        try:
            call()
        except kind:
            return
        raise AssertionError(f"not refused as {kind.__name__}")


def a_source_is_listed_and_filtered(lab: Lab) -> None:
    listed = lab.run(
        {"b": {"op": "list", "source": "batches", "where": {"specificationIds": lab.specification.id}}}
    )
    assert listed["b"]["name"].tolist() == ["A"]
    assert "instance_count" in listed["b"].columns
    none = lab.run({"b": {"op": "list", "source": "batches", "where": {"specificationIds": ["other"]}}})
    assert len(none["b"]) == 0
    built = steps.list("batches", name="A")
    assert lab.run(dict(wb.plan(b=built))["steps"])["b"]["name"].tolist() == ["A"]


def a_source_is_checked_with_near_names(lab: Lab) -> None:
    ((loc, message),) = lab.problems({"b": {"op": "list", "source": "batchs"}})
    assert loc == ("b", "source")
    assert "'batches'" in message
    ((loc, message),) = lab.problems({"b": {"op": "list", "source": "batches", "fields": ["date_manufacured"]}})
    assert loc[:2] == ("b", "fields")
    assert "date_manufactured" in message
    ((loc, message),) = lab.problems({"b": {"op": "list", "source": "batches", "where": {"studyId": "x"}}})
    assert loc == ("b", "where", "studyId")
    assert "does not apply to batches" in message


def a_source_is_in_catalog_schema_page_and_texts(lab: Lab) -> None:
    catalog = lab.bench.catalog()
    assert catalog["batches"].records == 1
    assert "batches" in repr(catalog)
    assert "## batches: 1 record" in told(catalog, 20_000)
    assert "batches" in schema()["$defs"]["ListStep"]["properties"]["source"]["enum"]
    assert "`batches`" in page()
    assert '"batches"' in fields()
    assert "specificationIds" in page()


def a_source_with_samples_is_read(lab: Lab) -> None:
    curve = {"op": "series", "source": "instances", "ids": "$cells", "x": "x", "columns": ["Voltage [V]"]}
    params = {"cells": {"kind": "data", "default": [lab.cell.id]}}
    frame = lab.run({"curve": curve}, params)["curve"][lab.cell.id]
    assert frame["Voltage [V]"].tolist() == [3.0, 3.1, 3.2]
    ((_, message),) = lab.problems({"curve": {**curve, "columns": ["Voltage"]}}, params)
    assert "'Voltage [V]'" in message
    bare = lab.bench.instances.list(name="A-02").iloc[0]["id"]
    ((_, message),) = lab.problems({"curve": curve}, {"cells": {"kind": "data", "default": [bare]}})
    assert "The cell instance 'A-02'" in message
    assert "has no series" in message


def a_source_with_samples_is_in_catalog_and_schema(lab: Lab) -> None:
    assert [column.name for column in lab.bench.catalog()["instances"].series] == ["Voltage [V]", "x"]
    assert "instances" in schema()["$defs"]["SeriesStep"]["properties"]["source"]["enum"]
    assert "series columns: " in told(lab.bench.catalog(), 20_000).partition("## instances")[2]


def samples_keep_to_their_scope_and_go_with_the_record(lab: Lab) -> None:
    other = lab.bench.projects.create(name="Elsewhere")
    away: Any = lab.bench.project(other.name).backend
    store = lab.backend.store
    gone = lab.backend.create_with_tables(
        Instance, {"name": "B", "specification_id": lab.specification.id}, {"series": CURVE}
    )
    assert store.series.info(gone.id, scope=lab.backend.scope) is not None
    assert store.series.info(gone.id, scope=away.scope) is None
    lab.bench.instances.delete(gone.id)
    assert store.series.info(gone.id, scope=lab.backend.scope) is None
    assert lab.bench.verify() == []


LISTED = {"op": "list", "source": "instances", "fields": ["name", "batch_name"]}
COUNTED = {"op": "aggregate", "input": "cells", "group_by": ["batch_name"], "metrics": {"n": {"fn": "count"}}}
SORTED = {"op": "sort", "input": "counted", "by": "n", "least": "$least"}
PLAN = {"cells": LISTED, "counted": COUNTED, "sorted": SORTED}
TEMPLATE = "/projects/{project_id}/dashboards/{dashboard_id}/plots/{plot_id}/copies"
LEAST = {"least": {"kind": "data", "default": None}}


def an_operation_runs_with_params(lab: Lab) -> None:
    for n in range(2):
        lab.bench.instances.create(name=f"C-{n}", specification_id=lab.specification.id)
    assert lab.run(PLAN, LEAST)["sorted"]["n"].tolist() == [1, 3]
    assert lab.run(PLAN, LEAST, least=2)["sorted"]["n"].tolist() == [3]
    after = {
        **PLAN,
        "again": {"op": "aggregate", "input": "sorted", "group_by": ["n"], "metrics": {"k": {"fn": "count"}}},
    }
    assert lab.run(after, LEAST)["again"]["n"].tolist() == [1, 3]


def an_operation_is_checked_with_near_names(lab: Lab) -> None:
    def one(**changed: Any) -> tuple[Any, str]:
        ((loc, message),) = lab.problems({**PLAN, "sorted": {**SORTED, **changed}}, LEAST)
        return loc, message

    assert one(input="countd") == (("sorted", "input"), one(input="countd")[1])
    assert "'counted'" in one(input="countd")[1]
    loc, message = one(by="m")
    assert loc == ("sorted", "by")
    assert "has no column 'm'" in message
    assert one(least="$lest")[0] == ("sorted", "least")
    assert one(least=True)[0] == ("sorted", "least")
    assert one(lest=1)[0] == ("sorted", "lest")
    assert "'sort'" in one(op="sor")[1]
    loc, message = one(by="batch_name", input="cells")
    assert "holds no numbers" in message
    ((loc, message),) = lab.problems({**PLAN, "late": {**COUNTED, "input": "sorted", "group_by": ["m"]}}, LEAST)
    assert loc == ("late", "group_by", 0)


def an_operation_is_in_schema_page_texts_and_builders(lab: Lab) -> None:
    assert schema()["$defs"]["SortStep"]["properties"]["by"]["description"].startswith("Column of numbers")
    assert schema()["$defs"]["Plan"]["properties"]["steps"]["additionalProperties"]["discriminator"]["mapping"][
        "sort"
    ]
    assert "## SortStep" in page()
    assert "SortStep {" in fields()
    cells = steps.list("instances", fields=["name", "batch_name"])
    counted = steps.aggregate(cells, ["batch_name"], {"n": steps.count()})
    built = wb.plan(cells=cells, counted=counted, sorted=steps.sort(counted, "n", least=wb.param("least", None)))
    recipe = wb.Recipe(plan=built, transform=SCRIPT)
    assert recipe.plan["steps"] == PLAN
    assert recipe.params["least"]["kind"] == "data"


def an_operation_is_looked_at(lab: Lab) -> None:
    seen = lab.bench.look(
        {"plan": {"steps": {**PLAN, "cells": {**LISTED, "fields": ["nam", "batch_name"]}}}, "params": LEAST}
    )
    assert "waits for 'counted'" in seen["sorted"].summary
    assert "waits for 'cells'" in seen["counted"].summary


def a_control_is_decided_read_and_drawn(lab: Lab) -> None:
    params = {"line": {"kind": "view", "default": "#1f77b4", "control": {"label": "Line"}}}
    recipe = wb.Recipe(plan={"steps": {"cells": LISTED}}, transform=SCRIPT, params=params)
    view = lab.bench.show(recipe)
    assert view.values["line"] == "#1f77b4"
    from workbench.notebook.fields import field
    from workbench.recipe.cli_values import read_cli_values
    from workbench.recipe.controls import WIDGETS, decide

    assert "color" in WIDGETS
    decided = decide("line", recipe.config.params["line"])
    assert decided["widget"] == "color"
    heard: list[None] = []
    held = field(decided, lambda: heard.append(None))
    assert type(held.main).__name__ == "ColorPicker"
    held.main.value = "#ff0000"
    assert (held.value, len(heard)) == ("#ff0000", 1)
    assert read_cli_values(recipe.config, ["line=#00ff00"]) == {"line": "#00ff00"}
    assert decide("line", recipe.config.params["line"], value="#00ff00")["value"] == "#00ff00"
    page = Path("server/page/controls/panel.js").read_text("utf-8")
    assert "color: TextField" in page, "the page draws it too"


def a_capability_is_the_same_here_and_on_a_server(lab: Lab) -> None:
    lab.plot("Ageing")
    with (
        lab.bench.serve(port=0, trust_transforms=True) as served,
        wb.connect(served.url, served.api_key, "Default") as remote,
    ):
        for bench, name in ((lab.bench, "Copied here"), (remote, "Copied there")):
            plot: Any = bench.dashboards.get("Ageing").plot("Fade")
            copy = plot.copy(name)
            assert (copy.name, copy.revision) == (name, 1)
            assert copy.recipe().plan == plot.recipe().plan
            lab.refused(wb.Conflict, lambda plot=plot: plot.copy("Fade"))
            lab.refused(wb.Invalid, lambda plot=plot: plot.copy(""))
    assert [one.name for one in lab.bench.dashboards.get("Ageing").plots()] == [
        "Fade",
        "Copied here",
        "Copied there",
    ]


def a_capability_is_a_route_with_its_right_and_its_schema(lab: Lab) -> None:
    plot = lab.plot("Routes").record
    people, organization = lab.backend.store.people, lab.backend.organization.id
    people.enrol(organization, "viewer@lab", everywhere="project-viewer")
    viewer = people.issue(organization, lab.backend.store.rows.user("viewer@lab").id).key
    path = f"/projects/{lab.backend.project.id}/dashboards/{plot.dashboard_id}/plots/{plot.id}/copies"
    with lab.bench.serve(port=0, trust_transforms=True) as served:

        def post(body: Any, key: str = served.api_key, to: str = path) -> tuple[int, Any]:
            answer = httpx.post(served.url + to, json=body, headers={"X-API-Key": key}, trust_env=False)
            return answer.status_code, answer.json()

        status, made = post({"name": "Over HTTP"})
        assert (status, made["name"], made["dashboard_id"]) == (200, "Over HTTP", plot.dashboard_id)
        assert post({"name": "No right"}, viewer)[0] == 403
        assert post({"name": "No key"}, "wb_none")[0] == 401
        assert post({"name": "Nowhere"}, to=path.replace(plot.id, "none"))[0] == 404
        status, wrong = post({"nam": "Wrong"})
        assert status == 422
        assert sorted(problem["loc"] for problem in wrong["detail"]) == [["nam"], ["name"]]
        document = httpx.get(f"{served.url}/openapi.json", trust_env=False).json()
    route = document["paths"][TEMPLATE]["post"]
    assert route["summary"] == "Copy a plot on its dashboard, under another name"
    body = document["components"]["schemas"]["CopyOfBody"]
    assert (list(body["properties"]), body["required"]) == (["name"], ["name"])
    answer = route["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/Plot"}
    noted = [one for one in people.audit_log(organization) if one["action"] == f"POST {TEMPLATE}"]
    assert plot.id in {one["target"] for one in noted if one["status"] is None}
    assert 403 in {one["status"] for one in noted}


def a_format_is_recognised_read_and_described(lab: Lab) -> None:
    from tools.docs.formats import page as formats_page
    from workbench.readers import FORMATS, read, recognise

    path = Path("exemplar.csv")
    assert recognise(path) == "exemplar"
    assert read(path).format == "exemplar"
    assert list(FORMATS).index("exemplar") < list(FORMATS).index("delimited")
    assert "| `exemplar` | Exemplar |" in formats_page()


if __name__ == "__main__":
    made = Lab()
    failed = {}
    for name, check in list(globals().items()):
        if inspect.isfunction(check) and check.__module__ == __name__:
            try:
                check(made)
                failed[name] = ""
            except Exception:  # whatever it is, it is the finding of this check
                failed[name] = traceback.format_exc()
    print(json.dumps(failed))
