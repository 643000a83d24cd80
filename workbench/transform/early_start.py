"""Begins to start the process that will draw, while the widgets of a notebook are still imported."""

from __future__ import annotations

import threading

from . import own_processes


def begin_to_start(*, locked: bool) -> None:
    """Begin, if no such process runs; return at once. What is wrong with it is said by the figure that needs it.

    The process imports what draws, which takes as long as the import of the widgets. So the first figure of a kernel
    hardly waits for it.
    """
    if not locked:
        own_processes.shared().start()
        return
    from . import protected

    threading.Thread(target=protected.shared().fence, name="workbench drawers", daemon=True).start()
