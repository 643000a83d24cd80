"""Tables from Python as researchers have them: what a column loses silently, it loses for good."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb

pl = pytest.importorskip("polars")

RATINGS = {
    "capacity": {"value": 1.0, "unit": "A.h"},
    "voltage_min": {"value": 3.0, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
SECONDS = np.arange(4) * 10.0
TEST = {"Time [s]": SECONDS, "Current [A]": np.ones(4), "Voltage [V]": np.linspace(4.2, 3.9, 4)}
SECOND = [True, False, True, True]
SPANS = np.array([0, "NaT", 10_000, 30_000], "timedelta64[ms]")


def masked(values: list[Any], dtype: str) -> np.ma.MaskedArray:
    return np.ma.masked_array(np.array(values, dtype), [not one for one in SECOND])


EXTRA: dict[str, Any] = {
    "masked floats": masked([1, 2, 3, 4], "float64"),
    "masked integers": masked([1, 2, 3, 4], "int64"),
    "masked texts": masked(["a", "b", "c", "d"], "U1"),
    "masked days": masked(["2026-01-01"] * 4, "datetime64[D]"),
    "numpy spans": SPANS.astype("timedelta64[ns]"),
    "pandas spans": pd.Series(SPANS),
    "polars spans": pl.Series(SPANS),
    "polars integers": pl.Series([1, None, 3, 4]),
    "arrow integers": pd.array([1, None, 3, 4], dtype="int64[pyarrow]"),
    "arrow floats": pd.Series([1.5, None, 3, 4], dtype="double[pyarrow]"),
    "integers and NA": [1, pd.NA, 3, 4],
    "times and NaT": [pd.Timestamp("2026-01-01", tz="Europe/Berlin"), pd.NaT, *[pd.Timestamp("2026-01-02")] * 2],
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with wb.open(tmp_path_factory.mktemp("given") / "w.db") as made:
        made.specifications.create(name="S", ratings=RATINGS)
        made.instances.create(specification="S", name="c")
        yield made


@pytest.fixture(scope="module")
def kept(bench: wb.Bench) -> pd.DataFrame:
    test = bench.measurements.create(instance="c", name="all", time_series={**TEST, **EXTRA})
    return bench.measurements.time_series(test)


@pytest.mark.parametrize("name", EXTRA)
def test_what_is_missing_stays_missing(kept: pd.DataFrame, name: str) -> None:
    assert kept[name].notna().tolist() == SECOND


@pytest.mark.parametrize("name", [name for name in EXTRA if name.endswith("spans")])
def test_a_time_span_is_in_seconds(kept: pd.DataFrame, name: str) -> None:
    assert kept[name].dropna().tolist() == [0.0, 10.0, 30.0]


@pytest.mark.parametrize(
    "spans",
    [lambda s: s.to_numpy(), lambda s: s, lambda s: s.astype("duration[us][pyarrow]")],
    ids=["numpy", "pandas", "pyarrow"],
)
def test_the_time_of_a_test_may_be_a_span(bench: wb.Bench, spans: Callable[[pd.Series], Any]) -> None:
    given = spans(pd.Series(pd.to_timedelta(SECONDS, unit="s")))
    test = bench.measurements.create(instance="c", name="spans", time_series={**TEST, "Time [s]": given})
    try:
        assert bench.measurements.time_series(test)["Time [s]"].tolist() == SECONDS.tolist()
    finally:
        bench.measurements.delete(test)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.ones(4) * 1j, "complex"),
        ([Fraction(1, 2)] * 4, "Fraction"),
        ([2**70] * 4, "beyond 64 bits"),
        ([b"x"] * 4, "bytes"),
        (pd.Series(pd.period_range("2026-01", periods=4, freq="M")), "Period"),
        (np.ones((4, 2)), "one dimension, not 2"),
        (3.5, "values, not float"),
        ("1234", "values, not str"),
        ({0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}, "values, not dict"),
        ({1.0, 2.0, 3.0, 4.0}, "values, not set"),
    ],
    ids=str,
)
def test_what_a_column_cannot_hold_is_refused_with_its_name(bench: wb.Bench, values: Any, words: str) -> None:
    with pytest.raises(wb.BadRequest, match=r"[Cc]olumn 'aux' .*" + words):
        bench.measurements.create(instance="c", name="refused", time_series={**TEST, "aux": values})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pd.Series(SECONDS), "a DataFrame, an Arrow table or a mapping .* not Series"),
        (pl.Series(SECONDS), "not Series"),
        (pl.DataFrame(TEST).lazy(), r"not LazyFrame\. Give \.collect\(\)"),
        (np.ones((4, 3)), "not ndarray"),
    ],
    ids=str,
)
def test_what_is_not_a_table_is_called_so(bench: wb.Bench, given: Any, words: str) -> None:
    with pytest.raises(wb.BadRequest, match=words):
        bench.measurements.create(instance="c", name="refused", time_series=given)


def test_a_frame_from_a_file_by_arrow_is_read(bench: wb.Bench, tmp_path: Path) -> None:
    pd.DataFrame(TEST).to_parquet(tmp_path / "a.parquet")
    frame = pd.read_parquet(tmp_path / "a.parquet", dtype_backend="pyarrow")
    test = bench.measurements.create(instance="c", name="arrow", time_series=frame)
    assert bench.measurements.time_series(test)[[*TEST]].equals(pd.DataFrame(TEST))
