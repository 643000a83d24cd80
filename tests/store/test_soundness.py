"""The check for damage when a store is opened: what it refuses, what it leaves, and what answers say meanwhile."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from workbench.engine.answer import dataset
from workbench.errors import Damaged
from workbench.ingest import register
from workbench.ingest.plan.ratings import ratings_of
from workbench.recipe.plot import PlotConfig
from workbench.records import Instance, Measurement, Project, Specification, Study
from workbench.store import Scope, Store, soundness
from workbench.store.cache.cache import Cache
from workbench.store.records.search import search
from workbench.table import Table

PLAN = {
    "plan": {"steps": {"tests": {"op": "list", "source": "measurements"}}},
    "transform": "def transform(data, params):\n    return None\n",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "lab.db"
    with Store.open(place) as store:
        scope = scope_of(store)
        made = store.rows.create(
            Specification, {"name": "M50", "ratings": ratings_of("5Ah,2.5V,4.2V")}, scope=scope
        )
        cell = store.rows.create(Instance, {"name": "A-01", "specification_id": made.id}, scope=scope)
        time = np.arange(50.0)
        samples = Table.of({"Time [s]": time, "Current [A]": np.ones(50), "Voltage [V]": 4 - time / 1000})
        for n in range(3):
            fields = {"instance_id": cell.id, "name": f"cycling {n}", "notes": f"drawn at {n} degrees"}
            register(store, scope, fields, samples)
        store.rows.create(Study, {"name": "ageing"}, scope=scope)
    return place


def scope_of(store: Store) -> Scope:
    chosen = store.rows.organizations()[0]
    return Scope(chosen.id, store.rows.page(Project, Scope(chosen.id, None), limit=1).items[0].id)


def change(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_changed_record_is_named_and_the_rest_can_be_read(path: Path) -> None:
    change(path, "update measurements set notes = 'drawn at 7 degrees' where name = 'cycling 1'")
    with Store.open(path) as store:
        scope = scope_of(store)
        (wrong,) = (text for text in store.verify() if "as it was written" in text)
        for read in (
            lambda: store.rows.page(Measurement, scope),
            lambda: store.rows.plan_list("measurements", scope, {}, ["name"], None),
            lambda: store.rows.find(Measurement, "cycling 0", scope),
        ):
            with pytest.raises(Damaged) as raised:
                read()
            assert wrong in str(raised.value)
            assert "workbench verify" in str(raised.value)
            assert "backup" in str(raised.value)
        assert store.rows.find(Study, "ageing", scope).name == "ageing"
        cell = store.rows.find(Instance, "A-01", scope)
        more = {"name": "more", "instance_id": cell.id, "measurement_type": "time_series"}
        with pytest.raises(Damaged, match="as it was written"):
            store.rows.create(Measurement, more, scope=scope)


def test_a_damaged_index_of_the_search_is_refused(path: Path) -> None:
    change(path, "delete from search_words_data where id > 10")
    with Store.open(path) as store:
        scope = scope_of(store)
        with pytest.raises(Damaged, match="search_words"):
            search(store, "degrees", scope, per_type=5)
        assert store.rows.page(Measurement, scope).total == 3


def test_an_index_of_the_search_that_says_another_version_is_named(path: Path) -> None:
    change(path, "update search_words_config set v = 5 where k = 'version'")
    with Store.open(path) as store:
        assert any("search_words" in text and "version 5" in text for text in store.verify())
        with pytest.raises(Damaged, match="is damaged"):
            search(store, "degrees", scope_of(store), per_type=5)


def test_a_changed_hash_of_a_file_is_not_a_file_that_is_not_there(path: Path) -> None:
    with Store.open(path) as store:
        name = store.blobs.put([b"Time [s]"])
    change(path, f"update contents set hash = '0{name[1:]}'")
    with Store.open(path) as store, pytest.raises(Damaged, match="bytes"):
        store.blobs.size(name)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("update revisions set name = cast(x'73747564c66573' as text) where name = 'studies'", "cannot be read"),
        (
            "update revisions set name = 'studjes' where name = 'studies'",
            "revision of 'studjes', which is not a table",
        ),
    ],
    ids=["no text", "no table"],
)
@pytest.mark.parametrize("most_rows", [5000, 0], ids=["small", "large"])
def test_a_changed_letter_in_a_row_without_a_checksum_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, said: str, most_rows: int
) -> None:
    monkeypatch.setattr(soundness, "MOST_ROWS", most_rows)
    change(path, damage)
    with Store.open(path) as store:
        assert store.wait_verified(60)
        with pytest.raises(Damaged, match=said):
            store.row_revisions(["studies"])
        assert any(said in text for text in store.verify())


@pytest.mark.parametrize("most_rows", [5000, 0], ids=["small", "large"])
def test_a_draft_whose_number_no_series_can_have_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch, most_rows: int
) -> None:
    monkeypatch.setattr(soundness, "MOST_ROWS", most_rows)
    with Store.open(path) as store:
        change(path, f"insert into drafts (id, lease, beat) values ({2**60}, null, 0)")
        assert f"{2**60} is not a number of a series." in store.verify()
    with pytest.raises(Damaged, match="is not a number of a series"):
        Store.open(path)


def test_pages_that_changed_places_are_findings_of_verify(path: Path) -> None:
    """The numbers of series are then bytes: verify ended in a TypeError."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        query = "select rootpage from sqlite_master where name in ('sqlite_autoindex_series_1', 'layouts')"
        one, other = (page - 1 for (page,) in db.execute(query))
        (size,) = db.execute("pragma page_size").fetchone()
    data = bytearray(path.read_bytes())
    first, second = (slice(page * size, (page + 1) * size) for page in (one, other))
    data[first], data[second] = data[second], data[first]
    path.write_bytes(data)
    with Store.open(path, read_only=True) as store:
        found = store.verify()
    assert any("is not a number of a series" in text for text in found)
    assert any(text.startswith("SQLite: ") for text in found)


