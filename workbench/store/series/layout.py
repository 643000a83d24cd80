"""The facts of a series beside its chunks: its columns, their statistics, and its row in the file with a checksum."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import orjson

from ...cached_property import cached_property
from ...errors import BadRequest, Damaged
from ...table import Array, Column, DType, Kind, Plain, Table, from_micros
from ...units import split_unit
from .chunks import Bound

Seen: TypeAlias = tuple[int, Bound, Bound]
"""Of a chunk: how many values are null or NaN, the least and the greatest of the others."""
EXACT = 1 << 53
_ROW = struct.Struct("<qqqqqqqI")


@dataclass(frozen=True)
class Field:
    """Name, kind and dtype of a column of a series."""

    name: str
    kind: Kind
    dtype: DType


@dataclass(frozen=True)
class Layout:
    """The columns of a series in order; many series share one."""

    fields: tuple[Field, ...]
    digest: bytes
    body: bytes

    @classmethod
    def of(cls, fields: Sequence[Field]) -> Layout:
        try:
            body = orjson.dumps([[field.name, field.kind, field.dtype.str] for field in fields])
        except TypeError as error:
            raise BadRequest(f"A column name that is not valid Unicode cannot be kept ({error}).") from error
        return cls(tuple(fields), hashlib.sha256(body).digest()[:16], body)

    @classmethod
    def load(cls, digest: bytes, body: object) -> Layout:
        if not isinstance(body, bytes) or hashlib.sha256(body).digest()[:16] != digest:
            raise Damaged("The description of a series' columns fails its checksum; restore a backup.")
        fields = tuple(Field(name, kind, np.dtype(dtype)) for name, kind, dtype in orjson.loads(body))
        return cls(fields, digest, body)

    @cached_property
    def names(self) -> list[str]:
        return [field.name for field in self.fields]

    @cached_property
    def shown(self) -> list[tuple[str, Kind, str, str | None]]:
        """Name, kind, dtype and unit of each column."""
        return [(field.name, field.kind, field.dtype.name, split_unit(field.name)[1]) for field in self.fields]

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each column by name, in order."""
        return {field.name: field.kind for field in self.fields}

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each column."""
        return {field.name: place for place, field in enumerate(self.fields)}


def fields_of(table: Table) -> list[Field]:
    """The fields of a table.

    Raises
    ------
    BadRequest
        If a column holds values of several kinds.
    """
    for name, column in table.items():
        if column.kind == "mixed":
            raise BadRequest(
                f"Column '{name}' mixes numbers, texts, booleans or date-times. Give it values of one kind."
            )
    return [Field(name, column.kind, column.values.dtype) for name, column in table.items()]


def joined_field(old: Field, new: Field, magnitude: int) -> Field:
    """The field that holds both parts of a column; ``magnitude`` bounds the integers of either.

    Raises
    ------
    BadRequest
        If none holds both without loss.
    """
    if old == new or new.kind == "null":
        return old
    if old.kind == "null":
        return new
    if old.kind == new.kind:
        dtype = np.result_type(old.dtype, new.dtype)
        if old.kind != "integer" or dtype.kind in "iu":
            return replace(old, dtype=dtype)
        if magnitude < 1 << 63:
            return replace(old, dtype=np.dtype(np.int64))
        raise BadRequest(f"Column '{old.name}' has integers too large to be kept in one column.")
    if {old.kind, new.kind} == {"integer", "number"}:
        if magnitude > EXACT:
            raise BadRequest(
                f"Column '{old.name}' has integers beyond 2^53 and, later, fractions: not both can be kept exactly. "
                "Give the whole column as integers or as numbers."
            )
        return replace(old, kind="number", dtype=np.dtype(np.float64))
    raise BadRequest(
        f"Column '{old.name}' holds {_PLURAL[old.kind]} and, later, {_PLURAL[new.kind]}. Give it values of one kind."
    )


_PLURAL = {
    "number": "numbers",
    "integer": "integers",
    "text": "texts",
    "boolean": "booleans",
    "datetime": "date-times",
}


@dataclass
class Stats:
    """Statistics of a column: its nulls, the extremes of its finite values, whether it never falls (and has no null or
    NaN), and the chained digest of its full chunks."""

    nulls: int = 0
    low: Bound = None
    high: Bound = None
    sorted: bool = True
    last: Bound = None
    chain: bytes = bytes(16)

    def see(self, column: Column) -> Seen:
        """Add the next part; returns its number of nulls and NaNs and its extremes, for the head of the chunk."""
        nulls = 0 if column.valid is None else int((~column.valid).sum())
        self.nulls += nulls
        if column.kind in ("text", "null"):
            self.sorted = False
            return nulls, None, None
        values = column.values if not nulls else column.values[column.valid]
        if column.kind == "boolean":
            values = values.view(np.uint8)
        missing, finite = nulls, values
        if values.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                total = values.sum()
            if not np.isfinite(total):
                finite = values[np.isfinite(values)]
                missing += int(np.isnan(values).sum())
        if missing or len(finite) != len(values):
            self.sorted = False
        self._follow(values)
        if not len(finite):
            return missing, None, None
        low, high = finite.min().item(), finite.max().item()
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)
        return missing, low, high

    def see_runs(self, column: Column, size: int) -> list[Seen]:
        """As ``see`` for each run of ``size``; the column's length is a multiple of it."""
        values = column.values.view(np.uint8) if column.kind == "boolean" else column.values
        block = values.reshape(-1, size)
        if column.valid is None and len(block) and column.kind not in ("text", "null"):
            lows, highs = block.min(axis=1), block.max(axis=1)
            if np.isfinite(lows).all() and np.isfinite(highs).all():
                return self._take_in(values, lows.tolist(), highs.tolist())
        return [self.see(column.slice(at, at + size)) for at in range(0, len(column), size)]

    def _take_in(self, values: Array, lows: list[Plain], highs: list[Plain]) -> list[Seen]:
        self._follow(values)
        self.low = min(lows) if self.low is None else min(self.low, *lows)
        self.high = max(highs) if self.high is None else max(self.high, *highs)
        return [(0, low, high) for low, high in zip(lows, highs, strict=True)]

    def _follow(self, values: Array) -> None:
        """Whether the values still rise, given those before them."""
        if self.sorted and len(values):
            follows = self.last is None or bool(values[0] >= self.last)
            self.sorted = follows and bool((values[1:] >= values[:-1]).all())
            self.last = values[-1].item()

    def link(self, digest: bytes) -> None:
        self.chain = hashlib.sha256(self.chain + digest).digest()[:16]

    def magnitude(self) -> int:
        return int(max(abs(self.low or 0), abs(self.high or 0)))


