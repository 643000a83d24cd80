"""What was read a moment ago comes from memory: never other samples than those of the store, and not too many."""

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
from workbench.store.series import recent, summaries
from workbench.store.series.layout import Row
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
    store.series.recent.forget()
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
    monkeypatch.setattr(recent, "MOST_BYTES", 60_000)
    store.series.recent.forget()
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
        monkeypatch.setattr(recent, "MOST_BYTES", 4 << 20)
        store.series.recent.forget()
        for most in range(100, 130):
            sampled(store, "words", ("word",), most=most)
        for most in range(3, 150):
            sampled(store, "wide", tuple(many), most=most)
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 1 << 20 < held < 5 << 20
    assert len(reads) == 30 + 147


@pytest.fixture
def tables_read(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The owners whose whole tables were read from the store, for each reading."""
    found: list[list[str]] = []
    for name in ("read", "stacked"):

        def read(
            connection: object, rows: list[Row], *rest: object, real: object = getattr(summaries, name)
        ) -> object:
            found.append([row.owner for row in rows])
            return real(connection, rows, *rest)  # type: ignore[operator]

        monkeypatch.setattr(summaries, name, read)
    return found


def below(store: Store, owners: list[str], names: list[str]) -> dict[str, Column]:
    infos = store.series.infos(owners, "cycles", scope=EVERYTHING)
    return store.series.stacked(list(infos.values()), names, scope=EVERYTHING)


def lists(columns: dict[str, Column] | Table) -> dict[str, list[object]]:
    return {name: one.tolist() for name, one in columns.items()}


def test_whole_tables_are_read_once(store: Store, tables_read: list[list[str]]) -> None:
    for k in range(4):
        store.series.append(f"m{k}", "cycles", table(k, 300))
    for names in (["U", "I", "step"], ["I"], ["step", "U", "nothing"]):
        tables_read.clear()
        whole = [store.series.many(["m0", "m1"], names, "cycles", scope=EVERYTHING) for _ in range(2)]
        more = store.series.many(["m1", "m2", "m0"], names, "cycles", scope=EVERYTHING)
        assert tables_read == [["m0", "m1"], ["m2"]], "of another selection only what is new"
        assert list(more) == ["m1", "m2", "m0"]
        expected = lists(table(1, 300).select([name for name in names if name != "nothing"]))
        assert [lists(one["m1"]) for one in (*whole, more)] == [expected] * 3
        tables_read.clear()
        stacked = [below(store, owners, names) for owners in (["m0", "m1"], ["m0", "m1"], ["m1", "m0"])]
        assert tables_read == [["m0", "m1"], ["m1", "m0"]], "the order counts"
        assert lists(stacked[0]) == lists(stacked[1]) != lists(stacked[2])
    tables_read.clear()
    store.series.recent.forget()
    below(store, ["m0"], ["U"])
    assert tables_read == [["m0"]]


def test_a_table_that_grew_or_was_replaced_is_read_anew(store: Store) -> None:
    for owner in ("m0", "m1"):
        store.series.append(owner, "cycles", table(1, 300))
    both = ["m0", "m1"]

    def seen() -> tuple[list[object], list[object]]:
        tables = store.series.many(both, ["U"], "cycles", scope=EVERYTHING)
        return [one for table in tables.values() for one in table["U"].tolist()], below(store, both, ["U"])[
            "U"
        ].tolist()

    first = table(1, 300)["U"].tolist()
    assert seen() == (first * 2, first * 2)
    store.series.append("m1", "cycles", table(2, 5, 300))
    grown = first * 2 + table(2, 5)["U"].tolist()
    assert seen() == (grown, grown)
    with store.series.writer("m0", "cycles") as writer:
        writer.add(table(3, 300))
        writer.publish()
    replaced = table(3, 300)["U"].tolist() + first + table(2, 5)["U"].tolist()
    assert seen() == (replaced, replaced)
    with store.transaction() as connection:
        connection.execute("delete from series where owner = 'm0'")
    assert list(store.series.many(both, ["U"], "cycles", scope=EVERYTHING)) == ["m1"]


def test_nobody_can_change_whole_tables_that_are_kept(store: Store) -> None:
    for owner in ("m0", "m1"):
        store.series.append(owner, "cycles", table(1, 300))
    for _ in range(2):
        whole = store.series.many(["m0"], ["U", "I", "step"], "cycles", scope=EVERYTHING)["m0"]
        stacked = below(store, ["m0", "m1"], ["U", "I", "step"])
        for columns in (whole.columns, stacked):
            for array in [
                part for one in columns.values() for part in (one.values, one.valid) if part is not None
            ]:
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 0
                with pytest.raises(ValueError, match="WRITEABLE"):
                    array.flags.writeable = True
            columns["more"] = columns.pop("U")


def test_whole_numbers_above_2_to_the_53_stay_exact(store: Store) -> None:
    """Beside numbers of another test they are floats, and what is equal is decided by the numbers as they were."""
    for owner, values in (("m0", np.array([2**53 + 1, 5])), ("m1", np.array([0.5, 1.0]))):
        store.series.append(owner, "cycles", Table({"n": Column.of(values)}, 2))
    for _ in range(2):
        assert below(store, ["m0", "m1"], ["n"])["n"].exact_list() == [2**53 + 1, 5, 0.5, 1.0]


def test_memory_for_whole_tables_is_bounded(
    store: Store, tables_read: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent, "MOST_WHOLE_BYTES", 40_000)
    store.series.recent.forget()
    for k in range(10):  # each takes some 10 kB
        store.series.append(f"m{k}", "cycles", table(k, 300))
        store.series.many([f"m{k}"], ["t", "U", "I"], "cycles", scope=EVERYTHING)
    store.series.many(["m9"], ["t", "U", "I"], "cycles", scope=EVERYTHING)
    assert len(tables_read) == 10
    store.series.many(["m0"], ["t", "U", "I"], "cycles", scope=EVERYTHING)
    assert len(tables_read) == 11
    store.series.append("large", "cycles", table(0, 3000))
    for _ in range(2):
        below(store, ["large"], ["t", "U", "I"])
    assert tables_read[11:] == [["large"]] * 2, "it is larger than all of the memory"
