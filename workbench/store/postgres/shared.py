"""What servers on several machines share, in tables beside those of the store: see `store.shared`.

The format of the store does not name these tables: a store in a file has none, and what is in them is of no use in a
copy. They are written on a connection of their own, without the lock that lets one process at a time write the store.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import psycopg

from ...errors import StoreError
from ..cache.disk import Kept, checksum, weight
from ..cache.leases import Leases
from ..db.dialect import SqlValue
from .connections import PostgresConnections
from .raw_connection import RawConnection

LEASE_SECONDS = 10
"""How long others wait for a server that was killed while it made an entry."""
MOST_BYTES = 512 << 20
"""Bytes of entries that are kept. The oldest go first."""
LARGEST = 16 << 20
"""An entry of more bytes is not shared."""
_EVICT_EVERY = 32
_TIDY_EVERY = 500
_FIRST = "server_notes"
_LOCK_OFFSET = 0x5743 << 32
"""Makes the lock of who makes the tables another one than that of who writes the store."""
_TABLES = """
CREATE UNLOGGED TABLE server_entries (kind text, key text, meta bytea NOT NULL, data bytea NOT NULL,
    checksum bigint NOT NULL, size bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (kind, key));
ALTER TABLE server_entries ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE UNLOGGED TABLE server_leases (kind text, key text, owner text NOT NULL, until timestamptz NOT NULL,
    PRIMARY KEY (kind, key));
CREATE UNLOGGED TABLE server_rates (key text PRIMARY KEY, tokens float8 NOT NULL, granted bigint NOT NULL,
    at timestamptz NOT NULL);
CREATE TABLE server_notes (kind text, key text, value bytea NOT NULL, at timestamptz NOT NULL, PRIMARY KEY (kind, key))
"""
_TIDY = (
    "DELETE FROM server_notes WHERE at < clock_timestamp() - interval '2 days'",
    "DELETE FROM server_rates WHERE at < clock_timestamp() - interval '1 hour'",
    "DELETE FROM server_leases WHERE until < clock_timestamp() - interval '1 hour'",
)
_UNTIL = f"clock_timestamp() + interval '{LEASE_SECONDS} s'"
_FREE = "least($2, r.tokens + extract(epoch FROM clock_timestamp() - r.at) * $3)"
_EVICT = """
    DELETE FROM server_entries USING (
        SELECT kind, key, sum(size) OVER (ORDER BY at DESC, kind, key) AS held FROM server_entries
    ) AS old WHERE old.held > $1 AND server_entries.kind = old.kind AND server_entries.key = old.key
