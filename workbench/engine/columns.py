"""Columns of a step by name and kind."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import Invalid, Loc, Problem, instead, listed, near
from ..table import Column, Kind, Table

_DTYPES = {
    "number": np.float64,
    "integer": np.int64,
    "boolean": np.bool_,
    "datetime": np.int64,
    "text": np.int32,
    "mixed": np.object_,
    "null": np.bool_,
}


def column_of(table: Table, name: str, place: Loc) -> Column:
    """A column of a step's input; Invalid at ``place`` with the near names where there is none."""
    if name not in table:
        raise Invalid(Problem(place, f"There is no column '{name}' here. {instead(name, table.names, 'columns')}"))
    return table[name]


def there_are(name: str, names: Iterable[str]) -> str:
    """The closing words of an error about a column that no source has: the nearest ones, then all there are."""
    known = list(names)
    close = f"{instead(name, known)} " if near(name, known) else ""
    quoted = listed(f"'{column}'" for column in known)
    return f"{close}The columns are {quoted}." if known else "There are no columns."


def empty(kind: Kind) -> Column:
    """A column of no rows."""
    return Column(kind, np.zeros(0, _DTYPES[kind]))


def merged(kinds: Iterable[Kind]) -> Kind:
    """The kind of a column that sources hold as these kinds: nulls give way, integers to numbers."""
    found = {kind for kind in kinds if kind != "null"}
    if not found:
        return "null"
    if found == {"integer", "number"}:
        return "number"
    return found.pop() if len(found) == 1 else "mixed"


def judged(column: Column, is_open: bool) -> Column:
    """A column by the rows that it has here, whatever records outside of them hold: what may be computed depends on it.

    Of a column of several types that holds one type here, this is a column of that type; of one without a value, a
    column of nulls. A column without rows keeps its kind, unless that comes from records alone (``is_open``).
    """
    if column.kind in ("number", "integer", "null"):
        return column
    missing = column.missing()
    if missing.all():
        return Column.nulls(len(column)) if is_open or len(column) or column.kind == "mixed" else column
    return column.narrowed()


def kinds_of(table: Table) -> list[tuple[str, Kind]]:
    """(name, kind) of each column, as an answer declares them."""
    return [(name, column.kind) for name, column in table.items()]
