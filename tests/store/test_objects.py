"""Samples outside of the store's file: moved and brought back whole, never half visible, collected only when nobody
needs them, and damage named."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.power_cut import names_kept
from test_series_writers import WRITER

from workbench.errors import BadRequest, Conflict, Damaged, StoreNotice
from workbench.store import Store
from workbench.store.db import lease
from workbench.store.objects import mover, stored
from workbench.store.objects.backup import backup
from workbench.store.objects.claims import CLAIM
from workbench.store.objects.collect import collect, surplus
from workbench.store.objects.folder import Folder
from workbench.store.objects.place import PlaceAway, parse
from workbench.store.objects.relocate import relocate, written_as
from workbench.store.objects.status import status
from workbench.store.scope import EVERYTHING
from workbench.table import Table, concat

N = 60_000
YEAR = 365 * 86400


def samples(n: int = N, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    return Table.of({"t": np.arange(n) * 1.0, "v": np.round(rng.normal(size=n), 4), "noise": rng.normal(size=n)})


def same(left: Table, right: Table) -> bool:
    return left.names == right.names and all(
        left[name].values.tobytes() == right[name].values.tobytes() for name in left.names
    )


def chunks_in(store: Store) -> list[tuple[int, bytes, bytes]]:
    return store.execute("select key, head, data from chunks order by key").fetchall()


def objects_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CLAIM)


def read(store: Store, owner: str = "a") -> Table:
    return store.series.read(owner, scope=EVERYTHING)


def with_folder(place: Path) -> Store:
    """A store with its samples in the folder ``samples`` beside it: one series, "a"."""
    store = Store.open(place / "s.wb")
    relocate(store, "folder:samples")
    store.series.append("a", "series", samples())
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return with_folder(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "samples"


def test_a_series_is_moved_and_comes_back_to_the_byte(tmp_path: Path, folder: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    store.series.append("a", "series", samples())
    store.series.append("b", "series", samples(100))
    before = chunks_in(store)
    assert relocate(store, "folder:samples") == 1
    assert len(objects_in(folder)) == 1
    small = store.series.info("b", scope=EVERYTHING)
    assert small is not None
    assert {key >> 35 for key, _, _ in chunks_in(store)} == {small.id}, "a small series stays in the file"
    assert same(read(store), samples())
    assert store.series.verify() == []
    assert relocate(store, "file") == 1
    assert chunks_in(store) == before
    assert status(store)[:3] == ("file", 0, 0)


def test_later_opens_need_no_option(store: Store, tmp_path: Path, folder: Path) -> None:
    store.close()
    with Store.open(tmp_path / "s.wb") as again:
        assert same(read(again), samples())
        again.series.append("b", "series", samples(seed=1))
        assert len(objects_in(folder)) == 2


def test_an_append_stays_in_the_file_until_it_is_worth_an_object(store: Store, folder: Path) -> None:
    first = objects_in(folder)
    store.series.append("a", "series", samples(10, seed=1))
    store.series.tidy()
    assert objects_in(folder) == first
    assert same(read(store), concat([samples(), samples(10, seed=1)]))
    assert store.series.verify() == []
    store.series.append("a", "series", samples(50_000, seed=2))
    store.series.tidy()
    assert len(objects_in(folder)) == 2, "the earlier generation stays for a day"
    assert chunks_in(store) == []
    assert store.execute("select generation from series_objects").fetchall() == [(2,)]
    assert [one.name for one in stored.leftovers(store.connection())] == [first[0].relative_to(folder).as_posix()]
    assert same(read(store), concat([samples(), samples(10, seed=1), samples(50_000, seed=2)]))


def test_both_together_give_what_the_file_alone_gives(store: Store, tmp_path: Path) -> None:
    plain = Store.open(tmp_path / "plain.wb")
    plain.series.append("a", "series", samples())
    for one in (store, plain):
        one.series.append("a", "series", samples(3000, seed=5))
    assert chunks_in(store), "the tail is in the file"
    for x, window in (("t", None), ("t", (1000, 1400)), ("t", (20, 59_990)), ("noise", (1.0, 1.1)), ("v", (0, 3))):
        for most in (20, 500, 100_000):
            got, expected = (
                one.series.sample("a", x, ["v", "noise"], window=window, most=most, scope=EVERYTHING)
                for one in (store, plain)
            )
            assert got.rows.tolist() == expected.rows.tolist()
            assert got.complete == expected.complete
            assert same(got.table, expected.table)


def test_a_deleted_and_a_replaced_series_leave_their_objects_for_a_day(store: Store, folder: Path) -> None:
    with store.series.writer("a") as writer:
        writer.add(samples(seed=3))
        writer.publish()
    assert same(read(store), samples(seed=3))
    before = time.time_ns() // 1000
    store.series.delete("a")
    assert len(objects_in(folder)) == 2
    first, last = sorted(one.since for one in stored.leftovers(store.connection()))
    assert first < before <= last
    assert collect(store).names == ()
    assert len(objects_in(folder)) == 2


def aged(store: Store, folder: Path, seconds: float = YEAR) -> None:
    """Let everything that is there be older."""
    with store.transaction() as db:
        db.execute("update object_leftovers set since = since - ?", (int(seconds * 1e6),))
    for path in objects_in(folder):
        changed = path.stat().st_mtime - seconds
        os.utime(path, (changed, changed))


def test_the_names_of_objects_and_of_their_folders_survive_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = names_kept(monkeypatch, tmp_path)
    place = Folder(tmp_path / "far" / "samples", "folder:far/samples")
    place.put("000001/1-1-ab", BytesIO(b"bytes"), 5)
    assert {"far", "far/samples", "far/samples/000001", "far/samples/000001/1-1-ab"} <= kept


def test_collecting_first_counts_then_deletes_what_nobody_needs(store: Store, folder: Path) -> None:
    store.series.append("gone", "series", samples(seed=1))
    gone = set(objects_in(folder))
    store.series.delete("gone")
    store.series.append("b", "series", samples(seed=2))
    named = {folder / row.name for row in stored.every(store.connection())}
    gone -= named
    stray = folder / "000000" / "999-1-0123456789abcdef"
    partial = folder / "000000" / "999-1-0123456789abcdef.01234567.partial"
    others = folder / "notes.txt"
    for path in (stray, partial, others):
        path.write_bytes(b"x")
    aged(store, folder, 23 * 3600)
    assert surplus(store).names == ()
    aged(store, folder, 2 * 3600)
    before = objects_in(folder)
    found = surplus(store)
    assert {folder / name for name in found.names} == gone | {stray, partial}
    assert objects_in(folder) == before, "counting deletes nothing"
    assert surplus(store, timedelta(days=30)).names == ()
    assert collect(store) == found
    assert set(objects_in(folder)) == named | {others}
    assert surplus(store).names == ()
    assert same(read(store), samples())


def test_what_a_running_writer_has_put_is_not_collected(store: Store, folder: Path) -> None:
    """Its object has no row yet; it is about to get it."""
    stray = folder / "000000" / "77-1-0123456789abcdef"
    stray.write_bytes(b"x")
    aged(store, folder)
    with store.transaction() as db:
        stored.wait(db, 77)
        stored.take(db, 77, lease.take(), 0)
    assert surplus(store).names == ()
    with store.transaction() as db:
        stored.take(db, 77, lease.take().replace(" ", "!", 1), 0)  # of another machine, silent for long
    assert surplus(store).names == ("000000/77-1-0123456789abcdef",)


def test_a_writer_never_names_what_is_being_collected(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_it = mover.Mover._name

    def after_collection(self: mover.Mover, row: stored.StoredObject, place: object) -> bool:
        with store.transaction() as db:
            stored.condemn(db, [row.name], store.latest())
        monkeypatch.setattr(mover.Mover, "_name", name_it)
        return name_it(self, row, place)  # type: ignore[arg-type]

    monkeypatch.setattr(mover.Mover, "_name", after_collection)
    store.series.append("b", "series", samples(seed=1))
    assert store.execute("select count(*) from series_objects").fetchone() == (1,)
    assert same(read(store, "b"), samples(seed=1))
    store.series.tidy()
    assert store.execute("select count(*) from series_objects").fetchone() == (2,)
    assert same(read(store, "b"), samples(seed=1))


def test_a_change_during_the_move_is_not_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write = mover.Mover._write

    def appended_meanwhile(self: mover.Mover, place: object, prepared: object) -> None:
        monkeypatch.setattr(mover.Mover, "_write", write)
        with Store.open(store.path) as other:
            other.series.append("b", "series", samples(5, seed=2))
        write(self, place, prepared)  # type: ignore[arg-type]

    monkeypatch.setattr(mover.Mover, "_write", appended_meanwhile)
    store.series.append("b", "series", samples(seed=1))
    store.series.tidy()
    assert same(read(store, "b"), concat([samples(seed=1), samples(5, seed=2)]))
    assert store.series.verify() == []


def test_a_series_comes_back_whole_while_another_still_deletes_what_it_moved(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is between the row of an object and the deletion from the file; another writes the series into the file."""
    (number,) = (row.id for row in stored.every(store.connection()))
    with store.transaction() as db:
        stored.wait(db, number)
    parts = mover._parts

    def deleted_meanwhile(*given: Any) -> Iterator[list[tuple[int, bytes, bytes]]]:
        yield from parts(*given)
        monkeypatch.setattr(mover, "_parts", parts)
        with Store.open(store.path) as other:
            assert not other.series.mover.move(number), "it only deletes"

    monkeypatch.setattr(mover, "_parts", deleted_meanwhile)
    relocate(store, "file")
    assert same(read(store), samples())
    assert store.series.verify() == []


