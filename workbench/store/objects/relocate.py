"""Changes where a store keeps its samples: from the file to a place of objects, between places, and back."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeAlias

from ...environment import is_address
from ...errors import BadRequest, Damaged, StoreError
from ..series.chunks import HEAD_BYTES, key, open_head
from ..store import Store
from . import stored
from .claims import claim
from .object_file import no_room, read_directory
from .place import IN_FILE, ObjectMissing, Place, parse
from .stored import Setting, StoredObject

Progress: TypeAlias = Callable[[int, int, str], object]
"""Called with the number of series done, the number of all, and what comes next."""
_PART = 8 << 20
_ATTEMPTS = 20


def written_as(text: str, store: str | Path) -> str:
    """An address as a person gave it, as a store keeps it: a folder is relative to the folder of the store if it is
    inside of that, so that both can be moved together, and absolute if not, or if the store is on PostgreSQL. Errors as
    `place.parse`."""
    address = parse(text)
    if address is None:
        return IN_FILE
    if address.kind != "folder":
        return address.text
    folder = Path(address.path).expanduser().resolve()
    if is_address(store):  # it has no folder; every machine reaches the samples under the same path
        return f"folder:{folder}"
    beside = Path(store).resolve().parent
    if folder == beside:
        raise BadRequest(f"The folder '{address.path}' is that of the store itself. Name a folder of its own.")
    inside = folder.relative_to(beside).as_posix() if folder.is_relative_to(beside) else str(folder)
    return f"folder:{inside}"


def keep_samples(store: Store, to: str) -> None:
    """Let a new store keep its samples at a place. A store that does so already stays as it is.

    Raises
    ------
    BadRequest
        If the store keeps its samples elsewhere, and has some; errors as `relocate`.
    """
    address = written_as(to, store.location)
    with store.snapshot() as db:
        setting = stored.setting(db)
        (series,) = db.execute("select count(*) from series where dataset = 'series'").fetchone()
    present = IN_FILE if setting is None else setting.place
    if present == address:
        return
    if series:
        raise BadRequest(
            f"The store '{store.place}' keeps its samples in {present}. Move them with "
            f"'workbench samples move {address} --store {store.place}'."
        )
    relocate(store, address)


def relocate(store: Store, to: str, *, take_over: bool = False, progress: Progress | None = None) -> int:
    """Keep the samples of a store at a place, from now on and those that are there; returns how many series were moved.

    It can be stopped at any moment and called again: then it goes on. Others may read and write the store meanwhile.
    Objects at an earlier place stay there: a copy of the store may use them.

    Parameters
    ----------
    to : an address, as `written_as` gives it; "file" for the store itself, its file or database.
    take_over : let this store use the objects of the store that it is a copy of, and delete what it does not need.

    Raises
    ------
    BadRequest
        If the place belongs to another store, or to another copy of this one, and ``take_over`` is false.
    PlaceAway
        If a place cannot be used. What was moved stays moved.
    """
    address = parse(to)
    if address is None:
        return _to_file(store, progress)
    place = store.objects.opened(address.text)
    for _ in range(_ATTEMPTS):
        copied = _kept_at(store, place, take_over, progress)
        if copied is not None:
            break
    else:
        raise _restless()
    numbers = store.series.mover.note_all()
    moved = copied
    for done, number in enumerate(numbers):
        _report(progress, done, len(numbers), f"to {address.text}")
        moved += store.series.mover.move(number)
    return moved


def _kept_at(store: Store, place: Place, take_over: bool, progress: Progress | None) -> int | None:
    """Make a place that of the store, with all objects that it has, and return how many came from an earlier place;
    None if another process chose one meanwhile."""
    with store.snapshot() as db:
        before = stored.setting(db)
    is_here = before is not None and before.place == place.text
    if before is not None and is_here and before.keeper != store.place_id() and not take_over:
        raise BadRequest(
            f"This store is a copy of the one that keeps its samples at {place.text}, or was moved. If no other "
            "copy is in use, give --take-over; else give this one a place of its own."
        )
    claim(store, place, take_over=take_over)
    if before is not None and not is_here:
        return _to_place(store, before, place, progress)
    with store.transaction() as db:
        # Else the objects that another process has just moved would be looked for here.
        is_same = stored.setting(db) == before
        if is_same:
            stored.set_setting(db, Setting(place.text, store.place_id()))
    return 0 if is_same else None


def _restless() -> StoreError:
    return StoreError(
        "Others write to the store all the time, so it cannot be moved now. Stop them and try again."
    )


def _report(progress: Progress | None, done: int, of: int, what: str) -> None:
    if progress is not None:
        progress(done, of, what)


def _to_file(store: Store, progress: Progress | None) -> int:
    moved = 0
    for _ in range(_ATTEMPTS):
        with store.snapshot() as db:
            numbers = [one.id for one in stored.every(db)]
        for done, number in enumerate(numbers):
            _report(progress, done, len(numbers), "to the store itself")
            store.series.mover.bring_back(number)
        moved += len(numbers)
        with store.transaction() as db:
            if next(stored.every(db), None) is None:
                stored.set_setting(db, None)
                db.execute("delete from series_waiting")
                db.execute("delete from object_leftovers")
                return moved
    raise _restless()


def _to_place(store: Store, before: Setting, place: Place, progress: Progress | None) -> int | None:
    """Copy all objects to another place and make it that of the store, in one transaction at the end; how many there
    are. None if they are not at the earlier place any more."""
    old = store.objects.opened(before.place)
    there = {one.name: one.size for one in place.listed()}
    for _ in range(_ATTEMPTS):
        with store.snapshot() as db:
            if stored.setting(db) != before:
                return None
            rows = list(stored.every(db))
        left = [row for row in rows if there.get(row.name) != row.size]
        for done, row in enumerate(left):
            _report(progress, done, len(left), f"to {place.text}")
            copy_object(row, old, place)
            there[row.name] = row.size
        with store.transaction() as db:
            if stored.setting(db) != before:
                return None
            rows = list(stored.every(db))
            if all(there.get(row.name) == row.size for row in rows):
                stored.set_setting(db, Setting(place.text, store.place_id()))
                db.execute("delete from object_leftovers")  # they are at the earlier place
                return len(rows)
    raise _restless()


def copy_object(row: StoredObject, source: Place, destination: Place) -> None:
    """Copy the object of a series between places; every byte is compared with its checksum on the way.

    Raises
    ------
    Damaged
        If the object is damaged, or not there.
    PlaceAway
        If a place cannot be used.
    StoreError
        If there is no room for a temporary file.
    """
    try:
        with tempfile.TemporaryFile(prefix="workbench-") as file:
            for start in range(0, row.size, _PART):
                (data,) = source.ranges(row.name, [(start, min(start + _PART, row.size))])
                file.write(data)
            _check(row, file, source)
            file.seek(0)
            destination.put(row.name, file, row.size)
    except OSError as error:
        raise no_room(f"The object '{row.name}' in {source.text}", error) from error


def _check(row: StoredObject, file: IO[bytes], source: Place) -> None:
    file.seek(0)
    try:
        directory = read_directory(row.id, file.read(row.directory), row.directory_crc)
    except ObjectMissing:
        raise
    except Damaged as error:
        raise Damaged(f"The object '{row.name}' in {source.text} is damaged: {error}") from error
    for run in directory.runs:
        for chunk in range(run.chunks):
            if open_head(key(row.id, run.level, run.column, chunk), file.read(HEAD_BYTES)) is None:
                raise Damaged(f"The object '{row.name}' in {source.text} is damaged: a head fails its checksum.")
    for number, (length, crc) in enumerate(directory.chunks.tolist()):
        if zlib.crc32(file.read(length)) != crc:
            raise Damaged(
                f"The object '{row.name}' in {source.text} is damaged: its chunk {number} fails its checksum."
            )
