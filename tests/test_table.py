"""Typed columns: nulls apart from NaN, kinds, concatenation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.table import Column, Table, concat, concat_columns, kind_of, moment_text, time_text, to_micros

SCALARS = {
    "number": st.floats(),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "text": st.text(max_size=4),
    "boolean": st.booleans(),
    "datetime": st.datetimes(timezones=st.just(UTC)),
}


def same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes() or (a != a and b != b)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("kind", SCALARS)
@given(data=st.data())
def test_python_values_come_back(kind: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | SCALARS[kind], max_size=20))
    column = Column.from_python(values)
    assert column.kind == (kind if any(v is not None for v in values) else "null")
    assert all(same(a, b) for a, b in zip(column.tolist(), values, strict=True))


def test_a_nan_is_not_a_null_but_counts_as_missing() -> None:
    column = Column.from_python([1.0, float("nan"), None])
    assert column.null_mask().tolist() == [False, False, True]
    assert column.missing().tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("values", "kind"),
    [([1, 2.5], "number"), ([True, 1], "mixed"), (["a", 1], "mixed"), ([None], "null"), ([], "null")],
)
def test_kind_of_a_list(values: list[object], kind: str) -> None:
    assert kind_of(values) == kind


def test_a_column_refuses_what_is_no_scalar() -> None:
    with pytest.raises(TypeError, match="dict"):
        kind_of([{}])


@given(st.lists(st.lists(st.none() | st.sampled_from("abc"), max_size=5), min_size=1, max_size=4))
def test_text_columns_join_by_their_words(parts: list[list[str | None]]) -> None:
    joined = concat_columns([Column.from_python(part) for part in parts])
    assert joined.tolist() == [value for part in parts for value in part]


def test_kinds_that_differ_become_the_one_that_holds_both() -> None:
    one, two = Table.of({"a": [1, 2]}), Table.of({"a": [0.5, None]})
    assert concat([one, two])["a"].kind == "number"
    assert concat([one, two])["a"].tolist() == [1.0, 2.0, 0.5, None]
    mixed = concat([one, Table.of({"a": ["x"]})])["a"]
    assert mixed.kind == "mixed"
    assert mixed.tolist() == [1, 2, "x"]


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="'b' has 1 rows, the table 2"):
        Table.of({"a": [1, 2], "b": [1]})


def test_time_text_has_one_width_so_that_text_order_is_time_order() -> None:
    times = [
        datetime(99, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
        datetime(2026, 1, 31),
    ]
    texts = [time_text(to_micros(time)) for time in times]
    assert texts == sorted(texts)
    assert {len(text) for text in texts} == {27}
    assert texts[2] == "2026-01-31T00:00:00.000000Z"


@pytest.mark.parametrize("dtype", [">i2", ">i4", ">u8", ">f4", ">f8"])
def test_arrays_of_foreign_byte_order_keep_value_and_width(dtype: str) -> None:
    column = Column.of(np.array([1, 2, 7000], dtype))
    assert column.tolist() == [1, 2, 7000]
    assert column.values.dtype == np.dtype(dtype).newbyteorder("=")


@pytest.mark.parametrize("values", [np.zeros((3, 2)), np.float64(1.0).reshape(()), np.zeros(2, np.longdouble)])
def test_arrays_that_no_column_holds_are_refused(values: np.ndarray) -> None:
    with pytest.raises((TypeError, ValueError), match="a column"):
        Column.of(values)


def test_any_32_bit_pattern_can_be_widened() -> None:
    signalling = Column.of(np.array([0x7FA00001, 0xFFA00001], np.uint32).view(np.float32))
    assert np.isnan(signalling.floats()).all()


@pytest.mark.parametrize("zone", [UTC, None, timezone(timedelta(hours=-3, minutes=-30)), ZoneInfo("UTC")])
@pytest.mark.parametrize("micros", [0, 1, 123456, 999_999, 86_400_000_000 - 1])
def test_a_moment_has_the_text_of_its_microseconds(zone: tzinfo | None, micros: int) -> None:
    local = datetime(1970, 1, 1) if zone is None else datetime(1970, 1, 1, tzinfo=UTC).astimezone(zone)
    text = moment_text(local + timedelta(microseconds=micros))
    assert text == time_text(micros)
    assert len(text) == 27
