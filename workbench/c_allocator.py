"""What the C library keeps of memory that is free, where it is that of GNU; elsewhere nothing here has an effect.

Each setting leaves alone what an operator has chosen in the environment.
"""

from __future__ import annotations

import ctypes
import os
import sys

FEW = 2
"""Python itself lets one thread allocate at a time; another one is for SQLite and NumPy, which run beside it."""
# The numbers of these settings in malloc.h, and the names that an operator sets them by.
_HEAPS = (-8, "MALLOC_ARENA_MAX", "arena_max")
_FREE_AT_TOP = (-1, "MALLOC_TRIM_THRESHOLD_", "trim_threshold")
_LARGEST_IN_HEAP = (-3, "MALLOC_MMAP_THRESHOLD_", "mmap_threshold")


def keep_few_heaps() -> None:
    """Let this process have few heaps. Threads that have one already keep it.

    Otherwise each thread has a heap of its own, up to eight for each processor, and a heap keeps for itself what is
    free in it. Threads that draw or read files need much memory for a moment, one thread after the other. So a server
    held some 100 MB which nobody used. With few heaps the next thread takes what the one before has freed.
    """
    _set(_HEAPS, FEW)


def keep_what_is_freed() -> None:
    """Let this process keep up to 256 MB that it has freed, for what it needs next.

    A file is read in blocks of some MB, each of which is freed before the next. Otherwise their memory is given back
    to the system each time and asked for again, and the system fills every page of it with zeros: two thirds of all
    pages that the reading of a long file touched were such. This is for processes that end soon, or after some minutes
    without a file.
    """
    _set(_LARGEST_IN_HEAP, 32 << 20)
    _set(_FREE_AT_TOP, 256 << 20)


def _set(setting: tuple[int, str, str], value: int) -> None:
    number, variable, tunable = setting
    if sys.platform != "linux" or variable in os.environ or tunable in os.environ.get("GLIBC_TUNABLES", ""):
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version"):
        library.mallopt(number, value)
