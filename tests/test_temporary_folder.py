"""Temporary folders and drafts of files: they go with their block, and those of a killed process with the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from workbench import living_process, temporary_folder
from workbench.whole_file import whole_file

KILLED = """
import os, signal, sys, tempfile
from workbench import temporary_folder

tempfile.tempdir = sys.argv[1]
(temporary_folder.make() / "spool").write_bytes(bytes(1000))
os.kill(os.getpid(), signal.SIGKILL)
"""


KILLED_DRAFT = """
import os, signal, sys
from pathlib import Path
from workbench.whole_file import whole_file

with whole_file(Path(sys.argv[1])) as draft:
    draft.write_bytes(bytes(1000))
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


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills in another way")
def test_drafts_that_killed_processes_left_go_with_the_next_file(tmp_path: Path) -> None:
    path = tmp_path / f"{'n' * 251}.csv"
    process = subprocess.run([sys.executable, "-c", KILLED_DRAFT, str(path)], check=False)
    assert process.returncode == -signal.SIGKILL
    (left,) = names(tmp_path)
    others = [f"{left}.txt", ".workbench-draft", f".workbench-0{left[12:]}"]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    with whole_file(path) as draft:
        assert names(tmp_path) == sorted(others)
        draft.write_bytes(b"whole")
    assert names(tmp_path) == sorted([path.name, *others])
    assert path.read_bytes() == b"whole"


def test_drafts_from_before_a_power_cut_go_after_a_day(tmp_path: Path) -> None:
    machine, _, rest = living_process.name().partition("-")
    before = f"{int(machine, 16) ^ 1:08x}-{rest}"  # the start of the machine is in its number
    names_then = [
        f".workbench-{before}",
        f".workbench-{before[:-1]}{int(before[-1], 16) ^ 1:x}",
        ".workbench-notes",
    ]
    for name, hours in zip(names_then, (25, 23, 25), strict=True):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - hours * 3600,) * 2)
    with whole_file(tmp_path / "a.csv") as draft:
        draft.write_bytes(b"whole")
    assert names(tmp_path) == sorted([*names_then[1:], "a.csv"])
