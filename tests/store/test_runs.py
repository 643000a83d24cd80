"""Runs that are encoded together have the payloads that they have alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from workbench.store.series import codec
from workbench.store.series import equal_runs as runs
from workbench.table import Column

DTYPES = ["<f8", "<f4", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "?"]
ODD = [np.nan, -0.0, np.inf, -np.inf, 1e300, 0.1 + 0.2, 5e-324, 2.0**53, 1e17, 3e9]


@st.composite
def floats(draw: st.DrawFn, size: int) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from(["<f8", "<f4"])))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    shape = draw(st.sampled_from(["noise", "single", "constant", "decimal", "whole", "bits"]))
    if shape == "bits":
        return rng.integers(0, 256, size * dtype.itemsize, dtype=np.uint8).view(dtype)
    values = rng.normal(0, draw(st.sampled_from([1.0, 1e4, 1e9, 1e12])), size)
    if shape == "single":
        values = values.astype(np.float32).astype(np.float64)
    if shape in ("decimal", "whole"):
        power = 10.0 ** (draw(st.integers(1, 8)) if shape == "decimal" else 0)
        values = np.rint(values * power) / power + 0.0
    if shape == "constant":
        values[:] = draw(st.sampled_from([0.0, -0.0, 2.5, np.nan, np.inf]))
    if draw(st.integers(0, 2)) == 0:
        values[rng.random(size) < draw(st.sampled_from([0.01, 0.3]))] = draw(st.sampled_from(ODD))
    with np.errstate(over="ignore"):
        return values.astype(dtype)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Column, int]:
    size = draw(st.sampled_from([1, 2, 3, 64, 65, 700]))
    count = draw(st.integers(1, 6))
    if draw(st.integers(0, 3)):
        parts = [draw(floats(size)) for _ in range(count)]
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.concatenate([part.astype(parts[0].dtype) for part in parts])
    else:
        values = draw(arrays.arrays(np.dtype(draw(st.sampled_from(DTYPES))), size * count))
    valid = None
    if draw(st.integers(0, 3)) == 0:
        valid = draw(arrays.arrays(np.bool_, size * count))
    column = Column.of(values)
    return Column(column.kind, column.values, valid), size


def alone(column: Column, size: int) -> list[bytes]:
    return [codec.encode_column(column.slice(at, at + size)) for at in range(0, len(column), size)]


@given(columns())
@settings(max_examples=500, deadline=None)
@pytest.mark.filterwarnings("ignore:overflow")
def test_runs_have_the_payloads_that_they_have_alone(case: tuple[Column, int]) -> None:
    column, size = case
    assert runs.encode_runs(column, size) == alone(column, size)


@given(st.lists(st.sampled_from(["charge", "rest", "", None]), min_size=6, max_size=30))
def test_texts_too(words: list[str | None]) -> None:
    column = Column.text(words[: len(words) // 3 * 3])
    assert runs.encode_runs(column, 3) == alone(column, 3)


@pytest.mark.parametrize("together", [1, 3, 8])
def test_a_long_column_is_encoded_in_parts(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr(runs, "TOGETHER", together * 100)
    values = np.round(np.random.default_rng(1).normal(3.7, 0.01, 1000), 4)
    values[[250, 810]] = np.nan, 1e12
    column = Column.of(values)
    assert runs.encode_runs(column, 100) == alone(column, 100)
