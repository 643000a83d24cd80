"""When a person last changed a record that grows: growth changes it too, and is not such a change."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from ...records import Record
from ...table import to_micros
from ..scope import Scope
from .tables import reach, values_of


def note(db: sqlite3.Connection, before: Record, now: int, *, grew: bool) -> None:
    """Note a change of a record, ``before`` it; a record without an entry was last changed at its ``updated_at``."""
    if grew:
        entry = (before.table, before.id, to_micros(before.updated_at))
        db.execute("insert or ignore into record_edits values (?, ?, ?)", entry)
    else:
        db.execute("update record_edits set at = ? where kind = ? and id = ?", (now, before.table, before.id))


def forget(db: sqlite3.Connection, table: str, ids: Iterable[str]) -> None:
    """Remove the entries of deleted records."""
    db.execute(
        "delete from record_edits where kind = ? and id in (select value from json_each(?))",
        (table, values_of(ids)),
    )


def changed_since(
    db: sqlite3.Connection, cls: type[Record], scope: Scope, moment: int, ids: Iterable[str] | None = None
) -> list[str]:
    """The names of records in scope, of these or of all, that a person changed after a time, the oldest first."""
    clause, params = reach(cls, scope)
    chosen = "" if ids is None else " and t.id in (select value from json_each(?))"
    query = (
        f'select t.name from "{cls.table}" as t left join record_edits as e on e.kind = ? and e.id = t.id '  # noqa: S608
        f"where {clause} and coalesce(e.at, t.updated_at) > ?{chosen} order by t.created_at, t.id"
    )
    bound = [cls.table, *params, moment, *([] if ids is None else [values_of(ids)])]
    return [name for (name,) in db.execute(query, bound)]
