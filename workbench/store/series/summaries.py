"""Reads many small tables at once, and checks one series in full."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence

import orjson

from ...errors import Damaged
from ...table import Column, Table
from . import chunks, codec, pyramid
from .chunks import CHUNK, INDEX, Fetcher, is_sound
from .layout import Field, Layout, Row, load_stats
from .reading import Reading


def read(
    connection: sqlite3.Connection, rows: Sequence[Row], layouts: Mapping[bytes, Layout], names: Sequence[str]
) -> dict[str, Table]:
    """Some columns of whole series, by owner; those of one chunk by a single query.

    Raises
    ------
    Damaged
        If a chunk is missing or fails its checksum.
    """
    wanted = {
        digest: [
            (layout.places[name], layout.fields[layout.places[name]]) for name in names if name in layout.places
        ]
        for digest, layout in layouts.items()
    }
    short = [row for row in rows if 0 < row.rows <= CHUNK]
    keys = [number for row in short for number in _keys(row, wanted[row.layout])]
    # The cross join keeps the order of the keys.
    query = (
        "select chunks.key, head, data from json_each(?) as wanted cross join chunks on chunks.key = wanted.value"
    )
    found = connection.execute(query, (orjson.dumps(keys).decode(),))
    tables = {}
    for row in rows:
        fields = wanted[row.layout]
        if not 0 < row.rows <= CHUNK:
            reading = Reading(
                row, layouts[row.layout], Fetcher(connection, row.id, row.owner, layouts[row.layout].names)
            )
            tables[row.owner] = reading.table([one.name for _, one in fields], 0, row.rows)
            continue
        columns: dict[str, Column] = {}
        for (_, one), expected in zip(fields, _keys(row, fields), strict=True):
            number, head, data = next(found, (0, b"", b""))
            if number != expected or not is_sound(number, head, data):
                raise Fetcher(connection, row.id, row.owner, layouts[row.layout].names).damaged(expected)
            try:
                columns[one.name] = codec.decode_column(data, one.kind, one.dtype)
            except Damaged as error:
                fetch = Fetcher(connection, row.id, row.owner, layouts[row.layout].names)
                raise fetch.damaged(number, f"cannot be decoded: {error}") from error
        tables[row.owner] = Table(columns, row.rows)
    return tables


def _keys(row: Row, fields: Sequence[tuple[int, Field]]) -> list[int]:
    first = chunks.key(row.id, 0, 0, 0)
    return [first + (place << chunks.CHUNK_BITS) for place, _ in fields]


def check(reading: Reading) -> list[str]:
    """Everything wrong with a series: chunks that are missing, too many, damaged, or not those of its content hash."""
    row, layout = reading.row, reading.layout
    count = -(-row.rows // CHUNK)
    fields = range(len(layout.fields))
    expected = {chunks.key(row.id, 0, place, chunk) for place in fields for chunk in range(count)}
    linked = []
    for place, stats in zip(fields, load_stats(row.stats), strict=True):
        chain, end = bytes(16), b""
        for head, payload in zip(
            reading.fetch.heads(place, count), reading.fetch.payloads(0, place, 0, count - 1), strict=True
        ):
            digest = hashlib.sha256(payload).digest()[:16]
            full = head.n == CHUNK
            chain = hashlib.sha256(chain + digest).digest()[:16] if full else chain
            end = b"" if full else digest
        if chain != stats.chain:
            return [f"Damaged series of '{row.owner}': column '{layout.names[place]}' is not what was published."]
        linked.append(chain + end)
        reading.column(place, 0, row.rows)
    content = hashlib.sha256(b"".join([layout.digest, row.rows.to_bytes(8, "little"), *linked])).digest()
    if content != row.content:
        return [f"Damaged series of '{row.owner}': its content hash does not fit its samples."]
    level, size = 1, row.base
    while size and -(-row.rows // size) >= pyramid.LEAST_BUCKETS:
        last = (-(-row.rows // size) - 1) // row.buckets
        for place in (*fields, INDEX):
            expected |= {chunks.key(row.id, level, place, chunk) for chunk in range(last + 1)}
            for chunk, payload in enumerate(reading.fetch.payloads(level, place, 0, last)):
                with reading.fetch.decoding(level, place, chunk):
                    _check_level(payload, None if place == INDEX else layout.fields[place])
        level, size = level + 1, size * pyramid.FACTOR
    query = "select key from chunks where key between ? and ?"
    present = {number for (number,) in reading.fetch.connection.execute(query, chunks.span(row.id))}
    if present != expected:
        return [f"Damaged series of '{row.owner}': {len(present ^ expected)} chunks are missing or too many."]
    return []


def _check_level(payload: bytes, field: Field | None) -> None:
    """Decode all of a chunk of a level, of the row numbers where there is no field."""
    for frame in pyramid.frames_of(payload)[1]:
        if field is None:
            codec.decode(frame)
        else:
            codec.decode_column(frame, field.kind, field.dtype)
