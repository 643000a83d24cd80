"""Checksums of records, in the table ``seals``: with them verify finds every byte that changed on the disk.

They are compared when a store is opened (see `soundness`) and by verify, not on every read: lists read single values
of many records, and a checksum needs the whole row. A migration that changes rows of records must update their
checksums.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import orjson

from ...errors import Damaged
from ...records import KINDS
from ..records.tables import SqlValue, rows_as_dicts, values_of
from .dialect import dialect_of

ADVICE = "Run 'workbench verify', which names all that is damaged, and restore a backup."
REVISIONS = "plot_revisions"
ROWID = "rowid"
"""A view, as an older store has it that is only read, must name it as a column: it has none of its own."""
FURTHER = {REVISIONS: "plot revision", "messages": "message", "plot_drafts": "draft"}
"""Further tables with checksums, and what a row of each is called."""
LATER = {
    "shares": "link for outsiders",
    "alerts": "alert",
    "alert_occurrences": "occurrence of an alert",
    "webhook_addresses": "address of webhooks",
}
"""Tables that got checksums later, and what a row of each is called. A row that has none yet is not compared, and one
that was deleted with what it belonged to leaves its checksum."""


def update(db: sqlite3.Connection, table: str, ids: Iterable[str] | None = None) -> None:
    """Write the checksums of these records, or of all of a table, from their rows as they are now."""
    chosen = ""
    params: list[SqlValue] = []
    if ids is not None:
        wanted = [*ids]
        # One is looked up by its key: for a list PostgreSQL may read the whole table.
        is_one = len(wanted) == 1
        which = "= ?" if is_one else "IN (SELECT value FROM json_each(?))"
        chosen = f" WHERE {_key(table)} {which}"  # our own names
        params = [*wanted] if is_one else [values_of(wanted)]
    for row in rows_as_dicts(db.execute(f'SELECT * FROM "{table}"{chosen}', params)):  # noqa: S608
        keep(db, table, row)


def keep(db: sqlite3.Connection, table: str, row: Mapping[str, SqlValue]) -> None:
    """Write the checksum of one row."""
    db.execute("INSERT OR REPLACE INTO seals VALUES (?, ?, ?)", [table, _name(table, row), crc_of(row)])


def drop(db: sqlite3.Connection, table: str, ids: Iterable[str]) -> None:
    """Delete the checksums of deleted records."""
    db.execute(
        "DELETE FROM seals WHERE kind = ? AND id IN (SELECT value FROM json_each(?))", [table, values_of(ids)]
    )


def check(db: sqlite3.Connection, table: str) -> Iterator[str]:
    """Sentences about rows of a table that changed since they were written, and about checksums without a row."""
    known = dict(db.execute("SELECT id, crc FROM seals WHERE kind = ?", [table]))
    for row in _rows(db, f'SELECT * FROM "{table}"'):  # noqa: S608
        name = _name(table, row)
        crc = known.pop(name, None)
        if crc != crc_of(row) and not (crc is None and table in LATER):
            yield f"the {label(table)} '{name}' is not as it was written"
    if table in LATER:
        return
    yield from (f"the {label(table)} '{name}' is not there any more" for name in known)


def refuse_changed(db: sqlite3.Connection, table: str, chosen: str, params: Sequence[SqlValue]) -> None:
    """Compare the rows of a table that a query chooses by their ``rowid``.

    Raises
    ------
    Damaged
        Its text names the record.
    """
    query = f'SELECT t.*, s.crc AS ":crc" FROM "{table}" AS t LEFT JOIN seals AS s ON s.kind = ? AND s.id = t.id '  # noqa: S608
    for row in _rows(db, f"{query} WHERE t.rowid IN ({chosen})", [table, *params]):
        if row.pop(":crc") != crc_of(row):
            raise Damaged(f"The {label(table)} '{row['id']!s}' is not as it was written. {ADVICE}")


def label(table: str) -> str:
    """What a row of a table with checksums is called."""
    return FURTHER.get(table) or LATER.get(table) or KINDS[table].label


def later(db: sqlite3.Connection) -> list[str]:
    """Those tables of ``LATER`` that a store has."""
    names = {name for (name,) in db.execute(dialect_of(db).tables)}
    return [table for table in LATER if table in names]


def _rows(db: sqlite3.Connection, query: str, params: Sequence[SqlValue] = ()) -> Iterator[dict[str, SqlValue]]:
    cursor = db.execute(query, params)
    names = [item[0] for item in cursor.description]
    return (dict(zip(names, values, strict=True)) for values in cursor)


def _name(table: str, row: Mapping[str, SqlValue]) -> str:
    if table == REVISIONS:
        return f"{row['plot_id']!s} {row['revision']!s}"
    return str(row[_key(table)])


def _key(table: str) -> str:
    return "address" if table == "webhook_addresses" else "id"


def crc_of(row: Mapping[str, SqlValue]) -> int:
    """Nulls are left out, so that a new column of nulls changes no checksum."""
    held = {name: value for name, value in row.items() if value is not None and name != ROWID}
    return zlib.crc32(orjson.dumps(held, default=repr, option=orjson.OPT_SORT_KEYS))
