"""What the store says where it cannot write, and that nothing of a refused write stays; what verify finds of loss."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import Damaged, NotFound, StoreError, StoreFull
from workbench.ingest import register
from workbench.ingest.plan.ratings import ratings_of
from workbench.records import Instance, Measurement, Project, Specification
from workbench.store.db import connections
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.store import Store
from workbench.table import Table

FULL = """
import resource, sys
import numpy as np
from workbench.errors import Damaged, StoreError
from workbench.store.scope import EVERYTHING
from workbench.store.store import Store
from workbench.table import Table
store = Store.open(sys.argv[1])
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
for owner in ("grown", "new"):
    try:
        store.series.append(owner, "series", Table.of({"v": np.random.default_rng(1).random(200_000)}))
    except StoreError as error:
        assert not isinstance(error, Damaged), error
        print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
rows = store.series.info("grown", scope=EVERYTHING).rows
print(store.series.verify(), rows, store.series.info("new", scope=EVERYTHING))
store.series.append("new", "series", Table.of({"v": np.random.default_rng(1).random(200_000)}))
print(store.series.info("new", scope=EVERYTHING).rows)
"""


def scope_of(store: Store) -> Scope:
    chosen = store.rows.organizations()[0]
    return Scope(chosen.id, store.rows.page(Project, Scope(chosen.id, None), limit=1).items[0].id)


@pytest.fixture
def measured(tmp_path: Path) -> Iterator[tuple[Store, str]]:
    """A store with one measurement, and its id."""
    with Store.open(tmp_path / "lab.db") as store:
        scope = scope_of(store)
        made = store.rows.create(Specification, {"name": "s", "ratings": ratings_of("1Ah,3V,4V")}, scope=scope)
        cell = store.rows.create(Instance, {"name": "c", "specification_id": made.id}, scope=scope)
        time = np.arange(50.0)
        samples = Table.of({"Time [s]": time, "Current [A]": np.ones(50), "Voltage [V]": 4 - time / 100})
        yield store, register(store, scope, {"instance_id": cell.id, "name": "m"}, samples).id


def test_a_full_disk_is_told_as_such_and_leaves_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        store.series.append("grown", "series", Table.of({"v": [1.0, 2.0]}))
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "a.db")], capture_output=True, text=True, check=True
    )
    *told, after, last = done.stdout.splitlines()
    assert len(told) == 2
    assert all("could not be written" in line and "make room" in line for line in told)
    assert after == "[] 2 None"
    assert last == "200000"


def busy(path: Path) -> sqlite3.Connection:
    """A connection that holds the store's one place for a writer."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    return other


def test_a_store_that_others_hold_is_busy_for_writers_and_open_for_readers(
    measured: tuple[Store, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, id = measured
    with store.transaction() as connection:
        connection.execute(
            "insert into drafts (lease, beat) values (null, 0)"
        )  # left over: an opener would sweep it
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.05)
    other = busy(store.path)
    with Store.open(store.path) as second:
        assert second.series.read(id, scope=EVERYTHING).n == 50
        with pytest.raises(StoreError, match="busy: another process"):
            second.rows.delete(Measurement, id, scope_of(second))
    other.execute("rollback")
    with Store.open(store.path) as third:
        assert third.connection().execute("select count(*) from drafts").fetchone() == (0,)
        assert third.verify() == []


def test_a_store_that_was_taken_away_is_not_made_anew(measured: tuple[Store, str], tmp_path: Path) -> None:
    store, _ = measured
    store.close()
    with Store.open(store.path, create=False) as again:
        store.path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StoreError, match="is gone: it was moved or deleted"), again.transaction():
            pass
        assert not store.path.exists()


def test_nothing_is_written_into_a_store_that_was_replaced(measured: tuple[Store, str], tmp_path: Path) -> None:
    store, id = measured
    store.backup(tmp_path / "copy.db")
    assert store.series.read(id, scope=EVERYTHING).n == 50
    (tmp_path / "copy.db").replace(store.path)
    with pytest.raises(StoreError, match="was replaced by another file"):
        store.series.append(id, "series", Table.of({"Time [s]": [99.0]}))
    with pytest.raises(StoreError, match="was replaced by another file"):
        store.series.read(id, scope=EVERYTHING)