STEPS = ("_write", "_name", "_delete_moved")
KILLED = """
import os, signal, sys
from workbench.store import Store
from workbench.store.objects import mover
from test_objects import samples
def killed(*_): os.kill(os.getpid(), signal.SIGKILL)
setattr(mover.Mover, sys.argv[2], killed)
store = Store.open(sys.argv[1])
store.series.append("b", "series", samples(seed=1))
"""


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("_write", marks=pytest.mark.long),
        "_name",
        pytest.param("_delete_moved", marks=pytest.mark.long),
    ],
)
def test_a_process_killed_while_it_moves_leaves_nothing_half(store: Store, folder: Path, step: str) -> None:
    """Before the object is put, between it and its row, and between that and the deletion from the file."""
    tests = Path(__file__).parents[1]
    path = os.pathsep.join((str(tests / "store"), str(tests), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(store.path), step], env={**os.environ, "PYTHONPATH": path}, timeout=120
    )
    assert done.returncode == -9
    assert len(objects_in(folder)) == (1 if step == "_write" else 2)
    assert same(read(store, "b"), samples(seed=1))
    assert store.series.verify() == []
    with Store.open(store.path) as again:
        again.series.tidy()
        assert chunks_in(again) == []
        assert same(read(again, "b"), samples(seed=1))
        assert again.series.verify() == []
        aged(again, folder)
        assert len(collect(again).names) == (1 if step == "_name" else 0)
        assert len(objects_in(folder)) == 2


