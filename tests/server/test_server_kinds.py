"""Records of any kind under one path: malformed bodies are refused, never a failure of the server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.server_in_process import Lab

from workbench.engine.arrow import from_arrow
from workbench.table import Table

ODD: list[Any] = [True, -1, 10**30, "\ud800", "a\0b", ["\ud800"], {"a": 1}, {"\ud800": 1}, [[]]]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_odd_values_are_refused(served: Lab, value: Any) -> None:
    place = f"/projects/{served.project.id}"
    bodies = {
        "/records/measurements/list": [{"where": {"name": value}}, {"where": value}, {"fields": [value]}],
        "/records/dashboards/list": [{"where": {"name": value}}, {"limit": value}],
        "/records/materials": [{"name": value}, {"name": "a", "project_id": value}],
        "/ingests": [{"files": value}, {"files": [value]}],
        "/recipes/check": [{"config": value}],
    }
    headers = {"Content-Type": "application/json"}
    for path, sent in bodies.items():
        for body in sent:
            answer = served.call("POST", place + path, content=json.dumps(body).encode(), headers=headers)
            assert answer.status_code < 500, (path, body, answer.text)


def test_a_kind_that_is_reached_otherwise_is_not_there(served: Lab) -> None:
    for kind in ("users", "organizations", "projects", "plots", "raw_data", "nothing"):
        answer = served.call("GET", f"/projects/{served.project.id}/records/{kind}")
        assert answer.status_code == 404
        assert "no kind of record" in answer.json()["message"]


def test_what_the_server_keeps_is_not_given(served: Lab) -> None:
    place = f"/projects/{served.project.id}/records/measurements"
    answer = served.call("POST", place, json={"name": "a", "processing_status": "ready"})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["processing_status"]


def test_a_session_is_its_users_alone_on_this_path_too(served: Lab) -> None:
    project = served.project.id
    path = f"/projects/{project}/records/sessions"
    writer = served.person("writer@lab", everywhere="project-contributor")
    for who, title in ((served.admin, "Ours"), (served.admin, "Twice"), (writer, "Twice")):
        served.json("POST", "/agent/sessions", who, json={"project_id": project, "title": title})
    ours, twice = served.json("GET", path)["items"]
    assert [ours["name"], twice["name"]] == ["Ours", "Twice"]
    assert [one["name"] for one in served.json("GET", path, writer)["items"]] == ["Twice"]
    assert [one["created_by"] for one in served.json("GET", path, writer)["items"]] == [writer.user_id]
    for ref in (ours["id"], ours["name"]):
        assert served.json("GET", path, params={"ref": ref})["items"] == [ours]
        refused = served.call("GET", path, writer, params={"ref": ref})
        assert (refused.status_code, refused.json()["message"]) == (404, f"There is no session '{ref}'.")
    assert served.json("GET", path, params={"ref": "Twice"})["items"] == [twice]
    for who, names in ((served.admin, ["Ours", "Twice"]), (writer, ["Twice"])):
        found, _ = from_arrow(served.call("POST", f"{path}/list", who, json={"fields": ["name"]}).content)
        rows = found["rows"]
        assert isinstance(rows, Table)
        assert rows["name"].tolist() == names
    for method, body in (("PATCH", {"name": "Mine"}), ("DELETE", None)):
        refused = served.call(method, f"{path}/{ours['id']}", writer, **({"json": body} if body else {}))
        assert (refused.status_code, refused.json()["error_code"]) == (404, "NOT_FOUND")
    assert served.call("DELETE", f"{path}/{ours['id']}").status_code == 204
