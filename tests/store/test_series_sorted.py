"""Whether a column never falls: appends that begin exactly between two chunks, and what older versions left; and
where a window of one that does begins and ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.store.series.chunks import CHUNK
from workbench.store.series.layout import load_stats, pack_stats
from workbench.table import Table

TWICE = 2 * CHUNK
BEGINS_ANEW = np.r_[np.arange(TWICE), np.arange(TWICE)] * 1.0
Y = np.random.default_rng(0).normal(size=2 * TWICE)
WINDOW = (100.0, 20_000.0)
INSIDE = 2 * 19_901


def part(start: int, stop: int, x: np.ndarray = BEGINS_ANEW) -> Table:
    return Table.of({"t": x[start:stop], "y": Y[start:stop]})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "a.db") as opened:
        yield opened


def flag(store: Store, owner: str) -> bool:
    info = store.series.info(owner, scope=EVERYTHING)
    assert info is not None
    return info.columns[0].sorted


def inside(store: Store, owner: str) -> int:
    return store.series.sample(owner, "t", ["y"], window=WINDOW, most=500, scope=EVERYTHING).total


@pytest.mark.parametrize("cuts", [(TWICE,), (CHUNK, TWICE), (TWICE, TWICE + 5), (TWICE - 5, TWICE), (5, TWICE)])
def test_an_append_between_two_chunks_sees_that_the_column_falls(store: Store, cuts: tuple[int, ...]) -> None:
    edges = [0, *cuts, 2 * TWICE]
    for start, stop in pairwise(edges):
        store.series.append("appended", "series", part(start, stop))
    with store.series.writer("at once") as writer:
        writer.add(part(0, 2 * TWICE))
        writer.publish()
    for owner in ("appended", "at once"):
        assert not flag(store, owner)
        assert inside(store, owner) == INSIDE
        store.series.recent.forget()


def test_an_append_between_two_chunks_sees_that_the_column_rises_on(store: Store) -> None:
    x = np.arange(2 * TWICE) * 1.0
    for start in range(0, 2 * TWICE, CHUNK):
        store.series.append("one", "series", part(start, start + CHUNK, x))
    assert flag(store, "one")
    assert inside(store, "one") == 19_901


def test_what_an_older_version_left_is_read_right(store: Store) -> None:
    """It said that such a column never falls, so that a window had too many samples."""
    for start in (0, TWICE):
        store.series.append("one", "series", part(start, start + TWICE))
    with store.transaction() as connection:
        (row,) = store.series._rows(connection, ["one"], "series", EVERYTHING)
        stats = load_stats(row.stats)
        stats[0].sorted = True
        old = row._replace(stats=pack_stats(stats))
        *_, stats_crc, crc, packed = old.values()
        connection.execute(
            "update series set stats = ?, stats_crc = ?, crc = ? where owner = 'one'", (packed, stats_crc, crc)
        )
    assert flag(store, "one")
    assert inside(store, "one") == INSIDE
    assert not store.series.verify()


def test_infinity_is_not_sorted_in_the_past_either(store: Store) -> None:
    x = np.arange(TWICE) * 1.0
    x[-1] = np.inf
    with store.series.writer("one") as writer:
        writer.add(Table.of({"t": x, "y": Y[:TWICE]}))
        writer.publish()
    moment = store.latest()
    before = store.series.sample("one", "t", ["y"], window=(100.0, None), most=500, scope=EVERYTHING)
    store.series.append("one", "series", Table.of({"t": np.arange(3.0), "y": np.arange(3.0)}))
    with store.snapshot() as connection:
        rows = {"series": store.series._rows(connection, ["one"], "series", EVERYTHING)[0]}
        then = store.series._past.reading(connection, rows, "series", moment)
        assert then is not None
        found = then.sample("t", ["y"], (100.0, None), 500)
    assert found.rows.tolist() == before.rows.tolist()
    assert found.total == before.total


@pytest.mark.parametrize("shape", ["even", "bursts", "equal", "steps", "wide", "infinite"])
def test_a_window_is_found_wherever_its_samples_lie(tmp_path: Path, shape: str) -> None:
    rng = np.random.default_rng(3)
    n = 9 * CHUNK + 17
    if shape == "even":
        x = np.arange(n) * 1.0
    elif shape == "bursts":
        x = np.cumsum(np.where(rng.random(n) < 1e-4, 1e5, 1e-3))
    elif shape == "equal":
        x = np.full(n, 5.0)
    elif shape == "steps":
        x = np.repeat(np.arange(n // CHUNK + 1) * 1.0, CHUNK)[:n]
    elif shape == "wide":
        x = 1.7e308 * np.linspace(-1, 1, n)
    else:
        x = np.sort(
            np.concatenate([np.full(CHUNK + 5, -np.inf), rng.normal(size=n - CHUNK - 10), np.full(5, np.inf)])
        )
    with Store.open(tmp_path / "w.db") as store:
        store.series.append("one", "series", Table.of({"x": x, "y": np.arange(n) * 1.0}))
        places = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 4 * CHUNK, n - 2, n - 1, *rng.integers(0, n, 12).tolist()]
        bounds = [x[place] for place in places] + [-1e400, 1e400, x[0] - 1, x[-1] + 1, 0.5]
        for low, high in zip(bounds, rng.permutation(bounds), strict=True):
            window = (float(min(low, high)), float(max(low, high)))
            got = store.series.sample("one", "x", ["y"], window=window, most=10, scope=EVERYTHING)
            assert got.total == int(np.count_nonzero((x >= window[0]) & (x <= window[1]))), window
