"""Files, analyses, recomputed tables and the check of a store are the same wherever they were made, also while workers
are killed."""

from __future__ import annotations

import contextlib
import json
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.dying_workers import end
from support.waiting import until

import workbench as wb
from workbench.cycling import cycles
from workbench.errors import ExecutorAway
from workbench.fan_out.worker_processes import WorkerProcesses
from workbench.store.reached import Reached
from workbench.store.verify_apart import verify

SAMPLES = Path(__file__).parents[2] / "sample_data"
Told = Callable[[int, int, str], None]


def made(folder: Path, tests: int) -> Path:
    """Small files, a test each: full cycles of a cell that fades."""
    folder.mkdir(exist_ok=True)
    for number in range(tests):
        samples(number).rename(columns={"Step count": "Step"}).to_csv(
            folder / f"test {number:02}.csv", index=False
        )
    return folder


def samples(number: int) -> pd.DataFrame:
    steps = np.repeat(np.arange(12), 20)
    place = np.tile(np.linspace(0, 1, 20), 12)
    return pd.DataFrame(
        {
            "Time [s]": np.arange(240) * 180.0,
            "Current [A]": np.where(steps % 2, -1.0, 1.0) * (1 + number / 50),
            "Voltage [V]": np.where(steps % 2, 3.0 + 1.2 * place, 4.2 - 1.2 * place),
            "Step count": steps,
        }
    )


def told(bench: wb.Bench) -> dict[str, Any]:
    """All that files and analyses left in a store, without ids and times of this store."""
    found: dict[str, Any] = {}
    for record in bench.measurements.list(limit=None).itertuples():
        one = bench.measurements.get(record.id)
        for dataset in ("series", "steps", "cycles"):
            table = bench.backend.sampled(one.id, dataset)
            for name in table.names:
                column = table[name]
                found[one.name, dataset, name] = (column.kind, repr(column.tolist()))
        found[one.name, "source"] = {key: said for key, said in one.source.items() if key != "read_at"}
    for record in bench.analyses.list(limit=None).itertuples():
        one = bench.analyses.get(record.id)
        results = one.metadata.get("results")
        table = bench.backend.samples(one, "table") if one.metadata["workbench"].get("rows") else None
        found[one.name, one.analysis_type] = (
            json.dumps(results, sort_keys=True),
            None if table is None else repr({name: table[name].tolist() for name in table.names}),
        )
    return found


