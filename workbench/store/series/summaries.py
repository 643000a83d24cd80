"""Reads many small tables at once, and checks one series in full."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
import orjson

from ...errors import Damaged
from ...table import Column, Table, concat_columns, joined_valid
from . import chunks, codec, pyramid
from .chunks import CHUNK, INDEX, Elsewhere, Fetcher
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
    held = _Held(connection, rows, layouts, names, elsewhere)
    return {row.owner: held.table(row, names) for row in rows}


def stacked(
    connection: sqlite3.Connection,
    rows: Sequence[Row],
    layouts: Mapping[bytes, Layout],
    names: Sequence[str],
    elsewhere: Elsewhere | None = None,
) -> dict[str, Column]:
    """As ``read``, one below the other: the columns that any series has, null where another lacks them."""
    held = _Held(connection, rows, layouts, names, elsewhere)
    made = held.alike(names)
    others = [name for name in names if name not in made]
    if others:
        made |= below([held.table(row, others) for row in rows], others)
    return {name: made[name] for name in names if name in made}


def below(tables: Sequence[Table], names: Sequence[str]) -> dict[str, Column]:
    """Tables one below the other: those columns that any has, null where another lacks them."""
    return {
        name: concat_columns([table[name] if name in table else Column.nulls(table.n) for table in tables])
        for name in names
        if any(name in table for table in tables)
    }


class _Held:
    """The chunks of short series, read and checked at once; what is not in the file is read series by series."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        rows: Sequence[Row],
        layouts: Mapping[bytes, Layout],
        names: Sequence[str],
        elsewhere: Elsewhere | None,
    ) -> None:
        self._connection, self._rows, self._layouts, self._elsewhere = connection, rows, layouts, elsewhere
        self._places = {
            digest: [layout.places[name] << chunks.CHUNK_BITS for name in names if name in layout.places]
            for digest, layout in layouts.items()
        }
        """What the keys of the wanted columns have beside the number of the series."""
        self._keys = {row.id: chunks.key(row.id, 0, 0, 0) for row in rows if 0 < row.rows <= CHUNK}
        self._payloads = self._read()

    def _read(self) -> dict[int, bytes]:
        """The payloads that are in the file, by key."""
        keys = [
            self._keys[row.id] + place
            for row in self._rows
            if row.id in self._keys
            for place in self._places[row.layout]
        ]
        query = "select key, head, data from chunks where key in (select cast(value as integer) from json_each(?))"
        found = self._connection.execute(query, (orjson.dumps(keys).decode(),)).fetchall()
        unsound = chunks.first_unsound(found)
        if unsound is not None:
            raise self._fetcher(self._of(unsound)).damaged(unsound)
        return {number: data for number, _, data in found}

    def _of(self, number: int) -> Row:
        series = chunks.series_of(number)
        return next(row for row in self._rows if row.id == series)

    def _fetcher(self, row: Row) -> Fetcher:
        names = self._layouts[row.layout].names
        return Fetcher(self._connection, row.id, row.owner, names, self._elsewhere)

    def alike(self, names: Sequence[str]) -> dict[str, Column]:
        """Those columns of fixed width that all series have alike, so that their values are only put together.

        They share one block of memory: numpy takes a large one in pages of 2 MB, which costs a third of the time of as
        many bytes in small pages.
        """
        if len(self._keys) != len(self._rows):
            return {}
        counts = [row.rows for row in self._rows]
        wanted = {name: one for name in names if (one := self._same_field(name)) is not None}
        bytes_each = [8 * -(-sum(counts) * one.dtype.itemsize // 8) for one in wanted.values()]
        block = np.empty(sum(bytes_each), np.uint8)
        made: dict[str, Column] = {}
        for (name, one), size in zip(wanted.items(), bytes_each, strict=True):
            out, block = block[: sum(counts) * one.dtype.itemsize].view(one.dtype), block[size:]
            place = {digest: layout.places[name] << chunks.CHUNK_BITS for digest, layout in self._layouts.items()}
            numbers = [self._keys[row.id] + place[row.layout] for row in self._rows]
            if not all(number in self._payloads for number in numbers):
                continue
            if codec.decode_raw([self._payloads[number] for number in numbers], counts, out):
                made[name] = Column(one.kind, out)
            else:
                parts = [self._decoded(*each, one) for each in zip(self._rows, numbers, strict=True)]
                np.concatenate([part.values for part in parts], out=out)
                made[name] = Column(one.kind, out, joined_valid(parts))
        return made

    def _same_field(self, name: str) -> Field | None:
        """A column that is the same in all layouts, and of fixed width."""
        places = [(layout, layout.places.get(name)) for layout in self._layouts.values()]
        fields = {None if place is None else layout.fields[place] for layout, place in places}
        one = fields.pop() if len(fields) == 1 else None
        return None if one is None or one.kind in ("text", "null") else one

    def _decoded(self, row: Row, number: int, one: Field) -> Column:
        try:
            column = codec.decode_column(self._payloads[number], one.kind, one.dtype)
        except Damaged as error:
            raise self._fetcher(row).damaged(number, f"cannot be decoded: {error}") from error
        if len(column) != row.rows:
            why = f"has {len(column)} values, and its series {row.rows}"
            raise self._fetcher(row).damaged(number, why)
        return column

    def table(self, row: Row, names: Sequence[str]) -> Table:
        """Those of these columns that one series has; they are among those that were read."""
        layout = self._layouts[row.layout]
        fields = [layout.fields[layout.places[name]] for name in names if name in layout.places]
        first = self._keys.get(row.id, 0)
        numbers = [first + (layout.places[one.name] << chunks.CHUNK_BITS) for one in fields]
        if not all(number in self._payloads for number in numbers) or not first:
            return Reading(row, layout, self._fetcher(row)).table([one.name for one in fields], 0, row.rows)
        pairs = zip(fields, numbers, strict=True)
        return Table({one.name: self._decoded(row, number, one) for one, number in pairs}, row.rows)


def check(reading: Reading) -> list[str]:
    """Everything wrong with a series: chunks that are missing, too many, damaged, or not those of its content hash."""
    row, layout = reading.row, reading.layout
    count = -(-row.rows // CHUNK)
    fields = range(len(layout.fields))
    expected: set[int] = set()
    reading.fetch.hold_few()
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
    for frame in pyramid.some_frames(payload):
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
    findings = [f"{number} is not a number of a series." for number in known if not chunks.is_number(number)]
    findings += [f"There is an object of a series {number} that is not there." for (number,) in objects.fetchall()]
    (found,) = connection.execute("select min(key) from chunks").fetchone()
    while found is not None:
        number = chunks.series_of(found)
        if number not in known:
            findings.append(f"There are chunks of a series {number} that is not there.")
        last = chunks.span(number)[1] if chunks.is_number(number) else -1
        (found,) = connection.execute("select min(key) from chunks where key > ?", (last,)).fetchone()
    return findings
