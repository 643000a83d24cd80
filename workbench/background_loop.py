"""Event loops in background threads: one of each name for a process, whichever thread asks for it first."""

from __future__ import annotations

import asyncio
import os
import threading

_LOCK = threading.Lock()
_LOOPS: dict[str, asyncio.AbstractEventLoop] = {}


def background_loop(name: str) -> asyncio.AbstractEventLoop:
    """The event loop of this name, which runs in a thread of its own. A forked process has another one."""
    # Connections belong to the loop that opened them, so two threads that ask at once must get the same one.
    with _LOCK:
        found = _LOOPS.get(name)
        if found is None:
            found = _LOOPS[name] = asyncio.new_event_loop()
            threading.Thread(target=found.run_forever, name=name, daemon=True).start()
        return found


def _own_after_fork() -> None:
    """Forget the loops of the parent: their threads are not here, so what waits for one would wait for ever."""
    global _LOCK
    _LOCK = threading.Lock()
    _LOOPS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_own_after_fork)
