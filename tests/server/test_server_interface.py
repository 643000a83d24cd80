"""The interface document, row by row: every endpoint answers 200 with every field it names, of its type."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.full_organization import World, make
from support.server_in_process import Lab, Person, lab

from server import Settings
from server.openapi import document
from workbench.authoring.examples import example
from workbench.local import LocalBackend
from workbench.records import KINDS, Dashboard, Project
from workbench.store.scope import Scope

Fields = dict[str, Any]
TEXT, NUMBER, FLAG, OBJECT, LIST = str, int, bool, dict, list
TIME = datetime
QUANTITY = {"value": (int, float), "unit": TEXT}
_OR_NULL = type(None)


def or_null(kind: Any) -> tuple[Any, ...]:
    return (kind, _OR_NULL)


SESSION: Fields = {
    **dict.fromkeys(("id", "user_id", "title", "organization_id", "project_id"), TEXT),
    **dict.fromkeys(("created_at", "updated_at"), TIME),
    "sdk_session_id": or_null(TEXT),
}
MESSAGE: Fields = {
    **dict.fromkeys(("id", "session_id", "role"), TEXT),
    "content": OBJECT,
    "created_at": TIME,
}
ROLE: Fields = {
    **dict.fromkeys(("user_id", "project_id", "project_role_id"), TEXT),
    **dict.fromkeys(("created_at", "updated_at"), TIME),
    "project_roles": {
        **dict.fromkeys(("id", "name"), TEXT),
        **dict.fromkeys(("created_at", "updated_at"), TIME),
        "project_role_permissions": LIST,
    },
}
PROJECT: Fields = {
    **dict.fromkeys(("name", "id", "organization_id", "created_by"), TEXT),
    **dict.fromkeys(("created_at", "updated_at"), TIME),
    "description": or_null(TEXT),
    "user_project_roles": [ROLE],
}
MODEL: Fields = {
    **dict.fromkeys(("name", "id", "user_id", "organization_id", "chemistry", "created_by_email"), TEXT),
    **dict.fromkeys(("created_at", "updated_at"), TIME),
    "config": OBJECT,
    "is_custom_model": FLAG,
    **dict.fromkeys(("description", "simulator_version"), or_null(TEXT)),
    "simulation_settings": or_null(OBJECT),
}
DRIVE_CYCLE: Fields = {
    **dict.fromkeys(("name", "organization_id", "id", "content_hash", "created_by"), TEXT),
    "data": LIST,
    "created_at": TIME,
    "measurement_id": or_null(TEXT),
}
SPECIFICATION: Fields = {
    **dict.fromkeys(("name", "id", "organization_id"), TEXT),
    "ratings": dict.fromkeys(("capacity", "voltage_min", "voltage_max"), QUANTITY),
    **dict.fromkeys(("form_factor", "manufacturer", "notes", "created_by", "created_by_email"), or_null(TEXT)),
    **{f"{slot}_id": or_null(TEXT) for slot in ("anode", "cathode", "electrolyte", "separator", "case")},
    **dict.fromkeys(("properties", "source"), OBJECT),
    "instance_ids": or_null(LIST),
}
SEARCH: Fields = {
    "results": [
        {
            **dict.fromkeys(("id", "entity_type", "name"), TEXT),
            **dict.fromkeys(("project_id", "parent_id"), or_null(TEXT)),
            "created_at": TIME,
        }
    ],
    "query": TEXT,
    **dict.fromkeys(("total", "limit", "offset"), NUMBER),
}
CONTEXT: Fields = dict.fromkeys(("session_id", "system", "prompt"), TEXT)
PLOT: Fields = {
    **dict.fromkeys(("id", "name", "dashboard_id", "created_by", "created_by_email"), TEXT),
    **dict.fromkeys(("created_at", "updated_at"), TIME),
    "config": OBJECT,
    "revision": NUMBER,
}
_BOARD = "/projects/{project_id}/dashboards/{dashboard_id}"
_ASKED = {"prompt": "A plot", "plot_id": "{plot_id}"}

# Method and path as the document has them, what is sent, and what comes back.
ENDPOINTS: dict[str, tuple[dict[str, Any], Any]] = {
    f"POST {_BOARD}/authoring-context": ({"json": _ASKED}, CONTEXT),
    f"POST {_BOARD}/authoring-decision": ({"json": {"plot_id": "{plot_id}", "name": "Kept"}}, PLOT),
    "POST /agent/sessions/{session_id}/messages": ({"json": {"role": "user", "content": {"text": "a"}}}, MESSAGE),
    "GET /agent/sessions/{session_id}/messages": ({}, [MESSAGE]),
    "GET /agent/sessions": ({"params": {"project_id": "{project_id}"}}, [SESSION]),
    "GET /search": ({"params": {"q": "ours", "project_id": "{project_id}"}}, SEARCH),
    "GET /projects": ({}, {"items": [PROJECT], "count": NUMBER, "total": NUMBER}),
    "GET /models/{model_id}": ({}, MODEL),
    "GET /drive-cycles/{drive_cycle_id}": ({}, DRIVE_CYCLE),
    "GET /projects/{project_id}/cell_specs": ({}, [SPECIFICATION]),
}
DOCUMENT = document()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, World]]:
    with lab(tmp_path_factory.mktemp("interface")) as made:
        ours = make(made, made.admin, "OURS")
        project = f"/projects/{ours.ids['project_id']}"
        made.call(
            "POST", f"{project}/members", json={"user_id": ours.who.user_id, "project_role_id": "project-admin"}
        )
        yield made, ours


def filled(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: filled(item, ids) for key, item in value.items()}
    return value.format_map(ids) if isinstance(value, str) else value


def check(value: Any, wanted: Any, place: str) -> None:
    if isinstance(wanted, dict):
        assert isinstance(value, dict), place
        for name, kind in wanted.items():
            assert name in value, f"{place}.{name}"
            check(value[name], kind, f"{place}.{name}")
    elif isinstance(wanted, list):
        assert isinstance(value, list), place
        assert value, place
        for item in value:
            check(item, wanted[0], f"{place}[]")
    elif wanted is TIME:
        assert datetime.fromisoformat(value).tzinfo is not None, place
    else:
        assert isinstance(value, wanted), place
        assert wanted is FLAG or not isinstance(value, bool), place


@pytest.mark.parametrize("name", ENDPOINTS)
def test_an_endpoint_answers_every_field_of_its_row(world: tuple[Lab, World], name: str) -> None:
    made, ours = world
    sent, wanted = ENDPOINTS[name]
    method, _, path = name.partition(" ")
    if method == "GET" and path.endswith("/messages"):
        said = {"role": "assistant", "content": {"parts": []}}
        made.call("POST", path.format_map(ours.ids), json=said)
    answer = made.call(method, path.format_map(ours.ids), **filled(sent, ours.ids))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    if path == "/projects":
        found["items"] = [item for item in found["items"] if item["id"] == ours.ids["project_id"]]
    check(found, wanted, name)


@pytest.mark.parametrize("name", ENDPOINTS)
def test_the_published_schema_has_every_field_of_its_row(name: str) -> None:
    method, _, path = name.partition(" ")
    answer = DOCUMENT["paths"][path][method.lower()]["responses"]
    assert {"200", "422"} <= set(answer)
    detail = answer["422"]["content"]["application/json"]["schema"]
    assert detail == {"$ref": "#/components/schemas/HTTPValidationError"}
    described(answer["200"]["content"]["application/json"]["schema"], ENDPOINTS[name][1], name)


def described(schema: dict[str, Any], wanted: Any, place: str) -> None:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if isinstance(wanted, list):
        described(schema["items"], wanted[0], f"{place}[]")
    elif isinstance(wanted, dict) and "properties" in schema:
        for field, kind in wanted.items():
            assert field in schema["properties"], f"{place}.{field}"
            described(schema["properties"][field], kind, f"{place}.{field}")


def test_every_query_parameter_is_taken_and_bounded(world: tuple[Lab, World]) -> None:
    made, ours = world
    within = {
        "/search": [{"q": "ou", "limit": 1}, {"q": "ou", "limit": 100, "offset": 0}, {"q": "ou", "per_type": 20}],
        "/projects": [
            {"limit": 1},
            {"limit": 100, "offset": 1},
            *(
                {"order_by": column, "order": order}
                for column in ("name", "created_at", "updated_at")
                for order in ("asc", "desc")
            ),
            {"name": "ilike.%OURS%"},
            {"description": "ilike.%x%"},
            {"created_at": "gte.2020-01-01T00:00:00Z"},
            {"updated_at": "lte.2020-01-01T00:00:00Z"},
            {"created_at_gt": "2020-01-01T00:00:00Z", "created_at_lt": "2090-01-01T00:00:00Z"},
        ],
        "/agent/sessions": [{}, {"project_id": ours.ids["project_id"], "limit": 1, "offset": 1}],
        f"/projects/{ours.ids['project_id']}/cell_specs": [{"full": "true"}, {"full": "false"}],
    }
    beyond = {
        "/search": [{}, {"q": "o"}, {"q": "ou", "limit": 0}, {"q": "ou", "limit": 101}, {"q": "ou", "offset": -1}]
        + [{"q": "ou", "per_type": n} for n in (0, 21)],
        "/projects": [{"limit": 0}, {"limit": 101}, {"offset": -1}, {"order_by": "id"}, {"order": "up"}],
        "/agent/sessions": [{"limit": 0}, {"offset": -1}, {"page": 1}],
        f"/projects/{ours.ids['project_id']}/cell_specs": [{"full": "perhaps"}],
    }
    for path, several in within.items():
        for params in several:
            assert made.call("GET", path, params=params).status_code == 200, (path, params)
    for path, several in beyond.items():
        for params in several:
            answer = made.call("GET", path, params=params)
            assert answer.status_code == 422, (path, params)
            assert all({"loc", "msg", "type"} <= set(item) for item in answer.json()["detail"])


def test_billing_redirects_where_it_is_told(tmp_path: Path) -> None:
    with lab(tmp_path, Settings(billing_portal="https://billing.example.org/us")) as made:
        answer = made.call("GET", "/user/billing-portal")
        assert (answer.status_code, answer.headers["location"]) == (307, "https://billing.example.org/us")


def test_full_specifications_have_components_and_cells(world: tuple[Lab, World]) -> None:
    made, ours = world
    path = f"/projects/{ours.ids['project_id']}/cell_specs"
    (plain,), (full,) = made.json("GET", path), made.json("GET", path, params={"full": "true"})
    assert plain["instance_ids"] is None
    assert [cell["id"] for cell in full["instance_ids"]] == [ours.ids["instance_id"]]


# Authoring and sessions over the wire


LONG = "x" * 10_001
DRAFT = example("curves")
REFUSED: list[tuple[dict[str, Any], list[Any]]] = [
    ({}, ["prompt"]),
    ({"prompt": ""}, ["prompt"]),
    ({"prompt": LONG}, ["prompt"]),
    ({"prompt": "a", "plot": None}, ["plot"]),
    ({"prompt": "a", "plot_id": "no uuid"}, ["plot_id"]),
    ({"prompt": "a", "draft": {"name": "", "config": DRAFT["config"]}}, ["draft", "name"]),
    ({"prompt": "a", "draft": {"name": "x" * 201, "config": DRAFT["config"]}}, ["draft", "name"]),
    (
        {"prompt": "a", "draft": {"name": "x", "config": {"plan": {"steps": {}}, "transform": "x"}}},
        ["draft", "config", "plan", "steps"],
    ),
]


@pytest.mark.parametrize(("body", "loc"), REFUSED)
def test_what_breaks_a_limit_of_the_context_is_refused_at_its_place(
    world: tuple[Lab, World], body: dict[str, Any], loc: list[Any]
) -> None:
    made, ours = world
    answer = made.call("POST", f"{_BOARD}/authoring-context".format_map(ours.ids), json=body)
    assert answer.status_code == 422
    assert loc in [item["loc"] for item in answer.json()["detail"]]


def test_near_and_far_the_context_is_the_same(world: tuple[Lab, World]) -> None:
    made, ours = world
    far = made.json("POST", f"{_BOARD}/authoring-context".format_map(ours.ids), json={"prompt": "Both"})
    state = made.app.state.workbench
    project = state.store.rows.page(Project, Scope(made.organization.id, None)).items
    (bound,) = [one for one in project if one.id == ours.ids["project_id"]]
    near = LocalBackend(state.store, state.cache, made.organization, bound, made.admin.user_id)
    texts = near.authoring_context(near.get(Dashboard, ours.ids["dashboard_id"]), "Both")
    assert (texts.system, texts.prompt) == (far["system"], far["prompt"])


def test_a_decision_saves_a_plot_that_draws(world: tuple[Lab, World]) -> None:
    made, ours = world
    board = _BOARD.format_map(ours.ids)
    begun = made.json("POST", f"{board}/authoring-context", json={"prompt": "Curves", "draft": DRAFT})
    id = str(uuid.uuid4())
    plot = made.json(
        "POST", f"{board}/authoring-decision", json={"new_plot_id": id, "session_id": begun["session_id"]}
    )
    assert (plot["id"], plot["name"], plot["config"]) == (id, DRAFT["name"], DRAFT["config"])
    drawn = made.json("POST", f"{board}/plots/{id}/figure", json={"values": {"word": ""}})
    assert len(drawn["figure"]["data"]) >= 1
    again = made.call("POST", f"{board}/authoring-decision", json={"new_plot_id": id})
    assert (again.status_code, again.json()["detail"]["existing_id"]) == (409, id)
    for body in ({}, {"new_plot_id": "no uuid"}, {"plot_id": 1}, {"plot_id": id, "plan": {}}):
        assert made.call("POST", f"{board}/authoring-decision", json=body).status_code == 422
    unknown = {"plot_id": str(uuid.uuid4())}
    assert made.call("POST", f"{board}/authoring-decision", json=unknown).status_code == 404


def test_a_decision_says_the_same_of_anothers_ids_and_of_unknown_ones(world: tuple[Lab, World]) -> None:
    """A new id is the caller's to choose, so a taken one must be refused; the answer does not say by whom it is."""
    made, ours = world
    _, theirs, stranger = made.other_organization()
    begun = made.json("POST", "/agent/sessions", stranger, json={"project_id": theirs.id})
    away = made.json("POST", f"/projects/{theirs.id}/dashboards", stranger, json={"name": "Away"})
    plot = made.json(
        "POST",
        f"/projects/{theirs.id}/dashboards/{away['id']}/plots",
        stranger,
        json={"name": "p", "config": DRAFT["config"]},
    )
    board = _BOARD.format_map(ours.ids)
    made.json("POST", f"{board}/authoring-context", json={"prompt": "Curves", "draft": DRAFT})

    def said(key: str, id: str, **more: str) -> tuple[int, str]:
        answer = made.call("POST", f"{board}/authoring-decision", json={key: id, **more})
        return answer.status_code, re.sub(r'"request_id":"[^"]*"', "", answer.text.replace(id, "<id>"))

    fresh = {"new_plot_id": str(uuid.uuid4())}
    assert said("plot_id", plot["id"]) == said("plot_id", str(uuid.uuid4()))
    assert said("session_id", begun["id"], **fresh) == said("session_id", str(uuid.uuid4()), **fresh)
    taken = made.json("POST", f"{board}/authoring-decision", json={**fresh, "name": "Mine"})["id"]
    status, text = said("new_plot_id", plot["id"], name="Another")
    assert (status, text) == said("new_plot_id", taken, name="Another")
    assert status == 409
    assert not any(word in text for word in ("Away", "Theirs", "plot'", "elsewhere"))


