"""The bytes of an object: a header, a directory of its chunks, their heads, and their payloads.

The levels of the pyramid come first, the coarsest at the front, and the chunks of a column follow each other. So the
first bytes of an object hold the directory and an overview, and a column is one range. The directory has the length
and the checksum of each payload; its own checksum is in the row that names the object.
"""

from __future__ import annotations

import struct
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

from ...cached_property import cached_property
from ...errors import Damaged, StoreError
from ..series.chunks import HEAD_BYTES

MAGIC = b"WBOBJCT1"
_HEADER = struct.Struct("<8sqII")
_COUNTS = struct.Struct("<I")
_RUN = np.dtype([("level", "<u1"), ("column", "<u2"), ("chunks", "<u4")])
_CHUNK = np.dtype([("length", "<u4"), ("crc", "<u4")])
_MOST_DIRECTORY = 1 << 30


class Run(NamedTuple):
    """The chunks 0 to before ``chunks`` of a column of a level."""

    level: int
    column: int
    chunks: int


class Written(NamedTuple):
    """What is known of an object: bytes in all, bytes of header and directory, checksum of the directory."""

    size: int
    directory: int
    crc: int


@dataclass(frozen=True)
class Directory:
    """Where the chunks of an object are. ``starts`` are the numbers of the first chunks of the runs in the object."""

    series: int
    runs: tuple[Run, ...]
    chunks: NDArray[np.void]
    heads: int

    @cached_property
    def _starts(self) -> dict[tuple[int, int], tuple[int, int]]:
        found, at = {}, 0
        for run in self.runs:
            found[run.level, run.column] = at, run.chunks
            at += run.chunks
        return found

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        lengths = self.chunks["length"].astype(np.int64)
        return np.concatenate([[0], np.cumsum(lengths)]) + self.heads + HEAD_BYTES * len(lengths)

    @property
    def size(self) -> int:
        """The bytes of the whole object."""
        return int(self._ends[-1])

    def find(self, level: int, column: int, chunk: int) -> int | None:
        """The number of a chunk in the object, None if it is not there."""
        start, count = self._starts.get((level, column), (0, 0))
        return start + chunk if chunk < count else None

    def head(self, number: int) -> tuple[int, int]:
        """The range of a chunk's head."""
        start = self.heads + HEAD_BYTES * number
        return start, start + HEAD_BYTES

    def payload(self, number: int) -> tuple[int, int]:
        """The range of a chunk's payload."""
        return int(self._ends[number]), int(self._ends[number + 1])

    def crc(self, number: int) -> int:
        """The checksum of a chunk's payload."""
        return int(self.chunks["crc"][number])


def directory_of(series: int, runs: Sequence[Run], lengths: Iterable[int], crcs: Iterable[int]) -> bytes:
    """The header and the directory of an object."""
    count = sum(run.chunks for run in runs)
    chunks = np.zeros(count, _CHUNK)
    chunks["length"] = np.fromiter(lengths, np.uint32, count)
    chunks["crc"] = np.fromiter(crcs, np.uint32, count)
    body = _COUNTS.pack(len(runs)) + np.array([tuple(run) for run in runs], _RUN).tobytes() + chunks.tobytes()
    packed = zstandard.ZstdCompressor(level=3).compress(body)
    return _HEADER.pack(MAGIC, series, len(packed), zlib.crc32(packed)) + packed


def read_directory(series: int, raw: bytes, crc: int) -> Directory:
    """The directory of the object of a series.

    Raises
    ------
    Damaged
        If it is not the one that was written for this series.
    """
    if zlib.crc32(raw) != crc or len(raw) < _HEADER.size:
        raise Damaged("its directory fails its checksum")
    magic, number, length, body_crc = _HEADER.unpack_from(raw)
    packed = raw[_HEADER.size :]
    if magic != MAGIC or number != series or length != len(packed) or zlib.crc32(packed) != body_crc:
        raise Damaged("its directory is not that of this series")
    body = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MOST_DIRECTORY)
    (count,) = _COUNTS.unpack_from(body)
    runs = np.frombuffer(body, _RUN, count, _COUNTS.size)
    chunks = np.frombuffer(body, _CHUNK, -1, _COUNTS.size + runs.nbytes)
    return Directory(series, tuple(Run(*one) for one in runs.tolist()), chunks, len(raw))


class ObjectWriter:
    """Writes an object to a file: first the lengths of all chunks, then their heads, then their payloads."""

    def __init__(
        self, file: IO[bytes], series: int, runs: Sequence[Run], chunks: Sequence[tuple[int, int]]
    ) -> None:
        directory = directory_of(series, runs, (length for length, _ in chunks), (crc for _, crc in chunks))
        self._file = file
        size = len(directory) + HEAD_BYTES * len(chunks) + sum(length for length, _ in chunks)
        self.written = Written(size, len(directory), zlib.crc32(directory))
        file.write(directory)

    def add(self, data: bytes) -> None:
        """The next head, or after all heads the next payload."""
        self._file.write(data)


def no_room(what: str, error: OSError) -> StoreError:
    """The error where the temporary file of an object cannot be written."""
    return StoreError(
        f"{what} could not be prepared in '{tempfile.gettempdir()}': {error.strerror or error}. Make room there, or "
        "name another folder in $TMPDIR."
    )
