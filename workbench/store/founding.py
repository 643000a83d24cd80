"""The tables of records in a new store, what it holds from the start, and how older stores get what they lack."""

from __future__ import annotations

import time
from typing import Any

from sqlite_utils import Database, Migrations

from ..records import Organization, Project, RawData, Record, Session, User
from ..table import from_micros
from . import seals, search, talk
from .rows import LOCAL_USER, insert, new_id
from .tables import create_kind, create_statements

MIGRATIONS = Migrations("rows")


@MIGRATIONS()  # type: ignore[untyped-decorator]
def tables(database: Database) -> None:
    for statement in (*create_statements(), *search.STATEMENTS):
        database.execute(statement)


@MIGRATIONS()  # type: ignore[untyped-decorator]
def first_records(database: Database) -> None:
    """What every store has from the start: an organization, a user and a project."""
    now = time.time_ns() // 1000
    moments = [from_micros(now + n) for n in range(3)]
    at: list[dict[str, Any]] = [{"id": new_id(one), "created_at": one, "updated_at": one} for one in moments]
    organization = Organization(name="Local", **at[0])
    user = User(name="Local user", email=LOCAL_USER, **at[1])
    project = Project(name="Default", organization_id=organization.id, created_by=user.id, **at[2])
    for record in (organization, user, project):
        insert(database.conn, record)
    database.execute("INSERT INTO facts (name, value) VALUES ('clock', ?)", [now + 2])


@MIGRATIONS()  # type: ignore[untyped-decorator]
def raw_data(database: Database) -> None:
    _make_missing(database, RawData)


@MIGRATIONS()  # type: ignore[untyped-decorator]
def chats(database: Database) -> None:
    _make_missing(database, Session)
    for statement in talk.STATEMENTS:
        database.execute(statement)


@MIGRATIONS()  # type: ignore[untyped-decorator]
def checksums(database: Database) -> None:
    database.execute(seals.TABLE)
    seals.seal_all(database.conn)


def _make_missing(database: Database, kind: type[Record]) -> None:
    """The table of a kind that is younger than the store."""
    if kind.table not in database.table_names():
        for statement in create_kind(kind):
            database.execute(statement)
