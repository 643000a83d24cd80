"""The comparisons of ``first_where`` and ``last_where``: which rows are above, below or at a threshold."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Invalid, Problem
from ..table import Column
from .equality import key_of, times_as_text, whole_numbers

Mask = NDArray[np.bool_]
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
    "eq": operator.eq,
    "neq": operator.ne,
}
_EXACT = 2**53
_WORDS = {"number": "numbers", "text": "texts", "boolean": "booleans"}


def holds(name: str, column: Column, op: str, threshold: Column) -> Mask:
    """The rows whose value compares by ``op`` with their threshold: (n,) bool.

    Parameters
    ----------
    name : name of the column, for errors.
    column : (n,) the values; null and NaN compare with nothing.
    threshold : (n,) or (1,) numbers, integers, texts or nulls, one per row or one for all.

    Raises
    ------
    Invalid
        For ``lt, lte, gt, gte`` where the column holds booleans, or values of the other type than the
        threshold. Its place is ``("column",)`` of the comparison.
    """
    if threshold.kind == "null":
        return np.zeros(len(column), bool)
    if column.kind == "datetime":
        column = times_as_text(column)
    wanted = "text" if threshold.kind == "text" else "number"
    if op not in ("eq", "neq"):
        _refuse_other_types(name, column, op, wanted)
    present = ~column.missing() & ~threshold.missing()
    kind = "number" if column.kind == "integer" else column.kind
    if kind == "mixed":
        return present & _holds_mixed(column, op, threshold)
    if kind != wanted:
        return present & (op == "neq")
    if wanted == "text":
        return present & _holds_text(column, op, threshold)
    return present & _holds_number(column, op, threshold)


def _refuse_other_types(name: str, column: Column, op: str, wanted: str) -> None:
    if column.kind == "mixed":
        kinds = {key[0] for key in map(key_of, column.tolist()) if key is not None}
    elif column.kind == "boolean":
        kinds = {"boolean"}
    else:
        kind = "number" if column.kind == "integer" else column.kind
        kinds = {kind} if not column.missing().all() else set()
    other = sorted(kinds - {wanted})
    if other:
        raise Invalid(
            Problem(
                ("column",),
                f"'{name}' holds {_WORDS[other[0]]}, which '{op}' cannot compare with a {wanted}. "
                f"Compare a column of {_WORDS[wanted]}, or use 'eq' or 'neq'.",
            )
        )


def _holds_mixed(column: Column, op: str, threshold: Column) -> Mask:
    relation = OPERATORS[op]
    keys = [key_of(value) for value in column.tolist()]
    marks = [key_of(value) for value in threshold.tolist()]
    if len(marks) == 1:
        marks *= len(keys)

    def one(key: tuple[str, Any] | None, mark: tuple[str, Any] | None) -> bool:
        if key is None or mark is None:
            return False
        return bool(relation(key[1], mark[1])) if key[0] == mark[0] else op == "neq"

    return np.fromiter((one(k, m) for k, m in zip(keys, marks, strict=True)), bool, len(keys))


def _holds_text(column: Column, op: str, threshold: Column) -> Mask:
    relation = OPERATORS[op]
    if len(threshold) == 1:
        mark = threshold.words[int(threshold.values[0])]
        by_word = np.array([relation(word, mark) for word in column.words] or [False], bool)
        return by_word.take(column.values)
    pairs = zip(column.tolist(), threshold.tolist(), strict=True)
    return np.fromiter((a is not None and b is not None and relation(a, b) for a, b in pairs), bool, len(column))


def _holds_number(column: Column, op: str, threshold: Column) -> Mask:
    values, marks = exact_numbers(column), exact_numbers(threshold)
    if object in (values.dtype, marks.dtype):
        values, marks = values.astype(object), marks.astype(object)
    with np.errstate(invalid="ignore"):
        made: Mask = np.asarray(OPERATORS[op](values, marks), bool)
    return made


def exact_numbers(column: Column) -> NDArray[np.generic]:
    """Numbers as float64 where that is exact, else as Python numbers; what stands under nulls means nothing."""
    if column.kind == "number":
        return column.values.astype(np.float64, copy=False)
    values = whole_numbers(column)
    if len(values) and (
        values.dtype == object or int(np.abs(values).max()) > _EXACT or int(values.min()) < -_EXACT
    ):
        return values.astype(object)
    return values.astype(np.float64)
