"""Reads one published series: exact columns, windows, and few samples that represent many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...dataset import Samples
from ...errors import BadRequest, NotFound, instead
from ...table import Column, Plain, Table, concat_columns
from ..db.remembered import Remembered
from . import codec, compiled, pyramid
from . import sample_selection as selection
from .chunks import CHUNK, INDEX, Fetcher, Head
from .layout import Field, Layout, Row, Stats, load_stats_of

Window: TypeAlias = tuple[float | int | None, float | int | None]
Limits: TypeAlias = tuple[Plain, Plain]
"""The least and the greatest value of a window: numpy scalars of the dtype of their column."""
Rows: TypeAlias = NDArray[np.int64]
RAW_EDGE = CHUNK
_ENDS = Remembered(most_things=4096, most_bytes=8 << 20)
"""Whether columns of series that were appended to go on rising, by the content of the series."""


@dataclass
class Reading:
    """One series inside one snapshot."""

    row: Row
    layout: Layout
    fetch: Fetcher
    _chunks: dict[tuple[int, int], Column] = field(default_factory=dict)
    _known_stats: dict[int, Stats] = field(default_factory=dict)

    def place(self, name: str) -> int:
        """The number of a column.

        Raises
        ------
        NotFound
            With the nearest names there are.
        """
        place = self.layout.places.get(name)
        if place is not None:
            return place
        raise NotFound(
            f"The {self.row.dataset} of '{self.row.owner}' has no column '{name}'. "
            f"{instead(name, self.layout.names, 'columns')}"
        )

    def table(self, names: Iterable[str], start: int, stop: int) -> Table:
        """The rows ``start`` to before ``stop`` of some columns, exact."""
        start, stop = max(start, 0), min(stop, self.row.rows)
        count = max(stop - start, 0)
        places = {name: self.place(name) for name in names}
        self._expect(places.values(), start, start + count)
        return Table({name: self.column(place, start, start + count) for name, place in places.items()}, count)

    def _expect(self, places: Iterable[int], start: int, stop: int) -> None:
        if stop > start:
            self.fetch.expect((0, place, start // CHUNK, (stop - 1) // CHUNK) for place in places)

    def column(self, place: int, start: int, stop: int) -> Column:
        one = self.layout.fields[place]
        if stop <= start:
            return _empty(one)
        first, last = start // CHUNK, (stop - 1) // CHUNK
        if one.kind != "text":
            return self._joined(one, place, start, stop)
        if first == last:
            return self._chunk(place, first).slice(start - first * CHUNK, stop - first * CHUNK)
        parts = []
        for chunk, payload in enumerate(self.fetch.payloads(0, place, first, last), first):
            with self.fetch.decoding(0, place, chunk):
                parts.append(codec.decode_column(payload, one.kind, one.dtype))
        return concat_columns(parts).slice(start - first * CHUNK, stop - first * CHUNK)

    def _joined(self, one: Field, place: int, start: int, stop: int) -> Column:
        values = np.empty(stop - start, one.dtype)
        valid: NDArray[np.bool_] | None = None
        first, last = start // CHUNK, (stop - 1) // CHUNK
        held = {chunk for chunk in (first, last) if (place, chunk) in self._chunks}
        before, after = first + (first in held), last - (last in held)
        payloads = self.fetch.payloads(0, place, before, after) if before <= after else iter(())
        for chunk in range(first, last + 1):
            at = chunk * CHUNK
            low, high = max(start, at), min(stop, at + CHUNK)
            part = values[low - start : high - start]
            if chunk in held:
                known = self._chunks[place, chunk].valid
                part[:] = self._chunks[place, chunk].values[low - at : high - at]
                known = None if known is None else known[low - at : high - at]
            else:
                payload = next(payloads)
                of = min(CHUNK, self.row.rows - at)
                with self.fetch.decoding(0, place, chunk):
                    known = codec.decode_into(payload, part, low - at, of)
            if known is not None:
                valid = np.ones(len(values), bool) if valid is None else valid
                valid[low - start : high - start] = known
        return Column(one.kind, values, valid)

    def _chunk(self, place: int, chunk: int) -> Column:
        """One chunk, kept for the rest of this reading, because a window looks at its ends more than once."""
        known = self._chunks.get((place, chunk))
        if known is None:
            one = self.layout.fields[place]
            (payload,) = self.fetch.payloads(0, place, chunk, chunk)
            with self.fetch.decoding(0, place, chunk):
                known = codec.decode_column(payload, one.kind, one.dtype)
            self._chunks[place, chunk] = known
        return known

    def sample(
        self, x: str, columns: Sequence[str], window: Window | None, most: int, known: Sequence[str] = ()
    ) -> Samples:
        """At most ``most`` samples of those whose x lies in the window and that have a value in each of the columns
        ``known``."""
        names = list(dict.fromkeys([x, *columns]))
        wanted = [self.place(name) for name in dict.fromkeys(columns)]
        needed = [self.place(name) for name in known]
        if window is None or window == (None, None):
            return self._of_rows(names, x, wanted, needed, 0, self.row.rows, most)
        bounds = _bounds(self.layout.fields[self.place(x)], window)
        if bounds is None:
            return self._chosen(names, np.zeros(0, np.int64), 0)
        if self._is_sorted(x):
            start, stop = self._located(self.place(x), bounds)
            return self._of_rows(names, x, wanted, needed, start, stop, most)
        return self._of_scattered(names, x, wanted, needed, bounds, most)

    def sample_rows(
        self, x: str, columns: Sequence[str], rows: tuple[int, int], most: int, known: Sequence[str] = ()
    ) -> Samples:
        """At most ``most`` samples of those with the numbers ``rows[0]`` to before ``rows[1]`` that have a value in
        each of the columns ``known``."""
        names = list(dict.fromkeys([x, *columns]))
        wanted = [self.place(name) for name in dict.fromkeys(columns)]
        start = min(max(rows[0], 0), self.row.rows)
        stop = min(max(rows[1], start), self.row.rows)
        return self._of_rows(names, x, wanted, [self.place(name) for name in known], start, stop, most)

    def _of_rows(
        self, names: list[str], x: str, wanted: list[int], needed: list[int], start: int, stop: int, most: int
    ) -> Samples:
        """Samples of a range of rows that have a value in each of the columns ``needed``."""
        if stop > start and any(self._lacks(place, start, stop) for place in needed):
            return self._of_known(names, x, wanted, needed, start, stop, most)
        return self._of_range(names, x, wanted, start, stop, most)

    def _lacks(self, place: int, start: int, stop: int) -> bool:
        """Whether a column has a null or NaN in a chunk of these rows."""
        heads = list(self.fetch.heads(place, -(-stop // CHUNK)))
        return any(head.missing for head in heads[start // CHUNK :])

    def _stats(self, place: int) -> Stats:
        known = self._known_stats.get(place)
        if known is None:
            known = self._known_stats[place] = load_stats_of(self.row.stats, place)
        return known

    def _is_sorted(self, x: str) -> bool:
        place = self.place(x)
        return self._stats(place).sorted and (self.row.entries < 2 or self._goes_on(place))

    def _goes_on(self, place: int) -> bool:
        """Whether no chunk of a column begins below the end of the one before.

        Before 0.1.1 an append that began exactly between two chunks did not compare them, so the statistics that it
        left may say that a column never falls where it does.
        """

        def look() -> str:
            heads = list(self.fetch.heads(place, -(-self.row.rows // CHUNK)))
            falls = any(two.low is None or one.high is None or two.low < one.high for one, two in pairwise(heads))
            return "falls" if falls else "rises"

        return _ENDS.made((self.row.content, place), look) == "rises"

    def _located(self, place: int, bounds: Limits) -> tuple[int, int]:
        """The range of rows whose x, never falling, lies within the bounds."""
        low, high = bounds
        return self._first(place, low, "left"), self._first(place, high, "right")

    def _first(self, place: int, bound: Plain, side: str) -> int:
        """The first row whose value is not below (``left``) or is above (``right``) the bound."""
        before, after = 0, -(-self.row.rows // CHUNK)
        middle = self._guess(place, bound, after)
        while before < after:
            head = self.fetch.head(place, middle)
            low, top = head.low, head.high
            begins_below = low is not None and (low < bound or (side == "right" and low == bound))
            if top is None or top < bound or (side == "right" and top == bound):
                before = middle + 1
            elif begins_below:  # then no chunk before this one has the row
                before = after = middle
            else:
                after = middle
            middle = (before + after) // 2
        if before * CHUNK >= self.row.rows:
            return self.row.rows
        values = self._chunk(place, before).values
        return before * CHUNK + int(np.searchsorted(values, bound, side="left" if side == "left" else "right"))

    def _guess(self, place: int, bound: Plain, chunks: int) -> int:
        """The chunk in which a bound lies if the values rise evenly, as times mostly do."""
        stats = self._stats(place)
        low, high = stats.low, stats.high
        if low is None or high is None or bound <= low:
            return 0
        share = (float(bound) / 2 - low / 2) / (high / 2 - low / 2) if bound < high else 1.0
        return min(int(share * self.row.rows) // CHUNK, chunks - 1)

    def _of_range(self, names: list[str], x: str, wanted: list[int], start: int, stop: int, most: int) -> Samples:
        total = max(stop - start, 0)
        if total <= most:
            table = self.table(names, start, stop)
            return Samples(np.arange(start, start + total), table, True, total)
        if most < 2:
            return self._chosen(names, np.arange(start, start + most), total)
        gathered = _Gathered(self, names, wanted)
        gathered.range(start, stop, most)
        return gathered.samples(x, most, total, ordered=self._is_sorted(x))

    def _of_scattered(
        self, names: list[str], x: str, wanted: list[int], needed: list[int], bounds: Limits, most: int
    ) -> Samples:
        """Samples of an x in no order: chunks whose extremes lie outside are not read; one chunk is held."""
        place = self.place(x)
        heads = self.fetch.heads(place, -(-self.row.rows // CHUNK))
        touched = [chunk for chunk, head in enumerate(heads) if _touches(head, bounds)]
        self.fetch.expect((0, place, chunk, chunk) for chunk in touched)
        found = [(chunk, self._inside(place, chunk, bounds) & self._known(needed, chunk)) for chunk in touched]
        return self._of_masks(names, x, wanted, found, most)

    def _of_known(
        self, names: list[str], x: str, wanted: list[int], needed: list[int], start: int, stop: int, most: int
    ) -> Samples:
        """As ``_of_rows``, where a value may be missing; one chunk is held."""
        chunks = range(start // CHUNK, -(-stop // CHUNK))
        self.fetch.expect((0, place, chunks[0], chunks[-1]) for place in needed)
        found = []
        for chunk in chunks:
            mask = np.zeros(min(CHUNK, self.row.rows - chunk * CHUNK), bool)
            mask[max(start - chunk * CHUNK, 0) : stop - chunk * CHUNK] = True
            found.append((chunk, np.packbits(mask) & self._known(needed, chunk)))
        return self._of_masks(names, x, wanted, found, most)

    def _known(self, needed: list[int], chunk: int) -> NDArray[np.uint8]:
        """The samples of a chunk that have a value in each of the columns ``needed``, packed."""
        mask = np.ones(min(CHUNK, self.row.rows - chunk * CHUNK), bool)
        for place in needed:
            mask &= ~self._chunk(place, chunk).missing()
            del self._chunks[place, chunk]
        return np.packbits(mask)

    def _of_masks(
        self, names: list[str], x: str, wanted: list[int], found: list[tuple[int, NDArray[np.uint8]]], most: int
    ) -> Samples:
        """Samples of chunks, of each those that its mask names, packed."""
        counts = [int(np.count_nonzero(np.unpackbits(packed))) for _, packed in found]
        total = sum(counts)
        if total <= most or most < 2:
            parts = [np.flatnonzero(_mask(packed)) + chunk * CHUNK for chunk, packed in found]
            rows = np.concatenate(parts)[:most] if parts else np.zeros(0, np.int64)
            return self._chosen(names, rows, total)
        size = selection.bucket_size(total, most, len(wanted))
        gathered = _Gathered(self, names, wanted)
        used = [chunk for (chunk, _), count in zip(found, counts, strict=True) if count]
        self.fetch.expect((0, self.place(name), chunk, chunk) for name in names for chunk in used)
        for (chunk, packed), count in zip(found, counts, strict=True):
            if count:
                rows = np.flatnonzero(_mask(packed))
                gathered.scattered(chunk, rows, size)
                self._chunks.clear()
        return gathered.samples(x, most, total, ordered=False)

    def _inside(self, place: int, chunk: int, bounds: Limits) -> NDArray[np.uint8]:
        column = self._chunk(place, chunk)
        del self._chunks[place, chunk]
        with np.errstate(invalid="ignore"):
            mask = (column.values >= bounds[0]) & (column.values <= bounds[1])
        if column.valid is not None:
            mask &= column.valid
        return np.packbits(mask)

    def _chosen(self, names: list[str], rows: Rows, total: int) -> Samples:
        """The samples with these numbers, a chunk at a time."""
        edges = np.searchsorted(rows, np.arange(0, self.row.rows + CHUNK, CHUNK)).tolist()
        parts = [(chunk, a, b) for chunk, (a, b) in enumerate(pairwise(edges)) if b > a]
        columns: dict[str, Column] = {}
        self.fetch.expect((0, self.place(name), chunk, chunk) for name in names for chunk, _, _ in parts)
        for name in names:
            place = self.place(name)
            made = []
            for chunk, a, b in parts:
                made.append(self._chunk(place, chunk).take(rows[a:b] - chunk * CHUNK))
                del self._chunks[place, chunk]
            columns[name] = concat_columns(made) if made else _empty(self.layout.fields[place])
        return Samples(rows, Table(columns, len(rows)), len(rows) == total, total)


@dataclass
class _Gathered:
    """Candidates of a reduced read, with the columns that were asked for."""

    reading: Reading
    names: list[str]
    wanted: list[int]
    rows: list[Rows] = field(default_factory=list)
    columns: dict[str, list[Column]] = field(default_factory=dict)

    def _add(self, rows: Rows, columns: Iterable[Column]) -> None:
        self.rows.append(rows)
        for name, column in zip(self.names, columns, strict=True):
            self.columns.setdefault(name, []).append(column)

    def range(self, start: int, stop: int, most: int) -> None:
        """Add candidates of a range of rows: the coarsest level that is fine enough, finer ones at both ends."""
        level = self._level(stop - start, most)
        size = selection.bucket_size(stop - start, most, len(self.wanted))
        self._segment(start, stop, level, size)

    def _level(self, n: int, most: int) -> int:
        """The coarsest level with enough buckets in n rows; 0 for the samples themselves."""
        row = self.reading.row
        need = selection.least_buckets(most, len(self.wanted))
        level, size = 0, row.base
        while size and n / size >= need and -(-row.rows // size) >= pyramid.LEAST_BUCKETS:
            level, size = level + 1, size * pyramid.FACTOR
        return level

    def _segment(self, start: int, stop: int, level: int, size: int) -> None:
        if stop <= start:
            return
        if level == 0 or stop - start <= RAW_EDGE:
            self._raw(start, stop, size)
            return
        row = self.reading.row
        width = row.base * pyramid.FACTOR ** (level - 1)
        first = -(-start // width)
        last = -(-stop // width) if stop == row.rows else stop // width
        if last <= first:
            self._segment(start, stop, level - 1, size)
            return
        self._segment(start, first * width, level - 1, size)
        self._buckets(level, width, first, last)
        self._segment(last * width, stop, level - 1, size)

    def _raw(self, start: int, stop: int, size: int) -> None:
        reading = self.reading
        reading._expect((reading.place(name) for name in self.names), start, stop)
        read = {name: reading.column(reading.place(name), start, stop) for name in self.names}
        ranked = [read[reading.layout.names[place]] for place in self.wanted]
        places = selection.candidates(ranked, stop - start, size)
        self._add(places + start, [column.take(places) for column in read.values()])

    def scattered(self, chunk: int, rows: Rows, size: int) -> None:
        """Add candidates of the samples ``rows`` of one chunk."""
        reading = self.reading
        read = {name: reading._chunk(reading.place(name), chunk).take(rows) for name in self.names}
        ranked = [read[reading.layout.names[place]] for place in self.wanted]
        places = selection.candidates(ranked, len(rows), size)
        self._add(rows[places] + chunk * CHUNK, [column.take(places) for column in read.values()])

    def _buckets(self, level: int, width: int, first: int, last: int) -> None:
        """The kept rows of the buckets ``first`` to before ``last`` of a level."""
        reading = self.reading
        span = reading.row.buckets
        begin, end = first // span, (last - 1) // span
        places = [reading.place(name) for name in self.names]
        reading.fetch.expect((level, place, begin, end) for place in (INDEX, *places))
        streams = [reading.fetch.payloads(level, place, begin, end) for place in (INDEX, *places)]
        for chunk, (index, *payloads) in enumerate(zip(*streams, strict=True), begin):
            with reading.fetch.decoding(level, INDEX, chunk):
                of_group, numbers = pyramid.frames_of(index)
                used = sorted({int(of_group[0]), *(int(of_group[place + 1]) for place in self.wanted)})
                decoded = [codec.decode(numbers[frame])[0] for frame in used]
                count = len(decoded[0]) // 2
                cut = slice(max(first - chunk * span, 0), min(last - chunk * span, count))
                starts = (np.arange(count) + chunk * span) * width
                rows = np.empty((len(used), 2, count), np.int64)
                for one, made in zip(decoded, rows, strict=True):
                    np.add(one.reshape(2, count), starts, out=made)
            order, kept = _order(rows[:, :, cut])
            columns = []
            for payload, place in zip(payloads, places, strict=True):
                with reading.fetch.decoding(level, place, chunk):
                    columns.append(
                        _frames_column(payload, used, reading.layout.fields[place], count, cut).take(order)
                    )
            self._add(kept, columns)

    def samples(self, x: str, most: int, total: int, *, ordered: bool) -> Samples:
        rows = np.concatenate(self.rows)
        joined = {name: concat_columns(parts) for name, parts in self.columns.items()}
        names = self.reading.layout.names
        ranked = [joined[names[place]] for place in self.wanted]
        along = joined[x].values if ordered else None
        kept = selection.choose(along, ranked or [joined[x]], most)
        table = Table({name: column.take(kept) for name, column in joined.items()}, len(kept))
        return Samples(rows[kept], table, False, total)


def runs_of(row: Row, layout: Layout) -> list[tuple[int, int, int]]:
    """Level, column and number of chunks of all columns of a series, the coarsest level first."""
    places = range(len(layout.fields))
    made = [[(0, place, -(-row.rows // CHUNK)) for place in places]] if row.rows else []
    size = row.base
    while size and -(-row.rows // size) >= pyramid.LEAST_BUCKETS:
        count = (-(-row.rows // size) - 1) // row.buckets + 1
        made.append([(len(made), place, count) for place in (*places, INDEX)])
        size *= pyramid.FACTOR
    return [run for level in reversed(made) for run in level]


def levels_at(reading: Reading, rows: int) -> list[pyramid.Level]:
    """The levels as they were after ``rows`` samples, which are full chunks."""
    row = reading.row
    levels: list[pyramid.Level] = []
    size, complete = row.base, rows // row.base if row.base else 0
    while size and complete:
        level = pyramid.Level(size, complete // row.buckets)
        if complete % row.buckets:
            start = level.emitted * row.buckets
            level.waiting = [level_buckets(reading, len(levels) + 1, size, start, complete)]
        levels.append(level)
        size, complete = size * pyramid.FACTOR, level.emitted * row.buckets // pyramid.FACTOR
    return levels


def level_buckets(reading: Reading, level: int, size: int, start: int, stop: int) -> pyramid.Buckets:
    """The buckets ``start`` to before ``stop`` of a level, all groups and columns; both in one chunk."""
    chunk = start // reading.row.buckets
    first, last = start - chunk * reading.row.buckets, stop - chunk * reading.row.buckets
    reading.fetch.expect((level, place, chunk, chunk) for place in (INDEX, *range(len(reading.layout.fields))))
    (index,) = reading.fetch.payloads(level, INDEX, chunk, chunk)
    with reading.fetch.decoding(level, INDEX, chunk):
        of_group, numbers = pyramid.frames_of(index)
        decoded = [codec.decode(number)[0].reshape(2, -1) for number in numbers]
    used = range(len(numbers))
    pick = (of_group.astype(np.int64)[None, :, None] * 2 + np.arange(2)) * (last - first)
    pick = (pick + np.arange(last - first)[:, None, None]).ravel()
    cut = slice(first, last)
    offsets = np.concatenate([one for number in decoded for one in number[:, cut]])
    rows = offsets[pick].reshape(last - first, -1, 2) + (np.arange(start, stop) * size)[:, None, None]
    columns = []
    for place, one in enumerate(reading.layout.fields):
        (payload,) = reading.fetch.payloads(level, place, chunk, chunk)
        with reading.fetch.decoding(level, place, chunk):
            columns.append(_frames_column(payload, used, one, decoded[0].shape[1], cut).take(pick))
    return pyramid.Buckets(rows, columns)


def _order(rows: Rows) -> tuple[Rows, Rows]:
    """Places that sort the rows of some buckets (frames, 2, buckets) and drop repeated ones, and the rows so sorted."""
    found = compiled.ordered(rows.reshape(-1, rows.shape[2]))
    if found is not None:
        return found
    # Packed with their places, bucket by bucket, they are nearly in order: a sort is much faster than an argsort.
    first = int(rows.min())
    packed = (rows.reshape(-1, rows.shape[2]) - first) << 20
    packed |= np.arange(rows.size).reshape(packed.shape)
    packed = np.sort(packed.T.ravel(), kind="stable")
    numbers = packed >> 20
    fresh = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=fresh[1:])
    return (packed & ((1 << 20) - 1))[fresh], numbers[fresh] + first


def _frames_column(payload: bytes, used: Sequence[int], one: Field, count: int, cut: slice) -> Column:
    """The values of some frames of ``count`` buckets at the buckets ``cut``: of each frame the first rows, then the
    second ones."""
    frames = pyramid.some_frames(payload, used)
    if one.kind == "text":
        parts = [codec.decode_column(frame, one.kind, one.dtype) for frame in frames]
        stop = min(cut.stop, count)
        return concat_columns([part.slice(at + cut.start, at + stop) for part in parts for at in (0, count)])
    values = np.empty((len(used), 2, count), one.dtype)
    known = [codec.decode_into(frame, part.ravel()) for frame, part in zip(frames, values, strict=True)]
    valid = None
    if any(mask is not None for mask in known):
        there = [np.ones(2 * count, bool) if mask is None else mask for mask in known]
        valid = np.concatenate(there).reshape(values.shape)[:, :, cut].ravel()
    return Column(one.kind, values[:, :, cut].ravel(), valid)


def _empty(one: Field) -> Column:
    return Column(one.kind, np.zeros(0, one.dtype), np.zeros(0, bool) if one.kind == "null" else None)


def _mask(packed: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.unpackbits(packed).view(np.bool_)


def _touches(head: Head, bounds: Limits) -> bool:
    """Whether a chunk may hold a value inside; infinities are not among its extremes."""
    if np.isinf(bounds[0]) or np.isinf(bounds[1]):
        return head.n > head.missing
    return head.low is not None and head.high is not None and head.low <= bounds[1] and head.high >= bounds[0]


def _bounds(one: Field, window: Window) -> Limits | None:
    """The bounds in numbers that compare exactly with the column; None where nothing can lie inside.

    Raises
    ------
    BadRequest
        If values of this kind have no order of numbers.
    """
    low = -np.inf if window[0] is None else window[0]
    high = np.inf if window[1] is None else window[1]
    if one.kind == "null" or not low <= high:
        return None
    if one.kind in ("text", "boolean", "mixed"):
        raise BadRequest(f"Column '{one.name}' holds no numbers or date-times, so it has no window.")
    if one.dtype.kind == "f":
        return np.float64(low), np.float64(high)
    limits = np.iinfo(one.dtype)
    lowest = limits.min if low == -np.inf else -(-low // 1) if low != np.inf else limits.max + 1
    highest = limits.max if high == np.inf else high // 1 if high != -np.inf else limits.min - 1
    first, last = max(int(lowest), limits.min), min(int(highest), limits.max)
    return (one.dtype.type(first), one.dtype.type(last)) if first <= last else None
