"""The packed dataset: what goes in comes out, bit for bit, as views."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from workbench.dataset import Parts, Samples, pack, packed, unpack
from workbench.errors import StoreError
from workbench.table import Column, Table


@pytest.mark.parametrize("as_given", [pack, packed])
def test_steps_come_back_bit_for_bit(as_given: Callable[..., bytes | Parts]) -> None:
    odd = np.array([-0.0, np.nan, np.inf, 5e-324])
    rows = Table.of({"f": odd, "i": [1, None, 3, 4], "t": ["a", None, "", "a"], "m": [1, "x", None, 2.5]})
    empty = Table({"t": Column.text([]), "d": Column("datetime", np.zeros(0, np.int64))}, 0)
    single = Table.of({"x": np.array([1.5, 2.5], np.float32)})
    series = {"id-1": Samples(np.array([3, 9]), single, False, 12)}
    steps, extra = unpack(as_given({"rows": rows, "empty": empty, "curves": series}, {"k": [1]}))
    assert extra == {"k": [1]}
    assert list(steps) == ["rows", "empty", "curves"]
    back = steps["rows"]
    assert isinstance(back, Table)
    assert back["f"].values.tobytes() == odd.tobytes()
    assert back.select(["i", "t", "m"]).records() == rows.select(["i", "t", "m"]).records()
    hollow = steps["empty"]
    assert isinstance(hollow, Table)
    assert [(name, column.kind) for name, column in hollow.items()] == [("t", "text"), ("d", "datetime")]
    curves = steps["curves"]
    assert isinstance(curves, dict)
    samples = curves["id-1"]
    assert samples.rows.tolist() == [3, 9]
    assert samples.table["x"].values.dtype == np.float32
    assert (samples.complete, samples.total) == (False, 12)


@pytest.mark.parametrize("as_given", [pack, packed])
def test_views_cannot_be_written(as_given: Callable[..., bytes | Parts]) -> None:
    steps, _ = unpack(as_given({"rows": Table.of({"a": [1.0]})}))
    table = steps["rows"]
    assert isinstance(table, Table)
    with pytest.raises(ValueError, match="read-only"):
        table["a"].values[0] = 2.0


def test_parts_are_not_copied_before_somebody_asks_for_bytes() -> None:
    rows = Table.of({"a": np.arange(5.0)})
    parts = packed({"rows": rows, "empty": Table.of({"e": np.zeros(0)})})
    table = unpack(parts)[0]["rows"]
    assert isinstance(table, Table)
    assert np.shares_memory(table["a"].values, rows["a"].values)
    assert len(parts) == len(bytes(parts))


def test_equal_steps_pack_to_equal_bytes() -> None:
    assert pack({"a": Table.of({"x": ["u", "v"]})}) == pack({"a": Table.of({"x": ["u", "v"]})})


def test_other_bytes_are_refused() -> None:
    with pytest.raises(StoreError, match="not a packed dataset"):
        unpack(b"x" * 64)
