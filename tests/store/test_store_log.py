"""The log beside a store: a copy without it, or with another one, is refused in words and never opens as if it were
whole; and two benches in one process do not lose it."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.errors import Damaged, StoreError
from workbench.store.db import log_mover, main_file
from workbench.store.db.backup import backup_without_log
from workbench.store.db.connections import Connections
from workbench.store.objects.backup import backup
from workbench.store.objects.relocate import relocate
from workbench.store.store import Store

ADD = """
import sys, os, signal
import workbench as wb
bench = wb.open(sys.argv[1])
for name in sys.argv[3:]:
    bench.dashboards.create(name)
print("written", flush=True)
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "closed":
    bench.close()
if sys.argv[2] == "waits":
    sys.stdin.read()
"""

MOVE = """
import sys
from workbench.store import Store
from workbench.store.db import connections
connections.LOG_PAGES = 3
store = Store.open(sys.argv[1])
print("ready", flush=True)
while True:
    with store.transaction() as db:
        clock = store.tick(db)
    print(clock, flush=True)
"""


def add(path: Path, end: str, *names: str) -> None:
    """Add dashboards in another process, which ends in this way."""
    subprocess.run([sys.executable, "-c", ADD, str(path), end, *names], check=False, stdout=subprocess.DEVNULL)


def names(path: Path) -> list[str]:
    with wb.open(path) as bench:
        return sorted(bench.dashboards.list()["name"])


@pytest.fixture(autouse=True)
def late_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is moved when a test says so."""
    monkeypatch.setattr(log_mover, "IDLE_SECONDS", 3600.0)


def test_a_copy_without_the_log_is_refused_and_what_is_there_can_be_taken(tmp_path: Path) -> None:
    path, copy = tmp_path / "lab.db", tmp_path / "copy.db"
    add(path, "closed", "first")
    with wb.open(path) as bench:
        bench.dashboards.create("second")
        shutil.copy(path, copy)
    with pytest.raises(
        StoreError, match=r"lacks its last changes.*'copy\.db-wal' is not beside it.*--without-log"
    ):
        wb.open(copy)
    backup_without_log(copy, tmp_path / "rest.db")
    assert names(tmp_path / "rest.db") == ["first"]
    assert names(path) == ["first", "second"]


def test_the_command_takes_what_is_there(tmp_path: Path) -> None:
    path, copy = tmp_path / "lab.db", tmp_path / "copy.db"
    add(path, "closed", "first")
    add(path, "killed", "second")
    shutil.copy(path, copy)
    words = [sys.executable, "-m", "workbench", "backup", str(tmp_path / "rest.db"), "--store", str(copy)]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "--without-log" in refused.stderr
    taken = subprocess.run([*words, "--without-log"], capture_output=True, text=True)
    assert taken.returncode == 0, taken.stderr
    assert "missing" in taken.stderr
    assert names(tmp_path / "rest.db") == ["first"]


def test_a_store_that_was_killed_opens_with_its_log(tmp_path: Path) -> None:
    path, copy = tmp_path / "lab.db", tmp_path / "copy.db"
    add(path, "killed", "first")
    assert main_file.log_number(path) is not None
    for ending in ("", "-wal"):
        shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    assert names(path) == names(copy) == ["first"]
    path.with_name("lab.db-wal").unlink(missing_ok=True)
    assert names(path) == ["first"], "closed, so the log was in the file"


@pytest.mark.long
def test_a_log_of_another_time_is_refused(tmp_path: Path) -> None:
    path, old = tmp_path / "lab.db", tmp_path / "old-wal"
    add(path, "killed", "first")
    shutil.copy(tmp_path / "lab.db-wal", old)
    add(path, "closed", "second")
    add(path, "killed", "third")
    shutil.copy(old, tmp_path / "lab.db-wal")
    (tmp_path / "lab.db-shm").unlink()
    with pytest.raises(StoreError, match=r"'lab\.db-wal' beside it is of another time"):
        wb.open(path)


