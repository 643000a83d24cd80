"""Folders of temporary files that go with their process, also if it is killed: the next process removes them."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import living_process

_NAME = re.compile(rf"workbench-({living_process.NAME})")
_looked: set[str] = set()
"""Where this process has looked for what others left: once is enough for what a kill leaves."""


def make() -> Path:
    """A new folder among the temporary files. Whoever needs it no more removes it."""
    place = os.path.abspath(tempfile.gettempdir())
    if place not in _looked:
        _looked.add(place)
        _remove_left(place)
    made = Path(place, f"workbench-{living_process.name()}")
    made.mkdir(mode=0o700)
    return made


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder for the time of the block."""
    made = make()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _remove_left(place: str) -> None:
    """Remove the folders of processes of this machine that have ended."""
    with suppress(OSError), os.scandir(place) as found:
        for one in found:
            named = _NAME.fullmatch(one.name)
            if named is not None and living_process.has_ended(named[1]):
                shutil.rmtree(one.path, ignore_errors=True)
