"""The system calls that a process with a script may make, and with which arguments. The kernel refuses everything that
is not in this list."""

from __future__ import annotations

from ...lock.system_calls import CLOCKS, SLEPT_BY, Call, OneOf, Within

REPLY, TRACE = 3, 4
"""The descriptors of a locked process. The first carries the job and the answer; the second the line at which a script
was when its time was over."""

READ, WRITE = 1, 2  # of mmap and mprotect; 4, which allows to execute, is left out
_PRIVATE = 0x02
# FIXED, ANONYMOUS, NORESERVE, POPULATE, STACK, FIXED_NOREPLACE. Not SHARED, LOCKED, HUGETLB, GROWSDOWN.
_MAPPING = _PRIVATE | 0x10 | 0x20 | 0x4000 | 0x8000 | 0x20000 | 0x100000

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
    Call("clock_gettime", 228, 113, (OneOf(0, CLOCKS),)),
    Call("clock_getres", 229, 114, (OneOf(0, CLOCKS),)),
    Call("gettimeofday", 96, 169),
    Call("time", 201, None),
    Call("nanosleep", 35, 101),
    Call("clock_nanosleep", 230, 115, (OneOf(0, SLEPT_BY),)),
    Call("sched_yield", 24, 124),
    Call("getpid", 39, 172),
    Call("gettid", 186, 178),
    Call("getrusage", 98, 165),
    Call("times", 100, 153),
    Call("getrandom", 318, 278),
    Call("exit", 60, 93),
    Call("exit_group", 231, 94),
)
