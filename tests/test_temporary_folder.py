"""Temporary folders: they go with their block, and those of a killed process with the next process."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from workbench import temporary_folder

KILLED = """
import os, signal, sys, tempfile
from workbench import temporary_folder

tempfile.tempdir = sys.argv[1]
(temporary_folder.make() / "spool").write_bytes(bytes(1000))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_a_folder_goes_with_its_block(place: Path) -> None:
    with temporary_folder.temporary_folder() as made:
        (made / "a").write_bytes(b"x")
        assert names(place) == [made.name]
    assert names(place) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills in another way")
def test_what_killed_processes_left_is_removed_once(place: Path) -> None:
    process = subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    assert process.returncode == -signal.SIGKILL
    (left,) = names(place)
    others = [left.replace("workbench-", "lab-"), f"{left}.txt", "workbench-quick", f"workbench-0{left[11:]}"]
    for name in others:
        (place / name).mkdir()
    first = temporary_folder.make()
    assert names(place) == sorted([first.name, *others])
    second = temporary_folder.make()
    assert names(place) == sorted([first.name, second.name, *others]), "those of processes at work stay"
