"""Cuts tables into packed chunks: the part of writing that needs neither the file nor a lock."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np

from ...errors import BadRequest, StoreError, TooLarge, instead
from ...table import Column, Table, concat
from ..db import parallel
from . import chunks, codec, pyramid
from .chunks import CHUNK, INDEX, Packed
from .equal_runs import encode_runs
from .layout import Field, Layout, Stats, fields_of, joined_field

SMALL = 4096
BLOCK = 8 * CHUNK
Meanwhile: TypeAlias = Callable[[], object] | None


@dataclass
class Built:
    """The facts of a series that are known after its last chunk."""

    rows: int
    base: int
    buckets: int
    layout: Layout
    content: bytes
    stats: list[Stats]


@dataclass
class Start:
    """Where an append begins: ``rows`` in full chunks before it, and the state at that point."""

    fields: list[Field]
    stats: list[Stats]
    rows: int
    levels: list[pyramid.Level]


@dataclass
class Builder:
    """Cuts the tables it is fed into chunks and builds the pyramid beside them.

    At most about two blocks of samples and one chunk of each level are held. The chunks depend on the samples
    alone, not on how they were cut into tables.

    The values of a column ``late`` may come last: whole numbers that never fall. What it was fed is not looked at, and
    `settle` says them before the end. The pyramid waits for it: ``waits`` bytes are held until then.
    """

    fields: list[Field] | None = None
    stats: list[Stats] = field(default_factory=list)
    rows: int = 0
    levels: list[pyramid.Level] = field(default_factory=list)
    late: str | None = None
    _low: list[pyramid.PackedBuckets] = field(default_factory=list)
    """The buckets of the lowest level, without the late column."""
    _waiting: list[Table] = field(default_factory=list)
    _held: int = 0
    _integers: list[int] = field(default_factory=list)
    _broken: bool = False

    @classmethod
    def resume(cls, start: Start) -> Builder:
        largest = [stats.magnitude() for stats in start.stats]
        whole = [size if one.kind == "integer" else 0 for one, size in zip(start.fields, largest, strict=True)]
        return cls(list(start.fields), start.stats, start.rows, start.levels, _integers=whole)

    def feed(self, table: Table) -> None:
        """Add the next samples; ``drain`` gives the chunks that are full then.

        Raises
        ------
        BadRequest
            If a column is new, mixes kinds, or cannot be joined to what came before without loss.
        """
        self._check()
        if self.fields is None:
            self._begin(table)
        table = self._conformed(table)
        if table.n:
            self._waiting.append(table)
            self._held += table.n

    def drain(self, least: int = BLOCK, meanwhile: Meanwhile = None) -> Iterator[list[Packed]]:
        """Pack full chunks of the waiting samples, two blocks a turn, while at least ``least`` samples wait.

        ``meanwhile`` is called in each turn, while another thread begins to pack.
        """
        self._check()
        while self._held >= least:
            held = concat(self._waiting)
            full = min(held.n // CHUNK * CHUNK, 2 * BLOCK)
            self._held = held.n - full
            self._waiting = [held.slice(full, held.n)] if self._held else []
            yield self._block(list(held.slice(0, full).values()), full, meanwhile)

    @property
    def waits(self) -> int:
        """Bytes of buckets that are held until `settle`."""
        return sum(part.size for part in self._low)

    def settle(self, values: Callable[[pyramid.Rows], Column]) -> list[Packed]:
        """Say the values of the late column at any rows; returns its full chunks, and those of the levels so far."""
        self._check()
        place = self._place_of_late()
        if place is None:
            raise StoreError("No column of this series is late.")
        self._broken = True
        name, self.late = self.late or "", None
        made: list[Packed] = []
        for start in range(0, self.rows, BLOCK):
            part = values(np.arange(start, min(start + BLOCK, self.rows)))
            self._integers[place] = max(self._integers[place], _magnitude(part))
            made += self._run(place, part, start)
        for low in self._low:
            self._raise(0, pyramid.with_column(low.unpacked(), place, values), made)
        self._low = []
        at = self.rows
        for number, table in enumerate(self._waiting):
            told = values(np.arange(at, at + table.n))
            self._integers[place] = max(self._integers[place], _magnitude(told))
            self._waiting[number] = Table({**table.columns, name: told}, table.n)
            at += table.n
        self._broken = False
        return made

    def _place_of_late(self) -> int | None:
        return next((at for at, one in enumerate(self.fields or []) if one.name == self.late), None)

    def _check(self) -> None:
        if self._broken:
            raise StoreError("A part of this series could not be written; write the series again.")

    def _begin(self, table: Table) -> None:
        if len(table) > chunks.MOST_COLUMNS:
            raise TooLarge(f"A series has at most {chunks.MOST_COLUMNS} columns; this one has {len(table)}.")
        self.fields = [Field(name, "null", np.dtype(bool)) for name in table]
        self.stats = [Stats() for _ in table]
        self._integers = [0] * len(table)
        base = pyramid.base_rows(len(table))
        if 0 < len(table) <= pyramid.MOST_COLUMNS:
            self.levels = [pyramid.Level(base)]

    def _conformed(self, table: Table) -> Table:
        known = [one.name for one in self.fields or []]
        unknown = [name for name in table if name not in known]
        if unknown:
            raise BadRequest(
                f"Column '{unknown[0]}' is not a column of this series. A series keeps the columns it began with. "
                f"{instead(unknown[0], known, 'columns')}"
            )
        missing = [Field(name, "null", np.dtype(bool)) for name in known if name not in table]
        given = {one.name: one for one in (*fields_of(table), *missing)}
        self._integers = [
            max(size, _magnitude(table.get(name))) for name, size in zip(known, self._integers, strict=True)
        ]
        self.fields = [
            joined_field(old, given[old.name], size)
            for old, size in zip(self.fields or [], self._integers, strict=True)
        ]
        return Table({name: table[name] if name in table else Column.nulls(table.n) for name in known}, table.n)

    def _block(self, columns: Sequence[Column], n: int, meanwhile: Meanwhile = None) -> list[Packed]:
        """Pack full chunks: ``n`` is a multiple of the chunk's length."""
        self._broken = True
        late = self._place_of_late()
        runs = [partial(self._run, at, column, self.rows) for at, column in enumerate(columns) if at != late]
        levels, *made = parallel.results([partial(self._lift, columns, late), *runs], meanwhile)
        self.rows += n
        self._broken = False
        return [one for packed in (*made, levels) for one in packed]

    def _run(self, place: int, column: Column, first: int) -> list[Packed]:
        """The full chunks of one column from row ``first`` on."""
        stats = self.stats[place]
        known = stats.see_runs(column, CHUNK)
        payloads = encode_runs(column, CHUNK)
        made = [
            chunks.pack(chunks.key(0, 0, place, chunk), payload, CHUNK, *each)
            for chunk, (payload, each) in enumerate(zip(payloads, known, strict=True), first // CHUNK)
        ]
        for packed in made:
            stats.link(packed.digest)
        return made

    def _lift(self, columns: Sequence[Column], late: int | None) -> list[Packed]:
        """The full chunks of the levels above some full chunks; none before the column ``late`` is known."""
        made: list[Packed] = []
        if self.levels:
            known = [column for at, column in enumerate(columns) if at != late]
            buckets = pyramid.buckets_of(known, self.rows, self.levels[0].size)
            if late is None:
                self._raise(0, buckets, made)
            else:
                self._low.append(pyramid.PackedBuckets.of(buckets))
        return made

    def _pack(self, place: int, chunk: int, column: Column, stats: Stats, *, small: bool = False) -> Packed:
        missing, low, high = stats.see(column)
        payload = codec.encode_column(column, small=small)
        return chunks.pack(chunks.key(0, 0, place, chunk), payload, len(column), missing, low, high)

    def _raise(self, at: int, buckets: pyramid.Buckets, made: list[Packed]) -> None:
        """Add buckets to a level, pack its full chunks and hand them to the level above."""
        level = self.levels[at]
        level.waiting.append(buckets)
        span = pyramid.chunk_buckets(len(buckets.columns))
        if level.count() < span:
            return
        waiting = pyramid.joined(level.waiting)
        full = len(waiting) // span * span
        if at + 1 == len(self.levels):
            self.levels.append(pyramid.Level(level.size * pyramid.FACTOR))
        for start in range(0, full, span):
            part = waiting.slice(start, start + span)
            made += self._pack_level(at, level.emitted, part)
            level.emitted += 1
            self._raise(at + 1, pyramid.coarser(part), made)
        level.waiting = [waiting.slice(full, len(waiting))] if full < len(waiting) else []

    def _pack_level(self, at: int, chunk: int, part: pyramid.Buckets) -> list[Packed]:
        payloads = pyramid.pack_level(part, self.levels[at].size)
        places = [*range(len(part.columns)), INDEX]
        return [
            chunks.pack(chunks.key(0, at + 1, place, chunk), payload, len(part))
            for place, payload in zip(places, payloads, strict=True)
        ]

    def finish(self, meanwhile: Meanwhile = None) -> tuple[list[Packed], Built]:
        """The last chunks, and the facts of the row that publishes them. The builder is used up.

        ``meanwhile`` is called at the same time.
        """
        if self._place_of_late() is not None:
            raise StoreError(f"The values of '{self.late}' were not said.")
        made = [one for packed in self.drain(CHUNK) for one in packed]
        ((last, built),) = parallel.results([self._end], meanwhile) if meanwhile else (self._end(),)
        return [*made, *last], built

    def _end(self) -> tuple[list[Packed], Built]:
        fields = self.fields or []
        made: list[Packed] = []
        tail = list(concat(self._waiting).values())
        n = self._held
        ends = [b""] * len(fields)
        total = self.rows + n
        if n:
            for place, column in enumerate(tail):
                small = total <= SMALL
                packed = self._pack(place, self.rows // CHUNK, column, self.stats[place], small=small)
                ends[place] = packed.digest
                made.append(packed)
        has_levels = bool(self.levels) and total > CHUNK
        if has_levels:
            self._top(tail, n, total, made)
        layout = Layout.of(fields)
        chained = [stats.chain + end for stats, end in zip(self.stats, ends, strict=True)]
        content = hashlib.sha256(b"".join([layout.digest, total.to_bytes(8, "little"), *chained])).digest()
        base = self.levels[0].size if has_levels else 0
        return made, Built(total, base, pyramid.chunk_buckets(len(fields)), layout, content, self.stats)

    def _top(self, tail: Sequence[Column], n: int, total: int, made: list[Packed]) -> None:
        """The last, partial chunk of every level, each from the last buckets of the one below."""
        below = [pyramid.buckets_of(tail, self.rows, self.levels[0].size)] if n else []
        at = 0
        while -(-total // self.levels[at].size) >= pyramid.LEAST_BUCKETS:
            level = self.levels[at]
            parts = [*level.waiting, *below]
            level.waiting = []
            below = []
            if parts:
                rest = pyramid.joined(parts)
                span = pyramid.chunk_buckets(len(rest.columns))
                for start in range(0, len(rest), span):
                    part = rest.slice(start, min(start + span, len(rest)))
                    made += self._pack_level(at, level.emitted, part)
                    level.emitted += 1
                below = [pyramid.coarser(rest)]
            at += 1
            if at == len(self.levels):
                self.levels.append(pyramid.Level(level.size * pyramid.FACTOR))


def _magnitude(column: Column | None) -> int:
    if column is None or column.kind != "integer" or not len(column):
        return 0
    values = column.values if column.valid is None else column.values[column.valid]
    return max(abs(int(values.min())), abs(int(values.max()))) if len(values) else 0
