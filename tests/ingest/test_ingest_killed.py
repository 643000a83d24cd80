"""An ingest killed at any moment: what was acknowledged is there, nothing half is visible, the store is sound."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from workbench.cycling.cycles import cycles_of
from workbench.cycling.steps import steps_of
from workbench.ingest.processes.worker_process import Worker
from workbench.records import Instance, Measurement, Project
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.store import Store

PROGRAM = """
import sys
from pathlib import Path
from workbench.ingest import IngestOptions, ingest
from workbench.records import Project
from workbench.store.scope import Scope
from workbench.store.store import Store

store = Store.open(sys.argv[1])
organization = store.rows.organizations()[0]
scope = Scope(organization.id, store.rows.page(Project, Scope(organization.id, None), limit=1).items[0].id)
ingest(store, scope, Path(sys.argv[2]) / "00.csv", IngestOptions(dry_run=True))
print("ready", flush=True)
for path in sorted(Path(sys.argv[2]).iterdir()):
    report = ingest(store, scope, path, IngestOptions(jobs=int(sys.argv[3]), keep_file=True))
    if report[0].status == "stored":
        print(report[0].measurement_id, report[0].rows, flush=True)
print("done", flush=True)
"""
ROWS = 40_000
FILES = 12


def write_files(folder: Path) -> None:
    folder.mkdir()
    rng = np.random.default_rng(7)
    for number in range(FILES):
        time_ = np.arange(ROWS)
        current = np.where(time_ // 1000 % 2, -1.0, 1.0)
        voltage = 3.5 - current * (time_ % 1000 / 4000) + rng.normal(0, 1e-3, ROWS).round(4)
        step = time_ // 1000
        body = np.column_stack([time_, current, voltage, step // 2, step])
        with (folder / f"{number:02}.csv").open("w") as file:
            file.write("Time [s],Current [A],Voltage [V],Cycle from cycler,Step from cycler\n")
            np.savetxt(file, body, fmt=["%d", "%.3f", "%.4f", "%d", "%d"], delimiter=",")


def lines_until_killed(store: Path, folder: Path, delay: float) -> list[str]:
    """What the ingesting process said before it was killed ``delay`` seconds after it had opened the store."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(store), str(folder), "1"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    said = b""
    deadline = None
    while deadline is None or time.monotonic() < deadline:
        wait = 60.0 if deadline is None else max(deadline - time.monotonic(), 0.0)
        if select.select([process.stdout], [], [], wait)[0]:
            part = os.read(process.stdout.fileno(), 4096)
            if not part:
                break
            said += part
            if deadline is None and b"ready\n" in said:
                deadline = time.monotonic() + delay
    os.killpg(process.pid, signal.SIGKILL)
    said += process.stdout.read()
    process.stdout.close()
    process.wait()
    return [line for line in said.decode().split("\n")[:-1] if line not in ("ready", "done")]


@pytest.mark.long
def test_killed_ingests_leave_whole_measurements_only(tmp_path: Path, long: bool) -> None:
    folder = tmp_path / "in"
    write_files(folder)
    rng = random.Random(3)
    acknowledged: dict[str, int] = {}
    seen = 0
    for round_ in range(100 if long else 3):
        place = tmp_path / "lab.db"
        said = lines_until_killed(place, folder, rng.uniform(0.0, 1.2))
        acknowledged |= {line.split()[0]: int(line.split()[1]) for line in said}
        with Store.open(place) as store:
            assert store.verify() == [], f"round {round_}"
            organization = store.rows.organizations()[0]
            project = store.rows.page(Project, Scope(organization.id, None), limit=1).items[0]
            scope = Scope(organization.id, project.id)
            measurements = store.rows.page(Measurement, scope, limit=None).items
            assert acknowledged.keys() <= {item.id for item in measurements}
            assert len(measurements) == len({item.name for item in measurements})
            for item in measurements:
                samples = store.series.read(item.id, scope=EVERYTHING)
                assert samples.n == ROWS
                steps = store.series.read(item.id, dataset="steps", scope=EVERYTHING)
                assert steps.n == steps_of(samples).n == ROWS // 1000
                assert store.series.read(item.id, dataset="cycles", scope=EVERYTHING).n == cycles_of(steps).n
                assert sum(map(len, store.blobs.get(item.files[0].piece))) == item.files[0].size
            assert store.rows.page(Instance, scope, limit=None).total == len(measurements)
            seen = max(seen, len(measurements))
            if len(measurements) > FILES // 2:
                for item in measurements:
                    store.rows.delete(Measurement, item.id, scope)
                    store.rows.delete(Instance, item.instance_id, scope)
                acknowledged.clear()
    assert seen > 0


def test_a_reading_process_whose_parent_was_killed_ends_without_a_word(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = "import pathlib, sys; from workbench.ingest.read.worker import main; main(pathlib.Path(sys.argv[1]))"
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", code, str(scratch)], **pipes) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said, scratch.exists()) == (0, b"", False)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("/no/such/python",), "No such file or directory"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "it ended with 3"),
    ],
)
def test_a_process_that_does_not_start_accuses_no_file(tmp_path: Path, command: tuple[str, ...], why: str) -> None:
    worker = Worker((command, ()), tmp_path)
    for _ in range(2):
        said = worker.ask({"path": "a.csv"}, 20)["refused"]
        assert (
            said == f"The process that reads files did not start ({why}). Nothing is known of the file; try again."
        )
    worker.close()
