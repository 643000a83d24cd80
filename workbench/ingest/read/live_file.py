"""A file that is being written, as it was at one moment and without its last, unfinished line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from ...errors import FileRefused
from ...readers.file.archives import ScratchFolder

_CHUNK = 1 << 20
_HEAD = 4096


class Snapshot(NamedTuple):
    """A copy of a file, and how many bytes of an unfinished line were left out."""

    path: Path
    held: int


@contextmanager
def snapshot(path: Path) -> Iterator[Snapshot]:
    """A copy of a file under its own name, in a folder that goes again. What is added meanwhile is not in it.

    Of a text file a last line without a line end is left out: nobody can know whether it is whole.

    Raises
    ------
    FileRefused
        If it cannot be copied, or holds no whole line yet.
    """
    if not path.is_file():
        raise FileRefused(f"'{path}' is not an ordinary file.")
    folder = ScratchFolder()
    copy = folder.path / path.name
    try:
        size = path.stat().st_size
        with path.open("rb") as source, copy.open("w+b") as target:
            _copied(source, target, size)
            held = _cut(target, path) if size and _is_text(target) else 0
    except OSError as error:
        raise FileRefused(f"'{path}' cannot be read: {error.strerror or error}.") from None
    try:
        yield Snapshot(copy, held)
    finally:
        folder.remove()


def _copied(source: IO[bytes], target: IO[bytes], size: int) -> None:
    left = size
    while left and (chunk := source.read(min(left, _CHUNK))):
        target.write(chunk)
        left -= len(chunk)


def _is_text(file: IO[bytes]) -> bool:
    """Whether a file is lines of text: a packed, binary or two-byte file has no lines that can be seen."""
    file.seek(0)
    head = file.read(_HEAD)
    return b"\0" not in head and not head.startswith((b"\x1f\x8b", b"PK\x03\x04", b"PAR1"))


def _cut(file: IO[bytes], path: Path) -> int:
    """Take away what follows the last line end; how many bytes that was."""
    size = end = file.seek(0, os.SEEK_END)
    while end:
        start = max(end - _CHUNK, 0)
        file.seek(start)
        found = max((block := file.read(end - start)).rfind(b"\n"), block.rfind(b"\r"))
        if found >= 0:
            file.truncate(start + found + 1)
            return size - (start + found + 1)
        end = start
    raise FileRefused(f"'{path.name}' has no complete line yet.")
