"""The cache file beside the store (side file): entries with checksums, and leases on entries that are being made.

All processes on a store share it, and none needs it: every failure is a miss, counted in ``Stats``.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from ...living_process import is_alive
from .leases import Leases

VERSION = 3
"""Rises with each change of the tables below. A side file of another version is replaced by a new one."""
LEASE_SECONDS = 10.0
SOON_SECONDS = 0.4
_SCHEMA = """
create table if not exists entries (
  kind text not null, key text not null, meta blob not null, size integer not null, checksum integer not null,
  data blob not null, primary key (kind, key)
);
create table if not exists uses (entry integer primary key, used integer not null, size integer not null);
create index if not exists entries_by_use on uses (used, entry, size);
create table if not exists amount (bytes integer not null);
insert into amount select 0 where not exists (select 1 from amount);
create trigger if not exists entry_in after insert on entries
  begin
    update amount set bytes = bytes + new.size;
    insert into uses values (new.rowid, 0, new.size);
  end;
create trigger if not exists entry_out after delete on entries
  begin
    update amount set bytes = bytes - old.size;
    delete from uses where entry = old.rowid;
  end;
create table if not exists leases (
  kind text not null, key text not null, owner text not null, until real not null, primary key (kind, key)
);
"""
_Answer = TypeVar("_Answer")


class Kept(NamedTuple):
    """An entry as it is kept: its bytes and its meta as JSON, so that a caller cannot change what others get."""

    data: bytes
    meta: bytes


@dataclass
class Stats:
    """Counts since the cache was opened. ``shared_hits`` were made on other machines; ``troubles`` are failures of the
    side file that became misses."""

    memory_hits: int = 0
    disk_hits: int = 0
    shared_hits: int = 0
    misses: int = 0
    damaged: int = 0
    troubles: int = 0
    last_trouble: str = ""


def weight(kept: tuple[Sized, bytes]) -> int:
    """The size of an entry in bytes, with an allowance for its row."""
    data, meta = kept
    return len(data) + len(meta) + 200


def checksum(kind: str, key: str, kept: Kept) -> int:
    """CRC-32 over place, meta and bytes: an entry under a wrong key is damaged too."""
    head = b"\0".join([kind.encode(), key.encode(), kept.meta])
    return zlib.crc32(kept.data, zlib.crc32(head))


class SideFile:
    """The level of the cache that processes share. Every failure is a miss; a damaged file is deleted."""

    def __init__(self, path: Path, most: int, stats: Stats) -> None:
        self._path = path
        self._most = most
        self._stats = stats
        self._idle: list[sqlite3.Connection] = []
        self._inherited: list[sqlite3.Connection] = []
        self._closed = False
        self._pid = os.getpid()
        self._identity: tuple[int, int, int] | None = None
        self._touched: set[tuple[str, str]] = set()
        self._writer: _Writer | None = None
        self._lock = threading.Lock()
        self.leases = Leases(self)

    def get(self, kind: str, key: str) -> Kept | None:
        def read(connection: sqlite3.Connection) -> tuple[bytes, bytes, int] | None:
            query = "select meta, data, checksum from entries where kind = ? and key = ?"
            row: tuple[bytes, bytes, int] | None = connection.execute(query, (kind, key)).fetchone()
            return row

        row = self.attempt(read, None)
        if row is None:
            return None
        if isinstance(row[0], bytes) and isinstance(row[1], bytes):
            kept = Kept(row[1], row[0])
            if checksum(kind, key, kept) == row[2]:
                self.touch(kind, key)
                return kept
        self._stats.damaged += 1
        self._remove(kind, key)
        return None

    def get_many(self, kind: str, keys: Sequence[str]) -> dict[str, Kept]:
        """The entries that are there, by key."""

        def read(connection: sqlite3.Connection) -> dict[str, tuple[bytes, bytes, int]]:
            query = "select meta, data, checksum from entries where kind = ? and key = ?"
            rows = {key: connection.execute(query, (kind, key)).fetchone() for key in keys}
            return {key: row for key, row in rows.items() if row is not None}

        found = {}
        empty: dict[str, tuple[bytes, bytes, int]] = {}
        for key, (meta, data, said) in self.attempt(read, empty).items():
            if isinstance(meta, bytes) and isinstance(data, bytes):
                kept = Kept(data, meta)
                if checksum(kind, key, kept) == said:
                    self.touch(kind, key)
                    found[key] = kept
                    continue
            self._stats.damaged += 1
            self._remove(kind, key)
        return found

    def touch(self, kind: str, key: str) -> None:
        """Remember the use; written with the next entry, so that a hit writes nothing."""
        if len(self._touched) < 10_000:
            self._touched.add((kind, key))

    def put(self, kind: str, key: str, kept: Kept) -> None:
        if weight(kept) > self._most // 4:
            self._remove(kind, key)
            return
        row = (kind, key, kept.meta, weight(kept), checksum(kind, key, kept), kept.data)

        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.execute("delete from entries where kind = ? and key = ?", (kind, key))
                connection.execute("insert into entries values (?, ?, ?, ?, ?, ?)", row)
                self._write_touched(connection, [(kind, key)])
                self._evict(connection)

        self.attempt(write, None)

    def put_many(self, kind: str, given: Mapping[str, Kept]) -> None:
        """As ``put``, of several entries in one transaction."""
        rows = [
            (kind, key, kept.meta, weight(kept), checksum(kind, key, kept), kept.data)
            for key, kept in given.items()
            if weight(kept) <= self._most // 4
        ]

        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                # Not `insert or replace`: it does not run the trigger that counts what is deleted.
                connection.executemany("delete from entries where kind = ? and key = ?", [row[:2] for row in rows])
                connection.executemany("insert into entries values (?, ?, ?, ?, ?, ?)", rows)
                self._write_touched(connection, [row[:2] for row in rows])
                self._evict(connection)

        if rows:
            self.attempt(write, None)

    def put_soon(self, kind: str, key: str, kept: Kept) -> None:
        """As ``put``, but in another thread a moment later. ``close`` and the end of the process wait for it."""
        self.later(lambda: self.put(kind, key, kept))

    def later(self, work: Callable[[], None]) -> None:
        """Do this in another thread a moment later. ``close`` and the end of the process wait for it."""
        with self._lock:
            if self._writer is None or self._writer.pid != os.getpid():  # a fork has no threads
                self._writer = _Writer()
            self._writer.later(work)

    def take_lease(self, kind: str, key: str, owner: str) -> bool:
        def is_free(connection: sqlite3.Connection) -> bool:
            query = "select owner, until from leases where kind = ? and key = ?"
            row = connection.execute(query, (kind, key)).fetchone()
            return row is None or row[1] <= time.time() or not _lives(row[0])

        def write(connection: sqlite3.Connection) -> bool:
            if not is_free(connection):
                return False
            with _transaction(connection):
                if not is_free(connection):
                    return False
                until = time.time() + LEASE_SECONDS
                connection.execute("insert or replace into leases values (?, ?, ?, ?)", (kind, key, owner, until))
                return True

        return self.attempt(write, True)

    def drop_lease(self, kind: str, key: str, owner: str) -> None:
        def write(connection: sqlite3.Connection) -> None:
            query = "delete from leases where kind = ? and key = ? and owner = ?"
            connection.execute(query, (kind, key, owner))

        self.attempt(write, None)

    def renew_leases(self, held: Sequence[tuple[str, str, str]]) -> None:
        until = time.time() + LEASE_SECONDS
        query = "update leases set until = ? where kind = ? and key = ? and owner = ?"
        self.attempt(partial(_write_many, query, [(until, *one) for one in held]), None)

    def clear(self) -> None:
        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.execute("delete from entries")

        self.attempt(write, None)

    def close(self) -> None:
        self.leases.stop()
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None and writer.pid == os.getpid():
            writer.close()
        with self._lock:
            self._closed = True  # what other threads have borrowed is closed when they give it back
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        if self._pid == os.getpid():  # after a fork they are of the parent, see `_borrow`
            for connection in self._idle:
                connection.close()

    def attempt(self, work: Callable[[sqlite3.Connection], _Answer], otherwise: _Answer) -> _Answer:
        """``work`` on a connection; ``otherwise`` if the side file fails."""
        try:
            connection = self._borrow()
        except (sqlite3.Error, OSError) as error:
            self._trouble(error)
            return otherwise
        try:
            answer = work(connection)
        except sqlite3.Error as error:
            connection.close()
            self._trouble(error)
            return otherwise
        except BaseException:  # whatever it is, the connection is in an unknown state
            connection.close()
            raise
        self._return(connection)
        return answer

    def _borrow(self) -> sqlite3.Connection:
        """A connection to the file that has the name now; the file may have been replaced since the last use."""
        with self._lock:
            identity = self._now()
            stale: list[sqlite3.Connection] = []
            if identity != self._identity or identity is None:
                stale, self._idle = self._idle, []
                if self._pid != os.getpid():
                    # After a fork these connections belong to the parent; closing them here could remove its locks.
                    self._inherited, stale = stale, []
                self._pid = os.getpid()
                self._identity = None
            connection = self._idle.pop() if self._idle else None
        for old in stale:
            with suppress(sqlite3.Error):
                old.close()
        return connection or self._open()

    def _now(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino, os.getpid()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("pragma page_size = 16384")
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = off")
            connection.execute("pragma journal_size_limit = 67108864")
            (made,) = connection.execute("select count(*) from sqlite_master where name = 'leases'").fetchone()
            if not made:
                with _transaction(connection):
                    for statement in _statements(_SCHEMA):
                        connection.execute(statement)
                    connection.execute(f"pragma user_version = {VERSION}")
            elif (found := connection.execute("pragma user_version").fetchone()[0]) != VERSION:
                raise sqlite3.DatabaseError(f"the side file is of version {found}, not {VERSION}")
        except sqlite3.Error:
            connection.close()
            raise
        with self._lock:
            if self._identity is None:
                self._identity = self._now()
        return connection

    def _return(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            same = self._identity is not None and self._identity == self._now()
            if same and not self._closed and len(self._idle) < 8:
                self._idle.append(connection)
                return
        connection.close()

    def _trouble(self, error: sqlite3.Error | OSError) -> None:
        self._stats.troubles += 1
        self._stats.last_trouble = str(error)
        if _is_broken(error):
            self._start_over()

    def _start_over(self) -> None:
        """Delete a damaged side file. Other processes use the deleted one until they look at the name again."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._identity = None
        for connection in idle:
            with suppress(sqlite3.Error):
                connection.close()
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(f"{self._path}{ending}")

    def _remove(self, kind: str, key: str) -> None:
        self.remove_many(kind, [key])

    def remove_many(self, kind: str, keys: Sequence[str]) -> None:
        """Drop these entries."""

        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                chosen = [(kind, key) for key in keys]
                connection.executemany("delete from entries where kind = ? and key = ?", chosen)

        self.attempt(write, None)

    def _write_touched(self, connection: sqlite3.Connection, new: Sequence[tuple[str, str]]) -> None:
        """Write what was used since the last entry, and what is new. It has a table of its own: to change a number in
        the row of an entry, SQLite writes all of its bytes again."""
        with self._lock:
            touched, self._touched = self._touched, set()
        now = time.time_ns()
        rows = [(now, kind, key) for kind, key in sorted({*touched, *new})]
        connection.executemany(
            "update uses set used = ? where entry = (select rowid from entries where kind = ? and key = ?)", rows
        )

    def _evict(self, connection: sqlite3.Connection) -> None:
        """If the bound is passed, drop the least recently used entries until nine tenths of it are left."""
        held = connection.execute("select bytes from amount").fetchone()[0]
        if held <= self._most:
            return
        surplus = held - self._most * 9 // 10
        dropped = []
        for rowid, size in connection.execute("select entry, size from uses order by used, entry"):
            dropped.append((rowid,))
            surplus -= size
            if surplus <= 0:
                break
        connection.executemany("delete from entries where rowid = ?", dropped)


