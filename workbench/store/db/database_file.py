"""The open file of a store: its connections, its transactions, its clock and its revisions.

Each part of a store (records, series, blobs) gets one of these and knows no other part.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Self

from ...errors import Damaged
from ...table import from_micros
from .connections import Connections


class Host:
    """One file at ``path``; any number of threads and processes may use it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connections = Connections(path)

    def connection(self) -> sqlite3.Connection:
        """This thread's connection to read; inside a transaction, the one that sees its writes."""
        return self._connections.current()

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """All reads of this thread inside see one moment of the store, with its revisions. Snapshots nest.

        SQLite's errors leave it as StoreError or Damaged.
        """
        return self._connections.snapshot()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Begin immediately, commit at the end, roll back on an error. Inside another transaction it joins that one."""
        return self._connections.transaction()

    def clock(self, connection: sqlite3.Connection) -> datetime:
        """The time, UTC, in microseconds, later than any that this store gave before."""
        return from_micros(self.tick(connection))

    def tick(self, connection: sqlite3.Connection) -> int:
        """As ``clock``, in microseconds since 1970."""
        now = time.time_ns() // 1000
        row = connection.execute(
            "update facts set value = max(value + 1, ?) where name = 'clock' returning value", (now,)
        ).fetchone()
        if row is None:
            raise Damaged(f"The store '{self.path}' has lost its clock; restore a backup.")
        return int(row[0])

    def bump(self, connection: sqlite3.Connection, *tables: str) -> None:
        """Raise the revision of ``tables`` inside a transaction.

        A revision is a time of the store's clock. So none is ever used twice, also after a deletion or after an
        older copy of the file took its place.
        """
        tick = self.tick(connection)
        connection.executemany(
            "insert into revisions (name, revision) values (?, ?) "
            "on conflict do update set revision = excluded.revision",
            [(name, tick) for name in tables],
        )

    def row_revisions(self, tables: Iterable[str]) -> dict[str, int]:
        """The present revision of each table, 0 if there never was one."""
        found = dict.fromkeys(tables, 0)
        if found:
            with self.snapshot() as connection:
                known = dict(connection.execute("select name, revision from revisions"))
            found |= {name: known[name] for name in found if name in known}
        return found

    def identity(self) -> str:
        """A text that no other store has, for example for the cache beside it."""
        with self.snapshot() as connection:
            row = connection.execute("select value from facts where name = 'store'").fetchone()
        if row is None:
            raise Damaged(f"The store '{self.path}' has lost its name; restore a backup.")
        return str(row[0])

    def close(self) -> None:
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