def test_nobody_reads_the_sessions_of_another(world: tuple[Lab, World]) -> None:
    made, ours = world
    other: Person = made.person("other-admin@lab.org", role="Admin")
    session = ours.ids["session_id"]
    for method, body in (("GET", None), ("POST", {"role": "user", "content": {}})):
        path = f"/agent/sessions/{session}/messages"
        assert made.call(method, path, other, **({} if body is None else {"json": body})).status_code == 404
    assert made.json("GET", "/agent/sessions", other) == []
    board = _BOARD.format_map(ours.ids)
    taken = {"plot_id": ours.ids["plot_id"], "session_id": session}
    assert made.call("POST", f"{board}/authoring-decision", other, json=taken).status_code == 404
    for body in ({"role": "system", "content": {}}, {"role": "user", "content": "text"}, {"role": "user"}):
        assert made.call("POST", f"/agent/sessions/{session}/messages", json=body).status_code == 422


def test_what_no_text_can_hold_is_refused_in_drafts_and_messages(world: tuple[Lab, World]) -> None:
    made, ours = world
    draft = {**DRAFT, "name": "a\0b"}
    asked = {"prompt": "a", "draft": draft}
    assert made.call("POST", f"{_BOARD}/authoring-context".format_map(ours.ids), json=asked).status_code == 422
    said = {"role": "user", "content": {"parts": [{"type": "draft", "draft": draft}]}}
    assert made.call("POST", f"/agent/sessions/{ours.ids['session_id']}/messages", json=said).status_code == 422


