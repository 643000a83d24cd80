"""Moves the log of a store into its file when nobody has written for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ...errors import WorkbenchError

IDLE_SECONDS = 2.0
"""How long nobody in this process has written before the log is moved."""


class LogMover:
    """Calls ``move`` in a thread of its own, ``IDLE_SECONDS`` after the last write, until it returns True.

    The thread ends when the log is moved; the next write begins another one.
    """

    def __init__(self, move: Callable[[], bool]) -> None:
        self._move = move
        self._changed = threading.Condition()
        self._due = 0.0
        self._thread: threading.Thread | None = None
        self._stopped = False

    def written(self) -> None:
        """To be called after each write."""
        self._due = time.monotonic() + IDLE_SECONDS
        thread = self._thread
        if thread is not None and thread.is_alive():
            return
        with self._changed:
            if not self._stopped and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, name="workbench-log", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for a move that is under way."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopped and (rest := self._due - time.monotonic()) > 0:
                    self._changed.wait(rest)
                if self._stopped:
                    return
            due = self._due
            try:
                moved = self._move()
            except WorkbenchError:
                return  # moved or deleted: whoever uses the store next gets the error
            with self._changed:
                if moved and due == self._due:
                    self._thread = None
                    return
                self._due = max(self._due, time.monotonic() + IDLE_SECONDS)
