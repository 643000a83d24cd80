"""The open file of a store: its connections, its transactions, its clock and its revisions.

Each part of a store (records, series, blobs) gets one of these and knows no other part.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Self, TypeVar

from ...errors import Damaged
from ...table import from_micros
from ..records.tables import SqlValue
from . import checksums, lease
from .connections import Connections
from .dialect import REVISIONS, Question, dialect_of
from .remembered import Size

T = TypeVar("T")


class Host:
    """One file at ``path``; any number of threads and processes may use it."""

    def __init__(self, path: Path, connections: Connections | None = None) -> None:
        self.path = path
        self.is_in_a_file = connections is None
        """Whether the store is a file of SQLite, not a schema of PostgreSQL."""
        self._connections = connections or Connections(path)

    @property
    def place(self) -> str:
        """Where the store is, for messages."""
        return str(self.path)

    @property
    def is_replaced(self) -> bool:
        """Whether another file took the place of the store since it was opened: then it has to be opened again."""
        return self._connections.is_replaced

    @property
    def unverified(self) -> bool:
        """Whether the records are still being checked for damage."""
        return False

    @property
    def is_changing(self) -> bool:
        """Whether this thread is in a transaction, so that it reads what nobody else can read yet."""
        return self._connections.is_writing

    def is_held(self, held: str, beat: int) -> bool:
        """Whether the process that took this lease may still be at work; ``beat`` is when it last wrote. Only one
        machine uses a file at a time, so that whoever was at work before this machine was started is gone."""
        return lease.is_held(held, beat, one_machine=self.is_in_a_file)

    def connection(self) -> sqlite3.Connection:
        """This thread's connection to read; inside a transaction, the one that sees its writes."""
        return self._connections.current()

    def execute(self, statement: str, params: Sequence[SqlValue] = ()) -> sqlite3.Cursor:
        """Run a query on this thread's connection; SQLite's errors leave it as StoreError or Damaged."""
        with self._connections.named():
            return self.connection().execute(statement, params)

    def execute_together(self, questions: Sequence[Question]) -> list[sqlite3.Cursor]:
        """As `execute`, of several queries. On PostgreSQL all are sent at once: one turn for all."""
        with self._connections.named():
            connection = self.connection()
            together = getattr(connection, "execute_together", None)
            if together is not None:
                answers: list[sqlite3.Cursor] = together(questions)
                return answers
            return [connection.execute(*question) for question in questions]

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """All reads of this thread inside see one moment of the store, with its revisions. Snapshots nest.

        SQLite's errors leave it as StoreError or Damaged.
        """
        return self._connections.snapshot()

    def reading(self, work: Callable[[], T]) -> T:
        """What ``work`` gives. It only reads and may be called twice. What it gets from `remembered` is of the store as
        it is now. On PostgreSQL nothing is asked again while the store is as it was, and all that ``work`` reads is of
        one moment, no earlier than now."""
        return self._connections.reading(work)

    def at_once(self, work: Callable[[], T]) -> T | None:
        """What ``work`` gives, if all that it wants to know is remembered of the store as it is now; else None. It
        waits for no disk and no network, so that an event loop may call it. ``work`` only reads, and gives no None."""
        return self._connections.at_once(work)

    def remembered(self, name: Hashable, make: Callable[[], T], size: Size[T] | None = None) -> T:
        """What ``make`` makes of what it reads, remembered inside `reading` while the store is as it was, unless it is
        None. Nobody may change it. A name stands for one kind of thing; ``size`` gives its bytes if it may be large."""
        return self._connections.remembered(name, make, size)

    def check_used(self, db: sqlite3.Connection, table: str, chosen: str, params: Sequence[SqlValue]) -> None:
        """While the records are being checked: compare those that an answer is made of with their checksums.

        ``chosen`` is a query of their ``rowid``.

        Raises
        ------
        Damaged
            Its text names the record.
        """
        if self.unverified:
            checksums.refuse_changed(db, table, chosen, params)

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Begin immediately, commit at the end, roll back on an error. Inside another transaction it joins that one."""
        return self._connections.transaction()

    def move_log(self) -> bool:
        """Move the log of SQLite into the file, so that a copy of the file alone is whole.

        It happens by itself a moment after the last write. False if somebody reads or writes now; nobody waits for it.
        """
        return self._connections.move_log()

    def clock(self, connection: sqlite3.Connection) -> datetime:
        """The time, UTC, in microseconds, later than any that this store gave before."""
        return from_micros(self.tick(connection))

    def tick(self, connection: sqlite3.Connection) -> int:
        """As ``clock``, in microseconds since 1970."""
        given = dialect_of(connection).next_time(connection, time.time_ns() // 1000)
        if given is None:
            raise Damaged(f"The store '{self.place}' has lost its clock; restore a backup.")
        return given

    def latest(self) -> int:
        """The last time that the clock gave: nothing was written later than that."""
        with self.snapshot() as connection:
            found = self._fact(connection, "clock")
        return 0 if found is None else int(found)

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
                present = getattr(connection, "present", None)
                known = dict(connection.execute(REVISIONS)) if present is None else present().revisions
            found |= {name: known[name] for name in found if name in known}
        return found

    def identity(self) -> str:
        """A text that no other store has, for example for the cache beside it."""
        with self.snapshot() as connection:
            found = self._fact(connection, "store")
        if found is None:
            raise Damaged(f"The store '{self.place}' has lost its name; restore a backup.")
        return str(found)

    def _fact(self, db: sqlite3.Connection, name: str) -> SqlValue:
        """A fact of the store; a snapshot of PostgreSQL has asked for all of them and for the revisions at once."""
        present = getattr(db, "present", None)
        if present is not None:
            found: SqlValue = present().facts.get(name)
            return found
        row = db.execute("select value from facts where name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def connection_count(self) -> int:
        """How many connections to the file this process has."""
        return self._connections.count()

    def close(self) -> None:
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
