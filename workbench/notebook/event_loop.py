"""What the page asks, brought to the kernel's loop: JupyterLab sends messages of widgets over subshells, and each of
those has a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any


def at_home(call: Callable[..., Any]) -> Callable[..., None]:
    """``call`` as it may be called from any thread: it happens on the loop that runs here and now, at once if that
    is where it was called. Where no loop runs it happens in the caller."""
    thread = threading.get_ident()
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return call

    def hop(*args: Any) -> None:
        if threading.get_ident() == thread:
            call(*args)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(partial(call, *args))

    return hop
