"""Reduced reads keep the contract of the recipe (sections 4 and 10) on random series, against a slow reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.dataset import Samples
from workbench.errors import BadRequest, NotFound
from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.table import Column, Table

SIZES = [1, 2, 5, 100, 3000, 16384, 16385, 50_000, 150_000, 300_000]
NAMES = ["sorted", "steps", "noise", "holes", "nulls", "whole", "mark", "when", "words", "flat", "small"]


def random_table(rng: np.random.Generator, n: int) -> Table:
    noise = rng.normal(size=n)
    holes = np.round(np.cumsum(noise), 2)
    holes[rng.random(n) < 0.3] = np.nan
    holes[rng.random(n) < 0.01] = np.inf
    holes[rng.random(n) < 0.01] = -np.inf
    whole = rng.integers(-50, 50, n)
    return Table(
        {
            "sorted": Column.of(np.sort(np.round(rng.uniform(0, n, n), 1))),
            "steps": Column.of(np.arange(n) // 500),
            "noise": Column.of(noise),
            "holes": Column.of(holes),
            "nulls": Column.of(np.round(noise, 3), rng.random(n) < 0.5),
            "whole": Column.of(whole, rng.random(n) < 0.9),
            "mark": Column.of(noise > 2),
            "when": Column("datetime", 1_700_000_000_000_000 + np.sort(rng.integers(0, 10**9, n))),
            "words": Column.text([("rest", "charge", None)[k] for k in rng.integers(0, 3, n)]),
            "flat": Column.of(np.full(n, 1.5)),
            "small": Column.of(noise.astype(np.float32)),
        },
        n,
    )


def finite_extremes(column: Column) -> tuple[object, object] | None:
    """Least and greatest of the non-null finite numbers, by looking at every one."""
    values = [v for v in column.tolist() if v is not None and not (isinstance(v, float) and not np.isfinite(v))]
    return (min(values), max(values)) if values else None


def inside(column: Column, low: float | None, high: float | None) -> np.ndarray:
    values = column.values.tolist()
    known = (~column.null_mask()).tolist()
    return np.array(
        [
            k for k, (value, ok) in enumerate(zip(values, known, strict=True))
            if ok and (low is None or value >= low) and (high is None or value <= high)
            and value == value
        ],
        np.int64,
    )  # fmt: skip


def keeps_contract(got: Samples, table: Table, rows: np.ndarray, x: str, columns: list[str], most: int) -> None:
    assert got.total == len(rows)
    assert got.table.names == list(dict.fromkeys([x, *columns]))
    assert (np.diff(got.rows) > 0).all(), "in stored order, each once"
    assert np.isin(got.rows, rows).all(), "only samples of the window"
    for name, column in got.table.items():
        assert same(column, table[name].take(got.rows)), f"{name}: real samples only"
    if len(rows) <= most:
        assert got.complete
        assert np.array_equal(got.rows, rows)
        return
    assert not got.complete
    assert (most + 1) // 2 <= len(got.rows) <= most
    if most == 1:
        assert got.rows.tolist() == [rows[0]]
        return
    assert got.rows[0] == rows[0]
    assert got.rows[-1] == rows[-1]
    if most >= 2 * len(set(columns)) + 2:
        for name in columns:
            if table[name].kind in ("number", "integer", "boolean", "datetime"):
                assert finite_extremes(got.table[name]) == finite_extremes(table[name].take(rows)), name


def same(left: Column, right: Column) -> bool:
    if left.kind != right.kind or left.values.dtype != right.values.dtype:
        return False
    if not np.array_equal(left.null_mask(), right.null_mask()):
        return False
    if left.kind == "text":
        return left.tolist() == right.tolist()
    known = ~left.null_mask()
    return left.values[known].tobytes() == right.values[known].tobytes()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, dict[int, Table]]:
    path: Path = tmp_path_factory.mktemp("reduced") / "store.wb"
    store = Store.open(path)
    tables = {n: random_table(np.random.default_rng(n), n) for n in SIZES}
    for n, table in tables.items():
        with store.series.writer(f"n{n}") as writer:
            for start in range(0, n, 40_000):
                writer.add(table.slice(start, start + 40_000))
            writer.publish()
    return store, tables


@pytest.mark.parametrize("n", [*SIZES[:-1], pytest.param(SIZES[-1], marks=pytest.mark.long)])
def test_reads_of_random_windows(stored: tuple[Store, dict[int, Table]], n: int, long: bool) -> None:
    store, tables = stored
    table, rng = tables[n], np.random.default_rng(n + 1)
    for _ in range(60 if long else 12):
        k = int(rng.integers(1, 5))
        columns = rng.choice(NAMES, k, replace=False).tolist()
        x = str(rng.choice(["sorted", "when", "noise", "holes", "whole", "steps", "small", "nulls"]))
        most = int(rng.choice([1, 2, 3, 2 * k + 1, 2 * k + 2, 2 * k + 3, 50, 500, 2000, 5000]))
        low, high = window_of(table[x], rng)
        got = store.series.sample(f"n{n}", x, columns, window=(low, high), most=most, scope=EVERYTHING)
        rows = np.arange(n) if low is None and high is None else inside(table[x], low, high)
        keeps_contract(got, table, rows, x, columns, most)
        again = store.series.sample(f"n{n}", x, columns, window=(low, high), most=most, scope=EVERYTHING)
        assert np.array_equal(again.rows, got.rows)
        got = store.series.sample(
            f"n{n}", x, columns, window=(low, high), most=most, known=["holes"], scope=EVERYTHING
        )
        rows = rows[~table["holes"].take(rows).missing()]
        keeps_contract(got, table, rows, x, columns, most)


def window_of(column: Column, rng: np.random.Generator) -> tuple[float | None, float | None]:
    values = column.values[~column.null_mask()]
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    ends = np.sort(rng.choice(values, 2)).tolist()
    low, high = (end + (0.25 if rng.random() < 0.3 and column.kind != "datetime" else 0) for end in ends)
    return (None if rng.random() < 0.25 else low, None if rng.random() < 0.25 else high)


@pytest.mark.parametrize("n", [*SIZES[:-1], pytest.param(SIZES[-1], marks=pytest.mark.long)])
def test_reads_of_random_rows(stored: tuple[Store, dict[int, Table]], n: int, long: bool) -> None:
    store, tables = stored
    rng = np.random.default_rng(n + 2)
    for _ in range(40 if long else 8):
        k = int(rng.integers(1, 5))
        columns = rng.choice(NAMES, k, replace=False).tolist()
        start, stop = np.sort(rng.integers(0, n + 2, 2)).tolist()
        most = int(rng.choice([1, 2 * k + 2, 100, 2000]))
        got = store.series.sample_rows(f"n{n}", "sorted", columns, (start, stop), most, scope=EVERYTHING)
        keeps_contract(got, tables[n], np.arange(start, min(stop, n)), "sorted", columns, most)
        known = rng.choice(["sorted", "holes", "nulls", "noise"], 2, replace=False).tolist()
        got = store.series.sample_rows(
            f"n{n}", "sorted", columns, (start, stop), most, known=known, scope=EVERYTHING
        )
        rows = np.arange(start, min(stop, n))
        held = [rows[~tables[n][name].take(rows).missing()] for name in known]
        keeps_contract(got, tables[n], np.intersect1d(*held), "sorted", columns, most)


def test_an_upside_down_window_selects_nothing(stored: tuple[Store, dict[int, Table]]) -> None:
    got = stored[0].series.sample("n50000", "sorted", ["noise"], window=(5.0, 4.0), most=100, scope=EVERYTHING)
    assert (got.total, got.complete, len(got.rows)) == (0, True, 0)
    assert got.table["noise"].kind == "number"


def test_bounds_between_float32_neighbours_are_exact(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    x = np.array([0.1, 0.2, 0.3], np.float32)
    store.series.append("a", "series", Table.of({"x": x}))
    assert store.series.sample("a", "x", [], window=(0.1, 0.2), most=9, scope=EVERYTHING).rows.tolist() == [0]
    assert store.series.sample(
        "a", "x", [], window=(float(x[0]), float(x[1])), most=9, scope=EVERYTHING
    ).rows.tolist() == [0, 1]


def test_integer_bounds_beyond_doubles_are_exact(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    x = np.array([2**53, 2**53 + 1, 2**53 + 2], np.int64)
    store.series.append("a", "series", Table.of({"x": x}))
    assert store.series.sample(
        "a", "x", [], window=(2**53 + 1, 2**53 + 1), most=9, scope=EVERYTHING
    ).rows.tolist() == [1]
    assert store.series.sample("a", "x", [], window=(0.5, 1e300), most=9, scope=EVERYTHING).total == 3
    assert store.series.sample("a", "x", [], window=(-1e300, 0.5), most=9, scope=EVERYTHING).total == 0


def test_a_window_needs_an_x_with_an_order(stored: tuple[Store, dict[int, Table]]) -> None:
    with pytest.raises(BadRequest, match="words"):
        stored[0].series.sample("n100", "words", ["noise"], window=(1.0, None), most=10, scope=EVERYTHING)


def test_an_unknown_column_names_the_near_one(stored: tuple[Store, dict[int, Table]]) -> None:
    with pytest.raises(NotFound, match="'noise'"):
        stored[0].series.sample("n100", "sorted", ["noice"], most=10, scope=EVERYTHING)


def test_spikes_survive_among_many_samples(tmp_path: Path) -> None:
    n = 400_000
    rng = np.random.default_rng(5)
    y = np.sin(np.arange(n) / 20_000) + rng.normal(0, 1e-3, n)
    spikes = rng.choice(n, 40, replace=False)
    y[spikes] += rng.choice([-0.5, 0.5], 40)
    store = Store.open(tmp_path / "s.wb")
    store.series.append("a", "series", Table.of({"t": np.arange(n) * 1.0, "y": y}))
    got = store.series.sample("a", "t", ["y"], most=1000, scope=EVERYTHING)
    assert np.isin(spikes, got.rows).mean() > 0.9
