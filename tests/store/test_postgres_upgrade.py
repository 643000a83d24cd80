"""``upgrade`` of a store on PostgreSQL by a step that changes what is there: PostgreSQL makes the backup, one process
works at a time, and whenever it is killed the store is old or new, never half."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import next_formats
import pytest
from next_formats import COLOUR, SHADE, TODAY
from support.postgres import server
from support.record_store import Lab

from workbench.errors import BadRequest, NotFound, StoreError, StoreTooNew, StoreTooOld
from workbench.store.db import upgrade_command
from workbench.store.postgres import schema
from workbench.store.postgres.database import Database
from workbench.store.postgres.raw_connection import RawConnection
from workbench.store.store import Store

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork"),
]
CELLS = ["A", "b", "Unit 3", "d", "E"]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def old_store() -> str:
    """The address of a store of today's format, with some cells."""
    address: str = server().address()
    lab = Lab.of(Store.open(address))
    spec = lab.specification(name="S")
    for name in CELLS:
        lab.instance(spec, name=name)
    lab.store.close()
    return address


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes this process one of a version with both next formats."""

    def become() -> None:
        next_formats.install(monkeypatch, tmp_path / "more", shade=True)
        schema.shapes.cache_clear()

    return become


@pytest.fixture(autouse=True)
def _shapes_of_today() -> Iterator[None]:
    yield
    schema.shapes.cache_clear()


def format_of(address: str) -> int:
    store = Database(address)
    try:
        return store.state().format.number
    finally:
        store.connections.close()


def names(address: str) -> list[tuple[str, ...]]:
    """The cells as they are in the table."""
    store = Database(address)
    try:
        with store.connections.snapshot() as db:
            return db.execute("select name, created_at, properties from instances order by id").fetchall()
    finally:
        store.connections.close()


def killed(address: str, at: int) -> bool:
    """Upgrade in a process that dies at its statement with this number; whether it did."""
    child = os.fork()
    if not child:  # it must not return to pytest
        try:
            seen = 0
            for name in ("ask", "run"):
                own = getattr(RawConnection, name)

                def counted(self: RawConnection, *given: object, own: Callable[..., object] = own) -> object:
                    nonlocal seen
                    seen += 1
                    if seen == at:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return own(self, *given)

                setattr(RawConnection, name, counted)
            upgrade_command.upgrade(address, backup=False)
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


def test_an_upgrade_asks_for_a_backup_and_then_makes_the_store_new(newer: Callable[[], None]) -> None:
    address = old_store()
    before = names(address)
    newer()
    with pytest.raises(StoreTooOld, match=r"back it up by pg_dump, and run 'workbench upgrade --store"):
        Store.open(address)
    planned = upgrade_command.plan(address)
    assert (planned.format, planned.to, planned.backup) == (TODAY, SHADE, None)
    assert planned.steps == ("Cells have a colour.", "Every cell has a shade.")
    with pytest.raises(BadRequest, match=r"pg_dump --format=custom .* 'workbench upgrade --no-backup --store"):
        upgrade_command.upgrade(address)
    assert format_of(address) == TODAY
    heard: list[tuple[int, int, str]] = []
    upgrade_command.upgrade(address, backup=False, progress=lambda *told: heard.append(told))
    assert heard == [(0, 2, planned.steps[0]), (1, 2, planned.steps[1]), (2, 2, "")]
    assert names(address) == before
    with Store.open(address) as store:
        assert store.verify() == []
        lab = Lab.of(store)
        cells = store.rows.page("instances", lab.scope, limit=None).items
        assert {one.name: one.shade for one in cells} == {name: name.lower() for name in CELLS}
    assert upgrade_command.upgrade(address).is_nothing


def test_a_process_of_the_older_version_writes_no_more(newer: Callable[[], None]) -> None:
    address = old_store()
    with Store.open(address) as older:
        lab = Lab.of(older)
        assert upgraded_elsewhere(address, newer) == 0
        with pytest.raises(StoreTooNew):
            lab.make("studies", name="late")


def upgraded_elsewhere(address: str, newer: Callable[[], None]) -> int:
    child = os.fork()
    if not child:
        try:
            newer()
            upgrade_command.upgrade(address, backup=False)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_only_one_upgrades_at_a_time(newer: Callable[[], None]) -> None:
    address = old_store()
    newer()
    met: list[str] = []

    def meanwhile(done: int, of: int, what: str) -> None:
        if not met:
            with pytest.raises(StoreError, match="is being upgraded by another process") as refused:
                upgrade_command.upgrade(address, backup=False)
            met.append(str(refused.value))

    upgrade_command.upgrade(address, backup=False, progress=meanwhile)
    assert met
    assert format_of(address) == SHADE


def test_an_upgrade_that_is_killed_leaves_the_store_old_or_new_and_goes_on(
    newer: Callable[[], None], long: bool
) -> None:
    address = old_store()
    before = names(address)
    newer()
    at, formats = 1, set()
    step = random.Random(7)
    while killed(address, at):
        formats.add(format_of(address))
        assert names(address) == before
        at += 1 if long else step.randint(4, 9)
    # The step that makes the last format is the last statement, so no kill comes after it.
    assert {TODAY, COLOUR} <= formats or not long
    assert TODAY in formats
    assert format_of(address) == SHADE
    with Store.open(address) as store:
        assert store.verify() == []
        assert not [*store.execute("select tablename from pg_tables where tablename = 'shades'")]


def test_where_there_is_no_store_it_says_so() -> None:
    with pytest.raises(NotFound, match="There is no store at"):
        upgrade_command.plan(server().address())


def test_a_step_that_only_adds_needs_no_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = old_store()
    next_formats.install(monkeypatch, tmp_path / "more")
    schema.shapes.cache_clear()
    assert upgrade_command.upgrade(address).steps == ("Cells have a colour.",)
    with Store.open(address) as store:
        assert store.verify() == []