def test_messages_and_sessions_are_paged(world: tuple[Lab, World]) -> None:
    made, ours = world
    project = {"project_id": ours.ids["project_id"]}
    session = made.json("POST", "/agent/sessions", json={**project, "title": "Paged", "sdk_session_id": "s-1"})
    assert (session["title"], session["sdk_session_id"]) == ("Paged", "s-1")
    path = f"/agent/sessions/{session['id']}/messages"
    said = [made.json("POST", path, json={"role": "user", "content": {"n": n}}) for n in range(5)]
    assert made.json("GET", path) == said
    assert made.json("GET", path, params={"limit": 2, "offset": 1}) == said[1:3]
    newest = made.json("GET", "/agent/sessions", params={**project, "limit": 1})
    assert [one["id"] for one in newest] == [session["id"]]


def references(value: Any) -> Iterator[str]:
    """The names of all components that a part of the document refers to."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref":
                yield item.rpartition("/")[2]
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def test_each_kind_of_record_is_one_component() -> None:
    components = DOCUMENT["components"]["schemas"]
    twins = ("-Input", "-Output")
    assert not [
        name for name in components if name.endswith(twins) or name.startswith(("server__", "workbench__"))
    ]
    assert set(references(DOCUMENT)) == set(components)
    shown = {schema["title"] for schema in components.values() if "updated_at" in schema.get("properties", {})}
    assert {kind.__name__ for kind in KINDS.values()} - {"Organization", "User"} <= shown | {"Message", "Revision"}
    assert DOCUMENT["paths"]["/models"]["post"]["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/ModelGiven"
    }


def test_the_document_says_which_bodies_may_be_missing() -> None:
    bodies = [
        one["requestBody"] for item in DOCUMENT["paths"].values() for one in item.values() if "requestBody" in one
    ]
    for body in bodies:
        schemas = [content["schema"] for content in body["content"].values()]
        assert body["required"] is all({"type": "null"} not in schema.get("anyOf", ()) for schema in schemas)
    assert not all(body["required"] for body in bodies)


def test_a_generator_of_clients_finds_a_name_of_its_own_for_each_model() -> None:
    """As openapi-python-client makes them: the title of a component, and parent and property of an object inside."""
    schemas = document()["components"]["schemas"]
    assert {name for name, schema in schemas.items() if schema["title"] != name} == set()
    inside = {
        name + "".join(part.title() for part in field.split("_"))
        for name, schema in schemas.items()
        for field, value in schema.get("properties", {}).items()
        if value.get("type") == "object"
    }
    assert inside & set(schemas) == set()
    assert [name for name in schemas if not name.isalnum()] == []