@pytest.mark.parametrize("part", ["header", "directory", "heads", "payload", "end"])
def test_a_changed_byte_is_never_a_wrong_value(store: Store, folder: Path, part: str) -> None:
    (path,) = objects_in(folder)
    data = bytearray(path.read_bytes())
    row = stored.of(store.connection(), 1)
    assert row is not None
    at = {
        "header": 3,
        "directory": row.directory - 5,
        "heads": row.directory + 70,
        "payload": len(data) // 2,
        "end": len(data) - 1,
    }[part]
    data[at] ^= 4
    path.write_bytes(data)
    with Store.open(store.path) as again:
        assert again.series.verify(), part
        if part == "heads":  # of a level: samples need no such head
            assert same(read(again), samples())
        else:
            with pytest.raises(Damaged, match="'a'"):
                read(again)


def test_an_object_that_is_gone_or_short_is_named(store: Store, folder: Path) -> None:
    (path,) = objects_in(folder)
    data = path.read_bytes()
    path.write_bytes(data[:-100])
    with pytest.raises(Damaged, match=r"series of 'a'.*shorter than it was"):
        read(store)
    path.unlink()
    with pytest.raises(Damaged, match=r"series of 'a'.*is not in folder:samples; restore"):
        read(store)
    assert len(store.series.verify()) == 1


def test_an_object_of_no_series_is_found(store: Store) -> None:
    with store.transaction() as db:
        stored.keep(db, stored.StoredObject(99, "000000/99-1-0123456789abcdef", 1, 1, 1, 1, 1))
    assert store.series.verify() == ["There is an object of a series 99 that is not there."]


def test_a_changed_row_of_an_object_is_refused(store: Store) -> None:
    with store.transaction() as db:
        db.execute("update series_objects set size = size + 1")
    with pytest.raises(Damaged, match="object of series 1 fails its checksum"):
        read(store)


