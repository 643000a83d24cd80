"""Backup: copies a store while it is in use. The copy is one moment of it; a failed copy leaves no file."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeAlias

from ... import living_process
from ...errors import Conflict, NotFound
from ...whole_file import synchronise
from . import lease
from .connections import named
from .database_file import Host
from .main_file import connect_without_log, new_mark

_Progress: TypeAlias = Callable[[int, int, int], object]
_PAGES = 4096
"""Pages that are copied between two reports of progress: 16 MB."""


def backup(
    store: Host,
    destination: str | Path,
    progress: Callable[[float], object] | None = None,
    finish: Callable[[sqlite3.Connection], object] = lambda copy: None,
) -> None:
    """Copy the whole store to a new file.

    ``progress`` is called with the fraction that is done, from 0 to 1; ``finish`` with the copy, before it is named.

    Raises
    ------
    Conflict
        If ``destination`` exists.
    NotFound
        If its folder does not.
    """
    with store.snapshot() as connection:
        _copy(connection, destination, _reported(progress), finish)


def backup_without_log(path: Path, destination: str | Path) -> None:
    """Copy a store file that lacks its log to a new file, as far as it goes: what was only in the log is not there.

    Raises
    ------
    Conflict
        If ``destination`` exists.
    NotFound
        If its folder does not.
    """
    with named(path), closing(connect_without_log(path)) as connection:
        _copy(connection, destination, None, lambda copy: None)


def give_name(partial: Path, destination: Path) -> None:
    """Give a whole backup its name, also where another one to the same name became ready meanwhile.

    Raises
    ------
    Conflict
        If there is a file of that name.
    """
    try:
        os.link(partial, destination)
    except FileExistsError:
        raise _taken(destination) from None
    except OSError:  # a file system without links
        if destination.exists():
            raise _taken(destination) from None
        partial.rename(destination)
    synchronise(destination.parent)


def remove(*files: str | Path) -> None:
    """Remove files of SQLite that are not needed, with what it keeps beside them."""
    for name in files:
        for ending in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{name}{ending}").unlink(missing_ok=True)


def remove_leftovers(destination: Path) -> None:
    """Remove what killed backups left in this folder, also those to other names: many have the date in their name. One
    that may be at work keeps its files. Older versions named no process: what they left goes with its own name only."""
    name = f"(?:{living_process.NAME}|[0-9a-f]{{8}})"
    here = rf"{re.escape(destination.name)}(?:\.{name}\.samples-partial)?\.(?P<here>{name})"
    pattern = re.compile(rf"(?:{here}|.+\.(?P<other>{living_process.NAME}))\.(?:samples-)?partial", re.DOTALL)
    with suppress(OSError):
        for path in list(destination.parent.iterdir()):
            found = pattern.fullmatch(path.name)
            if found is not None and not lease.is_name_held(found["here"] or found["other"], _last_written(path)):
                remove(path, f"{path}.objects")


def _last_written(path: Path) -> int:
    """When a file or what SQLite keeps beside it was last written, in microseconds since 1970."""
    times = [0]
    for ending in ("", "-journal", "-wal"):
        with suppress(OSError):
            times.append(Path(f"{path}{ending}").stat().st_mtime_ns // 1000)
    return max(times)


def refuse_place(destination: str | Path) -> None:
    """Raise before anything is read if a backup cannot get this name.

    Raises
    ------
    Conflict
        If there is a file of that name.
    NotFound
        If its folder does not exist.
    """
    place = Path(destination)
    if place.exists():
        raise _taken(destination)
    if not place.absolute().parent.is_dir():
        raise NotFound(
            f"There is no folder '{place.parent}' to write '{place.name}' in. Create it, or name another one."
        )


def _taken(destination: str | Path) -> Conflict:
    return Conflict(f"'{destination}' exists already; give a new name for the backup.")


def _copy(
    connection: sqlite3.Connection,
    destination: str | Path,
    progress: _Progress | None,
    finish: Callable[[sqlite3.Connection], object],
) -> None:
    place = Path(destination).absolute()  # SQLite reads a relative 'file:...' as an address
    refuse_place(place)
    remove_leftovers(place)
    # A name of its own: two backups to one place must not write into each other.
    partial = place.with_name(f"{place.name}.{living_process.name()}.partial")
    try:
        with named(place), closing(sqlite3.connect(partial)) as copy:
            connection.backup(copy, pages=_PAGES, progress=progress)
            copy.execute("delete from facts where name in ('upgrade', 'copy')")  # nobody upgrades the copy
            finish(copy)
            copy.commit()
            copy.execute(
                f"pragma user_version = {new_mark()}"
            )  # the copy has no log, and takes that of no other file
            copy.execute("pragma journal_mode = delete")
        give_name(partial, place)
    finally:
        remove(partial)


def _reported(progress: Callable[[float], object] | None) -> _Progress | None:
    if progress is None:
        return None
    return lambda status, remaining, total: progress(1 - remaining / total if total else 1.0)
