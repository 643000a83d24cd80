"""Ctrl-C and a service that stops reach every process at once; those that read files wait for their parent's word."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

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
