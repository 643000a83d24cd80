"""A store copied from a file into PostgreSQL, between databases, and back: the same by hash, also after stops."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from support.postgres import server
from test_copy_store import OLD, chunks_in, contents
from test_objects import objects_in, samples
from typer.testing import CliRunner

from workbench.cli import app
from workbench.errors import BadRequest, Conflict, StoreError
from workbench.store import Store
from workbench.store.objects import row_copying
from workbench.store.objects.copying import copy_store
from workbench.store.objects.relocate import relocate
from workbench.store.objects.status import status
from workbench.store.scope import EVERYTHING
from workbench.store.series import chunks


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def source(tmp_path: Path) -> Store:
    """A store with records, samples and files."""
    with pytest.warns(UserWarning, match="brought to format"):
        return Store.open(shutil.copy(OLD, tmp_path / "lab.wb"))


def searched(store: Store) -> list[tuple[object, ...]]:
    return store.execute("select entry, id, folded, words from search_entries order by entry").fetchall()


def order_of(store: Store, table: str) -> list[str]:
    return [id for (id,) in store.execute(f'select id from "{table}" order by rowid').fetchall()]


def test_there_between_and_back_is_the_same(source: Store, tmp_path: Path) -> None:
    first, second = server().address(), server().address()
    there = copy_store(source, first, f"folder:{tmp_path}/samples")
    assert there.rows > 100
    assert there.store.startswith("postgresql://lab@")
    with Store.open(first) as database:
        assert contents(database) == contents(source)
        assert searched(database) == searched(source)
        assert order_of(database, "measurements") == order_of(source, "measurements")
        assert status(database) == (f"folder:{tmp_path}/samples", 2, *status(database)[2:6], True)
        between = copy_store(database, second)
    with Store.open(second) as database:
        assert chunks_in(database) == chunks_in(source)
        back = copy_store(database, tmp_path / "back.wb")
        assert (back.rows, back.series) == (between.rows, between.series) == (there.rows, there.series)
        # What comes next is numbered after what was copied.
        (most,) = database.execute("select max(id) from series").fetchone()
        database.series.append("later", "series", samples(10))
        assert database.execute("select id > ? from series where owner = 'later'", (most,)).fetchone() == (1,)
        assert database.verify() == ["the series of 'later' belong to no record"]
    assert len(objects_in(tmp_path / "samples")) == 2
    with Store.open(tmp_path / "back.wb") as copy:
        assert contents(copy) == contents(source)
        assert chunks_in(copy) == chunks_in(source)
        assert searched(copy) == searched(source)
        assert copy.verify() == []


def test_a_stopped_copy_sends_only_what_is_missing(
    source: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = server().address()
    sent: list[int] = []
    insert = chunks.insert_stored

    def counted(db: sqlite3.Connection, rows: list[tuple[int, bytes, bytes]]) -> None:
        sent.extend(key for key, _, _ in rows)
        insert(db, rows)

    monkeypatch.setattr(chunks, "insert_stored", counted)
    monkeypatch.setattr(row_copying, "_CHUNKS", 4)

    def stop(done: int, of: int, what: str) -> None:
        if done >= of // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(source, address, progress=stop)
    half = len(sent)
    assert half
    with Store.open(address) as copy:
        assert not copy.execute("select 1 from measurements").fetchone(), "the records come at once, at the end"
    (owner,) = source.execute("select owner from series where dataset = 'series' order by rows limit 1").fetchone()
    source.series.append(owner, "series", source.series.read(owner, scope=EVERYTHING).slice(0, 3))
    copy_store(source, address)
    assert len(set(sent)) == len(chunks_in(source))
    with Store.open(address) as copy:
        assert chunks_in(copy) == chunks_in(source), "also what was appended meanwhile"
        assert contents(copy) == contents(source)
    with pytest.raises(Conflict, match="exists already"):
        copy_store(source, address)


def test_a_store_with_records_is_not_written_over(source: Store, tmp_path: Path) -> None:
    with Store.open(server().address()) as other:
        copy_store(source, other.location)
        with pytest.raises(Conflict, match="exists already") as refused:
            copy_store(other, tmp_path / "lab.wb")
        assert "lab.wb" in str(refused.value)
    with pytest.raises(Conflict, match="exists already"):
        copy_store(source, other.location)


def test_what_a_database_cannot_keep_is_named(source: Store) -> None:
    with source.transaction() as db:
        (id,) = db.execute("select id from measurements order by id limit 1").fetchone()
        db.execute("update measurements set notes = ? where id = ?", ("a\0b", id))
    with pytest.raises(BadRequest, match=f"The row '{id}' of 'measurements' cannot be copied.*null character"):
        copy_store(source, server().address())


def test_an_older_store_is_upgraded_first(tmp_path: Path) -> None:
    with (
        Store.open(shutil.copy(OLD, tmp_path / "old.wb"), read_only=True) as old,
        pytest.raises(StoreError, match=r"another format.*workbench upgrade"),
    ):
        copy_store(old, server().address())


def test_the_command_copies_to_an_address_and_says_so_without_the_password(source: Store, tmp_path: Path) -> None:
    address = server().address()
    relocate(source, "folder:samples")
    done = CliRunner().invoke(app, ["copy-store", str(source.path), address.replace("lab@", "lab:secret@")])
    assert done.exit_code == 0, done.output
    assert "series are the same" in done.output
    assert "secret" not in done.output
    with Store.open(address) as copy:
        assert status(copy).place == "file"
        assert contents(copy) == contents(source)
