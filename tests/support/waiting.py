"""Waits until something holds, with a limit that is generous on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(holds: Callable[[], T], what: str = "it", seconds: float = 60, every: float = 0.01) -> T:
    """What ``holds()`` gives as soon as it is true; AssertionError if that is never so."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come in {seconds:g} s")
        time.sleep(every)
    return found
