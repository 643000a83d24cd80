"""The lock of a process that parses a file: Landlock with a few rules, no capabilities, and a list of system calls.

Unlike the lock of scripts it needs Landlock, since a parser opens files.
"""

from __future__ import annotations

import os
import resource
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import LockFailed
from . import reader_profile as profile
from .kernel import NO_NEW_PRIVS, Kernel, at_most, memory_in_use

__all__ = ["Bounds", "LockFailed", "ReaderLock", "missing"]

_OF_OTHER_USERS = 1 << 1 | 1 << 2
"""The capabilities to open files of other users. Root has them, and a file on a shared disk may need them; Landlock
still allows the files of the job alone."""
_FILES = 256


@dataclass(frozen=True)
class Bounds:
    """What a locked parser may use: bytes of each file that it writes, bytes of memory beyond what it has, seconds of
    processor time. None: no bound of its own."""

    written: int
    memory: int | None = None
    seconds: int | None = None


class ReaderLock:
    """The lock, prepared before the fork. ``program``: the path of a program that the process becomes."""

    def __init__(self, program: str | None = None) -> None:
        self._kernel = Kernel(profile.ALLOWED if program is None else profile.PROGRAM)
        if self._kernel.landlock < 1:
            raise LockFailed("This kernel has no Landlock, or does not have it switched on.")
        libraries = profile.READ if program is None else profile.RUN
        self._allowed = [(path, profile.READ_ONE) for path in profile.SYSTEM_FILES]
        self._allowed += [(path, libraries) for path in _libraries()]
        if program is not None:
            self._allowed.append((program, profile.EXECUTE | profile.READ_ONE))

    def apply(self, parent: int, reading: Sequence[str], writing: str, bounds: Bounds) -> None:
        """Lock this process for good: it can open the files ``reading`` and the libraries to read them, and write in
        the folder ``writing``. The kernel ends it when ``parent`` ends.

        Raises
        ------
        LockFailed
            If a step does not work. The process must then end.
        """
        if len(os.listdir("/proc/self/task")) > 1:
            raise LockFailed("Other threads run in this process, and the lock would not hold for them.")
        _limit(bounds)
        kernel = self._kernel
        kernel.control(NO_NEW_PRIVS, 1)
        allowed = [*self._allowed, *((path, profile.READ_ONE) for path in reading), (writing, profile.WRITE)]
        kernel.restrict(_opened(allowed))
        try:
            kernel.keep_capabilities(_OF_OTHER_USERS if os.geteuid() == 0 else 0)
        except LockFailed:  # the root of some containers does not have them
            kernel.keep_capabilities()
        kernel.end_with(parent)
        kernel.allow_only_the_listed_calls()


@cache
def missing() -> str | None:
    """Why this machine cannot lock a parser in; None if it can."""
    try:
        ReaderLock()
    except (LockFailed, ImportError) as error:
        return str(error)
    return None


def _opened(allowed: Iterable[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Descriptors with their rights, one open at a time. What does not exist, or is not of the kind, needs no rule."""
    for path, rights in allowed:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        is_folder = os.path.isdir(path)
        if not is_folder:
            rights &= profile.READ_ONE | profile.EXECUTE
        if not is_folder or rights & profile.READ_DIR:  # a folder where a file should be: nothing below it
            yield descriptor, rights
        os.close(descriptor)


def _libraries() -> list[str]:
    """The folders and files from which this process has imported, or may."""
    found = dict.fromkeys(profile.LIBRARIES)
    found |= dict.fromkeys(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    known = tuple(f"{folder}/" for folder in found)
    for name, module in list(sys.modules.items()):
        place = getattr(module, "__file__", None)
        if "." in name or not isinstance(place, str) or place.startswith(known):
            continue
        # Of a package its folder, of a module its file: beside them may lie anything.
        found[str(Path(place).parent) if hasattr(module, "__path__") else place] = None
    return list(found)


def _limit(bounds: Bounds) -> None:
    if bounds.memory is not None:
        at_most(resource.RLIMIT_AS, memory_in_use()[0] + bounds.memory)
    if bounds.seconds is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        at_most(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + bounds.seconds)
    at_most(resource.RLIMIT_FSIZE, bounds.written)
    at_most(resource.RLIMIT_NOFILE, _FILES)
    at_most(resource.RLIMIT_CORE, 0)
