"""Chunks: up to 16 384 values of one column in the file, each with a key, a small head and checksums.

Both checksums are CRC-32. It finds every change within 32 neighbouring bits, so every changed byte, in a quarter of
the time of the fastest hash of the standard library. The SHA-256 of the payload (its first 16 bytes) is made only when
a chunk is written; the content hash of a series is made of these.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

from ...errors import Damaged, TooLarge

CHUNK = 16384
SERIES_BITS, LEVEL_BITS, COLUMN_BITS, CHUNK_BITS = 28, 4, 11, 20
INDEX = (1 << COLUMN_BITS) - 1
MOST_COLUMNS = INDEX
Bound: TypeAlias = int | float | None
_HEAD = struct.Struct("<IIc8sc8sI16s")
_CRC = struct.Struct("<I")
_KEY = struct.Struct("<q")
_PAYLOAD_CRC = slice(26, 30)


class Head(NamedTuple):
    """Facts about a chunk: its length, how many values are null or NaN, the extremes of the others, its checksums."""

    n: int
    missing: int
    low: Bound
    high: Bound
    crc: int
    digest: bytes


class Packed(NamedTuple):
    """A chunk that is ready for the file, except for the number of its series: ``key`` is that of series 0."""

    key: int
    body: bytes
    payload: bytes
    digest: bytes

    def stored(self, series: int) -> tuple[int, bytes, bytes]:
        """Key, head and payload as they go into the file."""
        number = key(series, 0, 0, 0) | self.key
        return number, self.body + _CRC.pack(_head_crc(number, self.body)), self.payload


def key(series: int, level: int, column: int, chunk: int) -> int:
    """The integer key of a chunk; the keys of one column follow each other in the order of rows."""
    if chunk >> CHUNK_BITS or series >> SERIES_BITS:
        raise TooLarge("A series has at most 17 billion samples, a store at most 268 million series.")
    return ((series << LEVEL_BITS | level) << COLUMN_BITS | column) << CHUNK_BITS | chunk


def span(series: int) -> tuple[int, int]:
    """First and last key that a series can have."""
    bits = LEVEL_BITS + COLUMN_BITS + CHUNK_BITS
    return series << bits, (series + 1 << bits) - 1


def series_of(number: int) -> int:
    """The number of the series that a key belongs to."""
    return number >> LEVEL_BITS + COLUMN_BITS + CHUNK_BITS


def place(number: int) -> tuple[int, int, int]:
    """Level, column and chunk of a key."""
    return (
        number >> COLUMN_BITS + CHUNK_BITS & (1 << LEVEL_BITS) - 1,
        number >> CHUNK_BITS & INDEX,
        number & (1 << CHUNK_BITS) - 1,
    )


def pack(number: int, payload: bytes, n: int, missing: int = 0, low: Bound = None, high: Bound = None) -> Packed:
    """The chunk of a payload, with its head."""
    digest = hashlib.sha256(payload).digest()[:16]
    body = _HEAD.pack(n, missing, *_pack_bound(low), *_pack_bound(high), zlib.crc32(payload), digest)
    return Packed(number, body, payload, digest)


def _head_crc(number: int, body: bytes | memoryview) -> int:
    return zlib.crc32(body, zlib.crc32(_KEY.pack(number)))


def _pack_bound(value: Bound) -> tuple[bytes, bytes]:
    if value is None:
        return b"-", bytes(8)
    if isinstance(value, float):
        return b"f", struct.pack("<d", value)
    return (b"i", struct.pack("<q", value)) if value < 1 << 63 else (b"u", struct.pack("<Q", value))


def _unpack_bound(tag: bytes, raw: bytes) -> Bound:
    if tag == b"-":
        return None
    # struct gives Any; the format says float or int, which is a Bound.
    return struct.unpack({b"f": "<d", b"i": "<q", b"u": "<Q"}[tag], raw)[0]  # type: ignore[no-any-return]


def open_head(number: int, raw: object) -> Head | None:
    """The head of chunk ``number``, or None if it is not what was written there."""
    if not isinstance(raw, bytes) or len(raw) != _HEAD.size + _CRC.size:
        return None
    if _CRC.unpack_from(raw, _HEAD.size)[0] != _head_crc(number, raw[: _HEAD.size]):
        return None
    n, missing, low_tag, low, high_tag, high, crc, digest = _HEAD.unpack_from(raw)
    return Head(n, missing, _unpack_bound(low_tag, low), _unpack_bound(high_tag, high), crc, digest)


def is_sound(number: int, raw: object, payload: object) -> bool:
    """Whether head and payload are what was written under ``number``; quicker than `open_head`."""
    if not isinstance(raw, bytes) or not isinstance(payload, bytes) or len(raw) != _HEAD.size + _CRC.size:
        return False
    crc = zlib.crc32(raw[: _HEAD.size], zlib.crc32(_KEY.pack(number)))
    return raw[_HEAD.size :] == _CRC.pack(crc) and raw[_PAYLOAD_CRC] == _CRC.pack(zlib.crc32(payload))


class Fetcher:
    """Reads chunks of one series and checks every byte that it returns."""

    def __init__(self, connection: sqlite3.Connection, series: int, owner: str, names: list[str]) -> None:
        self.connection = connection
        self.series = series
        self.owner = owner
        self.names = names

    def damaged(self, number: int, why: object = "fails its checksum or is missing") -> Damaged:
        """The error about a chunk, with its series, column and place."""
        level, column, chunk = place(number)
        name = "the row numbers" if column == INDEX else f"column '{self.names[column]}'"
        where = f"chunk {chunk}" + (f" of level {level}" if level else "")
        return Damaged(f"Damaged series of '{self.owner}': {where} of {name} {str(why).rstrip('.')}.")

    @contextmanager
    def decoding(self, level: int, column: int, chunk: int) -> Iterator[None]:
        """Turn errors of decoding inside into one that names the chunk: its checksum was right, but not its content."""
        try:
            yield
        except (Damaged, IndexError, TypeError, ValueError) as error:
            number = key(self.series, level, column, chunk)
            raise self.damaged(number, f"cannot be decoded: {error}") from error

    def payloads(self, level: int, column: int, first: int, last: int) -> Iterator[bytes]:
        """The payloads of the chunks ``first`` to ``last`` of a column.

        Raises
        ------
        Damaged
            Naming series, column and chunk, where one is missing or not as it was written.
        """
        expected = key(self.series, level, column, first)
        end = expected + last - first
        cursor = self.connection.execute(
            "select key, head, data from chunks where key between ? and ? order by key", (expected, end)
        )
        for number, head, data in cursor:
            if number != expected or not is_sound(number, head, data):
                raise self.damaged(expected)
            yield data
            expected += 1
        if expected != end + 1:
            raise self.damaged(expected)

    def head(self, column: int, chunk: int) -> Head:
        """The head of a chunk of samples, without its values."""
        number = key(self.series, 0, column, chunk)
        row = self.connection.execute("select head from chunks where key = ?", (number,)).fetchone()
        head = open_head(number, row[0]) if row else None
        if head is None:
            raise self.damaged(number)
        return head

    def heads(self, column: int, count: int) -> Iterator[Head]:
        """The heads of the first ``count`` chunks of a column, in order."""
        expected = key(self.series, 0, column, 0)
        end = expected + count
        cursor = self.connection.execute(
            "select key, head from chunks where key >= ? and key < ? order by key", (expected, end)
        )
        for number, raw in cursor:
            head = open_head(number, raw) if number == expected else None
            if head is None:
                raise self.damaged(expected)
            yield head
            expected += 1
        if expected != end:
            raise self.damaged(expected)
