"""Does one job (draw or check) in a process of its own, locked or not, and writes the answer."""

from __future__ import annotations

import json
import signal
import sys
import traceback
from types import FrameType
from typing import TypeAlias

from pydantic import JsonValue

from ...errors import Problem, ScriptError
from ..inprocess import Drawn, check, draw
from ..output import FILENAME
from .messages import ANSWER, ANSWER_MAGIC, Job, params_as_names
from .outcome import MEMORY, SIZE, TIME, limit

FRIENDLY = 0.8
"""The part of its time after which an error stops a script and names the line. At the end of its time the process is
killed."""
_AGAIN = 0.03
Meta: TypeAlias = dict[str, JsonValue]
"""The JSON of an answer: ``log``, ``problems``, where helpers warned ``warned``, and where a bound held ``limit``."""


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
    """Raise TimeUp after so many seconds, again and again. On a system without such a timer do nothing."""
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, _time_up)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN if seconds else 0)


def _time_up(_: int, __: FrameType | None) -> None:
    raise TimeUp


def _answer(job: Job, data: memoryview) -> tuple[bytes, Meta]:
    if job.kind == "check":
        found = check(job.script, params_as_names(job.params))
        return b"", {"log": "", "problems": [_as_json(one) for one in found]}
    try:
        drawn: Drawn = draw(job.script, data, job.params, params_as_names(job.names))
    except ScriptError as error:
        return b"", _failed(job, error)
    except MemoryError as error:
        return b"", _limited(job, MEMORY, _line(error), "")
    if len(drawn.figure) > job.figure_bytes:
        return b"", _limited(job, SIZE, None, drawn.log, len(drawn.figure))
    return drawn.figure, {
        "log": drawn.log,
        "problems": [],
        **({"warned": [one.as_dict() for one in drawn.warned]} if drawn.warned else {}),
    }


def _failed(job: Job, error: ScriptError) -> Meta:
    cause = error.__cause__
    line = error.problems[0].ctx.get("line")
    if isinstance(cause, TimeUp):
        return _limited(job, TIME, line, error.log)
    if isinstance(cause, MemoryError):
        return _limited(job, MEMORY, line, error.log)
    return {"log": error.log, "problems": [_as_json(one) for one in error.problems]}


def _as_json(one: Problem) -> Meta:
    return {"msg": one.msg, "type": one.type, **{key: one.ctx[key] for key in ("line", "error") if key in one.ctx}}


def _limited(job: Job, what: str, line: int | None, log: str, size: int = 0) -> Meta:
    return {"log": log, "problems": [_as_json(limit(job, what, line, size))], "limit": what}


def _line(error: BaseException) -> int | None:
    lines = [n for frame, n in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILENAME]
    return lines[-1] if lines else None
