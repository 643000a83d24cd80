"""What a process may do that parses a file: compute, read its file and the libraries, and write one folder.

It opens no socket, starts no process (threads it may), signals nobody, changes no file elsewhere and removes none: what
it wrote stays where its parent can measure it.
"""

from __future__ import annotations

from .system_calls import CLOCKS, SLEPT_BY, Call, OneOf, Within

# Rights of Landlock.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, MAKE_DIR, MAKE_REG, TRUNCATE = (
    1 << bit for bit in (0, 1, 2, 3, 7, 8, 14)
)
READ_ONE = READ_FILE
READ = READ_FILE | READ_DIR
RUN = READ | EXECUTE
WRITE = READ | WRITE_FILE | MAKE_DIR | MAKE_REG | TRUNCATE

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/nix/store")
"""Where systems keep their libraries; those of the interpreter and of packages come in addition."""
SYSTEM_FILES = ("/etc/localtime", "/etc/ld.so.cache", "/dev/null", "/dev/zero", "/dev/urandom")

_NO_HIDDEN_FILE = ~0x400000 & 0xFFFFFFFF  # without O_TMPFILE: a file without a name could not be measured
_THREAD = (0x3D0F00, 0x7D0F00)
"""The flags with which glibc and musl start a thread. Every other clone, a process above all, is refused."""
_DATA = (0, 1, 2, 3)
_LOADED = (*_DATA, 4, 5)
"""Read, write, or a library that is run; never memory that can be both written and run."""
_LOCKS_AND_FLAGS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030)
"""What fcntl may do: copies and flags of a descriptor, and locks. Not: ask for signals."""
_TERMINAL_AND_CLOSE = (0x5401, 0x5450, 0x5451)

ALLOWED = (
    Call("read", 0, 63),
    Call("write", 1, 64),
    Call("lseek", 8, 62),
    Call("pread64", 17, 67),
    Call("pwrite64", 18, 68),
    Call("readv", 19, 65),
    Call("writev", 20, 66),
    Call("mmap", 9, 222, (OneOf(2, _LOADED),)),
    Call("mprotect", 10, 226, (OneOf(2, _DATA),)),
    Call("munmap", 11, 215),
    Call("brk", 12, 214),
    Call("mremap", 25, 216),
    Call("madvise", 28, 233),
    Call("msync", 26, 227),
    Call("mincore", 27, 232),
    Call("openat", 257, 56, (Within(2, _NO_HIDDEN_FILE),)),
    Call("close", 3, 57),
    Call("fstat", 5, 80),
    Call("stat", 4, None),
    Call("lstat", 6, None),
    Call("newfstatat", 262, 79),
    Call("statx", 332, 291),
    Call("access", 21, None),
    Call("faccessat", 269, 48),
    Call("faccessat2", 439, 439),
    Call("readlink", 89, None),
    Call("readlinkat", 267, 78),
    Call("getdents64", 217, 61),
    Call("getcwd", 79, 17),
    Call("statfs", 137, 43),
    Call("fstatfs", 138, 44),
    Call("mkdir", 83, None),
    Call("mkdirat", 258, 34),
    Call("ftruncate", 77, 46),
    Call("fallocate", 285, 47),
    Call("fsync", 74, 82),
    Call("fdatasync", 75, 83),
    Call("fadvise64", 221, 223),
    Call("sendfile", 40, 71),
    Call("copy_file_range", 326, 285),
    Call("flock", 73, 32),
    Call("fcntl", 72, 25, (OneOf(1, _LOCKS_AND_FLAGS),)),
    Call("ioctl", 16, 29, (OneOf(1, _TERMINAL_AND_CLOSE),)),
    Call("dup", 32, 23),
    Call("dup2", 33, None),
    Call("dup3", 292, 24),
    Call("pipe2", 293, 59),
    Call("eventfd2", 290, 19),
    Call("poll", 7, None),
    Call("ppoll", 271, 73),
    # The runtime of polars waits for its own threads with these.
    Call("epoll_create1", 291, 20),
    Call("epoll_ctl", 233, 21),
    Call("epoll_wait", 232, None),
    Call("epoll_pwait", 281, 22),
    Call("clone", 56, 220, (OneOf(0, _THREAD),)),
    Call("clone3", 435, 435, absent=True),  # its flags are in memory, where no filter can read them
    Call("futex", 202, 98, (OneOf(1, (0, 1, 9, 10, 128, 129, 137, 138), ignored=256),)),
    Call("set_robust_list", 273, 99),
    Call("rseq", 334, 293),
    Call("rt_sigaction", 13, 134),
    Call("rt_sigprocmask", 14, 135),
    Call("rt_sigreturn", 15, 139),
    Call("sigaltstack", 131, 132),
    Call("restart_syscall", 219, 128),
    Call("clock_gettime", 228, 113, (OneOf(0, CLOCKS),)),
    Call("clock_getres", 229, 114, (OneOf(0, CLOCKS),)),
    Call("gettimeofday", 96, 169),
    Call("time", 201, None),
    Call("nanosleep", 35, 101),
    Call("clock_nanosleep", 230, 115, (OneOf(0, SLEPT_BY),)),
    Call("sched_yield", 24, 124),
    Call("sched_getaffinity", 204, 123),
    Call("getpid", 39, 172),
    Call("getppid", 110, 173),
    Call("gettid", 186, 178),
    Call("getuid", 102, 174),
    Call("geteuid", 107, 175),
    Call("getgid", 104, 176),
    Call("getegid", 108, 177),
    Call("getrusage", 98, 165),
    Call("times", 100, 153),
    Call("sysinfo", 99, 179),
    Call("getrandom", 318, 278),
    Call("prlimit64", 302, 261, (Within(2, 0),)),  # reads a limit, and sets none
    Call("exit", 60, 93),
    Call("exit_group", 231, 94),
)

PROGRAM = (
    *ALLOWED,
    Call("execve", 59, 221),  # Landlock lets it run one program and its libraries
    Call("arch_prctl", 158, None),
    Call("set_tid_address", 218, 96),
)
"""The calls of a program that the parent starts for a parser."""
