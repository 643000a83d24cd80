"""One job done in a process of its own, locked or not: draw, or check, and put the outcome in words."""

from __future__ import annotations

import json
import signal
import sys
import traceback
from types import FrameType
from typing import Any

from ...errors import Problem, ScriptError
from ..inprocess import Drawn, check, draw
from ..output import FILENAME
from .messages import ANSWER, ANSWER_MAGIC, CHECKED, Job
from .outcome import MEMORY, SIZE, TIME, limit

FRIENDLY = 0.8
"""The part of its time after which a script is told so, with the line; at its end the process is killed."""
_AGAIN = 0.03


class TimeUp(BaseException):
    """Raised in the script when most of its time is over."""


def answer(job: Job, data: memoryview) -> list[bytes]:
    """The parts of the answer to a job: head, JSON, figure."""
    _alarm(job.seconds * FRIENDLY)
    try:
        figure, meta = _answer(job, data)
        _alarm(0)
    except TimeUp as error:
        _alarm(0)
        figure, meta = b"", _limited(job, TIME, _line(error), "")
    text = json.dumps(meta).encode()
    return [ANSWER.pack(ANSWER_MAGIC, len(text), len(figure)), text, figure]


def _alarm(seconds: float) -> None:
    """Raise TimeUp after so many seconds, again and again; nothing where the system has no such timer."""
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, _time_up)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN if seconds else 0)


def _time_up(_: int, __: FrameType | None) -> None:
    raise TimeUp


def _answer(job: Job, data: memoryview) -> tuple[bytes, dict[str, Any]]:
    if job.kind == "check":
        names = tuple(job.params[name] for name in CHECKED) if job.params else None
        return b"", {"log": "", "problems": [_told(one) for one in check(job.script, names)]}
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


def _line(error: BaseException) -> int | None:
    lines = [n for frame, n in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILENAME]
    return lines[-1] if lines else None
