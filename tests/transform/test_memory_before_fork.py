"""A process that forks takes the free memory between its objects first, so that what it forks copies fewer pages."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts copied pages of memory as Linux does")

# Frees every other one of many objects of one size, forks, and prints how many pages the fork writes to when it makes
# as many objects of that size.
PROGRAM = """
import ctypes, os, resource, sys
from workbench.transform.protected import memory_before_fork
size, count = int(sys.argv[2]), 4_000_000 // int(sys.argv[2])
kept = [bytes(size) for _ in range(2 * count)][::2]
room = [None] * count
if sys.argv[1] == "filled": memory_before_fork.fill_gaps(ctypes.CDLL(None))
if os.fork() == 0:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for at in range(count): room[at] = bytes(size)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, flush=True)
    os._exit(0)
os.wait()
"""


def copied_pages(how: str, size: int) -> int:
    words = [sys.executable, "-c", PROGRAM, how, str(size)]
    return int(subprocess.run(words, check=True, timeout=60, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("size", [20, 3000])
def test_a_fork_writes_to_fewer_pages_where_gaps_were_filled(size: int) -> None:
    assert copied_pages("filled", size) < 0.75 * copied_pages("gaps", size)


def test_nothing_happens_where_neither_python_nor_the_c_library_says_what_is_free() -> None:
    program = """
import sys
del sys._debugmallocstats
from workbench.transform.protected import memory_before_fork
class Other: pass
memory_before_fork.fill_gaps(Other())
print(memory_before_fork.free_blocks(), memory_before_fork.HELD)
"""
    said = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)
    assert said.stdout == "{} []\n"
