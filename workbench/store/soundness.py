"""Whether the tables of a store are as they were written, so that no answer is made of damaged rows or indexes.

Samples, the rows of series and the bytes of files are checked on every read (`series.layout`, `series.chunks`,
`files.blobs`). All other tables are small, and are checked when the store is opened: their pages and indexes by SQLite,
their links, each record by its checksum, the search against what it indexes, and rows without a checksum by reading
them. A store with many rows is checked in a
thread; until that ends, rows that are read are compared with their checksums, and answers say that they are not
verified.

A damaged table is not read any more: whatever needs it gets the error that names the damage.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice

from ..errors import Damaged, StoreError
from ..records import KINDS
from .db import checksums, row_checksums, unsummed
from .db.connections import Connections
from .db.formats import wrong_format
from .records import search

MOST_ROWS = 5000
"""A store with more rows, without samples and bytes of files, is checked in a thread."""
BULK = ("chunks", "pieces")
"""Tables whose rows are checked whenever they are read."""
SHOWN = 3
PAUSE = 0.002
"""Seconds between two tables, and between parts of a large one, in which other threads run."""
_INDEXES = ("search_names", "search_words")
_SHADOWS = ("config", "data", "docsize", "idx")

Findings = dict[str, list[str]]
"""Table -> sentences about what is damaged in it."""


def is_small(db: sqlite3.Connection) -> bool:
    """Whether the store has so few rows that checking them delays nobody."""
    left = MOST_ROWS
    for table in _tables(db):
        query = f'SELECT count(*) FROM (SELECT 1 FROM "{table}" LIMIT ?)'  # noqa: S608
        left -= db.execute(query, [left + 1]).fetchone()[0]
        if left < 0:
            return False
    return True


def check(db: sqlite3.Connection) -> Findings:
    """What is damaged in the tables of a store, without samples and bytes of files."""
    made: Findings = {}
    for job in _jobs(db):
        table, found = job(db)
        if found:
            made.setdefault(table, []).extend(found)
    return made


def texts(found: Findings, path: str) -> dict[str, str]:
    """Table -> the text of the error for who reads it."""
    made = {}
    for table, sentences in found.items():
        more = f"; and {len(sentences) - SHOWN} more" if len(sentences) > SHOWN else ""
        made[table] = f"The store '{path}' is damaged: {'; '.join(sentences[:SHOWN])}{more}. {checksums.ADVICE}"
    return made


class BackgroundCheck:
    """Checks a store in a thread, table by table, and refuses the tables that are damaged. It ends by itself."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._stopped = threading.Event()
        self._ended = False
        self._used: sqlite3.Connection | None = None
        self._thread = self._started()

    @property
    def is_running(self) -> bool:
        """Whether the check has not ended yet. Where its thread is gone, as in a forked process, it begins again."""
        if not self._ended and not self._stopped.is_set() and not self._thread.is_alive():
            self._thread = self._started()
        return not self._ended

    def stop(self) -> None:
        """Stop the check, in the middle of a table too."""
        self._stopped.set()
        used = self._used
        if used is not None:
            with suppress(sqlite3.ProgrammingError):  # its thread has just closed it
                used.interrupt()
        self.wait(None)

    def wait(self, seconds: float | None) -> None:
        """Wait until the check has ended."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _started(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="workbench-check", daemon=True)
        with suppress(RuntimeError):  # the system gives no more threads now: the next answer tries again
            thread.start()
        return thread

    def _run(self) -> None:
        try:
            with self._connections.all_tables():
                with self._connections.snapshot() as db:
                    self._used = db
                    jobs = [*_jobs(db)]
                for job in jobs:
                    # Each has its own snapshot, so that the log can be moved meanwhile.
                    with self._connections.snapshot() as db:
                        table, found = job(db, self._stopped)
                    if found:
                        self._connections.refuse_tables(texts({table: found}, str(self._connections.path)))
                    if self._stopped.wait(PAUSE):
                        return
            self._ended = True
        except _Stopped:
            return
        except StoreError:
            # Stopped, moved or replaced: whoever uses the store next gets the error.
            return
        finally:
            self._used = None


class _Stopped(Exception):
    """Ends a check that nobody needs any more."""


class _Job:
    """One check of one table."""

    def __init__(self, table: str, find: Callable[[sqlite3.Connection], Iterable[str]]) -> None:
        self.table, self._find = table, find

    def __call__(self, db: sqlite3.Connection, stopped: threading.Event | None = None) -> tuple[str, list[str]]:
        found: list[str] = []
        try:
            sentences = iter(self._find(db))
            while part := [*islice(sentences, 100)]:
                found += part
                if stopped is not None and stopped.wait(PAUSE):
                    raise _Stopped
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_INTERRUPT")):
                raise
            found.append(f"the table '{self.table}' cannot be read ({error})")
        except (sqlite3.DatabaseError, Damaged, UnicodeDecodeError) as error:
            found.append(f"the table '{self.table}' cannot be read ({error})")
        return self.table, found


def _jobs(db: sqlite3.Connection) -> Iterator[_Job]:
    for table in _tables(db):
        of = next((index for index in _INDEXES if table in {f"{index}_{end}" for end in _SHADOWS}), table)
        yield _Job(of, partial(_pages, table=table))
    for table in (*KINDS, *checksums.FURTHER, *checksums.later(db)):
        yield _Job(table, partial(checksums.check, table=table))
    for table in row_checksums.TABLES:
        yield _Job(table, partial(row_checksums.check, table=table))
    for table in unsummed.tables(db):
        yield _Job(table, partial(unsummed.check, table=table))
    yield _Job("contents", _contents)
    yield _Job("search_entries", search.check)
    yield _Job("facts", wrong_format)
    for index in _INDEXES:
        yield _Job(index, partial(search.check_copy, index=index))


def _tables(db: sqlite3.Connection) -> list[str]:
    query = (
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql NOT LIKE 'create virtual%' "
        "AND name NOT LIKE 'sqlite@_%' ESCAPE '@'"
    )
    return [name for (name,) in db.execute(query) if name not in BULK]


def _pages(db: sqlite3.Connection, table: str) -> Iterator[str]:
    """What SQLite finds in the pages and indexes of a table, and links that lead nowhere."""
    for (text,) in db.execute(f'PRAGMA main.integrity_check("{table}")'):
        if text != "ok":
            yield f"in the table '{table}', {text}"
    for _, row, parent, _ in db.execute(f'PRAGMA main.foreign_key_check("{table}")'):
        yield f"row {row} of '{table}' refers to a row of '{parent}' that is not there"


def _contents(db: sqlite3.Connection) -> Iterator[str]:
    query = (
        "SELECT hash FROM contents WHERE size > 0 "
        "AND NOT EXISTS (SELECT 1 FROM pieces WHERE pieces.hash = contents.hash AND start = 0)"
    )
    for (name,) in db.execute(query):
        yield f"the bytes of the file '{name}' are not there"
