"""A store: one SQLite file with records, series, summaries and pieces, and the revisions that keep caches honest."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

from sqlite_utils import Database

from ..errors import Conflict, Damaged, NotFound, StoreError
from ..table import from_micros
from . import migrations
from .connections import Connections, named
from .people import People
from .pieces import Pieces
from .rows import Rows
from .scope import Scope
from .series import Series
from .soundness import check_rows
from .uploads import Uploads

__all__ = ["Scope", "Store"]

_MAGIC = b"SQLite format 3\0"


class Store:
    """One workbench store; any number of threads and processes may use the same file.

    >>> store = Store.open("lab.wb")                                          # doctest: +SKIP
    >>> with store.transaction() as connection:                               # doctest: +SKIP
    ...     store.bump(connection, "measurements")
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connections = Connections(path)
        self.rows = Rows(self)
        self.series = Series(self)
        self.pieces = Pieces(self)
        self.people = People(self)
        self.uploads = Uploads(self)

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True) -> Store:
        """The store at ``path``, brought up to date; what a killed writer left unpublished is swept.

        Raises
        ------
        NotFound
            If there is none and ``create`` is false.
        StoreError, StoreTooNew
            If the file is no store, cannot be reached, or a newer workbench wrote it.
        """
        _check_sqlite()
        try:
            place = _checked(Path(path), create=create)
        except (OSError, ValueError) as error:  # forbidden, a name that is too long, a null character
            raise StoreError(f"The store '{path}' cannot be reached: {error}.") from error
        store = cls(place)
        try:
            store._prepare()
        except BaseException:
            store.close()
            raise
        return store

    def _prepare(self) -> None:
        with self.snapshot() as connection:
            migrations.recognise(connection, self.path)
            ready = not migrations.pending(connection)
        if not ready:
            with self.transaction() as connection:
                migrations.recognise(connection, self.path)
                migrations.migrate(connection)
                connection.execute(
                    "insert or ignore into facts (name, value) values ('store', ?), ('clock', 0)",
                    (uuid.uuid4().hex,),
                )
        try:
            self.series.sweep()
            self.pieces.tidy()
        except StoreError as error:
            # Who only wants to read needs no sweep: where nothing can be written now, a later opener does it.
            if isinstance(error, Damaged):
                raise

    def connection(self) -> sqlite3.Connection:
        """This thread's connection, for reading; inside a transaction the one that sees its writes."""
        return self._connections.current()

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """All reads of this thread inside see one moment of the store, revisions included; nests.

        SQLite's errors leave it as StoreError or Damaged.
        """
        return self._connections.snapshot()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Begin immediately, commit at the end, roll back on an error; inside another one it joins that."""
        return self._connections.transaction()

    def database(self) -> Database:
        """This thread's connection as a sqlite-utils database."""
        return Database(self.connection())

    def clock(self, connection: sqlite3.Connection) -> datetime:
        """The time, UTC, in microseconds, strictly later than any this store gave before."""
        return from_micros(self.tick(connection))

    def tick(self, connection: sqlite3.Connection) -> int:
        """As ``clock``, in microseconds since 1970."""
        now = time.time_ns() // 1000
        row = connection.execute(
            "update facts set value = max(value + 1, ?) where name = 'clock' returning value", (now,)
        ).fetchone()
        return int(row[0])

    def bump(self, connection: sqlite3.Connection, *tables: str) -> None:
        """Raise the revision of ``tables`` inside a transaction.

        A revision is a reading of the store's clock, so that none ever comes back, not after a deletion and
        not after an older copy of the file was put in place.
        """
        tick = self.tick(connection)
        connection.executemany(
            "insert into revisions (name, revision) values (?, ?) "
            "on conflict do update set revision = excluded.revision",
            [(name, tick) for name in tables],
        )

    def revisions(
        self, tables: Iterable[str] = (), series: Iterable[tuple[str, str]] = ()
    ) -> dict[tuple[str, ...], int]:
        """The present revisions: ``("rows", table)`` and ``("series", owner, dataset)`` to a number, 0 if there
        never was one."""
        wanted = list(tables)
        found: dict[tuple[str, ...], int] = {("rows", name): 0 for name in wanted}
        with self.snapshot() as connection:
            if wanted:
                for name, revision in connection.execute("select name, revision from revisions"):
                    if ("rows", name) in found:
                        found["rows", name] = revision
            found.update(self.series.revisions(series))
        return found

    def identity(self) -> str:
        """A text that names this store and no other, for instance in a cache beside it."""
        return str(self.connection().execute("select value from facts where name = 'store'").fetchone()[0])

    def backup(self, destination: str | Path) -> None:
        """Copy the whole store to a new file while it is in use; the copy is one moment of it.

        Raises
        ------
        Conflict
            If ``destination`` exists.
        """
        place = Path(destination)
        if place.exists():
            raise Conflict(f"'{place}' exists already; give a new name for the backup.")
        partial = place.with_name(place.name + ".partial")
        partial.unlink(missing_ok=True)
        try:
            with named(partial):
                copy = sqlite3.connect(partial)
                try:
                    with self.snapshot() as connection:
                        connection.backup(copy)
                    copy.execute("pragma journal_mode = delete")
                finally:
                    copy.close()
            partial.rename(place)
        finally:
            partial.unlink(missing_ok=True)

    def verify(self) -> list[str]:
        """Everything wrong with the file, as sentences; empty if it is sound.

        Checks SQLite's pages, indexes and links, every record, and each chunk, summary and piece by checksum.
        """
        findings: list[str] = []
        checks = [self._verify_file, self._verify_rows, self.series.verify, self.pieces.verify]
        for check in checks:
            try:
                with self.snapshot():
                    findings += check()
            except StoreError as error:
                findings.append(str(error))
        return findings

    def _verify_file(self) -> list[str]:
        connection = self.connection()
        findings = [f"SQLite: {row[0]}" for row in connection.execute("pragma integrity_check") if row[0] != "ok"]
        facts = dict(connection.execute("select name, value from facts"))
        findings += [f"the store's fact '{name}' is missing" for name in ("store", "clock") if name not in facts]
        for table, row, parent, _ in connection.execute("pragma foreign_key_check"):
            findings.append(f"row {row} of '{table}' refers to a row of '{parent}' that is not there")
        return findings

    def _verify_rows(self) -> list[str]:
        return check_rows(self.connection())

    def close(self) -> None:
        self._connections.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked(place: Path, *, create: bool) -> Path:
    """The whole path of a store, or of one that may be made there; an empty file counts as none."""
    there = place.exists()
    if there:
        _check_header(place)
    elif create and not place.parent.is_dir():
        raise NotFound(f"There is no folder '{place.parent}' to make the store in.")
    if not create and not (there and place.stat().st_size):
        raise NotFound(f"There is no store at '{place}'. Make one with 'workbench demo' or 'workbench ingest'.")
    return place.resolve()


def _check_header(place: Path) -> None:
    if not place.is_file():
        raise StoreError(
            f"'{place}' is {'a folder' if place.is_dir() else 'no ordinary file'}; a store is one file."
        )
    with place.open("rb") as file:
        start = file.read(len(_MAGIC))
    if start and start != _MAGIC:
        raise StoreError(f"'{place}' is no SQLite file: no workbench store, or its first bytes are damaged.")


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < (3, 38):
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old; the store needs 3.38 or later.")
    probe = sqlite3.connect(":memory:")
    try:
        probe.execute("create virtual table probe using fts5(words, tokenize = 'trigram')")
    except sqlite3.OperationalError as error:
        raise StoreError("This SQLite lacks FTS5 with the trigram tokenizer, which search needs.") from error
    finally:
        probe.close()
