"""Arranges the memory of the zygote before it forks, so that a forked process copies few of its pages.

A fork shares all pages. The first write to a page copies it, and a figure writes to thousands: at 2 to 3
microseconds each this was a quarter of the processor time of a first drawing.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path

_HUGE, _COLLAPSE = 1 << 21, 25
_LARGEST, _SMALLEST = 1 << 16, 1 << 5
_BYTES_HEAD = sys.getsizeof(b"")
HELD: list[object] = []
"""What fills the gaps."""


class _Heap(ctypes.Structure):
    """What ``mallinfo2`` of GNU's C library returns. ``fordblks`` are the bytes that are free, ``keepcost`` those of
    them above everything that is used: no gap."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def fill_gaps(libc: ctypes.CDLL) -> None:
    """Take the memory that is free between objects, and keep it. A forked process then allocates from pages that
    follow each other. Otherwise each small object goes into a gap on another page, and each time a page is copied.

    The gaps are left by what imports made and dropped again. This process itself grows by one or two MB: its pages with
    gaps are there anyway. Where Python or the C library allocate in another way, nothing happens.
    """
    _fill_gaps_of_python()
    _fill_gaps_of_heap(libc)


def into_huge_pages(libc: ctypes.CDLL) -> int:
    """Move the memory of this process into large pages, if the kernel can (Linux 6.1). Returns how many MB were moved.

    A fork copies the table of pages, and the end of a process frees it. With large pages the table is much smaller.
    """
    gathered = 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        words = line.split()
        if not words[1].startswith("rw") or words[5:] not in ([], ["[heap]"]):
            continue
        low, high = (int(word, 16) for word in words[0].split("-"))
        low, high = -(-low // _HUGE) * _HUGE, high // _HUGE * _HUGE
        if low < high and libc.madvise(ctypes.c_void_p(low), ctypes.c_size_t(high - low), _COLLAPSE) == 0:
            gathered += (high - low) >> 20
    return gathered


def free_blocks() -> dict[int, int]:
    """How many blocks of each size are free in pools of Python that have others in use. Empty where Python has no
    pools of its own."""
    rows = re.findall(r"^ *\d+ +(\d+) +\d+ +\d+ +(\d+)$", _pools(), re.MULTILINE)
    return {int(size): int(free) for size, free in rows}


def _pools() -> str:
    """Python's own table of its pools, which it writes to standard error alone."""
    if not hasattr(sys, "_debugmallocstats"):
        return ""
    written, standard = os.memfd_create("pools", os.MFD_CLOEXEC), os.dup(2)
    try:
        os.dup2(written, 2)
        sys._debugmallocstats()
    finally:
        os.dup2(standard, 2)
        os.close(standard)
    with os.fdopen(written, "rb") as file:
        file.seek(0)
        return file.read().decode("ascii", "replace")


def _fill_gaps_of_python() -> None:
    for size, free in free_blocks().items():
        if size > _BYTES_HEAD:
            HELD.append([bytes(size - _BYTES_HEAD) for _ in range(free)])
        elif size >= sys.getsizeof(1.5) > size - 16:
            HELD.append([float(one) for one in range(free)])


def _fill_gaps_of_heap(libc: ctypes.CDLL) -> None:
    """Allocate ever smaller blocks. One that makes the heap grow shows that no gap is left for its size."""
    if not hasattr(libc, "mallinfo2"):
        return
    libc.mallinfo2.restype = _Heap
    libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    libc.sbrk.argtypes, libc.sbrk.restype = [ctypes.c_ssize_t], ctypes.c_void_p
    size = _LARGEST
    while size >= _SMALLEST:
        end = libc.sbrk(0)
        heap = libc.mallinfo2()
        for _ in range((heap.fordblks - heap.keepcost) // size + 1):
            if libc.sbrk(0) != end:
                break
            libc.malloc(size)
        size //= 2
