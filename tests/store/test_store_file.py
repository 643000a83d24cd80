"""Opening, transactions, revisions, clock, backup, blobs."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from support.power_cut import names_kept

from workbench import living_process
from workbench.errors import Conflict, Damaged, NotFound, StoreError, StoreTooNew
from workbench.store import Store
from workbench.store.db import connections
from workbench.store.db.upgrade_command import plan
from workbench.store.scope import EVERYTHING
from workbench.table import Table


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.wb")


def test_a_store_is_made_and_found_again(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.wb") as store:
        identity = store.identity()
        mode = store.connection().execute("pragma journal_mode").fetchone()[0]
        assert (mode, store.verify()) == ("wal", [])
    with Store.open(str(tmp_path / "a.wb"), create=False) as store:
        assert store.identity() == identity


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no store at"):
        Store.open(tmp_path / "gone.wb", create=False)
    with pytest.raises(NotFound, match="no folder"):
        Store.open(tmp_path / "gone" / "a.wb")
    (tmp_path / "text.wb").write_text("Time,Voltage\n" * 1000)
    with pytest.raises(StoreError, match=r"text\.wb"):
        Store.open(tmp_path / "text.wb")
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("create table t (a)")
    other.close()
    with pytest.raises(StoreError, match="another application"):
        Store.open(tmp_path / "other.db")


@pytest.mark.parametrize(
    ("name", "told"),
    [("n" * 300, "cannot be reached"), ("a\0b", "cannot be reached"), ("pipe", "not an ordinary file")],
)
def test_a_path_that_cannot_be_a_store_is_named(tmp_path: Path, name: str, told: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match=told):
        Store.open(tmp_path / name)


def test_an_empty_file_is_no_store_until_one_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.wb").touch()
    with pytest.raises(NotFound, match="no store at"):
        Store.open(tmp_path / "a.wb", create=False)
    assert (tmp_path / "a.wb").stat().st_size == 0
    with Store.open(tmp_path / "a.wb") as store:
        assert store.verify() == []


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_a_stopped_process_left_is_no_store_until_one_is_made(tmp_path: Path, read_only: bool) -> None:
    with closing(sqlite3.connect(tmp_path / "a.wb")) as begun:
        begun.execute("pragma journal_mode = wal")  # writes the first page, and comes before the first table
    before = (tmp_path / "a.wb").read_bytes()
    with pytest.raises(NotFound, match=r"no store at .*a\.wb': the file holds nothing yet"):
        Store.open(tmp_path / "a.wb", create=False, read_only=read_only)
    with pytest.raises(NotFound, match="no store at"):
        plan(tmp_path / "a.wb")
    assert (tmp_path / "a.wb").read_bytes() == before != b""
    with Store.open(tmp_path / "a.wb") as store:
        assert store.verify() == []


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.wb") as store, store.transaction() as connection:
        connection.execute(
            "insert into _sqlite_migrations (migration_set, name, applied_at) values ('series', 'tomorrow', '')"
        )
    with pytest.raises(StoreTooNew, match=r"series\.tomorrow.*Update"):
        Store.open(tmp_path / "a.wb")


def test_two_openers_make_one_store(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def opener() -> None:
        try:
            Store.open(tmp_path / "a.wb").close()
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=opener) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.transaction() as outer:
            store.bump(outer, "measurements")
            with store.transaction() as inner:
                assert inner is outer
                assert store.connection() is outer
            raise ZeroDivisionError

    before = store.revisions(["measurements"])
    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.revisions(["measurements"]) == before
    assert not store.connection().in_transaction


def test_the_reading_connection_cannot_write(store: Store) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.connection().execute("delete from facts")


def test_revisions_rise_and_are_seen_by_other_openers(store: Store) -> None:
    other = Store.open(store.path)
    seen = [store.revisions(["batches"])["rows", "batches"]]
    for _ in range(3):
        with store.transaction() as connection:
            store.bump(connection, "batches", "instances")
        seen.append(other.revisions(["batches"])["rows", "batches"])
    assert seen == sorted(set(seen))


def test_the_clock_rises_strictly(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 10**15)
    with store.transaction() as connection:
        times = [store.clock(connection) for _ in range(5)]
    assert times == sorted(set(times))
    assert times[0].utcoffset() is not None


def test_a_backup_is_one_moment_and_a_whole_store(store: Store, tmp_path: Path) -> None:
    store.series.append("a", "series", Table.of({"v": [1.0, 2.0]}))
    piece = store.blobs.put([b"file"])
    store.backup(tmp_path / "copy.wb")
    store.series.append("a", "series", Table.of({"v": [3.0]}))
    assert not (tmp_path / "copy.wb-wal").exists()
    with Store.open(tmp_path / "copy.wb") as copy:
        assert copy.series.read("a", scope=EVERYTHING)["v"].tolist() == [1.0, 2.0]
        assert b"".join(copy.blobs.get(piece)) == b"file"
        assert copy.series.verify() + copy.blobs.verify() == []
    with pytest.raises(Conflict, match="exists already"):
        store.backup(tmp_path / "copy.wb")


@pytest.mark.parametrize("name", ["file:x.db", "a b?mode=ro.db", "100%25#.db"])
def test_a_backup_goes_where_it_is_told(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    store.backup(name)
    assert (tmp_path / name).exists()
    assert not list(tmp_path.glob("*.partial"))
    with Store.open(tmp_path / name, create=False) as copy:
        assert copy.identity() == store.identity()


def test_the_name_of_a_backup_survives_a_power_cut(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = names_kept(monkeypatch, tmp_path)
    store.backup(tmp_path / "copy.db")
    assert "copy.db" in kept


def test_backups_to_one_place_do_not_mix(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.blobs.put([bytes(3 << 20)])
    place = tmp_path / "copy.db"
    outcomes: list[str] = []

    def copy() -> None:
        try:
            store.backup(place)
            outcomes.append("made")
        except Conflict:
            outcomes.append("taken")

    threads = [threading.Thread(target=copy) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made", "taken", "taken", "taken"]
    with Store.open(place, create=False) as made:
        assert made.verify() == []
    assert not list(tmp_path.glob("*.partial"))


def test_a_backup_removes_what_killed_ones_left_in_its_folder(store: Store, tmp_path: Path) -> None:
    said = "from workbench import living_process; print(living_process.name())"
    dead = subprocess.run([sys.executable, "-c", said], check=True, capture_output=True, text=True).stdout.strip()
    old, fresh, mine = "0123abcd", "deadbeef", living_process.name()
    for token in (dead, old):
        for name in (f"{token}.partial", f"{token}.samples-partial", f"{mine}.samples-partial.{token}.partial"):
            for ending in ("", "-wal", "-shm", ".objects"):
                (tmp_path / f"copy.wb.{name}{ending}").write_bytes(b"x")
    for name in ("partial", "samples-partial"):
        for ending in ("", "-journal", "-wal", "-shm", ".objects"):
            (tmp_path / f"yesterday.wb.{dead}.{name}{ending}").write_bytes(b"x")
    for path in tmp_path.glob(f"*{old}*"):
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    kept = [
        f"copy.wb.{fresh}.partial",
        f"copy.wb.{mine}.partial",
        f"yesterday.wb.{old}.partial",
        f"yesterday.wb.{mine}.partial",
        "copy.wb.my.partial",
    ]
    for name in kept:
        (tmp_path / name).write_bytes(b"x")
    store.backup(tmp_path / "copy.wb")
    assert sorted(path.name for path in tmp_path.glob("*partial*")) == sorted(kept)


def test_who_opens_a_backup_waits_for_others_who_open_it(store: Store, tmp_path: Path) -> None:
    """Of several that opened it at once, one could hear at once that it had been busy for half a minute."""
    store.backup(tmp_path / "copy.wb")
    with closing(sqlite3.connect(tmp_path / "copy.wb", isolation_level=None, check_same_thread=False)) as other:
        other.execute("begin immediate")
        ends = threading.Timer(0.2, other.execute, ["rollback"])
        ends.start()
        with Store.open(tmp_path / "copy.wb") as copy, copy.transaction() as db:
            copy.tick(db)
        ends.join()


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.series.read("a", scope=EVERYTHING)


def test_pieces_come_back_by_their_content(store: Store) -> None:
    data = bytes(range(256)) * 12_000
    name = store.blobs.put(data[k : k + 100_000] for k in range(0, len(data), 100_000))
    assert name == hashlib.sha256(data).hexdigest()
    assert store.blobs.put([data]) == name
    assert store.blobs.size(name) == len(data)
    assert b"".join(store.blobs.get(name)) == data
    for start, stop in [(0, 1), (1_048_575, 1_048_577), (len(data) - 1, None), (5, 5), (9**9, None)]:
        assert b"".join(store.blobs.get(name, start, stop)) == data[start:stop]
    empty = store.blobs.put([])
    assert (store.blobs.size(empty), b"".join(store.blobs.get(empty))) == (0, b"")
    with pytest.raises(NotFound, match="no bytes"):
        store.blobs.size("0" * 64)


def test_pieces_that_nothing_refers_to_for_a_day_are_swept(store: Store) -> None:
    kept, gone, new, again = (store.blobs.put([data]) for data in (b"kept", b"gone", b"new", b"again"))
    with store.transaction() as connection:
        connection.execute("update contents set created = 1 where hash <> ?", (new,))
    assert store.blobs.put([b"again"]) == again
    assert store.blobs.sweep(lambda: {kept}) == 1
    assert [b"".join(store.blobs.get(name)) for name in (kept, new, again)] == [b"kept", b"new", b"again"]
    with pytest.raises(NotFound):
        store.blobs.size(gone)
    assert store.verify() == []


def test_a_piece_that_gets_a_record_while_others_are_swept_stays(store: Store) -> None:
    names = [store.blobs.put([bytes([n])]) for n in range(3)]
    with store.transaction() as connection:
        connection.execute("update contents set created = 1")
    asked: list[int] = []

    def referenced() -> set[str]:
        asked.append(1)
        return set() if len(asked) == 1 else {max(names)}

    assert store.blobs.sweep(referenced) == 2
    assert store.blobs.size(max(names)) == 1


def test_a_broken_off_put_leaves_nothing_that_is_seen(store: Store) -> None:
    def broken() -> object:
        yield b"x" * 3_000_000
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.blobs.put(broken())  # type: ignore[arg-type]
    assert store.connection().execute("select count(*) from pieces").fetchone() == (0,)


def test_what_a_killed_put_left_goes_after_a_day(store: Store) -> None:
    store.blobs._add(f"passing-{10**15}", 0, b"old")
    store.blobs._add(f"passing-{time.time_ns() // 1000}", 0, b"new")
    Store.open(store.path).close()
    assert store.connection().execute("select data from pieces").fetchall() == [(b"new",)]


def test_a_damaged_piece_is_named(store: Store) -> None:
    name = store.blobs.put([b"x" * 2_000_000])
    with store.transaction() as connection:
        connection.execute("update pieces set data = zeroblob(length(data)) where start > 0")
    with pytest.raises(Damaged, match=f"byte 1048576 of '{name}'"):
        list(store.blobs.get(name))
    assert len(store.blobs.verify()) == 1


def test_a_store_on_a_disk_that_is_read_only_is_not_called_one_that_cannot_be_made(tmp_path: Path) -> None:
    """As SQLite says it there; root may write any folder, so the disk cannot be asked in a test."""
    path = tmp_path / "lab.db"
    for said in ("could not be opened or made", "or the disk is read-only.*copy the store to a folder"):
        with pytest.raises(StoreError, match=said), connections.named(path):
            raise sqlite3.OperationalError("unable to open database file")
        Store.open(path).close()
