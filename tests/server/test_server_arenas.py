"""The heaps of the C library: threads that work one after the other share them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from server import arenas

IS_GNU = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "gnu_get_libc_version")
pytestmark = pytest.mark.skipif(not IS_GNU, reason="only the C library of GNU has a heap for each thread")

# Each thread takes memory that Python asks the C library for, and holds it until all have some.
PROGRAM = """
import ctypes, sys, threading
from server import arenas
if sys.argv[2] == "few": arenas.keep_few()
barrier = threading.Barrier(8)
def work():
    held = [bytes(10_000) for _ in range(10)]
    barrier.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(library.fopen(sys.argv[1].encode(), b"w"))
library.malloc_info(0, file)
library.fclose(file)
"""


def heaps(folder: Path, how: str, **more: str) -> int:
    """How many heaps a process with eight threads has."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")
    }
    path = folder / "heaps.xml"
    subprocess.run([sys.executable, "-c", PROGRAM, path, how], env={**environment, **more}, check=True, timeout=60)
    return path.read_text().count("<heap nr=")


def test_threads_share_few_heaps(tmp_path: Path) -> None:
    assert heaps(tmp_path, "many") > arenas.FEW
    assert heaps(tmp_path, "few") <= arenas.FEW


def test_what_the_operator_wants_holds(tmp_path: Path) -> None:
    assert heaps(tmp_path, "few", MALLOC_ARENA_MAX="4") == 4
    assert heaps(tmp_path, "few", GLIBC_TUNABLES="glibc.malloc.arena_max=3") == 3
