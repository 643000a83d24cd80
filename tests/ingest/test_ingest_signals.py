"""Ctrl-C and a service that stops reach every process at once; those that read files wait for their parent's word."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from workbench.ingest import apart, workers


@pytest.mark.parametrize("program", [workers._PROGRAM, apart._PROGRAM], ids=["ingest", "apart"])
def test_a_reader_ends_with_its_pipe_and_not_by_a_signal(program: str, tmp_path: Path) -> None:
    worker = workers.Worker(tmp_path, program)
    process = worker._running()
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(process.pid, one)
    worker.close()
    assert process.returncode == 0
