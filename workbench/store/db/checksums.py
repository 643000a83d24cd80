"""Checksums of records, in the table ``seals``: with them verify finds every byte that changed on the disk.

Only verify reads them: lists read single values of many records, and a checksum needs the whole row. A migration
that changes rows of records must update their checksums.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping

import orjson

from ...records import KINDS
from ..records.tables import SqlValue, rows_as_dicts, values_of

REVISIONS = "plot_revisions"
FURTHER = {REVISIONS: "plot revision", "messages": "message", "plot_drafts": "draft"}
"""Further tables with checksums, and what a row of each is called."""


def update(db: sqlite3.Connection, table: str, ids: Iterable[str] | None = None) -> None:
    """Write the checksums of these records, or of all of a table, from their rows as they are now."""
    chosen, params = (
        ("", []) if ids is None else (" WHERE id IN (SELECT value FROM json_each(?))", [values_of(ids)])
    )
    for row in rows_as_dicts(db.execute(f'SELECT * FROM "{table}"{chosen}', params)):  # noqa: S608
        keep(db, table, row)


def keep(db: sqlite3.Connection, table: str, row: Mapping[str, SqlValue]) -> None:
    """Write the checksum of one row."""
    db.execute("INSERT OR REPLACE INTO seals VALUES (?, ?, ?)", [table, _name(table, row), _crc(row)])


def drop(db: sqlite3.Connection, table: str, ids: Iterable[str]) -> None:
    """Delete the checksums of deleted records."""
    db.execute(
        "DELETE FROM seals WHERE kind = ? AND id IN (SELECT value FROM json_each(?))", [table, values_of(ids)]
    )


def check(db: sqlite3.Connection) -> Iterator[str]:
    """Sentences about rows that changed since they were written, and about checksums without a row."""
    for table in (*KINDS, *FURTHER):
        known = dict(db.execute("SELECT id, crc FROM seals WHERE kind = ?", [table]))
        label = FURTHER.get(table) or KINDS[table].label
        for row in rows_as_dicts(db.execute(f'SELECT * FROM "{table}"')):  # noqa: S608
            name = _name(table, row)
            if known.pop(name, None) != _crc(row):
                yield f"the {label} '{name}' is not as it was written"
        yield from (f"the {label} '{name}' is not there any more" for name in known)


def _name(table: str, row: Mapping[str, SqlValue]) -> str:
    return f"{row['plot_id']!s} {row['revision']!s}" if table == REVISIONS else str(row["id"])


def _crc(row: Mapping[str, SqlValue]) -> int:
    """Nulls are left out, so that a new column of nulls changes no checksum."""
    held = {name: value for name, value in row.items() if value is not None}
    return zlib.crc32(orjson.dumps(held, default=repr, option=orjson.OPT_SORT_KEYS))
