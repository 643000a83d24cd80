"""The memory that the C library keeps: threads share heaps, and blocks that come again need no new pages."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench import c_allocator

IS_GNU = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "gnu_get_libc_version")
pytestmark = pytest.mark.skipif(not IS_GNU, reason="only the C library of GNU has a heap for each thread")

# Each thread takes memory that Python asks the C library for, and holds it until all have some.
PROGRAM = """
import ctypes, sys, threading
from workbench import c_allocator
if sys.argv[2] == "few": c_allocator.keep_few_heaps()
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
    assert heaps(tmp_path, "many") > c_allocator.FEW
    assert heaps(tmp_path, "few") <= c_allocator.FEW


def test_what_the_operator_wants_holds(tmp_path: Path) -> None:
    assert heaps(tmp_path, "few", MALLOC_ARENA_MAX="4") == 4
    assert heaps(tmp_path, "few", GLIBC_TUNABLES="glibc.malloc.arena_max=3") == 3


# The same block again and again, as the reader of a file asks for it; prints how many pages were new.
BLOCKS = """
import resource, sys
from workbench import c_allocator
if sys.argv[1] == "kept": c_allocator.keep_what_is_freed()
def block():
    return bytearray(b"x") * (12 << 20)
block()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20): block()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def new_pages(how: str, **more: str) -> int:
    environment = {name: value for name, value in os.environ.items() if "MALLOC" not in name}
    words = [sys.executable, "-c", BLOCKS, how]
    done = subprocess.run(
        words, env={**environment, **more}, check=True, timeout=60, capture_output=True, text=True
    )
    return int(done.stdout)


def test_a_block_that_comes_again_has_the_pages_of_the_one_before() -> None:
    given_back = new_pages("given back", MALLOC_MMAP_THRESHOLD_="1000000")
    assert 20 * new_pages("kept") < given_back


def test_an_operator_who_wants_memory_back_gets_it() -> None:
    wanted = {"MALLOC_MMAP_THRESHOLD_": "1000000", "MALLOC_TRIM_THRESHOLD_": "1000"}
    assert new_pages("kept", **wanted) > 20 * new_pages("kept")
