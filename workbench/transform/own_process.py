"""Draws the user's own scripts in a process beside this one, so that a script that never ends can be stopped.

A thread of this process could not be stopped inside a call, such as a match of a regular expression, and such a call
would keep the whole notebook waiting. The process has all the rights of the user: it is not a protection. It is started
once, keeps the datasets that it drew last, and is replaced when a script had to be stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from ..errors import Cancelled, Problem, ScriptError
from . import inprocess
from .inprocess import Drawn
from .own_process_child import Job
from .own_process_pipe import Ended
from .own_processes import Stop, shared
from .script import problem
from .used_names import Names

GRACE_SECONDS = 2.0
"""How long a script may go on after its figure is no longer wanted. To end it at once would cost a new process."""


class OwnProcess:
    """A drawer for scripts of the user's own, each within a time limit. ``stop`` ends the one that runs.

    Parameters
    ----------
    seconds : most seconds that a script may take; None: no limit. It may be changed at any time.

    Attributes
    ----------
    stops : how often ``stop`` was called.
    """

    locked = False

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.stops = 0

    def start(self) -> None:
        """Begin to start a process, if there is none, so that the first figure does not wait for all of it."""
        shared().start()

    def stop(self) -> None:
        """End the script that this drawer runs now. Its ``draw`` raises ScriptError with the line where it was."""
        self.stops += 1

    def draw(
        self,
        script: str,
        packed: bytes | bytearray | memoryview,
        params: Mapping[str, JsonValue],
        *,
        content: str | None = None,
        organization: str | None = None,
        cancelled: Callable[[], bool] | None = None,
        names: Names | None = None,
    ) -> Drawn:
        """As ``inprocess.draw``, in the other process.

        Raises
        ------
        ScriptError
            As ``inprocess.draw``; also if the script took too long, was stopped, or ended its process.
        Cancelled
            If ``cancelled()`` became true, and the figure was not there two seconds later.
        """
        if names is not None and (problems := inprocess.check(script, names)):
            raise ScriptError(problems, "")
        watch = _Watch(self, cancelled)
        job = Job(script, dict(params), content, self.seconds)
        try:
            with shared().lent(watch.waits) as process:
                answer = process.ask(job, packed, watch.runs, watch.begins)
        except Stop as stop:
            if stop.words is None:
                raise Cancelled("The figure was no longer wanted.") from None
            raise ScriptError(_at_line(script, stop.words, stop.line)) from None
        except Ended as ended:
            raise ScriptError(problem(script, None, str(ended), "script_limit")) from None
        if answer.problems:
            raise ScriptError(answer.problems, answer.log)
        return Drawn(answer.figure, answer.log)

    def check(self, script: str, names: Names | None = None, *, organization: str | None = None) -> list[Problem]:
        """As ``inprocess.check``."""
        return inprocess.check(script, names)


class _Watch:
    """Says when the wait for one figure must end: at a stop, at the time limit, or when it is no longer wanted."""

    def __init__(self, drawer: OwnProcess, cancelled: Callable[[], bool] | None) -> None:
        self._drawer, self._cancelled = drawer, cancelled
        self._stops = drawer.stops
        self._began = 0.0
        self._unwanted: float | None = None

    def waits(self) -> None:
        """While the script does not run yet."""
        if self._drawer.stops != self._stops:
            raise Stop("You stopped the script.")
        if self._cancelled is not None and self._cancelled():
            raise Stop(None)

    def begins(self) -> None:
        """The script begins now: its time counts from here."""
        self._began = time.monotonic()

    def runs(self) -> None:
        """While the script runs."""
        now, limit = time.monotonic(), self._drawer.seconds
        if self._drawer.stops != self._stops:
            raise Stop("You stopped the script.")
        if limit is not None and self._began and now - self._began > limit:
            raise Stop(f"The script took more than {limit:g} s, so it was stopped. {LONGER}")
        if self._cancelled is not None and self._cancelled():
            self._unwanted = self._unwanted or now
            if now - self._unwanted > GRACE_SECONDS:
                raise Stop(None)


LONGER = "Ask the plan for less data, or set view.time_limit to more seconds, or to None for no limit."


def _at_line(script: str, words: str, line: int | None) -> Problem:
    if line is None or line > script.count("\n") + 1:
        return problem(script, None, words, "script_limit")
    return problem(script, line, f"{words} It was at this line.", "script_limit")
