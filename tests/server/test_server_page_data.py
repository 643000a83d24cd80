"""What the web page asks of the server beside what programs ask: figures that are kept, what may be done, packing."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from support.full_organization import RECIPE, World, make
from support.server_in_process import Lab

from workbench.recipe.controls import table
from workbench.recipe.plot import PlotConfig

CHOOSING: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
    "transform": (
        "def transform(data, params):\n"
        "    n = len(data['cells'])\n"
        "    return {'data': [{'y': [n] * params['n']}], 'layout': {'title': {'text': params['of']}}}\n"
    ),
    "params": {
        "of": {
            "kind": "data",
            "default": None,
            "control": {"label": "Cell", "optionsFrom": {"step": "cells", "value": "name"}},
        },
        "n": {"kind": "view", "default": 3, "control": {"min": 1, "max": 9, "step": 1}},
        "quiet": {"kind": "view", "default": "a"},
    },
}


@pytest.fixture
def world(served: Lab) -> World:
    return make(served, served.admin, "OURS")


def plots_path(world: World) -> str:
    return f"/projects/{world.ids['project_id']}/dashboards/{world.ids['dashboard_id']}/plots"


def saved(served: Lab, world: World, config: dict[str, Any] = CHOOSING, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = served.json(
        "POST", plots_path(world), json={"name": "Chosen", "config": config, **more}
    )
    return made


def test_a_figure_brings_the_table_of_its_controls(served: Lab, world: World) -> None:
    plot = saved(served, world)
    answer = served.json("POST", f"{plots_path(world)}/{plot['id']}/figure", json={"values": {"n": 5}})
    known = table(PlotConfig.model_validate(CHOOSING).params, answer["values"], answer["options"])
    assert answer["controls"] == known
    cell, n, quiet = answer["controls"]
    assert (cell["widget"], cell["label"], cell["nullable"]) == ("dropdown", "Cell", True)
    assert [one["available"] for one in cell["options"]] == [True] * len(answer["options"]["of"])
    assert (n["widget"], n["value"], n["min"], n["max"]) == ("int_slider", 5, 1, 9)
    assert quiet["widget"] == "hidden"


def test_the_content_of_a_figure_is_its_etag(served: Lab, world: World) -> None:
    plot = saved(served, world)
    path = f"{plots_path(world)}/{plot['id']}/figure"
    posted = served.json("POST", path, json={"values": {"n": 5}})
    first = served.call("GET", path, params={"values": '{"n": 5}'})
    assert first.status_code == 200
    assert first.headers["etag"] == f'W/"{posted["content"]}"'
    assert first.headers["cache-control"] == "private, no-cache"
    assert first.json()["figure"] == posted["figure"]
    again = served.call(
        "GET", path, params={"values": '{"n": 5}'}, headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    other = served.call("GET", path, headers={"If-None-Match": first.headers["etag"]})
    assert other.status_code == 200
    grown = f"/cell_specifications/{world.ids['specification_id']}/cell_instances"
    served.json("POST", grown, json={"name": "One more", "project_id": world.ids["project_id"]})
    changed = served.call(
        "GET", path, params={"values": '{"n": 5}'}, headers={"If-None-Match": first.headers["etag"]}
    )
    assert changed.status_code == 200
    assert changed.json()["content"] != posted["content"]


def test_an_older_revision_is_drawn_where_it_is_named(served: Lab, world: World) -> None:
    plot = saved(served, world)
    path = f"{plots_path(world)}/{plot['id']}"
    served.json("PATCH", path, json={"revision": 1, "config": RECIPE, "note": "Nothing is drawn now"})
    assert served.json("GET", f"{path}/figure")["figure"]["data"] == []
    assert len(served.json("GET", f"{path}/figure", params={"revision": 1})["figure"]["data"]) == 1
    assert served.call("GET", f"{path}/figure", params={"revision": 7}).status_code == 404
    for wrong in ("0", "x", "1.0"):
        assert served.call("GET", f"{path}/figure", params={"revision": wrong}).status_code == 422


def test_the_server_says_which_figures_are_not_current(served: Lab, world: World) -> None:
    plot = saved(served, world)
    answer = served.json("GET", f"{plots_path(world)}/{plot['id']}/figure")
    seen = {"id": plot["id"], "revision": 1, "content": answer["content"], "values": {}}
    path = f"/projects/{world.ids['project_id']}/figures/current"

    def stale(*shown: dict[str, Any]) -> list[str]:
        found: list[str] = served.json("POST", path, json={"plots": list(shown)})["stale"]
        return found

    assert stale(seen) == []
    assert stale({**seen, "content": "x"}, {**seen, "id": "none"}) == [plot["id"], "none"]
    assert stale({**seen, "values": {"nothing": 1}}) == [plot["id"]]
    grown = f"/cell_specifications/{world.ids['specification_id']}/cell_instances"
    served.json("POST", grown, json={"name": "One more", "project_id": world.ids["project_id"]})
    assert stale(seen) == [plot["id"]]
    fresh = served.json("GET", f"{plots_path(world)}/{plot['id']}/figure")
    seen["content"] = fresh["content"]
    assert stale(seen) == []
    served.json("PATCH", f"{plots_path(world)}/{plot['id']}", json={"revision": 1, "name": "Renamed"})
    assert stale(seen) == [plot["id"]]
    assert stale({**seen, "pinned": True}) == []


def test_a_note_is_in_the_history_and_lists_may_leave_recipes_out(served: Lab, world: World) -> None:
    plot = saved(served, world, note="First")
    path = f"{plots_path(world)}/{plot['id']}"
    served.json("PATCH", path, json={"revision": 1, "config": RECIPE, "note": "Shorter"})
    served.json("PATCH", path, json={"revision": 2, "name": "Renamed"})
    history = served.json("GET", f"{path}/revisions")["items"]
    assert [one["note"] for one in history] == ["First", "Shorter", None]
    assert served.json("GET", f"{path}/revisions/2")["note"] == "Shorter"
    assert served.store.verify() == []
    short = served.json("GET", f"{path}/revisions", params={"config": "false"})["items"]
    assert [one["config"] for one in short] == [{}, {}, {}]
    whole, bare = (
        served.json("GET", plots_path(world), params={"config": told})["items"] for told in ("true", "false")
    )
    assert [one["config"] for one in bare] == [{}] * len(whole)
    assert [{**one, "config": {}} for one in whole] == bare


@pytest.mark.parametrize(
    ("everywhere", "can"),
    [
        ("project-viewer", ["read"]),
        ("project-contributor", ["read", "write"]),
        ("project-admin", ["read", "write", "manage"]),
    ],
)
def test_a_caller_hears_what_they_can_do(served: Lab, everywhere: str, can: list[str]) -> None:
    who = served.person(f"{everywhere}@lab", everywhere=everywhere)
    assert served.json("GET", f"/projects/{served.project.id}", who)["can"] == can
    assert [one["can"] for one in served.json("GET", "/projects", who)["items"]] == [can]
    assert served.json("GET", "/users/me", who)["organization_can"] == [word for word in can if word != "manage"]


def test_who_makes_a_project_manages_it(served: Lab) -> None:
    who = served.person("maker@lab", everywhere="project-contributor")
    assert served.json("POST", "/projects", who, json={"name": "Mine"})["can"] == ["read", "write", "manage"]
    assert served.json("GET", "/users/me")["organization_can"] == ["read", "write", "manage"]


def test_large_json_is_packed_for_those_who_unpack(served: Lab, world: World) -> None:
    packed = served.call("GET", "/cell_instances/" + world.ids["instance_id"])
    assert "content-encoding" not in packed.headers
    plain = served.call("GET", plots_path(world), headers={"Accept-Encoding": "identity"})
    big = served.call("GET", "/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert big.status_code == 200
    listed = f"/projects/{world.ids['project_id']}/catalog"
    with served.client.stream(
        "GET", listed, headers={**served.admin.headers, "Accept-Encoding": "gzip"}
    ) as answer:
        raw = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "accept-encoding"
        assert len(raw) == int(answer.headers["content-length"])
    forbidden = served.call("GET", listed, headers={"Accept-Encoding": "br, gzip;q=0"})
    assert "content-encoding" not in forbidden.headers
    assert gzip.decompress(raw) == served.call("GET", listed, headers={"Accept-Encoding": "identity"}).content
