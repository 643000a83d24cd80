"""The store's tables, part by part, in the order in which they are made; and the refusal of a newer store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlite_utils import Database, Migrations

from ..errors import StoreError, StoreTooNew
from .founding import MIGRATIONS as ROWS
from .people import MIGRATIONS as PEOPLE
from .pieces import MIGRATIONS as PIECES
from .series import MIGRATIONS as SERIES
from .uploads import MIGRATIONS as UPLOADS

APPLICATION = 0x57426E63
STORE = Migrations("store")


@STORE()  # type: ignore[untyped-decorator]
def revisions_and_facts(database: Database) -> None:
    database.execute("create table revisions (name text primary key, revision integer not null) without rowid")
    database.execute("create table facts (name text primary key, value not null) without rowid")


SETS: tuple[Migrations, ...] = (STORE, SERIES, PIECES, ROWS, PEOPLE, UPLOADS)


def recognise(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is no store of ours, and one that a newer workbench wrote.

    Raises
    ------
    StoreError
        If the file belongs to another application.
    StoreTooNew
        If it has migrations that this version does not know.
    """
    application = connection.execute("pragma application_id").fetchone()[0]
    tables = {row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")}
    if not tables and not application:
        return
    if application != APPLICATION:
        raise StoreError(f"'{path}' is a database of another application. Give the path of a workbench store.")
    known = {(one.name, migration.name) for one in SETS for migration in one._migrations}
    applied: set[tuple[str, str]] = set()
    if Migrations.migrations_table in tables:
        rows = connection.execute(f"select migration_set, name from {Migrations.migrations_table}")  # noqa: S608
        applied = set(rows.fetchall())
    newer = sorted(f"{part}.{name}" for part, name in applied - known)
    if newer:
        raise StoreTooNew(
            f"The store '{path}' was written by a newer workbench (it has {', '.join(newer)}). "
            "Update battery-workbench to open it."
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables up to date; call inside a transaction, so that two openers do not both do it."""
    database = Database(connection)
    connection.execute(f"pragma application_id = {APPLICATION}")
    for one in SETS:
        one.apply(database)


def pending(connection: sqlite3.Connection) -> bool:
    database = Database(connection)
    return any(one.pending(database) for one in SETS)
