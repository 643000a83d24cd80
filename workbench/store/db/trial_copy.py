"""A private copy of a store's records, to try what a change would do. Nobody waits for it, and it is deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ...errors import StoreError
from ...temporary_folder import temporary_folder
from ..store import Store
from .connections import named

_BULK = ("chunks", "contents")
"""Tables of samples and of bytes: most of the size of a store."""


@contextmanager
def rehearsal(store: Store) -> Iterator[Store]:
    """A copy of a store at one moment, with all records but without samples and bytes; deleted at the end.

    The original is read but not locked: others can write to it meanwhile.
    """
    with temporary_folder() as folder:
        place = folder / store.path.name
        opened = closing(sqlite3.connect(place, isolation_level=None, uri=True))
        with named(store.path), _room_in(folder), opened as copy:
            copy.execute("attach ? as origin", [f"{store.path.absolute().as_uri()}?mode=ro"])
            copy.execute("begin")
            _copy(copy)
            copy.execute("commit")
        private = Store.open(place, create=False)
        try:
            with private.transaction() as db:
                pass
            # The copy does not have to survive a power cut.
            db.execute("pragma synchronous = off")
            yield private
        finally:
            private.close()


@contextmanager
def _room_in(folder: Path) -> Iterator[None]:
    """Say which disk is full: the store itself is only read."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname != "SQLITE_FULL":
            raise
        raise StoreError(
            f"The copy of the records for a trial could not be made in '{folder}' ({error}). Make room there, or "
            "name another folder in $TMPDIR."
        ) from error


def _copy(db: sqlite3.Connection) -> None:
    made = db.execute("select type, name, sql from origin.sqlite_master where sql is not null").fetchall()
    tables = {name: sql for type, name, sql in made if type == "table" and not name.startswith("sqlite_")}
    virtual = [name for name, sql in tables.items() if sql.lower().startswith("create virtual")]
    # A virtual table makes tables of its own, which already hold some rows.
    brought = [name for name in tables if any(name.startswith(f"{owner}_") for owner in virtual)]
    for name, sql in tables.items():
        if name not in brought:
            db.execute(sql)
    for name in brought:
        db.execute(f'delete from main."{name}"')  # noqa: S608
    for name in tables:
        if name not in virtual and name not in _BULK:
            db.execute(f'insert into main."{name}" select * from origin."{name}"')  # noqa: S608
    for type, _, sql in made:
        if type != "table":
            db.execute(sql)
    (value,) = db.execute("pragma origin.application_id").fetchone()
    db.execute(f"pragma main.application_id = {value}")
