"""Series as they were at an earlier time: the samples that they had then, exact and reduced to the same bits.

An append leaves full chunks as they are, so those before the cut are read from the file. The chunks after them, which
were partial then, are made again from the samples and held in memory. The log says how many samples there were and what
their hash was: equal hashes prove that the samples only grew since.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...errors import Conflict
from ...quick_import import later
from ...table import Column, Table, from_micros
from . import pyramid, series_log
from .chunk_builder import Builder, Built, Start
from .chunks import CHUNK, Fetcher, Head, Packed, key, open_head
from .layout import Field, Layout, Row, Stats, load_stats, pack_stats
from .reading import Reading, levels_at
from .series_log import Entry

if TYPE_CHECKING:
    from . import steps_then
else:  # steps are computed anew only for a series as it was
    steps_then = later("workbench.store.series.steps_then")


class Replaced(Conflict):
    """The samples of an owner as of a time are not kept: they were replaced since, not only added to."""

    def __init__(self, owner: str, as_of: int, name: str | None = None) -> None:
        moment = from_micros(as_of).strftime("%Y-%m-%d %H:%M:%S UTC")
        super().__init__(
            f"The samples of '{name or owner}' as of {moment} are not kept: they were replaced since, not only added "
            "to. Draw it as it is now, or leave it out."
        )
        self.owner, self.as_of = owner, as_of


MOST_BYTES = 64 << 20
"""Most bytes of chunks that are held for all series together."""


@dataclass(frozen=True)
class Cut:
    """A series as it was: its row and columns, and the chunks that differ from those in the file, by key of series 0.

    ``proven``: its hash is the one that was noted then.
    """

    row: Row
    layout: Layout
    chunks: Mapping[int, Packed]
    proven: bool

    @property
    def size(self) -> int:
        return sum(len(one.payload) for one in self.chunks.values()) + 1024


class Opened(Protocol):
    """The series of a store, as far as this module needs them."""

    def _open(self, connection: sqlite3.Connection, row: Row) -> Reading: ...
    def _layout_of(self, connection: sqlite3.Connection, owner: str, digest: bytes) -> Layout: ...
    def _fetcher(self, connection: sqlite3.Connection, row: Row, layout: Layout) -> Fetcher: ...


class PastFetcher(Fetcher):
    """Reads the chunks of a cut series: those that were made again from memory, the others from the file."""

    def __init__(self, base: Fetcher, made: Mapping[int, Packed]) -> None:
        super().__init__(base.connection, base.series, base.owner, base.names, base.elsewhere)
        self._made = made

    def payloads(self, level: int, column: int, first: int, last: int) -> Iterator[bytes]:
        end = last
        while end >= first and key(0, level, column, end) in self._made:
            end -= 1
        if end >= first:
            yield from super().payloads(level, column, first, end)
        for chunk in range(max(end + 1, first), last + 1):
            yield self._made[key(0, level, column, chunk)].payload

    def head(self, column: int, chunk: int) -> Head:
        made = self._made.get(key(0, 0, column, chunk))
        return super().head(column, chunk) if made is None else _head(made)

    def heads(self, column: int, count: int) -> Iterator[Head]:
        end = count
        while end > 0 and key(0, 0, column, end - 1) in self._made:
            end -= 1
        yield from super().heads(column, end)
        for chunk in range(end, count):
            yield _head(self._made[key(0, 0, column, chunk)])


def _head(made: Packed) -> Head:
    number, raw, _ = made.stored(0)
    head = open_head(number, raw)
    if head is None:
        raise AssertionError("a chunk that was packed a moment ago has no head")
    return head


class Past:
    """Cuts the series of a store; cuts that were made are held, the last used ones."""

    def __init__(self, series: Opened) -> None:
        self._series = series
        self._held: OrderedDict[tuple[str, str, int, int], Cut] = OrderedDict()
        self._lock = threading.Lock()

    def reading(
        self, connection: sqlite3.Connection, rows: Mapping[str, Row], dataset: str, as_of: int
    ) -> Reading | None:
        """A dataset of an owner as it was; ``rows`` are those of its datasets today. None if it had none.

        Raises
        ------
        Conflict
            If its samples were replaced since.
        """
        row = rows.get(dataset)
        if row is None:
            return None
        base = rows.get("series")
        if row.revision <= as_of and (base is None or base.revision <= as_of):
            return self._series._open(connection, row)
        cut = self._cut(connection, rows, dataset, as_of)
        if cut is None:
            return None
        fetch = self._series._fetcher(connection, cut.row, cut.layout)
        return Reading(cut.row, cut.layout, PastFetcher(fetch, cut.chunks))

    def is_proven(self, connection: sqlite3.Connection, rows: Mapping[str, Row], dataset: str, as_of: int) -> bool:
        """Whether a dataset is, to the bit, what it was; errors as `reading`."""
        row, base = rows.get(dataset), rows.get("series")
        if row is None or (row.revision <= as_of and (base is None or base.revision <= as_of)):
            return True
        cut = self._cut(connection, rows, dataset, as_of)
        return cut is None or cut.proven

    def _cut(
        self, connection: sqlite3.Connection, rows: Mapping[str, Row], dataset: str, as_of: int
    ) -> Cut | None:
        row = rows[dataset]
        base = rows.get("series")
        then = series_log.last(connection, row.owner, "series" if base is not None else dataset, as_of)
        if then is None:
            return None
        known = (row.owner, dataset, row.revision, then.revision)
        with self._lock:
            cut = self._held.get(known)
            if cut is not None:
                self._held.move_to_end(known)
        if cut is None:
            if dataset == "series" or base is None:
                cut = self._samples(connection, row, then, as_of)
            else:
                cut = self._derived(connection, rows, dataset, then, as_of)
            self._hold(known, cut)
        return cut

    def _hold(self, known: tuple[str, str, int, int], cut: Cut) -> None:
        with self._lock:
            self._held[known] = cut
            while len(self._held) > 1 and sum(one.size for one in self._held.values()) > MOST_BYTES:
                self._held.popitem(last=False)

    def _samples(self, connection: sqlite3.Connection, row: Row, then: Entry, as_of: int) -> Cut:
        reading = self._series._open(connection, row)
        if then.rows > row.rows:
            raise Replaced(row.owner, as_of)
        layout = reading.layout
        if then.layout is not None:
            layout = self._series._layout_of(connection, row.owner, then.layout)
        if not set(layout.names) <= set(reading.layout.names):
            raise Replaced(row.owner, as_of)
        built, made = _cut_at(reading, layout, then.rows)
        if then.content is not None and built.content != then.content:
            raise Replaced(row.owner, as_of)
        return Cut(_row(row, then, built), built.layout, made, then.content is not None)

    def _derived(
        self, connection: sqlite3.Connection, rows: Mapping[str, Row], dataset: str, then: Entry, as_of: int
    ) -> Cut:
        """The steps or cycles that followed from the samples of then."""
        row = rows[dataset]
        noted = series_log.followed(connection, row.owner, dataset, then, as_of)
        now = self._series._open(connection, row)
        if noted is not None and noted.content == row.content and then.revision == rows["series"].revision:
            return Cut(row, now.layout, {}, True)
        series = self.reading(connection, {"series": rows["series"]}, "series", as_of)
        if series is None:
            raise Replaced(row.owner, as_of)
        stored = self._series._open(connection, rows["steps"])
        steps = steps_then.steps(
            series,
            stored.table(stored.layout.names, 0, stored.row.rows),
            _tail(connection, row.owner, then, as_of),
        )
        table = steps if dataset == "steps" else steps_then.cycles(steps)
        builder = Builder()
        fields = now.layout.fields
        if noted is not None and noted.layout is not None:
            fields = self._series._layout_of(connection, row.owner, noted.layout).fields
        kept = {one.name: _as_field(table[one.name], one) for one in fields if one.name in table}
        builder.feed(Table(kept, table.n))
        packed, built = builder.finish()
        proven = noted is not None and noted.content is not None and noted.content == built.content
        entry = then if noted is None else noted
        return Cut(_row(row, entry, built), built.layout, {one.key: one for one in packed}, proven)


def _tail(connection: sqlite3.Connection, owner: str, then: Entry, as_of: int) -> bytes | None:
    """What was noted of the last step of then."""
    noted = series_log.followed(connection, owner, "steps", then, as_of)
    return None if noted is None else noted.tail


def _cut_at(reading: Reading, layout: Layout, rows: int) -> tuple[Built, dict[int, Packed]]:
    """The first ``rows`` samples: what is known of them, and their chunks after the full ones."""
    full = rows // CHUNK * CHUNK if rows > CHUNK else 0
    builder = Builder()
    if full:
        levels = _levels_at(reading, layout, full)
        builder = Builder.resume(Start(list(layout.fields), _stats_at(reading, layout, full), full, levels))
    table = reading.table(layout.names, full, rows)
    fields = {one.name: one for one in layout.fields}
    builder.feed(Table({name: _as_field(column, fields[name]) for name, column in table.items()}, table.n))
    packed, built = builder.finish()
    return built, {one.key: one for one in packed}


def _levels_at(reading: Reading, layout: Layout, full: int) -> list[pyramid.Level]:
    levels = levels_at(reading, full)
    places = [reading.layout.places[one.name] for one in layout.fields]
    for level in levels:
        level.waiting = [
            replace(
                one,
                columns=[
                    _as_field(one.columns[place], field)
                    for place, field in zip(places, layout.fields, strict=True)
                ],
            )
            for one in level.waiting
        ]
    return levels


def _stats_at(reading: Reading, layout: Layout, full: int) -> list[Stats]:
    """The statistics of full chunks, from their heads."""
    made = []
    today = load_stats(reading.row.stats)
    for one in layout.fields:
        place = reading.layout.places[one.name]
        stats = Stats()
        heads = list(reading.fetch.heads(place, full // CHUNK))
        for head in heads:
            stats.link(head.digest)
            stats.nulls += head.missing
            if head.low is not None and head.high is not None:
                stats.low = head.low if stats.low is None else min(stats.low, head.low)
                stats.high = head.high if stats.high is None else max(stats.high, head.high)
        stats.sorted = today[place].sorted or _is_sorted(reading, place, heads)
        if stats.sorted:
            stats.last = stats.high
        made.append(stats)
    return made


def _is_sorted(reading: Reading, place: int, heads: Sequence[Head]) -> bool:
    """Whether the values of full chunks never fall; most columns are refused by their heads alone."""
    if reading.layout.fields[place].kind in ("text", "null") or any(head.missing for head in heads):
        return False
    last = -np.inf
    for head in heads:
        if head.low is None or head.high is None or head.low < last:
            return False
        last = head.high
    for chunk in range(len(heads)):
        values = reading.column(place, chunk * CHUNK, (chunk + 1) * CHUNK).values
        if not bool((values[1:] >= values[:-1]).all()) or not bool(np.isfinite(values).all()):
            return False
    return True


def _as_field(column: Column, field: Field) -> Column:
    """A column as it was before later samples widened its kind; the values are the same."""
    if field.kind == column.kind and field.dtype == column.values.dtype:
        return column
    if field.kind == "null":
        return Column.nulls(len(column))
    if column.kind == "null" or field.kind == "text":
        return column
    values = column.values if column.valid is None else np.where(column.valid, column.values, 0)
    return Column(field.kind, values.astype(field.dtype), column.valid)


def _row(row: Row, then: Entry, built: Built) -> Row:
    return row._replace(
        revision=then.revision,
        rows=built.rows,
        base=built.base,
        buckets=built.buckets,
        published=then.time,
        layout=built.layout.digest,
        content=built.content,
        stats=pack_stats(built.stats),
    )
