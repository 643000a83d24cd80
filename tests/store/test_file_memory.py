"""What is remembered of a store in a file: nothing that is not so any more is ever given."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.record_store import Lab

from workbench.errors import Damaged, StoreError
from workbench.records import Instance
from workbench.store.db import remembered
from workbench.store.db.remembered import Remembered
from workbench.store.store import Store


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Store.open(tmp_path / "lab.db") as store:
        yield Lab.of(store)


class Names:
    """Reads the name of a cell, and counts how often the store was asked for it."""

    def __init__(self, lab: Lab, id: str) -> None:
        self.lab, self.id, self.asked = lab, id, 0

    def ask(self) -> str:
        found: str = self.lab.rows.get(Instance, self.id, self.lab.scope).name
        self.asked += 1
        return found

    def known(self) -> str:
        return self.lab.store.remembered("name", self.ask)

    def read(self) -> str:
        return self.lab.store.reading(self.known)

    def at_once(self) -> str | None:
        return self.lab.store.at_once(self.known)


@pytest.fixture
def names(lab: Lab) -> Names:
    return Names(lab, lab.instance(name="cell").id)


def renamed(lab: Lab, id: str, name: str) -> None:
    lab.rows.update(Instance, id, {"name": name}, lab.scope)


def test_the_store_is_asked_once_while_it_is_as_it_was(names: Names) -> None:
    assert [names.read() for _ in range(3)] == ["cell"] * 3
    assert names.asked == 1


def test_outside_of_a_reading_nothing_is_remembered(names: Names) -> None:
    names.read()
    assert names.known() == "cell"
    assert names.asked == 2


def test_a_change_of_this_process_is_seen_next(lab: Lab, names: Names) -> None:
    for number in range(5):
        renamed(lab, names.id, f"cell {number}")
        assert names.read() == names.read() == names.at_once() == f"cell {number}"
    assert names.asked == 5


def test_a_change_of_another_connection_and_thread_is_seen_next(lab: Lab, names: Names) -> None:
    names.read()
    with Store.open(lab.store.path) as other:
        there = Lab.of(other)
        for number in range(5):
            work = threading.Thread(target=renamed, args=(there, names.id, f"cell {number}"))
            work.start()
            work.join()
            assert names.at_once() is None, "it is not known what changed"
            assert names.read() == f"cell {number}"


def test_a_change_of_another_program_is_seen_next(lab: Lab, names: Names) -> None:
    """It does not even know of the store's clock."""
    names.read()
    query = "update facts set value = value + 1 where name = 'clock'"
    program = f"import sqlite3; c = sqlite3.connect({str(lab.store.path)!r}); c.execute({query!r}); c.commit()"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert names.at_once() is None
    assert (names.read(), names.asked) == ("cell", 2)


def test_a_transaction_reads_what_it_wrote(lab: Lab, names: Names) -> None:
    names.read()

    def work() -> str:
        with lab.store.transaction():
            renamed(lab, names.id, "new")
            return names.known()

    assert lab.store.reading(work) == "new"

    def undone() -> None:
        with lab.store.transaction():
            renamed(lab, names.id, "never")
            assert names.read() == "never"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        undone()
    assert names.read() == "new"


def test_a_reading_that_writes_reads_as_ever_afterwards(lab: Lab, names: Names) -> None:
    names.read()

    def work() -> list[str]:
        before = names.known()
        renamed(lab, names.id, "new")
        return [before, names.known()]

    assert lab.store.reading(work) == ["cell", "new"]


def test_what_was_read_before_a_change_is_not_remembered_after_it(lab: Lab, names: Names) -> None:
    """Another thread changes the store while this one makes what it will remember."""

    def make() -> str:
        old = names.ask()
        work = threading.Thread(target=renamed, args=(lab, names.id, "new"))
        work.start()
        work.join()
        return old

    assert lab.store.reading(lambda: lab.store.remembered("name", make)) == "cell"
    assert names.read() == "new"


def test_inside_a_snapshot_nothing_is_remembered(lab: Lab, names: Names) -> None:
    """The snapshot may be older than the store is now."""
    with lab.store.snapshot():
        lab.rows.get(Instance, names.id, lab.scope)
        work = threading.Thread(target=renamed, args=(lab, names.id, "new"))
        work.start()
        work.join()
        assert names.read() == "cell"
    assert names.read() == "new"


def test_at_once_asks_the_store_for_nothing(lab: Lab, names: Names) -> None:
    assert names.at_once() is None, "the connection that looks is not open yet"
    names.read()
    asked = names.asked
    assert names.at_once() == "cell"
    assert lab.store.at_once(names.ask) is None
    assert lab.store.at_once(lambda: lab.store.transaction().__enter__()) is None
    assert lab.store.at_once(lambda: lab.store.snapshot().__enter__()) is None
    assert lab.store.at_once(lambda: lab.store.connection()) is None
    assert names.asked == asked
    assert names.known() == "cell", "the store can be asked again"


def test_at_once_waits_for_no_other_thread(lab: Lab, names: Names) -> None:
    names.read()
    with lab.store._connections._memory._lock:
        assert names.at_once() is None
    assert names.at_once() == "cell"


def test_an_error_at_once_is_an_error(lab: Lab, names: Names) -> None:
    names.read()
    with pytest.raises(ZeroDivisionError):
        lab.store.at_once(lambda: 1 // 0)
    assert names.known() == "cell"


def test_a_table_that_is_damaged_is_not_remembered(lab: Lab, names: Names) -> None:
    names.read()
    lab.store._connections.refuse_tables({"instances": "The cells are damaged."})
    assert names.at_once() is None
    with pytest.raises(Damaged, match="The cells are damaged"):
        names.read()


def test_a_store_that_was_moved_or_closed_is_not_remembered(lab: Lab, names: Names, tmp_path: Path) -> None:
    names.read()
    moved = lab.store.path.rename(tmp_path / "elsewhere.db")
    for read in (names.read, names.at_once):
        with pytest.raises(StoreError, match="is gone"):
            read()
    moved.rename(lab.store.path)
    assert names.read() == "cell"
    lab.store.close()
    assert names.at_once() is None
    with pytest.raises(StoreError, match="was closed"):
        names.read()


def test_the_log_is_moved_while_somebody_remembers(lab: Lab, names: Names) -> None:
    names.read()
    renamed(lab, names.id, "new")
    names.read()
    assert lab.store.move_log(), "the connection that looks holds no lock"
    assert names.read() == "new"


def test_what_is_remembered_has_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "LARGEST", 60)
    kept = Remembered(most_bytes=100)
    kept.keep("too large", "x", 61)
    for number in range(4):
        kept.keep(number, f"thing {number}", 30)
    assert [kept.get(name) for name in ("too large", 0, 1, 3)] == [None, None, "thing 1", "thing 3"]
    kept.keep(1, "again", 10)
    kept.keep("new", "thing", 20)
    assert [kept.get(name) for name in (1, 2, 3, "new")] == ["again", "thing 2", "thing 3", "thing"]
    assert kept.made("none", lambda: None) is None
    assert kept.made("none", lambda: "made", len) == "made"
    few = Remembered(most_things=2)
    for name in ("new", "none", "last"):
        few.keep(name, "thing", 1)
    assert [few.get(name) for name in ("none", "last", "new")] == ["thing", "thing", None]
