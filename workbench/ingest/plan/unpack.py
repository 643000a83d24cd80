"""Archives of many files, unpacked into a folder of their own for the time of an ingest."""

from __future__ import annotations

import shutil
import tarfile
import weakref
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from ... import temporary_folder
from ...errors import FileRefused, TooLarge
from ...messages import spaced
from ...readers.file.archives import BROKEN_ZIP, past_bounds
from ...readers.file.source import look
from ...readers.file.workbook import is_workbook
from ..processes.warm_workers import ask_locked
from ..processes.worker_process import DIED, as_path, as_text

ENDINGS = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
MOST_FILES = 20_000
MOST_BYTES = 64 << 30
DEEPEST = 3
"""Archives within archives."""
_BLOCK = 1 << 20
_ZIP = b"PK\x03\x04"
_OF_NEWARE = ".ndc"
_LONGEST = 200


@dataclass(eq=False)
class Unpacked:
    """The folders into which archives were unpacked; they go with this object.

    ``called``: file -> what the report calls it, as in ``rack.zip/A/c1.csv``. ``of``: file -> its archive. ``roots``:
    file -> the folder that has the name of its archive. ``inside``: file -> its folder within the archive that was
    given, whose name is the first part.
    """

    called: dict[Path, str] = field(default_factory=dict)
    of: dict[Path, Path] = field(default_factory=dict)
    roots: dict[Path, Path] = field(default_factory=dict)
    inside: dict[Path, str] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)
    counts: Counts = field(default_factory=lambda: Counts())

    def add(self, archive: Path, shown: str, depth: int = 0) -> list[Path]:
        """The files of an archive, in the order of their paths; those of archives within it too.

        Raises
        ------
        FileRefused, TooLarge
            If it is damaged, needs a password, or is over a limit.
        """
        folder = temporary_folder.make()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.folders.append(folder)
        root = folder / (_folder_name(archive.name) or "archive")
        self._unpack(archive, root)
        above = self.inside.get(archive, "")
        inside = sorted((path for path in root.rglob("*") if path.is_file()), key=lambda path: path.parts)
        further = archives(inside) if depth < DEEPEST else set()
        found: list[Path] = []
        for path in inside:
            called = f"{shown}/{path.relative_to(root).as_posix()}"
            self.of[path] = self.of.get(archive, archive)
            self.inside[path] = Path(above, root.name, path.relative_to(root).parent).as_posix()
            if path in further:
                found += self.add(path, called, depth + 1)
            else:
                self.called[path] = called
                self.roots[path] = root
                found.append(path)
        return found

    def _unpack(self, archive: Path, root: Path) -> None:
        """Unpack an archive into a new folder, in a locked process where this machine has the lock."""
        bounds = Bounds(MOST_FILES, MOST_BYTES, self.counts.files, self.counts.bytes_)
        answer = ask_locked("unpack", {"archive": as_text(archive), **bounds._asdict()}, [archive], root)
        if answer is None:
            self.counts = _Unpacking(archive, root, bounds).all()
        elif isinstance(answer, dict) and "refused" in answer:
            raise (TooLarge if answer.get("kind") == TooLarge.__name__ else FileRefused)(str(answer["refused"]))
        else:
            self.counts = Counts.of(answer)


class Counts(NamedTuple):
    """Files and bytes that were unpacked so far."""

    files: int = 0
    bytes_: int = 0

    @classmethod
    def of(cls, answer: Any) -> Counts:
        """What a worker says; an archive that took it over may let it say anything."""
        try:
            return cls(int(answer["files"]), int(answer["bytes_"]))
        except (TypeError, ValueError, KeyError, OverflowError):
            raise FileRefused(DIED) from None


class Bounds(NamedTuple):
    """How much may be unpacked, and how much was."""

    most_files: int
    most_bytes: int
    files: int
    bytes_: int


