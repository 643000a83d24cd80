"""Starts the zygote without any secret of the server, asks it to fork workers, and notices their end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import NotProtected
from ...import_path import same_path
from .lock import Bounds
from .zygote import ENDED_AS, FAILURE, FORK, FORKED, FORKED_AS, HELLO, NUMBERED, Hello

_START_SECONDS = 90.0
_KEPT = ("LANG", "LC_ALL", "LC_CTYPE")
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # Arrow's own allocator starts a thread, and a fork of a process with threads is not safe.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


class Gone(Exception):
    """The zygote ended. Its figures are lost and may be asked for again."""


@dataclass(eq=False)
class Worker:
    """One forked process, and the server's ends of its two connections."""

    number: int
    answers: socket.socket
    trace: int
    process: int = 0
    handle: int = -1
    resident_kb: int = 0
    status: int | None = None
    most_kb: int = 0
    orphans: int = 0
    forked: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    _released: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def born(self, process: int, handle: int) -> None:
        """Record the process. If the worker was released meanwhile, end it."""
        with self._lock:
            self.process, self.handle = process, handle
        self.forked.set()
        if self._released:
            self.release()

    def send(self, number: int) -> None:
        """Send a signal to the process, never to another process that got the same id."""
        with self._lock:
            if self.handle >= 0 and not self.ended.is_set():
                try:
                    signal.pidfd_send_signal(self.handle, number)
                except ProcessLookupError:
                    return

    def release(self) -> None:
        """Kill the process if it lives, and close its connections."""
        self._released = True
        self.send(signal.SIGKILL)
        with self._lock:
            self.answers.close()
            if self.trace >= 0:
                os.close(self.trace)
                self.trace = -1
            if self.handle >= 0:
                os.close(self.handle)
                self.handle = -1

    def own_mb(self) -> float:
        """The most memory that it took beyond what it was forked with, MB. Known once it has ended."""
        return max(0, self.most_kb - self.resident_kb) / 1024

    def measure(self) -> None:
        """Record the memory that it has before it begins."""
        try:
            pages = int(Path(f"/proc/{self.process}/statm").read_bytes().split()[1])
        except (OSError, IndexError):
            return
        self.resident_kb = pages * (os.sysconf("SC_PAGE_SIZE") // 1024)


class Zygote:
    """A running zygote and its spare workers."""

    def __init__(self, bounds: Bounds, spares: int) -> None:
        self.dead = threading.Event()
        self._spares_wanted = spares
        self._workers: dict[int, Worker] = {}
        self._spares: list[Worker] = []
        self._number = 0
        self._lock = threading.Lock()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._errors = os.memfd_create("errors", os.MFD_CLOEXEC)
        with theirs:
            self._process = _execute(theirs.fileno(), self._errors, bounds)
        try:
            self.hello = self._greeting()
        except BaseException:  # whatever went wrong, no process may stay behind
            self.close()
            raise
        self._reader = threading.Thread(target=self._listen, name="workbench-zygote", daemon=True)
        self._reader.start()
        self.top_up()

    @property
    def process(self) -> int:
        return self._process.pid

    def take(self) -> Worker:
        """A worker that is ready or soon will be. ``top_up`` makes the next.

        Raises
        ------
        Gone
            If the zygote has ended.
        """
        with self._lock:
            if self.dead.is_set():
                raise Gone
            worker = self._spares.pop(0) if self._spares else self._fork()
            if not self._spares:
                self._spares.append(self._fork())
            return worker

    def top_up(self) -> None:
        """Fork spare workers until there are as many as wanted."""
        with self._lock:
            while len(self._spares) < self._spares_wanted and not self.dead.is_set():
                try:
                    self._spares.append(self._fork())
                except (Gone, OSError):  # the next call tries again
                    return

    def close(self) -> None:
        """End the zygote and all its processes."""
        self.dead.set()
        with self._lock:
            left = list(self._workers.values())
            self._spares.clear()
        for worker in left:
            worker.release()
            worker.forked.set()
            worker.ended.set()
        self._process.kill()
        self._process.wait()
        self.control.close()
        if threading.current_thread() is not getattr(self, "_reader", None) and hasattr(self, "_reader"):
            self._reader.join(5)
        with self._lock:
            if self._errors >= 0:
                os.close(self._errors)
                self._errors = -1

    def _fork(self) -> Worker:
        """Ask for a process. The reading thread gets the answer. The caller holds the lock."""
        self._number += 1
        ours, theirs = socket.socketpair()
        trace, write = os.pipe()
        worker = Worker(self._number, ours, trace)
        self._workers[worker.number] = worker
        try:
            os.set_blocking(trace, False)
            os.set_blocking(write, False)
            socket.send_fds(self.control, [NUMBERED.pack(FORK, worker.number)], [theirs.fileno(), write])
        except OSError as error:
            del self._workers[worker.number]
            worker.release()
            raise Gone from error
        finally:
            theirs.close()
            os.close(write)
        return worker

    def _greeting(self) -> Hello:
        self.control.settimeout(_START_SECONDS)
        try:
            said = self.control.recv(65536)
        except TimeoutError:
            raise NotProtected(f"The process that draws did not start within {_START_SECONDS:g} s.") from None
        self.control.settimeout(None)
        if said[:1] != HELLO:
            why = said[1:].decode("utf-8", "replace") if said[:1] == FAILURE else self._said()
            last = why.strip().splitlines()[-1:] or ["it gave no reason"]
            raise NotProtected(f"The process that draws did not start: {last[0]}")
        hello: Hello = json.loads(said[1:])
        return hello

    def _said(self) -> str:
        size = os.fstat(self._errors).st_size
        return os.pread(self._errors, 4000, max(0, size - 4000)).decode("utf-8", "replace")

    def _listen(self) -> None:
        """Read what the zygote reports: each process that was forked, and each that ended."""
        while True:
            try:
                said, handles, _, _ = socket.recv_fds(self.control, 256, 1)
            except OSError:
                said, handles = b"", []
            if not said:
                break
            if said[:1] == FORKED:
                _, number, process = FORKED_AS.unpack(said)
                self._forked(number, process, handles[0])
            else:
                self._ended(*ENDED_AS.unpack(said)[1:])
        self._lost()

    def _forked(self, number: int, process: int, handle: int) -> None:
        worker = self._workers.get(number)
        if worker is None:
            os.close(handle)  # the server gave it up while the pool was closing
        else:
            worker.born(process, handle)

    def _ended(self, number: int, status: int, most_kb: int, orphans: int) -> None:
        worker = self._workers.pop(number, None)
        if worker is None:
            return
        worker.status, worker.most_kb, worker.orphans = status, most_kb, orphans
        worker.ended.set()
        with self._lock:
            if worker in self._spares:  # killed while it waited
                self._spares.remove(worker)
                worker.release()

    def _lost(self) -> None:
        self.dead.set()
        with self._lock:
            left, self._workers = list(self._workers.values()), {}
            spares, self._spares = self._spares, []
        for worker in left:
            worker.forked.set()
            worker.ended.set()
        for worker in spares:
            worker.release()


def _execute(control: int, errors: int, bounds: Bounds) -> subprocess.Popen[bytes]:
    """Start a fresh interpreter that can import the same modules and gets nothing else from this process."""
    code = (
        f"{same_path()}from workbench.transform.protected.zygote import main\nmain({control}, {bounds.__dict__!r})"
    )
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    zone = {"TZ": os.environ.get("TZ", ":/etc/localtime")}
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-s", "-P", "-c", code],
        env={**kept, **zone, **_ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        pass_fds=[control],
        cwd="/",
        start_new_session=True,
    )
