"""What a forked process does with its one figure: lock, wait for the job, draw, answer, end.

Nothing here is trusted by the server: a hostile script owns this process from the moment it runs.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import signal
import socket
import traceback
from types import FrameType
from typing import Any

from ...errors import Problem, ScriptError
from ..inprocess import Drawn, draw
from ..output import FILENAME
from ..script import check_script, problem
from .calls import READ, REPLY, TRACE
from .lock import Lock, LockFailed
from .warm import touch
from .wire import ANSWER, ANSWER_MAGIC, FAILED, JOB, JOB_MAGIC, READY, Job, read_exactly, write_all

FRIENDLY = 0.8
"""The part of its time after which a script is told so, with the line; at its end the process is killed."""
_AGAIN = 0.03
_PRIVATE = 2
TIME, MEMORY, SIZE = "time", "memory", "size"


class TimeUp(BaseException):
    """Raised in the script when most of its time is over."""


def main(answers: int, trace: int, lock: Lock, parent: int) -> None:
    """Serve one job on the descriptor ``answers`` and end the process; never returns."""
    try:
        _settle(answers, trace)
        try:
            lock.apply(parent)
        except (LockFailed, OSError) as error:
            write_all(REPLY, FAILED + str(error).encode()[:500])
            os._exit(1)
        touch()
        write_all(REPLY, READY)
        _serve(lock)
    finally:
        os._exit(0)


def _settle(answers: int, trace: int) -> None:
    """Only the two descriptors, at their fixed numbers; standard input and output lead nowhere."""
    above = max(answers, trace, TRACE) + 1
    os.dup2(answers, above)
    os.dup2(trace, above + 1)
    os.dup2(above, REPLY)
    os.dup2(above + 1, TRACE)
    os.closerange(TRACE + 1, 2**20)
    signal.set_wakeup_fd(-1)
    for one in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, _time_up)
    faulthandler.register(signal.SIGUSR1, file=TRACE, all_threads=False, chain=False)


def _time_up(_: int, __: FrameType | None) -> None:
    raise TimeUp


def _serve(lock: Lock) -> None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, REPLY)
    head, descriptors, _, _ = socket.recv_fds(connection, JOB.size, 1)
    if len(head) < JOB.size:
        head += read_exactly(lambda size: os.read(REPLY, size), JOB.size - len(head))
    magic, length, size = JOB.unpack(head)
    if magic != JOB_MAGIC:
        return
    job = Job.load(read_exactly(lambda size: os.read(REPLY, size), length))
    data = _mapped(lock, descriptors[0], size) if descriptors else memoryview(b"")
    signal.setitimer(signal.ITIMER_REAL, job.seconds * FRIENDLY, _AGAIN)
    try:
        figure, meta = _answer(job, data)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except TimeUp as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        figure, meta = b"", _limited(job, TIME, _line(error), "")
    text = json.dumps(meta).encode()
    write_all(REPLY, ANSWER.pack(ANSWER_MAGIC, len(text), len(figure)), text, figure)


def _mapped(lock: Lock, descriptor: int, size: int) -> memoryview:
    """The sealed memory behind a descriptor, as bytes that cannot be written."""
    lock.libc.mmap.restype = ctypes.c_void_p
    address = lock.libc.mmap(None, ctypes.c_size_t(size), READ, _PRIVATE, descriptor, ctypes.c_long(0))
    if address in (None, ctypes.c_void_p(-1).value):
        raise MemoryError("the dataset could not be mapped")
    os.close(descriptor)
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B").toreadonly()


def _answer(job: Job, data: memoryview) -> tuple[bytes, dict[str, Any]]:
    if job.kind == "check":
        return b"", {"log": "", "problems": [_told(one) for one in check_script(job.script)]}
    try:
        drawn: Drawn = draw(job.script, data, job.params)
    except ScriptError as error:
        return b"", _failed(job, error)
    except MemoryError as error:
        return b"", _limited(job, MEMORY, _line(error), "")
    if len(drawn.figure) > job.figure_bytes:
        return b"", _limited(job, SIZE, None, drawn.log, len(drawn.figure))
    return drawn.figure, {"log": drawn.log, "problems": []}


def _failed(job: Job, error: ScriptError) -> dict[str, Any]:
    cause = error.__cause__
    line = error.problems[0].ctx.get("line")
    if isinstance(cause, TimeUp):
        return _limited(job, TIME, line, error.log)
    if isinstance(cause, MemoryError):
        return _limited(job, MEMORY, line, error.log)
    return {"log": error.log, "problems": [_told(one) for one in error.problems]}


def _told(one: Problem) -> dict[str, Any]:
    return {"msg": one.msg, "type": one.type, **{key: one.ctx[key] for key in ("line", "error") if key in one.ctx}}


def _limited(job: Job, what: str, line: int | None, log: str, size: int = 0) -> dict[str, Any]:
    return {"log": log, "problems": [_told(limit(job, what, line, size))], "limit": what}


def limit(job: Job, what: str, line: int | None, size: int = 0) -> Problem:
    """The words for a bound that held: ``what`` is "time", "memory" or "size"."""
    if what == TIME:
        words = f"The script ran out of time; it may take {job.seconds:g} s. This is the line that ran."
        if line is None:
            words = f"The script ran out of time; it may take {job.seconds:g} s."
    elif what == MEMORY:
        words = f"The script ran out of memory; it may take {job.memory_mb} MB of its own. Draw fewer points."
    else:
        words = (
            f"The figure has {size / 1e6:.1f} MB; it may have {job.figure_bytes / 1e6:.1f} MB. Draw fewer points."
        )
    return problem(job.script, line, words, "script_limit")


def _line(error: BaseException) -> int | None:
    lines = [n for frame, n in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILENAME]
    return lines[-1] if lines else None
