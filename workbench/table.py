"""Typed columns with nulls, and tables of such columns: samples, summaries and rows of plans all have this shape.

A column distinguishes nulls from NaNs, so that stored values come back bit for bit. pandas is used only where a
script or a person looks at the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind = Literal["number", "integer", "text", "boolean", "datetime", "mixed", "null"]
DType: TypeAlias = np.dtype[Any]
Array: TypeAlias = NDArray[Any]
"""A numpy array of any dtype."""
Plain: TypeAlias = Any
"""A value as Python has it: a text, number, boolean, date-time or None. The kind of its column says which."""
JsonObject: TypeAlias = dict[str, Any]
"""An object of JSON as Python has it, with any JSON values."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EXACT = 2.0**53
"""Below it float64 has every whole number."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of n values.

    ``values`` by kind: number float64 or float32; integer any integer dtype; boolean bool; datetime int64
    microseconds since 1970 UTC; text int32 codes into ``words``; mixed object; null bool zeros.
    ``valid`` is None where nothing is null, else (n,) bool. A valid NaN is a NaN, not a null. The
    value at a null is undefined; nothing may use it. ``exact`` is None but for a number or mixed column with whole
    numbers that float64 rounds: then (n,) objects, the values as they were. What is equal is decided by them.
    """

    kind: Kind
    values: Array
    valid: NDArray[np.bool_] | None = None
    words: tuple[str, ...] = ()
    exact: Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def of(cls, values: Array, valid: NDArray[np.bool_] | None = None) -> Column:
        """A column from a numpy array by its dtype (floats, integers, bool, datetime64, text or objects). Time spans
        (timedelta64) are numbers of seconds. What a masked array hides is null.

        Raises
        ------
        TypeError, ValueError
            For values that no column holds, and for an array of other than one dimension.
        """
        if values.ndim != 1:
            raise ValueError(f"a column has one dimension, not {values.ndim}")
        if isinstance(values, np.ma.MaskedArray):
            shown = ~np.ma.getmaskarray(values)
            return cls.of(values.data, shown if valid is None else shown & valid)
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if valid is not None and bool(valid.all()):
            valid = None
        code = values.dtype.kind
        if code == "f":
            if values.dtype.itemsize > 8:
                raise TypeError(f"a column holds no {values.dtype.name}: give it as float64")
            kept = values if values.dtype in (np.float64, np.float32) else values.astype(np.float64)
            return cls("number", kept, valid)
        if code in "iu":
            return cls("integer", values, valid)
        if code == "b":
            return cls("boolean", values, valid)
        if code in "mM":
            micros = values.astype("datetime64[us]" if code == "M" else "timedelta64[us]").view(np.int64)
            missing = np.isnat(values)
            if missing.any():
                valid = ~missing if valid is None else valid & ~missing
            return cls("datetime", micros, valid) if code == "M" else cls("number", micros / 1e6, valid)
        if valid is not None:
            items = values.tolist()
            return cls.from_python([item if ok else None for item, ok in zip(items, valid, strict=True)])
        return cls.from_python(values.tolist())

    @classmethod
    def text(cls, values: Sequence[str | None]) -> Column:
        """A text column from Python strings; None is null."""
        first = dict.fromkeys(values)
        words = tuple(word for word in first if word is not None)
        if len(words) == len(values):  # each text once, as ids and most names are
            return cls("text", np.arange(len(values), dtype=np.int32), None, words)
        places: dict[str | None, int] = dict(zip(words, range(len(words)), strict=True))
        if None not in first:
            return cls("text", np.fromiter(map(places.__getitem__, values), np.int32, len(values)), None, words)
        places[None] = -1
        codes = np.fromiter(map(places.__getitem__, values), np.int32, len(values))
        return cls("text", np.maximum(codes, 0), codes >= 0, words)

    @classmethod
    def nulls(cls, n: int) -> Column:
        return cls("null", np.zeros(n, bool), np.zeros(n, bool))

    @classmethod
    def from_python(cls, values: Sequence[Plain], kind: Kind | None = None) -> Column:
        """A column from Python scalars (None is null). Without ``kind`` the narrowest that holds all of them:
        booleans, integers and floats do not mix into one kind except integers with floats (number)."""
        kind = kind or kind_of(values)
        n = len(values)
        if kind == "null":
            return cls.nulls(n)
        if kind == "text":
            return cls.text(values)
        valid = None
        if kind == "mixed" or None in values:  # of several types may be values that do not compare with None
            present = np.fromiter((value is not None for value in values), dtype=bool, count=n)
            valid = None if present.all() else present
        if kind == "mixed":
            array = np.empty(n, object)
            array[:] = values
            return cls("mixed", array, valid)
        if kind == "datetime":
            micros = (0 if value is None else to_micros(value) for value in values)
            return cls("datetime", np.fromiter(micros, np.int64, n), valid)
        dtype = {"number": np.float64, "integer": np.int64, "boolean": np.bool_}[kind]
        filler = np.nan if kind == "number" else 0
        made: Array = np.array([filler if value is None else value for value in values], dtype)
        return cls(kind, made, valid, (), _exact(values, made) if kind == "number" else None)

    def take(self, index: Array) -> Column:
        """The rows named by ``index`` (positions, or a boolean mask)."""
        valid = None if self.valid is None else self.valid[index]
        exact = None if self.exact is None else self.exact[index]
        return Column(self.kind, self.values[index], valid, self.words, exact)

    def slice(self, start: int, stop: int) -> Column:
        """The rows from ``start`` to before ``stop``, as a view."""
        valid = None if self.valid is None else self.valid[start:stop]
        exact = None if self.exact is None else self.exact[start:stop]
        return Column(self.kind, self.values[start:stop], valid, self.words, exact)

    def null_mask(self) -> NDArray[np.bool_]:
        """(n,) bool, true where null; NaN is not null here."""
        return np.zeros(len(self), bool) if self.valid is None else ~self.valid

    def missing(self) -> NDArray[np.bool_]:
        """(n,) bool, true where null or NaN: how plans see it (a NaN counts as null everywhere)."""
        if self.kind == "number":
            nans: NDArray[np.bool_] = np.isnan(self.values)
            return nans if self.valid is None else nans | ~self.valid
        mask = self.null_mask()
        if self.kind == "mixed":
            mask = mask | np.fromiter((isinstance(v, float) and v != v for v in self.values), bool, len(self))
        return mask

    def narrowed(self) -> Column:
        """A mixed column whose rows are all of one kind, or null, as a column of that kind; any other as it is."""
        if self.kind != "mixed" or not len(self):
            return self
        items = [None if gone else item for item, gone in zip(self.tolist(), self.missing().tolist(), strict=True)]
        try:
            return Column.from_python(items)
        except OverflowError:  # whole numbers beyond 64 bits
            return self

    def floats(self, *, copy: bool = True) -> NDArray[np.float64]:
        """(n,) float64 with NaN for nulls; for number, integer, boolean and null columns. Without ``copy`` it may be
        the column's own values, which nobody may change."""
        if self.kind not in ("number", "integer", "boolean", "null"):
            raise TypeError(f"a {self.kind} column has no numbers")
        if not copy and self.valid is None and self.kind == "number" and self.values.dtype == np.float64:
            return self.values
        with np.errstate(invalid="ignore"):  # a signalling NaN among 32-bit floats
            values = self.values.astype(np.float64)
        if self.kind == "null":
            values[:] = np.nan
        elif self.valid is not None:
            values[~self.valid] = np.nan
        return values

    def exact_list(self) -> list[Plain]:
        """``tolist`` with the whole numbers that float64 rounds as they were."""
        return self.tolist() if self.exact is None else self.exact.tolist()

    def tolist(self) -> list[Plain]:
        """Python scalars, None for null (NaN stays NaN); date-times as aware ``datetime``."""
        if self.kind == "null":
            return [None] * len(self)
        items: list[Plain]
        if self.kind == "text":
            items = [self.words[code] for code in self.values.tolist()] if self.words else [None] * len(self)
        elif self.kind == "datetime":
            items = [from_micros(value) for value in self.values.tolist()]
        else:
            items = self.values.tolist()
        if self.valid is not None:
            for place in np.flatnonzero(~self.valid).tolist():
                items[place] = None
        return items


