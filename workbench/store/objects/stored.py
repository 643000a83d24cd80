"""The rows about objects: which object a series has, which series wait to be moved, and which objects nobody needs."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import orjson

from ...errors import Damaged
from ...table import Plain
from ..db.facts import set_fact

_FACT = "objects"
_COLUMNS = "id, name, generation, revision, size, directory, directory_crc"


class Setting(NamedTuple):
    """Where a store keeps its samples: the address of the place, and the store (see `Store.place_id`) that may delete
    objects there."""

    place: str
    keeper: str


class StoredObject(NamedTuple):
    """The object of a series: its number, the object's name and generation, the revision of the series that it holds,
    its size, the size of its directory and the checksum of that. The row is what makes the object visible."""

    id: int
    name: str
    generation: int
    revision: int
    size: int
    directory: int
    directory_crc: int


class Leftover(NamedTuple):
    """An object that no series needs any more, since a time in microseconds since 1970."""

    name: str
    size: int
    since: int


def setting(db: sqlite3.Connection) -> Setting | None:
    """Where the samples go; None for the store's file."""
    row = db.execute("select value from facts where name = ?", (_FACT,)).fetchone()
    if row is None:
        return None
    try:
        said = orjson.loads(row[0])
        return Setting(str(said["place"]), str(said["keeper"]))
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise Damaged(f"What the store says about the place of its samples is damaged ({error}).") from error


def set_setting(db: sqlite3.Connection, chosen: Setting | None) -> None:
    """Keep where the samples go, in a transaction."""
    if chosen is None:
        db.execute("delete from facts where name = ?", (_FACT,))
    else:
        set_fact(db, _FACT, orjson.dumps(chosen._asdict()).decode())


def _crc(values: tuple[Plain, ...]) -> int:
    return zlib.crc32(orjson.dumps(values))


def _sound(*found: Plain) -> StoredObject:
    *values, crc = found
    if crc != _crc(tuple(values)):
        raise Damaged(f"Damaged series: the row of the object of series {values[0]} fails its checksum.")
    return StoredObject(*values)


def keep(db: sqlite3.Connection, given: StoredObject) -> None:
    """Make an object that of its series, in a transaction."""
    marks = ", ".join("?" * (len(given) + 1))
    db.execute(
        f"insert or replace into series_objects ({_COLUMNS}, crc) values ({marks})",  # noqa: S608
        (*given, _crc(tuple(given))),
    )


def of(db: sqlite3.Connection, series: int) -> StoredObject | None:
    """The object of a series; Damaged if its row is not what was written."""
    row = db.execute(f"select {_COLUMNS}, crc from series_objects where id = ?", (series,)).fetchone()  # noqa: S608
    return None if row is None else _sound(*row)


def of_owners(db: sqlite3.Connection, owners: Iterable[str]) -> list[StoredObject]:
    """The objects of the samples of these records; errors as `of`."""
    columns = ", ".join(f"o.{name}" for name in _COLUMNS.split(", "))
    query = (
        f"select {columns}, o.crc from json_each(?) as w "  # noqa: S608
        "join series as s on s.owner = w.value and s.dataset = 'series' join series_objects as o on o.id = s.id"
    )
    return [_sound(*row) for row in db.execute(query, (orjson.dumps(list(owners)).decode(),)).fetchall()]


def every(db: sqlite3.Connection) -> Iterator[StoredObject]:
    """The objects of all series, in the order of their numbers; errors as `of`."""
    for row in db.execute(f"select {_COLUMNS}, crc from series_objects order by id").fetchall():  # noqa: S608
        yield _sound(*row)


def release(db: sqlite3.Connection, series: int, clock: Callable[[sqlite3.Connection], int]) -> None:
    """Note that nobody needs the object of a series from now on, in a transaction; ``clock`` gives the time."""
    found = db.execute("select name, size from series_objects where id = ?", (series,)).fetchone()
    if found is not None:
        query = "insert or replace into object_leftovers (name, size, since) values (?, ?, ?)"
        db.execute(query, (*found, clock(db)))
        db.execute("delete from series_objects where id = ?", (series,))
    db.execute("delete from series_waiting where id = ?", (series,))


def leftovers(db: sqlite3.Connection) -> list[Leftover]:
    """The objects that nobody needs any more, by name."""
    return [Leftover(*row) for row in db.execute("select name, size, since from object_leftovers order by name")]


def condemn(db: sqlite3.Connection, names: Iterable[str], now: int) -> None:
    """Note objects that no row ever named, in a transaction: nobody makes one of these visible afterwards."""
    db.executemany(
        "insert or ignore into object_leftovers (name, size, since) values (?, 0, ?)",
        [(name, now) for name in names],
    )


def is_condemned(db: sqlite3.Connection, name: str) -> bool:
    return db.execute("select 1 from object_leftovers where name = ?", (name,)).fetchone() is not None


def forget(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """Forget objects that were deleted, in a transaction."""
    db.executemany("delete from object_leftovers where name = ?", [(name,) for name in names])


def wait(db: sqlite3.Connection, series: int) -> None:
    """Note that a series may have to be moved, in a transaction."""
    db.execute("insert or ignore into series_waiting (id, lease, beat) values (?, null, 0)", (series,))


def waiting(db: sqlite3.Connection) -> list[tuple[int, str | None, int]]:
    """The series that wait: number, and the lease of who moves it with its last beat."""
    return db.execute("select id, lease, beat from series_waiting order by id").fetchall()


def waits(db: sqlite3.Connection, series: int) -> tuple[str | None, int] | None:
    """The lease and the last beat of who moves a series; None if it does not wait."""
    row: tuple[str | None, int] | None = db.execute(
        "select lease, beat from series_waiting where id = ?", (series,)
    ).fetchone()
    return row


def take(db: sqlite3.Connection, series: int, lease: str | None, beat: int) -> None:
    """Note who moves a series, in a transaction; None for nobody."""
    db.execute("update series_waiting set lease = ?, beat = ? where id = ?", (lease, beat, series))


def done(db: sqlite3.Connection, series: int) -> None:
    """Note that a series need not be moved, in a transaction."""
    db.execute("delete from series_waiting where id = ?", (series,))
