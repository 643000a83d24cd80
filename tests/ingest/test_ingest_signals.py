"""Ctrl-C and a service that stops reach every process at once; those that read files wait for their parent's word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.ingested_text import cycler_text, write
from support.waiting import until

import workbench as wb
from workbench.ingest.processes.warm_workers import PROGRAM
from workbench.ingest.processes.worker_process import Worker, kind_of
from workbench.ingest.read import parquet_subprocess


@pytest.mark.parametrize("program", [PROGRAM, parquet_subprocess.PROGRAM], ids=["ingest", "apart"])
def test_a_reader_ends_with_its_pipe_and_not_by_a_signal(program: str, tmp_path: Path) -> None:
    worker = Worker(kind_of(program), tmp_path)
    process = worker._running()
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(process.pid, one)
    worker.close()
    assert process.returncode == 0


def test_ctrl_c_in_the_command_says_what_was_stored(tmp_path: Path) -> None:
    write(tmp_path / "in", "a.csv", cycler_text())
    head, *rows = cycler_text(1000).splitlines(keepends=True)
    assert len(rows) > 10_000
    write(tmp_path / "in", "b.csv", head + "".join(rows * 3))
    wb.open(tmp_path / "lab.db").close()
    words = [
        sys.executable,
        "-m",
        "workbench",
        "ingest",
        str(tmp_path / "in"),
        "--store",
        str(tmp_path / "lab.db"),
    ]
    with wb.open(tmp_path / "lab.db") as bench:
        process = subprocess.Popen([*words, "--sign", "discharge"], stderr=subprocess.PIPE, text=True)
        until(lambda: len(bench.measurements.list()) or None, "the first file")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.startswith(
        f"Stored before it: 1 file, '{tmp_path / 'in' / 'a.csv'}'. The same ingest again leaves"
    )
    assert said.endswith("\nStopped.\n")
