"""Reads many small tables at once, and checks one series in full."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import deque
from collections.abc import Mapping, Sequence

import orjson

from ...errors import Damaged
from ...table import Column, Table
from ..db.dialect import dialect_of
from . import chunks, codec, pyramid
from .chunks import CHUNK, INDEX, Elsewhere, Fetcher, is_sound
from .layout import Field, Layout, Row, load_stats
from .reading import Reading, runs_of


def read(
    connection: sqlite3.Connection,
    rows: Sequence[Row],
    layouts: Mapping[bytes, Layout],
    names: Sequence[str],
    elsewhere: Elsewhere | None = None,
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
    # In SQLite the cross join keeps the order of the keys.
    query = (
        "select chunks.key, head, data from json_each(?) as wanted "  # noqa: S608
        f"cross join chunks on chunks.key = cast(wanted.value as integer){dialect_of(connection).in_listed_order}"
    )
    found = connection.execute(query, (orjson.dumps(keys).decode(),))
    tables = {}
    number, head, data = next(found, _NONE)
    for row in rows:
        fields = wanted[row.layout]
        fetch = Fetcher(connection, row.id, row.owner, layouts[row.layout].names, elsewhere)
        columns: dict[str, Column] = {}
        for (_, one), expected in zip(fields, _keys(row, fields) if 0 < row.rows <= CHUNK else [], strict=False):
            if number != expected:
                break  # the series is outside of the file
            if not is_sound(number, head, data):
                raise fetch.damaged(expected)
            try:
                columns[one.name] = codec.decode_column(data, one.kind, one.dtype)
            except Damaged as error:
                raise fetch.damaged(number, f"cannot be decoded: {error}") from error
            number, head, data = next(found, _NONE)
        if len(columns) == len(fields):
            tables[row.owner] = Table(columns, row.rows)
            continue
        while chunks.series_of(number) == row.id:
            number, head, data = next(found, _NONE)
        tables[row.owner] = Reading(row, layouts[row.layout], fetch).table(
            [one.name for _, one in fields], 0, row.rows
        )
    return tables


_NONE = 0, b"", b""
"""The chunk after the last one; no series has the number 0."""


def _keys(row: Row, fields: Sequence[tuple[int, Field]]) -> list[int]:
    first = chunks.key(row.id, 0, 0, 0)
    return [first + (place << chunks.CHUNK_BITS) for place, _ in fields]


def check(reading: Reading) -> list[str]:
    """Everything wrong with a series: chunks that are missing, too many, damaged, or not those of its content hash."""
    row, layout = reading.row, reading.layout
    count = -(-row.rows // CHUNK)
    fields = range(len(layout.fields))
    expected: set[int] = set()
    reading.fetch.expect((level, place, 0, n - 1) for level, place, n in runs_of(row, layout))
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
    for level, place, count in runs_of(row, layout):
        expected |= {chunks.key(row.id, level, place, chunk) for chunk in range(count)}
        if reading.fetch.object_chunks() is not None:
            deque(
                reading.fetch.facts(level, place, count), maxlen=0
            )  # heads are apart from what they are about there
        if level:
            for chunk, payload in enumerate(reading.fetch.payloads(level, place, 0, count - 1)):
                with reading.fetch.decoding(level, place, chunk):
                    _check_level(payload, None if place == INDEX else layout.fields[place])
    present = reading.fetch.keys()
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


def stray(connection: sqlite3.Connection) -> list[str]:
    """Chunks and objects under a number that neither a series has nor a writer, as sentences."""
    query = "select id from series union all select id from drafts"
    known = {number for (number,) in connection.execute(query)}
    objects = connection.execute(
        "select id from series_objects where id not in (select id from series) order by id"
    )
    findings = [f"There is an object of a series {number} that is not there." for (number,) in objects.fetchall()]
    (found,) = connection.execute("select min(key) from chunks").fetchone()
    while found is not None:
        number = chunks.series_of(found)
        if number not in known:
            findings.append(f"There are chunks of a series {number} that is not there.")
        query = "select min(key) from chunks where key > ?"
        (found,) = connection.execute(query, (chunks.span(number)[1],)).fetchone()
    return findings