@dataclass(frozen=True, eq=False)
class Table(Mapping[str, Column]):
    """Columns of one length, in order. ``n`` is their length; a table without columns has one too."""

    columns: dict[str, Column]
    n: int

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if len(column) != self.n:
                raise ValueError(f"column '{name}' has {len(column)} rows, the table {self.n}")

    @classmethod
    def of(cls, columns: Mapping[str, Column | Array | Sequence[Plain]]) -> Table:
        """A table from columns, arrays or lists, all of one length."""
        made = {name: _as_column(values) for name, values in columns.items()}
        return cls(made, len(next(iter(made.values()))) if made else 0)

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, without texts and the values of columns of several kinds."""
        valid = (column.valid for column in self.columns.values())
        return sum(c.values.nbytes for c in self.columns.values()) + sum(v.nbytes for v in valid if v is not None)

    def take(self, index: Array) -> Table:
        """The rows named by ``index`` (positions, or a boolean mask)."""
        index = np.asarray(index)
        n = int(index.sum()) if index.dtype == bool else len(index)
        return Table({name: column.take(index) for name, column in self.columns.items()}, n)

    def slice(self, start: int, stop: int) -> Table:
        """The rows from ``start`` to before ``stop``, as a view; what lies outside the table is left out."""
        start, stop = max(start, 0), min(stop, self.n)
        made = {name: column.slice(start, stop) for name, column in self.columns.items()}
        return Table(made, max(stop - start, 0))

    def select(self, names: Iterable[str]) -> Table:
        return Table({name: self.columns[name] for name in names}, self.n)

    def records(self) -> list[dict[str, Plain]]:
        """One dict per row. For people and tests; a plan of many rows stays in columns."""
        lists = [column.tolist() for column in self.columns.values()]
        if not lists:
            return [{} for _ in range(self.n)]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _as_column(values: Column | Array | Sequence[Plain]) -> Column:
    if isinstance(values, Column):
        return values
    if isinstance(values, np.ndarray):
        return Column.of(values)
    return Column.from_python(list(values))


def kind_of(values: Iterable[Plain]) -> Kind:
    """The kind of a list of Python scalars: ``null`` if all are None, ``mixed`` if they do not agree."""
    found: set[Kind] = set()
    for value in values:
        if value is None:
            continue
        if isinstance(value, bool | np.bool_):
            found.add("boolean")
        elif isinstance(value, int | np.integer):
            found.add("integer")
        elif isinstance(value, float | np.floating):
            found.add("number")
        elif isinstance(value, str):
            found.add("text")
        elif isinstance(value, datetime | np.datetime64):
            found.add("datetime")
        else:
            raise TypeError(f"a column holds no {type(value).__name__}")
    if not found:
        return "null"
    if found == {"integer", "number"}:
        return "number"
    return found.pop() if len(found) == 1 else "mixed"


def _exact(values: Sequence[Plain], rounded: Array) -> Array | None:
    """The values of a number column as they are, if one is a whole number that is rounded; else None."""
    large = np.flatnonzero(np.abs(rounded) >= _EXACT).tolist()
    if not any(isinstance(values[at], int | np.integer) and int(rounded[at]) != values[at] for at in large):
        return None
    kept = np.empty(len(values), object)
    kept[:] = values
    return kept


def to_micros(value: datetime | np.datetime64) -> int:
    """Microseconds since 1970 UTC; a time without a zone is UTC."""
    if isinstance(value, np.datetime64):
        return int(value.astype("datetime64[us]").astype(np.int64))
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def time_text(micros: int) -> str:
    """UTC text of fixed width, so that text order is time order: ``2026-01-31T12:00:00.000000Z``."""
    return from_micros(micros).isoformat(timespec="microseconds")[:26] + "Z"


def moment_text(moment: datetime) -> str:
    """The text of a time, as ``time_text``; one without a zone is UTC."""
    if moment.tzinfo is UTC:
        return moment.isoformat(timespec="microseconds")[:26] + "Z"
    return time_text(to_micros(moment))


def concat(tables: Sequence[Table]) -> Table:
    """Tables with the same column names, one below the other."""
    if len(tables) == 1:
        return tables[0]
    if not tables:
        return Table({}, 0)
    made = {name: concat_columns([table[name] for table in tables]) for name in tables[0]}
    return Table(made, sum(table.n for table in tables))


def concat_columns(columns: Sequence[Column]) -> Column:
    """Columns one below the other; integers with numbers give numbers, other differing kinds ``mixed``."""
    if len(columns) == 1:
        return columns[0]
    n = sum(len(column) for column in columns)
    valid = joined_valid(columns)
    kinds = {column.kind for column in columns if column.kind != "null"}
    if not kinds:
        return Column.nulls(n)
    if kinds == {"text"}:
        return _concat_text(columns, valid)
    if len(kinds) == 1 and kinds != {"mixed"} and all(column.exact is None for column in columns):
        kind = kinds.pop()
        dtype = np.result_type(*[c.values.dtype for c in columns if c.kind == kind])
        parts = [c.values if c.kind == kind else np.zeros(len(c), dtype) for c in columns]
        return Column(kind, np.concatenate(parts), valid)
    if kinds <= {"integer", "number"}:
        made = np.concatenate([column.floats() for column in columns])
        large = bool((np.abs(made) >= _EXACT).any())
        exact = _exact([value for column in columns for value in column.exact_list()], made) if large else None
        return Column("number", made, valid, (), exact)
    values = np.empty(n, object)
    values[:] = [value for column in columns for value in column.tolist()]
    return Column("mixed", values, valid)


def joined_valid(columns: Sequence[Column]) -> NDArray[np.bool_] | None:
    """The ``valid`` of columns one below the other; None if none has a null."""
    if all(column.valid is None for column in columns):
        return None
    return np.concatenate([~column.null_mask() for column in columns])


def _concat_text(columns: Sequence[Column], valid: NDArray[np.bool_] | None) -> Column:
    places: dict[str, int] = {}
    parts = []
    for column in columns:
        if column.kind == "null":
            parts.append(np.zeros(len(column), np.int32))
            continue
        codes = np.array([places.setdefault(word, len(places)) for word in column.words] or [0], np.int32)
        parts.append(codes[column.values])
    return Column("text", np.concatenate(parts).astype(np.int32), valid, tuple(places))
