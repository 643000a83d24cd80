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
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from ...errors import Damaged, TooLarge
from ..db.checksums import ADVICE

CHUNK = 16384
INSERT_CHUNKS = 64
FEW = 64
"""So many chunks are held at once: at most 8 MiB."""
SERIES_BITS, LEVEL_BITS, COLUMN_BITS, CHUNK_BITS = 28, 4, 11, 20
INDEX = (1 << COLUMN_BITS) - 1
MOST_COLUMNS = INDEX
Bound: TypeAlias = int | float | None
_HEAD = struct.Struct("<IIc8sc8sI16s")
_CRC = struct.Struct("<I")
_KEY = struct.Struct("<q")
_PAYLOAD_CRC = slice(26, 30)
HEAD_BYTES = _HEAD.size + _CRC.size
Wanted: TypeAlias = tuple[int, int, int, int]
"""Level, column, first and last chunk: some chunks of a column that follow each other."""


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
    """First and last key that a series can have.

    Raises
    ------
    Damaged
        If no series can have this number.
    """
    if not is_number(series):
        raise Damaged(f"{series} is not a number of a series. {ADVICE}")
    bits = LEVEL_BITS + COLUMN_BITS + CHUNK_BITS
    return series << bits, (series + 1 << bits) - 1


def is_number(series: int) -> bool:
    """Whether a series can have this number. A damaged row may have anything as its number."""
    return isinstance(series, int) and 0 <= series < 1 << SERIES_BITS


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


def insert(connection: sqlite3.Connection, number: int, packed: Sequence[Packed]) -> None:
    """Write chunks, many in each statement, because each statement releases the interpreter's lock once."""
    for start in range(0, len(packed), INSERT_CHUNKS):
        part = packed[start : start + INSERT_CHUNKS]
        insert_stored(connection, [one.stored(number) for one in part])


