"""The steps of a lock, as the kernel knows them: prctl, Landlock, capabilities, the list of system calls, limits."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Iterable

from . import LockFailed
from . import seccomp_filter as bpf
from .system_calls import ARCHITECTURES, CAPSET, LANDLOCK_ADD, LANDLOCK_CREATE, LANDLOCK_RESTRICT, Call

SET_DUMPABLE, SET_SECCOMP, NO_NEW_PRIVS, PARENT_DEATH, SUBREAPER = 4, 22, 38, 1, 36
_FILTER_MODE = 2
_LANDLOCK_VERSION, _BELOW_A_PATH = 1, 1
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # kinds of access known since
_NET, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals


class Kernel:
    """The kernel of this machine, prepared before a fork with the calls that the locked process may make."""

    def __init__(self, allowed: Iterable[Call]) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.syscall.restype = ctypes.c_long
        architecture = ARCHITECTURES.get(platform.machine().lower())
        if sys.platform != "linux" or architecture is None:
            raise LockFailed(f"There is no lock for {sys.platform} on {platform.machine()}.")
        code = bpf.packed(bpf.program(architecture, allowed))
        self._code = ctypes.create_string_buffer(code, len(code))
        self._filter = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(self._code))
        self._capset = CAPSET[architecture]
        self.landlock: int = self.libc.syscall(LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)

    def control(self, option: int, *values: int) -> None:
        arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
        if self.libc.prctl(option, *arguments):
            raise LockFailed(f"prctl {option}: {os.strerror(ctypes.get_errno())}")

    def restrict(self, rules: Iterable[tuple[int, int]] = ()) -> None:
        """Landlock that handles every kind of access. ``rules``: open descriptors of files and folders, with the kinds
        of access that are allowed there and below; without any, nothing is. Each is used before the next is made."""
        files = max(bits for version, bits in _FILES.items() if version <= self.landlock)
        words = [files, _NET if self.landlock >= 4 else 0, _SCOPES if self.landlock >= 6 else 0]
        size = 8 if self.landlock < 4 else 16 if self.landlock < 6 else 24
        head = ctypes.create_string_buffer(struct.pack("=QQQ", *words)[:size], size)
        made = self.libc.syscall(LANDLOCK_CREATE, head, size, 0)
        if made < 0:
            raise LockFailed(f"Landlock: {os.strerror(ctypes.get_errno())}")
        for descriptor, access in rules:
            rule = ctypes.create_string_buffer(struct.pack("=Qi", access & files, descriptor), 12)
            if self.libc.syscall(LANDLOCK_ADD, made, _BELOW_A_PATH, rule, 0):
                raise LockFailed(f"Landlock: {os.strerror(ctypes.get_errno())}")
        if self.libc.syscall(LANDLOCK_RESTRICT, made, 0):
            raise LockFailed(f"Landlock: {os.strerror(ctypes.get_errno())}")
        os.close(made)

    def keep_capabilities(self, kept: int = 0) -> None:
        """Give up all capabilities but those of the bits ``kept``."""
        head = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0), 8)
        data = struct.pack("=6I", kept, kept, 0, 0, 0, 0)
        if self.libc.syscall(self._capset, head, data):
            raise LockFailed(f"capabilities: {os.strerror(ctypes.get_errno())}")

    def end_with(self, parent: int) -> None:
        """Nobody may look into this process, and the kernel ends it when ``parent`` ends."""
        self.control(SET_DUMPABLE, 0)
        self.control(PARENT_DEATH, signal.SIGKILL)
        if os.getppid() != parent:
            raise LockFailed("The parent ended before the lock was on.")

    def allow_only_the_listed_calls(self) -> None:
        buffer = ctypes.create_string_buffer(self._filter, len(self._filter))
        self.control(SET_SECCOMP, _FILTER_MODE, ctypes.addressof(buffer))


def at_most(which: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, never above the present one."""
    _, before = resource.getrlimit(which)
    bounds = [soft, soft if hard is None else hard]
    if before != resource.RLIM_INFINITY:
        bounds = [min(bound, before) for bound in bounds]
    resource.setrlimit(which, (bounds[0], bounds[1]))


def memory_in_use() -> tuple[int, int]:
    """Bytes of address space of this process, and of its data."""
    with open("/proc/self/statm", "rb") as file:
        pages = [int(word) for word in file.read().split()]
    page = resource.getpagesize()
    return pages[0] * page, pages[5] * page
