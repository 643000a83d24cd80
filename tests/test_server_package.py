"""A module of a user that hides the package ``server`` of the workbench is named, with what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python in a folder whose modules come before ours, as in a notebook there."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=folder,
        env=environment,
    )


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("server.py", "The file '{folder}/server.py' hides the workbench's own package 'server'"),
        ("server/__init__.py", "The folder '{folder}/server' hides the workbench's own package 'server'"),
    ],
)
def test_serve_names_the_module_that_hides_ours(tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("raise RuntimeError('a script of the user must not run')\n")
    done = python(tmp_path, "-m", "workbench", "serve", "--store", "lab.db")
    message = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert said.format(folder=tmp_path) in message
    assert f"Rename the {'file' if path == 'server.py' else 'folder'}, for example to 'my_server" in message
    assert "Traceback" not in message
    assert not (tmp_path / "lab.db").exists()


def test_a_bench_says_it_too_also_where_the_module_is_imported_already(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("")
    words = "import server, workbench as wb\nwith wb.open('lab.db') as bench:\n    bench.serve()"
    done = python(tmp_path, "-c", words)
    assert f"BadRequest: The file '{tmp_path}/server.py' hides" in done.stderr


def test_another_module_beside_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()  # without __init__.py: found after ours
    done = python(
        tmp_path, "-c", "from workbench.server_package import check_server_package as c; c(); import server"
    )
    assert done.returncode == 0, done.stderr
