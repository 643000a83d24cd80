"""Records of any kind under one path: malformed bodies are refused, never a failure of the server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.server_in_process import Lab

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
