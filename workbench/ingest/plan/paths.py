"""Which files an ingest is about: paths, patterns and folders, in one order."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass
class Found:
    """Files to read, in the order of their paths. Those in ``loose`` lie in folders: they count if a format knows
    them, which is found when they are read."""

    files: list[Path] = field(default_factory=list)
    loose: set[Path] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)


def find(
    paths: Paths,
    *,
    any_format: bool = False,
    but: Path | None = None,
) -> Found:
    """The files that ``paths`` name: files, patterns (``data/*.csv``, ``**`` too) and folders with all below.

    A file that is named is read whatever it is; in folders only files of a known format count, hidden ones never.
    ``any_format``: the caller says the format, so nothing in a folder is loose. ``but`` is a file that is none of
    them wherever it lies: the sheet that speaks of the others.
    """
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = Found()
    chosen: dict[Path, None] = {}
    for text in (os.fspath(path) for path in named):
        matches = (
            sorted(glob.glob(text, recursive=True))
            if glob.has_magic(text) and not os.path.exists(text)
            else [text]
        )
        if not matches:
            found.missing.append(text)
        for match in matches:
            place = Path(match)
            if place.is_dir():
                _walk(place, chosen, found)
            else:
                chosen[place] = None
                found.loose.discard(place)
    found.files = sorted(chosen, key=lambda path: (path.parts, path.name))
    if but is not None:
        found.files = [path for path in found.files if path.absolute() != but.absolute()]
    if any_format:
        found.loose = set()
    return found


def _walk(folder: Path, chosen: dict[Path, None], found: Found) -> None:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            place = Path(parent, name)
            if not is_hidden(name, names) and place not in chosen and place.is_file():
                chosen[place] = None
                found.loose.add(place)


def is_hidden(name: str, beside: Iterable[str]) -> bool:
    """Whether a file of a folder is none to be read: a hidden one, or what goes along with an exported text."""
    return name.startswith(".") or (name.endswith(".bdf.json") and name.removesuffix(".json") + ".csv" in beside)


def shown(path: str | Path) -> str:
    """A path, or words with one in them, as text that can be written anywhere, whatever bytes it is made of."""
    return os.fsencode(path).decode("utf-8", "replace")


def stem_of(path: Path) -> str:
    """What a measurement is called after its file: the name without its ending, ``.gz`` apart.

    >>> stem_of(Path("cells/RPT 1.csv.gz"))
    'RPT 1'
    """
    name = path.name
    if name.lower().endswith(".gz") and len(name) > 3:
        name = name[:-3]
    stem = Path(name).stem.strip()
    kept = "".join(letter for letter in stem if letter.isprintable() and not "\ud800" <= letter <= "\udfff")
    return kept[:200].strip() or "file"
