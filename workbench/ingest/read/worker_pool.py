"""Several files prepared at once by worker processes; results come in the order of the files."""

from __future__ import annotations

import os
import queue
import select
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import orjson

from ...import_path import pythonpath
from ..plan.jobs import Job
from .worker import READY, Outcome, outcome_of

_GRACE = 10.0
_START = 120.0
_AHEAD = 2
_WORDS = 64 << 20
_PER_WORKER = 16 << 20
"""Bytes of text that are read in about the time in which a process starts (measured: 0.9 s, 17 MB/s)."""
_PER_FILE = 512 << 10
"""What a small file costs at least, in the same measure (30 ms)."""
_PROGRAM = "import pathlib, sys; from workbench.ingest.read.worker import main; main(pathlib.Path(sys.argv[1]))"

Done = tuple[Job, Outcome, IO[bytes]]


def outcomes(jobs: Sequence[Job], processes: int, *, isolated: bool = False) -> Iterator[Done]:
    """Each job with what became of it and its spool, in the order of ``jobs``.

    With one process, and where all is read in less time than processes need to start, the files are read here, unless
    they are to be read ``isolated``; else by up to that many processes, which run at most two files each ahead of what
    was taken. A process that hangs or dies costs its own file only.
    """
    size = worth_starting([path for job in jobs for path in job.paths], processes)
    if size <= 1 and not isolated:
        for job in jobs:
            with tempfile.TemporaryFile(prefix="workbench-") as file:
                outcome = outcome_of(job.paths[0], job.options, file)
                file.seek(0)
                yield job, outcome, file
        return
    with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as scratch:
        pool = _Pool(size, Path(scratch))
        try:
            yield from pool.run(jobs)
        finally:
            pool.close()


def worth_starting(paths: Sequence[Path], jobs: int) -> int:
    """How many processes are worth their start: one per :data:`_PER_WORKER` of what is to be read, at most ``jobs``."""
    if jobs <= 1:
        return 1
    sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
    work = sum(max(size, _PER_FILE) for size in sizes)
    return max(min(jobs, len(paths), work // _PER_WORKER), 1)


class Worker:
    """One worker process, started when it is needed and again after it died."""

    def __init__(self, scratch: Path, program: str | None = None) -> None:
        self._scratch = scratch
        self._program = program or _PROGRAM
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process now, not with the first job; where it does not start, that job says so."""
        with suppress(OSError):
            self._running()

    def ask(self, job: Mapping[str, Any], seconds: float) -> Any:
        """The answer to a job, as JSON; ``{"refused": why}`` where the process dies or takes too long."""
        try:
            process = self._running()
            line = self._exchange(process, orjson.dumps(job) + b"\n", seconds)
        except (OSError, TimeoutError) as error:
            self.kill()
            if isinstance(error, TimeoutError):
                return {"refused": f"Reading took longer than {seconds - _GRACE:g} s and was stopped."}
            line = b""
        if not line.endswith(b"\n"):
            self.kill()
            return {"refused": "The process that read the file died. The file may be damaged or too large."}
        return orjson.loads(line)

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, ready for a job; OSError if it does not start."""
        process = self._process
        if process is None or process.poll() is not None:
            process = self._process = self._start()
            try:
                said = self._line(process, _START)
            except TimeoutError:
                said = b""
            if said != READY:
                raise OSError("the process did not start")
        return process

    def _exchange(self, process: subprocess.Popen[bytes], job: bytes, seconds: float) -> bytes:
        if process.stdin is None:
            raise OSError("the pipe is closed")
        process.stdin.write(job)
        process.stdin.flush()
        return self._line(process, seconds)

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        """The next line that the process says; TimeoutError if it takes longer."""
        if process.stdout is None:
            raise OSError("the pipe is closed")
        deadline = time.monotonic() + seconds
        line = b""
        descriptor = process.stdout.fileno()
        while not line.endswith(b"\n") and len(line) < _WORDS:
            ready, _, _ = select.select([descriptor], [], [], max(deadline - time.monotonic(), 0.0))
            if not ready:
                raise TimeoutError
            part = os.read(descriptor, 1 << 16)
            if not part:
                break
            line += part
        return line

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", self._program, str(self._scratch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": pythonpath()},
        )

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            self._wait(process)

    def close(self) -> None:
        """Let it end by itself, which it does when its input ends."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
            self._wait(process)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


class _Pool:
    def __init__(self, size: int, scratch: Path) -> None:
        self._size = size
        self._scratch = scratch
        self._workers = [Worker(scratch) for _ in range(size)]
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="workbench-ingest")

    def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
        waiting: deque[tuple[Job, Path, Future[Outcome]]] = deque()
        left = deque(enumerate(jobs))
        while left or waiting:
            while left and len(waiting) < _AHEAD * self._size:
                number, job = left.popleft()
                spool = self._scratch / f"{number}.spool"
                waiting.append((job, spool, self._threads.submit(self._ask, job, spool)))
            job, spool, future = waiting.popleft()
            outcome = future.result()
            with spool.open("r+b") if spool.exists() else tempfile.TemporaryFile() as file:
                spool.unlink(missing_ok=True)
                yield job, outcome, file

    def _ask(self, job: Job, spool: Path) -> Outcome:
        worker = self._free.get()
        try:
            task = {
                "path": _as_text(job.paths[0]),
                "spool": str(spool),
                "options": asdict(job.options) | {"parts": [_as_text(Path(part)) for part in job.options.parts]},
            }
            outcome: Outcome = worker.ask(task, job.options.limits.seconds + _GRACE)
            return outcome
        finally:
            self._free.put(worker)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=True)


def _as_text(path: Path) -> str:
    """A path as JSON takes it: its name need not be Unicode."""
    return os.fsencode(path.absolute()).decode("latin-1")
