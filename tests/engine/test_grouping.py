"""Groups of rows: found where neighbours differ, judged by the rule of equality."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from workbench.engine.equality import first_rows, is_any_of, key_of, matched
from workbench.engine.grouping import groups_of
from workbench.table import Column, concat_columns


def some(values: Sequence[object]) -> Column:
    return Column.from_python(values)


COLUMNS = {
    "one run each": some([1, 1, 2, 2, 2, 3]),
    "scattered": some([1, 2, 1, 3, 2, 1]),
    "zeros of both signs": some([0.0, -0.0, 1.0, -0.0, 0.0, 2.0]),
    "NaN beside null": Column.of(
        np.array([np.nan, 5.0, np.nan, 1.0, np.nan, 2.0]), np.array([1, 0, 1, 1, 0, 1], bool)
    ),
    "nulls over other values": Column("integer", np.array([7, 8, 8, 7, 7, 7]), np.array([0, 0, 1, 1, 0, 0], bool)),
    "True is not 1": some([True, 1, 1.0, "1", None, True]),
    "a word that is there twice": Column("text", np.array([0, 1, 2, 2, 0, 1], np.int32), None, ("a", "a", "b")),
    "booleans": some([True, True, False, False, True, True]),
}


@pytest.mark.parametrize(
    "names", [[name] for name in COLUMNS] + [["scattered", "booleans"], ["one run each", "booleans"]]
)
def test_groups_are_those_of_equal_values(names: list[str]) -> None:
    columns = [COLUMNS[name] for name in names]
    expected: dict[object, list[int]] = {}
    for row in range(6):
        expected.setdefault(tuple(key_of(column.tolist()[row]) for column in columns), []).append(row)
    groups = groups_of(columns, 6)
    order = np.arange(6) if groups.order is None else groups.order
    found = [order[start : start + size].tolist() for start, size in zip(groups.starts, groups.sizes, strict=True)]
    assert found == list(expected.values())
    assert groups.first.tolist() == [rows[0] for rows in expected.values()]
    assert (groups.order is None) == (found == [[*range(rows[0], rows[-1] + 1)] for rows in found])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (some([5, 6, 1, 2, 0, 0]), None),
        (some([1.0, 2.0, -5.0, -4.0, float("nan"), 9.0]), [0, 1, 2, 3, 5, 4]),
        (some([float("nan"), 1.0, 0.0, 1.0, 0.0, float("nan")]), [1, 0, 2, 3, 4, 5]),
        (some([True, False, False, True, False, True]), [1, 0, 2, 3, 4, 5]),
        (some([None, 1, 2, 3, 4, 5]), [1, 0, 2, 3, 4, 5]),
        (Column("text", np.array([0, 1, 0, 0, 0, 0], np.int32), None, ("b", "a")), [1, 0, 2, 3, 4, 5]),
    ],
)
def test_rows_of_a_group_are_sorted_only_if_they_are_not_yet(values: Column, expected: list[int] | None) -> None:
    groups = groups_of([some(["x", "x", "y", "y", "z", "z"])], 6, values)
    assert (None if groups.order is None else groups.order.tolist()) == expected


LARGE = [2**53, 2**53 + 1, 1.5, None, 2**53 + 1, 2**53]


@pytest.mark.parametrize(
    "column",
    [
        some(LARGE),
        concat_columns([some(LARGE[:2]), some([1.5, None]), some(LARGE[4:])]),
        concat_columns([some(LARGE[:3]), some([None, None, *LARGE[4:]]).slice(1, 4)]),
    ],
)
def test_whole_numbers_beside_a_fraction_keep_what_floats_round(column: Column) -> None:
    """9007199254740993 was one group with 9007199254740992 as soon as another row had a fraction."""
    assert column.kind == "number", "it is shown as before"
    assert column.tolist()[:3] == [2.0**53, 2.0**53, 1.5]
    groups = groups_of([column], 6)
    assert groups.order is not None
    assert groups.order.tolist() == [0, 5, 1, 4, 2, 3]
    assert groups.first.tolist() == [0, 1, 2, 3]
    assert matched(column, some([2**53 + 1]))[0].tolist() == [-1, 0, -1, -1, 0, -1]
    assert is_any_of(column.take(np.array([1, 0, 2])), [2**53 + 1]).tolist() == [True, False, False]
    ordered = groups_of([some(["x"] * 6)], 6, column).order
    assert ordered is not None
    assert ordered.tolist() == [2, 0, 5, 1, 4, 3]
    assert first_rows(column).tolist() == [0, 2], "choices are as they are shown"


def test_columns_that_floats_hold_are_compared_as_arrays() -> None:
    for values in ([1, 2.5], [2**53, 2**53 + 2, 1.5], [1e300, 2], [float("inf"), 3, None]):
        assert some(values).exact is None
