"""One flipped byte anywhere in the file of a store is a named error or changes nothing; never a wrong value."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.errors import Damaged, StoreError, WorkbenchError
from workbench.store import Scope, Store
from workbench.store.records.tables import sampled_rows
from workbench.store.scope import EVERYTHING
from workbench.store.series import chunks, codec
from workbench.table import Column, Table


def samples(n: int) -> Table:
    rng = np.random.default_rng(1)
    return Table.of(
        {
            "t": np.arange(n) * 0.5,
            "U": np.round(3.7 + np.cumsum(rng.normal(0, 1e-3, n)), 4),
            "x": rng.normal(size=n),
            "state": Column.text([("rest", "charge", None)[k] for k in rng.integers(0, 3, n)]),
        }
    )


def build(path: Path) -> None:
    with Store.open(path) as store:
        store.series.append("m", "series", samples(36_000))
        for k in range(8):
            store.series.append(
                f"m{k}", "steps", Table.of({"Cycle": np.arange(40 + k), "Q": np.arange(40 + k) / 7})
            )
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = delete")


def flat(table: Table) -> list[Any]:
    return [(name, column.kind, column.tolist()) for name, column in table.items()]


def plain(got: Any) -> list[Any]:
    return [got.rows.tolist(), got.total, got.complete, flat(got.table)]


def stacked(store: Store, owners: list[str]) -> dict[str, Column]:
    infos = store.series.infos(owners, "steps", scope=EVERYTHING)
    return store.series.stacked([*infos.values()], ["Q", "Cycle"], scope=EVERYTHING)


READS: dict[str, Callable[[Store], Any]] = {
    "whole": lambda s: flat(s.series.read("m", scope=EVERYTHING)),
    "overview": lambda s: plain(s.series.sample("m", "t", ["U", "x"], most=60, scope=EVERYTHING)),
    "window": lambda s: plain(
        s.series.sample("m", "t", ["U", "state"], window=(9000.0, 9100.0), most=500, scope=EVERYTHING)
    ),
    "scattered": lambda s: plain(s.series.sample("m", "U", ["t"], window=(3.69, 3.71), most=50, scope=EVERYTHING)),
    "zoom": lambda s: plain(s.series.sample_rows("m", "t", ["U"], (100, 30_000), 40, scope=EVERYTHING)),
    "many": lambda s: {
        k: flat(t)
        for k, t in s.series.many([f"m{k}" for k in range(8)], ["Q", "Cycle"], "steps", scope=EVERYTHING).items()
    },
    "stacked": lambda s: {k: (c.kind, c.tolist()) for k, c in stacked(s, [f"m{k}" for k in range(8)]).items()},
    "info": lambda s: s.series.info("m", scope=EVERYTHING),
    "history": lambda s: s.series.history("m", scope=EVERYTHING),
}


def outcome(path: Path, reads: list[str]) -> dict[str, Any]:
    """What each read gives: its value, or the name of the error."""
    found: dict[str, Any] = {}
    try:
        with Store.open(path) as store:
            for name in reads:
                try:
                    found[name] = READS[name](store)
                except WorkbenchError as error:
                    found[name] = type(error).__name__
    except StoreError as error:
        found = dict.fromkeys(reads, type(error).__name__)
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Any]]:
    path = tmp_path_factory.mktemp("sound") / "store.wb"
    build(path)
    return path.read_bytes(), outcome(path, list(READS))


def pages_of(data: bytes, tmp_path: Path) -> list[int]:
    """Page numbers (from 0) that hold neither records nor search: series, chunks, layouts, log."""
    path = tmp_path / "pages.wb"
    path.write_bytes(data)
    size = int.from_bytes(data[16:18], "big")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        roots = dict(connection.execute("select rootpage, tbl_name from sqlite_master where rootpage > 0"))
    others = {
        root - 1
        for root, name in roots.items()
        if name not in ("series", "chunks", "layouts", "series_log", "drafts")
    }
    return [page for page in range(1, len(data) // size) if page not in others]


def test_one_flipped_byte_is_never_a_wrong_value(
    sound: tuple[bytes, dict[str, Any]], tmp_path: Path, long: bool
) -> None:
    data, truth = sound
    size = int.from_bytes(data[16:18], "big")
    pages = pages_of(data, tmp_path)
    rng = np.random.default_rng(2024)
    named = 0
    for trial in range(2000 if long else 200):
        raw = bytearray(data)
        # Every fourth flip lands anywhere in the file, schema and headers included.
        page = int(rng.choice(pages)) if trial % 4 else int(rng.integers(0, len(data) // size))
        at = page * size + int(rng.integers(0, size))
        raw[at] ^= int(rng.integers(1, 256))
        path = tmp_path / f"flipped{trial}.wb"
        path.write_bytes(raw)
        reads = list(READS) if long else [list(READS)[trial % len(READS)], "whole", "many"]
        for name, value in outcome(path, reads).items():
            if isinstance(value, str):
                named += 1
            elif name == "many" and value != truth[name]:
                assert set(value) < set(truth[name]), f"{name} after a flip at byte {at}"
                assert all(truth[name][key] == rows for key, rows in value.items())
            elif value is None:
                named += 1
            else:
                assert value == truth[name], f"{name} after a flip at byte {at} (page {page})"
        path.unlink()
    assert named > 50, "flips do reach what is read"


def test_every_byte_of_a_chunk_and_its_head_is_covered(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    store.series.append("m", "series", samples(300).select(["t", "U"]))
    ((key, head, data),) = store.connection().execute("select key, head, data from chunks order by key limit 1")
    for column, value in (("head", head), ("data", data)):
        for at in range(0, len(value), 1 if column == "head" else 61):
            broken = bytearray(value)
            broken[at] ^= 1 << at % 8
            with store.transaction() as connection:
                connection.execute(f"update chunks set {column} = ? where key = ?", (bytes(broken), key))
            with pytest.raises(Damaged, match="series of 'm': chunk 0 of column 't'"):
                store.series.read("m", scope=EVERYTHING)
            assert store.series.verify() != []
        with store.transaction() as connection:
            connection.execute(f"update chunks set {column} = ? where key = ?", (value, key))
    assert store.series.verify() == []


@pytest.mark.parametrize(
    "change",
    [
        "update series set rows = rows - 1",
        "update series set id = id + 1",
        "update series set owner = 'n'",
        "update series set base = 0",
        "update series set stats = replace(cast(stats as text), 'true', 'false')",
        "update layouts set body = replace(cast(body as text), 'U', 'V')",
        "delete from layouts",
        "delete from chunks where key = (select min(key) from chunks)",
        "update chunks set key = key + 99 where key = (select min(key) from chunks)",
        "update chunks set data = (select data from chunks order by key limit 1)",
    ],
)
def test_changes_behind_the_stores_back_are_found(tmp_path: Path, change: str) -> None:
    path = tmp_path / "s.wb"
    with Store.open(path) as store:
        store.series.append("m", "series", samples(40_000))
        with store.transaction() as connection:
            connection.execute(change)
    with Store.open(path) as store:
        assert store.series.verify() != []
        with pytest.raises(WorkbenchError):
            (
                plain(store.series.sample("m", "t", ["U", "state"], most=60, scope=EVERYTHING)),
                flat(store.series.read("m", scope=EVERYTHING)),
            )


@pytest.mark.parametrize("change", ["rows = rows + 1", "rows = rows << 8", "revision = revision + 1"])
def test_a_list_shows_no_count_that_its_series_does_not_have(tmp_path: Path, change: str) -> None:
    with Store.open(tmp_path / "s.wb") as store:
        scope = Scope(store.rows.organizations()[0].id, None)
        model = store.rows.create("models", {"name": "p2d", "config": {}}, scope=scope)
        id = store.rows.create("simulations", {"name": "run", "model_id": model.id}, scope=scope).id
        store.series.append(id, "series", samples(10))
        query = f"select {sampled_rows('?', 'series')}"
        with store.snapshot() as db:
            assert db.execute(query, [id]).fetchone() == (10,)
            assert db.execute(query, ["nobody"]).fetchone() == (None,)
        with store.transaction() as connection:
            connection.execute(f"update series set {change}")
        with (
            pytest.raises(Damaged, match=f"'{id}': the number of rows of its series"),
            store.snapshot() as db,
        ):
            db.execute(query, [id]).fetchone()
        assert any("fails its checksum" in finding for finding in store.verify())


def test_the_catalog_does_not_leave_out_what_is_damaged(tmp_path: Path) -> None:
    """One that was made before the damage is kept and right; one that is made later names the damage."""
    with Store.open(tmp_path / "s.wb") as store:
        scope = Scope(store.rows.organizations()[0].id, None)
        model = store.rows.create("models", {"name": "p2d", "config": {}}, scope=scope)
        id = store.rows.create("simulations", {"name": "run", "model_id": model.id}, scope=scope).id
        store.series.append(id, "series", samples(10))
        whole = str(store.catalogs.of(scope))
        assert "U" in whole
        with store.transaction() as connection:
            connection.execute("update series set layout = zeroblob(16)")
        assert str(store.catalogs.of(scope)) == whole
    with pytest.raises(Damaged), Store.open(tmp_path / "s.wb") as store:
        store.catalogs.of(scope)


def test_a_damaged_draft_costs_no_published_series(tmp_path: Path) -> None:
    path = tmp_path / "s.wb"
    with Store.open(path) as store:
        store.series.append("m", "series", samples(300))
        with store.transaction() as connection:
            connection.execute("insert into drafts select id, null, 0 from series")
    with Store.open(path) as store:
        assert flat(store.series.read("m", scope=EVERYTHING)) == flat(samples(300))
        assert store.series.verify() == []


def test_a_damaged_counter_overwrites_no_published_series(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.wb") as store:
        store.series.append("m", "series", samples(300))
        with store.transaction() as connection:
            connection.execute("update sqlite_sequence set seq = seq - 1 where name = 'drafts'")
        with pytest.raises(Damaged, match="again"):
            store.series.append("n", "series", samples(20))
        assert flat(store.series.read("m", scope=EVERYTHING)) == flat(samples(300))
        assert store.series.verify() == []


@pytest.mark.parametrize("change", ["size = size - (1 << 20)", "size = size - 1", "size = size + (1 << 20)"])
def test_a_file_is_never_given_short(tmp_path: Path, change: str) -> None:
    with Store.open(tmp_path / "s.wb") as store:
        name = store.blobs.put([bytes(range(256)) * (3 << 12)])
        with store.transaction() as connection:
            connection.execute(f"update contents set {change}")
        with pytest.raises(Damaged, match="should have"):
            b"".join(store.blobs.get(name))
        assert any("should have" in finding for finding in store.blobs.verify())


def forge(store: Store, where: str, payload: bytes) -> str:
    """Put a payload that is none under a right checksum into a chunk; returns how an error names its place."""
    query = f"select key, (select id from series where owner = 'm') from chunks where {where} order by key desc"
    number, series = store.connection().execute(query).fetchone()
    with store.transaction() as connection:
        forged = chunks.pack(number - chunks.key(series, 0, 0, 0), payload, 1).stored(series)
        connection.execute("insert or replace into chunks values (?, ?, ?)", forged)
    level, _, chunk = chunks.place(number)
    return f"chunk {chunk}" + (f" of level {level}" if level else "")


@pytest.mark.parametrize("payload", [b"", b"junk", b"\x07\x00\x00\x00\x01\x00\x00\x00", b"\xff" * 64])
def test_a_chunk_that_cannot_be_decoded_is_named(tmp_path: Path, payload: bytes) -> None:
    bits = chunks.COLUMN_BITS + chunks.CHUNK_BITS
    column = f"(key >> {chunks.CHUNK_BITS} & {chunks.INDEX})"
    level = f"(key >> {bits} & 15)"
    cases = [
        (f"{level} = 0 and {column} = 1", "column 'U'", lambda s: s.series.read("m", ["U"], scope=EVERYTHING)),
        (
            f"{level} = 0 and {column} = 3",
            "column 'state'",
            lambda s: s.series.read("m", ["state"], scope=EVERYTHING),
        ),
        (
            f"{level} = 0 and {column} = 0",
            "column 't'",
            lambda s: s.series.read("m", ["t"], (35_990, 35_999), scope=EVERYTHING),
        ),
        (
            f"{level} > 0 and {column} = 1",
            "column 'U'",
            lambda s: s.series.sample("m", "t", ["U"], most=40, scope=EVERYTHING),
        ),
        (
            f"{level} > 0 and {column} > 99",
            "the row numbers",
            lambda s: s.series.sample("m", "t", ["U"], most=40, scope=EVERYTHING),
        ),
    ]
    for n, (where, name, read) in enumerate(cases):
        with Store.open(tmp_path / f"{n}.wb") as store:
            store.series.append("m", "series", samples(36_000))
            place = forge(store, where, payload)
            with pytest.raises(Damaged, match=f"series of 'm': {place} of {name} cannot be decoded"):
                read(store)
            assert any(f"of {name}" in finding or name in finding for finding in store.series.verify())


def test_a_summary_that_cannot_be_decoded_is_named(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.wb") as store:
        store.series.append("m", "steps", Table.of({"Cycle": [1, 2], "Q": [0.1, 0.2]}))
        forge(store, f"key >> {chunks.CHUNK_BITS} & {chunks.INDEX} = 1", b"junk")
        with pytest.raises(Damaged, match="series of 'm': chunk 0 of column 'Q' cannot be decoded"):
            store.series.many(["m"], ["Q"], "steps", scope=EVERYTHING)
        with pytest.raises(Damaged, match="series of 'm': chunk 0 of column 'Q' cannot be decoded"):
            stacked(store, ["m"])
        forge(store, f"key >> {chunks.CHUNK_BITS} & {chunks.INDEX} = 1", codec.encode(np.zeros(3), small=True))
        with pytest.raises(Damaged, match="series of 'm': chunk 0 of column 'Q' has 3 values, and its series 2"):
            stacked(store, ["m"])


def test_of_many_chunks_the_one_that_changed_is_found() -> None:
    stored = [chunks.pack(chunks.key(0, 0, n, 0), bytes([n] * 9), 9).stored(5) for n in range(4)]
    assert chunks.first_unsound(stored) is None
    assert chunks.first_unsound([]) is None
    for at in range(4):
        number, head, payload = stored[at]
        bad: list[tuple[int, object, object]] = [
            (number, head[:n] + bytes([head[n] ^ 1]) + head[n + 1 :], payload) for n in range(len(head))
        ]
        bad += [
            (number, head, payload[:n] + bytes([payload[n] ^ 128]) + payload[n + 1 :]) for n in range(len(payload))
        ]
        bad += [
            (number + 1, head, payload),
            (number, head[:-1], payload),
            (number, None, payload),
            (number, head, None),
        ]
        for one in bad:
            assert chunks.first_unsound([*stored[:at], one, *stored[at + 1 :]]) == one[0]


def test_stray_chunks_are_found(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    store.series.append("m", "series", samples(10))
    with store.transaction() as connection:
        connection.execute("insert into chunks select key + 7, head, data from chunks limit 1")
    assert any("too many" in finding for finding in store.series.verify())
