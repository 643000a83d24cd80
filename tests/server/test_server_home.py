"""What the first page asks for: dashboards of all projects in reach, stars, and what was opened last."""

from __future__ import annotations

from typing import Any

from support.full_organization import make
from support.server_in_process import Lab, Person

from workbench.store.records.bookmarks import MOST_OPENED


def boards(served: Lab, count: int) -> list[str]:
    path = f"/projects/{served.project.id}/dashboards"
    return [served.json("POST", path, json={"name": f"Board {n}"})["id"] for n in range(count)]


def recent(served: Lab, who: Person | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.json("GET", "/users/me/recent", who)
    return found


def test_the_dashboards_of_all_projects_in_reach_are_one_list(served: Lab) -> None:
    first, second = boards(served, 2)
    hidden = served.json("POST", "/projects", json={"name": "Hidden"})
    third = served.json("POST", f"/projects/{hidden['id']}/dashboards", json={"name": "Third"})["id"]
    _, theirs, stranger = served.other_organization()
    served.json("POST", f"/projects/{theirs.id}/dashboards", stranger, json={"name": "Theirs"})
    served.json("PATCH", f"/projects/{served.project.id}/dashboards/{first}", json={"description": "Newest"})
    assert [one["id"] for one in served.json("GET", "/dashboards")["items"]] == [first, third, second]
    ada = served.person("ada@lab")
    assert served.json("GET", "/dashboards", ada)["total"] == 0
    served.store.people.give_role(served.organization.id, served.project.id, ada.user_id, "project-viewer")
    assert [one["id"] for one in served.json("GET", "/dashboards", ada)["items"]] == [first, second]
    named = served.json("GET", "/dashboards", params={"name": "ilike.%board%", "order_by": "name", "order": "asc"})
    assert [one["name"] for one in named["items"]] == ["Board 0", "Board 1"]


def test_stars_and_what_was_opened_are_ones_own(served: Lab) -> None:
    world = make(served, served.admin, "OURS")
    plot, board = world.ids["plot_id"], world.ids["dashboard_id"]
    for path in (f"recent/dashboard/{board}", f"recent/plot/{plot}", f"stars/dashboard/{board}"):
        assert served.call("PUT", f"/users/me/{path}").status_code == 204
    first, second = recent(served)
    assert (first["kind"], first["id"], first["dashboard_id"], first["starred_at"]) == ("plot", plot, board, None)
    assert (second["kind"], second["id"], second["dashboard_id"]) == ("dashboard", board, None)
    assert second["starred_at"] is not None
    assert recent(served, served.person("viewer@lab", everywhere="project-viewer")) == []
    assert served.call("DELETE", f"/users/me/stars/dashboard/{board}").status_code == 204
    assert [one["starred_at"] for one in recent(served)] == [None, None]
    served.call("DELETE", f"/projects/{world.ids['project_id']}/dashboards/{board}")
    assert recent(served) == []


def test_what_is_out_of_reach_takes_no_star_and_is_not_shown(served: Lab) -> None:
    (board,) = boards(served, 1)
    ada = served.person("ada@lab")
    for id in (board, "none"):
        assert served.call("PUT", f"/users/me/stars/dashboard/{id}", ada).status_code == 404
    assert served.call("PUT", f"/users/me/stars/cell/{board}").status_code == 422
    served.store.people.give_role(served.organization.id, served.project.id, ada.user_id, "project-viewer")
    assert served.call("PUT", f"/users/me/stars/dashboard/{board}", ada).status_code == 204
    assert len(recent(served, ada)) == 1
    served.store.people.take_role(served.project.id, ada.user_id)
    assert recent(served, ada) == []


def test_only_the_last_ones_are_remembered_and_stars_stay(served: Lab) -> None:
    made = boards(served, MOST_OPENED + 3)
    served.call("PUT", f"/users/me/stars/dashboard/{made[0]}")
    for id in made:
        assert served.call("PUT", f"/users/me/recent/dashboard/{id}").status_code == 204
    found = recent(served)
    assert [one["id"] for one in found] == [*reversed(made[3:]), made[0]]
    assert found[-1]["opened_at"] is None


def test_a_sketch_shows_what_is_in_the_cache_and_computes_nothing(served: Lab) -> None:
    world = make(served, served.admin, "OURS")
    ids = world.ids
    board = f"/projects/{ids['project_id']}/dashboards/{ids['dashboard_id']}"
    script = "def transform(data, params):\n    return go.Figure(go.Scatter(x=[0, 1, 2], y=[3, 5, 4]))\n"
    plan = {"steps": {"cells": {"op": "list", "source": "instances"}}}
    config = {"plan": plan, "transform": script, "params": {}}
    plot = served.json("POST", f"{board}/plots", json={"name": "Line", "config": config})["id"]
    viewer = served.person("viewer@lab", everywhere="project-viewer")

    def lines() -> list[Any] | None:
        (found,) = (one for one in served.json("GET", f"{board}/sketch", viewer) if one["id"] == plot)
        assert found["name"] == "Line"
        drawn: list[Any] | None = found["lines"]
        return drawn

    assert lines() is None
    assert served.call("POST", f"{board}/plots/{plot}/figure", json={}).status_code == 200
    assert lines() == [{"dots": False, "points": [[0, 100], [50, 0], [100, 50]]}]
    served.json(
        "POST", f"/cell_specifications/{ids['specification_id']}/cell_instances", json={"name": "new cell"}
    )
    assert lines() is None, "a figure of older data is not shown"
