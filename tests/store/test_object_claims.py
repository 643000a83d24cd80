"""Whose objects a place holds: copies of a store find them and never delete each other's; a kill bars nobody."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from test_objects import YEAR, N, objects_in, read, same, samples, with_folder

from workbench.errors import BadRequest, Conflict, StoreError
from workbench.store import Store
from workbench.store.objects import backup as backing_up
from workbench.store.objects import relocate as relocating
from workbench.store.objects.backup import backup
from workbench.store.objects.claims import CLAIM, claim
from workbench.store.objects.collect import collect
from workbench.store.objects.place import PlaceAway
from workbench.store.objects.relocate import relocate
from workbench.store.objects.status import status


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return with_folder(tmp_path)


def aged(folder: Path) -> None:
    for path in objects_in(folder):
        os.utime(path, (time.time() - YEAR, time.time() - YEAR))


def test_a_copy_does_not_join_the_place_of_its_store(store: Store, tmp_path: Path) -> None:
    """It would take what the store wrote since for leftovers, and delete it."""
    backup(store, tmp_path / "copy.wb", "file")
    with Store.open(tmp_path / "copy.wb") as copy:
        with pytest.raises(BadRequest, match=r"another copy of this store.*--take-over"):
            relocate(copy, "folder:samples")
        relocate(copy, "folder:own")
        with pytest.raises(BadRequest, match="another copy of this store"):
            relocate(copy, "folder:samples")
        assert same(read(copy), samples())
    assert same(read(store), samples())


def test_who_took_over_is_the_only_one_who_deletes(store: Store, tmp_path: Path) -> None:
    backup(store, tmp_path / "copy.wb", "file")
    with Store.open(tmp_path / "copy.wb") as copy:
        relocate(copy, "folder:samples", take_over=True)
        copy.series.append("b", "series", samples(seed=1))
        aged(tmp_path / "samples")
        with pytest.raises(BadRequest, match="took over"):
            collect(store)
        assert same(read(copy, "b"), samples(seed=1))
        relocate(store, "folder:samples", take_over=True)
        with pytest.raises(BadRequest, match="took over"):
            collect(copy)


def test_a_backup_is_not_put_where_a_store_deletes(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"deletes there .* a place of its own"):
        backup(store, tmp_path / "one.wb", f"folder:{tmp_path}/samples")
    assert not (tmp_path / "one.wb").exists()
    assert backup(store, tmp_path / "one.wb", f"folder:{tmp_path}/backups") == "folder:backups"
    with pytest.raises(BadRequest, match="its backups"):
        relocate(store, "folder:backups")
    assert backup(store, tmp_path / "two.wb", f"folder:{tmp_path}/backups") == "folder:backups"


def test_a_claim_without_a_copy_is_that_of_whoever_has_the_name(store: Store, tmp_path: Path) -> None:
    """Earlier versions noted the name of the store alone."""
    place = tmp_path / "samples" / CLAIM
    bare = orjson.dumps({"store": store.identity()})
    place.write_bytes(bare)
    collect(store)
    assert place.read_bytes() == bare
    assert relocate(store, "folder:samples") == 0
    assert orjson.loads(place.read_bytes())["keeper"] == store.place_id()
    for other in (b"[]", b"{}", b"not json", orjson.dumps({"store": "another"})):
        place.write_bytes(other)
        with pytest.raises(BadRequest, match="another store"):
            relocate(store, "folder:samples")


def test_a_store_goes_back_to_its_earlier_place(store: Store, tmp_path: Path) -> None:
    assert relocate(store, "folder:other") == 1  # from one place to another
    relocate(store, "file")
    assert relocate(store, "folder:samples") == 1
    assert same(read(store), samples())


def test_a_full_disk_leaves_no_claim_of_nobody(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(PlaceAway, match="No space left"):
            relocate(store, "folder:other")
    assert list((tmp_path / "other").iterdir()) == []
    relocate(store, "folder:other")
    assert same(read(store), samples())


def test_an_empty_claim_of_a_killed_process_bars_nobody(store: Store, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / CLAIM).write_bytes(b"")
    relocate(store, "folder:other")
    assert read(store).n == N
    with Store.open(tmp_path / "third.wb") as third, pytest.raises(BadRequest, match="another store"):
        relocate(third, "folder:other")


def found(store: Store) -> list[str]:
    """What verify finds, apart from the samples of this test that belong to no record."""
    return [one for one in store.verify() if not one.endswith("belong to no record")]


def test_a_flipped_byte_in_a_claim_is_found(store: Store, tmp_path: Path) -> None:
    backup(store, tmp_path / "alone.wb", "none")
    assert found(store) == []
    place = tmp_path / "samples" / CLAIM
    data = place.read_bytes()
    for at in range(len(data)):
        place.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        findings = found(store)
        # In the name of the checksum nothing is lost: the claim itself is as it was.
        assert bool(findings) == (not data.index(b'"crc"') < at <= data.index(b'"crc"') + 3), (at, findings)
        assert all(CLAIM in one and "samples move folder:samples" in one for one in findings)
    place.unlink()
    (finding,) = found(store)
    assert "is missing or empty" in finding
    with Store.open(tmp_path / "alone.wb") as copy:
        assert found(copy) == []
    relocate(store, "folder:samples")
    assert found(store) == []


def test_a_claim_of_an_older_version_is_verified_and_gets_a_checksum(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "samples" / CLAIM
    older = {"store": store.identity(), "keeper": store.place_id()}
    for bare in (older, {"store": store.identity()}, older | {"keeper": ""}):
        place.write_bytes(orjson.dumps(bare))
        assert found(store) == []
    for wrong in (older | {"keeper": "x"}, {"store": "another"}, []):
        place.write_bytes(orjson.dumps(wrong))
        assert len(found(store)) == 1
    place.write_bytes(orjson.dumps(older))
    relocate(store, "folder:samples")
    assert "crc" in orjson.loads(place.read_bytes())


def test_a_backup_of_the_file_alone_finds_the_samples_from_another_folder(store: Store, tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    for place, kept in (("one.wb", "folder:samples"), ("backups/two.wb", f"folder:{tmp_path}/samples")):
        assert backup(store, tmp_path / place, "none") == kept
        with Store.open(tmp_path / place) as copy:
            assert same(read(copy), samples())
            assert not status(copy).may_write


@pytest.mark.parametrize("before", ["file", "folder:first", "folder:mine"])
def test_two_moves_at_once_leave_the_samples_where_the_store_looks_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    """One looks where the samples are, then the other moves them elsewhere, then the first one goes on."""
    with Store.open(tmp_path / "s.wb") as store, Store.open(tmp_path / "s.wb") as other:
        store.series.append("a", "series", samples())
        relocate(store, before)

        def meanwhile(*given: Any, **named: Any) -> None:
            monkeypatch.undo()
            relocate(other, "folder:other")
            other.series.append("b", "series", samples(seed=1))
            claim(*given, **named)

        monkeypatch.setattr(relocating, "claim", meanwhile)
        relocate(store, "folder:mine")
        assert status(store).place == "folder:mine"
        assert same(read(store), samples())
        assert same(read(store, "b"), samples(seed=1))


def test_a_backup_in_one_file_takes_no_name_that_was_taken_meanwhile(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two backups to one name at the same moment both said that they had written it."""

    def meanwhile(*given: Any, **named: Any) -> int:
        (tmp_path / "one.wb").write_text("mine")
        return relocate(*given, **named)

    monkeypatch.setattr(backing_up, "relocate", meanwhile)
    with pytest.raises(Conflict, match="exists already"):
        backup(store, tmp_path / "one.wb", "file")
    assert (tmp_path / "one.wb").read_text() == "mine"
    assert [path.name for path in tmp_path.glob("one*")] == ["one.wb"]


def test_a_backup_in_one_file_is_whole_or_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the log of the copy cannot be moved into its file, as on a full disk, the backup would lack it."""
    readers: list[sqlite3.Connection] = []

    def not_moved(copy: Store, *given: Any, **named: Any) -> int:
        with copy.transaction():
            pass  # the copy has a log from here on
        readers.append(sqlite3.connect(copy.path, isolation_level=None))
        readers[-1].execute("begin")
        readers[-1].execute("select count(*) from facts").fetchone()
        return relocate(copy, *given, **named)

    monkeypatch.setattr(backing_up, "relocate", not_moved)
    with pytest.raises(StoreError, match="could not be written whole"):
        backup(store, tmp_path / "one.wb", "file")
    assert list(tmp_path.glob("one*")) == []
    for reader in readers:
        reader.close()
    monkeypatch.undo()
    backup(store, tmp_path / "one.wb", "file")
    with Store.open(tmp_path / "one.wb") as copy:
        assert same(read(copy), samples())
