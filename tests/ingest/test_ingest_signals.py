"""Ctrl-C and a service that stops reach every process at once; those that read files wait for their parent's word."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from workbench.ingest.read import parquet_subprocess, worker_pool


@pytest.mark.parametrize("program", [worker_pool._PROGRAM, parquet_subprocess._PROGRAM], ids=["ingest", "apart"])
def test_a_reader_ends_with_its_pipe_and_not_by_a_signal(program: str, tmp_path: Path) -> None:
    worker = worker_pool.Worker(tmp_path, program)
    process = worker._running()
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(process.pid, one)
    worker.close()
    assert process.returncode == 0
