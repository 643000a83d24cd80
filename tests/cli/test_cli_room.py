"""A command has room for the frames of its calls, however deep it is when it makes many of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts new pages of memory as Linux does")

# Goes down call by call and makes short calls at each depth; prints the most new pages that they took.
PROGRAM = """
import resource, sys
from workbench.cli import _with_room
def short():
    return 1
def many():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(2000): short()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
def down(depth):
    return max(many(), down(depth - 1)) if depth else 0
found = []
def work():
    down(300)
    found.append(down(300))
sys.setrecursionlimit(5000)
_with_room(work) if sys.argv[1] == "room" else work()
print(found[0])
"""


def new_pages(how: str) -> int:
    words = [sys.executable, "-c", PROGRAM, how]
    return int(subprocess.run(words, check=True, timeout=60, capture_output=True, text=True).stdout)


def test_short_calls_take_no_new_memory_at_any_depth() -> None:
    assert new_pages("room") < 200


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="later versions of Python may keep a block")
def test_without_room_they_do_at_some_depth() -> None:
    assert new_pages("none") > 1000
