"""The public client works unchanged: version 0.38.0, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.server_process import Server

FLOWS = Path(__file__).parent / "client" / "flows.py"
CLIENT = ("ionworks-api==0.38.0", "polars", "pandas", "pyarrow", "requests")


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python that has the client: that of ``$WORKBENCH_CLIENT_PYTHON``, else a new environment's."""
    if found := os.environ.get("WORKBENCH_CLIENT_PYTHON"):
        return found
    place = tmp_path_factory.mktemp("client")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = str(place / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", *CLIENT], check=True)
    return python


@pytest.mark.long
def test_every_flow_of_the_public_client(interpreter: str, tmp_path: Path) -> None:
    server = Server(tmp_path / "lab.db", "--trust-transforms")
    home = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": ""}
    try:
        done = subprocess.run(
            [interpreter, str(FLOWS), server.key, server.address],
            capture_output=True,
            text=True,
            env=home,
            timeout=900,
        )
    finally:
        server.stop()
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one for one in told if "wrong" in one] == [], done.stderr[-2000:]
    assert len(told) == FLOWS.read_text().count("@flow\n")
