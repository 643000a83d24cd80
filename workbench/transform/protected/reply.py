"""Reads the answer of a process that a hostile script may control, and trusts nothing in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from pydantic import JsonValue

from ...battery.doubts import CODES
from ...errors import Problem
from ..figure_check import Unsafe, checked
from ..output import LONGEST_WARNED, MOST, MOST_WARNED, Warned
from ..script import MOST_PROBLEMS, PLACE, lines_of, problem, text_in
from .messages import Job
from .outcome import Ended

KINDS = (
    "script_error",
    "script_result",
    "script_syntax",
    "script_shape",
    "script_import",
    "script_key",
    "script_limit",
)
_LONGEST = 4000
_LIMITS = ("time", "memory", "size")


class Forged(ValueError):
    """The answer is not one that the code of the workbench writes."""


@dataclass(frozen=True)
class Answer:
    """A checked figure, or the problems in its place. ``limit`` names the bound that held; ``warned`` is what helpers
    warned of."""

    figure: bytes | None
    problems: list[Problem]
    log: str
    limit: str | None = None
    warned: tuple[Warned, ...] = ()


def read(job: Job, text: bytes, figure: bytes) -> Answer:
    """The answer in a reply: its JSON ``text`` and the bytes of its figure.

    Raises
    ------
    Forged
        If its shape is not that of an answer.
    """
    try:
        meta = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Forged(f"not JSON: {error}") from error
    if not isinstance(meta, dict) or not set(meta) <= {"log", "problems", "limit", "warned"}:
        raise Forged("not an answer")
    log, told, limit = meta.get("log"), meta.get("problems"), meta.get("limit")
    if not isinstance(log, str) or not isinstance(told, list) or len(told) > MOST_PROBLEMS:
        raise Forged("without a log and problems")
    if limit not in (None, *_LIMITS):
        raise Forged("an unknown limit")
    warned = _warned(meta.get("warned", []))
    lines = lines_of(job.script) if told else []
    problems = [_problem(lines, one) for one in told]
    log = log.encode()[:MOST].decode("utf-8", "ignore")
    if problems or job.kind == "check":
        return Answer(None, problems, log, limit)
    try:
        return Answer(checked(figure, job.figure_bytes), [], log, warned=warned)
    except Unsafe as error:
        return Answer(None, [problem(job.script, None, str(error), "script_result")], log)


def _warned(told: JsonValue) -> tuple[Warned, ...]:
    if not isinstance(told, list) or len(told) > MOST_WARNED:
        raise Forged("warnings that are none")
    made = []
    for one in told:
        if not isinstance(one, dict) or set(one) != {"code", "message"}:
            raise Forged("not a warning")
        code, message = one["code"], one["message"]
        if not isinstance(code, str) or code not in CODES:
            raise Forged("a warning without a code")
        if not isinstance(message, str) or len(message) > LONGEST_WARNED + 1:
            raise Forged("a warning without a message")
        made.append(Warned(code, message))
    return tuple(made)


def _problem(lines: Sequence[str], told: JsonValue) -> Problem:
    if not isinstance(told, dict):
        raise Forged("not a problem")
    message, kind, line, error = (told.get(name) for name in ("msg", "type", "line", "error"))
    if not isinstance(message, str) or len(message) > _LONGEST or kind not in KINDS:
        raise Forged("not a problem")
    if type(line) is not int or not 0 < line < 1_000_000:
        raise Forged("a problem without a line")
    context: dict[str, JsonValue] = {"line": line, "text": text_in(lines, line)}
    if isinstance(error, str):
        context["error"] = error[:200]
    return Problem(PLACE, message, str(kind), context)


def ended_of(answer: Answer) -> Ended:
    outcome = "figure" if answer.figure is not None else "limited" if answer.limit else "refused"
    return Ended(outcome, answer.figure, answer.problems, answer.log, warned=answer.warned)
