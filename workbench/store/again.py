"""What a full disk refused, tried again by itself; and the notes of runs, small files beside a store."""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from pathlib import Path

from ..errors import Later, StoreError
from .objects.place import PlaceAway

_LOG = logging.getLogger("workbench.store")


def may_pass(error: Exception) -> bool:
    """Whether an error of the store may pass by itself, as that of a full disk. Damage does not."""
    return type(error) is StoreError or isinstance(error, OSError | PlaceAway | Later)


class Again:
    """Calls what failed every ``seconds`` until it works, in a thread that lives as long as anything is due."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: dict[Hashable, Callable[[], object]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, name: Hashable, work: Callable[[], object]) -> None:
        """Call ``work`` again until it raises nothing that may pass; of one name only the newest."""
        with self._lock:
            if self._closed.is_set():
                return
            self._due[name] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="workbench-again", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(self._seconds):
            with self._lock:
                due = list(self._due.items())
            for name, work in due:
                if not self._closed.is_set():
                    self._try(name, work)
            with self._lock:
                if not self._due:
                    self._thread = None
                    return

    def _try(self, name: Hashable, work: Callable[[], object]) -> None:
        with self._lock:
            if self._due.get(name) is not work:
                return
            del self._due[name]
        try:
            work()
        except Exception as error:  # whatever broke, the thread goes on with the rest; what cannot pass is dropped
            if may_pass(error):
                with self._lock:
                    self._due.setdefault(name, work)
            else:
                _LOG.exception("A second try failed.")

    def close(self) -> None:
        """Try nothing any more, and wait for what is under way."""
        self._closed.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()


def write_note(path: Path, note: bytes) -> None:
    """Write a note whole: other processes see the old one or this one."""
    draft = path.with_name(f".{secrets.token_hex(8)}")
    try:
        draft.write_bytes(note)
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise


def write_note_over(path: Path, note: bytes) -> None:
    """Write a short note over one that is there, in the room that it has: a full disk takes that too."""
    with path.open("r+b") as file:
        file.write(note.ljust(os.fstat(file.fileno()).st_size))
