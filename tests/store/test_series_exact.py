"""What is written comes back bit for bit, in one go or appended, of every kind; and what cannot is refused."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from support.examples import examples

from workbench.errors import BadRequest, Conflict, NotFound, StoreError
from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.store.series.chunks import CHUNK
from workbench.table import Column, Table, concat, concat_columns

ODD = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 1e300, 5e-324, 0.1])


def identical(left: Table, right: Table) -> bool:
    if left.names != right.names or left.n != right.n:
        return False
    for name, column in left.items():
        other = right[name]
        if column.kind != other.kind or not np.array_equal(column.null_mask(), other.null_mask()):
            return False
        known = ~column.null_mask()
        if column.kind == "text":
            if column.tolist() != other.tolist():
                return False
        elif column.values.dtype != other.values.dtype or (
            column.values[known].tobytes() != other.values[known].tobytes()
        ):
            return False
    return True


def every_kind(n: int, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    decimal = np.round(np.cumsum(rng.normal(0, 1e-3, n)), 4)
    mixed = decimal.copy()
    mixed[rng.random(n) < 0.05] = rng.choice(ODD)
    nan = np.array([0x7FF8000000000123], np.uint64).view(np.float64)[0]
    return Table(
        {
            "decimal": Column.of(decimal),
            "odd": Column.of(np.where(rng.random(n) < 0.1, rng.choice(ODD, n), decimal)),
            "payload": Column.of(np.where(rng.random(n) < 0.1, nan, decimal)),
            "mixed": Column.of(mixed, rng.random(n) < 0.8),
            "single": Column.of(rng.normal(size=n).astype(np.float32), rng.random(n) < 0.9),
            "double": Column.of(rng.normal(size=n)),
            **{
                name: Column.of(rng.integers(np.iinfo(name).min, np.iinfo(name).max, n, dtype=name, endpoint=True))
                for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
            },
            "flag": Column.of(rng.random(n) < 0.5, rng.random(n) < 0.99),
            "when": Column("datetime", rng.integers(-(10**15), 10**15, n), rng.random(n) < 0.7),
            "words": Column.text([(None, "", "rest", "Ladung µ", "充电")[k] for k in rng.integers(0, 5, n)]),
            "nothing": Column.nulls(n),
        },
        n,
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.wb")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(tmp_path_factory.mktemp("append") / "store.wb")


@pytest.mark.parametrize("n", [0, 1, 4096, 4097, CHUNK, CHUNK + 1, 5 * CHUNK + 7, 150_000])
def test_every_kind_comes_back(store: Store, n: int) -> None:
    table = every_kind(n)
    with store.series.writer("a") as writer:
        for start in range(0, n, 50_001):
            writer.add(table.slice(start, start + 50_001))
        if not n:
            writer.add(table)
        info = writer.publish()
    assert info.rows == n
    assert identical(store.series.read("a", scope=EVERYTHING), table)
    assert identical(
        store.series.read("a", ["words", "odd"], (n // 3, n // 2), scope=EVERYTHING),
        table.select(["words", "odd"]).slice(n // 3, n // 2),
    )
    assert store.series.many(["a"], ["flag", "gone", "int8"], "series", scope=EVERYTHING)["a"].names == [
        "flag",
        "int8",
    ]
    assert store.series.verify() == []


def test_texts_have_the_same_bytes_in_whatever_parts_they_come(store: Store) -> None:
    """The words of a chunk are in the order of its rows, not in that of the words of a part before it."""
    words = ["rest", "charge", *["rest"] * (CHUNK - 2), "pause", "charge", "rest", "charge", "pause"]
    table = Table.of({"words": Column.text(words)})
    for start, stop in ((0, 2), (2, CHUNK + 2), (CHUNK + 2, len(words))):
        store.series.append("grown", "series", table.slice(start, stop))
    for start, stop in ((0, CHUNK + 4), (CHUNK + 4, len(words))):
        store.series.append("other", "series", Table.of({"words": Column.text(words[start:stop])}))
    with store.series.writer("whole") as writer:
        writer.add(table)
        writer.publish()
    hashes = set()
    for owner in ("grown", "other", "whole"):
        info = store.series.info(owner, scope=EVERYTHING)
        assert info is not None
        hashes.add(info.content_hash)
        assert store.series.read(owner, scope=EVERYTHING)["words"].tolist() == words
    assert len(hashes) == 1


@given(data=st.data())
@settings(max_examples=examples(6, 60), deadline=None)
def test_appends_give_what_one_write_gives(shared: Store, data: st.DataObject) -> None:
    sizes = data.draw(
        st.lists(st.integers(0, 400) | st.sampled_from([5000, CHUNK, 40_000]), min_size=1, max_size=5)
    )
    table = every_kind(sum(sizes), seed=len(sizes))
    values = data.draw(arrays.arrays(np.float64, st.just(min(table.n, 50))))
    table.columns["decimal"].values[: len(values)] = values
    store, at = shared, 0
    store.series.delete("grown")
    for size in sizes:
        store.series.append("grown", "series", table.slice(at, at + size))
        at += size
    with store.series.writer("whole") as writer:
        writer.add(table)
        writer.publish()
    assert identical(store.series.read("grown", scope=EVERYTHING), table)
    grown, whole = store.series.info("grown", scope=EVERYTHING), store.series.info("whole", scope=EVERYTHING)
    assert grown is not None
    assert whole is not None
    assert grown.columns == whole.columns
    assert grown.content_hash == whole.content_hash
    assert chunks_of(store, grown.id) == chunks_of(store, whole.id), "levels too"
    assert [rows for _, _, rows in store.series.history("grown", scope=EVERYTHING)] == np.cumsum(sizes).tolist()


def held_in(store: Store) -> int:
    """How many series the file or its objects hold chunks of."""
    query = "select count(*) from (select key >> 35 from chunks union select id from series_objects)"
    return int(store.execute(query).fetchone()[0])


def chunks_of(store: Store, number: int) -> list[tuple[int, bytes]]:
    store.series.mover.bring_back(number)  # where they are outside of the file: `test_series_elsewhere`
    found = store.connection().execute("select key, data from chunks where key >> 35 = ? order by key", (number,))
    return [(key & (1 << 35) - 1, data) for key, data in found]


def test_a_long_series_grows_as_if_written_at_once(store: Store) -> None:
    n = 640_000
    table = every_kind(n).select(["decimal", "single", "flag", "words"])
    cuts = [0, 10, CHUNK, CHUNK + 1, 131_072, 131_073, 262_144, 500_001, n]
    for start, stop in pairwise(cuts):
        store.series.append(
            "grown", "series", [table.slice(start, (start + stop) // 2), table.slice((start + stop) // 2, stop)]
        )
    with store.series.writer("whole") as writer:
        writer.add(table)
        writer.publish()
    assert identical(store.series.read("grown", scope=EVERYTHING), table)
    grown, whole = store.series.info("grown", scope=EVERYTHING), store.series.info("whole", scope=EVERYTHING)
    assert chunks_of(store, grown.id) == chunks_of(store, whole.id)  # type: ignore[union-attr]
    assert store.series.verify() == []


def test_an_append_rewrites_only_the_tail(store: Store) -> None:
    table = every_kind(200_000).select(["decimal", "double"])
    store.series.append("a", "series", table)
    rows = dict(store.connection().execute("select key, head from chunks").fetchall())
    store.series.append("a", "series", table.slice(0, 10))
    after = dict(store.connection().execute("select key, head from chunks").fetchall())
    changed = [key for key in rows if after[key] != rows[key] and not key >> 31 & 15]
    assert len(changed) == 2, "one chunk of samples per column"


def test_kinds_that_widen_keep_every_value(store: Store) -> None:
    store.series.append("a", "series", Table.of({"v": np.array([1, 2], np.int8), "w": Column.nulls(2)}))
    store.series.append("a", "series", Table.of({"v": np.array([300, -5], np.int16), "w": ["x", None]}))
    assert store.series.read("a", scope=EVERYTHING)["v"].values.tolist() == [1, 2, 300, -5]
    store.series.append("a", "series", Table.of({"v": np.array([0.5]), "w": ["y"]}))
    got = store.series.read("a", scope=EVERYTHING)
    assert got["v"].kind == "number"
    assert got["v"].tolist() == [1, 2, 300, -5, 0.5]
    assert got["w"].tolist() == [None, None, "x", None, "y"]


def test_a_column_that_an_append_lacks_is_null_there(store: Store) -> None:
    store.series.append("a", "series", Table.of({"t": [1.0, 2.0], "v": [1.0, 2.0]}))
    info = store.series.append("a", "series", Table.of({"t": [3.0]}))
    assert store.series.read("a", scope=EVERYTHING)["v"].tolist() == [1.0, 2.0, None]
    assert info.column("v").nulls == 1  # type: ignore[union-attr]
    assert info.column("t").sorted  # type: ignore[union-attr]
    assert not info.column("v").sorted  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([1.0], ["x"], "numbers and, later, texts"),
        ([2**60], [0.5], "2\\^53"),
        ([True], [1.0], "booleans and, later, numbers"),
    ],
)
def test_kinds_that_do_not_join_are_refused(
    store: Store, first: list[object], second: list[object], words: str
) -> None:
    store.series.append("a", "series", Table.of({"v": first}))
    with pytest.raises(BadRequest, match=words):
        store.series.append("a", "series", Table.of({"v": second}))
    assert store.series.read("a", scope=EVERYTHING)["v"].tolist() == first


def test_mixed_columns_and_new_columns_are_refused(store: Store) -> None:
    with pytest.raises(BadRequest, match="'v' mixes"):
        store.series.append("a", "series", Table.of({"v": [1.0, "x"]}))
    store.series.append("a", "series", Table.of({"Voltage [V]": [1.0]}))
    with pytest.raises(BadRequest, match="Did you mean 'Voltage \\[V\\]'"):
        store.series.append("a", "series", Table.of({"voltage [V]": [1.0]}))


def test_info_says_what_the_columns_are(store: Store) -> None:
    table = Table.of(
        {"Time [s]": [0.0, 1.0, 1.0], "U": Column.of(np.array([2.0, np.nan, np.inf])), "w": ["a", None, "b"]}
    )
    info = store.series.append("a", "series", table)
    time, voltage, words = info.columns
    assert (time.unit, time.sorted, time.min, time.max, time.nulls) == ("s", True, 0.0, 1.0, 0)
    assert (voltage.sorted, voltage.min, voltage.max, voltage.dtype) == (False, 2.0, 2.0, "float64")
    assert (words.kind, words.nulls, words.unit) == ("text", 1, None)
    assert store.series.infos(["b", "a"], scope=EVERYTHING) == {"a": info}


def test_a_clock_that_starts_again_at_a_chunk_is_not_sorted(store: Store) -> None:
    t = np.tile(np.arange(CHUNK * 1.0), 3)
    info = store.series.append("a", "series", Table.of({"t": t, "n": np.arange(len(t))}))
    assert [column.sorted for column in info.columns] == [False, True]
    assert store.series.sample("a", "t", ["n"], window=(5.0, 6.0), most=10, scope=EVERYTHING).rows.tolist() == [
        start + k for start in (0, CHUNK, 2 * CHUNK) for k in (5, 6)
    ]


def test_datasets_and_owners_are_apart(store: Store) -> None:
    for dataset in ("series", "steps"):
        store.series.append("a", dataset, Table.of({"v": [dataset]}))
    store.series.append("A", "series", Table.of({"v": ["other"]}))
    assert store.series.read("a", dataset="steps", scope=EVERYTHING)["v"].tolist() == ["steps"]
    store.series.delete("a", "steps")
    assert store.series.info("a", "steps", scope=EVERYTHING) is None
    assert store.series.read("a", scope=EVERYTHING)["v"].tolist() == ["series"]
    store.series.delete("a")
    with pytest.raises(NotFound, match="'a' has no series"):
        store.series.read("a", scope=EVERYTHING)
    assert store.series.read("A", scope=EVERYTHING)["v"].tolist() == ["other"]
    assert store.series.verify() == []
    assert held_in(store) == 1


def test_many_gives_whole_tables_in_the_order_asked(store: Store) -> None:
    for k in range(5):
        store.series.append(
            f"m{k}", "steps", Table.of({"Cycle": np.arange(k * 10), "Q": np.full(k * 10, 0.5 * k)})
        )
    got = store.series.many(["m3", "gone", "m0", "m1"], ["Q", "Cycle"], "steps", scope=EVERYTHING)
    assert list(got) == ["m3", "m0", "m1"]
    assert got["m3"].names == ["Q", "Cycle"]
    assert got["m3"]["Cycle"].tolist() == list(range(30))
    assert got["m0"].n == 0


def seen(columns: dict[str, Column]) -> list[object]:
    """All that can be seen of columns; the text of a value shows -0.0, NaN and True as such."""
    return [(name, one.kind, one.values.dtype, repr(one.tolist())) for name, one in columns.items()]


def test_tables_stacked_are_what_they_are_one_by_one_and_joined(store: Store) -> None:
    """Alike in all; of several widths, kinds and lengths; empty, too long for one chunk, without a column."""
    parts: list[dict[str, Any]] = [
        {"Q": np.arange(3) / 7, "Cycle": np.arange(3), "state": Column.text(["rest", None, "charge"])},
        {"Cycle": np.arange(4, dtype=np.int8), "Q": np.array([0.5, np.nan, -0.0, np.inf])},
        {"Q": np.arange(2), "Cycle": np.arange(2.0), "state": Column.text(["charge", "rest"])},
        {"Q": np.zeros(0), "Cycle": np.zeros(0)},
        {"Q": np.arange(CHUNK + 2) / 3, "Cycle": np.arange(CHUNK + 2)},
        {"Q": Column.of(np.arange(2.0), np.array([True, False])), "Cycle": np.array([True, False])},
    ]
    for n, part in enumerate(parts):
        store.series.append(f"m{n}", "cycles", Table.of(part))
    names = ["Q", "Cycle", "state", "nowhere"]
    asked = [
        ("m0",),
        ("m1", "m0"),
        ("m0", "m2"),
        ("m3", "m1"),
        ("m4", "m0"),
        ("m5", "m1"),
        [f"m{n}" for n in range(6)],
    ]
    for owners in (*asked, ()):
        with store.snapshot():
            infos = [*store.series.infos(owners, "cycles", scope=EVERYTHING).values()]
            got = store.series.stacked(infos, names, scope=EVERYTHING)
            tables = [*store.series.many(owners, names, "cycles", scope=EVERYTHING).values()]
        expected = {
            name: concat_columns([one[name] if name in one else Column.nulls(one.n) for one in tables])
            for name in names
            if any(name in one for one in tables)
        }
        assert seen(got) == seen(expected)


def test_what_a_series_holds_is_known_without_its_statistics(store: Store) -> None:
    store.series.append("a", "cycles", Table.of({"Q": [1.5, 2.5], "state": ["rest", "charge"]}))
    info = store.series.info("a", "cycles", scope=EVERYTHING)
    assert info is not None
    assert dict(info.kinds) == {"Q": "number", "state": "text"}
    assert info.names == ["Q", "state"]
    assert [(one.name, one.min, one.max, one.sorted) for one in info.columns] == [
        ("Q", 1.5, 2.5, True),
        ("state", None, None, False),
    ]


def test_a_new_series_replaces_the_old_one_and_its_revision_never_comes_back(store: Store) -> None:
    seen = set()
    for k in range(3):
        with store.series.writer("a") as writer:
            writer.add(Table.of({"v": np.arange(20_000.0) + k}))
            writer.publish()
        seen.add(store.revisions([], [("a", "series")])["series", "a", "series"])
    store.series.delete("a")
    assert store.revisions([], [("a", "series")]) == {("series", "a", "series"): 0}
    store.series.append("a", "series", Table.of({"v": [1.0]}))
    seen.add(store.revisions([], [("a", "series")])["series", "a", "series"])
    assert len(seen) == 4
    assert held_in(store) == 1


def test_nothing_is_seen_before_publish_and_nothing_stays_after_discard(store: Store) -> None:
    table = Table.of({"v": np.random.default_rng(0).normal(size=2_000_000)})
    with store.series.writer("a") as writer:
        writer.add(table)
        assert store.connection().execute("select count(*) from chunks").fetchone()[0] > 0
        assert store.series.info("a", scope=EVERYTHING) is None
    assert store.connection().execute("select count(*) from chunks").fetchone() == (0,)
    assert store.connection().execute("select count(*) from drafts").fetchone() == (0,)
    with pytest.raises(StoreError, match="is finished"):
        writer.add(table)


def test_publishing_joins_the_callers_transaction(store: Store) -> None:
    writer = store.series.writer("a")
    writer.add(Table.of({"v": [1.0]}))
    with contextlib.suppress(ZeroDivisionError), store.transaction() as connection:
        writer.publish(connection)
        assert store.series.info("a", scope=EVERYTHING) is not None
        raise ZeroDivisionError
    assert store.series.info("a", scope=EVERYTHING) is None


def test_a_first_append_never_replaces_a_series_that_came_meanwhile(store: Store) -> None:
    late = store.series.writer("a")
    late.add(Table.of({"v": [2.0]}))
    store.series.append("a", "series", Table.of({"v": [1.0]}))
    with pytest.raises(Conflict, match="append again"):
        late.publish(replace=False)


def test_wide_tables_come_back(store: Store) -> None:
    n = 20_000
    table = Table.of({f"c{k}": np.round(np.sin(np.arange(n) / (k + 1)), 3) for k in range(40)})
    store.series.append("a", "series", table)
    assert identical(store.series.read("a", scope=EVERYTHING), table)
    got = store.series.sample("a", "c0", ["c39"], most=100, scope=EVERYTHING)
    assert got.table["c39"].values.max() == table["c39"].values.max()


def test_concat_of_reads_is_the_whole(store: Store) -> None:
    table = every_kind(40_000)
    store.series.append("a", "series", table)
    parts = [
        store.series.read("a", rows=(start, start + 7000), scope=EVERYTHING) for start in range(0, 40_000, 7000)
    ]
    assert identical(concat(parts), table)
