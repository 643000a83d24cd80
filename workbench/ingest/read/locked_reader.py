"""Who reads a file in a process of readers: a locked process for each file, or that process itself.

On a server there is no choice: without the lock files are refused, in words.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import orjson

from ...lock import LockFailed
from ...readers.file.parser_process import can_lock
from ..processes.worker_process import DIED

if TYPE_CHECKING:  # not all systems can import the lock
    from ...readers.file.locked_parent import LockedParent

Work = Callable[[bytes], bytes]
"""The answer to a job, a line of JSON. Both are of one line; the job names its ``spool``."""
NO_LOCK = (
    "This server does not read files, because it cannot lock in the process that parses them ({}). Run it on Linux "
    "with Landlock (5.13 or newer); docs/how-to/protect-scripts.md says how. If you trust everyone who sends files, "
    "start it with --trust-files (`bench.serve(trust_files=True)`)."
)


@dataclass(frozen=True)
class Task:
    """What a job needs of the lock: the files ``reading``, and a place for what it makes, its ``spool``.

    Jobs of one ``run`` about the same files may have the same process. With ``required`` the job is done under a lock
    or not at all.
    """

    run: int
    spool: Path
    reading: Sequence[str]
    required: bool


class Reader(Protocol):
    """Answers jobs."""

    def answer(self, job: bytes, task: Task) -> bytes: ...

    def close(self) -> None: ...


def reader_of(
    scratch: Path,
    work: Work,
    *,
    memory: int | None = None,
    written: int = 0,
    warm_up: Callable[[], None] | None = None,
) -> Reader:
    """The reader for this machine; ``memory`` and ``written`` bound a locked process, in bytes. ``warm_up`` runs once,
    before the first process is forked."""
    why = why_not()
    if why is None:
        if warm_up is not None:
            warm_up()
        scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return _Locked(scratch, work, memory, written)
        except (OSError, ImportError) as error:
            why = str(error)
    return _Here(work, why)


def why_not() -> str | None:
    """Why this machine cannot lock parsers in; None if it can."""
    if can_lock():
        return None
    if sys.platform != "linux":
        return f"There is no lock for {sys.platform}."
    from ...lock.reader_lock import missing

    return missing()


class _Here:
    """This process reads, as it is, what need not be read under a lock."""

    def __init__(self, work: Work, why: str) -> None:
        self._work = work
        self._why = why

    def answer(self, job: bytes, task: Task) -> bytes:
        return _no_lock(self._why) if task.required else self._work(job)

    def close(self) -> None:
        return


class _Locked:
    """A locked process reads each file, and writes the spool in a folder of its own."""

    def __init__(self, scratch: Path, work: Work, memory: int | None, written: int) -> None:
        from ...lock.reader_lock import Bounds
        from ...readers.file.locked_parent import MOST_WRITTEN, LockedParent

        self._parent: LockedParent = LockedParent(
            scratch, _in_own_folder(work), Bounds(written or MOST_WRITTEN, memory)
        )
        self._parent.test()

    def answer(self, job: bytes, task: Task) -> bytes:
        from ...readers.file.locked_parent import Died

        try:
            answer, folder = self._parent.answer(job, task.run, task.reading)
        except Died as died:
            return _refusal(f"Reading was stopped: {died.why}." if died.why else DIED)
        except LockFailed as error:
            return _no_lock(str(error))
        except Exception:  # a process that a file has taken over may ask for anything, in any form
            self._parent.finish()
            return _refusal(DIED)
        if b"\n" in answer:  # it would be taken for the answer to another job
            return _refusal(DIED)
        if not _moved(folder / _MADE, task.spool):
            answer = _refusal(DIED)
        return answer

    def close(self) -> None:
        self._parent.close()


_MADE = "made"


def open_unfinished(scratch: Path, spool: Path) -> BinaryIO | None:
    """The spool of a job that a reader in the folder ``scratch`` is at, to read what it has of it so far; None if there
    is none yet."""
    for place in (spool, *scratch.glob(f"reading-*/{_MADE}")):
        # A process that a file has taken over may put anything there.
        with suppress(OSError):
            descriptor = os.open(place, os.O_RDONLY | _NOTHING_ELSE)
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return os.fdopen(descriptor, "rb")
            os.close(descriptor)
    return None


_NOTHING_ELSE = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
"""Flags that open a file itself, at once and as it is."""


def _moved(made: Path, target: Path) -> bool:
    """Move what a job has made, a file or a folder, if there is anything; False if that is not possible."""
    try:
        kind = stat.S_IFMT(os.lstat(made).st_mode)
    except FileNotFoundError:
        return True
    try:
        if kind in (stat.S_IFREG, stat.S_IFDIR):
            made.replace(target)
    except OSError:
        return False
    return True


def _in_own_folder(work: Work) -> Work:
    """The work with the spool in the folder in which a locked process may write."""

    def answer(job: bytes) -> bytes:
        raw: dict[str, Any] = orjson.loads(job)
        return work(orjson.dumps(raw | {"spool": os.path.join(tempfile.gettempdir(), _MADE)}))

    return answer


def _refusal(why: str) -> bytes:
    return orjson.dumps({"refused": why})


def _no_lock(why: str) -> bytes:
    return orjson.dumps({"refused": NO_LOCK.format(why.rstrip(".")), "no_lock": True})
