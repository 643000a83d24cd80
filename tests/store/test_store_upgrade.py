"""``upgrade``: a backup first, one process at a time, and whenever it is killed the store is old or new, never half."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, NamedTuple

import next_formats
import pytest
from next_formats import COLOUR, SHADE, TODAY, first_store, format_of

from workbench import living_process
from workbench.errors import Damaged, NotFound, StoreError, StoreNotice, StoreTooNew
from workbench.records import Project
from workbench.store import Scope, Store, migrations
from workbench.store.db import lease, upgrade_command
from workbench.store.db.database_file import Host

HERE = Path(__file__).parent
PROGRAM = """
import os, signal, sqlite3, sys
from pathlib import Path
import pytest
import next_formats
from workbench import living_process
from workbench.errors import StoreError
from workbench.store import Store
from workbench.store.db import upgrade_command

path, folder, kill_at = Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
seen = 0

def count(*_):
    global seen
    seen += 1
    if seen == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)

connect = sqlite3.connect

def counting(*given, **options):
    connection = connect(*given, **options)
    connection.set_trace_callback(count)
    return connection

next_formats.install(pytest.MonkeyPatch(), folder, shade=sys.argv[1] != "open")
print("ready", flush=True)
sys.stdin.readline()
sqlite3.connect = counting
try:
    if sys.argv[1] == "open":
        Store.open(path).close()
    else:
        upgrade_command.upgrade(path, backup=sys.argv[1] == "upgrade", progress=count)
except StoreError as error:
    print(error)
print(seen)
"""


class Told(NamedTuple):
    """How a process ended and what it printed."""

    code: int
    said: str


def started(what: str, path: Path, folder: Path, kill_at: int = 0) -> subprocess.Popen[str]:
    """A process of a version with both next formats, which waits for a line before it begins."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, what, str(path), str(folder), str(kill_at)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE)])},
    )
    assert pipe(process.stdout).readline() == "ready\n"
    return process


def ended(process: subprocess.Popen[str]) -> Told:
    said, _ = process.communicate("go\n", timeout=120)
    return Told(process.returncode, said)


def pipe(found: IO[str] | None) -> IO[str]:
    assert found is not None
    return found


def cells(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("select id, name, updated_at, properties from instances order by id").fetchall()


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """This process is of a version with both next formats; the folder of their files."""
    next_formats.install(monkeypatch, tmp_path / "more", shade=True)
    return tmp_path / "more"


# What it does


def test_an_upgrade_copies_the_store_first_and_makes_it_new(tmp_path: Path, newer: Path) -> None:
    path, heard = first_store(tmp_path), []
    before = cells(path)
    planned = upgrade_command.plan(path)
    assert (planned.format, planned.to, planned.backup) == (1, SHADE, tmp_path / "lab.format-1.db")
    assert planned.steps[-2:] == ("Cells have a colour.", "Every cell has a shade.")
    assert format_of(path) == 1
    done = upgrade_command.upgrade(path, progress=lambda *told: heard.append(told))
    assert done.backup == planned.backup
    assert (format_of(path), format_of(planned.backup)) == (SHADE, 1)
    assert cells(path) == before == cells(planned.backup)
    assert [place for place, *_ in heard] == sorted(place for place, *_ in heard)
    assert heard[-1][0] == heard[-1][1]
    with Store.open(path) as store:
        assert store.verify() == []
        owner = store.rows.organizations()[0]
        scopes = [Scope(owner.id, one.id) for one in store.rows.page(Project, Scope(owner.id, None)).items]
        found = [cell for scope in scopes for cell in store.rows.page("instances", scope, limit=None).items]
        assert found
        assert all(cell.shade == cell.name.lower() for cell in found)
    assert upgrade_command.upgrade(path).is_nothing
    assert upgrade_command.plan(path).is_nothing


def test_without_a_backup_there_is_none(tmp_path: Path, newer: Path) -> None:
    path = first_store(tmp_path)
    assert upgrade_command.upgrade(path, backup=False).backup is None
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("lab.format")] == []
    assert format_of(path) == SHADE


def test_a_backup_overwrites_no_file(tmp_path: Path, newer: Path) -> None:
    path = first_store(tmp_path)
    (tmp_path / "lab.format-1.db").write_text("mine")
    assert upgrade_command.upgrade(path).backup == tmp_path / "lab.format-1-2.db"
    assert (tmp_path / "lab.format-1.db").read_text() == "mine"


def test_what_cannot_be_upgraded_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no store at"):
        upgrade_command.upgrade(tmp_path / "gone.db")
    (tmp_path / "text.db").write_text("Time,Voltage\n" * 1000)
    with pytest.raises(StoreError, match=r"text\.db"):
        upgrade_command.upgrade(tmp_path / "text.db")
    path = tmp_path / "lab.db"
    with pytest.MonkeyPatch.context() as newer:
        next_formats.install(newer, tmp_path / "more", shade=True)
        Store.open(path).close()
    with pytest.raises(StoreTooNew):
        upgrade_command.upgrade(path)


