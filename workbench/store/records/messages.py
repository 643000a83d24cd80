"""The rows of messages and drafts, which belong to sessions."""

from __future__ import annotations

import sqlite3

import orjson

from ...records import Draft, Message
from ...table import Plain, to_micros
from ..db import checksums
from .tables import json_of, moment_of

MESSAGES, DRAFTS = "messages", "plot_drafts"


def add(db: sqlite3.Connection, table: str, made: Message | Draft) -> None:
    """Write a message or a draft."""
    row = _row(made)
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608
    checksums.keep(db, table, row)


def accept(db: sqlite3.Connection, draft: Draft, accepted: str) -> None:
    """Note which plot a draft became."""
    db.execute("UPDATE plot_drafts SET accepted = ? WHERE id = ?", [accepted, draft.id])
    checksums.keep(db, DRAFTS, _row(draft) | {"accepted": accepted})


def page(db: sqlite3.Connection, session_id: str, limit: int, offset: int) -> list[Message]:
    """A page of the messages of a session, the oldest first."""
    rows = db.execute(
        "SELECT id, session_id, role, content, created_at FROM messages WHERE session_id = ? "
        "ORDER BY created_at LIMIT ? OFFSET ?",
        [session_id, limit, offset],
    )
    return [
        Message(id=id, session_id=session, role=role, content=json_of(content), created_at=moment_of(at))
        for id, session, role, content, at in rows
    ]


def drafts(db: sqlite3.Connection, sessions: str, limit: int) -> list[Draft]:
    """The newest drafts of some sessions (a JSON list of ids), the newest first."""
    rows = db.execute(
        "SELECT id, session_id, draft, accepted, created_at FROM plot_drafts "
        "WHERE session_id IN (SELECT value FROM json_each(?)) ORDER BY created_at DESC LIMIT ?",
        [sessions, limit],
    )
    return [
        Draft(id=id, session_id=session, draft=json_of(draft), accepted=accepted, created_at=moment_of(at))
        for id, session, draft, accepted, at in rows
    ]


def session_of(db: sqlite3.Connection, accepted: str) -> str | None:
    """The session of the draft that became this plot and revision."""
    found = db.execute(
        "SELECT session_id FROM plot_drafts WHERE accepted = ? ORDER BY created_at DESC LIMIT 1", [accepted]
    ).fetchone()
    return None if found is None else str(found[0])


def forget(db: sqlite3.Connection, listed: str) -> None:
    """Drop the messages and drafts of sessions (a JSON list of ids) that are being deleted."""
    for table in (MESSAGES, DRAFTS):
        chosen = "session_id IN (SELECT value FROM json_each(?)) RETURNING id"
        gone = [id for (id,) in db.execute(f"DELETE FROM {table} WHERE {chosen}", [listed])]  # noqa: S608
        checksums.drop(db, table, gone)


def _row(made: Message | Draft) -> dict[str, Plain]:
    values = {name: getattr(made, name) for name in type(made).model_fields}
    return {
        name: orjson.dumps(value).decode()
        if isinstance(value, dict)
        else to_micros(value)
        if name == "created_at"
        else value
        for name, value in values.items()
    }