"""


class SharedByServers:
    """The tables of one store, for one process."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self._raw: RawConnection | None = None
        self._pid = 0
        self._lock = threading.Lock()
        self._kept = self._grants = 0
        self.leases = Leases(self)

    def make(self) -> None:
        """Make the tables if there are none, and delete what nobody asks for any more. They are there at once, also
        inside a transaction of the store.

        Raises
        ------
        StoreError
            If the user may not make them.
        """
        schema = self._connections.address.schema
        with self._connections.named():
            raw = self._connected()
            raw.run(b"BEGIN")
            try:
                raw.ask("SELECT pg_advisory_xact_lock($1)", (zlib.crc32(schema.encode()) + _LOCK_OFFSET,))
                ((found,),), _, _ = raw.ask("SELECT to_regclass($1) IS NOT NULL", (f"{schema}.{_FIRST}",))
                if not found:
                    raw.run(_TABLES.encode())
                for statement in _TIDY:
                    raw.run(statement.encode())
                raw.run(b"COMMIT")
            except BaseException:  # whatever it is, a transaction must not stay open
                raw.close()
                raise

    def _ask(self, statement: str, params: Sequence[SqlValue]) -> list[tuple[Any, ...]]:
        """The rows of a statement, which is tried again once if the connection was lost."""
        for is_last in (False, True):
            raw = self._connected()
            try:
                rows, _, _ = raw.ask(statement, params)
            except (psycopg.OperationalError, psycopg.InterfaceError):
                raw.close()
                if is_last:
                    raise
            else:
                return rows
        raise AssertionError("the last try returns or raises")

    def _connected(self) -> RawConnection:
        with self._lock:
            if self._raw is None or self._raw.closed or self._pid != os.getpid():
                self._raw, self._pid = self._connections.extra(), os.getpid()
            return self._raw

    def close(self) -> None:
        self.leases.stop()
        with self._lock:
            if self._raw is not None and self._pid == os.getpid():
                self._raw.close()
            self._raw = None

    # Entries

    def entry(self, kind: str, key: str) -> Kept | None:
        rows: list[tuple[Any, ...]] = []
        with suppress(psycopg.Error, StoreError):
            query = "SELECT meta, data, checksum FROM server_entries WHERE kind = $1 AND key = $2"
            rows = self._ask(query, (kind, key))
        for meta, data, said in rows:
            kept = Kept(bytes(data), bytes(meta))
            if checksum(kind, key, kept) == said:
                return kept
        return None

    def keep_entry(self, kind: str, key: str, kept: Kept) -> None:
        size = weight(kept)
        if size > LARGEST:
            return
        query = (
            "INSERT INTO server_entries (kind, key, meta, data, checksum, size) VALUES ($1, $2, $3, $4, $5, $6) "
            "ON CONFLICT (kind, key) DO UPDATE SET meta = excluded.meta, data = excluded.data, "
            "checksum = excluded.checksum, size = excluded.size, at = excluded.at"
        )
        with suppress(psycopg.Error, StoreError):
            self._ask(query, (kind, key, kept.meta, kept.data, checksum(kind, key, kept), size))
            self._kept += 1
            if self._kept % _EVICT_EVERY == 1:
                self._ask(_EVICT, (MOST_BYTES,))

    # Leases

    def take_lease(self, kind: str, key: str, owner: str) -> bool:
        query = (
            f"INSERT INTO server_leases AS l (kind, key, owner, until) VALUES ($1, $2, $3, {_UNTIL}) "  # noqa: S608
            "ON CONFLICT (kind, key) DO UPDATE SET owner = excluded.owner, until = excluded.until "
            "WHERE l.until < clock_timestamp() RETURNING 1"
        )
        with suppress(psycopg.Error, StoreError):
            return bool(self._ask(query, (kind, key, owner)))
        return True

    def drop_lease(self, kind: str, key: str, owner: str) -> None:
        with suppress(psycopg.Error, StoreError):
            query = "DELETE FROM server_leases WHERE kind = $1 AND key = $2 AND owner = $3"
            self._ask(query, (kind, key, owner))

    def renew_leases(self, held: Sequence[tuple[str, str, str]]) -> None:
        query = f"UPDATE server_leases SET until = {_UNTIL} WHERE kind = $1 AND key = $2 AND owner = $3"  # noqa: S608
        with suppress(psycopg.Error, StoreError):
            for one in held:
                self._ask(query, one)

    # Rates

    def grant(self, key: str, per_second: float, burst: int, wanted: int) -> int | None:
        query = (
            "INSERT INTO server_rates AS r (key, tokens, granted, at) "  # noqa: S608
            "VALUES ($1, $2 - least($4, $2), least($4, $2), clock_timestamp()) ON CONFLICT (key) DO UPDATE SET "
            f"granted = least($4, floor({_FREE})), tokens = {_FREE} - least($4, floor({_FREE})), "
            "at = clock_timestamp() RETURNING granted"
        )
        with suppress(psycopg.Error, StoreError):
            self._grants += 1
            if self._grants % _TIDY_EVERY == 0:
                for statement in _TIDY:
                    self._ask(statement, ())
            ((granted,),) = self._ask(query, (key, float(burst), float(per_second), float(wanted)))
            return int(granted)
        return None

    # Notes

    def note(self, kind: str, key: str, value: bytes) -> None:
        query = (
            "INSERT INTO server_notes (kind, key, value, at) VALUES ($1, $2, $3, clock_timestamp()) "
            "ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value, at = excluded.at"
        )
        with self._connections.named():
            self._ask(query, (kind, key, value))

    def noted(self, kind: str, key: str) -> bytes | None:
        return self._value("SELECT value FROM server_notes WHERE kind = $1 AND key = $2", kind, key)

    def take_note(self, kind: str, key: str) -> bytes | None:
        return self._value("DELETE FROM server_notes WHERE kind = $1 AND key = $2 RETURNING value", kind, key)

    def _value(self, query: str, kind: str, key: str) -> bytes | None:
        with self._connections.named():
            rows = self._ask(query, (kind, key))
        return bytes(rows[0][0]) if rows else None
