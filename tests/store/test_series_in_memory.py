"""Samples that were chosen a moment ago come from memory: never others than those of the store, and not too many."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from workbench.dataset import Samples
from workbench.errors import NotFound
from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.store.series import reduced
from workbench.store.series.reading import Reading
from workbench.table import Column, Table

N = 40_000


def table(seed: int, n: int = N, start: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    steps = [("rest", "charge", None)[k] for k in rng.integers(0, 3, n)]
    columns = {
        "t": Column.of(np.arange(start, start + n) * 1.0),
        "U": Column.of(rng.normal(size=n)),
        "I": Column.of(rng.normal(size=n), rng.random(n) < 0.9),
        "step": Column.text(steps),
    }
    return Table(columns, n)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "a.db") as opened:
        for owner in ("one", "two"):
            opened.series.append(owner, "series", table(len(owner)))
        opened.series.append("other", "series", table(7))
        yield opened


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The owners whose samples were read from the store."""
    found: list[str] = []
    for name in ("sample", "sample_rows"):
        real = getattr(Reading, name)

        def read(self: Reading, *asked: object, real: object = real) -> Samples:
            found.append(self.row.owner)
            return real(self, *asked)  # type: ignore[operator]

        monkeypatch.setattr(Reading, name, read)
    return found


def sampled(store: Store, owner: str, columns: tuple[str, ...] = ("U", "I"), **how: object) -> Samples:
    return store.series.sample(owner, "t", columns, **{"most": 500, "scope": EVERYTHING, **how})  # type: ignore[arg-type]


def same(one: Samples, two: Samples) -> bool:
    return (
        one.rows.tolist() == two.rows.tolist()
        and (one.complete, one.total) == (two.complete, two.total)
        and [column.tolist() for column in one.table.values()]
        == [column.tolist() for column in two.table.values()]
    )


def test_what_was_read_is_read_once(store: Store, reads: list[str]) -> None:
    first = sampled(store, "one", ("U", "I", "step"))
    again = sampled(store, "one", ("U", "I", "step"))
    assert reads == ["one"]
    assert same(first, again)
    sampled(store, "other")
    assert reads == ["one", "other"], "another series"
    store.series.reduced.forget()
    assert same(first, sampled(store, "one", ("U", "I", "step")))
    assert reads == ["one", "other", "one"]


def test_each_question_has_its_own_answer(store: Store, reads: list[str]) -> None:
    asked = [
        {},
        {"most": 501},
        {"window": (10.0, 30_000.0)},
        {"window": (10.0, None)},
        {"window": (None, 10.0)},
        {"columns": ("U",)},
        {"columns": ("I", "U")},
    ]
    for _ in range(2):
        answers = [sampled(store, "one", **how) for how in asked]  # type: ignore[arg-type]
        answers.append(store.series.sample_rows("one", "t", ("U", "I"), (10, 30_000), 500, scope=EVERYTHING))
        answers.append(store.series.sample_rows("one", "t", ("U", "I"), (10, 30_002), 500, scope=EVERYTHING))
        answers.append(store.series.sample("one", "U", ("I",), most=500, scope=EVERYTHING))
        facts = [(list(one.table), one.total, len(one.rows)) for one in answers]
        assert len({str(fact) for fact in facts}) == len(facts)
        assert len(reads) == len(asked) + 3


def test_what_was_added_or_replaced_is_seen(store: Store) -> None:
    before = sampled(store, "one")
    store.series.append("one", "series", table(5, 100, N))
    after = sampled(store, "one")
    assert (before.total, after.total) == (N, N + 100)
    assert after.rows[-1] == N + 99
    with store.series.writer("one") as writer:
        writer.add(table(6))
        writer.publish()
    replaced = sampled(store, "one")
    assert replaced.total == N
    assert not same(before, replaced)


def test_what_was_rolled_back_is_not_remembered(store: Store) -> None:
    def added(seed: int, keep: bool) -> list[object]:
        try:
            with store.transaction() as connection:
                store.series.append("one", "series", table(seed, 100, N), connection)
                found = sampled(store, "one", window=(N, None)).table["U"].tolist()
                if not keep:
                    raise KeyError
        except KeyError:
            assert sampled(store, "one").total == N
        return found

    assert added(1, False) == table(1, 100)["U"].tolist()
    assert added(2, True) == table(2, 100)["U"].tolist()
    assert sampled(store, "one", window=(N, None)).table["U"].tolist() == table(2, 100)["U"].tolist()


def test_who_may_not_see_a_series_does_not_see_it_from_memory(store: Store) -> None:
    """The two have the same samples, so the memory has one answer for both."""
    sampled(store, "one")
    with store.transaction() as connection:
        connection.execute("delete from series where owner = 'two'")
    with pytest.raises(NotFound):
        sampled(store, "two")
    with pytest.raises(NotFound):
        sampled(store, "nobody")


def test_nobody_can_change_what_is_kept(store: Store) -> None:
    first = sampled(store, "one", ("U", "I", "step"))
    found = sampled(store, "one", ("U", "I", "step"))
    arrays = [
        found.rows,
        *(part for one in found.table.values() for part in (one.values, one.valid) if part is not None),
    ]
    for array in arrays:
        assert array.base is not None
        assert array.base.nbytes == array.nbytes, "it would keep a larger one in memory"
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    found.table.columns["more"] = found.table["U"]
    del found.table.columns["I"]
    assert same(first, sampled(store, "one", ("U", "I", "step")))


def test_a_window_may_be_a_list(store: Store) -> None:
    assert sampled(store, "one", window=[1.0, 5.0]).total == 5


def test_memory_is_bounded(store: Store, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest make room, and a very large answer is not kept at all."""
    monkeypatch.setattr(reduced, "MOST_BYTES", 60_000)
    store.series.reduced.forget()
    for most in range(500, 510):  # each takes some 13 kB
        sampled(store, "one", most=most)
    sampled(store, "one", most=509)
    assert len(reads) == 10
    sampled(store, "one", most=500)
    assert len(reads) == 11


@pytest.mark.long
def test_what_objects_take_counts(store: Store, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Words and columns take more than their characters and numbers."""
    words = [f"step {k}" for k in range(N)]
    columns = {"t": Column.of(np.arange(N) * 1.0), "word": Column.text(words)}
    store.series.append("words", "series", Table(columns, N))
    many = {f"c{k}": Column.of(np.arange(3.0)) for k in range(300)}
    store.series.append("wide", "series", Table({"t": Column.of(np.arange(3.0)), **many}, 3))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        monkeypatch.setattr(reduced, "MOST_BYTES", 4 << 20)
        store.series.reduced.forget()
        for most in range(100, 130):
            sampled(store, "words", ("word",), most=most)
        for most in range(3, 150):
            sampled(store, "wide", tuple(many), most=most)
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 1 << 20 < held < 5 << 20
    assert len(reads) == 30 + 147
