"""The page on plain HTTP says what is true: its shell blocks are run, in order, against a server."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.server_process import Server

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "http.md"
_BLOCK = re.compile(r"^```bash\n(.*?)^```", re.DOTALL | re.MULTILINE)


def prepare(folder: Path) -> pd.DataFrame:
    """The files that the page's reader has; the samples among them."""
    packed = (ROOT / "sample_data" / "neware" / "M50-A-01_ageing.csv.gz").read_bytes()
    (folder / "my_test.csv").write_bytes(gzip.decompress(packed))
    (folder / "protocol.pdf").write_bytes(b"%PDF-1.7\n\x00\xff")
    shutil.copy(ROOT / "docs" / "recipes" / "fade.json", folder)
    time = np.arange(500.0)
    samples = pd.DataFrame(
        {"Time [s]": time, "Step count": 0, "Current [A]": 5.0, "Voltage [V]": 4.1 - time / 1000}
    )
    samples.to_parquet(folder / "samples.parquet")
    return samples


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None or shutil.which("bash") is None, reason="needs bash and curl")
def test_the_page_on_plain_http_runs(tmp_path: Path) -> None:
    samples = prepare(tmp_path)
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    script = "set -euo pipefail\n" + "\n".join(_BLOCK.findall(PAGE.read_text("utf-8")))
    server = Server(tmp_path / "lab.db")
    try:
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        told = {**os.environ, "PATH": path, "LAB": server.address, "KEY": server.key}
        ran = subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env=told,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        server.stop()
    assert ran.returncode == 0, (ran.stdout[-2000:], ran.stderr[-2000:])
    assert "\nstored\n" in ran.stdout
    assert ran.stdout.rstrip().endswith("2")
    back = pd.read_parquet(tmp_path / "back.parquet")
    pd.testing.assert_frame_equal(back[list(samples)], samples, check_dtype=False)
    assert (tmp_path / "back.pdf").read_bytes() == (tmp_path / "protocol.pdf").read_bytes()
    assert (tmp_path / "traces.csv").read_text().startswith("trace,name")
    assert (tmp_path / "cells.arrow").stat().st_size > 100
