"""Whether the rows of a table are in the order of their creation, so that a list need not sort them.

The clock of a store never gives a time twice, and a record gets its time in the transaction that writes its row. So the
first hundred records are the first hundred rows. Nothing in the file enforces it: it is looked at once, and then only
for rows that are new.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from itertools import pairwise

from .conditions import Condition

Seen = tuple[int, int]
"""The last row that was looked at, and its time."""
_NOTHING: Seen = (-1, -1)
_AT_ONCE = 1000


class InsertionOrder:
    """Looks at the tables of one store; any thread may ask."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}
        self._broken: set[str] = set()
        self._lock = threading.Lock()

    def holds(self, db: sqlite3.Connection, table: str) -> bool:
        """Whether each row of a table was created later than the row before it."""
        with self._lock:
            if table in self._broken:
                return False
            seen = self._seen.get(table, _NOTHING)
        last = _followed(db, table, seen)
        if last is None and seen is not _NOTHING:
            last = _followed(
                db, table, _NOTHING
            )  # the last row was deleted, or this is an older moment of the store
        with self._lock:
            if last is None:
                self._broken.add(table)
            else:
                self._seen[table] = last
        return last is not None


def first_rows(
    source: str, parts: Sequence[Condition], rest: Condition, direction: str, limit: int, offset: int = 0
) -> Condition:
    """A query of the first rows that fulfil one of ``parts``, which exclude each other, and ``rest``, by the order of
    rows in ``direction``."""
    clause, params = rest
    # PostgreSQL plans a statement anew each time whose limit it does not know, which takes longer than the statement.
    first, last = ("?", "? OFFSET ?") if offset else (str(int(limit)), str(int(limit)))
    chosen = " UNION ALL ".join(
        f"SELECT * FROM (SELECT t.rowid AS place FROM {source} WHERE {part} AND {clause} "  # noqa: S608
        f"ORDER BY t.rowid {direction} LIMIT {first})"
        for part, _ in parts
    )
    bound = [value for _, own in parts for value in (*own, *params, *([limit + offset] if offset else []))]
    statement = f"SELECT place FROM ({chosen}) ORDER BY place {direction} LIMIT {last}"  # noqa: S608
    return statement, [*bound, *([limit, offset] if offset else [])]


def _followed(db: sqlite3.Connection, table: str, seen: Seen) -> Seen | None:
    """The last row, if the row seen is still there and all rows after it are in order."""
    # A part at a time: PostgreSQL does not know how few rows are new, and would rather read the whole table.
    query = f'SELECT rowid, created_at FROM "{table}" WHERE rowid >= ? ORDER BY rowid LIMIT {_AT_ONCE}'  # noqa: S608
    last = seen
    while True:
        rows = db.execute(query, [last[0]]).fetchall()
        if last is not _NOTHING and (not rows or rows[0] != last):
            return None
        if any(not before[1] < after[1] for before, after in pairwise(rows)):
            return None
        last = rows[-1] if rows else last
        if len(rows) < _AT_ONCE:
            return last
