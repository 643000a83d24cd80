"""Runs in the background end, say so, and miss nothing, also on a full disk and in several processes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.cycler_file import cycler_text
from support.local_and_remote import opened
from support.waiting import until

import workbench as wb
from server import ingests
from workbench.analyses import background
from workbench.analyses.run import Analysed
from workbench.errors import StoreError
from workbench.store import again
from workbench.store.db import lease

AT_WORK = """
import sys
from workbench.store.db import lease
print(lease.take(), flush=True)
sys.stdin.read()
"""


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made
        until(lambda: not background._running)


def begin(bench: wb.Bench, work: background.Work) -> background.Run:
    backend: Any = bench.backend
    return background.begin(backend.store, backend.scope, backend.actor, "kinds", work)


def quick(*_: Any) -> Analysed:
    return Analysed("kinds", 0)


def test_a_run_that_cannot_be_noted_gives_its_place_back(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as disk:
        disk.setattr(background, "_write", full)
        for _ in range(background.MOST_RUNS + 1):
            with pytest.raises(OSError, match="No space"):
                begin(bench, quick)
    assert begin(bench, quick)["state"] == "running"


def test_a_run_whose_end_cannot_be_noted_is_said_to_have_ended(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fills_the_disk(progress: Any, stop: threading.Event) -> Analysed:
        monkeypatch.setattr(background, "_write", full)
        progress(1, 2, "a test")  # no reason to stop
        return Analysed("kinds", 2)

    run = begin(bench, fills_the_disk)
    until(lambda: run["id"] not in background._running)
    assert bench.backend.run_state(run["id"])["state"] == "failed"
    place = Path(f"{bench.backend.store.path}.runs")  # type: ignore[attr-defined]
    noted = orjson.loads((place / f"{run['id']}.json").read_bytes())
    assert (noted["state"], noted["error"]) == ("failed", background.UNNOTED), "what other processes read"


def test_a_run_that_ends_while_its_state_is_read_did_not_fail(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, kept = threading.Event(), background._kept

    def waits(*_: Any) -> Analysed:
        assert may_end.wait(60)
        return Analysed("kinds", 0)

    def read_just_before_the_end(*given: Any) -> bytes | None:
        found = kept(*given)
        may_end.set()
        until(lambda: run["id"] not in background._running)
        return found

    run = begin(bench, waits)
    monkeypatch.setattr(background, "_kept", read_just_before_the_end)
    assert bench.backend.run_state(run["id"])["state"] == "done"


def test_a_run_of_another_process_is_at_work_as_long_as_that_lives(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test may take minutes, in which nothing is noted."""
    run = begin(bench, quick)
    until(lambda: run["id"] not in background._running)
    place = Path(f"{bench.backend.store.path}.runs") / f"{run['id']}.json"  # type: ignore[attr-defined]
    with subprocess.Popen(
        [sys.executable, "-c", AT_WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        state = orjson.loads(place.read_bytes())
        state |= {"state": "running", "lease": other.stdout.readline().strip(), "beat": time.time() - 600}
        place.write_bytes(orjson.dumps(state))
        assert bench.backend.run_state(run["id"])["state"] == "running"
        other.kill()
        other.wait()
        place.write_bytes(orjson.dumps(state | {"beat": time.time()}))
        assert bench.backend.run_state(run["id"])["state"] == "failed"
    elsewhere = orjson.dumps(["another machine", 1, "1"]).decode()
    for age, shown in ((1, "running"), (600, "failed")):
        place.write_bytes(orjson.dumps(state | {"lease": elsewhere, "beat": time.time() - age}))
        assert bench.backend.run_state(run["id"])["state"] == shown
    place.write_bytes(orjson.dumps(state | {"lease": lease.take(), "beat": time.time()}))
    assert bench.backend.run_state(run["id"])["state"] == "failed", (
        "this process knows that it does not work on it"
    )


def test_what_arrives_while_analyses_run_is_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many ingests one after the other, faster than their analyses: the last run sees all tests, and runs are few."""
    goes_on, saw = threading.Event(), []

    def analysed(store: Any, scope: Any, actor: str, type: str, **_: Any) -> Analysed:
        saw.append(store.execute("select count(*) from measurements").fetchone()[0])
        goes_on.wait(60)
        return Analysed(type, 0)

    monkeypatch.setattr(ingests, "analyse", analysed)
    with opened(tmp_path / "lab.db", "far") as bench:
        bench.analyse_on_arrival(True)
        for number in range(background.MOST_RUNS + 2):
            (tmp_path / f"cell {number}.csv").write_text(cycler_text(number + 2))
            assert bench.ingest(tmp_path / f"cell {number}.csv").ok
        assert len(saw) == 1
        goes_on.set()
        until(lambda: len(saw) == 2)
        until(lambda: not background._running)
    assert saw == [1, background.MOST_RUNS + 2]


def test_an_ingest_whose_end_cannot_be_noted_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = ingests._write

    def full_at_the_end(path: Path, value: Any) -> None:
        if value.get("state") == "done":
            full()
        write(path, value)

    monkeypatch.setattr(ingests, "_write", full_at_the_end)
    monkeypatch.setattr(ingests, "AGAIN_SECONDS", 0.2)
    (tmp_path / "cell.csv").write_text(cycler_text(2))
    with opened(tmp_path / "lab.db", "far") as bench:
        assert bench.ingest(tmp_path / "cell.csv").ok

        def noted() -> Any:
            """What another server of the store reads."""
            (note,) = (tmp_path / "lab.db.files" / "ingests").glob("told-*")
            return orjson.loads(note.read_bytes())

        assert (noted()["state"], noted()["error"]) == ("failed", ingests.UNNOTED)
        monkeypatch.setattr(ingests, "_write", write)  # there is room again
        until(lambda: noted()["state"] == "done")
        assert noted()["report"]["files"][0]["status"] == "stored"


@pytest.mark.parametrize("at", ["the first note", "the work"])
def test_analyses_of_what_arrived_begin_again_after_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    tries, room = [], threading.Event()

    def analysed(store: Any, scope: Any, actor: str, type: str, **_: Any) -> Analysed:
        tries.append(type)
        if not room.is_set():
            raise StoreError("The disk is full.")
        return Analysed(type, 0)

    def write_note(path: Path, note: bytes) -> None:
        tries.append("note")
        full() if not room.is_set() else again.write_note(path, note)

    if at == "the work":
        monkeypatch.setattr(ingests, "analyse", analysed)
    else:
        monkeypatch.setattr(background, "write_note", write_note)
    monkeypatch.setattr(ingests, "AGAIN_SECONDS", 0.05)
    (tmp_path / "cell.csv").write_text(cycler_text(2))
    with opened(tmp_path / "lab.db", "far") as bench:
        bench.analyse_on_arrival(True)
        assert bench.ingest(tmp_path / "cell.csv").ok
        until(lambda: len(tries) > 2)
        room.set()
        until(lambda: any(b'"done"' in one.read_bytes() for one in (tmp_path / "lab.db.runs").glob("*.json")))
        until(lambda: not background._running)
