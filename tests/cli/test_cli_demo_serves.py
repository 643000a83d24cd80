"""The demo ends with its server, unless `--no-serve` stops it before."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import pytest

import workbench as wb

ROOT = Path(__file__).parents[2]
WORKBENCH = [sys.executable, "-c", "from workbench.cli import main; main()"]


@pytest.fixture
def folder(demo_copy: Path, tmp_path: Path) -> Path:
    made = tmp_path / "demo"
    made.mkdir()
    demo_copy.rename(made / "workbench.db")
    return made


def test_the_demo_serves_its_store(folder: Path) -> None:
    words = [*WORKBENCH, "demo", str(folder), "--port", "0"]
    errors = folder / "errors.txt"
    with (
        errors.open("w") as log,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT) as process,
    ):
        try:
            said = ""
            assert process.stdout is not None
            for line in process.stdout:
                said += line
                if line.startswith("Listening on "):
                    break
            address = line.removeprefix("Listening on ").strip()
            (key,) = re.findall(r"^wb_\S+$", said, re.MULTILINE)
            with wb.connect(address, key) as far:
                board = far.dashboards.get("Ageing")
                path = f"/projects/{board.record.project_id}/dashboards/{board.id}/sketch"
                sketches = httpx.get(address + path, headers={"X-API-Key": key}, timeout=60).json()
                unlike = [one["name"] for one in sketches if not one["lines"]]
                assert not unlike, f"cards of the first page show no lines of {unlike}"
                assert board.plot("Cycle life").figure().data
            process.send_signal(signal.SIGINT)
            assert process.wait(40) in (0, 130, -signal.SIGINT)
        finally:
            process.kill()
    assert '"level":"info"' not in errors.read_text()


@pytest.mark.parametrize("stop", ["--no-serve", pytest.param("--check", marks=pytest.mark.long)])
def test_it_stops_before_where_it_is_told(folder: Path, stop: str) -> None:
    words = [*WORKBENCH, "demo", str(folder), stop]
    ended = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "Listening" not in ended.stdout
