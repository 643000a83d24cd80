"""Runs jobs in two threads inside one call. When the call returns, both have ended; it raises their errors."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Result = TypeVar("Result")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Queue(Generic[Result]):
    """Jobs in order, taken by whichever thread is free; after an error no other job begins."""

    def __init__(self, jobs: Sequence[Callable[[], Result]]) -> None:
        self._open = iter(enumerate(jobs))
        self._lock = threading.Lock()
        self.results: dict[int, Result] = {}
        self.error: BaseException | None = None

    def _next(self) -> tuple[int, Callable[[], Result]] | None:
        with self._lock:
            return None if self.error else next(self._open, None)

    def work(self, before: Callable[[], object] | None = None) -> None:
        try:
            if before is not None:
                before()
            while (job := self._next()) is not None:
                self.results[job[0]] = job[1]()
        except BaseException as error:  # raised again in the thread of the caller
            self.error = self.error or error


def results(jobs: Sequence[Callable[[], Result]], meanwhile: Callable[[], object] | None = None) -> list[Result]:
    """The results of the jobs, in their order; this thread and a helper run them.

    This thread runs ``meanwhile`` first, while the helper begins. Jobs must not use what other jobs change.
    """
    queue = _Queue(jobs)
    helper = _started(queue) if CORES > 1 else None
    queue.work(meanwhile)
    if helper is not None:
        helper.join()
    if queue.error is not None:
        raise queue.error
    return [queue.results[place] for place in range(len(jobs))]


def _started(queue: _Queue[Result]) -> threading.Thread | None:
    helper = threading.Thread(target=queue.work, name="workbench-store", daemon=True)
    try:
        helper.start()
    except RuntimeError:  # the system gives no more threads: this one does all jobs
        return None
    return helper
