"""An executor of processes that are programs of their own.

That of the standard library runs the caller's script once more in each process, and is broken as a whole when one of
them dies. Here a process that dies costs the task that it was at, which another process does again.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, TypeVar

from ..errors import WorkerDied
from ..import_path import same_path

Result = TypeVar("Result")
ATTEMPTS = 3
"""How many processes a task may cost before it counts as one that kills them."""
_LENGTH = struct.Struct("<Q")
_PROGRAM = "from workbench.fan_out.worker_processes import main; main()"
_GRACE = 10.0


class WorkerProcesses(Executor):
    """Runs functions in ``size`` processes, which start with their first task and end with `shutdown`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._free: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._processes = [_Process() for _ in range(size)]
        for process in self._processes:
            self._free.put(process)
        self._threads = ThreadPoolExecutor(size, "workbench-workers")

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        return self._threads.submit(self._asked, fn, args, kwargs)

    def pids(self) -> list[int]:
        """The process ids of the workers that run."""
        return [process.pid for process in self._processes if process.pid is not None]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            for process in self._processes:
                process.close()

    def _asked(self, function: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
        task = pickle.dumps((function, args, kwargs), protocol=5)
        process = self._free.get()
        try:
            for _ in range(ATTEMPTS):
                with suppress(EOFError, OSError):
                    answer = process.ask(task)
                    break
                process.close()
            else:
                raise WorkerDied(
                    f"{ATTEMPTS} worker processes died at the same task. It may need more memory than there is."
                )
        finally:
            self._free.put(process)
        done, value = pickle.loads(answer)  # noqa: S301 - from a process of our own
        if done:
            result: Result = value
            return result
        raise value


class _Process:
    """A process that answers one task after the other. It is started when it is asked, also after it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def ask(self, task: bytes) -> bytes:
        """The answer to a task; EOFError or OSError if the process died."""
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise EOFError
        _write(process.stdin, task)
        return _read(process.stdout)

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(  # noqa: S603
                    [sys.executable, "-c", same_path() + _PROGRAM],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # Its parent ends it. A kernel that is shut down waits half a minute for those of its own group.
                    start_new_session=True,
                )
            return self._process

    def close(self) -> None:
        """End the process, which has no task; it ends by itself when its input does."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _write(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    """One message; EOFError if the other end is gone, also in the middle of it."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return data


def main() -> None:
    """Answer tasks until the input ends. Who started this process says when it ends, not Ctrl-C, which reaches all."""
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not be taken for an answer
    with suppress(EOFError, BrokenPipeError):
        while True:
            _write(answers, _answer(_read(sys.stdin.buffer)))


def _answer(task: bytes) -> bytes:
    try:
        function, args, kwargs = pickle.loads(task)  # noqa: S301 - from the process that started this one
        return pickle.dumps((True, function(*args, **kwargs)), protocol=5)
    except Exception as error:  # whatever it is, it is sent back
        try:
            return pickle.dumps((False, error), protocol=5)
        except Exception:  # an error may hold what cannot be sent
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")), protocol=5)
