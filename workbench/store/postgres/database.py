"""A schema of PostgreSQL as the place of a store: what opening, verify and backup do there instead of with a file."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from ...cached_property import cached_property
from ...errors import BadRequest, NotFound, StoreNotice, StoreTooOld
from .. import migrations
from ..db.connections import Connections, Transaction
from ..db.formats import (
    State,
    applied_to,
    may_not_write,
    opened_to_read,
    state_of_format,
    too_old,
    upgrade_notice,
    wrong_format,
)
from ..migrations import Migration
from .address import Address
from .connection import Connection
from .connections import PostgresConnections
from .declared import lacking
from .dialect import PostgresDialect
from .raw_connection import RawConnection
from .schema import add_formats, make_schema, make_tables, shapes
from .shared import SharedByServers
from .words import token_text

# A number of the cluster, one that rises when it comes back from a backup or from a standby, and those of the database
# and of the schema, which a copy of either does not have.
_WHERE = (
    "select s.system_identifier::text || ' ' || greatest(c.timeline_id, r.min_recovery_end_timeline)::text || ' ' || "
    "d.oid::text || ' ' || n.oid::text from pg_control_system() as s, pg_control_checkpoint() as c, "
    "pg_control_recovery() as r, pg_database as d, pg_namespace as n "
    "where d.datname = current_database() and n.nspname = ?"
)


class Database:
    """The schema of one store; any number of processes on any number of machines may use it."""

    def __init__(self, place: str) -> None:
        self.address = Address.of(place)
        self._connections = PostgresConnections(self.address, PostgresDialect(shapes()))
        self._only_read = False

    @cached_property
    def shared(self) -> SharedByServers | None:
        """What servers on several machines share; None if the store was opened to read."""
        if self._only_read:
            return None
        made = SharedByServers(self._connections)
        made.make()
        return made

    def close(self) -> None:
        """Close what is shared, if it was used. The connections of the store are closed by it."""
        made = self.__dict__.get("shared")
        if made is not None:
            made.close()

    @property
    def connections(self) -> Connections:
        """The connections as the store names them."""
        # They have what the store uses of those to a file, and its annotations name that class.
        return cast(Connections, self._connections)

    @property
    def side_path(self) -> Path:
        """Where this machine keeps what may be lost. Its folder is made."""
        path = self.address.side_path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path

    def open(self, *, create: bool, read_only: bool) -> bool:
        """Make the tables if there are none; whether the store may be written.

        Raises
        ------
        NotFound
            If there is no store and ``create`` is false.
        StoreError, StoreTooNew, StoreTooOld
            If the database cannot be reached or cannot hold a store, a newer workbench wrote it, or it is of an older
            one and is opened to read, or its new format does more than add.
        """
        if not self.is_there():
            if not create or read_only:
                raise NotFound(
                    f"There is no store at '{self.address}'. Make one with 'workbench ingest', or copy one there with "
                    "'workbench copy-store'."
                )
            self._make()
        with self._connections.snapshot() as db:
            state = self._state(db)
        if state.pending and (read_only or not state.is_additive):
            raise self._too_old(state)
        if state.pending:
            warnings.warn(upgrade_notice(state, str(self.address)), StoreNotice, stacklevel=5)
            self.add(state.pending)
        if read_only or state.only_read:
            refusal = (
                may_not_write(state, str(self.address)) if state.only_read else opened_to_read(str(self.address))
            )
            self._connections.only_read(refusal)
            self._only_read = True
            return False
        self._connections.on_new_tables = self._look_again
        return True

    def is_there(self) -> bool:
        """Whether the schema holds a store."""
        with self._connections.snapshot() as db:
            return db.has_tables()

    def state(self) -> State:
        """The format that the store has now, and the steps that it lacks."""
        with self._connections.snapshot() as db:
            return self._state(db)

    def _state(self, connection: Connection) -> State:
        db = _as_sqlite(connection)
        return state_of_format(db, applied_to(db), str(self.address))

    def _make(self) -> None:
        with self._connections.transaction() as db:
            if db.has_tables():  # another process may have been faster
                return
            make_schema(db.raw, self.address)
            make_tables(db)

    def add(self, steps: Sequence[Migration]) -> None:
        """Give the store those of these steps that it does not have, in one transaction."""
        with self._connections.transaction() as db:
            # Another process may have been faster.
            add_formats(db, tuple(one for one in self._state(db).pending if one in steps))

    def extra(self) -> RawConnection:
        """A connection beside those of the store; the caller closes it."""
        return self._connections.extra()

    def _too_old(self, state: State) -> StoreTooOld:
        if state.is_additive:
            return too_old(state, str(self.address))
        return StoreTooOld(
            f"The store '{self.address}' is of an older workbench (format {state.format.number}) and needs to be "
            f"upgraded to format {migrations.FORMAT}. Stop the servers on it, back it up by pg_dump, and run "
            f"'workbench upgrade --store {self.address}': see docs/how-to/postgresql.md."
        )

    def _look_again(self, connection: Connection) -> None:
        """Refuse to write if a newer workbench upgraded the store while it was open here."""
        state = self._state(connection)
        if state.only_read:
            raise may_not_write(state, str(self.address))

    def fingerprint(self, identity: str) -> str:
        """A fingerprint of the store in its schema: the same on every machine, however it writes the address. A copy of
        the schema, and one that PostgreSQL brought back to an earlier moment, has another one."""
        with self._connections.named():
            db = self._connections.current()
            (where,) = db.execute(_WHERE, (self.address.schema,)).fetchone()
        return hashlib.sha256(f"{identity} {where}".encode()).hexdigest()

    def refuse_backup(self) -> BadRequest:
        """The error about a backup: PostgreSQL makes it."""
        return BadRequest(
            f"The store '{self.address}' is backed up by PostgreSQL: pg_dump --format=custom "
            f"--schema={self.address.schema} DATABASE > FILE. It may be in use meanwhile. Samples that it keeps "
            "elsewhere are copied after that, within a day: see docs/how-to/postgresql.md."
        )

    def verify(self, ahead_seconds: int) -> list[str]:
        """What is wrong with the format, the facts and the words of the search, and which indexes, keys and links are
        missing, as sentences. Pages and what is in the indexes are looked into by PostgreSQL's own pg_amcheck."""
        with self._connections.snapshot() as connection:
            db = _as_sqlite(connection)
            findings = wrong_format(db)
            applied = applied_to(db)
            steps = tuple(step for step in migrations.MIGRATIONS if step.key in applied)
            findings += lacking(connection, self.address.schema, steps)
            facts = dict(db.execute("select name, value from facts"))
            findings += [
                f"the store's fact '{name}' is missing" for name in ("store", "clock") if name not in facts
            ]
            clock = facts.get("clock", 0)
            if not isinstance(clock, int) or clock > time.time_ns() // 1000 + ahead_seconds * 10**6:
                findings.append(f"the store's clock is at {clock}, in the future: times of new records are wrong")
            late = db.execute("select name from revisions where revision > ?", (clock,))
            findings += [f"the revision of '{name}' is later than the store's clock" for (name,) in late]
            rows = db.execute("select id, words, tokens from search_entries")
            return findings + [
                f"search does not know the words of '{id}'"
                for id, words, kept in rows
                if kept != token_text(words)
            ]


def _as_sqlite(db: Connection) -> Transaction:
    # It has what the functions of formats and records use of a connection to a file.
    return cast(Transaction, db)