def insert_stored(connection: sqlite3.Connection, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
    """Write chunks as they are stored, by one statement."""
    marks = ", ".join(["(?, ?, ?)"] * len(rows))
    values = [value for row in rows for value in row]
    connection.execute(f"insert or replace into chunks values {marks}", values)  # noqa: S608


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


def first_unsound(found: Sequence[tuple[int, object, object]]) -> int | None:
    """The key of the first of many chunks that `is_sound` is false of; None if all are as they were written."""
    if not found:
        return None
    numbers, raws, payloads = zip(*found, strict=True)
    sound = {type(one) for one in (*raws, *payloads)} == {bytes} and {len(raw) for raw in raws} == {HEAD_BYTES}
    if sound:
        # Key and head of all chunks side by side: their checksum is one of bytes that follow each other.
        heads = np.frombuffer(b"".join(raws), np.uint8).reshape(-1, HEAD_BYTES)
        keyed = np.hstack([np.array(numbers, "<i8").view(np.uint8).reshape(-1, _KEY.size), heads[:, : _HEAD.size]])
        stored = heads[:, [*range(_HEAD.size, HEAD_BYTES), *range(30)[_PAYLOAD_CRC]]].copy().view("<u4")
        crc32 = zlib.crc32
        sound = stored[:, 0].tolist() == [crc32(one) for one in keyed]
        sound = sound and stored[:, 1].tolist() == [crc32(payload) for payload in payloads]
    if sound:
        return None
    return next((number for number, raw, payload in found if not is_sound(number, raw, payload)), None)


def payload_crc(head: bytes) -> int:
    """The checksum of a chunk's payload, from its head."""
    (crc,) = _CRC.unpack(head[_PAYLOAD_CRC])
    return int(crc)


class ObjectChunks(Protocol):
    """The chunks of one series that are outside of the file. What is not there, or not as written, is None."""

    def payloads(self, level: int, column: int, first: int, last: int) -> Iterator[bytes | None]: ...
    def heads(self, level: int, column: int, first: int, last: int) -> Sequence[bytes | None]: ...
    def lengths(self, level: int, column: int, first: int, last: int) -> Sequence[int]: ...
    def hold(self, wanted: Iterable[Wanted]) -> None:
        """Fetch these chunks at once; they are asked for next."""

    def keys(self) -> Iterable[int]:
        """Of all chunks, as those of series 0."""


class Elsewhere(Protocol):
    """Knows which series have chunks outside of the file."""

    def chunks_of(self, connection: sqlite3.Connection, series: int, owner: str) -> ObjectChunks | None: ...


class Fetcher:
    """Reads chunks of one series and checks every byte that it returns.

    A chunk is in the file, or else in the series' object ``elsewhere``, which is asked only for what the file lacks:
    an append writes to the file, and its chunks go before those of the object.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        series: int,
        owner: str,
        names: list[str],
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.connection = connection
        self.series = series
        self.owner = owner
        self.names = names
        self.elsewhere = elsewhere
        self._wanted: Iterable[Wanted] = ()
        self._held: list[tuple[int, bytes, bytes]] | None = None
        self._object: ObjectChunks | None = None
        self._asked = False

    def expect(self, wanted: Iterable[Wanted]) -> None:
        """Note what is asked for next. An object gives all of it at once; chunks in the file need no such note, so the
        note is not looked at before one is missing there."""
        self._wanted = wanted

    def hold_few(self) -> None:
        """Read what the file has of the series now, where it is little: whoever looks at all of it then asks once, and
        not once for each column."""
        query = "select key, head, data from chunks where key between ? and ? order by key limit ?"
        rows = self.connection.execute(query, (*span(self.series), FEW + 1)).fetchall()
        self._held = rows if len(rows) <= FEW else None

    def _in_file(self, first: int, last: int) -> Iterable[tuple[int, bytes, bytes]]:
        """The keys ``first`` to ``last`` that are in the file, with heads and payloads."""
        if self._held is None:
            query = "select key, head, data from chunks where key between ? and ? order by key"
            return self.connection.execute(query, (first, last))
        return [row for row in self._held if first <= row[0] <= last]

    def object_chunks(self, missing: int | None = None) -> ObjectChunks | None:
        """The chunks outside of the file; `Damaged`, which names the chunk ``missing``, if there are none."""
        if not self._asked and self.elsewhere is not None:
            self._object = self.elsewhere.chunks_of(self.connection, self.series, self.owner)
        self._asked = True
        if self._object is None and missing is not None:
            raise self.damaged(missing)
        return self._object

    def _object_payloads(self, start: int, stop: int) -> Iterator[bytes]:
        """The payloads of the chunks with the keys ``start`` to before ``stop``, which are not in the file."""
        found = self.object_chunks(start)
        if found is None:
            return
        wanted, self._wanted = self._wanted, ()
        found.hold(wanted)
        level, column, chunk = place(start)
        last = chunk + stop - start - 1
        for number, payload in enumerate(found.payloads(level, column, chunk, last), start):
            if payload is None:
                raise self.damaged(number)
            yield payload

    def _object_heads(self, start: int, stop: int) -> Iterator[Head]:
        found = self.object_chunks(start)
        level, column, chunk = place(start)
        raws = found.heads(level, column, chunk, chunk + stop - start - 1) if found is not None else []
        for number, raw in enumerate(raws, start):
            head = open_head(number, raw)
            if head is None:
                raise self.damaged(number)
            yield head

    def facts(self, level: int, column: int, count: int) -> Iterator[tuple[bytes, int]]:
        """The head, as it is stored, and the length of the payload, of the first ``count`` chunks of a column."""
        start = key(self.series, level, column, 0)
        if self._held is None:
            query = "select key, head, length(data) from chunks where key >= ? and key < ?"
            rows = self.connection.execute(query, (start, start + count)).fetchall()
        else:
            rows = [(number, head, len(data)) for number, head, data in self._in_file(start, start + count - 1)]
        held = {number: (head, length) for number, head, length in rows}
        missing = next((number for number in range(start, start + count) if number not in held), None)
        if missing is not None and (found := self.object_chunks(missing)) is not None:
            wanted = (level, column, 0, count - 1)
            held = dict(enumerate(zip(found.heads(*wanted), found.lengths(*wanted), strict=True), start)) | held
        for number in range(start, start + count):
            head, length = held.get(number, (None, 0))
            if head is None or open_head(number, head) is None:
                raise self.damaged(number)
            yield head, length

    def keys(self) -> set[int]:
        """The keys of all chunks that are there."""
        query = "select key from chunks where key between ? and ?"
        if self._held is None:
            found = {number for (number,) in self.connection.execute(query, span(self.series))}
        else:
            found = {number for number, _, _ in self._held}
        outside = self.object_chunks()
        if outside is not None:
            found |= {key(self.series, 0, 0, 0) | one for one in outside.keys()}  # noqa: SIM118
        return found

    def damaged(self, number: int, why: object = "fails its checksum or is missing") -> Damaged:
        """The error about a chunk, with its series, column and place."""
        level, column, chunk = place(number)
        name = "the row numbers" if column == INDEX else f"column '{self.names[column]}'"
        where = f"chunk {chunk}" + (f" of level {level}" if level else "")
        return Damaged(f"Damaged series of '{self.owner}': {where} of {name} {str(why).rstrip('.')}.")

    def decoding(self, level: int, column: int, chunk: int) -> Decoding:
        """Turn errors of decoding inside into one that names the chunk: its checksum was right, but not its content."""
        return Decoding(self, level, column, chunk)

    def payloads(self, level: int, column: int, first: int, last: int) -> Iterator[bytes]:
        """The payloads of the chunks ``first`` to ``last`` of a column.

        Raises
        ------
        Damaged
            Naming series, column and chunk, where one is missing or not as it was written.
        """
        expected = key(self.series, level, column, first)
        end = expected + last - first
        for number, head, data in self._in_file(expected, end):
            if number != expected:
                yield from self._object_payloads(expected, number)
                expected = number
            if not is_sound(number, head, data):
                raise self.damaged(expected)
            yield data
            expected += 1
        if expected != end + 1:
            yield from self._object_payloads(expected, end + 1)

    def head(self, column: int, chunk: int) -> Head:
        """The head of a chunk of samples, without its values."""
        number = key(self.series, 0, column, chunk)
        row = self.connection.execute("select head from chunks where key = ?", (number,)).fetchone()
        if row is None:
            (head,) = self._object_heads(number, number + 1)
            return head
        head_there = open_head(number, row[0])
        if head_there is None:
            raise self.damaged(number)
        return head_there

    def heads(self, column: int, count: int) -> Iterator[Head]:
        """The heads of the first ``count`` chunks of a column, in order."""
        expected = key(self.series, 0, column, 0)
        end = expected + count
        rows: Iterable[tuple[int, bytes]]
        if self._held is None:
            query = "select key, head from chunks where key >= ? and key < ? order by key"
            rows = self.connection.execute(query, (expected, end))
        else:
            rows = [(number, raw) for number, raw, _ in self._in_file(expected, end - 1)]
        for number, raw in rows:
            if number != expected:
                yield from self._object_heads(expected, number)
                expected = number
            head = open_head(number, raw)
            if head is None:
                raise self.damaged(expected)
            yield head
            expected += 1
        if expected != end:
            yield from self._object_heads(expected, end)


class Decoding:
    """See `Fetcher.decoding`. A generator would take four times as long to enter and to leave, for each chunk."""

    __slots__ = ("_fetcher", "_place")

    def __init__(self, fetcher: Fetcher, *place: int) -> None:
        self._fetcher, self._place = fetcher, place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Damaged | IndexError | TypeError | ValueError):
            number = key(self._fetcher.series, *self._place)
            raise self._fetcher.damaged(number, f"cannot be decoded: {error}") from error