def test_a_folder_that_is_away_stops_readers_with_a_reason_and_no_writer(store: Store, folder: Path) -> None:
    folder.rename(folder.with_name("away"))
    folder.write_text("not a folder")
    with pytest.raises(PlaceAway, match=r"series of 'a' cannot be read.*folder:samples.*Mount it"):
        read(store)
    with pytest.warns(StoreNotice, match=r"folder:samples.*stay in the store itself, where they are whole"):
        store.series.append("b", "series", samples(seed=1))
    assert same(read(store, "b"), samples(seed=1))
    store.series.append("c", "series", samples(seed=2))  # asked again only after a while, so no second notice
    folder.unlink()
    folder.with_name("away").rename(folder)
    with Store.open(store.path) as again:
        assert status(again).waiting == 2
        again.series.tidy()
        assert chunks_in(again) == []
        assert same(read(again, "b"), samples(seed=1))


def test_a_damaged_series_stays_and_stops_no_other(store: Store) -> None:
    place = stored.setting(store.connection())
    with store.transaction() as db:
        stored.set_setting(db, None)
    for seed, owner in enumerate(("b", "c")):
        store.series.append(owner, "series", samples(seed=seed))
    with store.transaction() as db:
        stored.set_setting(db, place)
        db.execute("update chunks set data = ? where key = (select min(key) from chunks)", [b"\0"])
    store.series.mover.note_all()
    with pytest.warns(StoreNotice, match=r"Damaged series of 'b'.*It stays in the store itself"):
        store.series.tidy()
    assert [row.id for row in stored.every(store.connection())] == [1, 3]
    assert status(store).waiting == 0
    store.series.tidy()


def test_verify_says_once_that_a_place_is_away(store: Store, folder: Path) -> None:
    store.series.append("b", "series", samples(seed=1))
    folder.rename(folder.with_name("away"))
    folder.write_text("not a folder")
    assert len(store.series.verify()) == 1


def test_a_folder_belongs_to_one_store(store: Store, tmp_path: Path) -> None:
    other = Store.open(tmp_path / "other.wb")
    with pytest.raises(BadRequest, match="samples of another store"):
        relocate(other, "folder:samples")
    assert status(other).place == "file"


def test_a_backup_has_its_own_objects_and_the_next_one_copies_only_new_ones(
    store: Store, tmp_path: Path, folder: Path
) -> None:
    store.series.append("a", "series", samples(10, seed=1))
    expected = read(store)
    assert backup(store, tmp_path / "one.wb") == "folder:one.wb.samples"
    with pytest.raises(Conflict, match="exists already"):
        backup(store, tmp_path / "one.wb")
    kept = objects_in(tmp_path / "one.wb.samples")
    assert len(kept) == 1
    for path in objects_in(folder):
        path.unlink()
    with Store.open(tmp_path / "one.wb") as copy:
        assert same(read(copy), expected)
        assert copy.series.verify() == []
        assert not status(copy).may_write
        copy.series.append("b", "series", samples(seed=2))
        assert objects_in(tmp_path / "one.wb.samples") == kept, "a copy keeps what is new in its file"
        with pytest.raises(BadRequest, match="a copy deletes nothing"):
            collect(copy)
        with pytest.raises(BadRequest, match="--take-over"):
            relocate(copy, "folder:one.wb.samples")
        assert backup(copy, tmp_path / "two.wb", "folder:" + str(tmp_path / "shared")) == "folder:shared"
        before = {path: path.stat().st_mtime_ns for path in objects_in(tmp_path / "shared")}
        assert backup(copy, tmp_path / "three.wb", "folder:" + str(tmp_path / "shared")) == "folder:shared"
        assert {path: path.stat().st_mtime_ns for path in objects_in(tmp_path / "shared")} == before
        assert relocate(copy, "folder:one.wb.samples", take_over=True) == 1
        assert same(read(copy, "b"), samples(seed=2))


def test_a_backup_may_be_one_file(store: Store, tmp_path: Path, folder: Path) -> None:
    store.series.append("a", "series", samples(10, seed=1))
    (tmp_path / "other").mkdir()
    assert backup(store, tmp_path / "other" / "one.wb", "file") is None
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["one.wb"]
    assert len(objects_in(folder)) == 1
    with Store.open(tmp_path / "other" / "one.wb") as copy:
        assert status(copy)[:2] == ("file", 0)
        assert same(read(copy), read(store))
        assert copy.series.verify() == []


