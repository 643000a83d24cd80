"""How a protected run ends and what it may use, with the words for it; and the base of the drawers that run it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from ...errors import Problem, ScriptError
from ..figure_check import MOST_BYTES
from ..inprocess import Drawn
from ..output import Warned
from ..script import problem
from ..used_names import Names
from .messages import Job, Kind, names_as_params

FIX = (
    "Run the server in the Linux container (docs/how-to/protect-scripts.md). Or start it with --trust-transforms: then "
    "every author of a script has all the rights of the server."
)
CancelledBy = Callable[[], bool]
"""Called while a run waits; the run stops when it returns true."""
TIME, MEMORY, SIZE = "time", "memory", "size"


@dataclass(frozen=True)
class Limits:
    """What one script may use: s of wall time, MB of its own memory, bytes of its figure, MB of mapped data."""

    seconds: float = 8.0
    memory_mb: int = 512
    figure_bytes: int = MOST_BYTES
    data_mb: int = 1024


@dataclass(frozen=True)
class Fence:
    """Whether scripts are locked in on this machine (``holds``), and why or why not. ``kinds`` names the parts of the
    lock that the kernel has."""

    holds: bool
    why: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    ``outcome`` is "figure", "refused" (an error for the author), "limited" (a bound held) or "killed" (the process
    was ended or crashed). ``peak_mb`` is the most memory that it took beyond what it started with.
    """

    outcome: str
    figure: bytes | None
    problems: list[Problem]
    log: str
    peak_mb: float | None = None
    processes_left: int | None = None
    warned: tuple[Warned, ...] = ()


class ProcessDrawer(ABC):
    """A drawer that runs every script in a process of its own. A subclass says in ``run`` how."""

    locked = True
    limits: Limits

    def draw(
        self,
        script: str,
        packed: bytes | bytearray | memoryview,
        params: Mapping[str, JsonValue],
        *,
        content: str | None = None,
        organization: str | None = None,
        cancelled: CancelledBy | None = None,
        names: Names | None = None,
    ) -> Drawn:
        """As ``inprocess.draw``, in a process of its own.

        Parameters
        ----------
        content : names the bytes of ``packed``, which are then copied once for all figures of them.
        organization : owns the figure; figures of one organization leave room for others. None for local work.
        cancelled : called while waiting; if it returns true, the process is ended.
        names : those of the recipe's steps and params; the script must read no others.

        Raises
        ------
        ScriptError
            As ``inprocess.draw``; also if a bound held or the process was ended.
        NotProtected
            If the lock does not hold here. The text says what to do.
        Busy
            If too many figures wait.
        Cancelled
            If ``cancelled()`` became true.
        """
        ended = self.run(
            script, packed, params, content=content, organization=organization, cancelled=cancelled, names=names
        )
        if ended.figure is None:
            raise ScriptError(ended.problems, ended.log)
        return Drawn(ended.figure, ended.log, ended.warned)

    def check(self, script: str, names: Names | None = None, *, organization: str | None = None) -> list[Problem]:
        """As ``inprocess.check``, in a process of its own: a script that crashes Python's parser ends only that."""
        return self.run(script, None, names_as_params(names), kind="check", organization=organization).problems

    @abstractmethod
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
        """As ``draw``, but a script that fails is an outcome and not an error.

        Parameters
        ----------
        kind : "draw", or "check" to check only the script.
        seconds : a shorter time limit than that of all scripts.
        names : for "draw": those of the recipe's steps and params, which are checked first.
        account : wait for the end of the process, and fill ``peak_mb`` and ``processes_left``.
        """

    def job(
        self,
        kind: Kind,
        script: str,
        params: Mapping[str, JsonValue],
        seconds: float | None,
        names: Names | None = None,
    ) -> Job:
        """The job of one run, within the limits."""
        bounds = self.limits
        time = min(bounds.seconds, seconds or bounds.seconds)
        known = names_as_params(names)
        return Job(kind, script, dict(params), time, bounds.memory_mb, bounds.figure_bytes, known)


def limit(job: Job, what: str, line: int | None, size: int = 0) -> Problem:
    """The Problem of a bound that held: ``what`` is "time", "memory" or "size"."""
    if what == TIME:
        words = f"The script ran out of time; it may take {job.seconds:g} s. It was at this line."
        if line is None:
            words = f"The script ran out of time; it may take {job.seconds:g} s."
    elif what == MEMORY:
        words = f"The script ran out of memory; it may take {job.memory_mb} MB of its own. Draw fewer points."
    else:
        words = (
            f"The figure has {size / 1e6:.1f} MB; it may have {job.figure_bytes / 1e6:.1f} MB. Draw fewer points."
        )
    return problem(job.script, line, words, "script_limit")


def limited(job: Job, line: int | None) -> Ended:
    return Ended("limited", None, [limit(job, TIME, line)], "")


def refused(job: Job, why: str) -> Ended:
    return Ended("refused", None, [problem(job.script, None, why, "script_result")], "")


def killed(job: Job, why: str, log: str) -> Ended:
    words = f"The process that ran the script ended ({why}). A new process has replaced it."
    return Ended("killed", None, [problem(job.script, None, words, "script_limit")], log)
