"""Several files prepared at once by worker processes; results come in the order of the files."""

from __future__ import annotations

import queue
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

import orjson

from ...readers.file.parser_process import can_lock
from ...readers.non_series.recognise import Holding
from ..plan.jobs import Job
from ..processes import warm_workers
from ..processes.worker_process import DIED, GRACE, Worker, as_text
from .locked_reader import open_unfinished
from .prepare import Prepared
from .worker import Outcome, outcome_of

_AHEAD = 2
_PER_WORKER = 16 << 20
"""Bytes of text that are read in about the time in which a process starts (measured: 0.9 s, 17 MB/s)."""
_PER_FILE = 512 << 10
"""What a small file costs at least, in the same measure (30 ms)."""

_LOOK = 0.03
"""Seconds between two looks at the samples of the file that is read."""

Done = tuple[Job, Outcome, IO[bytes]]
Meanwhile = Callable[[Job, Callable[[], BinaryIO | None]], None]
"""Gets the job that is read, and what opens its spool as far as it is written: it may be that of another job by
mistake, or be dropped, as the outcome shows."""


def outcomes(
    jobs: Sequence[Job],
    processes: int,
    *,
    isolated: bool = False,
    locked: bool = False,
    meanwhile: Meanwhile | None = None,
) -> Iterator[Done]:
    """Each job with what became of it and its spool, in the order of ``jobs``.

    While another process reads for the next of them, ``meanwhile`` is called again and again.

    Where the machine has the lock, locked processes read: up to ``processes`` of them, at most two files each ahead of
    what was taken. Where it has not, the files are read here, unless they are to be read ``isolated`` or there is
    enough to read for several; with ``locked`` they are refused. A process that hangs or dies costs its own file only.
    """
    if not jobs:
        return
    size = worth_starting([path for job in jobs for path in job.paths], processes)
    if size <= 1 and not isolated and not can_lock():
        for job in jobs:
            with tempfile.TemporaryFile(prefix="workbench-") as file:
                outcome = outcome_of(job.paths[0], job.options, file)
                file.seek(0)
                yield job, outcome, file
        return
    with warm_workers.workers(size) as workers:
        pool = _Pool(workers, locked, meanwhile)
        try:
            yield from pool.run(jobs)
        except BaseException:
            pool.stop()
            raise
        pool.close()


def worth_starting(paths: Sequence[Path], jobs: int) -> int:
    """How many processes are worth their start: one per :data:`_PER_WORKER` of what is to be read, at most ``jobs``."""
    if jobs <= 1:
        return 1
    sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
    work = sum(max(size, _PER_FILE) for size in sizes)
    return max(min(jobs, len(paths), work // _PER_WORKER), 1)


class _Pool:
    """The workers of one ingest. The folder of each has the list of its files: one locked process reads them all."""

    def __init__(self, workers: Sequence[Worker], locked: bool, meanwhile: Meanwhile | None) -> None:
        self._workers = workers
        self._locked = locked
        self._meanwhile = meanwhile
        self._run = warm_workers.WARM.number()
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._at: dict[int, Worker] = {}
        """Number of a job -> the worker that is at it."""
        for worker in workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(len(workers), thread_name_prefix="workbench-ingest")

    def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
        waiting: deque[tuple[int, Job, Future[tuple[Outcome, Path]]]] = deque()
        left = deque(enumerate(jobs))
        files = [as_text(path) for job in jobs for path in (*job.paths, *map(Path, job.options.parts))]
        for worker in self._workers:
            self._list_in(worker).write_bytes(orjson.dumps(files))
        while left or waiting:
            while left and len(waiting) < _AHEAD * len(self._workers):
                number, job = left.popleft()
                waiting.append((number, job, self._threads.submit(self._ask, job, number)))
            number, job, future = waiting.popleft()
            while self._meanwhile is not None and not wait([future], _LOOK).done:
                self._meanwhile(job, partial(self._unfinished, number))
            outcome, spool = future.result()
            with spool.open("r+b") if spool.exists() else tempfile.TemporaryFile() as file:
                yield job, outcome, file
            spool.unlink(missing_ok=True)  # Windows does not remove a file that is open

    def _ask(self, job: Job, number: int) -> tuple[Outcome, Path]:
        """What a worker says of a job, and the spool in its folder."""
        worker = self._at[number] = self._free.get()
        try:
            spool = self._spool(worker, number)
            task = {
                "do": "read",
                "run": self._run,
                "locked": self._locked,
                "path": as_text(job.paths[0]),
                "spool": as_text(spool),
                "list": as_text(self._list_in(worker)),
                "options": job.options.as_json(),
            }
            return _checked(worker.ask(task, job.options.limits.seconds + GRACE)), spool
        finally:
            del self._at[number]
            self._free.put(worker)

    def _spool(self, worker: Worker, number: int) -> Path:
        return worker.scratch / f"{self._run}-{number}.spool"

    def _unfinished(self, number: int) -> BinaryIO | None:
        """The spool of a job that a worker is at; None if there is none yet."""
        worker = self._at.get(number)
        return None if worker is None else open_unfinished(worker.scratch, self._spool(worker, number))

    def _list_in(self, worker: Worker) -> Path:
        return worker.scratch / f"{self._run}.json"

    def stop(self) -> None:
        """End in the middle: nobody wants what the workers are at."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(wait=True)

    def close(self) -> None:
        """End after the last outcome. What a worker has left of this ingest goes."""
        self._threads.shutdown(wait=True)
        for worker in self._workers:
            for left in (self._list_in(worker), *worker.scratch.glob(f"{self._run}-*.spool")):
                with suppress(OSError):
                    left.unlink()


def _checked(answer: Any) -> Outcome:
    """An answer that has the form of an outcome: a file that took its process over may let it say anything."""
    try:
        outcome: Outcome = answer
        if not isinstance(answer, dict):
            raise TypeError
        if "prepared" in outcome:
            Prepared.of(outcome["prepared"])
        elif "holding" in outcome:
            Holding.of(outcome["holding"])
        elif not all(isinstance(text, str) for text in outcome.get("tests", [outcome.get("refused")])):
            raise TypeError
    except (TypeError, ValueError, KeyError, AttributeError):
        return {"refused": DIED}
    return outcome
