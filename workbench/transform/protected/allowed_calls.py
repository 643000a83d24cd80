"""The system calls that a locked process may make, with their numbers on both architectures and the allowed
arguments. The kernel refuses everything that is not in this list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

REPLY, TRACE = 3, 4
"""The descriptors of a locked process. The first carries the job and the answer; the second the line at which a script
was when its time was over."""

X86_64, ARM64 = 0xC000003E, 0xC00000B7
ARCHITECTURES = {"x86_64": X86_64, "amd64": X86_64, "aarch64": ARM64, "arm64": ARM64}
"""Machine as ``platform.machine()`` names it -> audit architecture of the kernel."""

READ, WRITE = 1, 2  # of mmap and mprotect; 4, which allows to execute, is left out
_PRIVATE = 0x02
# FIXED, ANONYMOUS, NORESERVE, POPULATE, STACK, FIXED_NOREPLACE. Not SHARED, LOCKED, HUGETLB, GROWSDOWN.
_MAPPING = _PRIVATE | 0x10 | 0x20 | 0x4000 | 0x8000 | 0x20000 | 0x100000


_CLOCKS = (0, 1, 2, 3, 4, 5, 6, 7, 11)
"""Clocks of the time and of this process. Negative numbers, clocks of any other process, are left out."""
_SLEPT_BY = (0, 1)


class Within(NamedTuple):
    """An argument has no bit outside ``bits``, and all those of ``needed``."""

    argument: int
    bits: int
    needed: int = 0


class OneOf(NamedTuple):
    """The low half of an argument, without the bits ``ignored``, is one of ``values``."""

    argument: int
    values: tuple[int, ...]
    ignored: int = 0


@dataclass(frozen=True)
class Call:
    """A system call: its numbers (None where the machine has none) and what its arguments must be."""

    name: str
    x86_64: int | None
    arm64: int | None
    rules: tuple[Within | OneOf, ...] = ()

    def number(self, architecture: int) -> int | None:
        return self.x86_64 if architecture == X86_64 else self.arm64


ALLOWED = (
    Call("read", 0, 63, (OneOf(0, (REPLY,)),)),
    Call("write", 1, 64, (OneOf(0, (REPLY, TRACE)),)),
    Call("recvmsg", 47, 212, (OneOf(0, (REPLY,)),)),
    Call("close", 3, 57),
    Call("mmap", 9, 222, (Within(2, READ | WRITE), Within(3, _MAPPING, _PRIVATE))),
    Call("mprotect", 10, 226, (Within(2, READ | WRITE),)),
    Call("munmap", 11, 215),
    Call("brk", 12, 214),
    Call("mremap", 25, 216),
    # WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE
    Call("madvise", 28, 233, (OneOf(2, (3, 4, 8, 14, 15)),)),
    # WAIT, WAKE, WAIT_BITSET and WAKE_BITSET, with either clock. Only the private forms: a futex on a mapped file is
    # shared by all processes that map the file, and would let them signal each other.
    Call("futex", 202, 98, (OneOf(1, (128, 129, 137, 138), ignored=256),)),
    Call("rt_sigaction", 13, 134),
    Call("rt_sigprocmask", 14, 135),
    Call("rt_sigreturn", 15, 139),
    Call("sigaltstack", 131, 132),
    Call("restart_syscall", 219, 128),
    Call("setitimer", 38, 103, (OneOf(0, (0,)),)),
    Call("clock_gettime", 228, 113, (OneOf(0, _CLOCKS),)),
    Call("clock_getres", 229, 114, (OneOf(0, _CLOCKS),)),
    Call("gettimeofday", 96, 169),
    Call("time", 201, None),
    Call("nanosleep", 35, 101),
    Call("clock_nanosleep", 230, 115, (OneOf(0, _SLEPT_BY),)),
    Call("sched_yield", 24, 124),
    Call("getpid", 39, 172),
    Call("gettid", 186, 178),
    Call("getrusage", 98, 165),
    Call("times", 100, 153),
    Call("getrandom", 318, 278),
    Call("exit", 60, 93),
    Call("exit_group", 231, 94),
)

LANDLOCK_CREATE, LANDLOCK_RESTRICT = 444, 446  # the same on both
CAPSET = {X86_64: 126, ARM64: 91}