def test_an_old_log_beside_a_closed_store_is_refused(tmp_path: Path) -> None:
    path, old = tmp_path / "lab.db", tmp_path / "old-wal"
    add(path, "killed", "first")
    shutil.copy(tmp_path / "lab.db-wal", old)
    add(path, "closed", "second")
    shutil.copy(old, tmp_path / "lab.db-wal")
    before = path.read_bytes()
    with pytest.raises(Damaged, match="newer than the log beside it"):
        Store.open(path, read_only=True)
    assert path.read_bytes() == before
    (tmp_path / "lab.db-wal").unlink()
    (tmp_path / "lab.db-shm").unlink(missing_ok=True)
    assert names(path) == ["first", "second"]


@pytest.mark.parametrize(("mine", "theirs"), [(1, 1), (1, 40), (40, 1)])
def test_a_copied_file_is_not_mixed_with_the_log_of_another_store(tmp_path: Path, mine: int, theirs: int) -> None:
    """A plain copy of a closed store, put where another store was whose programs were killed."""
    path, other = tmp_path / "lab.db", tmp_path / "other.db"
    add(path, "closed", *(f"mine {n}" for n in range(mine)))
    add(other, "killed", *(f"theirs {n}" for n in range(theirs)))
    left = main_file.log_of(other).read_bytes()
    shutil.copy(path, other)
    before = other.read_bytes()
    with pytest.raises(Damaged, match=r"'other\.db-wal' beside the store .* is of another file"):
        Store.open(other)
    assert other.read_bytes() == before
    assert main_file.log_of(other).read_bytes() == left
    main_file.log_of(other).unlink()
    (tmp_path / "other.db-shm").unlink(missing_ok=True)
    assert names(other) == sorted(f"mine {n}" for n in range(mine))


@pytest.mark.parametrize("changes", [1, 3])
@pytest.mark.parametrize("in_one_file", [False, True])
def test_a_backup_in_the_place_of_a_store_is_not_mixed_with_its_log(
    tmp_path: Path, in_one_file: bool, changes: int
) -> None:
    """Its programs were killed, or still run: SQLite would write the pages of their log over those of the backup."""
    path, copy = tmp_path / "lab.db", tmp_path / "copy.db"
    log = main_file.log_of(path)
    with Store.open(path) as store:
        if in_one_file:
            relocate(store, "folder:samples")
        backup(store, copy, "file" if in_one_file else None)
        store.move_log()
        for _ in range(changes):
            with store.transaction() as db:
                store.tick(db)
        left = log.read_bytes()
    path.unlink()
    copy.rename(path)
    log.write_bytes(left)
    before = path.read_bytes()
    with pytest.raises(
        Damaged, match=r"'lab\.db-wal' beside the store .* is of another file, whose place this one took"
    ):
        Store.open(path)
    assert path.read_bytes() == before
    assert log.read_bytes() == left
    log.unlink()
    for _ in range(2):
        with Store.open(path) as store:
            assert store.verify() == []
            with store.transaction() as db:
                store.tick(db)


def test_a_backup_whose_first_change_was_killed_before_its_note_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, place = tmp_path / "lab.db", tmp_path / "killed" / "lab.db"
    place.parent.mkdir()
    with Store.open(tmp_path / "first.db") as store:
        store.backup(path)
    with Store.open(path) as store:
        monkeypatch.setattr(main_file.MainFile, "keep_note", lambda self: None)
        with store.transaction() as db:
            clock = store.tick(db)
        for name in ("lab.db", "lab.db-wal"):
            shutil.copy(tmp_path / name, place.parent / name)
        monkeypatch.undo()
    with Store.open(place) as killed:
        assert killed.latest() == clock
        assert killed.verify() == []


@pytest.mark.parametrize("end", ["closed", "exits", "killed"])
def test_however_a_process_ends_the_store_opens(tmp_path: Path, end: str, long: bool) -> None:
    path = tmp_path / "lab.db"
    for turn in range(3 if long else 2):
        add(path, end, f"board {turn}")
        assert len(names(path)) == turn + 1
    if end != "killed":
        copy = tmp_path / "copy.db"
        shutil.copy(path, copy)
        assert names(copy) == names(path), "nothing is left in a log"


