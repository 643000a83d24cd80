"""The pyramid: real rows of a long series at several levels, so that a reduced read looks at few rows.

A level cuts the series into buckets of B rows. Of each bucket it keeps rows in groups of two: group 0 the first
and the last row, group 1 + c the rows of the least and the greatest value of column c, the earlier one first.
Every kept row has its number and the values of all columns, so rows stay real and aligned. The extremes of
four buckets are among their extremes: each level is made from the one below it and is exact.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import Damaged
from ...table import Array, Column, concat_columns
from . import codec
from .equal_runs import encode_runs

Rows: TypeAlias = NDArray[np.int64]
FACTOR = 4
LEAST_BUCKETS = 16
MOST_COLUMNS = 256
_COUNTS = struct.Struct("<HH")


def base_rows(columns: int) -> int:
    """Rows in a bucket of the lowest level: 256, more for wide tables, so that a level stays small beside them."""
    rows = 256
    while (2 * columns + 2) / rows > 0.2:
        rows *= 2
    return rows


def chunk_buckets(columns: int) -> int:
    """Buckets in one chunk of a level: 2048, fewer for wide tables."""
    buckets = 2048
    while buckets > 64 and buckets * (2 * columns + 2) > 65536:
        buckets //= 2
    return buckets


def rankable(column: Column) -> tuple[Array, Array] | None:
    """The values to seek the least and to seek the greatest, where null, NaN and infinity never win. None for text."""
    if column.kind in ("text", "null", "mixed"):
        return None
    values = column.values.view(np.uint8) if column.kind == "boolean" else column.values
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            clean = column.valid is None and bool(np.isfinite(values.sum()))
        if clean:
            return values, values
        bad = ~np.isfinite(values)
        if column.valid is not None:
            bad |= ~column.valid
        infinity = values.dtype.type(np.inf)
        return np.where(bad, infinity, values), np.where(bad, -infinity, values)
    if column.valid is None:
        return values, values
    if values.itemsize < 8:
        limit = np.int64(1 << 40)
        return np.where(column.valid, values, limit), np.where(column.valid, values, -limit)
    # Objects, because no integer of the same width is greater than all others.
    whole = values.astype(object)
    return np.where(column.valid, whole, np.inf), np.where(column.valid, whole, -np.inf)


def extreme_rows(column: Column, size: int) -> Rows:
    """(n // size, 2) places of the least and the greatest value of each run of ``size``, the earlier first.

    Of equal values the first of the run wins, then its last, then the earliest: where a column only rises or
    falls the places are those of group 0 and cost nothing.
    """
    count = len(column) // size
    starts = np.arange(count) * size
    ranked = rankable(column)
    if ranked is None:
        return np.stack([starts, starts + size - 1], axis=1)
    low = _winner(ranked[0].reshape(count, size), np.argmin)
    high = _winner(ranked[1].reshape(count, size), np.argmax)
    return np.stack([starts + np.minimum(low, high), starts + np.maximum(low, high)], axis=1)


def _extremes(columns: Sequence[Column], size: int) -> list[Rows]:
    """``extreme_rows`` of each column; in few calls for numbers of one dtype."""
    made: dict[int, Rows] = {}
    for group in _alike(columns):
        if len(group) > 1 and columns[group[0]].kind == "number":
            made |= _joint_extremes({c: columns[c].values.reshape(-1, size) for c in group})
    return [made[c] if c in made else extreme_rows(column, size) for c, column in enumerate(columns)]


def _joint_extremes(parts: dict[int, Array]) -> dict[int, Rows]:
    """The extreme rows of the columns whose extremes are finite: they have no value that must not win."""
    last = np.array([values[:, -1] for values in parts.values()])
    count, size = next(iter(parts.values())).shape
    finite, ends = np.ones(len(parts), bool), []
    for find in (np.argmin, np.argmax):
        found = np.array([find(values, axis=1) for values in parts.values()])
        best = np.array([values[np.arange(count), row] for values, row in zip(parts.values(), found, strict=True)])
        finite &= np.isfinite(best).all(axis=1)
        ends.append(np.where((found > 0) & (last == best), size - 1, found))
    pairs = np.stack([np.minimum(*ends), np.maximum(*ends)], axis=2) + (np.arange(count) * size)[:, None]
    return {c: pairs[at] for at, c in enumerate(parts) if finite[at]}


def _winner(values: Array, find: Callable[..., NDArray[np.intp]]) -> NDArray[np.intp]:
    found = find(values, axis=1)
    best = values[np.arange(len(values)), found]
    return np.where((found > 0) & (values[:, -1] == best), values.shape[1] - 1, found)


@dataclass
class Buckets:
    """Some buckets of a level: ``rows`` (n, groups, 2) row numbers; ``columns`` hold (n * groups * 2,) values."""

    rows: Rows
    columns: list[Column]

    def __len__(self) -> int:
        return len(self.rows)

    def slice(self, start: int, stop: int) -> Buckets:
        size = self.rows.shape[1] * 2
        return Buckets(self.rows[start:stop], [column.slice(start * size, stop * size) for column in self.columns])


@dataclass
class PackedBuckets:
    """Buckets that wait, in a fifth to a tenth of the memory."""

    shape: tuple[int, ...]
    rows: bytes
    columns: list[tuple[Column, bytes, bytes | None]]
    """Each without its values, then these and what is valid."""

    @classmethod
    def of(cls, buckets: Buckets) -> PackedBuckets:
        columns = [
            (one.slice(0, 0), _packed(one.values), None if one.valid is None else _packed(one.valid))
            for one in buckets.columns
        ]
        return cls(buckets.rows.shape, _packed(buckets.rows), columns)

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return len(self.rows) + sum(len(values) + len(valid or b"") for _, values, valid in self.columns)

    def unpacked(self) -> Buckets:
        columns = []
        for empty, values, valid in self.columns:
            known = None if valid is None else np.frombuffer(codec.unpack(valid), bool)
            columns.append(
                Column(empty.kind, np.frombuffer(codec.unpack(values), empty.values.dtype), known, empty.words)
            )
        return Buckets(np.frombuffer(codec.unpack(self.rows), np.int64).reshape(self.shape), columns)


def _packed(array: Array) -> bytes:
    return codec.pack(np.ascontiguousarray(array).tobytes())


def joined(parts: Sequence[Buckets]) -> Buckets:
    if len(parts) == 1:
        return parts[0]
    columns = [concat_columns([part.columns[c] for part in parts]) for c in range(len(parts[0].columns))]
    return Buckets(np.concatenate([part.rows for part in parts]), columns)


def buckets_of(columns: Sequence[Column], first_row: int, size: int) -> Buckets:
    """The buckets of samples that begin at row ``first_row``; the last one may be short."""
    n = len(columns[0])
    full = n // size * size
    places = []
    if full:
        starts = np.arange(0, full, size)
        found = _extremes([column.slice(0, full) for column in columns], size)
        places.append(np.stack([np.stack([starts, starts + size - 1], axis=1), *found], axis=1))
    if full < n:
        pairs = [np.array([[0, n - full - 1]]), *(extreme_rows(c.slice(full, n), n - full) for c in columns)]
        places.append(np.stack(pairs, axis=1) + full)
    rows = np.concatenate(places)
    flat = rows.ravel()
    return Buckets(rows + first_row, [column.take(flat) for column in columns])


def with_column(buckets: Buckets, place: int, values: Callable[[Rows], Column]) -> Buckets:
    """The buckets with one more column before the column ``place``, whose values at rows ``values`` gives: they have no
    null, and never fall, so that their extremes are in the first and the last row of a bucket."""
    n, groups, _ = buckets.rows.shape
    first, last = buckets.rows[:, 0, 0], buckets.rows[:, 0, 1]
    rises = values(last).values > values(first).values
    ends = np.arange(n * groups * 2).reshape(n, groups, 2)[:, 0]
    pairs = np.stack([ends[:, 0], np.where(rises, ends[:, 1], ends[:, 0])], axis=1)
    index = np.insert(np.arange(n * groups * 2).reshape(n, groups, 2), place + 1, pairs, axis=1)
    rows = buckets.rows.ravel()[index]
    columns = [column.take(index.ravel()) for column in buckets.columns]
    columns.insert(place, values(rows.ravel()))
    return Buckets(rows, columns)


def coarser(fine: Buckets) -> Buckets:
    """Every four buckets as one; the last may hold fewer."""
    n, groups, _ = fine.rows.shape
    count = -(-n // FACTOR)
    if n % FACTOR:
        # The last bucket repeated changes no extreme, no first and no last row.
        index = np.minimum(np.arange(count * FACTOR), n - 1)
        flat = (index[:, None] * (groups * 2) + np.arange(groups * 2)).ravel()
        fine = Buckets(fine.rows[index], [column.take(flat) for column in fine.columns])
    start = np.arange(count)[:, None] * (FACTOR * groups * 2)
    last = (FACTOR - 1) * groups * 2 + 1
    picked = np.empty((count, groups, 2), np.int64)
    picked[:, 0] = start + np.array([0, last])
    inner = np.arange(FACTOR)[:, None] * (groups * 2) + np.arange(2)
    # The bucket's own last row is offered at the end, as in extreme_rows.
    size = 2 * FACTOR + 1
    for group in _alike(fine.columns):
        places = [start + np.append(inner + (c + 1) * 2, last) for c in group]
        offered = _taken(fine.columns, group, [place.ravel() for place in places])
        found = (extreme_rows(offered, size) % size).reshape(len(group), count, 2)
        for c, place, winners in zip(group, places, found, strict=True):
            picked[:, c + 1] = np.take_along_axis(place, winners, axis=1)
    flat = picked.ravel()
    return Buckets(fine.rows.ravel()[flat].reshape(picked.shape), [column.take(flat) for column in fine.columns])


@dataclass
class Level:
    """One level while it is written: chunks emitted so far and the buckets that wait for the next."""

    size: int
    emitted: int = 0
    waiting: list[Buckets] = field(default_factory=list)

    def count(self) -> int:
        return sum(len(part) for part in self.waiting)


def pack_level(buckets: Buckets, size: int) -> list[bytes]:
    """The payloads of a chunk of buckets: one per column, then one of the row numbers.

    Groups whose rows agree in every bucket are kept once.
    """
    n, groups, _ = buckets.rows.shape
    places: dict[bytes, int] = {}
    distinct: list[int] = []
    of_group = np.zeros(groups, np.uint16)
    for group in range(groups):
        raw = buckets.rows[:, group].tobytes()
        if raw not in places:
            places[raw] = len(distinct)
            distinct.append(group)
        of_group[group] = places[raw]
    head = _COUNTS.pack(groups, len(distinct)) + of_group.tobytes()
    offsets = buckets.rows % size
    order = [(np.arange(n) * groups + group) * 2 for group in distinct]
    flat = np.concatenate([side for start in order for side in (start, start + 1)])
    made = [_frames(head, frames) for frames in _encoded(buckets.columns, flat, 2 * n)]
    numbers = [codec.encode(offsets[:, group].T.ravel(), ordered=False) for group in distinct]
    return [*made, _frames(head, numbers)]


def _encoded(columns: Sequence[Column], flat: Rows, size: int) -> list[list[bytes]]:
    """The payloads of runs of ``size`` of each column's values at ``flat``."""
    made: dict[int, list[bytes]] = {}
    count = len(flat) // size
    for group in _alike(columns):
        payloads = encode_runs(_taken(columns, group, [flat] * len(group)), size)
        for at, c in enumerate(group):
            made[c] = payloads[at * count : (at + 1) * count]
    return [made[c] for c in range(len(columns))]


def _alike(columns: Sequence[Column]) -> list[list[int]]:
    """Columns that can be worked on as one: those of the same dtype without nulls. Every other column is alone."""
    groups: dict[object, list[int]] = {}
    for c, column in enumerate(columns):
        alone = column.kind == "text" or column.valid is not None
        groups.setdefault(c if alone else column.values.dtype, []).append(c)
    return list(groups.values())


def _taken(columns: Sequence[Column], group: Sequence[int], rows: Sequence[Rows]) -> Column:
    """Some rows of each column of a group, one column below the other."""
    first = columns[group[0]]
    if len(group) == 1:
        return first.take(rows[0])
    values = [columns[c].values[index] for c, index in zip(group, rows, strict=True)]
    return Column(first.kind, np.concatenate(values))


def _frames(head: bytes, frames: list[bytes]) -> bytes:
    return b"".join([head, np.array([len(frame) for frame in frames], "<u4").tobytes(), *frames])


def frames_of(payload: bytes) -> tuple[NDArray[np.uint16], list[memoryview]]:
    """Which frame each group has, and the frames.

    Raises
    ------
    Damaged
        If the bytes are not a payload of a level.
    """
    view = memoryview(payload)
    try:
        groups, _ = _COUNTS.unpack_from(view)
        of_group = np.frombuffer(view, np.uint16, groups, _COUNTS.size)
    except (struct.error, ValueError) as error:
        raise Damaged(f"A level of a series cannot be read ({error}).") from error
    return of_group, some_frames(payload)


def some_frames(payload: bytes, used: Sequence[int] | None = None) -> list[memoryview]:
    """The frames with the numbers ``used``, or all of them; Damaged as for `frames_of`."""
    view = memoryview(payload)
    try:
        groups, count = _COUNTS.unpack_from(view)
        at = _COUNTS.size + 2 * groups
        ends = [*accumulate(struct.unpack_from(f"<{count}I", view, at), initial=at + 4 * count)]
    except struct.error as error:
        raise Damaged(f"A level of a series cannot be read ({error}).") from error
    return [view[ends[frame] : ends[frame + 1]] for frame in (range(count) if used is None else used)]
