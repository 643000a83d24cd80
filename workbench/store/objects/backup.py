"""A backup of a store with objects: a copy of its file, and of every object that this copy names."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from ... import living_process
from ...errors import StoreError
from ..db.backup import backup as backup_file
from ..db.backup import give_name, refuse_place, remove, remove_leftovers
from ..db.main_file import log_bytes
from ..store import Store
from . import stored
from .claims import claim_for_backups
from .folder import Folder
from .place import IN_FILE
from .relocate import copy_object, relocate, written_as
from .stored import Setting, StoredObject

WITHOUT = "none"
"""Instead of a place: the backup is the file alone, and reads the objects where they are."""


def backup(
    store: Store,
    destination: Path,
    place: str | None = None,
    progress: Callable[[int, int, str], object] | None = None,
) -> str | None:
    """Copy a store to a new file while it is in use, with its objects.

    Objects that the place has already, of an earlier backup, are not copied again.

    Parameters
    ----------
    place : the address to copy the objects to. Without one: a folder beside the backup, with its name and ``.samples``.
        "none" copies the file alone, "file" the objects into it.

    Returns
    -------
    The address where the backup has its samples; None if all of them are in its file.

    Raises
    ------
    Conflict
        If ``destination`` exists.
    NotFound
        If its folder does not.
    BadRequest
        If the place holds samples of another store, or a store works there; or if the store is on PostgreSQL, which
        makes its own backups.
    Damaged, PlaceAway
        If an object cannot be read, or not be written. There is then no backup, only objects for the next one.
    """
    with store.snapshot() as db:
        setting = stored.setting(db)
    if setting is None or not store.is_in_a_file:
        store.backup(destination)
        return None
    if place == WITHOUT:
        return _file_alone(store, destination, setting)
    refuse_place(destination)
    if place == IN_FILE:
        _in_one_file(store, destination, setting, progress)
        return None
    address = written_as(place or f"folder:{destination}.samples", destination)
    there = store.objects.opened(address, destination.absolute().parent)
    source = store.objects.opened(setting.place)
    claim_for_backups(store, there)
    held = {one.name: one.size for one in there.listed()}

    def copy_missing(rows: Sequence[StoredObject]) -> None:
        left = [row for row in rows if held.get(row.name) != row.size]
        for done, row in enumerate(left):
            if progress is not None:
                progress(done, len(left), f"to {address}")
            copy_object(row, source, there)
            held[row.name] = row.size

    def finish(copy: sqlite3.Connection) -> None:
        # Nobody: a backup deletes nothing at its place, which it may share with other backups.
        stored.set_setting(copy, Setting(address, ""))

    with store.snapshot() as db:
        rows = list(stored.every(db))
    copy_missing(rows)  # nearly all of them, while nothing is held
    with store.snapshot() as db:
        copy_missing(list(stored.every(db)))
        backup_file(store, destination, finish=finish)
    return address


def _file_alone(store: Store, destination: Path, setting: Setting) -> str:
    """A backup of the file alone. A folder that is relative to that of the store is named as the backup finds it."""
    source = store.objects.opened(setting.place)
    address = setting.place
    if isinstance(source, Folder):
        address = written_as(f"folder:{source.path}", destination)

    def finish(copy: sqlite3.Connection) -> None:
        stored.set_setting(copy, Setting(address, setting.keeper))

    backup_file(store, destination, finish=finish)
    return address


def _in_one_file(
    store: Store, destination: Path, setting: Setting, progress: Callable[[int, int, str], object] | None
) -> None:
    """A backup that has all samples in its file."""
    source = store.objects.opened(setting.place)
    address = f"folder:{source.path.resolve()}" if isinstance(source, Folder) else setting.place

    def finish(copy: sqlite3.Connection) -> None:
        stored.set_setting(copy, Setting(address, ""))  # it finds the objects wherever the copy is

    remove_leftovers(destination)
    partial = destination.with_name(f"{destination.name}.{living_process.name()}.samples-partial")
    try:
        backup_file(store, partial, finish=finish)
        with Store.open(partial, create=False) as copy:
            relocate(copy, IN_FILE, progress=progress)
        if log_bytes(partial):  # closing a store says nothing when the last changes have no room in its file
            raise StoreError(
                f"The backup '{destination}' could not be written whole: its disk may be full. Make room and try again."
            )
        give_name(partial, destination)
    finally:
        remove(partial, f"{partial}.objects")
