"""Copies a whole store to a new one that keeps its samples in another place, and compares both by hashes.

The copy is one moment of the store. It can be stopped and goes on: the records are there at once or not at all, and of
the samples what arrived stays.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import orjson

from ...errors import BadRequest, Conflict, Damaged
from ..db.backup import backup as backup_file
from ..db.connections import named
from ..store import Store
from . import stored
from .folder import Folder
from .place import IN_FILE
from .relocate import Progress, relocate, written_as
from .stored import Setting

_FACT = "copy"
_KEPT_APART = frozenset({
    "chunks", "drafts", "facts", "series_objects", "series_waiting", "object_leftovers",
})  # fmt: skip
"""Tables that say where samples are: they differ between a store and its copy."""


class _Begun(NamedTuple):
    """What an unfinished copy says: of which store it is, and the hashes of its tables at that moment."""

    of: str
    hashes: dict[str, tuple[int, str]]


class Copied(NamedTuple):
    """A copy: where its samples are, how many records and other rows were compared, and how many series."""

    place: str
    rows: int
    series: int


def copy_store(source: Store, destination: Path, place: str = IN_FILE, progress: Progress | None = None) -> Copied:
    """Copy a store, while it is in use, to a new one. After a stop, the same call goes on, with the same moment.

    At the end every row of the copy is compared with what it was in the source, by hashes that were taken in the moment
    of the copy, and every sample with the hash of its series.

    Parameters
    ----------
    place : where the copy keeps its samples: an address, or "file".

    Raises
    ------
    Conflict
        If there is another file at ``destination``.
    BadRequest
        If the place is that of the source, or of another store.
    PlaceAway
        If a place cannot be used.
    Damaged
        If a sample of the source is damaged, or the copy differs.
    """
    address = written_as(place, destination)
    _refuse_same_place(source, destination, address)
    if not destination.exists():
        _copy_file(source, destination)
    with Store.open(destination, create=False) as copy:
        begun = _begun(copy)
        if begun is None or begun.of != source.identity():
            raise Conflict(f"'{destination}' exists already; give a new name for the copy.")
        with copy.snapshot() as db:
            setting = stored.setting(db)
        if setting is not None or address != IN_FILE:
            relocate(copy, address, take_over=True, progress=progress)
        _compare(copy, begun.hashes)
        with copy.transaction() as db:
            db.execute("delete from facts where name = ?", (_FACT,))
            (series,) = db.execute("select count(*) from series").fetchone()
    _shrink(destination)
    return Copied(address, sum(count for count, _ in begun.hashes.values()), series)


def _refuse_same_place(source: Store, destination: Path, address: str) -> None:
    with source.snapshot() as db:
        setting = stored.setting(db)
    if setting is None or address == IN_FILE:
        return
    theirs = source.objects.opened(setting.place)
    ours = source.objects.opened(address, destination.absolute().parent)
    if isinstance(theirs, Folder) and isinstance(ours, Folder):
        is_same = theirs.path.resolve() == ours.path.resolve()
    else:
        is_same = theirs.text == ours.text
    if is_same:
        raise BadRequest(f"'{source.path}' keeps its samples at {address}. Give the copy a place of its own.")


def _copy_file(source: Store, destination: Path) -> None:
    """Copy the file; the copy knows that it is not finished, and finds the objects of the source."""
    with source.snapshot() as db:
        setting = stored.setting(db)
        noted = _Begun(source.identity(), _hashes(db))

        def finish(copy: sqlite3.Connection) -> None:
            value = orjson.dumps(noted._asdict()).decode()
            copy.execute("insert or replace into facts (name, value) values (?, ?)", (_FACT, value))
            if setting is not None:
                place = source.objects.opened(setting.place)
                text = f"folder:{place.path.resolve()}" if isinstance(place, Folder) else setting.place
                stored.set_setting(copy, Setting(text, ""))

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


def _compare(copy: Store, hashes: dict[str, tuple[int, str]]) -> None:
    with copy.snapshot() as db:
        found = _hashes(db)
    wrong = [name for name in hashes if hashes[name] != found.get(name)]
    findings = [f"the table '{name}' differs from that of the source" for name in wrong] or copy.verify()
    if findings:
        raise Damaged(
            f"The copy '{copy.path}' is not as it should be: {'; '.join(findings[:3])}. Run 'workbench verify' on the "
            "source, delete the copy, and start again."
        )