def test_a_check_that_stumbles_over_damage_is_a_finding(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path) as store:
        monkeypatch.setattr(store.blobs, "verify", lambda: [] + b"")  # type: ignore[operator]
        assert any("rows hold what no row can hold (TypeError" in text for text in store.verify())


def test_a_store_with_many_rows_is_checked_beside_and_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soundness, "MOST_ROWS", 0)
    go_on = threading.Event()
    real = soundness._pages
    monkeypatch.setattr(soundness, "_pages", lambda db, table: [go_on.wait(60), *real(db, table)][1:])
    cache = Cache(None)
    with Store.open(path) as store:
        scope = scope_of(store)
        config = PlotConfig.model_validate(PLAN)
        first = dataset(config, None, store, scope, cache)
        assert [warning.code for warning in first.warnings] == ["unverified"]
        go_on.set()
        assert store.wait_verified(60)
        after = dataset(config, None, store, scope, cache)
        assert after.warnings == []
        assert after.packed == first.packed
        assert after.cache == {"dataset": "miss"}
        assert dataset(config, None, store, scope, cache).cache == {"dataset": "hit"}


def test_rows_that_are_read_before_the_check_ends_are_compared(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundness, "MOST_ROWS", 0)
    change(path, "update measurements set notes = 'drawn at 7 degrees' where name = 'cycling 1'")
    go_on = threading.Event()
    monkeypatch.setattr(soundness, "_pages", lambda db, table: [go_on.wait(60)][1:])
    with Store.open(path) as store:
        scope = scope_of(store)
        assert store.rows.find(Measurement, "cycling 0", scope).name == "cycling 0"
        with pytest.raises(Damaged, match="as it was written"):
            store.rows.page(Measurement, scope)
        with pytest.raises(Damaged, match="as it was written"):
            store.rows.plan_list("measurements", scope, {}, ["name"], None)
        go_on.set()
        assert store.wait_verified(60)
        with pytest.raises(Damaged, match="as it was written"):
            store.rows.find(Measurement, "cycling 0", scope)


def test_closing_does_not_wait_for_the_whole_check(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soundness, "MOST_ROWS", 0)
    monkeypatch.setattr(soundness, "PAUSE", 60.0)
    store = Store.open(path)
    assert store.unverified
    store.close()


def test_a_store_that_is_opened_to_read_is_checked_too(path: Path) -> None:
    change(path, "update studies set description = 'in the dark'")
    with Store.open(path, read_only=True) as store, pytest.raises(Damaged, match="the study"):
        store.rows.page(Study, scope_of(store))


def test_the_fingerprint_of_a_damaged_store_is_refused_by_name(path: Path) -> None:
    change(path, "update facts set value = replace(value, '\"number\":', '\"number\":9') where name = 'format'")
    with Store.open(path) as store:
        assert store.verify()
        with pytest.raises(Damaged, match="format"):
            store.place_id()
