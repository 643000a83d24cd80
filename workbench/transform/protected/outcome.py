"""How a protected run ends, what it may use, and the words for it: the same whoever runs it."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Problem
from ..figure_check import MOST_BYTES
from ..script import problem
from .messages import Job

MEND = (
    "Run the server in the Linux container (docs/how-to/protect-scripts.md), or, if every author of every script is "
    "to have the rights of the server itself, start it with --trust-transforms."
)
TIME, MEMORY, SIZE = "time", "memory", "size"


@dataclass(frozen=True)
class Limits:
    """What one script may use: s of wall time, MB of own memory, bytes of figure; MB of data that it may map."""

    seconds: float = 8.0
    memory_mb: int = 512
    figure_bytes: int = MOST_BYTES
    data_mb: int = 1024


@dataclass(frozen=True)
class Fence:
    """Whether scripts are locked in here, and in words why not; ``kinds`` are the parts of the lock there are."""

    holds: bool
    why: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    ``outcome`` is "figure", "refused" (an error for the author), "limited" (a bound held) or "killed" (the process
    was ended or crashed). ``peak_mb`` is the most memory that it took of its own.
    """

    outcome: str
    figure: bytes | None
    problems: list[Problem]
    log: str
    peak_mb: float | None = None
    processes_left: int | None = None


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


def limited(job: Job, line: int | None) -> Ended:
    return Ended("limited", None, [limit(job, TIME, line)], "")


def refused(job: Job, why: str) -> Ended:
    return Ended("refused", None, [problem(job.script, None, why, "script_result")], "")


def killed(job: Job, why: str, log: str) -> Ended:
    words = f"The process that ran the script was ended ({why}). Another took its place."
    return Ended("killed", None, [problem(job.script, None, words, "script_limit")], log)
