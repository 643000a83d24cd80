"""A store copied to one with its samples elsewhere, and back: the same by hash, also after stops."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from test_objects import objects_in, samples

from workbench.errors import BadRequest, Conflict, Damaged
from workbench.store import Store
from workbench.store.objects.copying import copy_store
from workbench.store.objects.relocate import relocate
from workbench.store.objects.status import status

OLD = Path(__file__).parents[1] / "stores" / "store-0.1.0.db"


@pytest.fixture
def source(tmp_path: Path) -> Store:
    """A store with records, samples and files."""
    with pytest.warns(UserWarning, match="brought to format"):
        return Store.open(shutil.copy(OLD, tmp_path / "lab.wb"))


def contents(store: Store) -> dict[str, list[tuple[object, ...]]]:
    tables = ("measurements", "seals", "series", "series_log", "contents", "pieces", "revisions")
    found = {name: store.execute(f'select * from "{name}" order by 1, 2').fetchall() for name in tables}
    found["facts"] = store.execute("select value from facts where name = 'store'").fetchall()
    return found


def chunks_in(store: Store) -> list[tuple[int, bytes, bytes]]:
    return store.execute("select key, head, data from chunks order by key").fetchall()


def test_there_and_back_is_the_same_to_the_byte(source: Store, tmp_path: Path) -> None:
    there = copy_store(source, tmp_path / "large.wb", f"folder:{tmp_path / 'samples'}")
    assert there.place == "folder:samples"
    assert there.rows > 100
    with Store.open(tmp_path / "large.wb") as large:
        assert contents(large) == contents(source)
        assert status(large).series == 2
        assert status(large).may_write
        back = copy_store(large, tmp_path / "back.wb")
        assert (back.rows, back.series) == (there.rows, there.series)
        assert len(objects_in(tmp_path / "samples")) == 2, "the source keeps its objects"
        again = copy_store(large, tmp_path / "third.wb", f"folder:{tmp_path / 'others'}")
        assert again.place == "folder:others"
    with Store.open(tmp_path / "back.wb") as copy:
        assert contents(copy) == contents(source)
        assert chunks_in(copy) == chunks_in(source)
        assert copy.verify() == []


def test_a_stopped_copy_goes_on_with_the_moment_in_which_it_was_begun(source: Store, tmp_path: Path) -> None:
    def stop(done: int, of: int, what: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    place = f"folder:{tmp_path / 'samples'}"
    with pytest.raises(KeyboardInterrupt):
        copy_store(source, tmp_path / "large.wb", place, stop)
    first = objects_in(tmp_path / "samples")
    assert len(first) == 1
    before = contents(source)
    source.series.append("later", "series", samples(10))
    copy_store(source, tmp_path / "large.wb", place)
    assert set(first) < set(objects_in(tmp_path / "samples"))
    with Store.open(tmp_path / "large.wb") as copy:
        assert contents(copy) == before
    with pytest.raises(Conflict, match="exists already"):
        copy_store(source, tmp_path / "large.wb", place)


def test_a_copy_that_is_stopped_while_it_gives_room_back_goes_on(
    source: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.store.objects import copying

    def stopped(path: Path) -> None:
        raise KeyboardInterrupt

    place = f"folder:{tmp_path / 'samples'}"
    with monkeypatch.context() as patch:
        patch.setattr(copying, "_shrink", stopped)
        with pytest.raises(KeyboardInterrupt):
            copy_store(source, tmp_path / "large.wb", place)
    copy_store(source, tmp_path / "large.wb", place)
    with closing(sqlite3.connect(tmp_path / "large.wb")) as db:
        (free,) = db.execute("pragma freelist_count").fetchone()
    assert free < 10, "no more than the note took"
    with Store.open(tmp_path / "large.wb") as copy:
        assert contents(copy) == contents(source)


def test_the_file_of_a_copy_has_no_room_that_nothing_needs(source: Store, tmp_path: Path) -> None:
    (owner,) = source.execute("select owner from series where dataset = 'series' order by rows limit 1").fetchone()
    with source.series.writer(owner) as writer:
        writer.add(samples(400_000))
        writer.publish()
    source.move_log()
    size = source.path.stat().st_size
    copy_store(source, tmp_path / "large.wb", f"folder:{tmp_path / 'samples'}")
    assert (tmp_path / "large.wb").stat().st_size < size / 2
    assert sorted(path.name for path in tmp_path.glob("large.wb*")) == ["large.wb"]
    with Store.open(tmp_path / "large.wb") as copy:
        assert contents(copy) == contents(source)
        assert copy.verify() == []


def test_a_copy_that_differs_is_refused(source: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.store.objects import copying

    moved = copying.relocate

    def changed(copy: Store, to: str, **how: object) -> int:
        done = moved(copy, to, **how)  # type: ignore[arg-type]
        with copy.transaction() as db:
            db.execute("update measurements set notes = 'changed' where rowid = 1")
        return done

    monkeypatch.setattr(copying, "relocate", changed)
    with pytest.raises(Damaged, match="the table 'measurements' differs"):
        copy_store(source, tmp_path / "large.wb", f"folder:{tmp_path / 'samples'}")


def test_a_copy_needs_a_place_of_its_own(source: Store, tmp_path: Path) -> None:
    relocate(source, "folder:samples")
    with pytest.raises(BadRequest, match="a place of its own"):
        copy_store(source, tmp_path / "other.wb", f"folder:{tmp_path / 'samples'}")
    assert not (tmp_path / "other.wb").exists()