def test_a_deletion_is_done_though_its_chunks_cannot_go_yet(
    measured: tuple[Store, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, id = measured

    def full(numbers: Iterable[int]) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store.series, "purge", full)
    store.rows.delete(Measurement, id, scope_of(store))
    with pytest.raises(NotFound):
        store.rows.get(Measurement, id, scope_of(store))
    assert store.verify() == []
    with Store.open(store.path) as again:
        assert again.connection().execute("select count(*) from chunks").fetchone() == (0,)


def test_a_writer_that_gives_up_shows_why(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(store_path) as store:

        def full(numbers: Iterable[int]) -> None:
            raise StoreError("The disk is full.")

        def give_up() -> None:
            with store.series.writer("a") as writer:
                writer.add(Table.of({"v": [1.0]}))
                writer._flush()
                raise ZeroDivisionError

        monkeypatch.setattr(store.series, "purge", full)
        with pytest.raises(ZeroDivisionError):
            give_up()


def test_verify_accuses_no_store_that_may_not_be_written(measured: tuple[Store, str]) -> None:
    store, _ = measured
    with store.transaction() as writing:
        writing.execute("pragma query_only = on")
    with pytest.raises(StoreError, match="no right to write"), store.transaction() as connection:
        connection.execute("delete from drafts")
    assert store.verify() == []


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def test_damage_that_hides_from_readers_still_stops_the_opener(measured: tuple[Store, str]) -> None:
    store, _ = measured
    with store.transaction() as connection:
        connection.execute("drop table drafts")
    with pytest.raises(Damaged, match=r"there is no table 'drafts'.*Restore a backup"):
        Store.open(store.path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("delete from series where dataset = 'steps'", "should have series, steps and cycles"),
        ("update series set owner = 'nobody'", "'nobody' belong to no record"),
        ("insert into chunks select key + (1 << 40), head, data from chunks limit 1", "chunks of a series"),
        ("delete from facts where name = 'clock'", "'clock' is missing"),
        ("update facts set value = value * 2 where name = 'clock'", "clock is at"),
        ("update facts set value = value / 2 where name = 'clock'", "later than the store's clock"),
        ("update measurements set updated_at = updated_at + 1", "is not as it was written"),
        ("update specifications set ratings = replace(ratings, '1.0', '2.0')", "is not as it was written"),
        ("delete from seals where kind = 'instances'", "is not as it was written"),
        ("insert into seals values ('instances', 'x', 0)", "'x' is not there any more"),
        ("update search_entries set words = 'other'", "search does not know the"),
        ("delete from search_names_docsize", "search_names does not agree"),
        ("delete from search_words_docsize", "search_words does not agree"),
    ],
)
def test_verify_finds_what_is_lost_or_changed(measured: tuple[Store, str], change: str, told: str) -> None:
    store, _ = measured
    assert store.verify() == []
    with store.transaction() as connection:
        connection.execute(change)
    assert any(told in finding for finding in store.verify())


@pytest.mark.parametrize(
    ("code", "words", "kind", "told"),
    [
        ("SQLITE_IOERR_READ", "disk I/O error", Damaged, "is damaged"),
        ("SQLITE_IOERR_WRITE", "disk I/O error", StoreError, "could not be written"),
        ("SQLITE_IOERR_SHMSIZE", "disk I/O error", StoreError, "needs 32 KB beside it, also to read"),
        ("SQLITE_FULL", "database or disk is full", StoreFull, "make room"),
        ("SQLITE_READONLY", "attempt to write a readonly database", StoreError, "no right to write"),
        ("SQLITE_CANTOPEN", "unable to open database file", StoreError, "give the path of a store in a folder"),
        ("SQLITE_ERROR", "no such table: chunks", Damaged, "is damaged"),
    ],
)
def test_what_sqlite_says_becomes_an_error_of_ours(
    code: str, words: str, kind: type[StoreError], told: str
) -> None:
    error = sqlite3.OperationalError(words)
    error.sqlite_errorname = code
    with pytest.raises(StoreError, match=told) as raised, connections.named(Path("a.db")):
        raise error
    assert type(raised.value) is kind