def test_a_program_that_knows_no_notes_may_move_the_log(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    add(path, "killed", "first")
    with closing(sqlite3.connect(path)) as other:
        other.execute("select count(*) from facts").fetchone()
    assert not (tmp_path / "lab.db-wal").exists()
    assert names(path) == ["first"]


def test_a_log_that_another_moved_before_its_note_does_not_refuse_the_closed_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program moves the whole log just after a commit; the note of that log is written after it."""
    path, keep_note = tmp_path / "lab.db", main_file.MainFile.keep_note

    def moved_before(self: main_file.MainFile) -> None:
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("pragma wal_checkpoint(passive)").fetchone()[0] == 0
        keep_note(self)

    with wb.open(path) as bench:
        bench.dashboards.create("first")
        monkeypatch.setattr(main_file.MainFile, "keep_note", moved_before)
        bench.dashboards.create("second")
        monkeypatch.undo()
        assert main_file.is_noted(path)
    assert names(path) == ["first", "second"]


@pytest.mark.long
@pytest.mark.parametrize("where", ["thread", "process"])
def test_nobody_moves_the_log_between_a_commit_and_its_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Else the note would be of a log that is in the file already, and of another one than the next commit begins."""
    path, keep_note = tmp_path / "lab.db", main_file.MainFile.keep_note
    move = "import sys; from workbench.store import Store; print(Store.open(sys.argv[1]).move_log(), flush=True)"
    ended: list[bool] = []

    def waited(self: main_file.MainFile) -> None:
        monkeypatch.undo()
        mover = threading.Thread(target=work)
        mover.start()
        mover.join(2.0 if where == "process" else 0.3)
        ended.append(not mover.is_alive())
        movers.append(mover)
        keep_note(self)

    def work() -> None:
        if where == "thread":
            assert other.move_log()
        else:
            subprocess.run([sys.executable, "-c", move, str(path)], check=True, stdout=subprocess.DEVNULL)

    movers: list[threading.Thread] = []
    with Store.open(path) as store, Store.open(path) as other:
        monkeypatch.setattr(main_file.MainFile, "keep_note", waited)
        with store.transaction() as db:
            store.tick(db)
        movers[0].join(30)
        assert ended == [False]
        assert not main_file.is_noted(path), "moved after the note"


@pytest.mark.skipif(sys.platform != "linux", reason="locks of a descriptor are Linux's")
def test_a_forked_process_waits_for_the_note_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        main = main_file.MainFile(path)
        with main.noting():
            child = os.fork()
            if not child:
                free = main_file._lock(main._descriptor.number, main_file._NOTING_AT, 1, "write")
                main_file._lock(main._descriptor.number, main_file._NOTING_AT, 1, "none")
                os._exit(free)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child waits"
            held = "import sys; from workbench.store.db import main_file as m; from pathlib import Path; "
            look = "print(m._lock(m.MainFile(Path(sys.argv[1]))._descriptor.number, m._NOTING_AT, 1, 'write'))"
            words = [sys.executable, "-c", held + look, str(path)]
            assert subprocess.run(words, capture_output=True, text=True).stdout == "False\n", "still the parent's"
        main.close()
        with store.transaction() as db:
            store.tick(db)


@pytest.mark.long
def test_writers_that_are_killed_while_the_log_is_moved_leave_a_store_that_opens(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    names(path)
    rng = np.random.default_rng(1)
    for turn in range(60):
        writers = [
            subprocess.Popen([sys.executable, "-c", MOVE, str(path)], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for process in writers:
            assert process.stdout is not None
            process.stdout.readline()
        time.sleep(float(rng.uniform(0, 0.2)))  # any moment
        for process in writers:
            process.kill()
        said = 0
        for process in writers:
            assert process.stdout is not None
            said = max([said, *(int(line) for line in process.stdout.read().split() if line.isdigit())])
            process.stdout.close()
            process.wait()
        with Store.open(path) as store:
            (clock,) = store.connection().execute("select value from facts where name = 'clock'").fetchone()
            assert clock >= said, f"turn {turn}"


def test_a_file_alone_is_whole_after_creation_ingest_and_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.db"
    csv = tmp_path / "cell.csv"
    rows = "".join(f"{t},{3.7 - t * 1e-3},{1.0}\n" for t in range(100))
    csv.write_text(f"Time [s],Voltage [V],Current [A]\n{rows}")
    copies = iter(range(100))

    def copied() -> Path:
        return Path(shutil.copy(path, tmp_path / f"copy-{next(copies)}.db"))

    with Store.open(path):
        assert Store.open(copied()).verify() == []
    with wb.open(path) as bench:
        assert bench.ingest(csv, sign="discharge").stored
        with wb.open(copied()) as copy:
            assert list(copy.measurements.list()["name"]) == ["cell"]


def test_a_moment_after_the_last_write_the_file_alone_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_mover, "IDLE_SECONDS", 0.05)
    moved = threading.Event()
    move = Connections.move_log

    def seen(self: Connections) -> bool:
        done = move(self)
        if done:
            moved.set()
        return done

    monkeypatch.setattr(Connections, "move_log", seen)
    path = tmp_path / "lab.db"
    with wb.open(path) as bench:
        bench.dashboards.create("first")
        while main_file.is_noted(path):
            moved.clear()
            assert moved.wait(20) or not main_file.is_noted(path)
        shutil.copy(path, tmp_path / "copy.db")
        assert names(tmp_path / "copy.db") == ["first"]


def test_a_reader_does_not_hold_the_move_up_for_writers(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        with store.transaction() as db:
            store.tick(db)
        with Store.open(tmp_path / "lab.db") as other, other.snapshot() as seen:
            seen.execute("select count(*) from facts").fetchone()
            with store.transaction() as db:
                store.tick(db)
            assert not store.move_log()
        assert store.move_log()
        assert not main_file.is_noted(store.path)


def test_two_benches_in_one_process_do_not_lose_their_log_to_another_process(tmp_path: Path) -> None:
    """POSIX drops the locks of a process on a file when the process closes any descriptor of it. To open a store a
    second time looked at its first bytes, and then another process took itself for the last one."""
    path = tmp_path / "lab.db"
    with wb.open(path) as bench:
        bench.dashboards.create("first")
        with wb.open(path) as again:
            assert len(again.dashboards.list()) == 1
        add(path, "closed")  # opens and closes the store
        assert (tmp_path / "lab.db-wal").exists(), "the log of an open store was deleted"
        bench.dashboards.create("second")
        add(path, "closed", "third")
        assert names(path) == ["first", "second", "third"]
    assert names(path) == ["first", "second", "third"]


def test_code_of_others_that_copies_an_open_store_does_not_lose_its_log(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux has locks of a descriptor")
    path = tmp_path / "lab.db"
    with wb.open(path) as bench:
        bench.dashboards.create("first")
        path.read_bytes()
        add(path, "closed")
        assert (tmp_path / "lab.db-wal").exists(), "the log of an open store was deleted"
        bench.dashboards.create("second")
        assert names(path) == ["first", "second"]
    assert not (tmp_path / "lab.db-wal").exists(), "the last one moves the log"


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not list descriptors")
    Store.open(tmp_path / "0.db").close()
    before = count()
    for turn in range(20):
        Store.open(tmp_path / f"{turn}.db").close()
    assert count() <= before + 1


@pytest.mark.long
def test_a_killed_writer_with_others_at_work_leaves_a_store_that_opens(tmp_path: Path, long: bool) -> None:
    path = tmp_path / "lab.db"
    add(path, "closed", "first")
    known = {"first"}
    for turn in range(30 if long else 2):
        words = [sys.executable, "-c", ADD, str(path), "waits", f"a{turn}", f"b{turn}"]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with wb.open(path) as bench:
            bench.dashboards.create(f"c{turn}")
            bench.backend.store.move_log()
            assert process.stdout is not None
            assert process.stdin is not None
            process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdin.close()
            process.stdout.close()
        known |= {f"a{turn}", f"b{turn}", f"c{turn}"}
        assert set(names(path)) == known
