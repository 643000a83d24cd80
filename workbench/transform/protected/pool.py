"""Figures drawn by locked processes: the server's side. May be used from any number of threads."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import Cancelled, NotProtected, Problem, ScriptError
from ..inprocess import Drawn
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
    names_as_params,
)
from .outcome import MEND, Ended, Fence, Limits, killed, limited, refused
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

CancelledBy = Callable[[], bool]


class Pool:
    """A zygote, its spare processes, and whose turn it is.

    Parameters
    ----------
    limits : of each script.
    workers : figures at once; the number of processors, at least 2.
    turns : fairness and queue; by default of that many workers.
    """

    locked = True

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
        """Start if need be, and say whether the lock holds. Takes some seconds the first time."""
        try:
            zygote = self._alive()
        except NotProtected as error:
            return Fence(False, str(error))
        version = zygote.hello["landlock"]
        kinds = (
            "limits",
            "seccomp",
            *([f"Landlock {version}"] if isinstance(version, int) and version > 0 else []),
        )
        return Fence(True, "Scripts run locked in: no files, no network, no other process.", kinds)

    def draw(
        self,
        script: str,
        packed: bytes | bytearray | memoryview,
        params: Mapping[str, Any],
        *,
        content: str | None = None,
        organization: str | None = None,
        cancelled: CancelledBy | None = None,
    ) -> Drawn:
        """As ``inprocess.draw``, in a process that can do nothing else.

        Parameters
        ----------
        content : names the bytes of ``packed``, which are then copied once for all figures of them.
        organization : whose figure it is, for fairness; None for one's own.
        cancelled : asked while waiting; if it says so, the process is ended.

        Raises
        ------
        ScriptError
            As ``inprocess.draw``; also where a bound held or the process was ended.
        NotProtected
            If the lock does not hold here; says what to do.
        Busy
            If too many figures wait.
        Cancelled
            If ``cancelled()`` became true.
        """
        ended = self.run(script, packed, params, content=content, organization=organization, cancelled=cancelled)
        if ended.figure is None:
            raise ScriptError(ended.problems, ended.log)
        return Drawn(ended.figure, ended.log)

    def check(self, script: str, names: Names | None = None, *, organization: str | None = None) -> list[Problem]:
        """As ``inprocess.check``, where a script that crashes Python's parser takes nothing with it."""
        return self.run(script, None, names_as_params(names), kind="check", organization=organization).problems

    def run(
        self,
        script: str,
        packed: bytes | bytearray | memoryview | None,
        params: Mapping[str, Any],
        *,
        kind: Kind = "draw",
        content: str | None = None,
        organization: str | None = None,
        cancelled: CancelledBy | None = None,
        seconds: float | None = None,
        account: bool = False,
    ) -> Ended:
        """As ``draw`` but for scripts that fail, whose end is told.

        Parameters
        ----------
        kind : "draw", or "check" to look at the script alone.
        seconds : a shorter time limit than that of all scripts.
        account : wait for the process to be gone, and fill ``peak_mb`` and ``processes_left``.
        """
        limits = self.limits
        job = Job(
            kind,
            script,
            dict(params),
            min(limits.seconds, seconds or limits.seconds),
            limits.memory_mb,
            limits.figure_bytes,
        )
        text = job.dump()
        with self.turns.turn(organization, cancelled):
            self._alive()
            if packed is None:
                return self._tried(job, text, None, cancelled, account)
            with self.shelf.lend(content, packed) as sealed:
                return self._tried(job, text, sealed, cancelled, account)

    def zygote_process(self) -> int:
        """The process id of the zygote, started if need be."""
        return self._alive().process

    def close(self) -> None:
        """End every process; the pool starts anew when it is used again."""
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
            raise NotProtected(f"Scripts cannot be locked in here: {error}. {MEND}") from error
        except NotProtected as error:
            raise NotProtected(f"{error} {MEND}") from error
        found = zygote.hello["open"]
        if found or zygote.hello["threads"] != 1:
            zygote.close()
            could = ", ".join(map(str, found)) if isinstance(found, list) and found else "fork with threads"
            raise NotProtected(f"The lock on scripts does not hold here: a test could {could}. {MEND}")
        return zygote

    def _tried(
        self, job: Job, text: bytes, sealed: Sealed | None, cancelled: CancelledBy | None, account: bool
    ) -> Ended:
        """Once more where the zygote ended meanwhile, which is not the script's doing."""
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
        """A process that is locked and has the job; those that ended while they waited are passed over.

        The job is sent before the process says that it is locked: one that is wanted wastes no time on getting
        warm. Until it is locked it runs our code alone.

        Raises
        ------
        NotProtected
            If the lock failed in one, or none gets ready.
        """
        for _ in range(_TRIES):
            zygote = self._alive()
            try:
                worker = zygote.take()
            except (Gone, OSError):  # no descriptor was free, perhaps, which passes
                time.sleep(_PAUSE)
                continue
            exchange = _Exchange(worker, cancelled)
            try:
                exchange.send(text, sealed)
                said = exchange.first_word()
            except (OSError, EOFError):
                said = b""
            except BaseException:
                worker.release()
                raise
            if said == READY:
                worker.measure()
                return zygote, worker, exchange
            worker.release()
            if said.startswith(FAILED):
                why = said[1:].decode("utf-8", "replace")
                raise NotProtected(f"A process could not be locked in, and drew nothing: {why}. {MEND}")
        raise NotProtected(f"No process got ready to draw, though {_TRIES} were started. Try again.")

    def _answered(self, zygote: Zygote, worker: Worker, exchange: _Exchange, job: Job) -> Ended:
        try:
            told, figure = exchange.receive(job)
            return ended_of(read(job, told, figure))
        except TimeoutError:
            return _out_of_time(job, worker)
        except (EOFError, OSError):
            return self._crashed(zygote, worker, job)
        except Forged as error:
            return refused(job, f"The process answered with what is no figure and no error ({error}).")

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
    """One job and its answer over a worker's socket, with a deadline and caps."""

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
        """What the process says when it is locked, or why it could not be."""
        said = self._exactly(1)
        if said == FAILED:
            self._wait(select.POLLIN)
            said += self.socket.recv(500)
        return said

    def receive(self, job: Job) -> tuple[bytes, bytes]:
        self.until = time.monotonic() + job.seconds
        magic, told, figure = ANSWER.unpack(self._exactly(ANSWER.size))
        if magic != ANSWER_MAGIC or told > MOST_ANSWER_JSON or figure > job.figure_bytes:
            raise Forged("its head is none")
        return self._exactly(told), self._exactly(figure)

    def _exactly(self, size: int) -> bytes:
        """Bytes as they come; memory is taken as they come too, not as they are announced."""
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
                raise Cancelled("The request was withdrawn while its figure was drawn.")


def _alive_still(zygote: Zygote) -> bool:
    """Whether the zygote lives; its end may be known a moment after that of its processes."""
    return not zygote.dead.wait(0.2)


def _out_of_time(job: Job, worker: Worker) -> Ended:
    """Ask where the script stands, then kill."""
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
