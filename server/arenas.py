"""How many heaps the C library keeps for the threads of a server process.

That of GNU gives each thread a heap of its own, up to eight for each processor, and a heap keeps for itself what is
free in it. Threads that draw or read files need much memory for a moment, one thread after the other. So a server held
some 100 MB which nobody used. With few heaps the next thread takes what the one before has freed.
"""

from __future__ import annotations

import ctypes
import os
import sys

FEW = 2
"""Python itself lets one thread allocate at a time; another one is for SQLite and NumPy, which run beside it."""
_ARENA_MAX = -8
"""The number of this setting in ``malloc.h``."""


def keep_few() -> None:
    """Let this process have few heaps, where the C library is that of GNU and the operator has not said otherwise.
    Threads that have a heap already keep it."""
    chosen = "MALLOC_ARENA_MAX" in os.environ or "arena_max" in os.environ.get("GLIBC_TUNABLES", "")
    if chosen or sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version"):
        library.mallopt(_ARENA_MAX, FEW)
