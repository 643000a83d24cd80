"""Recipes over the wire: the same bytes as near, and errors that lead to the place."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient
from support.server_in_process import Lab

from server import create_app, responses
from workbench.engine.arrow import from_arrow
from workbench.engine.wire import step_json, to_json
from workbench.local import LocalBackend
from workbench.records import Dashboard


@pytest.fixture
def demo(demo_copy: Path) -> Iterator[tuple[Lab, LocalBackend]]:
    app = create_app(demo_copy)
    with TestClient(app, base_url="http://localhost", follow_redirects=False) as client:
        near = LocalBackend.open(demo_copy)
        yield Lab(app, client), near
        near.close()


def test_the_script_of_a_plot_is_looked_at_in_a_locked_process(
    demo: tuple[Lab, LocalBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    far, near = demo
    plot = plots(near)[0]
    where = place(near, plot).rpartition("/")[0]
    for name in ("script._parsed", "inprocess.check_keys"):
        monkeypatch.setattr(f"workbench.transform.{name}", lambda *_, **__: pytest.fail("parsed here"))
    config = {**plot.config, "transform": "import os\n" + plot.config["transform"]}
    refused = far.call("POST", where, far.admin, json={"name": "Wrong", "config": config})
    assert (refused.status_code, refused.json()["detail"][0]["type"]) == (422, "script_import")
    asked = {"revision": plot.revision, "config": config}
    refused = far.call("PATCH", place(near, plot), far.admin, json=asked)
    assert (refused.status_code, refused.json()["detail"][0]["type"]) == (422, "script_import")
    config["transform"] = plot.config["transform"] + "\n"
    made = far.call("POST", where, far.admin, json={"name": "Right", "config": config})
    assert made.status_code == 200, made.text


def test_a_revision_of_an_older_copy_is_not_taken_for_another_of_its_number(
    demo: tuple[Lab, LocalBackend], tmp_path: Path
) -> None:
    far, near = demo
    plot = plots(near)[0]
    near.store.backup(tmp_path / "older.db")

    def drawn(title: str) -> Any:
        script = f"def transform(data, params):\n    return go.Figure(layout={{'title': {{'text': '{title}'}}}})\n"
        asked = {"revision": plot.revision, "config": {**plot.config, "transform": script}}
        saved = far.json("PATCH", place(near, plot), json=asked)
        assert saved["revision"] == plot.revision + 1
        return far.json("POST", f"{place(near, plot)}/figure", json={})["figure"]["layout"]["title"]["text"]

    assert drawn("first") == "first"
    with (
        closing(sqlite3.connect(tmp_path / "older.db")) as older,
        closing(sqlite3.connect(near.store.path)) as now,
    ):
        older.backup(now)
    assert drawn("second") == "second"


def plots(near: LocalBackend) -> list[Any]:
    boards = near.store.rows.page(Dashboard, near.scope, limit=None).items
    return [plot for board in boards for plot in near.plots(board)]


def place(near: LocalBackend, plot: Any) -> str:
    return f"/projects/{near.project.id}/dashboards/{plot.dashboard_id}/plots/{plot.id}"


def test_every_plot_of_the_demo_is_the_same_near_and_far(demo: tuple[Lab, LocalBackend]) -> None:
    far, near = demo
    viewer = far.person("viewer@lab", everywhere="project-viewer")
    found = plots(near)
    assert len(found) >= 10
    for plot in found:
        here = near.figure(plot.config, {})
        there = far.call("POST", f"{place(near, plot)}/figure", viewer, json={})
        assert there.status_code == 200, there.text
        assert here.figure in there.content, plot.name
        answer = there.json()
        assert answer["values"] == orjson.loads(orjson.dumps(here.values))
        assert set(answer) == {
            "figure",
            "values",
            "options",
            "warnings",
            "cache",
            "reads",
            "timings",
            "log",
            "traces",
            "hints",
            "controls",
            "content",
        }
        assert answer["traces"] == here.traced
        assert answer["hints"] == here.hinted
        assert answer["content"] == here.content
        again = far.json("POST", f"{place(near, plot)}/figure", viewer)
        assert again["cache"] == {"dataset": "hit", "figure": "hit"}
        assert again["reads"] == {"steps": 0, "sources": 0}


def metadata_of(content: bytes) -> Iterator[dict[str, str]]:
    """What each of the Arrow streams of an answer says of itself."""
    source = pa.BufferReader(content)
    while source.tell() < source.size():
        with pa.ipc.open_stream(source) as stream:
            yield {key.decode(): value.decode() for key, value in stream.schema.metadata.items()}
            stream.read_all()


def test_datasets_as_json_and_as_arrow_are_those_of_the_bench(demo: tuple[Lab, LocalBackend]) -> None:
    far, near = demo
    path = f"/projects/{near.project.id}/datasets"
    for plot in plots(near)[:5]:
        body = {"config": {key: plot.config[key] for key in ("plan", "params") if key in plot.config}}
        here = near.dataset(body["config"], {})
        there = far.json("POST", path, json=body)
        wanted = orjson.loads(to_json(here))
        assert {**there, "timings": {}, "cache": {}, "reads": {}} == {
            **wanted,
            "timings": {},
            "cache": {},
            "reads": {},
        }
        packed = far.call("POST", path, json=body, headers={"Accept": "application/vnd.apache.arrow.stream"})
        assert packed.headers["content-type"] == "application/vnd.apache.arrow.stream"
        steps, _ = from_arrow(packed.content)
        read = {name: step_json(result, here.columns[name]) for name, result in steps.items()}
        assert orjson.loads(orjson.dumps(read, option=orjson.OPT_SERIALIZE_NUMPY)) == wanted["steps"]
        said = [(about["step"], about["id"], about["complete"] == "true") for about in metadata_of(packed.content)]
        series = [
            (name, id, samples["complete"])
            for name, result in wanted["steps"].items()
            for id, samples in (result.items() if isinstance(result, dict) else [("", {"complete": True})])
        ]
        assert said == [("", "", True), *series]


def test_detail_of_a_plot_holds_more_samples(demo: tuple[Lab, LocalBackend]) -> None:
    far, near = demo
    plot = next(plot for plot in plots(near) if plot.name == "Voltage curves")
    answer = far.json(
        "POST", f"{place(near, plot)}/figure/detail", json={"traces": [0, 1, 999], "x": [0, 1e9], "width": 2000}
    )
    assert set(answer) == {"traces"}
    for trace in answer["traces"].values():
        assert len(trace["x"]) == len(trace["y"])
        assert trace["shown"] <= trace["of"]
    for wrong in ({"x": [1]}, {"x": [0, 1], "width": 0}, {"traces": ["a"]}, {"y": [True, False]}, {"z": 1}):
        body = {"traces": [0], "x": [0, 1], "width": 100, **wrong}
        bad = far.call("POST", f"{place(near, plot)}/figure/detail", json=body)
        assert bad.status_code == 422
        assert bad.json()["detail"][0]["loc"][0] in wrong


def test_data_of_a_plot_comes_as_csv_and_parquet(demo: tuple[Lab, LocalBackend]) -> None:
    far, near = demo
    plot = plots(near)[0]
    csv = far.call("GET", f"{place(near, plot)}/data")
    assert csv.headers["content-type"].startswith("text/csv")
    assert csv.text.startswith("trace,name,")
    step = next(iter(plot.config["plan"]["steps"]))
    parquet = far.call("GET", f"{place(near, plot)}/data", params={"format": "parquet", "step": step})
    assert pq.read_table(io.BytesIO(parquet.content)).num_rows
    wrong = far.call("GET", f"{place(near, plot)}/data", params={"step": step + "x"})
    assert (wrong.status_code, wrong.json()["detail"][0]["loc"]) == (422, ["step"])
    values = far.call("GET", f"{place(near, plot)}/data", params={"values": '{"nothing": 1}'})
    assert (values.status_code, values.json()["detail"][0]["loc"]) == (422, ["values", "nothing"])


RECIPE: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
    "transform": "def transform(data, params):\n    print('hello')\n    return {'data': [], 'layout': {}}\n",
}


def test_a_plot_keeps_every_revision(served: Lab) -> None:
    project = f"/projects/{served.project.id}"
    board = served.json("POST", f"{project}/dashboards", json={"name": "Board"})
    taken = served.call("POST", f"{project}/dashboards", json={"name": "Board"})
    assert (taken.status_code, taken.json()["detail"]) == (409, {"existing_id": board["id"]})
    path = f"{project}/dashboards/{board['id']}/plots"
    plot = served.json("POST", path, json={"name": "Plot", "config": RECIPE})
    assert (plot["revision"], plot["dashboard_id"]) == (1, board["id"])
    assert served.call("POST", path, json={"name": "Plot", "config": RECIPE}).json()["detail"] == {
        "existing_id": plot["id"]
    }
    second = served.json("PATCH", f"{path}/{plot['id']}", json={"name": "Renamed", "revision": 1})
    assert (second["name"], second["revision"], second["config"]) == ("Renamed", 2, plot["config"])
    stale = served.call("PATCH", f"{path}/{plot['id']}", json={"name": "Third", "revision": 1})
    assert stale.status_code == 409
    assert stale.json()["detail"] | {"existing_id": ""} == {"existing_id": "", "revision": 2, "started_from": 1}
    assert served.call("PATCH", f"{path}/{plot['id']}", json={"name": "Third"}).status_code == 422
    for number in (-1, 1 << 31, 1 << 100):
        beyond = served.call("PATCH", f"{path}/{plot['id']}", json={"revision": number})
        assert beyond.status_code == 422
        assert beyond.json()["detail"][0]["loc"] == ["revision"]
    restored = served.json("POST", f"{path}/{plot['id']}/revisions/1/restore")
    assert (restored["name"], restored["revision"]) == ("Plot", 3)
    listed = served.json("GET", f"{path}/{plot['id']}/revisions")
    assert [one["origin"] for one in listed["items"]] == ["save", "save", "restore 1"]
    assert served.call("POST", f"{path}/{plot['id']}/revisions/9/restore").status_code == 404
    assert served.call("POST", f"{path}/{plot['id']}/revisions/x/restore").status_code == 404
    assert served.json("GET", f"{project}/dashboards")["items"][0]["plot_count"] == 1
    other = served.json("POST", f"{project}/dashboards", json={"name": "Other"})
    strange = f"{project}/dashboards/{other['id']}/plots/{plot['id']}"
    assert served.call("GET", strange).status_code == 404
    assert served.call("DELETE", f"{project}/dashboards/{board['id']}").status_code == 204
    assert served.call("GET", f"{path}/{plot['id']}").status_code == 404


def test_problems_of_a_recipe_lead_to_their_place(served: Lab) -> None:
    path = f"/projects/{served.project.id}/figures"
    drawn = served.json("POST", path, json={"config": RECIPE})
    assert drawn["log"] == "hello\n"
    for body, loc in (
        ({"config": {**RECIPE, "plan": {"steps": {}}}}, ["config", "plan", "steps"]),
        ({"config": RECIPE, "values": {"x": 1}}, ["values", "x"]),
        ({"config": RECIPE, "values": []}, ["values"]),
        ({"config": RECIPE, "vales": {}}, ["vales"]),
        ({}, ["config"]),
        ({"config": 3}, ["config"]),
    ):
        answer = served.call("POST", path, json=body)
        assert answer.status_code == 422, body
        assert answer.json()["detail"][0]["loc"] == loc
    script = {**RECIPE, "transform": "def transform(data, params):\n    return data['nope']\n"}
    failed = served.call("POST", path, json={"config": script}).json()
    assert failed["detail"][0]["loc"] == ["config", "transform"]
    assert failed["detail"][0]["ctx"]["line"] == 2


def test_a_recipe_body_is_at_most_one_mebibyte(served: Lab) -> None:
    body = {"config": {**RECIPE, "transform": "#" * (1 << 20)}}
    assert served.call("POST", f"/projects/{served.project.id}/figures", json=body).status_code == 413


def test_viewers_draw_saved_plots_and_run_no_recipe_of_their_own(served: Lab) -> None:
    project = f"/projects/{served.project.id}"
    viewer = served.person("viewer@lab", everywhere="project-viewer")
    board = served.json("POST", f"{project}/dashboards", json={"name": "Board"})
    path = f"{project}/dashboards/{board['id']}/plots"
    plot = served.json("POST", path, json={"name": "Plot", "config": RECIPE})
    assert served.json("POST", f"{path}/{plot['id']}/figure", viewer)["figure"]
    for method, where, body in (
        ("POST", f"{project}/figures", {"config": RECIPE}),
        ("POST", f"{project}/datasets", {"config": RECIPE}),
        ("PATCH", f"{path}/{plot['id']}", {"revision": 1, "name": "Mine"}),
        ("DELETE", f"{path}/{plot['id']}", None),
    ):
        assert served.call(method, where, viewer, json=body).status_code == 403
    nobody = served.person("nobody@lab")
    assert served.call("POST", f"{path}/{plot['id']}/figure", nobody).status_code == 404


def test_the_schema_of_a_recipe_is_published(served: Lab) -> None:
    schema = served.json("GET", "/recipe/schema")
    assert schema["properties"]["plan"]


@pytest.mark.parametrize("value", [1 << 100, "\ud800", [1 << 64]])
def test_an_error_that_repeats_what_no_json_writer_takes_is_told(value: Any) -> None:
    assert json.loads(responses.dumps({"started_from": value})) == {"started_from": value}
