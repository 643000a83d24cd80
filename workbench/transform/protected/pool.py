"""Draws figures in locked processes: the side of the server. Any number of threads may use it."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import threading
import time
from collections.abc import Mapping

from pydantic import JsonValue

from ...errors import Cancelled, NotProtected
from ..output import FILENAME
from ..used_names import Names
from .lock import Bounds
from .messages import (
    ANSWER,
    ANSWER_MAGIC,
    FAILED,
    JOB,
    JOB_MAGIC,
    MOST_ANSWER_JSON,
    READY,
    Job,
    Kind,
)
from .outcome import FIX, CancelledBy, Ended, Fence, Limits, ProcessDrawer, killed, limited, refused
from .queue import Turns
from .reply import Forged, ended_of, read
from .sealed_memory import Sealed, Shelf
from .zygote_process import Gone, Worker, Zygote

_READY_SECONDS = 10.0
_SLICE = 0.05
_TRIES = 10
_PAUSE = 0.02
_END_SECONDS = 0.5
_STOOD = re.compile(rb'File "' + FILENAME.encode() + rb'", line (\d{1,6})')
_GIVE_TRACE = signal.SIGUSR1
_FAILED_FOR = 5.0


class Pool(ProcessDrawer):
    """A zygote, its spare processes, and the queue of those who wait.

    Parameters
    ----------
    limits : of each script.
    workers : most figures at once; by default the number of processors, at least 2.
    turns : the queue; by default one for that many workers.
    """

    def __init__(
        self, limits: Limits | None = None, *, workers: int | None = None, turns: Turns | None = None
    ) -> None:
        self.limits = limits or Limits()
        self.workers = workers or max(2, os.cpu_count() or 2)
        self.turns = turns or Turns(self.workers)
        self.shelf = Shelf()
        self._zygote: Zygote | None = None
        self._starting = threading.Lock()
        self._failed: tuple[float, NotProtected] | None = None

    def fence(self) -> Fence:
        """Start the zygote if it does not run, and say whether the lock holds. The first start takes some seconds."""
        try:
            zygote = self._alive()
        except NotProtected as error:
            return Fence(False, str(error))
        version = zygote.hello["landlock"]
        kinds = ("limits", "seccomp", *([f"Landlock {version}"] if version > 0 else []))
        return Fence(
            True, "Scripts run locked in: they cannot reach files, the network or other processes.", kinds
        )

    def run(
        self,
        script: str,
        packed: bytes | bytearray | memoryview | None,
        params: Mapping[str, JsonValue],
        *,
        kind: Kind = "draw",
        content: str | None = None,
        organization: str | None = None,
        cancelled: CancelledBy | None = None,
        seconds: float | None = None,
        account: bool = False,
        names: Names | None = None,
    ) -> Ended:
        """As ``ProcessDrawer.run``, in a process that can do nothing else."""
        job = self.job(kind, script, params, seconds, names)
        text = job.dump()
        with self.turns.turn(organization, cancelled):
            self._alive()
            if packed is None:
                return self._tried(job, text, None, cancelled, account)
            with self.shelf.lend(content, packed) as sealed:
                return self._tried(job, text, sealed, cancelled, account)

    @property
    def is_running(self) -> bool:
        """Whether the zygote runs; nothing is started to find out."""
        zygote = self._zygote
        return zygote is not None and not zygote.dead.is_set()

    def zygote_process(self) -> int:
        """The process id of the zygote. Starts it if it does not run."""
        return self._alive().process

    def close(self) -> None:
        """End every process. The pool starts again with its next figure."""
        with self._starting:
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()
        self.shelf.close()

    def _alive(self) -> Zygote:
        with self._starting:
            zygote = self._zygote
            if zygote is not None and not zygote.dead.is_set():
                return zygote
            if zygote is not None:
                zygote.close()
                self._zygote = None
            if self._failed is not None and time.monotonic() < self._failed[0]:
                raise self._failed[1]
            try:
                self._zygote = self._started()
            except NotProtected as error:
                self._failed = (time.monotonic() + _FAILED_FOR, error)
                raise
            return self._zygote

    def _started(self) -> Zygote:
        limits = self.limits
        bounds = Bounds(int(limits.seconds) + 2, limits.memory_mb, limits.data_mb)
        try:
            zygote = Zygote(bounds, self.workers)
        except (OSError, AttributeError) as error:
            raise NotProtected(f"Scripts cannot be locked in here: {error}. {FIX}") from error
        except NotProtected as error:
            raise NotProtected(f"{error} {FIX}") from error
        found = zygote.hello["open"]
        if found or zygote.hello["threads"] != 1:
            zygote.close()
            could = ", ".join(found) if found else "fork with threads"
            raise NotProtected(f"The lock on scripts does not hold here: a test could {could}. {FIX}")
        return zygote

    def _tried(
        self, job: Job, text: bytes, sealed: Sealed | None, cancelled: CancelledBy | None, account: bool
    ) -> Ended:
        """Run a job. If the zygote ends meanwhile, which is not the fault of the script, run it once more."""
        for _ in range(2):
            zygote, worker, exchange = self._handed(job, text, sealed, cancelled)
            try:
                ended = self._answered(zygote, worker, exchange, job)
                worker.send(signal.SIGKILL)
                return _accounted(ended, worker) if account else ended
            except Gone:
                continue
            finally:
                worker.release()
                zygote.top_up()
        return killed(job, "the process that it was forked from ended", "")

    def _handed(
        self, job: Job, text: bytes, sealed: Sealed | None, cancelled: CancelledBy | None
    ) -> tuple[Zygote, Worker, _Exchange]:
        """A locked process that has the job. Processes that ended while they waited are skipped.

        The job is sent before the process reports that it is locked: so a process that is needed at once skips its
        warm-up. Until it is locked, it runs only code of the workbench.

        Raises
        ------
        NotProtected
            If the lock failed in one of them, or none became ready.
        """
        for _ in range(_TRIES):
            zygote = self._alive()
            try:
                worker = zygote.take()
            except (Gone, OSError):  # perhaps no descriptor was free, which passes
                time.sleep(_PAUSE)
                continue
            exchange = _Exchange(worker, cancelled)
            try:
                exchange.send(text, sealed)
                said = exchange.first_word()
            except (OSError, EOFError):
                said = b""
            except BaseException:  # also Cancelled: the process must not outlive its figure
                worker.release()
                raise
            if said == READY:
                worker.measure()
                return zygote, worker, exchange
            worker.release()
            if said.startswith(FAILED):
                why = said[1:].decode("utf-8", "replace")
                raise NotProtected(f"A process could not lock itself in, so it drew nothing: {why}. {FIX}")
        raise NotProtected(f"No process became ready to draw: {_TRIES} were started. Try again.")

    def _answered(self, zygote: Zygote, worker: Worker, exchange: _Exchange, job: Job) -> Ended:
        try:
            told, figure = exchange.receive(job)
            return ended_of(read(job, told, figure))
        except TimeoutError:
            return _out_of_time(job, worker)
        except (EOFError, OSError):
            return self._crashed(zygote, worker, job)
        except Forged as error:
            return refused(job, f"The process sent neither a figure nor an error ({error}).")

    def _crashed(self, zygote: Zygote, worker: Worker, job: Job) -> Ended:
        if not worker.ended.wait(_END_SECONDS):  # it closed its end and lives
            worker.send(signal.SIGKILL)
            worker.ended.wait(_READY_SECONDS)
            if not zygote.dead.is_set():
                return killed(job, "it closed its connection without an answer", "")
        if worker.status is None and (zygote.dead.is_set() or not _alive_still(zygote)):
            raise Gone
        status = worker.status or 0
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number == signal.SIGXCPU:
                return limited(job, None)
            return killed(job, f"{signal.strsignal(number)}, signal {number}", "")
        return killed(job, "it ended itself without an answer", "")


class _Exchange:
    """Sends one job over the socket of a worker and reads its answer, within a deadline and limits of size."""

    def __init__(self, worker: Worker, cancelled: CancelledBy | None) -> None:
        self.socket, self.cancelled = worker.answers, cancelled
        self.until = time.monotonic() + _READY_SECONDS
        self.socket.setblocking(False)
        self._poll = select.poll()

    def send(self, text: bytes, sealed: Sealed | None) -> None:
        head = JOB.pack(JOB_MAGIC, len(text), sealed.size if sealed else 0)
        self._wait(select.POLLOUT)
        sent = socket.send_fds(self.socket, [head], [sealed.descriptor] if sealed else [])
        view = memoryview(head[sent:] + text)
        while view:
            self._wait(select.POLLOUT)
            view = view[self.socket.send(view) :]

    def first_word(self) -> bytes:
        """READY when the process is locked; otherwise FAILED and the reason."""
        said = self._exactly(1)
        if said == FAILED:
            self._wait(select.POLLIN)
            said += self.socket.recv(500)
        return said

    def receive(self, job: Job) -> tuple[bytes, bytes]:
        self.until = time.monotonic() + job.seconds
        magic, told, figure = ANSWER.unpack(self._exactly(ANSWER.size))
        if magic != ANSWER_MAGIC or told > MOST_ANSWER_JSON or figure > job.figure_bytes:
            raise Forged("its head is not that of an answer")
        return self._exactly(told), self._exactly(figure)

    def _exactly(self, size: int) -> bytes:
        """Read ``size`` bytes. Memory grows as they arrive, so a false size in the head takes none."""
        parts = bytearray()
        while len(parts) < size:
            self._wait(select.POLLIN)
            part = self.socket.recv(min(size - len(parts), 2**20))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)

    def _wait(self, what: int) -> None:
        self._poll.register(self.socket, what)
        while True:
            left = self.until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if self._poll.poll(min(left, _SLICE if self.cancelled else left) * 1000 + 1):
                return
            if self.cancelled is not None and self.cancelled():
                raise Cancelled("The request was cancelled while its figure was drawn.")


def _alive_still(zygote: Zygote) -> bool:
    """Whether the zygote lives. Its end may be noticed a moment after the end of its processes."""
    return not zygote.dead.wait(0.2)


def _out_of_time(job: Job, worker: Worker) -> Ended:
    """Ask for the line at which the script is, then kill the process."""
    worker.send(_GIVE_TRACE)
    told = b""
    until = time.monotonic() + 0.1
    while time.monotonic() < until and not _STOOD.search(told) and len(told) < 16384:
        try:
            told += os.read(worker.trace, 4096)
        except BlockingIOError:
            time.sleep(0.002)
    worker.send(signal.SIGKILL)
    found = _STOOD.search(told)
    line = int(found.group(1)) if found else None
    return limited(job, line if line is not None and line <= job.script.count("\n") + 1 else None)


def _accounted(ended: Ended, worker: Worker) -> Ended:
    gone = worker.ended.wait(5)
    left = worker.orphans + (0 if gone else 1)
    peak = worker.own_mb() if gone else None
    return Ended(ended.outcome, ended.figure, ended.problems, ended.log, peak, left)
