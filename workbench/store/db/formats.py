"""Formats: which one a store has, which versions can read and write it, and how it gets missing migrations.

What happens when a store is opened is in ``Store``; ``upgrade_command`` is the command.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import orjson

from ...errors import Damaged, StoreError, StoreTooNew, StoreTooOld
from ...version import __version__
from .. import migrations
from ..migrations import Migration
from .facts import set_fact

APPLICATION = 0x57426E63
APPLIED = "_sqlite_migrations"
"""The table of the steps that a store has; the name is that of 0.1.0."""
_APPLIED_TABLE = (
    f'CREATE TABLE "{APPLIED}" (\n   "id" INTEGER PRIMARY KEY,\n   "migration_set" TEXT,\n   "name" TEXT,\n'
    '   "applied_at" TEXT\n)',
    f'CREATE UNIQUE INDEX "idx_{APPLIED}_migration_set_name"\n    ON "{APPLIED}" ("migration_set", "name")',
)
Objects = dict[tuple[str, str], str]
"""(type, name) -> SQL of each table, index and trigger of a store."""


@dataclass(frozen=True)
class Format:
    """The format of a store: its number and first release, and the oldest formats that can read it and write it, each
    with its release. The store keeps it for versions that do not know its migrations."""

    number: int
    version: str
    reader: int
    reader_version: str
    writer: int
    writer_version: str

    def after(self, step: Migration) -> Format:
        """The format after a step."""
        own = None if step.is_additive else step.number
        reader = max(
            self.reader, step.oldest_reader or own or 0
        )  # steps of an old store may come in another order
        writer = max(self.writer, step.oldest_writer or own or 0)
        newer = step.number > self.number
        return Format(
            step.number if newer else self.number,
            step.version if newer else self.version,
            *((reader, _version_of(reader)) if reader > self.reader else (self.reader, self.reader_version)),
            *((writer, _version_of(writer)) if writer > self.writer else (self.writer, self.writer_version)),
        )


FIRST = Format(1, "0.1.0", 1, "0.1.0", 1, "0.1.0")
NONE = Format(0, "", 0, "", 0, "")


def _version_of(number: int) -> str:
    return next(step.version for step in migrations.MIGRATIONS if step.number == number)


@dataclass(frozen=True)
class State:
    """What is known when a file is opened: its format (0: not a store yet), the steps that it does not have, and
    whether this version may only read it."""

    format: Format
    pending: tuple[Migration, ...]
    only_read: bool

    @property
    def is_new(self) -> bool:
        """Whether the file is not a store yet."""
        return self.format.number == 0

    @property
    def is_additive(self) -> bool:
        """Whether all missing steps are additive."""
        return all(step.is_additive for step in self.pending)


def state_of(db: sqlite3.Connection, path: Path) -> State:
    """The state of a file.

    Raises
    ------
    StoreError
        If the file belongs to another application.
    StoreTooNew
        If its format can be read only by newer versions.
    """
    (application,) = db.execute("pragma application_id").fetchone()
    tables = {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
    if not tables and not application:
        return State(NONE, migrations.MIGRATIONS, False)
    if application != APPLICATION:
        raise StoreError(f"'{path}' is a database of another application. Give the path of a workbench store.")
    applied = applied_to(db) if APPLIED in tables else set()
    return state_of_format(db, applied, path, FIRST if "facts" not in tables else None)


def applied_to(db: sqlite3.Connection) -> set[tuple[str, str]]:
    """The steps that a store has."""
    return set(db.execute(f"select migration_set, name from {APPLIED}").fetchall())  # noqa: S608


def state_of_format(
    db: sqlite3.Connection, applied: set[tuple[str, str]], path: Path | str, known: Format | None = None
) -> State:
    """The state of a store with these steps; ``known`` is its format if it does not say so itself.

    Raises
    ------
    StoreTooNew
        If its format can be read only by newer versions.
    """
    found = known or format_of(db)
    _refuse_newer(found, applied, path)
    pending = tuple(step for step in migrations.MIGRATIONS if step.key not in applied)
    return State(found, pending, found.writer > migrations.FORMAT)


def format_of(db: sqlite3.Connection) -> Format:
    """The format that is noted in a store; a newer version may note more."""
    row = db.execute("select value from facts where name = 'format'").fetchone()
    if row is None:
        return FIRST
    try:
        said = orjson.loads(row[0])
        return Format(
            int(said["number"]),
            str(said["version"]),
            int(said["reader"]),
            str(said["reader_version"]),
            int(said["writer"]),
            str(said["writer_version"]),
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise Damaged(f"What the store says about its format is damaged ({error}). Restore a backup.") from error


def wrong_format(db: sqlite3.Connection) -> list[str]:
    """Whether the format that a store says it has is that of its steps, as far as this version knows them."""
    said = format_of(db)
    applied = applied_to(db)
    made = FIRST
    for step in migrations.MIGRATIONS:
        made = made.after(step) if step.key in applied else made
    if said == made or applied - {step.key for step in migrations.MIGRATIONS}:
        return []
    return [f"the store says that it has format {said.number} ({said}), and its steps make {made}"]


def _refuse_newer(found: Format, applied: set[tuple[str, str]], path: Path | str) -> None:
    if found.reader > migrations.FORMAT:
        raise StoreTooNew(
            f"The store '{path}' was written by a newer workbench (it has format {found.number}, and this is "
            f"{__version__}, which knows format {migrations.FORMAT}). Update battery-workbench to "
            f"{found.reader_version} or later to open it."
        )
    unknown = sorted(f"{set}.{name}" for set, name in applied - {step.key for step in migrations.MIGRATIONS})
    if unknown and found.number <= migrations.FORMAT:
        raise StoreTooNew(
            f"The store '{path}' was written by a newer workbench (it has {', '.join(unknown)}). "
            "Update battery-workbench to open it."
        )


def may_not_write(state: State, path: Path | str) -> StoreTooNew:
    """The error for a change to a store that this version may only read."""
    return StoreTooNew(
        f"The store '{path}' can be read here but not changed: it has format {state.format.number}, which "
        f"battery-workbench {state.format.writer_version} or later writes. Update battery-workbench to change it."
    )


def opened_to_read(path: Path | str) -> StoreError:
    """The error for a change to a store that was opened to read."""
    return StoreError(f"The store '{path}' was opened to read only. Open it without read_only to change it.")


def too_old(state: State, path: Path | str) -> StoreTooOld:
    """The error for a store that needs `workbench upgrade`."""
    return StoreTooOld(
        f"The store '{path}' is of an older workbench ({_of(state.format)}) and needs to be upgraded to format "
        f"{migrations.FORMAT}. Run 'workbench upgrade --store {path}': it makes a backup first."
    )


def upgrade_notice(state: State, path: Path | str) -> str:
    """The notice before a store gets additive steps."""
    after = state.format
    for step in state.pending:
        after = after.after(step)
    locked = ""
    if after.reader > state.format.number:
        locked = f" Versions before {after.reader_version} cannot open it afterwards."
    return (
        f"The store '{path}' is of an older workbench ({_of(state.format)}). It is brought to format {after.number} "
        f"now: columns, tables or indexes are added, nothing else changes.{locked}"
    )


def _of(found: Format) -> str:
    return f"format {found.number}, battery-workbench {found.version}"


def apply(db: sqlite3.Connection, steps: Iterable[Migration]) -> None:
    """Run these steps inside one transaction: afterwards the store has all of them, or none."""
    found = FIRST
    if not db.execute("select 1 from sqlite_master where name = ?", (APPLIED,)).fetchone():
        for text in _APPLIED_TABLE:
            db.execute(text)
        db.execute(f"pragma application_id = {APPLICATION}")
    elif db.execute("select 1 from sqlite_master where name = 'facts'").fetchone():
        found = format_of(db)
    for step in steps:
        while step.prepare is not None and step.prepare(db):
            pass  # prepares what was written since; in a new store, everything
        for text in step.sql:
            db.execute(text)
        if step.run is not None:
            step.run(db)
        note_applied(db, step)
        found = found.after(step)
    if found != FIRST:
        keep_format(db, found)
        set_fact(db, "schema", fingerprint(objects(db)))


def note_applied(db: sqlite3.Connection, step: Migration) -> None:
    """Note that a store has a step."""
    query = f"insert into {APPLIED} (migration_set, name, applied_at) values (?, ?, ?)"  # noqa: S608
    db.execute(query, (*step.key, str(datetime.now(UTC))))


def keep_format(db: sqlite3.Connection, found: Format) -> None:
    """Note the format of a store."""
    set_fact(db, "format", orjson.dumps(asdict(found)).decode())


def objects(db: sqlite3.Connection) -> Objects:
    """The tables, indexes and triggers of a store as SQLite keeps their texts."""
    query = (
        "select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite@_%' escape '@'"
    )
    return {(type, name): sql for type, name, sql in db.execute(query)}


def fingerprint(found: Objects) -> str:
    """A hash of the texts of all tables, indexes and triggers."""
    return hashlib.sha256(orjson.dumps(sorted([*key, sql] for key, sql in found.items()))).hexdigest()


@cache
def reference(steps: tuple[Migration, ...]) -> tuple[Objects, dict[str, dict[str, str]]]:
    """What a new store of these steps has: its objects, and the columns of each table."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        apply(db, steps)
        made = objects(db)
        return made, {name: columns_of(db, name) for type, name in made if type == "table"}


def columns_of(db: sqlite3.Connection, table: str) -> dict[str, str]:
    """The columns of a table in their order: name -> type, and whether it may be null or is a key."""
    query = 'select name, type, "notnull", pk from pragma_table_info(?)'
    return {
        name: f"{type}{' NOT NULL' if filled else ''}{' PRIMARY KEY' if key else ''}"
        for name, type, filled, key in db.execute(query, (table,))
    }
