"""``workbench upgrade`` for a store on PostgreSQL, whose backup is PostgreSQL's task.

As for a file each step is one transaction, and preparations are transactions of their own: a stopped upgrade goes on at
the next call. The upgrading process holds a lock of the schema, which PostgreSQL lets go when the process ends.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...errors import BadRequest, NotFound, StoreError
from .. import migrations
from ..db import row_checksums
from ..db.formats import State
from ..db.upgrade_plan import Plan, Progress
from ..migrations import Migration
from .database import Database

_LOCK_CLASS = 0x5743
"""Of the lock of an upgrade; that of a transaction is one less."""


def plan(place: str) -> Plan:
    """What `upgrade` would do with the store at an address; nothing is changed. Errors as opening it has."""
    with _opened(place) as store:
        return _planned(store, store.state())


def upgrade(place: str, *, backup: bool = True, progress: Progress | None = None) -> Plan:
    """Bring the store at an address to the format of this version; returns what was done.

    Parameters
    ----------
    backup : false says that PostgreSQL has a backup, or that none is wanted.

    Raises
    ------
    BadRequest
        If a step changes what is there and ``backup`` is true: says how PostgreSQL makes one.
    StoreError
        If another process is upgrading the store.
    """
    with _opened(place) as store, _alone(store):
        state = store.state()
        made = _planned(store, state)
        if backup and not state.is_additive:
            raise BadRequest(
                f"This upgrade changes what is in the store. {store.refuse_backup()} Then run "
                f"'workbench upgrade --no-backup --store {store.address}'."
            )
        report: Callable[[int, int, str], object] = progress or (lambda done, of, what: None)
        for number, step in enumerate(state.pending):
            report(number, len(state.pending), step.about)
            _take(store, step)
        report(len(state.pending), len(state.pending), "")
        return made


@contextmanager
def _opened(place: str) -> Iterator[Database]:
    store = Database(place)
    try:
        if not store.is_there():
            raise NotFound(f"There is no store at '{store.address}'.")
        yield store
    finally:
        store.close()
        store.connections.close()


def _planned(store: Database, state: State) -> Plan:
    steps = tuple(dict.fromkeys(step.about for step in state.pending))
    return Plan(str(store.address), state.format.number, migrations.FORMAT, steps, None, 0, 0)


@contextmanager
def _alone(store: Database) -> Iterator[None]:
    number = zlib.crc32(store.address.schema.encode()) - 2**31
    with store.extra() as raw:
        ((taken,),), _, _ = raw.ask(f"SELECT pg_try_advisory_lock({_LOCK_CLASS}, {number})", ())
        if not taken:
            raise StoreError(
                f"The store '{store.address}' is being upgraded by another process; wait until it is done."
            )
        yield


def _take(store: Database, step: Migration) -> None:
    """Run one step: its preparation in several transactions, then the step itself in one."""
    more = step.prepare is not None
    while more and step.prepare is not None:
        with store.connections.transaction() as db:
            more = step.prepare(db)
    with store.connections.transaction() as db:
        store.add([step])
        for table in row_checksums.TABLES:  # each has the column from the start
            row_checksums.keep(db, table, "crc IS NULL", [])
