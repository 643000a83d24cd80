"""Which file was probably meant, where a path leads to none."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import near


def meant_file(path: str | os.PathLike[str], *endings: str, as_name: bool = False) -> str:
    """The last sentence of an error about a path that leads nowhere: the nearest files in its folder.

    They are written as the path is, or as names alone. ``endings`` are those that count; without them all files and
    folders do. The sentence is empty if nothing is near, or the folder cannot be read.
    """
    folder, name = os.path.split(os.fspath(path).rstrip(os.sep))
    try:
        there = sorted(os.listdir(folder or "."))
    except (OSError, ValueError):  # no such folder, no right to it, or a text that cannot be a path
        return ""
    counted = [
        one for one in there if not one.startswith(".") and one != name and one.lower().endswith(endings or "")
    ]
    closest = [one if as_name else os.path.join(folder, one) for one in near(name, counted)]
    shown = [f"'{os.fsencode(one).decode('utf-8', 'replace')}'" for one in closest]
    return f" Did you mean {' or '.join(shown)}?" if shown else ""


def near_store(path: str | os.PathLike[str]) -> str:
    """The same for a store: a folder may hold one, else files ending in ``.db`` count."""
    inside = sorted(str(one) for one in Path(path).glob("*.db")) if Path(path).is_dir() else []
    if inside:
        return f" Did you mean {' or '.join(repr(one) for one in inside[:3])}?"
    return meant_file(path, ".db")
