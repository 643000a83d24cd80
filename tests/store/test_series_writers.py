"""Many at once, and writers that die: old or new, never a mix; nothing half is visible; nothing is left over."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from workbench import living_process
from workbench.errors import StoreError
from workbench.store import Store, Transaction
from workbench.store.db import connections, lease
from workbench.store.scope import EVERYTHING
from workbench.store.series import series as series_module
from workbench.store.series.chunk_builder import Builder
from workbench.store.series.reading import Reading
from workbench.table import Table

WRITER = """
import sys, numpy as np
from workbench.store import Store
from workbench.table import Table
path, begin = sys.argv[1], int(sys.argv[2])
store = Store.open(path)
for k in range(begin, begin + 10_000):
    rng = np.random.default_rng(k)
    table = Table.of({"k": np.full(70_000, float(k)), "noise": rng.normal(size=70_000)})
    with store.series.writer(f"m{k % 5}") as writer:
        for _ in range(10):
            writer.add(table)
        writer.publish()
    if k % 3 == 0:
        store.series.append(f"g{k % 2}", "series", table.slice(0, 20_000))
    print(k, flush=True)
"""


def constant(value: float, n: int) -> Table:
    return Table.of({"k": np.full(n, value), "t": np.arange(n) * 1.0})


def test_a_reader_sees_the_old_or_the_new_series(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    store.series.append("a", "series", constant(0, 40_000))
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            table = store.series.read("a", scope=EVERYTHING)
            got = store.series.sample("a", "t", ["k"], most=50, scope=EVERYTHING)
            k = table["k"].values
            if not (k == k[0]).all() or table.n != 40_000 + int(k[0]) or len(set(got.table["k"].tolist())) != 1:
                wrong.append(table.n)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for k in range(1, 25):
        with store.series.writer("a") as writer:
            writer.add(constant(k, 40_000 + k))
            writer.publish()
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert store.series.verify() == []


def test_a_snapshot_holds_still(tmp_path: Path) -> None:
    store, other = Store.open(tmp_path / "s.wb"), Store.open(tmp_path / "s.wb")
    store.series.append("a", "series", constant(1, 30_000))
    with store.snapshot():
        before = store.revisions(["measurements"], [("a", "series")])
        other.series.append("a", "series", constant(1, 5))
        with other.transaction() as connection:
            other.bump(connection, "measurements")
        assert store.revisions(["measurements"], [("a", "series")]) == before
        assert store.series.read("a", scope=EVERYTHING).n == 30_000
    assert store.revisions(["measurements"], [("a", "series")]) != before
    assert store.series.read("a", scope=EVERYTHING).n == 30_005


def test_appends_from_many_threads_all_arrive(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    store.series.append("a", "series", constant(-1, 1))
    errors: list[Exception] = []

    def grow(value: int) -> None:
        try:
            for _ in range(5):
                store.series.append("a", "series", constant(value, 100))
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=grow, args=(value,)) for value in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    values, counts = np.unique(store.series.read("a", scope=EVERYTHING)["k"].values, return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {-1: 1, 0: 500, 1: 500, 2: 500}


def test_an_append_arrives_however_often_others_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(tmp_path / "s.wb")
    store.series.append("a", "series", constant(0, 10))
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0)
    other = Store.open(tmp_path / "s.wb")
    other.series.append("b", "series", constant(0, 1))
    resumed, first = store.series._resumed, []

    def interrupted(reading: Reading) -> Builder:
        with suppress(StoreError):  # the store is busy: this append holds it by now
            other.series.append("a", "series", constant(1, 1))
            first.append(1)
        return resumed(reading)

    monkeypatch.setattr(store.series, "_resumed", interrupted)
    assert store.series.append("a", "series", constant(2, 5)).rows == 10 + len(first) + 5
    assert len(first) > 1
    assert store.series.read("a", scope=EVERYTHING)["k"].tolist() == [0.0] * 10 + [1.0] * len(first) + [2.0] * 5


def test_killed_writers_leave_nothing_half(tmp_path: Path, long: bool) -> None:
    path = tmp_path / "s.wb"
    Store.open(path).close()
    rng = np.random.default_rng(7)
    done = 0
    for turn in range(100 if long else 4):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(turn * 10_000)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(float(rng.uniform(0, 0.3)))
        process.send_signal(signal.SIGKILL)
        said = [int(line) for line in (first, *process.stdout.read().split())]
        process.stdout.close()
        process.wait()
        done += len(said)
        with Store.open(path) as store:
            assert store.connection().execute("pragma integrity_check").fetchall() == [("ok",)]
            assert store.series.verify() == []
            present = {
                int(store.series.read(f"m{k}", scope=EVERYTHING)["k"].values[0])
                for k in range(5)
                if store.series.info(f"m{k}", scope=EVERYTHING)
            }
            newest = {k % 5: k for k in said}
            for k in newest.values():
                kept = {one for one in present if one % 5 == k % 5}
                assert kept, "what was acknowledged is there"
                assert min(kept) >= k
            for k in range(5):
                if store.series.info(f"m{k}", scope=EVERYTHING):
                    assert store.series.read(f"m{k}", scope=EVERYTHING).n == 700_000
            alive = {number for (number,) in store.connection().execute("select id from series")}
            held = {key >> 35 for (key,) in store.connection().execute("select key from chunks")}
            assert held == alive, "what the dead writer left was swept at opening"
    assert done >= (100 if long else 4)


def test_the_sweep_spares_a_writer_that_lives_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "s.wb"
    Store.open(path).close()
    script = (
        "import sys, numpy as np\nfrom workbench.store import Store\nfrom workbench.table import Table\n"
        "writer = Store.open(sys.argv[1]).series.writer('a')\n"
        "writer.add(Table.of({'v': np.random.default_rng(0).normal(size=1_500_000)}))\n"
        "print('written', flush=True)\nsys.stdin.readline()\nprint(writer.publish().rows, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    with Store.open(path) as store:
        assert store.series.sweep() == 0
        assert store.series.info("a", scope=EVERYTHING) is None
        output, _ = process.communicate("go\n")
        assert output == "1500000\n"
        assert store.series.read("a", scope=EVERYTHING).n == 1_500_000
        assert store.series.verify() == []


def test_leases_of_other_machines_end_with_silence() -> None:
    now = time.time_ns() // 1000
    far = lease.take().replace(" ", "!", 1)
    assert lease.is_held(lease.take(), 0)
    assert lease.is_held(far, now)
    assert not lease.is_held(far, now - 2 * 3600 * 10**6)
    assert not lease.is_held("broken", now)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    own = lease.take()
    assert not lease.is_held(own.replace(f",{os.getpid()},", f",{process.pid},"), now)


def test_a_writer_in_a_file_from_before_the_machine_was_started_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the clock of the machine was ahead then."""
    path, ahead = tmp_path / "s.wb", time.time_ns() // 1000 + 400 * 86_400_000_000
    with monkeypatch.context() as patch, Store.open(path) as store:
        patch.setattr(living_process, "start_of_machine", lambda: "yesterday")
        writer = store.series.writer("a")
        writer.add(Table.of({"v": np.random.default_rng(0).normal(size=1_500_000)}))
        with store.transaction() as connection:
            connection.execute("update drafts set beat = ?", (ahead,))
        assert store.series.sweep() == 0
        before = lease.take()
    with Store.open(path) as store:
        assert store.execute("select count(*) from drafts").fetchone() == (0,)
        in_a_container = lease.take().replace("pid:", "other:")
        assert store.is_held(in_a_container, time.time_ns() // 1000)
    assert lease.is_held(before, ahead), "in a database that several machines use"
    assert not lease.is_held("[1, 2, 3]", 0, one_machine=True)


def test_a_swept_writer_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    writer = store.series.writer("a")
    noise = Table.of({"v": np.random.default_rng(0).normal(size=1_500_000)})
    writer.add(noise)
    with store.transaction() as connection:
        connection.execute("update drafts set lease = null")
    assert store.series.sweep() == 1
    with pytest.raises(StoreError, match="was swept; write it again"):
        writer.add(noise)


@pytest.mark.parametrize("ended", [True, False])
def test_a_writer_that_another_machine_took_for_gone_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: bool
) -> None:
    """Its clock is hours ahead, and it has deleted all of what was written, or some of it."""
    monkeypatch.setattr(series_module, "PURGE_CHUNKS", 1 << 20 if ended else 2)
    store = Store.open(tmp_path / "s.wb")
    writer = store.series.writer("a")
    writer.add(Table.of({"v": np.random.default_rng(0).normal(size=1_500_000)}))
    with Store.open(tmp_path / "s.wb") as other, monkeypatch.context() as patch:
        patch.setattr(lease, "is_held", lambda held, beat, **_: False)
        if not ended:
            own = type(other).transaction
            turns = iter(range(2))
            patch.setattr(Store, "transaction", lambda self: (next(turns), own(self))[1])
        with suppress(StopIteration):
            other.series.sweep()
    with pytest.raises(StoreError, match=r"was swept; write it again.*clocks"):
        writer.publish()
    assert store.series.info("a", scope=EVERYTHING) is None
    writer.discard()
    assert store.series.verify() == []


