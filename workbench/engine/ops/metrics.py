"""The metrics of an aggregate: each turns the rows of every group into one value."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Invalid, Problem
from ...exact_sum import group_sums
from ...recipe.filters import RatioOf, Where
from ...recipe.jsontext import show
from ...recipe.steps import Metric
from ...table import Column, Kind, Table
from ..columns import column_of, judged
from ..compare import holds
from ..equality import whole_numbers
from ..grouping import Groups

NUMBERS_ONLY = ("min", "max", "mean", "sum")
EDGES = ("first", "last", "first_where", "last_where")
"""The functions whose result is a value of their column as it is."""
_COUNTABLE = ("number", "integer", "null")
_WORDS = {"text": "texts", "boolean": "booleans", "datetime": "times", "mixed": "values of several types"}
_SCALE = 2.0**-80


class Judged:
    """The input of a step, and each of its columns by the rows that it has here (`judged`), made once."""

    def __init__(self, table: Table, open_columns: Collection[str]) -> None:
        self.table = table
        self._open = open_columns
        self._columns: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            self._columns[name] = judged(self.table[name], name in self._open)
        return self._columns[name]


@dataclass
class Arranged:
    """The input with its rows in groups; columns are arranged once and kept."""

    input: Judged
    groups: Groups
    _columns: dict[str, Column] = field(default_factory=dict)
    _judged: dict[str, Column] = field(default_factory=dict)
    _present: dict[str, NDArray[np.bool_] | None] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            self._columns[name] = self._arranged(self.input.table[name])
        return self._columns[name]

    def judged(self, name: str) -> Column:
        """A column of the type that its rows have."""
        column = self.input[name]
        if column is self.input.table[name]:
            return self[name]
        if name not in self._judged:
            self._judged[name] = self._arranged(column)
        return self._judged[name]

    def _arranged(self, column: Column) -> Column:
        return column if self.groups.order is None else column.take(self.groups.order)

    def present(self, name: str) -> NDArray[np.bool_] | None:
        """Rows in which a column is neither null nor NaN; None where that is all of them."""
        if name not in self._present:
            column = self[name]
            certain = column.valid is None and column.kind not in ("number", "mixed")
            missing = None if certain else column.missing()
            self._present[name] = None if missing is None or not missing.any() else ~missing
        return self._present[name]

    def per_row(self, column: Column) -> Column:
        """A column of groups, its value repeated for every row of the group."""
        sizes = self.groups.sizes
        valid = None if column.valid is None else np.repeat(column.valid, sizes)
        return Column(column.kind, np.repeat(column.values, sizes), valid, column.words)


def check_metric(name: str, metric: Metric, rows: Judged) -> None:
    """Whether the input has what a metric needs.

    Raises
    ------
    Invalid
        A column that is missing, or one of other things than numbers under ``min, max, mean, sum``.
    """
    if metric.column is not None:
        column_of(rows.table, metric.column, ("metrics", name, "column"))
        if metric.fn in NUMBERS_ONLY and rows[metric.column].kind not in _COUNTABLE:
            raise Invalid(
                Problem(
                    ("metrics", name, "column"),
                    f"'{metric.column}' holds {_held(rows[metric.column])}, and '{metric.fn}' needs numbers. "
                    f"Use 'first', 'last' or 'count', or {_instead(rows[metric.column])}.",
                )
            )
    if metric.where is not None:
        column_of(rows.table, metric.where.column, ("metrics", name, "where", "column"))


def _held(column: Column) -> str:
    """What a column holds, in words; of several types with the first value that is not a number."""
    others = (v for v in column.tolist() if isinstance(v, str | bool)) if column.kind == "mixed" else iter(())
    first = next(others, None)
    return _WORDS[column.kind] if first is None else f"{_WORDS[column.kind]}, such as {show(first)}"


def _instead(column: Column) -> str:
    return "correct that value, or leave its row out" if column.kind == "mixed" else "a column of numbers"


def evaluate(name: str, metrics: Mapping[str, Metric], rows: Arranged, made: dict[str, Column]) -> Column:
    """The column of one metric: (groups,). ``made`` holds those of the metrics that it refers to."""
    metric = metrics[name]
    if metric.fn == "count" and metric.column is None:
        return Column("integer", rows.groups.sizes.astype(np.int64))
    if metric.column is None:
        raise Invalid(Problem(("metrics", name, "column"), f"'{metric.fn}' needs a column."))
    column = rows[metric.column] if metric.fn in EDGES else rows.judged(metric.column)
    if metric.fn in ("first_where", "last_where"):
        if metric.where is None:
            raise Invalid(Problem(("metrics", name, "where"), f"'{metric.fn}' needs a comparison 'where'."))
        mask = _rows_where(name, metric.where, metrics, rows, made)
        return _edge(column, mask, rows.groups, last=metric.fn == "last_where")
    present = rows.present(metric.column)
    if metric.fn == "count":
        return Column("integer", _counts(present, rows.groups))
    if metric.fn in ("first", "last"):
        return _edge(column, present, rows.groups, last=metric.fn == "last")
    if column.kind == "null":
        return Column.nulls(len(rows.groups.starts))
    if metric.fn in ("min", "max"):
        return _extreme(column, present, rows.groups, largest=metric.fn == "max")
    return _total(column, present, rows.groups, mean=metric.fn == "mean")


def _rows_where(
    name: str, where: Where, metrics: Mapping[str, Metric], rows: Arranged, made: dict[str, Column]
) -> NDArray[np.bool_]:
    if isinstance(where.value, RatioOf):
        other = metrics[where.value.ratio_of]
        held = rows.judged(other.column).kind if other.fn in EDGES and other.column is not None else None
        threshold = _share(name, where.value, made, held)
        if threshold.kind != "null":
            threshold = rows.per_row(threshold)
    else:
        threshold = Column.from_python([where.value])
    try:
        empty = rows.judged(where.column).kind == "null"
        column = rows.judged(where.column) if empty else rows[where.column]
        return holds(where.column, column, where.op, threshold)
    except Invalid as error:
        raise Invalid(
            [Problem(("metrics", name, "where", *p.loc), p.msg, p.type, p.ctx) for p in error.problems]
        ) from None


def _share(name: str, ratio: RatioOf, made: dict[str, Column], held: Kind | None) -> Column:
    """The share of another metric; ``held`` is the kind of the rows that it takes its values from, if it takes any."""
    of = made[ratio.ratio_of]
    kind = held or of.kind
    if kind not in _COUNTABLE:
        raise Invalid(
            Problem(
                ("metrics", name, "where", "value", "ratio_of"),
                f"The metric '{ratio.ratio_of}' gives {_WORDS[kind]}, and a share needs a number. "
                "Refer to a metric of a column of numbers.",
            )
        )
    of = judged(of, is_open=True)
    factor = ratio.factor
    if factor is None or isinstance(factor, str) or of.kind == "null":
        return Column.nulls(len(of))
    if of.kind == "number" and (isinstance(factor, float) or abs(factor) < 2**53):
        with np.errstate(over="ignore", invalid="ignore"):
            return Column("number", of.values.astype(np.float64) * float(factor), of.valid)
    return _python_share(factor, of)


def _python_share(factor: float, of: Column) -> Column:
    """Whole numbers multiply exactly, however large; only beyond 64 bits they become floats."""
    values = [None if value is None else _product(factor, value) for value in of.tolist()]
    whole = all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in values if value is not None)
    if whole and isinstance(factor, int) and of.kind == "integer":
        return Column.from_python(values, "integer")
    return Column.from_python([None if value is None else _product(1.0, value) for value in values], "number")


def _product(a: float, b: float) -> float:
    try:
        return a * b
    except OverflowError:
        return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _counts(present: NDArray[np.bool_] | None, groups: Groups) -> NDArray[np.int64]:
    if present is None:
        return groups.sizes.astype(np.int64)
    if not len(groups.starts):
        return np.zeros(0, np.int64)
    return np.add.reduceat(present.astype(np.int64), groups.starts)


def _edge(column: Column, mask: NDArray[np.bool_] | None, groups: Groups, *, last: bool) -> Column:
    """The value of the first (or last) row of each group for which ``mask`` holds; null where none does."""
    n, starts = len(column), groups.starts
    if mask is None or not n:
        return column.take(starts + groups.sizes - 1 if last else starts)
    rows = np.flatnonzero(mask)
    # How many of these rows come before each group, and before its end.
    before, by_end = np.searchsorted(rows, starts), np.searchsorted(rows, starts + groups.sizes)
    found = before < by_end
    places = np.append(rows, 0)[by_end - 1 if last else before]
    taken = column.take(np.where(found, places, 0))
    valid = found if taken.valid is None else found & taken.valid
    return Column(column.kind, taken.values, None if valid.all() else valid, column.words, taken.exact)


def _extreme(column: Column, present: NDArray[np.bool_] | None, groups: Groups, *, largest: bool) -> Column:
    reduce = np.maximum.reduceat if largest else np.minimum.reduceat
    values: NDArray[Any] = column.values
    if column.kind == "integer":
        limits = np.iinfo(values.dtype)
        filler: Any = limits.min if largest else limits.max
    else:
        filler = -np.inf if largest else np.inf
    if present is None:
        return Column(column.kind, reduce(values, groups.starts) if len(values) else values)
    filled = np.where(present, values, np.array(filler, values.dtype))
    found = _counts(present, groups) > 0
    return Column(column.kind, reduce(filled, groups.starts) if len(values) else values, found)


def _total(column: Column, present: NDArray[np.bool_] | None, groups: Groups, *, mean: bool) -> Column:
    counts = _counts(present, groups)
    found = counts > 0
    valid = None if found.all() else found
    if column.kind == "integer":
        return _whole_total(column, counts, groups, mean=mean)
    values = column.values.astype(np.float64, copy=False)
    if present is not None:
        values = values[present]
    starts = (np.cumsum(counts) - counts)[found]
    sums = np.zeros(len(counts))
    with np.errstate(over="ignore", invalid="ignore"):
        sums[found] = group_sums(values, starts)
        divisor = np.maximum(counts, 1) if mean else np.ones(len(counts))
        made = sums / divisor
    if len(values) and not np.isfinite(sums).all():
        _mend_overflow(made, found, values, starts, divisor)
    return Column("number", made, valid)


def _mend_overflow(
    made: NDArray[np.float64],
    found: NDArray[np.bool_],
    values: NDArray[np.float64],
    starts: NDArray[np.intp],
    divisor: NDArray[np.float64] | NDArray[np.int64],
) -> None:
    """Finite values whose sum runs over on the way are added scaled down, where no sum can run over."""
    finite = np.logical_and.reduceat(np.isfinite(values), starts)
    over = np.flatnonzero(found)[finite & ~np.isfinite(made[found])]
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.zeros(len(made))
        scaled[found] = group_sums(np.where(np.isfinite(values), values, 0.0) * _SCALE, starts)
        made[over] = scaled[over] / divisor[over] / _SCALE


def _whole_total(column: Column, counts: NDArray[np.int64], groups: Groups, *, mean: bool) -> Column:
    """Sums of integers are exact; one beyond 64 bits makes the column one of floats."""
    n = len(counts)
    found = counts > 0
    valid = None if found.all() else found
    values = whole_numbers(column)
    small = not len(values) or (
        values.dtype == np.int64 and max(abs(int(values.min())), abs(int(values.max()))) < 2**62 // len(values)
    )
    if small:
        sums = np.add.reduceat(values, groups.starts) if n else np.zeros(0, np.int64)
    else:
        sums = np.add.reduceat(values.astype(object), groups.starts)
    if mean:
        divisor = np.maximum(counts, 1).astype(sums.dtype)
        return Column("number", np.asarray(sums / divisor, np.float64), valid)
    if sums.dtype == object and not all(-(2**63) <= int(total) < 2**63 for total in sums):
        return Column("number", np.array([math.fsum([total]) for total in sums], np.float64), valid)
    return Column("integer", sums.astype(np.int64), valid)