@contextmanager
def rule_of_cycles_raised() -> Iterator[None]:
    """A newer rule of cycles, so that all cycles are to be made anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycles, "RULE", cycles.RULE + 1)
        yield


def work(place: Path, files: Path, executor: Any, types: list[str], progress: Callable[[wb.Bench], Told]) -> Any:
    """Ingest, analyse and recompute; what is in the store then, and the order in which each was done."""
    with wb.open(place, executor=executor) as bench:
        report = bench.ingest(files, specification="S", rating="1Ah,3V,4.2V", progress=progress(bench))
        statuses = [(one.path, one.status, one.odd, one.assumed) for one in report.files]
        for type in types:
            done = bench.analyse(type, {}, progress=progress(bench))
            assert type == "arrival" or len(done.computed) == len(report.files)
        with rule_of_cycles_raised():
            again = bench.recompute(progress=progress(bench))
        assert again.failed == {}
        assert bench.verify() == []
        return statuses, [one.name for one in again.measurements], told(bench)


def only_watched(bench: wb.Bench) -> Told:
    return lambda done, of, name: None


def killing(bench: wb.Bench) -> Told:
    """Kill all workers as soon as something is done, in each part of the work."""
    before = len(killed)

    def progress(done: int, of: int, name: str) -> None:
        kept = bench.backend.fan_out._kept
        if done and len(killed) == before and isinstance(kept, WorkerProcesses):
            killed.extend(kept.pids())
            end(kept.pids())

    return progress


killed: list[int] = []


def test_what_is_made_anew_in_processes_that_are_killed_is_the_same(tmp_path: Path) -> None:
    killed.clear()
    left = []
    for executor, progress in (("serial", only_watched), ("processes:1", killing)):
        with wb.open(tmp_path / f"{executor[:6]}.db", executor=executor) as bench:
            ratings = {"capacity": {"value": 1.0, "unit": "A.h"}, "voltage_min": {"value": 3.0, "unit": "V"}}
            ratings["voltage_max"] = {"value": 4.2, "unit": "V"}
            bench.specifications.create(name="S", ratings=ratings)
            bench.instances.create(name="C", specification="S")
            for number in range(3):
                bench.measurements.create(
                    name=f"test {number}", instance="C", time_series=samples(number), sign="discharge"
                )
            with rule_of_cycles_raised():
                again = bench.recompute(progress=progress(bench))
            left.append((again.measurements and [one.name for one in again.measurements], told(bench)))
    assert killed
    assert left[0][0] == ["test 0", "test 1", "test 2"]
    assert left[0] == left[1]


@pytest.mark.long
def test_processes_that_are_killed_leave_the_same_as_one_thread(tmp_path: Path) -> None:
    files = made(tmp_path / "files", 6)
    killed.clear()
    alone = work(tmp_path / "serial.db", files, "serial", ["capacity_by_step"], only_watched)
    several = work(tmp_path / "processes.db", files, "processes:2", ["capacity_by_step"], killing)
    assert len(killed) >= 3  # in each part of the work at least one
    assert [one[1] for one in alone[0]] == ["stored"] * 6
    assert several == alone


def test_a_damaged_store_is_described_by_the_same_sentences(demo_copy: Path) -> None:
    with contextlib.closing(sqlite3.connect(demo_copy)) as db, db:
        db.execute("update chunks set data = zeroblob(length(data)) where key % 7 = 0")
    with wb.open(demo_copy, executor="processes:2") as bench:
        found = verify(bench.backend.store, bench.backend.fan_out)
        assert found == bench.backend.store.verify()
        assert len(found) >= 1


def test_a_worker_that_sees_no_store_or_another_one_says_so(tmp_path: Path) -> None:
    with wb.open(tmp_path / "one.db") as bench, wb.open(tmp_path / "two.db"):
        sent = Reached(bench.backend.store)
        state = sent.__getstate__()
    moved = Reached.__new__(Reached)
    moved.__dict__.update(state, path=str(tmp_path / "absent.db"), place=str(tmp_path / "absent.db"))
    with pytest.raises(ExecutorAway, match=r"cannot reach the store '.*absent.db' of .*same path"):
        _ = moved.store
    moved.__dict__.update(state, path=str(tmp_path / "two.db"), place=str(tmp_path / "two.db"))
    with pytest.raises(ExecutorAway, match=r"found another store at '.*two.db'"):
        _ = moved.store


def test_a_worker_goes_on_when_a_backup_takes_the_place_of_the_store(tmp_path: Path) -> None:
    """A worker of a cluster keeps a store open from one task to the next."""
    path = tmp_path / "lab.db"
    with wb.open(path) as bench:
        bench.backup(tmp_path / "copy.db")
        bench.studies.create(name="later")
        task = pickle.dumps(Reached(bench.backend.store))

    def seen() -> list[tuple[str]]:
        sent: Reached = pickle.loads(task)
        return sent.store.execute("select name from studies").fetchall()

    assert seen() == [("later",)]
    for left in tmp_path.glob("lab.db*"):
        left.unlink()
    with pytest.raises(ExecutorAway, match="cannot reach the store"):
        seen()
    (tmp_path / "copy.db").rename(path)
    assert seen() == []


@pytest.mark.long
@pytest.mark.parametrize("where", ["processes:2", "dask"])
def test_the_sample_data_are_the_same_everywhere(tmp_path: Path, where: str) -> None:
    files = SAMPLES / "bdf"
    types = ["arrival", "degradation_modes", "dva_features", "circuit", "drt", "kk"]
    alone = work(tmp_path / "serial.db", files, "serial", types, only_watched)
    with cluster() if where == "dask" else none() as address:
        there = work(tmp_path / "there.db", files, address or where, types, only_watched)
    assert there == alone


@contextmanager
def none() -> Iterator[None]:
    yield None


@contextmanager
def cluster() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as made:
        running.append(made)
        try:
            yield made.scheduler_address.replace("tcp://", "dask://")
        finally:
            running.clear()


running: list[Any] = []


@pytest.mark.long
def test_workers_of_dask_that_are_killed_leave_the_same(tmp_path: Path) -> None:
    files = made(tmp_path / "files", 24)
    killed.clear()

    def kill_one(bench: wb.Bench) -> Told:
        before = len(killed)

        def progress(done: int, of: int, name: str) -> None:
            if done and len(killed) == before:
                pids = [one.process.pid for one in running[0].workers.values() if one.process is not None]
                killed.append(next(pid for pid in pids if pid is not None))
                end(killed[-1:])

        return progress

    alone = work(tmp_path / "serial.db", files, "serial", ["capacity_by_step"], only_watched)
    with cluster() as address:
        there = work(tmp_path / "dask.db", files, address, ["capacity_by_step"], kill_one)
    assert len(killed) == 3  # one in each part of the work
    assert there == alone


@pytest.mark.long
def test_a_scheduler_without_workers_or_that_goes_away_is_named_and_nothing_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    from workbench.fan_out import dask_cluster

    files = made(tmp_path / "files", 12)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(files, specification="S", rating="1Ah,3V,4.2V")
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    place = tmp_path / "scheduler.json"
    command += ["--no-dashboard", "--scheduler-file", str(place)]
    scheduler = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until(place.exists, "the scheduler")
        until(lambda: place.read_text().endswith("}"), "the file of the scheduler")
        address = json.loads(place.read_text())["address"].replace("tcp://", "dask://")
        with wb.open(tmp_path / "lab.db", executor=address) as bench:
            with monkeypatch.context() as patch:
                patch.setattr(dask_cluster, "CONNECT_SECONDS", 2)
                with pytest.raises(ExecutorAway, match=r"has no worker\. Start some"):
                    bench.analyse("capacity_by_step", {})
            monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 120)

            def kill(done: int, of: int, name: str) -> None:
                scheduler.kill()  # so few tasks are under way at once that most have not begun

            with worker(address), pytest.raises(ExecutorAway, match="What was done is kept; run this again"):
                bench.analyse("capacity_by_step", {}, progress=kill)
            assert 1 <= len(bench.analyses.list(analysis_type="capacity_by_step")) < 12
        with wb.open(tmp_path / "lab.db") as bench:
            assert bench.analyse("capacity_by_step", {}).unchanged >= 1
            assert len(bench.analyses.list(analysis_type="capacity_by_step")) == 12
    finally:
        scheduler.kill()
        scheduler.wait()


@contextmanager
def worker(address: str) -> Iterator[None]:
    """A worker of a scheduler, in a process of its own."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address.replace("dask://", "tcp://")]
    command += ["--nthreads", "1", "--no-dashboard", "--no-nanny"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()
