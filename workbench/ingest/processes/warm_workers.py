"""The workers of this process: they stay for the next ingest, since a start costs the better part of a second."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...readers.file.parser_process import can_lock
from .worker_process import Kind, Worker, as_text, kind_of

PROGRAM = "import pathlib, sys; from workbench.ingest.read.worker import main; main(pathlib.Path(sys.argv[1]))"
_IDLE = 300.0
"""Seconds without a file after which workers end."""
_MOST_KEPT = 4
_LONGEST = 6 * 3600.0
"""Seconds that unpacking an archive or reading a sheet may take."""


class _Warm:
    """Workers without a job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[Worker] = []
        self._clock: threading.Timer | None = None
        self._number = 0

    def take(self, size: int, kind: Kind) -> list[Worker]:
        """So many workers for the caller alone; they start now if they must. Those of another kind end: they were
        started before the paths of imports or the environment changed."""
        with self._lock:
            mine = [worker for worker in self._kept if worker.kind == kind and worker.is_alive][:size]
            gone = [worker for worker in self._kept if not (worker.kind == kind and worker.is_alive)]
            self._kept = [worker for worker in self._kept if worker not in mine and worker not in gone]
        for worker in gone:
            worker.close()
        mine += [Worker(kind) for _ in range(size - len(mine))]
        for worker in mine:
            worker.start()
        return mine

    def give(self, workers: Sequence[Worker]) -> None:
        """Keep workers that have no job for the next caller."""
        with self._lock:
            room = max(_MOST_KEPT - len(self._kept), 0)
            self._kept += workers[:room]
            self._watch()
        for worker in workers[room:]:
            worker.close()

    def number(self) -> int:
        """A number that no other run of this process has."""
        with self._lock:
            self._number += 1
            return self._number

    def close(self) -> None:
        """End all that have no job."""
        with self._lock:
            kept, self._kept = self._kept, []
            if self._clock is not None:
                self._clock.cancel()
                self._clock = None
        for worker in kept:
            worker.close()

    def forget(self) -> None:
        """In a process that was forked: the workers are those of its parent, which closes them."""
        _OF_THE_PARENT.extend(self._kept)
        self._lock, self._kept, self._clock = threading.Lock(), [], None

    def _watch(self) -> None:
        """End the workers after a while without a file."""
        if self._clock is not None:
            self._clock.cancel()
        self._clock = threading.Timer(_IDLE, self.close)
        self._clock.daemon = True
        self._clock.start()


WARM = _Warm()
_OF_THE_PARENT: list[Worker] = []
atexit.register(WARM.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WARM.forget)


def start() -> None:
    """Start a worker for the next ingest of this process, which does other things meanwhile; nothing on a machine
    without the lock, where this process may read the files itself."""
    if can_lock():
        WARM.give(WARM.take(1, kind_of(PROGRAM)))


@contextmanager
def workers(size: int) -> Iterator[list[Worker]]:
    """So many workers for the time of the block. They are killed if the block fails: they may have a job still."""
    taken = WARM.take(size, kind_of(PROGRAM))
    try:
        yield taken
    except BaseException:
        for worker in taken:
            worker.kill()
            worker.close()
        raise
    WARM.give(taken)


def ask_locked(what: str, job: Mapping[str, Any], files: Sequence[Path], into: Path | None = None) -> Any:
    """The answer to a job about some files, by a process that is locked to them; ``{"refused": why}`` where it dies.

    ``what`` is one of `workbench.ingest.read.worker.JOBS`. What the process has made is at ``into`` then. None where
    this machine has no lock: the caller does the job itself.
    """
    if not can_lock():
        return None
    with workers(1) as (worker,):
        task = {
            **job,
            "do": what,
            "run": WARM.number(),
            "spool": as_text(into or worker.scratch / "made"),
            "reading": [as_text(file) for file in files],
        }
        return worker.ask(task, _LONGEST)