def pack_stats(stats: Sequence[Stats]) -> bytes:
    return orjson.dumps([[s.nulls, s.low, s.high, s.sorted, s.chain.hex()] for s in stats])


def load_stats(raw: bytes) -> list[Stats]:
    return [_stats_of(one) for one in orjson.loads(raw)]


def load_stats_of(raw: bytes, place: int) -> Stats:
    """The statistics of one column."""
    return _stats_of(orjson.loads(raw)[place])


def _stats_of(one: list[Any]) -> Stats:
    nulls, low, high, is_sorted, chain = one
    return Stats(nulls, low, high, is_sorted, None, bytes.fromhex(chain))


ROW_COLUMNS = (
    "owner, dataset, id, revision, rows, base, buckets, published, entries, layout, content, stats_crc, crc"
)
"""The columns of a `Row` in the file, but for the statistics."""


class Row(NamedTuple):
    """The row of a published series. ``base``: rows in a bucket of level 1 (0: no pyramid), ``buckets``: buckets
    in a chunk of a level; ``entries``: lines of its log. Its checksum also covers the statistics beside it."""

    owner: str
    dataset: str
    id: int
    revision: int
    rows: int
    base: int
    buckets: int
    published: int
    entries: int
    layout: bytes
    content: bytes
    stats: bytes

    def crc(self) -> int:
        numbers = _ROW.pack(
            self.id,
            self.revision,
            self.rows,
            self.base,
            self.buckets,
            self.published,
            self.entries,
            zlib.crc32(self.stats),
        )
        return _row_crc(numbers, self.layout, self.content, self.owner, self.dataset)

    def values(self) -> tuple[str | int | bytes, ...]:
        """In the order of ``ROW_COLUMNS``, then the statistics."""
        return (
            self.owner,
            self.dataset,
            self.id,
            self.revision,
            self.rows,
            self.base,
            self.buckets,
            self.published,
            self.entries,
            self.layout,
            self.content,
            zlib.crc32(self.stats),
            self.crc(),
            self.stats,
        )


