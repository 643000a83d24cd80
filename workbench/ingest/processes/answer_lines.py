"""The lines that a process writes, waited for with a limit of time.

A thread reads them, and not ``select``, which knows only sockets on Windows.
"""

from __future__ import annotations

import queue
import threading
from typing import IO


class AnswerLines:
    """The lines of a pipe. Its thread ends, and closes the pipe, when the process at the other end is gone."""

    def __init__(self, pipe: IO[bytes], longest: int) -> None:
        self._pipe, self._longest = pipe, longest
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="workbench-answers", daemon=True).start()

    def next(self, seconds: float) -> bytes:
        """The next line; what does not end with a line feed is cut off or too long, and nothing follows it.

        Raises
        ------
        TimeoutError
            If it does not come in time.
        """
        try:
            return self._lines.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            raise TimeoutError from None

    def _read(self) -> None:
        line = b"\n"
        with self._pipe:
            while line.endswith(b"\n"):
                try:
                    line = self._pipe.readline(self._longest)
                except (OSError, ValueError):
                    line = b""
                self._lines.put(line)
