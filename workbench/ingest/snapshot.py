"""A file that is being written, as it was at one moment and without its last, unfinished line."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import FileRefused

_CHUNK = 1 << 20
_HEAD = 4096


@contextmanager
def snapshot(path: Path) -> Iterator[Path]:
    """A copy of a file under its own name, in a folder that goes again. What is added meanwhile is not in it.

    Of a text file a last line without a line end is left out: nobody can know whether it is whole.

    Raises
    ------
    FileRefused
        If it cannot be copied, or holds no whole line yet.
    """
    if not path.is_file():
        raise FileRefused(f"'{path}' is no ordinary file.")
    with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, path.name)
        try:
            size = path.stat().st_size
            with path.open("rb") as source, copy.open("w+b") as target:
                _copied(source, target, size)
                if size and _is_text(target):
                    _cut(target, path)
        except OSError as error:
            raise FileRefused(f"'{path}' cannot be read: {error.strerror or error}.") from None
        os.utime(copy)
        yield copy


def _copied(source: IO[bytes], target: IO[bytes], size: int) -> None:
    left = size
    while left and (chunk := source.read(min(left, _CHUNK))):
        target.write(chunk)
        left -= len(chunk)


def _is_text(file: IO[bytes]) -> bool:
    """Whether a file is lines of text: a packed, binary or two-byte file has no lines that could be told."""
    file.seek(0)
    head = file.read(_HEAD)
    return b"\0" not in head and not head.startswith((b"\x1f\x8b", b"PK\x03\x04", b"PAR1"))


def _cut(file: IO[bytes], path: Path) -> None:
    """Take away what follows the last line end."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(end - _CHUNK, 0)
        file.seek(start)
        found = max((block := file.read(end - start)).rfind(b"\n"), block.rfind(b"\r"))
        if found >= 0:
            file.truncate(start + found + 1)
            return
        end = start
    raise FileRefused(f"'{path.name}' holds no whole line yet.")
