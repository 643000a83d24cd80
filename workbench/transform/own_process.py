"""Draws the user's own scripts in a process beside this one, so that a script that never ends can be stopped.

A thread of this process could not be stopped inside a call, such as a match of a regular expression, and such a call
would keep the whole notebook waiting. The process has all the rights of the user: it is not a protection. It is started
once, keeps the datasets that it drew last, and is replaced when a script had to be stopped.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from pydantic import JsonValue

from ..errors import Cancelled, Problem, ScriptError
from . import inprocess
from .inprocess import Drawn
from .own_process_child import Job
from .own_process_pipe import Ended, Process
from .script import problem
from .used_names import Names

GRACE_SECONDS = 2.0
"""How long a script may go on after its figure is no longer wanted. To end it at once would cost a new process."""
MOST_PROCESSES = 3
"""Most scripts that run at once. A further process is started only when a script keeps others waiting."""
PATIENCE_SECONDS = 0.5
_SLICE = 0.02
_WARM = (
    "from workbench import battery\n"
    "def transform(data, params):\n"
    "    figure = go.Figure(layout={'template': battery.template()})\n"
    "    figure.add_scatter(x=[0], y=[0], mode='lines', line={'color': 'red'})\n"
    "    figure.update_layout(xaxis={'title': {'text': 'x'}}, legend={'x': 0}, margin={'t': 0})\n"
    "    return figure\n"
)
Look = Callable[[], None]
"""Called every few hundredths of a second during a wait; what it raises ends the wait."""


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
        _shared().start()

    def warm(self, packed: bytes) -> None:
        """Draw once on an empty dataset in a process that has drawn nothing yet, so that later figures are quick."""
        with suppress(Ended), _shared().lent(lambda: None) as process:
            if not process.drew:
                process.ask(Job(_WARM, {}, None, None), packed, lambda: None)

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
            with _shared().lent(watch.waits) as process:
                answer = process.ask(job, packed, watch.runs, watch.begins)
        except _Stop as stop:
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


class _Stop(BaseException):
    """Ends a wait. ``words`` are for the user, None if nobody waits for the figure; ``line``: where the script was."""

    def __init__(self, words: str | None) -> None:
        super().__init__(words)
        self.words = words
        self.line: int | None = None


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
            raise _Stop("You stopped the script.")
        if self._cancelled is not None and self._cancelled():
            raise _Stop(None)

    def begins(self) -> None:
        """The script begins now: its time counts from here."""
        self._began = time.monotonic()

    def runs(self) -> None:
        """While the script runs."""
        now, limit = time.monotonic(), self._drawer.seconds
        if self._drawer.stops != self._stops:
            raise _Stop("You stopped the script.")
        if limit is not None and self._began and now - self._began > limit:
            raise _Stop(f"The script took more than {limit:g} s, so it was stopped. {LONGER}")
        if self._cancelled is not None and self._cancelled():
            self._unwanted = self._unwanted or now
            if now - self._unwanted > GRACE_SECONDS:
                raise _Stop(None)


LONGER = "Ask the plan for less data, or set view.time_limit to more seconds, or to None for no limit."


def _at_line(script: str, words: str, line: int | None) -> Problem:
    if line is None or line > script.count("\n") + 1:
        return problem(script, None, words, "script_limit")
    return problem(script, line, f"{words} It was at this line.", "script_limit")


class _Processes:
    """The processes of this one: usually one, and more while scripts take long."""

    def __init__(self) -> None:
        self._idle: list[Process] = []
        self._busy: list[Process] = []
        self._changed = threading.Condition()

    def start(self) -> None:
        with self._changed:
            if not (self._idle or self._busy):
                self._idle.append(Process())

    @contextmanager
    def lent(self, look: Look) -> Iterator[Process]:
        """A process for one job. If the job does not come to its end, the process is ended and replaced."""
        process = self._taken(look)
        whole = False
        try:
            yield process
            whole = True
        except _Stop as stop:
            stop.line = process.line() if stop.words is not None else None
            raise
        finally:
            self._back(process, whole and not process.dead)

    def _taken(self, look: Look) -> Process:
        began = time.monotonic()
        with self._changed:
            while True:
                look()
                self._idle = [one for one in self._idle if not one.dead]
                late = time.monotonic() - began > PATIENCE_SECONDS
                if not self._idle and (not self._busy or (late and len(self._busy) < MOST_PROCESSES)):
                    self._idle.append(Process())
                if self._idle:
                    process = self._idle.pop()
                    self._busy.append(process)
                    return process
                self._changed.wait(_SLICE)

    def _back(self, process: Process, usable: bool) -> None:
        with self._changed:
            self._busy.remove(process)
            keeps = usable and not self._idle
            if keeps:
                self._idle.append(process)
            elif not usable and not self._idle:
                self._idle.append(Process())
            self._changed.notify_all()
        if not keeps:
            process.end()

    def close(self) -> None:
        with self._changed:
            gone, self._idle, self._busy = [*self._idle, *self._busy], [], []
        for process in gone:
            process.end()


_made: dict[int, _Processes] = {}
_making = threading.Lock()


def _shared() -> _Processes:
    """The processes of this process, which ends them when it ends."""
    with _making:
        processes = _made.get(os.getpid())
        if processes is None:
            _made.clear()  # a forked process cannot use those of its parent
            processes = _made[os.getpid()] = _Processes()
            atexit.register(processes.close)
        return processes