class _Unpacking:
    """The members of one archive on their way into a folder."""

    def __init__(self, archive: Path, root: Path, bounds: Bounds) -> None:
        self._archive = archive
        self._root = root
        self._bounds = bounds
        self._files, self._bytes = bounds.files, bounds.bytes_

    def all(self) -> Counts:
        """Unpack all members; gives the counts with these.

        Raises
        ------
        FileRefused, TooLarge
        """
        try:
            for name, size, opened in _members(self._archive):
                place = self._free(self._root, name)
                if place is not None:
                    with opened() as inner:
                        self._copy(inner, place, size)
        except (FileRefused, TooLarge):
            raise
        except Exception as error:  # the libraries that unpack raise errors of many classes for damaged data
            raise FileRefused(
                f"'{self._archive.name}' is an archive that is damaged or needs a password. Unpack it yourself, and "
                "ingest its folder."
            ) from error
        return Counts(self._files, self._bytes)

    def _free(self, root: Path, name: str) -> Path | None:
        """Where a member goes, below the folder whatever its name says; None for a hidden one."""
        steps = [step for step in PurePosixPath(name.replace("\\", "/")).parts if step not in ("/", "..", ".")]
        steps = [step.replace("\0", "").replace(":", "_")[:_LONGEST] for step in steps]
        if not steps or any(step.startswith((".", "__MACOSX")) or not step for step in steps):
            return None
        place, number = root.joinpath(*steps), 2
        while place.exists():
            place, number = place.with_name(f"{number} {steps[-1]}"), number + 1
        if any(parent.is_file() for parent in place.parents):
            return None
        return place

    def _copy(self, inner: IO[bytes], place: Path, packed: int) -> None:
        name, most_bytes = self._archive.name, self._bounds.most_bytes
        self._files += 1
        if self._files > self._bounds.most_files:
            raise TooLarge(
                f"'{name}' holds more than {spaced(self._bounds.most_files)} files. Unpack it, and ingest its folder."
            )
        place.parent.mkdir(parents=True, exist_ok=True)
        done = 0
        with place.open("wb") as made:
            while block := inner.read(_BLOCK):
                done += len(block)
                self._bytes += len(block)
                refused = past_bounds(name, done, packed)
                if refused is not None or self._bytes > most_bytes:
                    raise refused or TooLarge(
                        f"'{name}' unpacks to more than {most_bytes >> 30} GiB. Unpack it, and ingest its folder."
                    )
                made.write(block)


def unpacked_by(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a worker answers to a job of `Unpacked`: the members are in the folder that the job names."""
    bounds = Bounds(*(job[name] for name in Bounds._fields))
    root = as_path(job["spool"])
    root.mkdir()
    try:
        return _Unpacking(as_path(job["archive"]), root, bounds).all()._asdict()
    except (FileRefused, TooLarge) as refused:
        return {"refused": str(refused), "kind": type(refused).__name__}


def archives(paths: Sequence[Path], *, named: bool = False) -> set[Path]:
    """Those of the files that are archives of several files, and not workbooks or other files that are packed by their
    kind. A locked process looks into them where this machine has the lock.

    ``named``: a person named the files, so their endings do not matter.
    """
    asked = [path for path in paths if _may_be_archive(path, named=named)]
    if not asked:
        return set()
    job = {"asked": [as_text(path) for path in asked], "named": named}
    answer = ask_locked("archives", job, asked)
    if answer is None:
        return {path for path in asked if _is_archive(path)}
    if not isinstance(answer, list):  # one of them brought the process down: each for itself
        return archives_apart(asked, named=named)
    return {path for path, is_one in zip(asked, answer, strict=False) if is_one is True}


def archives_apart(paths: Sequence[Path], *, named: bool) -> set[Path]:
    """As `archives`, each looked at by a process of its own; one whose process dies is not an archive."""
    return set() if len(paths) == 1 else {found for path in paths for found in archives([path], named=named)}


def archives_among(job: Mapping[str, Any]) -> list[bool]:
    """What a worker answers to a job of `archives`."""
    return [_is_archive(as_path(path)) for path in job["asked"]]


def _may_be_archive(path: Path, *, named: bool) -> bool:
    """Whether the ending of a file, or its first bytes if it was named, are those of an archive."""
    if path.name.casefold().endswith(ENDINGS):
        return path.is_file()
    try:
        with path.open("rb") as file:
            return named and file.read(4) == _ZIP
    except OSError:
        return False


def _is_archive(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(4)
        if start == _ZIP:
            with zipfile.ZipFile(path) as container:
                names = [info.filename for info in container.infolist() if not info.is_dir()]
            own = any(name.casefold().endswith(_OF_NEWARE) for name in names)
            return len(names) > 1 and not own and not is_workbook(look(path))
        return path.name.casefold().endswith(ENDINGS) and tarfile.is_tarfile(path)
    except (*BROKEN_ZIP, FileRefused, OSError, EOFError, tarfile.TarError):
        return False


_Member = tuple[str, int, Callable[[], IO[bytes]]]
"""Name, packed bytes, and what opens it."""


def _members(archive: Path) -> Iterator[_Member]:
    with archive.open("rb") as file:
        is_zip = file.read(4) == _ZIP
    if is_zip:
        with zipfile.ZipFile(archive) as container:
            for info in container.infolist():
                if not info.is_dir():
                    # The default binds the loop's value; mypy cannot infer such a lambda.
                    yield info.filename, info.compress_size, lambda info=info: container.open(info)  # type: ignore[misc]
        return
    packed = archive.stat().st_size
    with tarfile.open(archive) as tape:
        for member in tape:
            opened = tape.extractfile(member) if member.isreg() else None  # links and devices are left out
            if opened is not None:
                # As above.
                yield member.name, packed, lambda opened=opened: opened  # type: ignore[misc]


def _folder_name(name: str) -> str:
    """What an archive is called as a folder: its name without its ending."""
    ending = next(
        (ending for ending in sorted(ENDINGS, key=len, reverse=True) if name.casefold().endswith(ending)), ""
    )
    return name[: len(name) - len(ending)].strip(". ") if ending else Path(name).stem
