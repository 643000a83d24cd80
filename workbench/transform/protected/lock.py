"""The lock that a process puts on itself before it reads a script. Nothing can take it off again.

Its steps are: limits, Landlock without any rule, another user than root, no capabilities, no new privileges, and last
the allow-list of system calls. Each step holds without the others. ``Fence.kinds`` names those that the kernel has.
"""

from __future__ import annotations

import contextlib
import os
import resource
from dataclasses import dataclass

from ...lock import LockFailed
from ...lock.kernel import NO_NEW_PRIVS, SUBREAPER, Kernel, at_most, memory_in_use
from .allowed_calls import ALLOWED

__all__ = ["Bounds", "Lock", "LockFailed"]

_NOBODY = 65534
_FEW_FILES = 16


@dataclass(frozen=True)
class Bounds:
    """What a locked process may use: seconds of processor time, MB of its own memory, MB of mapped data."""

    seconds: int
    memory_mb: int
    data_mb: int


class Lock:
    """The lock of one kind of machine. It is prepared before the fork, so that the child writes little memory."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._kernel = Kernel(ALLOWED)
        self.libc = self._kernel.libc
        self.landlock = self._kernel.landlock

    def apply(self, parent: int) -> None:
        """Lock this process for good. The kernel ends it when ``parent`` ends.

        Raises
        ------
        LockFailed
            If a step that the kernel has does not work. The process must then end.
        """
        _limit(self.bounds)
        self._kernel.control(NO_NEW_PRIVS, 1)
        if self.landlock >= 1:  # where the kernel has none, the allow-list also refuses every opening of a file
            self._kernel.restrict()
        self._no_root()
        self._kernel.end_with(parent)
        self._kernel.allow_only_the_listed_calls()

    def adopt(self) -> None:
        """Adopt the orphans of this process's children, so that none is lost. If memory runs out, let the kernel end
        them before it ends the server."""
        self._kernel.control(SUBREAPER, 1)
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")

    def _no_root(self) -> None:
        """Change to another user if this is root, and give up all capabilities."""
        if os.geteuid() == 0:
            # The root of a container may not be allowed to change its user. It loses its other rights below.
            with contextlib.suppress(OSError):
                os.setgroups([])
                os.setresgid(_NOBODY, _NOBODY, _NOBODY)
                os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        self._kernel.keep_capabilities()


def _limit(bounds: Bounds) -> None:
    """Set bounds on top of what the process has now: its imports already map far more than a script needs."""
    mapped, data = memory_in_use()
    own = bounds.memory_mb << 20
    at_most(resource.RLIMIT_AS, mapped + own + (bounds.data_mb << 20))
    at_most(resource.RLIMIT_DATA, data + own)
    at_most(resource.RLIMIT_CPU, bounds.seconds, bounds.seconds + 1)
    at_most(resource.RLIMIT_NOFILE, _FEW_FILES)
    for none in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC, resource.RLIMIT_MEMLOCK):
        at_most(none, 0)
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))