class _Writer:
    """One thread for writes that can wait: each is done a moment after it was given, at once on ``close``."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._hurry = threading.Event()
        self._pool = ThreadPoolExecutor(1, "workbench cache")

    def later(self, write: Callable[[], None]) -> None:
        due = time.monotonic() + SOON_SECONDS

        def when_due() -> None:
            self._hurry.wait(due - time.monotonic())
            write()

        self._pool.submit(when_due)

    def close(self) -> None:
        self._hurry.set()
        self._pool.shutdown()


def _is_broken(error: Exception) -> bool:
    """True if the file itself is damaged; False if it is only busy, full or out of reach."""
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return True
    text = str(error)
    return any(
        sign in text for sign in ("malformed", "not a database", "no such table", "has no column", "disk I/O")
    )


def _statements(schema: str) -> Iterator[str]:
    part = ""
    for line in schema.splitlines(keepends=True):
        part += line
        if sqlite3.complete_statement(part):
            yield part
            part = ""


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("begin immediate")
    try:
        yield
    except BaseException:  # also an interrupt must not leave a transaction open
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    connection.execute("commit")


def _write_many(query: str, rows: list[tuple[float, str, str, str]], connection: sqlite3.Connection) -> None:
    with _transaction(connection):
        connection.executemany(query, rows)


def _lives(owner: str) -> bool:
    """False only if the owner is certainly gone: a process of this machine that does not exist any more."""
    host, pid, _ = owner.rsplit(":", 2)
    return host != socket.gethostname() or is_alive(int(pid))
