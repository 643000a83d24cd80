"""Which files an ingest is about: paths, patterns and folders, in one order."""

from __future__ import annotations

import glob
import itertools
import os
import stat
from collections.abc import Container, Iterable, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ...errors import BadRequest, FileRefused, TooLarge
from ...exchange import TEXTS
from ...records.values import composed
from ...store.db.formats import APPLICATION
from .unpack import Unpacked, archives

_CACHE = (".cache", ".cache-wal", ".cache-shm")
_OF_A_STORE = ("", "-wal", "-shm", "-journal", *_CACHE, ".files", ".objects", ".samples")
"""A store and what lies beside it, as the ends of their names."""
Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def are_none(paths: Paths) -> bool:
    """Whether no path was given. An iterator may have some."""
    return not isinstance(paths, str | os.PathLike) and isinstance(paths, Sized) and not len(paths)


@dataclass
class Found:
    """Files to read, in the order of their paths. Those in ``loose`` lie in folders: they count if a format knows
    them, which is found when they are read. ``roots``: the folder that was given, of each file below one."""

    files: list[Path] = field(default_factory=list)
    loose: set[Path] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Folders that were named and hold no file to read."""
    unpacked: Unpacked = field(default_factory=Unpacked)
    refused: dict[str, str] = field(default_factory=dict)
    """Archives that cannot be unpacked, folders that cannot be read, and why."""
    roots: dict[Path, Path] = field(default_factory=dict)

    def folders(self) -> dict[Path, str]:
        """File of an archive -> its folder as it is kept: that of the archive, the name of the archive, and on."""
        return {
            path: shown(Path(folder_of(archive, self.roots.get(archive)), self.unpacked.inside[path]))
            for path, archive in self.unpacked.of.items()
        }


def find(
    paths: Paths,
    *,
    any_format: bool = False,
    but: Path | None = None,
    unpack: Container[Path] | None = None,
) -> Found:
    """The files that ``paths`` name: files, patterns (``data/*.csv``, ``**`` too) and folders with all below.

    A file that is named is read whatever it is; in folders only files of a known format count, hidden ones never.
    ``any_format``: the caller says the format, so nothing in a folder is loose. ``but`` is a file that is none of
    them wherever it lies: the sheet that speaks of the others. An archive of several files is a folder; where
    ``unpack`` is given, only those in it are unpacked.
    """
    named = _named(paths)
    found = Found()
    chosen: dict[Path, None] = {}
    given: list[Path] = []
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
            if os.path.isfile(place):
                given.append(place)
            if os.path.isdir(place):
                is_named = len(matches) == 1 and match == text
                if not _walk(place, place if is_named else _fixed(text), chosen, found) and is_named:
                    found.empty.append(text)
            else:
                chosen[place] = None
                found.loose.discard(place)
                if match != text and "**" in text:
                    found.roots.setdefault(place, _fixed(text))
    found.files = sorted(chosen, key=lambda path: (path.parts, path.name))
    packed = archives(given, named=True) | archives(sorted(found.loose))
    if packed:
        listed = [_inside(path, found, unpack) if path in packed else [path] for path in found.files]
        found.files = [path for paths in listed for path in paths]
    if but is not None:
        found.files = [path for path in found.files if path.absolute() != but.absolute()]
    if any_format:
        found.loose = set()
    return found


def _named(paths: Paths) -> list[str | os.PathLike[str]]:
    """Each path, pattern and folder that was given.

    Raises
    ------
    BadRequest
        If something else was given, such as a frame, whose columns would be taken for names of files.
    """
    if isinstance(paths, str | os.PathLike):
        return [paths]
    named: list[object] = [] if hasattr(paths, "columns") or not isinstance(paths, Iterable) else [*paths]
    wrong = next((path for path in named if not isinstance(path, str | os.PathLike)), None)
    if not isinstance(paths, Iterable) or hasattr(paths, "columns") or wrong is not None:
        what = type(paths if wrong is None else wrong).__name__
        raise BadRequest(
            f"Files are named by paths, folders and patterns such as 'data/*.csv', not by a value of the type {what}. "
            "bench.measurements.create(instance=..., name=..., time_series=frame) stores samples that are in Python "
            "already, and bench.quick(frame) draws them."
        )
    return [path for path in named if isinstance(path, str | os.PathLike)]


def _inside(archive: Path, found: Found, unpack: Container[Path] | None) -> list[Path]:
    """The files in an archive, which count if a format knows them."""
    if unpack is not None and archive not in unpack:
        return []
    try:
        inside = found.unpacked.add(archive, shown(archive))
    except (FileRefused, TooLarge, OSError) as error:
        found.refused[shown(archive)] = str(error)
        return []
    names: dict[Path, list[str]] = {}
    for file in inside:
        names.setdefault(file.parent, []).append(file.name)
    inside = [file for file in inside if not is_hidden(file.name, names[file.parent])]
    found.loose |= set(inside)
    return inside


def _fixed(pattern: str) -> Path:
    """The folder at which a pattern begins: its parts before the first with a wildcard."""
    parts = Path(pattern).parts
    return Path(*itertools.takewhile(lambda part: not glob.has_magic(part), parts))


def folder_of(path: Path, root: Path | None = None) -> str:
    """The folder of a file as it is kept: from the given folder on, whose own name is the first part.

    >>> folder_of(Path("/lab/data/A/c1/RPT.csv"), Path("/lab/data")), folder_of(Path("/lab/data/RPT.csv"))
    ('data/A/c1', 'data')
    """
    parent = Path(os.path.abspath(path)).parent
    start = parent if root is None else Path(os.path.abspath(root))
    return shown(Path(start.name, parent.relative_to(start)).as_posix()) if start.name else ""


def is_same_folder(one: str, other: str) -> bool:
    """Whether two kept folders may be the same: one of them may have been named from further up. Two that were named
    from folders of one name are compared whole.

    >>> is_same_folder("data/A", "A"), is_same_folder("data/A", "data/B"), is_same_folder("data/data", "data")
    (True, False, False)
    """
    if one.partition("/")[0] == other.partition("/")[0]:
        return one == other
    return f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one}")


def _walk(folder: Path, root: Path, chosen: dict[Path, None], found: Found) -> bool:
    """Take the files of a folder and of those below; whether there are any, or may be where nobody can look."""
    holds_files = False

    def closed(error: OSError) -> None:
        nonlocal holds_files
        holds_files = True
        found.refused[shown(error.filename)] = no_look(error)

    for parent, folders, names in os.walk(folder, onerror=closed):
        known = {*_but_stores(parent, [*folders, *names])}
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name in known)
        for name in sorted(known.intersection(names)):
            place = Path(parent, name)
            if is_hidden(name, names) or _is_no_file(place):
                continue
            holds_files = True
            if place not in chosen:
                chosen[place] = None
                found.loose.add(place)
                found.roots.setdefault(place, root)
    return holds_files


def no_look(error: OSError) -> str:
    """Why a folder that is there was left out."""
    return f"The folder '{shown(error.filename)}' cannot be read: {error.strerror}."


def _is_no_file(place: Path) -> bool:
    """Whether it is a pipe, a device or another folder. What cannot be looked at counts as a file, such as a link whose
    target went: who reads it says why it cannot be opened."""
    try:
        return not stat.S_ISREG(place.stat().st_mode)
    except FileNotFoundError:
        return not os.path.islink(place)  # else it went meanwhile
    except OSError:
        return False


def _but_stores(folder: str, names: Iterable[str]) -> list[str]:
    """The names in a folder without stores of the workbench, and what a store has beside it."""
    stores = [name for name in names if name.endswith(".db") and _is_store(Path(folder, name))]
    theirs = {f"{store}{ending}" for store in stores for ending in _OF_A_STORE}
    return [name for name in names if name not in theirs]


def _is_store(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:] == APPLICATION.to_bytes(4, "big")


def is_hidden(name: str, beside: Container[str]) -> bool:
    """Whether a file of a folder is none to be read: a hidden one, or what goes along with an exported text."""
    passport = name.endswith(".bdf.json") and any(
        name.removesuffix(".json") + ending in beside for ending in TEXTS
    )
    return name.startswith(".") or passport


def shown(path: str | Path) -> str:
    """A path, or words with one in them, as text that can be written anywhere, whatever bytes it is made of."""
    return os.fsencode(path).decode("utf-8", "replace")


def stem_of(path: Path) -> str:
    """What a measurement is called after its file: the name without its ending, ``.gz`` apart.

    >>> stem_of(Path("cells/RPT 1.csv.gz"))
    'RPT 1'
    """
    name = composed(path.name)
    if name.lower().endswith(".gz") and len(name) > 3:
        name = name[:-3]
    stem = Path(name).stem.strip()
    kept = "".join(letter for letter in stem if letter.isprintable() and not "\ud800" <= letter <= "\udfff")
    return kept[:200].strip() or "file"
