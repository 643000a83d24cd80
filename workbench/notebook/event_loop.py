"""Moves calls of the page to the kernel's event loop.

JupyterLab sends messages of widgets over subshells, and each subshell runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def at_home(call: Callable[P, T]) -> Callable[P, T | None]:
    """``call`` for use in any thread: it then runs on the event loop of the thread that made it.

    It runs at once if it is called in that thread, and later otherwise. If no loop runs here now, it runs in the
    thread that calls it.
    """
    thread = threading.get_ident()
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return call

    def hop(*args: P.args, **kwargs: P.kwargs) -> None:
        if threading.get_ident() == thread:
            call(*args, **kwargs)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(partial(call, *args, **kwargs))

    return hop
