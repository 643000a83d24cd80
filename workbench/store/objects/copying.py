"""Copies a whole store to a new one that keeps its samples in another place, and compares both by hashes.

The copy is one moment of the store. It can be stopped and goes on: the records are there at once or not at all, and of
the samples what arrived stays. Between two files the file is copied, else row by row: see `row_copying`.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeAlias

import orjson

from ...environment import is_address
from ...errors import BadRequest, Conflict, Damaged
from ..db.backup import backup as backup_file
from ..db.connections import named
from ..db.facts import set_fact
from ..store import Store
from . import row_copying, stored
from .folder import Folder
from .place import IN_FILE
from .relocate import Progress, relocate, written_as
from .stored import Setting

_FACT = "copy"
_KEPT_APART = frozenset({
    "chunks", "drafts", "facts", "series_objects", "series_waiting", "object_leftovers",
})  # fmt: skip
"""Tables that say where samples are: they differ between a store and its copy."""


_Hashes: TypeAlias = dict[str, tuple[int, str]]


class _Begun(NamedTuple):
    """What an unfinished copy says: of which store it is, and the hashes of its tables at the moment of the copy; none
    before its records are there."""

    of: str
    hashes: _Hashes


class Copied(NamedTuple):
    """A copy: where it is, where its samples are, how many records and other rows were compared, how many series."""

    store: str
    place: str
    rows: int
    series: int


def copy_store(
    source: Store, destination: str | Path, place: str = IN_FILE, progress: Progress | None = None
) -> Copied:
    """Copy a store, while it is in use, to a new one. After a stop, the same call goes on, with the same moment.

    At the end every row of the copy is compared with what it was in the source, by hashes that were taken in the moment
    of the copy, and every sample with the hash of its series.

    Parameters
    ----------
    destination : the path of a file, or an address of PostgreSQL.
    place : where the copy keeps its samples: an address, or "file".

    Raises
    ------
    Conflict
        If there is another store at ``destination``.
    NotFound
        If its folder does not exist.
    BadRequest
        If the place is that of the source, or of another store, or a text cannot be kept in the copy.
    StoreError
        If the source has an older format and is not copied as a file.
    PlaceAway
        If a place cannot be used.
    Damaged
        If a sample of the source is damaged, or the copy differs.
    """
    address = written_as(place, destination)
    _refuse_same_place(source, destination, address)
    as_file = source.is_in_a_file and not is_address(destination)
    if as_file and not Path(destination).exists():
        _copy_file(source, Path(destination))
    with Store.open(destination, create=not as_file) as copy:
        if not as_file:
            _copy_rows(source, copy, progress)
        begun = _begun(copy)
        if begun is None or begun.of != source.identity():
            raise _taken(copy)
        with copy.snapshot() as db:
            setting = stored.setting(db)
        if setting is not None or address != IN_FILE:
            relocate(copy, address, progress=progress)
        _compare(copy, begun.hashes, _hashes if as_file else row_copying.hashes)
    if not is_address(destination):
        _shrink(Path(destination))
    # Last of all: a copy that says no more that it is unfinished is one that the same call refuses.
    with Store.open(destination, create=False) as copy:
        with copy.transaction() as db:
            db.execute("delete from facts where name = ?", (_FACT,))
        (series,) = copy.execute("select count(*) from series").fetchone()
    return Copied(copy.place, address, sum(count for count, _ in begun.hashes.values()), series)


def _taken(copy: Store) -> Conflict:
    return Conflict(f"'{copy.place}' exists already; give a new name for the copy.")


def _copy_rows(source: Store, copy: Store, progress: Progress | None) -> None:
    """Copy all rows, unless an earlier try did that; the copy knows that it is not finished."""
    begun = _begun(copy)
    if begun is None:
        if not row_copying.is_empty(copy):
            raise _taken(copy)
        with copy.transaction() as db:
            set_fact(db, _FACT, _noted(_Begun(source.identity(), {})))
    elif begun.of != source.identity():
        raise _taken(copy)
    elif begun.hashes:
        return
    with source.snapshot() as db:
        setting = stored.setting(db)
    objects = None if setting is None else orjson.dumps(_read_only(source, setting)._asdict()).decode()

    def noted(db: sqlite3.Connection) -> str:
        return _noted(_Begun(source.identity(), row_copying.hashes(db)))

    row_copying.copy_rows(source, copy, noted, objects, progress or (lambda *_: None))


def _noted(begun: _Begun) -> str:
    return orjson.dumps(begun._asdict()).decode()


def _read_only(source: Store, setting: Setting) -> Setting:
    """Where a copy finds the objects of the source, which it does not change."""
    place = source.objects.opened(setting.place)
    return Setting(f"folder:{place.path.resolve()}" if isinstance(place, Folder) else setting.place, "")


def _refuse_same_place(source: Store, destination: str | Path, address: str) -> None:
    with source.snapshot() as db:
        setting = stored.setting(db)
    if setting is None or address == IN_FILE:
        return
    theirs = source.objects.opened(setting.place)
    ours = source.objects.opened(address, Path(destination).absolute().parent)
    if isinstance(theirs, Folder) and isinstance(ours, Folder):
        is_same = theirs.path.resolve() == ours.path.resolve()
    else:
        is_same = theirs.text == ours.text
    if is_same:
        raise BadRequest(f"'{source.place}' keeps its samples at {address}. Give the copy a place of its own.")


def _copy_file(source: Store, destination: Path) -> None:
    """Copy the file; the copy knows that it is not finished, and finds the objects of the source."""
    with source.snapshot() as db:
        setting = stored.setting(db)
        noted = _Begun(source.identity(), _hashes(db))

        def finish(copy: sqlite3.Connection) -> None:
            set_fact(copy, _FACT, _noted(noted))
            if setting is not None:
                stored.set_setting(copy, _read_only(source, setting))

        backup_file(source, destination, finish=finish)


def _shrink(path: Path) -> None:
    """Give the room of samples that were moved back to the disk; nobody uses the copy yet."""
    with named(path), closing(sqlite3.connect(path, isolation_level=None)) as db:
        if db.execute("pragma freelist_count").fetchone()[0]:
            db.execute("vacuum")


def _begun(copy: Store) -> _Begun | None:
    row = copy.execute("select value from facts where name = ?", (_FACT,)).fetchone()
    if row is None:
        return None
    said = orjson.loads(row[0])
    return _Begun(said["of"], {name: (count, hash) for name, (count, hash) in said["hashes"].items()})


def _hashes(db: sqlite3.Connection) -> dict[str, tuple[int, str]]:
    """Of each table the number of its rows and a hash of them all, whatever their order."""
    query = "select name from sqlite_master where type = 'table' and sql not like 'create virtual%' order by name"
    names = [name for (name,) in db.execute(query)]
    virtual = [name for (name,) in db.execute("select name from sqlite_master where sql like 'create virtual%'")]
    made = {}
    for name in names:
        # The tables of an index of the search are compared by verify, with what they index.
        if name in _KEPT_APART or name.startswith("sqlite_") or any(name.startswith(f"{one}_") for one in virtual):
            continue
        count = total = 0
        for row in db.execute(f'select * from "{name}"'):  # noqa: S608
            count += 1
            total += int.from_bytes(hashlib.sha256(repr(row).encode("utf-8", "surrogatepass")).digest(), "big")
        made[name] = (count, f"{total % (1 << 256):064x}")
    return made


def _compare(copy: Store, hashes: _Hashes, hashed: Callable[[sqlite3.Connection], _Hashes]) -> None:
    with copy.snapshot() as db:
        found = hashed(db)
    wrong = [name for name in hashes if hashes[name] != found.get(name)]
    findings = [f"the table '{name}' differs from that of the source" for name in wrong] or copy.verify()
    if findings:
        raise Damaged(
            f"The copy '{copy.place}' is not as it should be: {'; '.join(findings[:3])}. Run 'workbench verify' on the "
            "source, delete the copy, and start again."
        )
