"""Folders of temporary files that go with their process, also if it is killed: the next process removes them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import living_process

_NAMED = "workbench-"
"""How the names of these folders begin."""
_looked: set[str] = set()
"""Where this process has looked for what others left: once is enough for what a kill leaves."""


def make() -> Path:
    """A new folder among the temporary files. Whoever needs it no more removes it."""
    place = os.path.abspath(tempfile.gettempdir())
    if place not in _looked:
        _looked.add(place)
        for left in living_process.left_in(place, _NAMED):
            shutil.rmtree(left, ignore_errors=True)
    made = Path(place, f"{_NAMED}{living_process.name()}")
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
