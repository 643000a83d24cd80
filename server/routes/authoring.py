"""Authoring: the texts from which a recipe is written, and the decision that makes a draft a plot."""

from __future__ import annotations

import uuid
from typing import Any

from workbench import authoring
from workbench.authoring import desk
from workbench.errors import Invalid, Problem
from workbench.recipe.parse import parse_request
from workbench.records import Dashboard, Plot, Session

from .. import schemas as s
from ..call import Call
from ..operation import Body, Need, Operation
from . import crud, fields

_IDS = ("plot_id", "new_plot_id")


def context(call: Call) -> dict[str, Any]:
    request = parse_request(call.body)
    with call.writing(call.path["dashboard_id"]):
        session, shown = desk.begin(call.store, call.scope, call.actor, call.record(Dashboard), request)
    made = authoring.texts(session, request.prompt, call.work.catalog(), shown)
    return {"session_id": made.session_id, "system": made.system, "prompt": made.prompt}


def decision(call: Call) -> dict[str, Any]:
    types = {"name": str, "plot_id": str, "new_plot_id": str, "session_id": str}
    given = fields.read(call.body, types, nullable=tuple(types))
    if given.get("name") is not None:
        given["name"] = fields.name(given["name"], ("name",))
    for name in _IDS:
        if given.get(name) is not None:
            given[name] = _uuid(given[name], name)
    made = desk.decide(
        call.store,
        call.scope,
        call.actor,
        call.record(Dashboard),
        call.work.sound,
        writing=lambda: call.writing(given.get("new_plot_id") or given.get("plot_id")),
        **given,
    )
    return crud.wire(made)


def _uuid(text: str, name: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise Invalid(Problem((name,), f"'{name}' is a UUID.", "uuid_parsing")) from None


_BOARD = "/projects/{project_id}/dashboards/{dashboard_id}"
_UUID_OR_NULL = {"type": ["string", "null"], "format": "uuid"}

OPERATIONS = (
    Operation(
        "POST",
        f"{_BOARD}/authoring-context",
        context,
        Need.WRITE,
        "The texts from which a language model writes a recipe for this project; opens a session or goes on with it",
        project="path",
        body=Body(s.ref("AuthoringRequest"), "small", ids={"plot_id": Plot}),
        answer=s.record({"session_id": s.TEXT, "system": s.TEXT, "prompt": s.TEXT}),
        heavy=True,
    ),
    Operation(
        "POST",
        f"{_BOARD}/authoring-decision",
        decision,
        Need.WRITE,
        "Save the caller's newest sound draft as a plot",
        project="path",
        body=Body(
            s.body(
                {},
                {
                    "name": {**s.NAME, "type": ["string", "null"]},
                    **dict.fromkeys(_IDS, _UUID_OR_NULL),
                    "session_id": s.TEXT_OR_NULL,
                },
            ),
            "small",
            ids={"plot_id": Plot, "session_id": Session},
        ),
        answer=s.kind(Plot),
        heavy=True,
    ),
)
