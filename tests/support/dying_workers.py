"""What a worker process is asked in tests, so that it dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def die_the_first_time(mark: str) -> str:
    """End the process that does this, unless one did before; ``mark`` is a file that says so."""
    place = Path(mark)
    if not place.exists():
        place.write_text(str(os.getpid()))
        os._exit(9)
    return f"after {place.read_text()}"


def die() -> None:
    """End the process that does this."""
    os._exit(9)


def refuse(error: Exception) -> None:
    """Raise what was sent."""
    raise error


def end(pids: list[int]) -> None:
    """Kill processes, of which some may be gone."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
