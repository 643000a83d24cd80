"""Tables for tests: the same rows as typed columns and as plain dicts, random and to compare."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import hypothesis.strategies as st

from support.reference_plans import Rows
from workbench.engine.equality import plain
from workbench.table import EPOCH, Column, Table, time_text, to_micros

# Every sum of these is exact in any order, so that sums and means are compared to the bit.
NUMBERS = st.integers(-8, 8).map(lambda n: n / 4) | st.sampled_from([0.0, -0.0, float("nan"), 2.0**900])
INTEGERS = st.integers(-3, 3) | st.sampled_from([2**53, 2**53 + 1, -(2**62)])
TEXTS = st.sampled_from(["a", "b", "B", "ä", "\U0001f600", "\uffff", "", "1", "2026-01-31T12:00:00.000000Z"])
TIMES = st.sampled_from([EPOCH + timedelta(days=d) for d in (0, 1, 20484)]) | st.just(
    datetime(2026, 1, 31, 13, tzinfo=timezone(timedelta(hours=1)))
)
VALUES = {
    "number": NUMBERS,
    "integer": INTEGERS,
    "text": TEXTS,
    "boolean": st.booleans(),
    "datetime": TIMES,
    "mixed": NUMBERS | INTEGERS | TEXTS | st.booleans(),
    "null": st.none(),
}
KINDS = st.sampled_from([*VALUES, "number", "integer", "text"])
NAMES = ("k", "a", "b", "c_right")


@st.composite
def tables(draw: st.DrawFn, names: tuple[str, ...] = NAMES, most: int = 12) -> tuple[Table, Rows]:
    """A random table, and the same as plain rows."""
    n = draw(st.integers(0, most))
    columns: dict[str, Column] = {}
    kinds: dict[str, str] = {}
    for name in draw(st.lists(st.sampled_from(names), min_size=2, max_size=len(names), unique=True)):
        kind = kinds[name] = draw(KINDS)
        values = draw(st.lists(st.none() | VALUES[kind], min_size=n, max_size=n))
        columns[name] = Column.from_python(values, kind)  # type: ignore[arg-type]
    table = Table(columns, n)
    return table, Rows(kinds, plain_rows(table))


def plain_rows(table: Table) -> list[dict[str, Any]]:
    """Rows as the reference knows them."""
    lists = {name: [_plain(value) for value in column.tolist()] for name, column in table.items()}
    return [{name: values[row] for name, values in lists.items()} for row in range(table.n)]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return time_text(to_micros(value))
    return None if value != value else value


def assert_same(table: Table, rows: Rows) -> None:
    """The same columns, types and values; a NaN is a null."""
    assert {name: column.kind for name, column in table.items()} == rows.kinds
    assert list(table) == list(rows.kinds)
    assert table.n == len(rows.rows)
    for name, column in table.items():
        for ours, theirs in zip(plain(column), [row[name] for row in rows.rows], strict=True):
            assert type(ours) is type(theirs), (name, ours, theirs)
            assert ours == theirs, (name, ours, theirs)
