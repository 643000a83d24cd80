"""Checksums in the rows of keys, members, uploads, attached files and the audit log, in their column ``crc``.

They are compared when a store is opened (see `soundness`), by verify, and when a key or a member is looked up. A row
that an older version wrote has none until it changes, or until the store gets its new format.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from ...errors import Damaged
from ...table import Plain
from .checksums import ADVICE, crc_of

TABLES = {
    "keys": ("key", ("id",)),
    "members": ("membership of the user", ("user_id",)),
    "project_roles": ("project role of the user", ("user_id",)),
    "uploads": ("upload", ("id",)),
    "upload_objects": ("file of an upload", ("id",)),
    "attachments": ("file attached to the record", ("owner", "name")),
    "audit": ("entry of the audit log at", ("at",)),
}
"""What a row of each table is called, and the columns that name it."""


def keep(db: sqlite3.Connection, table: str, where: str, params: Sequence[Plain]) -> None:
    """Write the checksums of the rows that a condition chooses, from what they hold now."""
    cursor = db.execute(f'SELECT rowid AS ":row", * FROM "{table}" WHERE {where}', params)  # noqa: S608
    names = [item[0] for item in cursor.description]
    rows = [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
    db.executemany(
        f'UPDATE "{table}" SET crc = ? WHERE rowid = ?',  # noqa: S608
        [(crc, row) for row, crc in ((one.pop(":row"), _crc(one)) for one in rows)],
    )


def fill(db: sqlite3.Connection) -> None:
    """Write the checksums of all rows that have none, in tables that have the column already."""
    for table in TABLES:
        if db.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = 'crc'", [table]).fetchone():
            keep(db, table, "crc IS NULL", [])


def check(db: sqlite3.Connection, table: str) -> Iterator[str]:
    """Sentences about rows that changed since they were written."""
    cursor = db.execute(f'SELECT * FROM "{table}"')  # noqa: S608
    names = [item[0] for item in cursor.description]
    for values in cursor:
        row = dict(zip(names, values, strict=True))
        if not _is_intact(row):
            yield f"{_named(table, row)} is not as it was written"


def refuse_changed(table: str, row: Mapping[str, Plain]) -> None:
    """Compare a whole row with its checksum.

    Raises
    ------
    Damaged
        Its text names the row.
    """
    if not _is_intact(row):
        raise Damaged(f"{_named(table, row).capitalize()} is not as it was written. {ADVICE}")


def _is_intact(row: Mapping[str, Plain]) -> bool:
    return row.get("crc") is None or row["crc"] == _crc(row)


def _named(table: str, row: Mapping[str, Plain]) -> str:
    label, columns = TABLES[table]
    return f"the {label} '{' '.join(str(row[name]) for name in columns)}'"


def _crc(row: Mapping[str, Plain]) -> int:
    return crc_of({name: value for name, value in row.items() if name != "crc"})
