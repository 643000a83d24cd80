"""When a person last changed a record that grows: growth changes it too, and is not such a change. And when records
that plans list were deleted, since nothing else says that there were any."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping

import orjson
from pydantic import JsonValue

from ...records import Plot, Record
from ...table import to_micros
from ..scope import Scope
from .tables import reach, stored, values_of

_DELETED = "deleted "
"""Before the table of a record that is no more; its entry says what chooses it in a plan, and no name; that of a
plot is its id."""
_CHOSEN_BY = {
    "ids": "id",
    "instanceIds": "instance_id",
    "measurementIds": "measurement_id",
    "specificationIds": "specification_id",
    "materialId": "material_id",
    "measurementType": "measurement_type",
    "analysisType": "analysis_type",
}


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


def note_deleted(db: sqlite3.Connection, cls: type[Record], ids: Iterable[str], now: int) -> None:
    """Note that records that plans list are deleted, before they are; and ids of plots, which callers may choose."""
    if cls is Plot:
        _note(db, [(_DELETED + cls.table, id, now) for id in ids])
    if cls.listed_as is None:
        return
    held = {member.name for member in stored(cls)}
    kept = [one for one in ("organization_id", "project_id", "created_at", *_CHOSEN_BY.values()) if one in held]
    columns = ", ".join(f'"{one}"' for one in kept)
    query = f'select {columns} from "{cls.table}" where id in (select value from json_each(?))'  # noqa: S608
    entries = [
        (_DELETED + cls.table, orjson.dumps(dict(zip(kept, row, strict=True))).decode(), now)
        for row in db.execute(query, [values_of(ids)])
    ]
    _note(db, entries)


def was_deleted(db: sqlite3.Connection, cls: type[Record], id: str) -> bool:
    """Whether a record of this kind had the id; known of plots alone."""
    query = "select 1 from record_edits where kind = ? and id = ?"
    return db.execute(query, (_DELETED + cls.table, id)).fetchone() is not None


def _note(db: sqlite3.Connection, entries: Iterable[tuple[str, str, int]]) -> None:
    db.executemany("insert into record_edits values (?, ?, ?) on conflict do update set at = excluded.at", entries)


def deleted_since(
    db: sqlite3.Connection, cls: type[Record], scope: Scope, moment: int, where: Mapping[str, JsonValue]
) -> Counter[str | None]:
    """How many records in scope were there at a time and were deleted since, by their type; without those that these
    filters of a list would surely not have found."""
    query = "select id from record_edits where kind = ? and at > ?"
    found: Counter[str | None] = Counter()
    for (text,) in db.execute(query, [_DELETED + cls.table, moment]):
        entry = orjson.loads(text)
        project = entry.get("project_id")
        near = project is None or project == scope.project_id or project in (scope.projects or ())
        if (
            near
            and entry["organization_id"] == scope.organization_id
            and entry["created_at"] <= moment
            and all(_may_choose(entry, key, value) for key, value in where.items())
        ):
            found[entry.get(cls.kind_field or "")] += 1
    return found


def _may_choose(entry: Mapping[str, JsonValue], key: str, value: JsonValue) -> bool:
    field = _CHOSEN_BY.get(key)
    if value is None or field is None or field not in entry:
        return True
    return entry[field] in (value if isinstance(value, list) else [value])


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
