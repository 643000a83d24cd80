"""Every operation of the OpenAPI document, every position of an id, every kind of credential.

The walk is over the document that the server gives out; an operation without a row in ``ROWS`` fails.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.full_organization import World, make
from support.needs import CHROMIUM
from support.request_rows import OF_DASHBOARD, OF_PROJECT, ROWS, Row
from support.server_in_process import Lab, Person, lab

from server.openapi import document
from server.routes import ROUTERS
from server.routing import Route
from workbench.store.records.people import Right

DOCUMENT = document()
METHODS = ("get", "post", "put", "patch", "delete")
WALKED = sorted(
    f"{method.upper()} {path}" for path, item in DOCUMENT["paths"].items() for method in item if method in METHODS
)
BY_NAME = {route.operation: route for router in ROUTERS for route in router.routes if isinstance(route, Route)}

OPEN = ("GET /healthz", "GET /readyz", "GET /session", "POST /session", "DELETE /session")
SIGNED = ("GET /storage/{ticket}/{filename}", "PUT /storage/{ticket}/{filename}")
KEYED = [name for name in WALKED if name not in (*OPEN, *SIGNED) and "/shared/" not in name]
MARK, THEIRS = "OURS", "SECRET-OF-OTHERS"


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, World, World]]:
    with lab(tmp_path_factory.mktemp("matrix")) as made:
        _, _, stranger = made.other_organization()
        yield made, make(made, made.admin, MARK), make(made, stranger, THEIRS)


def request(row: Row, name: str, ids: dict[str, str]) -> tuple[str, str, Row]:
    """Method, path and the rest of a request, its placeholders filled."""
    method, _, path = name.partition(" ")
    filled = {"record_id": ids["measurement_id"], "kind": "measurements"}
    if path.endswith("/with-tables"):
        filled["kind"] = "simulations"
    elif method == "DELETE":
        filled = {"record_id": ids["spare_id"], "kind": "studies"}
    filled |= {**ids, "number": "1", "ticket": "none", "filename": "none", "share_id": ids["share_id"]}
    filled |= {"bookmark_kind": "plot", "bookmark_id": ids["plot_id"], "name": "fade"}
    if path.startswith("/raw_data/{upload_id}"):
        filled["upload_id"] = ids["raw_upload_id"]
    return method, path.format_map(filled), _filled(row, filled)


def _filled(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"^\{(\w+)\}$", lambda found: ids[found[1]], value)
    if isinstance(value, dict):
        return {key: _filled(item, ids) for key, item in value.items()}
    return [_filled(item, ids) for item in value] if isinstance(value, list) else value


def call(made: Lab, name: str, ids: dict[str, str], headers: dict[str, str], **more: Any) -> Any:
    method, path, rest = request(ROWS[name], name, ids)
    params = {**rest.pop("params", {}), **more.get("params", {})}
    body = rest.pop("json", None)
    if more.get("json"):
        body = {**(body or {}), **more["json"]}
    return made.client.request(
        method, path, headers=headers, params=params, **({"json": body} if body is not None else {}), **rest
    )


def test_every_operation_has_a_row_and_every_row_an_operation() -> None:
    assert sorted(ROWS) == WALKED
    assert set(BY_NAME) == set(ROWS)


@pytest.mark.parametrize("name", KEYED)
def test_without_a_credential_in_force_there_is_nothing(worlds: tuple[Lab, World, World], name: str) -> None:
    made, ours, _ = worlds
    answers = [call(made, name, ours.ids, headers) for headers in powerless(made)]
    assert [answer.status_code for answer in answers] == [401] * 5
    assert all(set(answer.json()) == {"error_code", "message"} for answer in answers)
    assert not any(MARK in answer.text for answer in answers)


def powerless(made: Lab) -> list[dict[str, str]]:
    """No key, a malformed, an unknown, a revoked and an expired one."""
    known = made.__dict__.setdefault("powerless", [])
    if not known:
        revoked, expired = (
            made.person("revoked@lab", role="Admin"),
            made.person("expired@lab", role="Admin", days=-1),
        )
        made.store.people.revoke(made.organization.id, revoked.key_id)
        unknown = {"X-API-Key": made.admin.key[:-4] + "AAAA"}
        known += [{}, {"X-API-Key": "nonsense"}, unknown, revoked.headers, expired.headers]
    return list(known)


def positions(operation: str) -> list[tuple[str, str]]:
    """Where ids stand: (path, query or body; name)."""
    method, _, path = operation.partition(" ")
    item = DOCUMENT["paths"][path.replace(":path", "")][method.lower()]
    others = ("organization_id", "user_id", "upload_id", "record_id")
    found = [
        (parameter["in"], parameter["name"])
        for parameter in item["parameters"]
        if "x-record" in parameter or parameter["name"] in others
    ]
    for media in item.get("requestBody", {}).get("content", {}).values():
        found += [("body", name) for name, shape in _fields(media["schema"]).items() if "x-record" in str(shape)]
    return found


def _fields(schema: Row) -> Row:
    """The fields of a body."""
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null":
            return _fields(choice)
    return dict(schema.get("properties", {}))


UUIDS = [(f"POST {OF_DASHBOARD}/authoring-{end}", "plot_id") for end in ("context", "decision")]
"""Positions where the interface says that an id is a UUID: what is none is refused as such."""
_BY_NAME_OF_FIELD = {
    "cell_specification_id": "specification_id",
    "cell_instance_id": "instance_id",
    "exclude_cell_spec_id": "specification_id",
    "parameterized_model_id": "model_id",
    "source_model_id": "model_id",
    "record_id": "measurement_id",
    "measurement_ids": "measurement_id",
    "simulation_ids": "simulation_id",
    "raw_data_ids": "raw_data_id",
    "material_ids": "material_id",
}


def named(name: str) -> str:
    """The position whose ids a field takes."""
    if name.endswith("_material_id") or name in (
        "anode_id",
        "cathode_id",
        "electrolyte_id",
        "separator_id",
        "case_id",
    ):
        return "material_id"
    return _BY_NAME_OF_FIELD.get(name, name)


@pytest.mark.parametrize("name", [name for name in KEYED if positions(name)])
def test_anothers_id_is_answered_like_an_unknown_one(worlds: tuple[Lab, World, World], name: str) -> None:
    made, ours, theirs = worlds
    for where, field in positions(name):
        position = named(field)
        told = []
        malformed = [] if (name, field) in UUIDS else ["no-id-at-all"]
        for id in (theirs.ids[position], str(uuid.uuid4()), *malformed):
            answer = with_id(made, name, ours, where, field, id)
            told.append((answer.status_code, answer.text.replace(id, "<id>").replace(MARK, "")))
            assert THEIRS not in answer.text, (name, where, field)
            assert answer.status_code < 500
        (status, _), *_ = told
        assert len(set(told)) == 1, (name, where, field, told)
        if where == "path":
            assert status == 404, (name, field)


def with_id(made: Lab, name: str, ours: World, where: str, field: str, id: str) -> Any:
    if where == "path":
        position = "raw_upload_id" if name.startswith("POST /raw_data/{upload_id}") else field
        return call(made, name, {**ours.ids, position: id}, ours.who.headers)
    value: Any = [id] if field.endswith("_ids") and where == "body" else id
    if where == "query":
        return call(made, name, ours.ids, ours.who.headers, params={field: id})
    if "data" in ROWS[name]:
        method, path, rest = request(ROWS[name], name, ours.ids)
        rest["data"] = {**rest["data"], field: id}
        return made.client.request(method, path, headers=ours.who.headers, **rest)
    return call(made, name, ours.ids, ours.who.headers, json={field: value})


@pytest.mark.parametrize("name", [name for name in KEYED if "{" in name])
def test_another_organizations_key_finds_nothing(worlds: tuple[Lab, World, World], name: str) -> None:
    made, ours, theirs = worlds
    answer = call(made, name, ours.ids, theirs.who.headers)
    assert answer.status_code == 404, (name, answer.text)
    assert MARK not in answer.text


@pytest.mark.parametrize("name", KEYED)
def test_a_viewers_key_changes_nothing(worlds: tuple[Lab, World, World], name: str) -> None:
    made, ours, _ = worlds
    viewer = viewing(made)
    answer = call(made, name, ours.ids, viewer.headers)
    access = BY_NAME[name].access
    if "{session_id}" in name:  # sessions are their user's alone
        assert answer.status_code == 404, (name, answer.text)
    elif access.admin or access.whole_store or (access.right or 0) > Right.READ or name in _WRITE_BY_HAND:
        assert answer.status_code == 403, (name, answer.text)
        assert answer.json()["error_code"] == "FORBIDDEN"
    else:
        assert answer.status_code < 300 or answer.status_code in (307, 404), (name, answer.text)


_WRITE_BY_HAND = (
    "POST /projects",
    "POST /cell_measurements/tags/bulk",
    "POST /cell_measurements/{upload_id}/confirm-upload",
    "POST /raw_data/{upload_id}/confirm-upload",
)


def viewing(made: Lab) -> Person:
    if "viewer" not in made.__dict__:
        made.__dict__["viewer"] = made.person("viewer@lab", everywhere="project-viewer")
    viewer: Person = made.__dict__["viewer"]
    return viewer


@pytest.mark.parametrize("name", [name for name in KEYED if "{project_id}" in name or "_id}" in name])
def test_without_a_role_in_a_project_it_is_not_there(worlds: tuple[Lab, World, World], name: str) -> None:
    made, ours, _ = worlds
    if "nobody" not in made.__dict__:
        made.__dict__["nobody"] = made.person("nobody@lab")
    nobody: Person = made.__dict__["nobody"]
    if "organization_id" in name or "{drive_cycle_id}" in name:
        return
    answer = call(made, name, ours.ids, nobody.headers)
    assert answer.status_code == 404, (name, answer.text)
    assert MARK not in answer.text


def test_lists_and_search_show_no_one_elses(worlds: tuple[Lab, World, World]) -> None:
    made, _ours, _ = worlds
    assert made.json("GET", "/search", params={"q": THEIRS})["total"] == 0
    assert made.json("GET", "/search", params={"q": MARK})["total"] > 5
    nobody = made.person("nobody2@lab")
    seen = {hit["entity_type"] for hit in made.json("GET", "/search", nobody, params={"q": MARK})["results"]}
    assert seen <= {"drive_cycle"}
    for path in ("/projects", "/cell_specifications", "/models", "/drive-cycles"):
        assert THEIRS not in made.call("GET", path).text
        assert MARK in made.call("GET", path).text
    assert made.json("GET", "/projects", nobody)["items"] == []


def test_a_plan_reaches_no_record_of_others(worlds: tuple[Lab, World, World]) -> None:
    made, ours, theirs = worlds
    path = f"/projects/{ours.ids['project_id']}/datasets"
    read = {"source": "measurements", "ids": "$m"}
    steps = {
        "series": {"op": "series", **read, "x": "Time [s]", "columns": ["Voltage [V]"]},
        "summary": {"op": "summary", **read, "dataset": "steps", "columns": ["Step count"]},
        "list": {"op": "list", "source": "measurements", "where": {"ids": "$m"}},
        "filter": {"op": "list", "source": "measurements", "where": {"instanceIds": "$m"}},
        "study": {"op": "list", "source": "measurements", "where": {"studyId": "$m"}},
    }
    ids = {"study": "study_id", "filter": "instance_id"}
    for name, step in steps.items():
        told = []
        for id in (theirs.ids[ids.get(name, "measurement_id")], str(uuid.uuid4())):
            config = {"plan": {"steps": {"s": step}}, "params": {"m": {"kind": "data", "default": None}}}
            answer = made.call("POST", path, json={"config": config, "values": {"m": id}})
            body = {key: value for key, value in answer.json().items() if key != "timings"}
            told.append((answer.status_code, str(body).replace(id, "<id>")))
            assert THEIRS not in answer.text
        assert told[0] == told[1], name


def test_signed_addresses_allow_one_thing(worlds: tuple[Lab, World, World]) -> None:
    made, ours, _ = worlds
    found = made.call("GET", f"/cell_measurements/{ours.ids['measurement_id']}/time_series/download")
    address = found.headers["location"]
    assert made.client.get(address).status_code == 200
    assert made.client.put(address, content=b"x").status_code == 404
    ticket = address.split("/")[2]
    for forged in (ticket[:-2] + "AA", ticket[2:], "x", ticket + "x"):
        assert made.client.get(f"/storage/{forged}/a").status_code == 404
    late = made.app.state.workbench.signer
    from server.signing import Ticket

    old = late.sign(Ticket("get", late.read(ticket, "get").what), -1)
    assert made.client.get(f"/storage/{old}/a").status_code == 404


DELETES = [
    name
    for kind in (
        "plot",
        "dashboard",
        "simulation",
        "study",
        "analysis",
        "property_set",
        "material",
        "raw_data",
        "model",
    )
    for name in KEYED
    if name.startswith("DELETE") and name.endswith(f"{{{kind}_id}}")
]


@pytest.mark.long
def test_every_row_is_a_sound_request(tmp_path: Path) -> None:
    """Else a refusal above would say nothing: with the right key and ids each request succeeds."""
    with lab(tmp_path) as made:
        ours = make(made, made.admin, MARK)
        member = made.person("member@lab", role="Member")
        ids = {**ours.ids, "user_id": member.user_id}
        deletes = [name for name in KEYED if name.startswith("DELETE")]
        last = [
            "{measurement_id}",
            "{batch_id}",
            "{instance_id}",
            "{specification_id}",
            "{drive_cycle_id}",
            "{user_id}",
        ]
        rank = {name: place for place, name in enumerate(DELETES)}

        def order(name: str) -> tuple[int, int]:
            end = next((n for n, tail in enumerate(last) if name.endswith(tail)), -1)
            if "/users/me/" in name:
                return (-2, 0)
            part_of_study = "/studies/{study_id}/" in name or "/members/" in name or "/raw_data/{" in name
            return (-1 if part_of_study else 99 if name == f"DELETE {OF_PROJECT}" else end, rank.get(name, 0))

        expected_missing = {
            "GET /metrics",
            "GET /user/billing-portal",
            "GET /cell_measurements/{measurement_id}/files/{filename}",
            "GET /simulations/{simulation_id}/steps/download",
            "POST /cell_measurements/{measurement_id}/confirm-extend",
        }
        without_browser = set() if any(map(shutil.which, CHROMIUM)) else {f"POST {OF_PROJECT}/figures/picture"}
        for name in [n for n in KEYED if n not in deletes] + sorted(deletes, key=order):
            answer = call(made, name, ids, made.admin.headers)
            if name in expected_missing:
                assert answer.status_code in (404, 409), (name, answer.text)
            elif name in without_browser:
                assert answer.json()["error_code"] == "EXPORT_UNAVAILABLE"
            else:
                assert answer.status_code < 400, (name, answer.status_code, answer.text)
                _has_its_account(made, name, answer)


READING = re.compile(
    r"/(datasets?|figures?|figures/(current|picture)|detail|check|options|list|statuses|resend-invite|ingests/files"
    r"|authoring/(answers|proposals)|storage/.*|gallery(/\{name\}(/sketch)?)?|me/(recent|stars)/.*)$"
)
"""Requests with a body that change no record."""


def _has_its_account(made: Lab, name: str, answer: Any) -> None:
    """What a request changes is in the audit log of its organization, under the id of the request."""
    if name.startswith("GET") or READING.search(name):
        return
    row = next(row for row in made.store.people.audit_log(made.organization.id) if row["action"] != "key.used")
    assert (row["action"], row["request"]) == (name, answer.headers["x-correlation-id"])
    assert (row["user_id"], row["key_id"], row["status"]) == (made.admin.user_id, made.admin.key_id, None)