# What can go wrong


def test_without_room_nothing_is_begun(tmp_path: Path, newer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = first_store(tmp_path)
    size = path.stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda place: shutil._ntuple_diskusage(10**9, 0, size * 3 // 2))
    with pytest.raises(StoreError, match=r"needs .* GB .* are free. Make room .*--no-backup"):
        upgrade_command.upgrade(path)
    assert format_of(path) == 1
    assert sorted(one.name for one in tmp_path.glob("lab*.db")) == ["lab.db"]
    assert upgrade_command.upgrade(path, backup=False).backup is None
    assert format_of(path) == SHADE


def test_on_a_full_disk_no_upgrade_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite began, and then had no room for the file beside the store without which it cannot even read."""
    path = tmp_path / "lab.db"
    shutil.copy(HERE.parent / "stores" / "store-0.1.0.db", path)
    before = path.read_bytes()
    monkeypatch.setattr(shutil, "disk_usage", lambda place: shutil._ntuple_diskusage(10**9, 10**9, 20_000))
    with pytest.raises(
        StoreError, match=r"its disk has 20 KB free, and at least 262 KB are needed\. Nothing was changed"
    ):
        upgrade_command.upgrade(path)
    with pytest.warns(StoreNotice) as told, Store.open(path) as store:
        assert store.rows.organizations()
    (notice,) = told
    assert "Until then it can be read here, not changed" in str(notice.message)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["lab.db"]


FULL = """
import resource, sqlite3, sys, warnings
from pathlib import Path
from workbench import living_process
from workbench.errors import StoreError, StoreNotice
from workbench.store import Store
from workbench.store.db import upgrade_command
path = Path(sys.argv[1])
# A log that cannot be moved into the file, and is longer than any file may be from now on.
reader, writer = sqlite3.connect(path, isolation_level=None), sqlite3.connect(path, isolation_level=None)
reader.execute("pragma journal_mode = wal")
reader.execute("begin")
reader.execute("select count(*) from facts").fetchone()
writer.execute("create table ballast (a)")
writer.execute("insert into ballast values (zeroblob(100000))")
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
try:
    upgrade_command.upgrade(path)
except StoreError as error:
    print(error)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always", StoreNotice)
    with Store.open(path) as store:
        print(len(store.rows.organizations()), store.verify())
print(told[-1].message)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
reader.close()
writer.close()
print(upgrade_command.upgrade(path).to)
"""


def test_a_full_disk_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = first_store(tmp_path)
    before = cells(path)
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    refused, read, notice, last = done.stdout.splitlines()
    assert "could not be written" in refused
    assert read.endswith("[]")
    assert "Until then it can be read here" in notice
    assert last == str(TODAY)
    assert cells(path) == before


READ_ONLY = """
import os, sys, warnings
from pathlib import Path
from workbench import living_process
from workbench.errors import StoreError, StoreNotice
from workbench.store import Store
from workbench.store.db import upgrade_command
path = Path(sys.argv[1])
Store.open(sys.argv[2]).close()
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always", StoreNotice)
    with Store.open(path) as store:
        print(len(store.rows.organizations()), store.verify())
        try:
            store.rows.organizations()
            with store.transaction():
                pass
        except StoreError as error:
            print(error)
print(told[-1].message)
try:
    upgrade_command.upgrade(path)
except StoreError as error:
    print(error)
"""


@pytest.fixture
def folder_of_others() -> Iterator[Path]:
    """A folder that nobody may write, beside those of pytest, which only their owner may enter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first_store(folder).chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_where_nothing_may_be_written_an_older_store_is_read(folder_of_others: Path, tmp_path: Path) -> None:
    path = folder_of_others / "lab.db"
    before = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(path), str(tmp_path / "scratch.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    read, refused, notice, upgrade = done.stdout.splitlines()
    assert read.endswith("[]")
    assert "opened to read only" in refused
    assert "can be read here" in notice
    assert "no right to write" in upgrade
    assert path.read_bytes() == before


def test_a_step_that_loses_a_link_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = first_store(tmp_path)
    before = cells(path)
    step = migrations.Migration(
        COLOUR, "lost", "9", "Loses cells.", run=lambda db: db.execute("delete from instances") and None
    )
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, step))
    monkeypatch.setattr(migrations, "FORMAT", COLOUR)
    with pytest.raises(Damaged, match="refers to one of 'instances' that is not there"):
        upgrade_command.upgrade(path, backup=False)
    assert cells(path) == before
    assert format_of(path) == TODAY


# Several at once


def test_two_that_open_an_older_store_at_once_both_get_it(tmp_path: Path, newer: Path) -> None:
    path = first_store(tmp_path)
    processes = [started("open", path, tmp_path / f"more-{n}") for n in range(2)]
    for process in processes:  # both begin before the end of any is waited for
        pipe(process.stdin).write("go\n")
        pipe(process.stdin).flush()
    found = [ended(process) for process in processes]
    assert [code for code, _ in found] == [0, 0], found
    assert all(said.strip().isdigit() for _, said in found), found
    assert format_of(path) == COLOUR
    with closing(sqlite3.connect(path)) as db:
        steps = db.execute("select migration_set, name from _sqlite_migrations").fetchall()
    assert len(steps) == len(set(steps))


def test_only_one_upgrades_at_a_time(tmp_path: Path, newer: Path) -> None:
    path = first_store(tmp_path)
    met: list[str] = []

    def meanwhile(done: int, of: int, what: str) -> None:
        if not met:
            met.append(ended(started("upgrade", path, tmp_path / "other")).said)

    upgrade_command.upgrade(path, progress=meanwhile)
    assert "is being upgraded by another process" in met[0]
    assert format_of(path) == SHADE


def test_who_opens_the_store_during_an_upgrade_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_formats.install(monkeypatch, tmp_path / "more")  # only the one that adds
    path = first_store(tmp_path)
    met: list[Told] = []

    def meanwhile(done: int, of: int, what: str) -> None:
        if not met:
            met.append(ended(started("open", path, tmp_path / "other")))

    upgrade_command.upgrade(path, progress=meanwhile)
    assert met[0].code == 0
    assert format_of(path) == COLOUR
    with Store.open(path) as store:
        assert store.verify() == []


def test_who_upgraded_and_is_gone_is_not_waited_for(
    tmp_path: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = first_store(tmp_path)
    killed = started("upgrade", path, tmp_path / "other", 120)
    assert ended(killed).code == -signal.SIGKILL
    assert not lease.is_held("[]", 0)
    for ending in ("", "-journal"):
        (tmp_path / f"lab.format-1.db.0123abcd.partial{ending}").write_bytes(b"x")
    upgrade_command.upgrade(path)
    assert format_of(path) == SHADE
    assert list(tmp_path.glob("*.partial*")) == []


def test_who_upgraded_when_the_power_was_cut_is_not_waited_for(
    tmp_path: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = first_store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(living_process, "start_of_machine", lambda: "before the power was cut")
        noted = upgrade_command._Begun(lease.take(), time.time_ns() // 1000, None)
    with Host(path) as store, store.transaction() as db:
        upgrade_command._note(db, noted)
    upgrade_command.upgrade(path)
    assert format_of(path) == SHADE


# Killed at any moment


def test_an_upgrade_that_is_killed_leaves_the_store_old_or_new(tmp_path: Path, newer: Path, long: bool) -> None:
    whole = ended(started("upgrade", first_store(tmp_path), tmp_path / "other"))
    statements = int(whole.said)
    assert statements > 200
    rng = random.Random(11)
    reached = set()
    for n in range(30 if long else 3):
        folder = tmp_path / f"round-{n}"
        folder.mkdir()
        path = first_store(folder)
        before = cells(path)
        # Where the store itself is changed, there are fewer statements than where tables are looked at.
        kill_at = rng.randrange(statements // 4, statements) if n else statements // 2
        assert ended(started("upgrade", path, tmp_path / "other", kill_at)).code == -signal.SIGKILL
        reached.add(format_of(path))
        assert cells(path) == before
        planned = upgrade_command.plan(path)  # looks at the tables of the format that it has now
        assert (planned.format, planned.to) == (format_of(path), SHADE)
        assert upgrade_command.upgrade(path).to == SHADE
        assert cells(path) == before
        assert list(folder.glob("*.partial*")) == []
        copies = list(folder.glob("lab.format-*.db"))
        assert [format_of(copy) for copy in copies] == [1]
        with Store.open(path) as store:
            assert store.verify() == []
    assert len(reached) > 1


def test_opening_that_is_killed_while_it_adds_leaves_the_store_old_or_new(tmp_path: Path, long: bool) -> None:
    whole = ended(started("open", first_store(tmp_path), tmp_path / "more"))
    statements = int(whole.said)
    rng = random.Random(5)
    for n in range(30 if long else 3):
        folder = tmp_path / f"round-{n}"
        folder.mkdir()
        path = first_store(folder)
        before = cells(path)
        kill_at = rng.randrange(1, statements)
        assert ended(started("open", path, tmp_path / "more", kill_at)).code == -signal.SIGKILL
        assert format_of(path) in (1, COLOUR)
        if format_of(path) == 1:
            with pytest.warns(StoreNotice):
                Store.open(path).close()
        with Store.open(path) as store:
            assert store.verify() == []
        assert cells(path) == before