def test_a_writer_that_goes_on_is_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(tmp_path / "s.wb")
    noise = Table.of({"v": np.random.default_rng(0).normal(size=1_500_000)})
    writer = store.series.writer("a")
    writer.add(noise)

    def looked(held: str, beat: int, **_: bool) -> bool:
        writer.add(noise)  # while the other process makes up its mind
        return False

    with Store.open(tmp_path / "s.wb") as other, monkeypatch.context() as patch:
        patch.setattr(lease, "is_held", looked)
        assert other.series.sweep() == 0
    assert writer.publish().rows == 3_000_000


def test_threads_that_end_close_their_connections(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.wb")
    store.series.append("a", "series", constant(1, 10))
    seen: list[sqlite3.Connection] = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: seen.append(store.connection()))
        thread.start()
        thread.join()
    for connection in seen:
        with pytest.raises(sqlite3.ProgrammingError):
            connection.execute("select 1")


@pytest.mark.parametrize("chunks", [1, 3, 7, 2000])
def test_the_chunks_of_many_series_go_in_small_steps(
    chunks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Columns: each is a chunk. One series begins within a step and goes on in the next.
    sizes = [3, 1, 5, 2, 4]
    monkeypatch.setattr(series_module, "PURGE_CHUNKS", chunks)
    with Store.open(tmp_path / "lab.db") as store:
        for number, size in enumerate(sizes):
            columns = {f"column {k}": np.arange(3.0) for k in range(size)}
            store.series.append(f"owner {number}", "series", Table.of(columns))
        store.series.append("kept", "series", Table.of({"v": np.arange(3.0)}))
        steps: list[int] = []
        whole = store.transaction

        @contextmanager
        def counted() -> Iterator[Transaction]:
            with whole() as connection:
                before = connection.execute("select count(*) from chunks").fetchone()[0]
                yield connection
                steps.append(before - connection.execute("select count(*) from chunks").fetchone()[0])

        with store.transaction() as connection:
            for number in range(len(sizes)):
                store.series.delete(f"owner {number}", connection=connection)
        monkeypatch.setattr(store, "transaction", counted)
        store.series.tidy()
        assert sum(steps) == sum(sizes)
        assert max(steps) <= chunks
        assert len(steps) <= sum(sizes) // chunks + 1
        assert store.connection().execute("select count(*) from drafts").fetchone() == (0,)
        assert store.series.read("kept", scope=EVERYTHING).n == 3
        assert store.series.verify() == []
