"""Packed files: gzip, and zip archives of one file, opened and unpacked within limits."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Literal, cast

from ...errors import FileRefused, TooLarge
from .. import limits
from . import locked_child

_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_BLOCK = 1 << 18
BROKEN_ZIP = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError)
"""The errors of `zipfile` for archives that are damaged, encrypted or of another program."""


@dataclass(frozen=True)
class Packing:
    """How a file is packed; ``member`` is the only file of a zip archive."""

    kind: Literal["gzip", "zip"]
    member: str = ""


class Scratch:
    """A temporary file that is deleted together with this object."""

    def __init__(self, ending: str = "") -> None:
        descriptor, name = tempfile.mkstemp(prefix="workbench-", suffix=ending)
        os.close(descriptor)
        self.path = Path(name)
        weakref.finalize(self, _remove, name)


class ScratchFolder:
    """A temporary folder that is deleted together with this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="workbench-"))
        self._gone = weakref.finalize(self, _remove_folder, str(self.path))

    def remove(self) -> None:
        """Remove it now."""
        self._gone()


def _remove(name: str) -> None:
    if locked_child.is_locked():
        locked_child.leave(name)
    else:
        with suppress(OSError):
            os.unlink(name)


def _remove_folder(name: str) -> None:
    if locked_child.is_locked():
        locked_child.leave(name)
    else:
        shutil.rmtree(name, ignore_errors=True)


def packing_of(path: Path, raw: bytes) -> Packing | None:
    """How a file that begins with ``raw`` is packed; None if it is not packed, or holds more than one file.

    Raises
    ------
    FileRefused
        If it is an archive of one file that needs a password.
    """
    if raw.startswith(_GZIP):
        return Packing("gzip")
    if not raw.startswith(_ZIP):
        return None
    try:
        with zipfile.ZipFile(path) as container:
            members = [member for member in container.infolist() if _counts(member)]
    except BROKEN_ZIP:
        return None
    if len(members) != 1:
        return None
    if members[0].flag_bits & 1:
        raise FileRefused(f"'{path.name}' is a zip archive that needs a password. Unpack it first.")
    return Packing("zip", members[0].filename)


def _counts(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a file of the user; operating systems add others."""
    parts = member.filename.split("/")
    return not member.is_dir() and not any(part.startswith((".", "__MACOSX")) for part in parts)


def opened(file: IO[bytes], packed: Packing) -> BinaryIO:
    """The unpacked bytes of a file that is open."""
    # Both are binary streams that can be read; typeshed declares them without their common class.
    if packed.kind == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    return cast(BinaryIO, zipfile.ZipFile(file).open(packed.member))


def broken(name: str, packed: Packing) -> str:
    """The message about packed data that cannot be unpacked."""
    if packed.kind == "gzip":
        return f"'{name}' is gzip data that are incomplete or damaged. Copy or pack the file again."
    return f"'{name}' is a zip archive that is incomplete or damaged. Copy or pack the file again."


def past_bounds(name: str, unpacked: int, packed: int) -> TooLarge | None:
    """The error of a file that unpacks to more than the limits; ``unpacked`` and ``packed`` are bytes so far."""
    if unpacked > limits.RATIO_FREE and unpacked / max(packed, 1) > limits.MOST_RATIO:
        return TooLarge(f"'{name}' unpacks to more than {limits.MOST_RATIO} times its size. Unpack it first.")
    if unpacked > limits.MOST_UNPACKED:
        return TooLarge(f"'{name}' unpacks to more than {limits.MOST_UNPACKED >> 30} GiB. Split the file.")
    return None


@contextmanager
def unpacked(path: Path, name: str, packed: Packing | None, ending: str = "") -> Iterator[Path]:
    """A path to the unpacked bytes of a file, for a library that needs a path: the file itself or a temporary copy.

    Raises
    ------
    FileRefused, TooLarge
        If it is damaged, or unpacks to more than ``limits.MOST_IN_MEMORY``.
    """
    if packed is None:
        yield path
        return
    scratch = Scratch(ending)
    _copy(path, name, packed, scratch.path)
    yield scratch.path


def _copy(path: Path, name: str, packed: Packing, target: Path) -> None:
    done = 0
    with open(path, "rb") as file, open(target, "wb") as made:
        try:
            with opened(file, packed) as inner:
                while block := inner.read(_BLOCK):
                    done += len(block)
                    refused = past_bounds(name, done, file.tell())
                    if refused is not None or done > limits.MOST_IN_MEMORY:
                        raise refused or TooLarge(
                            f"'{name}' unpacks to more than {limits.MOST_IN_MEMORY >> 30} GiB. Unpack it first."
                        )
                    made.write(block)
        except TooLarge:
            raise
        except Exception as error:  # the libraries that unpack raise errors of many classes for damaged data
            raise FileRefused(broken(name, packed)) from error


def members(path: Path) -> dict[str, int]:
    """Name -> unpacked size, bytes, of the files in a zip archive; {} if the file is not one or is damaged."""
    try:
        with zipfile.ZipFile(path) as container:
            return {member.filename: member.file_size for member in container.infolist()}
    except BROKEN_ZIP:
        return {}


def check_members(path: Path, name: str) -> None:
    """Refuse a zip archive that unpacks to more than the limits, before anything is unpacked.

    Raises
    ------
    FileRefused, TooLarge
        If it is damaged, or over the limits.
    """
    try:
        with zipfile.ZipFile(path) as container:
            found = container.infolist()
    except BROKEN_ZIP:
        raise FileRefused(f"'{name}' is a zip that is damaged or incomplete. Export it again.") from None
    total = sum(member.file_size for member in found)
    worst = max((member.file_size / max(member.compress_size, 1) for member in found), default=0.0)
    if len(found) > limits.MOST_MEMBERS or total > limits.MOST_IN_MEMORY:
        raise TooLarge(
            f"'{name}' holds {len(found)} files of {total >> 20} MiB together; at most {limits.MOST_MEMBERS} "
            f"files and {limits.MOST_IN_MEMORY >> 20} MiB are unpacked."
        )
    if total > limits.RATIO_FREE and worst > limits.MOST_RATIO:
        raise TooLarge(
            f"'{name}' unpacks to more than {limits.MOST_RATIO} times its size. No cycler writes such files."
        )
