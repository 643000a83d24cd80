"""The lock that a process puts on itself before it reads a script. Nothing can take it off again.

Its steps are: limits, Landlock without any rule, another user than root, no capabilities, no new privileges, and last
the allow-list of system calls. Each step holds without the others. ``Fence.kinds`` names those that the kernel has.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from dataclasses import dataclass

from . import allowed_calls as calls
from . import seccomp_filter as bpf

_SET_DUMPABLE, _SET_SECCOMP, _NO_NEW_PRIVS, _PARENT_DEATH, _SUBREAPER = 4, 22, 38, 1, 36
_FILTER_MODE = 2
_NOBODY = 65534
_LANDLOCK_VERSION = 1
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # kinds of access known since
_NET, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals
_FEW_FILES = 16


class LockFailed(OSError):
    """A step of the lock did not work; the text names it."""


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
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.syscall.restype = ctypes.c_long
        architecture = calls.ARCHITECTURES.get(platform.machine().lower())
        if sys.platform != "linux" or architecture is None:
            raise LockFailed(f"There is no lock for {sys.platform} on {platform.machine()}.")
        code = bpf.packed(bpf.program(architecture))
        self._code = ctypes.create_string_buffer(code, len(code))
        self._filter = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(self._code))
        self._capset = calls.CAPSET[architecture]
        self.landlock = self.libc.syscall(calls.LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)

    def apply(self, parent: int) -> None:
        """Lock this process for good. The kernel ends it when ``parent`` ends.

        Raises
        ------
        LockFailed
            If a step that the kernel has does not work. The process must then end.
        """
        _limit(self.bounds)
        self._control(_NO_NEW_PRIVS, 1)
        self._no_files()
        self._no_root()
        self._control(_SET_DUMPABLE, 0)
        self._control(_PARENT_DEATH, signal.SIGKILL)
        if os.getppid() != parent:
            raise LockFailed("The parent ended before the lock was on.")
        buffer = ctypes.create_string_buffer(self._filter, len(self._filter))
        self._control(_SET_SECCOMP, _FILTER_MODE, ctypes.addressof(buffer))

    def adopt(self) -> None:
        """Adopt the orphans of this process's children, so that none is lost. If memory runs out, let the kernel end
        them before it ends the server."""
        self._control(_SUBREAPER, 1)
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")

    def _control(self, option: int, *values: int) -> None:
        arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
        if self.libc.prctl(option, *arguments):
            raise LockFailed(f"prctl {option}: {os.strerror(ctypes.get_errno())}")

    def _no_files(self) -> None:
        """Landlock that handles every kind of access and has no rule that allows any."""
        if self.landlock < 1:
            return  # a kernel without Landlock; the allow-list also refuses every opening of a file
        files = max(bits for version, bits in _FILES.items() if version <= self.landlock)
        words = [files, _NET if self.landlock >= 4 else 0, _SCOPES if self.landlock >= 6 else 0]
        size = 8 if self.landlock < 4 else 16 if self.landlock < 6 else 24
        head = ctypes.create_string_buffer(struct.pack("=QQQ", *words)[:size], size)
        rules = self.libc.syscall(calls.LANDLOCK_CREATE, head, size, 0)
        if rules < 0 or self.libc.syscall(calls.LANDLOCK_RESTRICT, rules, 0):
            raise LockFailed(f"Landlock: {os.strerror(ctypes.get_errno())}")
        os.close(rules)

    def _no_root(self) -> None:
        """Change to another user if this is root, and give up all capabilities."""
        if os.geteuid() == 0:
            # The root of a container may not be allowed to change its user. It loses its other rights below.
            with contextlib.suppress(OSError):
                os.setgroups([])
                os.setresgid(_NOBODY, _NOBODY, _NOBODY)
                os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        head, none = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0), 8), bytes(24)
        if self.libc.syscall(self._capset, head, none):
            raise LockFailed(f"capabilities: {os.strerror(ctypes.get_errno())}")


def _limit(bounds: Bounds) -> None:
    """Set bounds on top of what the process has now: its imports already map far more than a script needs."""
    with open("/proc/self/statm", "rb") as file:
        pages = [int(word) for word in file.read().split()]
    page = resource.getpagesize()
    own = bounds.memory_mb << 20
    _at_most(resource.RLIMIT_AS, pages[0] * page + own + (bounds.data_mb << 20))
    _at_most(resource.RLIMIT_DATA, pages[5] * page + own)
    _at_most(resource.RLIMIT_CPU, bounds.seconds, bounds.seconds + 1)
    _at_most(resource.RLIMIT_NOFILE, _FEW_FILES)
    for none in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC, resource.RLIMIT_MEMLOCK):
        _at_most(none, 0)
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))


def _at_most(which: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, never above the present one."""
    _, before = resource.getrlimit(which)
    bounds = [soft, soft if hard is None else hard]
    if before != resource.RLIM_INFINITY:
        bounds = [min(bound, before) for bound in bounds]
    resource.setrlimit(which, (bounds[0], bounds[1]))
