"""Backup: copies a store while it is in use. The copy is one moment of it; a failed copy leaves no file."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from ...errors import Conflict
from .connections import named
from .database_file import Host

_PAGES = 4096
"""Pages that are copied between two reports of progress: 16 MB."""


def backup(store: Host, destination: str | Path, progress: Callable[[float], object] | None = None) -> None:
    """Copy the whole store to a new file.

    ``progress`` is called with the fraction that is done, from 0 to 1.

    Raises
    ------
    Conflict
        If ``destination`` exists.
    """
    place = Path(destination).absolute()  # SQLite reads a relative 'file:...' as an address
    taken = Conflict(f"'{destination}' exists already; give a new name for the backup.")
    if place.exists():
        raise taken
    # A name of its own: two backups to one place must not write into each other.
    partial = place.with_name(f"{place.name}.{secrets.token_hex(4)}.partial")
    try:
        with named(partial), closing(sqlite3.connect(partial)) as copy:
            with store.snapshot() as connection:
                connection.backup(copy, pages=_PAGES, progress=_reported(progress))
            copy.execute("delete from facts where name = 'upgrade'")  # nobody upgrades the copy
            copy.commit()
            copy.execute("pragma journal_mode = delete")
        try:
            os.link(partial, place)
        except FileExistsError:
            raise taken from None
        except OSError:  # a file system without links
            partial.rename(place)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _reported(progress: Callable[[float], object] | None) -> Callable[[int, int, int], object] | None:
    if progress is None:
        return None
    return lambda status, remaining, total: progress(1 - remaining / total if total else 1.0)