def test_a_backup_of_a_damaged_object_is_refused_and_leaves_no_file(
    store: Store, tmp_path: Path, folder: Path
) -> None:
    (path,) = objects_in(folder)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(Damaged, match="fails its checksum"):
        backup(store, tmp_path / "one.wb")
    assert not (tmp_path / "one.wb").exists()
    with pytest.raises(Damaged, match="checksum"):
        backup(store, tmp_path / "one.wb", "file")
    assert sorted(path.name for path in tmp_path.glob("one*")) == ["one.wb.samples"]
    backup(store, tmp_path / "alone.wb", "none")
    with Store.open(tmp_path / "alone.wb") as copy:
        assert status(copy).place == "folder:samples"


def test_samples_move_between_places_and_go_on_after_a_stop(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.series.append("b", "series", samples(seed=1))

    def stop(done: int, of: int, what: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        relocate(store, "folder:elsewhere", progress=stop)
    assert status(store).place == "folder:samples"
    assert len(objects_in(tmp_path / "elsewhere")) == 1
    assert same(read(store), samples())
    copied: list[str] = []
    relocate(store, "folder:elsewhere", progress=lambda done, of, what: copied.append(what))
    assert copied == ["to folder:elsewhere"], "only what was missing"
    for path in objects_in(tmp_path / "samples"):
        path.unlink()
    with Store.open(store.path) as again:
        assert same(read(again), samples())
        assert same(read(again, "b"), samples(seed=1))
        assert again.series.verify() == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("file", None),
        ("folder:x/y", "folder:x/y"),
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/a/b/", "s3://bucket/a/b"),
        ("gs://bucket/a", "gs://bucket/a"),
        ("az://container/a", "az://container/a"),
    ],
)
def test_addresses(text: str, kept: str | None) -> None:
    address = parse(text)
    assert (address and address.text) == kept


@pytest.mark.parametrize(
    "text", ["", "folder:", "s3:bucket", "ftp://x", "s3://", "s3://key:secret@bucket", "s3://b?k=s"]
)
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        parse(text)


def test_a_folder_inside_that_of_the_store_is_kept_relative_to_it(tmp_path: Path) -> None:
    store = tmp_path / "lab.db"
    assert written_as(f"folder:{tmp_path}/samples", store) == "folder:samples"
    assert written_as("folder:/somewhere/else", store) == "folder:/somewhere/else"
    with pytest.raises(BadRequest, match="that of the store itself"):
        written_as(f"folder:{tmp_path}", store)


def test_the_preparation_says_where_room_is_needed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(mover, "IN_MEMORY", 0)
    monkeypatch.setattr(mover.tempfile, "TemporaryFile", lambda prefix: Full())
    with pytest.warns(StoreNotice, match=r"No space left on device\. Make room there"):
        store.series.append("b", "series", samples(seed=1))
    assert same(read(store, "b"), samples(seed=1))


@pytest.mark.long
def test_two_writers_that_are_killed_again_and_again_lose_nothing(tmp_path: Path, folder: Path) -> None:
    """Each writes, replaces, appends and moves; what one acknowledged is there, whole, after each kill."""
    path = tmp_path / "s.wb"
    with Store.open(path) as store:
        relocate(store, "folder:samples")
    rng = np.random.default_rng(3)
    for turn in range(20):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(path), str((2 * turn + one) * 10_000)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for one in range(2)
        ]
        said: list[int] = []
        for process in writers:
            assert process.stdout is not None
            said.append(int(process.stdout.readline()))
        time.sleep(float(rng.uniform(0, 0.3)))  # any moment
        for process in writers:
            process.kill()
        for process in writers:
            assert process.stdout is not None
            said += [int(line) for line in process.stdout.read().split()]
            process.stdout.close()
            process.wait()
        with Store.open(path) as store:
            assert store.series.verify() == []
            for k in {one % 5 for one in said}:
                table = read(store, f"m{k}")
                assert table.n == 700_000
                assert len(np.unique(table["k"].values)) == 1
            assert status(store).may_write
    with Store.open(path) as store:
        store.series.mover.note_all()
        store.series.tidy()
        held = {row.id for row in stored.every(store.connection())}
        assert {key >> 35 for key, _, _ in chunks_in(store)} <= held, "at most what was appended"
        aged(store, folder)
        collect(store)
        named = {folder / row.name for row in stored.every(store.connection())}
        assert set(objects_in(folder)) == named
        assert store.series.verify() == []
