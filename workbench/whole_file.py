"""Files that appear complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import living_process
from .errors import BadRequest

_DRAFT = ".workbench-"
"""How the names of drafts begin."""
_SILENT_SECONDS = 24 * 3600.0
"""A draft that nobody has written to for so long is not at work, whoever made it: the longest takes minutes."""
_looked: set[Path] = set()
"""Folders in which this process has looked for what killed ones left: once is enough."""


def synchronise(folder: Path) -> None:
    """Let the names of the files in a folder survive a power cut, where the system can do that: what is written to a
    new file does so by itself, its name does not."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def refuse_folder(path: Path) -> None:
    """BadRequest if a file is to be written where a folder is."""
    if path.is_dir():
        raise BadRequest(f"'{path}' is a folder, so a file of this name cannot be written. Choose another name.")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A new path beside ``path`` for the block to write to. At the end it replaces ``path`` in one step.

    A reader sees the old file or the new file, also after a crash; after a power cut the new one is there. If the block
    fails, ``path`` stays as it was. Drafts that killed processes left in the folder are removed.

    Raises
    ------
    BadRequest
        If a folder is there.
    OSError
        If it cannot be written; it names ``path``.
    """
    refuse_folder(path)
    _remove_left(path.absolute().parent)
    # Without the name of the file, which may be as long as names can be.
    draft = path.with_name(f"{_DRAFT}{living_process.name()}")
    try:
        try:
            yield draft
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            draft.replace(path)
            synchronise(path.parent)
        except BaseException:  # also an interrupt must not leave a draft behind
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.errno is None or error.filename not in (None, draft, str(draft)):
            raise
        # Where a disk is full, the system says neither which file that is nor that the old one is there.
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def _remove_left(folder: Path) -> None:
    """Remove the drafts in a folder of processes that have ended."""
    if folder in _looked:
        return
    _looked.add(folder)
    for draft in living_process.left_in(folder, _DRAFT, _SILENT_SECONDS):
        with suppress(OSError):
            draft.unlink()
