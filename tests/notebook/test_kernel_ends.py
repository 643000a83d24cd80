"""A kernel that is shut down ends at once, whatever processes it has started."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

import workbench as wb
from workbench.import_path import pythonpath

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are those of POSIX")

VIEW = """
plan = {"steps": {"cells": {"op": "list", "source": "instances"}}}
script = "def transform(data, params):\\n    return {'data': [], 'layout': {}}"
bench.show(wb.Recipe({"plan": plan, "transform": script, "params": {}})).refresh(wait=True)
"""
INGEST = "assert bench.ingest('cell.csv').stored"
FAN_OUT = "bench.analyse('kinds')"


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(VIEW, id="view"),
        pytest.param(INGEST, id="ingest"),
        pytest.param(FAN_OUT, id="fan-out", marks=pytest.mark.long),
    ],
)
def test_it_does_not_wait_for_processes_of_its_own(work: str, tmp_path: Path) -> None:
    for name in ("cell", "other"):
        rows = [f"{t},{len(name) / 2 + t / 1000},0.1" for t in range(100)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["Time [s],Voltage [V],Current [A]", *rows]))
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path / "other.csv")
    environment = {**os.environ, "PYTHONPATH": pythonpath()}
    manager, client = start_new_kernel(kernel_name="python3", env=environment, cwd=str(tmp_path))
    try:
        said = client.execute_interactive(
            f"import workbench as wb\nbench = wb.open('lab.db', executor='processes:2')\n{work}",
            timeout=120,
            output_hook=lambda message: None,
        )
        assert said["content"]["status"] == "ok", said["content"].get("evalue")
        time.sleep(1)  # what is idle by then is ended in another way than what still works
        began = time.monotonic()
        client.shutdown()
        while manager.is_alive():
            assert time.monotonic() - began < 10, "it waits for its children"
            time.sleep(0.05)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
