"""Permissions of keys: they narrow the role of their user, on every route, and never widen it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.server_in_process import Lab
from typer.testing import CliRunner

from workbench.cli import app
from workbench.cli.members import enrolled
from workbench.errors import BadRequest
from workbench.store.records.people import PERMISSIONS, Right
from workbench.store.store import Store


@pytest.mark.parametrize("role", ["admin", "contributor", "viewer"])
@pytest.mark.parametrize("permission", ["read", "write", "admin", None])
def test_a_permission_narrows_the_role_and_never_widens_it(served: Lab, role: str, permission: str | None) -> None:
    store, organization = served.store, served.organization
    member = enrolled(store, organization, "narrow@lab.org", role, None)
    key = store.people.issue(organization.id, member, permission=permission).key
    standing = {"admin": Right.MANAGE, "contributor": Right.WRITE, "viewer": Right.READ}[role]
    may = min(standing, PERMISSIONS[permission] if permission else Right.MANAGE)

    def status(method: str, path: str, **body: Any) -> int:
        return served.client.request(method, path, headers={"X-API-Key": key}, **body).status_code

    assert status("GET", "/projects") == 200
    made = status("POST", "/projects", json={"name": "By a narrow key"})
    assert (made < 300) is (may >= Right.WRITE), made
    people = f"/organizations/{organization.id}/users/by-email"
    asked = served.client.request("POST", people, headers={"X-API-Key": key}, json={"email": "new@lab.org"})
    assert (asked.status_code < 300) is (may is Right.MANAGE)
    if may < standing and role == "admin":
        assert asked.status_code == 403
        assert f"permission '{permission}', and this needs 'admin'" in asked.json()["message"]


def test_an_unknown_permission_is_refused(served: Lab) -> None:
    user = served.store.rows.user("local@localhost")
    with pytest.raises(BadRequest, match=r"There is no permission 'reed'. Did you mean 'read'"):
        served.store.people.issue(served.organization.id, user.id, permission="reed")


def test_a_revoked_key_is_refused_at_once_by_every_process(served: Lab) -> None:
    """Keys are looked up in the store at each request; another process is another connection to it."""
    user = served.store.rows.user("local@localhost")
    issued = served.store.people.issue(served.organization.id, user.id)
    headers = {"X-API-Key": issued.key}
    assert served.client.get("/users/me", headers=headers).status_code == 200
    with Store.open(served.store.path, create=False) as other:
        other.people.revoke(served.organization.id, issued.id)
    assert served.client.get("/users/me", headers=headers).status_code == 401


def test_an_admin_reads_the_audit_log_of_their_organization_alone(served: Lab) -> None:
    other, _, stranger = served.other_organization()
    served.call("POST", "/projects", stranger, json={"name": "Secret"})
    viewer = served.person("viewer@lab", everywhere="project-viewer")
    made = served.json("POST", "/projects", json={"name": "Audited"})
    served.call("DELETE", f"/projects/{made['id']}", viewer)
    path = f"/organizations/{served.organization.id}/audit-log"
    assert served.call("GET", path, viewer).status_code == 403
    assert served.call("GET", f"/organizations/{other.id}/audit-log").status_code == 404
    newest = served.json("GET", path, params={"limit": 3})
    assert newest["total"] > newest["count"] == 3
    refused, deleted = newest["items"][:2]
    assert (refused["action"], refused["status"], refused["email"]) == (
        "GET /organizations/{organization_id}/audit-log",
        403,
        "viewer@lab",
    )
    assert (deleted["action"], deleted["status"]) == ("DELETE /projects/{project_id}", 403)
    every = served.json("GET", path, params={"limit": 1000})["items"]
    assert [one["at"] for one in every] == sorted((one["at"] for one in every), reverse=True)
    assert any(one["action"] == "POST /projects" and one["user_id"] == served.admin.user_id for one in every)
    assert not any(one["user_id"] == stranger.user_id for one in every)
    rest = served.json("GET", path, params={"limit": 1000, "offset": 2})["items"]
    assert rest == every[2:]


def test_the_commands_make_narrow_keys_and_show_the_audit_log(tmp_path: Path) -> None:
    store = str(tmp_path / "lab.db")
    made = said(
        "keys", "create", "--store", store, "--user", "ada@lab.org", "--role", "admin", "--permission", "read"
    )
    listed = said("keys", "list", "--store", store)
    assert [(key["id"], key["permission"], key["used_at"]) for key in listed] == [(made["id"], "read", None)]
    entries = said("audit", "--store", store, "--limit", "5")
    assert [(entry["action"], entry["target"], entry["email"]) for entry in entries] == [
        ("key.created", made["id"], "ada@lab.org")
    ]


def said(*words: str) -> Any:
    """What a command prints as JSON."""
    answer = CliRunner().invoke(app, [*words, "--json"])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.output)


def test_an_administrator_makes_lists_and_revokes_keys(served: Lab) -> None:
    at = f"/organizations/{served.organization.id}/keys"
    ada = served.person("ada@lab", everywhere="project-viewer")
    answer = served.call("POST", at, json={"user_id": ada.user_id, "days": 30, "permission": "read"})
    assert answer.headers["cache-control"] == "no-store"
    made = answer.json()
    assert (made["email"], made["permission"], made["state"]) == ("ada@lab", "read", "in force")
    assert served.client.get("/projects", headers={"X-API-Key": made["key"]}).status_code == 200
    listed = served.json("GET", at)
    assert listed[0]["id"] == made["id"]
    secret = made["key"].split("_")[-1]
    assert secret not in json.dumps(listed)
    assert secret not in json.dumps(served.json("GET", f"/organizations/{served.organization.id}/audit-log"))
    assert served.call("DELETE", f"{at}/{made['id']}").status_code == 204
    assert served.client.get("/projects", headers={"X-API-Key": made["key"]}).status_code == 401
    assert next(one["state"] for one in served.json("GET", at) if one["id"] == made["id"]) == "revoked"
    assert served.call("DELETE", f"{at}/none").status_code == 404
    assert served.call("POST", at, json={"user_id": "nobody"}).status_code == 404
    wrong = served.call("POST", at, json={"user_id": ada.user_id, "permission": "reed"})
    assert (wrong.status_code, wrong.json()["detail"][0]["loc"]) == (422, ["permission"])


def test_only_administrators_see_keys_and_only_those_of_their_organization(served: Lab) -> None:
    at = f"/organizations/{served.organization.id}/keys"
    manager = served.person("manager@lab", everywhere="project-admin")
    assert served.call("GET", at, manager).status_code == 403
    assert served.call("POST", at, manager, json={"user_id": manager.user_id}).status_code == 403
    other, _, stranger = served.other_organization()
    theirs = served.store.people.keys(other.id)[0]["id"]
    assert served.call("GET", at, stranger).status_code == 404
    assert served.call("DELETE", f"{at}/{theirs}").status_code == 404
    assert served.store.people.keys(other.id)[0]["revoked_at"] is None
    narrow = served.store.people.issue(served.organization.id, served.admin.user_id, permission="write").key
    assert served.client.get(at, headers={"X-API-Key": narrow}).status_code == 403


def test_a_key_that_ends_makes_none_that_lasts_longer(served: Lab) -> None:
    at = f"/organizations/{served.organization.id}/keys"
    brief = served.store.people.issue(served.organization.id, served.admin.user_id, days=2).key

    def made(days: float | None) -> int:
        body = {"user_id": served.admin.user_id, "days": days}
        return served.client.post(at, headers={"X-API-Key": brief}, json=body).status_code

    assert [made(days) for days in (None, 3, 1)] == [422, 422, 200]
