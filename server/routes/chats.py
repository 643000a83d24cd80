"""Sessions and messages: what a user and an assistant say to each other, seen by that user alone."""

from __future__ import annotations

from typing import Any

from workbench.records import Message, Project, Session
from workbench.store.chats import MOST_MESSAGES, ROLES

from .. import query
from .. import schemas as s
from ..call import Call
from ..operation import Body, Need, Operation, Parameter
from . import fields


def sessions(call: Call) -> list[dict[str, Any]]:
    """The caller's sessions, the newest first."""
    limit, offset = call.query["limit"], call.query["offset"]
    found = call.store.chats.sessions(call.scope, call.actor, limit=limit, offset=offset)
    return [one.wire() for one in found]


def open_session(call: Call) -> dict[str, Any]:
    types = {"project_id": str, "title": str, "sdk_session_id": str}
    given = fields.read(call.body, types, required=("project_id",), nullable=("title", "sdk_session_id"))
    with call.writing():
        made = call.store.chats.open(
            call.scope, call.actor, given.get("title"), sdk_session_id=given.get("sdk_session_id")
        )
    return made.wire()


def messages(call: Call) -> list[dict[str, Any]]:
    """What was said, the oldest first."""
    limit, offset = call.query["limit"], call.query["offset"]
    found = call.store.chats.messages(call.record(Session), limit=limit, offset=offset)
    return [one.model_dump(mode="json") for one in found]


def say(call: Call) -> dict[str, Any]:
    given = fields.read(call.body, {"role": str, "content": dict}, required=("role", "content"))
    with call.writing():
        made = call.store.chats.say(call.record(Session), given["role"], given["content"])
    return made.model_dump(mode="json")


_ONE = s.kind(Session)
_MESSAGE: s.Schema = {
    "type": "object",
    "properties": {
        "id": s.TEXT,
        "session_id": s.TEXT,
        "role": {"enum": list(ROLES)},
        "content": s.FREE,
        "created_at": s.TIME,
    },
    "required": list(Message.model_fields),
}
_PLACE = "/agent/sessions/{session_id}/messages"

OPERATIONS = (
    Operation(
        "GET",
        "/agent/sessions",
        sessions,
        Need.READ,
        "The caller's chat sessions, the newest first",
        project="query",
        query=(
            Parameter("project_id", meaning="Those of this project.", kind=Project),
            *query.paging(),
        ),
        answer=s.array(_ONE),
    ),
    Operation(
        "POST",
        "/agent/sessions",
        open_session,
        Need.WRITE,
        "Open a chat session",
        project="body",
        body=Body(
            s.body({"project_id": s.TEXT}, {"title": s.TITLE_OR_NULL, "sdk_session_id": s.TEXT_OR_NULL}),
            "small",
            ids={"project_id": Project},
        ),
        answer=_ONE,
    ),
    Operation(
        "GET",
        _PLACE,
        messages,
        Need.READ,
        "The messages of a chat session, the oldest first",
        project="record",
        query=query.paging(MOST_MESSAGES, MOST_MESSAGES),
        answer=s.array(_MESSAGE),
    ),
    Operation(
        "POST",
        _PLACE,
        say,
        Need.WRITE,
        "Add a message to a chat session",
        project="record",
        body=Body(s.body({"role": {"enum": list(ROLES)}, "content": s.FREE}), "small"),
        answer=_MESSAGE,
    ),
)
