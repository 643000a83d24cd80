"""Links for outsiders: what they show, what stays fixed, and how they end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from support.full_organization import RECIPE, World, make
from support.server_in_process import Lab, lab
from test_server_page_data import CHOOSING

from server import Settings
from workbench.errors import StoreError


@pytest.fixture
def world(served: Lab) -> World:
    return make(served, served.admin, "OURS")


def shared(served: Lab, world: World, **more: Any) -> dict[str, Any]:
    """A dashboard with a plot that chooses, and a link to it."""
    place = f"/projects/{world.ids['project_id']}/dashboards/{world.ids['dashboard_id']}"
    plot = served.json("POST", f"{place}/plots", json={"name": "Chosen", "config": CHOOSING})
    body = {"dashboard_id": world.ids["dashboard_id"], **more}
    if body.pop("one", False):
        body["plot_id"] = plot["id"]
    made: dict[str, Any] = served.json("POST", f"/projects/{world.ids['project_id']}/shares", json=body)
    return {**made, "plot": plot["id"], "at": f"/shared/{made['token']}"}


def cell_name(served: Lab, world: World) -> str:
    name: str = served.json("GET", f"/cell_instances/{world.ids['instance_id']}")["name"]
    return name


def test_an_outsider_sees_the_plots_with_fixed_data_and_turns_views(served: Lab, world: World) -> None:
    plain = {"values": {}}
    link = shared(served, world, **plain)
    assert len(link["token"]) >= 22
    assert link["path"] == f"/s/{link['token']}"
    shown = served.client.get(link["at"])
    assert shown.headers["x-robots-tag"] == "noindex"
    assert "set-cookie" not in shown.headers
    assert link["plot"] in [one["id"] for one in shown.json()["plots"]]
    figure = f"{link['at']}/plots/{link['plot']}/figure"
    answer = served.client.get(figure, params={"values": '{"n": 5}'})
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["figure"]["data"][0]["y"]) == 5
    assert [one["name"] for one in answer.json()["controls"]] == ["n"]
    assert (answer.json()["options"], answer.json()["values"]) == ({}, {"n": 5})
    assert cell_name(served, world) not in answer.text
    for fixed in ('{"of": "x"}', '{"quiet": "b"}', '{"none": 1}'):
        refused = served.client.get(figure, params={"values": fixed})
        assert refused.status_code == 422
        assert "is fixed in this link" in refused.json()["message"]
    zoom = {"traces": [0], "x": [0, 1], "width": 100}
    assert served.client.post(f"{figure}/detail", json=zoom).status_code == 200
    assert served.client.post(f"{figure}/detail", json={**zoom, "values": {"of": "x"}}).status_code == 422


def test_fixed_values_are_those_of_the_link(served: Lab, world: World) -> None:
    name = cell_name(served, world)
    place = f"/projects/{world.ids['project_id']}/dashboards/{world.ids['dashboard_id']}/plots"
    plot = served.json("POST", place, json={"name": "Titled", "config": CHOOSING})
    body = {"dashboard_id": world.ids["dashboard_id"], "values": {plot["id"]: {"of": name, "n": 2}}}
    made = served.json("POST", f"/projects/{world.ids['project_id']}/shares", json={**body, "view_params": False})
    figure = f"/shared/{made['token']}/plots/{plot['id']}/figure"
    answer = served.client.get(figure).json()
    assert answer["figure"]["layout"]["title"]["text"] == name
    assert (len(answer["figure"]["data"][0]["y"]), answer["controls"]) == (2, [])
    assert served.client.get(figure, params={"values": '{"n": 5}'}).status_code == 422
    body["values"] = {plot["id"]: {"off": 1}}
    wrong = served.call("POST", f"/projects/{world.ids['project_id']}/shares", json=body)
    assert (wrong.status_code, "'of'" in wrong.text) == (422, True)


def test_a_fixed_value_whose_param_is_gone_shows_nothing_else(served: Lab, world: World) -> None:
    """The plot would show all that the link leaves out."""
    made = shared(served, world, one=True)
    place = f"/projects/{world.ids['project_id']}/dashboards/{world.ids['dashboard_id']}/plots/{made['plot']}"
    body = {"dashboard_id": made["dashboard_id"], "values": {made["plot"]: {"of": cell_name(served, world)}}}
    link = served.json("POST", f"/projects/{world.ids['project_id']}/shares", json=body)
    served.json("PATCH", place, json={"revision": 1, "config": RECIPE})
    answer = served.client.get(f"/shared/{link['token']}/plots/{made['plot']}/figure")
    assert (answer.status_code, "has no 'of' any more" in answer.json()["message"]) == (409, True)
    assert served.client.get(f"{made['at']}/plots/{made['plot']}/figure").status_code == 200


def test_only_a_link_that_was_made_for_it_is_shown_in_frames(tmp_path: Path) -> None:
    with lab(tmp_path, Settings(embed_origins=("https://wiki.lab.example",), readers=0)) as made:
        world = make(made, made.admin, "OURS")
        for embed, frames in ((False, "'none'"), (True, "https://wiki.lab.example")):
            body = {"dashboard_id": world.ids["dashboard_id"], "embed": embed}
            link = made.json("POST", f"/projects/{world.ids['project_id']}/shares", json=body)
            answer = made.client.get(f"/embed/{link['token']}")
            assert f"frame-ancestors {frames}" in answer.headers["content-security-policy"]


def test_a_link_is_shown_where_its_use_cannot_be_counted(
    served: Lab, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = shared(served, world)

    def full(_: Any) -> Any:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(type(served.store), "transaction", full)
    assert served.client.get(made["at"]).status_code == 200


def test_a_link_that_could_show_nothing_is_refused(served: Lab, world: World) -> None:
    plot = shared(served, world)["plot"]
    place, board = f"/projects/{world.ids['project_id']}/shares", {"dashboard_id": world.ids["dashboard_id"]}
    for values, loc in (({"n": 99}, "n"), ({"n": "x"}, "n"), ({"other": 1}, "other")):
        answer = served.call("POST", place, json={**board, "values": {plot: values}})
        assert answer.status_code == 422
        assert [one["loc"] for one in answer.json()["detail"]] == [["values", plot, loc]]
    assert served.call("POST", place, json={**board, "plot_id": plot, "revision": 7}).status_code == 404
    served.json("POST", place, json={**board, "plot_id": plot, "revision": 1, "values": {plot: {"n": 9}}})


def test_a_link_to_one_plot_shows_no_other(served: Lab, world: World) -> None:
    link = shared(served, world, values={}, one=True, revision=1)
    assert [one["id"] for one in served.client.get(link["at"]).json()["plots"]] == [link["plot"]]
    other = served.client.get(f"{link['at']}/plots/{world.ids['plot_id']}/figure")
    assert other.status_code == 404
    place = f"/projects/{world.ids['project_id']}/dashboards/{world.ids['dashboard_id']}/plots/{link['plot']}"
    served.json("PATCH", place, json={"revision": 1, "config": RECIPE})
    pinned = served.client.get(f"{link['at']}/plots/{link['plot']}/figure").json()
    assert len(pinned["figure"]["data"]) == 1


def test_the_values_are_downloaded_only_where_the_link_says_so(served: Lab, world: World) -> None:
    link = shared(served, world, values={})
    assert served.client.get(f"{link['at']}/plots/{link['plot']}/data").status_code == 404
    place = f"/projects/{world.ids['project_id']}/shares"
    body = {"dashboard_id": world.ids["dashboard_id"], "downloads": True}
    open_one = served.json("POST", place, json=body)
    data = served.client.get(f"/shared/{open_one['token']}/plots/{link['plot']}/data")
    assert data.text.startswith("trace,name,")


def test_it_opens_nothing_else(served: Lab, world: World) -> None:
    link = shared(served, world, values={})
    for headers in ({"X-API-Key": link["token"]}, {"Authorization": f"Bearer {link['token']}"}):
        assert served.client.get("/projects", headers=headers).status_code == 401
    assert served.client.get(f"{link['at']}x").status_code == 404
    kept = served.store.execute("select token, about from shares").fetchone()
    assert link["token"].encode() not in bytes(kept[0]) + kept[1].encode()
    told = str(served.store.people.audit_log(served.organization.id))
    assert link["token"] not in told
    assert "POST /projects/{project_id}/shares" in told


def test_it_ends_when_it_is_revoked_expires_or_its_maker_leaves(served: Lab, world: World) -> None:
    ada = served.person("ada@lab", everywhere="project-contributor")
    path = f"/projects/{world.ids['project_id']}/shares"
    body = {"dashboard_id": world.ids["dashboard_id"], "days": 1}
    links = [served.json("POST", path, ada, json=body) for _ in range(3)]

    def status(number: int) -> int:
        code: int = served.client.get(f"/shared/{links[number]['token']}").status_code
        return code

    assert [status(n) for n in range(3)] == [200, 200, 200]
    assert served.call("DELETE", f"{path}/{links[0]['id']}", ada).status_code == 204
    assert served.call("DELETE", f"{path}/none", ada).status_code == 404
    with served.store.transaction() as db:
        db.execute("update shares set expires_at = ? where id = ?", [time.time_ns() // 1000 - 1, links[1]["id"]])
    assert [status(n) for n in range(3)] == [404, 404, 200]
    listed = {one["id"]: one for one in served.json("GET", path)}
    assert listed[links[0]["id"]]["revoked_at"] is not None
    assert listed[links[2]["id"]]["uses"] == 2
    assert not any("token" in one for one in listed.values())
    suspended = f"/organizations/{served.organization.id}/users/{ada.user_id}"
    assert served.call("PATCH", suspended, json={"is_active": False}).status_code == 204
    assert status(2) == 404


def test_who_may_not_write_makes_no_link_and_none_lasts_longer_than_90_days(served: Lab, world: World) -> None:
    viewer = served.person("viewer@lab", everywhere="project-viewer")
    path = f"/projects/{world.ids['project_id']}/shares"
    body = {"dashboard_id": world.ids["dashboard_id"]}
    assert served.call("POST", path, viewer, json=body).status_code == 403
    assert served.call("GET", path, viewer).status_code == 403
    for days in (0, 91, -1):
        assert served.call("POST", path, json={**body, "days": days}).status_code == 422
    assert served.call("POST", path, json={**body, "revision": 1}).status_code == 422


def test_a_link_goes_with_its_dashboard(served: Lab, world: World) -> None:
    link = shared(served, world, values={})
    board = f"/projects/{world.ids['project_id']}/dashboards/{world.ids['dashboard_id']}"
    assert served.call("DELETE", board).status_code == 204
    assert served.client.get(link["at"]).status_code == 404
    assert served.store.verify() == []


def test_a_fixed_value_that_is_gone_does_not_show_other_data(served: Lab, world: World) -> None:
    """A plot takes its default or its first choice in the place of one that is gone: cells that the link leaves out."""
    name = cell_name(served, world)
    project, board = world.ids["project_id"], world.ids["dashboard_id"]
    cells = f"/cell_specifications/{world.ids['specification_id']}/cell_instances"
    others = [served.json("POST", cells, json={"name": f"Other {n}"})["id"] for n in range(2)]
    several: Any = {**CHOOSING, "transform": CHOOSING["transform"].replace("params['of']", "str(params['of'])")}
    plots = f"/projects/{project}/dashboards/{board}/plots"
    ids = [served.json("POST", plots, json={"name": str(n), "config": several})["id"] for n in range(2)]
    values: Any = {ids[0]: {"of": name}, ids[1]: {"of": [name, "Other 1"]}}
    body = {"dashboard_id": board, "values": values, "downloads": True}
    link = f"/shared/{served.json('POST', f'/projects/{project}/shares', json=body)['token']}"
    zoom = {"traces": [0], "x": [0, 1], "width": 100}

    def asked(plot: str) -> list[Any]:
        place = f"{link}/plots/{plot}"
        answers = (
            served.client.get(f"{place}/figure"),
            served.client.post(f"{place}/figure/detail", json=zoom),
            served.client.get(f"{place}/data"),
        )
        assert all(one.status_code == 200 or "does not exist any more" in one.json()["message"] for one in answers)
        return [one.status_code for one in answers]

    assert [asked(plot) for plot in ids] == [[200] * 3] * 2
    served.json("PATCH", f"/cell_instances/{world.ids['instance_id']}", json={"name": "Renamed"})
    assert [asked(plot) for plot in ids] == [[409] * 3, [200] * 3]
    left = served.client.get(f"{link}/plots/{ids[1]}/figure")
    assert left.json()["figure"]["layout"]["title"]["text"] == "['Other 1']"
    (warning,) = left.json()["warnings"]
    assert (set(warning), warning["code"]) == ({"code", "message"}, "value_dropped")
    assert name not in left.text
    assert served.call("DELETE", f"/cell_instances/{others[1]}").status_code == 204
    assert [asked(plot) for plot in ids] == [[409] * 3] * 2


def test_an_error_says_nothing_of_the_recipe_to_an_outsider(served: Lab, world: World) -> None:
    script = (
        "def transform(data, params):\n"
        "    print('printed')\n"
        "    if params['n'] > 3:\n"
        "        raise ValueError(params['of'])\n"
        "    return {'data': [{'y': [1, 2]}], 'layout': {}}\n"
    )
    place = f"/projects/{world.ids['project_id']}/dashboards/{world.ids['dashboard_id']}/plots"
    plot = served.json("POST", place, json={"name": "Fails", "config": {**CHOOSING, "transform": script}})["id"]
    name = cell_name(served, world)
    body = {"dashboard_id": world.ids["dashboard_id"], "values": {plot: {"of": name}}, "downloads": True}
    token = served.json("POST", f"/projects/{world.ids['project_id']}/shares", json=body)["token"]
    at, chosen = f"/shared/{token}/plots/{plot}", {"values": '{"n": 5}'}
    zoom = {"traces": [0], "x": [0, 1], "width": 100}
    for answer in (
        served.client.get(f"{at}/figure", params=chosen),
        served.client.post(f"{at}/figure/detail", json={**zoom, "values": {"n": 5}}),
        served.client.get(f"{at}/data", params=chosen),
    ):
        assert answer.status_code == 422
        assert set(answer.json()) == {"error_code", "message", "detail"}
        assert [(one["loc"], one["type"]) for one in answer.json()["detail"]] == [([], "not_drawn")]
        assert not any(word in answer.text for word in (name, "printed", "ValueError", "raise"))
    assert served.client.get(f"{at}/figure").status_code == 200
    wrong = served.client.get(f"{at}/figure", params={"values": '{"n": 50}'})
    assert (wrong.status_code, wrong.json()["detail"][0]["loc"]) == (422, ["values", "n"])