def _row_crc(numbers: bytes, layout: bytes, content: bytes, owner: str, dataset: str) -> int:
    return zlib.crc32(b"\0".join([numbers, layout, content, owner.encode(), dataset.encode()]))


def load_row(found: Sequence[Plain]) -> Row:
    """The row of the columns ``ROW_COLUMNS`` and the statistics (None where they were not read).

    Raises
    ------
    Damaged
        If it is not what was written.
    """
    owner, dataset, *numbers, layout, content, stats_crc, crc, stats = found
    try:
        sound = crc == _row_crc(_ROW.pack(*numbers, stats_crc), layout, content, owner, dataset)
        sound = sound and (stats is None or zlib.crc32(stats) == stats_crc)
    except (struct.error, TypeError, AttributeError):
        sound = False
    if not sound:
        raise Damaged(f"Damaged series: the row of '{owner}' ({dataset}) fails its checksum; restore a backup.")
    return Row(*[owner, dataset, *numbers, layout, content, stats or b""])


@dataclass(frozen=True)
class SeriesColumn:
    """A column of a series: ``sorted`` if it never falls and has no null or NaN; ``min`` and ``max`` are those of
    its finite values (date-times as microseconds since 1970 UTC)."""

    name: str
    kind: Kind
    dtype: str
    unit: str | None
    sorted: bool
    nulls: int
    min: Bound
    max: Bound


@dataclass(frozen=True)
class SeriesInfo:
    """The facts of a published series that are known without reading its samples.

    ``added`` are columns that others compute beside those of the series. The statistics are read when somebody asks for
    ``columns``: a plan over many tests needs only the names and kinds, which series of one layout share.
    """

    row: Row
    layout: Layout
    added: tuple[SeriesColumn, ...] = ()

    @property
    def id(self) -> int:
        return self.row.id

    @property
    def owner(self) -> str:
        return self.row.owner

    @property
    def dataset(self) -> str:
        return self.row.dataset

    @property
    def rows(self) -> int:
        return self.row.rows

    @property
    def revision(self) -> int:
        return self.row.revision

    @property
    def content_hash(self) -> str:
        return self.row.content.hex()

    @property
    def published_at(self) -> datetime:
        return from_micros(self.row.published)

    @cached_property
    def columns(self) -> tuple[SeriesColumn, ...]:
        held = self.row.rows > 0
        stored = (
            SeriesColumn(*shown, is_sorted and held, nulls, low, high)
            for shown, (nulls, low, high, is_sorted, _) in zip(
                self.layout.shown, orjson.loads(self.row.stats), strict=True
            )
        )
        return (*stored, *self.added)

    @property
    def names(self) -> list[str]:
        return [*self.kinds]

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """Kind of each column by name, in order."""
        if not self.added:
            return self.layout.kinds
        return {**self.layout.kinds, **{column.name: column.kind for column in self.added}}

    def column(self, name: str) -> SeriesColumn | None:
        return next((column for column in self.columns if column.name == name), None)
