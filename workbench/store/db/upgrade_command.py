"""``workbench upgrade``: backs up a store of an older format and runs the migrations that it does not have.

Each step is one transaction. So a stopped upgrade leaves a store of an old or a new format, and the next call goes
on. The upgrading process holds a lease in the store, so that only one works at a time.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import orjson

from ...environment import is_address
from ...errors import Damaged, StoreError
from .. import migrations
from ..migrations import Migration
from ..store import check_sqlite, checked_path, no_store
from . import lease, row_checksums
from .backup import backup as copy_to
from .backup import remove
from .database_file import Host
from .facts import set_fact
from .formats import State, apply, state_of
from .schema import refuse_wrong_tables
from .upgrade_plan import Plan, Progress, refuse_full_disk

ADDED = 16 << 20
"""Bytes that an additive step needs."""
_FACT = "upgrade"


class _Begun(NamedTuple):
    """What an upgrade notes in the store while it is under way."""

    lease: str | None
    beat: int
    backup: str | None


def plan(path: str | Path, *, backup: bool = True) -> Plan:
    """What `upgrade` would do with the store at ``path``, a file or an address; nothing is changed.

    Raises
    ------
    StoreError, StoreTooNew, NotFound, Damaged
        As opening it does.
    """
    if is_address(path):
        from ..postgres import upgrading

        return upgrading.plan(str(path))
    with _opened(path) as store:
        return _planned(store, _state(store), backup)


def upgrade(path: str | Path, *, backup: bool = True, progress: Progress | None = None) -> Plan:
    """Bring the store at ``path`` to the format of this version; returns what was done.

    Parameters
    ----------
    backup : copy the store first, to a file beside it. PostgreSQL does that itself: False says that it did.
    progress : is called as the upgrade proceeds.

    Raises
    ------
    StoreError
        If the disk has not enough room, or another process is upgrading the store. The store is then unchanged.
    BadRequest
        If the store is on PostgreSQL, a step changes what is there, and ``backup`` is true: says how to make one.
    """
    if is_address(path):
        from ..postgres import upgrading

        return upgrading.upgrade(str(path), backup=backup, progress=progress)
    with _opened(path) as store:
        state = _state(store)
        if not state.pending:
            return _planned(store, state, backup)
        refuse_full_disk(store.path)
        with store.transaction() as db:
            pass
        # A step may make a table again that links lead to; the links are checked after the step.
        db.execute("pragma foreign_keys = off")
        with _lease(store) as begun:
            state = _state(store)  # another process may have changed it until now
            report = _reporter(progress, len(state.pending) + 1)
            made = _backed_up(store, _planned(store, state, backup and begun.backup is None), begun, report)
            for place, step in enumerate(state.pending):
                report(place + 1, step.about)
                _take(store, step)
            with store.transaction() as db:
                refuse_wrong_tables(db, state_of(db, store.path), store.path)
                db.execute("delete from facts where name = ?", (_FACT,))
            report(len(state.pending) + 1, "")
        store.move_log()
        return made


@contextmanager
def _opened(path: str | Path) -> Iterator[Host]:
    check_sqlite()
    store = Host(checked_path(Path(path), create=False))
    try:
        yield store
    finally:
        store.close()


def _state(store: Host) -> State:
    with store.snapshot() as db:
        state = state_of(db, store.path)
        if state.is_new:
            raise no_store(store.path)
        refuse_wrong_tables(db, state, store.path)
    return state


def _planned(store: Host, state: State, backup: bool) -> Plan:
    path = store.path
    steps = tuple(dict.fromkeys(step.about for step in state.pending))
    with store.snapshot() as db:
        (size,) = db.execute("select page_count * page_size from pragma_page_count, pragma_page_size").fetchone()
    place = _free_name(path, state.format.number) if backup and steps else None
    needs = (size if place else 0) + (ADDED if state.is_additive else size)
    free = shutil.disk_usage(path.parent).free
    return Plan(path, state.format.number, migrations.FORMAT, steps, place, needs if steps else 0, free)


def _free_name(path: Path, format: int) -> Path:
    """A name beside the store that no file has."""
    names = (
        f"{path.stem}.format-{format}{more}{path.suffix}" for more in ("", *(f"-{n}" for n in range(2, 10_000)))
    )
    return next(place for name in names if not (place := path.with_name(name)).exists())


def _reporter(progress: Progress | None, of: int) -> Callable[[int, str], None]:
    def report(done: int, what: str) -> None:
        if progress is not None:
            progress(done, of, what)

    return report


def _backed_up(store: Host, made: Plan, begun: _Begun, report: Callable[[int, str], None]) -> Plan:
    """Copy the store, unless a stopped upgrade did so already; refuse if there is no room."""
    _refuse_without_room(made)
    if made.backup is None:
        return made if begun.backup is None else replace(made, backup=Path(begun.backup))
    for partial in made.backup.parent.glob(f"{made.backup.name}.*.partial"):
        remove(partial)  # left by a killed upgrade; nobody else can be writing it: this one holds the lease
    with store.transaction() as db:
        _note(db, begun._replace(backup=str(made.backup)))
    copy_to(store, made.backup, lambda part: report(0, f"Backup to {made.backup}: {part:.0%}"))
    return made


def _is_of_now(db: sqlite3.Connection, copy: str | None) -> bool:
    """Whether a backup exists, is complete, and has the clock of the store: nothing was written since."""
    if copy is None or not Path(copy).exists():
        return False
    clock = "select value from facts where name = 'clock'"
    try:
        with closing(sqlite3.connect(copy)) as other:
            same: bool = other.execute(clock).fetchone() == db.execute(clock).fetchone()
            return same
    except sqlite3.Error:
        return False


def _refuse_without_room(made: Plan) -> None:
    if made.free < made.needs:
        without = " Without a backup (--no-backup) it needs less." if made.backup is not None else ""
        raise StoreError(
            f"The upgrade of '{made.path}' needs {made.needs / 1e9:.2f} GB in its folder, and {made.free / 1e9:.2f} GB "
            f"are free. Make room and run it again.{without}"
        )


def _take(store: Host, step: Migration) -> None:
    """Run one step: its preparation in several transactions, then the step itself in one."""
    more = step.prepare is not None
    while more and step.prepare is not None:
        with store.transaction() as db:
            more = step.prepare(db)
    with store.transaction() as db:
        # Who opens the store meanwhile takes steps that only add.
        apply(db, [one for one in state_of(db, store.path).pending if one is step])
        row_checksums.fill(db)
        if (lost := db.execute("pragma foreign_key_check").fetchone()) is not None:
            table, row, parent, _ = lost
            raise Damaged(
                f"The upgrade of '{store.path}' stopped: row {row} of '{table}' refers to one of '{parent}' that is "
                "not there. The store is as it was before this step. Run 'workbench verify'."
            )


@contextmanager
def _lease(store: Host) -> Iterator[_Begun]:
    """Keep others from upgrading meanwhile. Gives what a stopped upgrade did already.

    Raises
    ------
    StoreError
        If another process is upgrading the store.
    """
    with store.transaction() as db:
        before = _begun(db)
        if before.lease is not None and store.is_held(before.lease, before.beat):
            raise StoreError(
                f"The store '{store.path}' is being upgraded by another process; wait until it is done."
            )
        kept = before.backup if _is_of_now(db, before.backup) else None
        begun = _Begun(lease.take(), time.time_ns() // 1000, kept)
        _note(db, begun)
    try:
        yield begun
    except BaseException:
        # Also when interrupted, others must be able to upgrade. The first error is the one to show; a lease that
        # stays ends with this process.
        with suppress(StoreError), store.transaction() as db:
            _note(db, _begun(db)._replace(lease=None))
        raise


def _begun(db: sqlite3.Connection) -> _Begun:
    row = db.execute("select value from facts where name = ?", (_FACT,)).fetchone()
    return _Begun(None, 0, None) if row is None else _Begun(*orjson.loads(row[0]))


def _note(db: sqlite3.Connection, begun: _Begun) -> None:
    set_fact(db, _FACT, orjson.dumps([*begun]).decode())
