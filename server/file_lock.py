"""A file that lets one process at a time in. This module alone knows how each system locks a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _wait(descriptor: int) -> None:
        """Lock the first byte. Windows gives up after ten seconds, so it is asked again."""
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            except OSError:
                continue
            return
else:
    import fcntl

    def _wait(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process is in here with the same file. The system lets go for a process that ends."""
    with path.open("w") as held:
        _wait(held.fileno())
        yield
