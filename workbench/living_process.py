"""Whether a process of this machine lives, and what distinguishes it from all others. This module alone knows how each
system says so."""

from __future__ import annotations

import ctypes
import math
import os
import platform
import re
import secrets
import sys
import time
import zlib
from pathlib import Path

NAME = "[0-9a-f]{8}-[0-9]+-[0-9]+-[0-9a-f]{8}"
"""What `name` gives, as a regular expression."""
_MAY_ASK = 0x1000
"""``PROCESS_QUERY_LIMITED_INFORMATION``."""
_RUNS = 259
"""The exit code of a process that has none yet, ``STILL_ACTIVE``."""
_UNKNOWN = 87
"""The error of a process that does not exist, ``ERROR_INVALID_PARAMETER``."""


def is_alive(pid: int) -> bool:
    """Whether a process runs; also true where the system does not say. A process that ended is never sent anything:
    on Windows ``os.kill`` would end the process, or send Ctrl-C to its group."""
    if sys.platform == "win32":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_alive_on_windows(pid: int) -> bool:
    if sys.platform != "win32":
        raise OSError("Only Windows answers this.")
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(_MAY_ASK, False, pid)
    if not handle:
        return ctypes.get_last_error() != _UNKNOWN
    try:
        code = ctypes.c_ulong()
        if not kernel.GetExitCodeProcess(ctypes.c_void_p(handle), ctypes.byref(code)):
            return True
        return code.value == _RUNS
    finally:
        kernel.CloseHandle(ctypes.c_void_p(handle))


def began(pid: int) -> str:
    """When a process started, if the system says so. With it, a process number that is used again is recognized."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else ""


def start_of_machine() -> str:
    """Which start of the machine this is, where the system says so: every start has another text."""
    return _read("/proc/sys/kernel/random/boot_id").strip()


def machine() -> str:
    """A text that two processes share which can see each other: machine, its start, and the container."""
    return f"{platform.node()} {start_of_machine()} {_namespace()}"


def name() -> str:
    """A part of a file name that says that this process writes the file; each one is another."""
    pid = os.getpid()
    return f"{_machine_number()}-{pid}-{began(pid) or 0}-{secrets.token_hex(4)}"


def has_ended(name: str) -> bool | None:
    """Whether the process of a `name` has ended; None if it is of another machine, or this is not such a name."""
    parts = name.split("-")
    if re.fullmatch(NAME, name) is None or parts[0] != _machine_number():
        return None
    pid = int(parts[1])
    return not is_alive(pid) or (began(pid) or "0") != parts[2]


def left_in(folder: str | Path, before: str, silent: float = math.inf) -> list[Path]:
    """What processes of this machine that have ended left in a folder: all that is named ``before`` and a `name`.
    Nothing where the folder cannot be read.

    Nobody knows that of a process of another machine, or of this one before it was started again, as after a power cut.
    What it wrote counts as left if it has not changed for ``silent`` seconds.
    """
    try:
        with os.scandir(folder) as found:
            return [Path(one.path) for one in found if _is_left(one, before, silent)]
    except OSError:
        return []


def _is_left(one: os.DirEntry[str], before: str, silent: float) -> bool:
    name = one.name.removeprefix(before)
    if not one.name.startswith(before) or re.fullmatch(NAME, name) is None:
        return False
    ended = has_ended(name)
    return time.time() - one.stat(follow_symlinks=False).st_mtime > silent if ended is None else ended


def _machine_number() -> str:
    return f"{zlib.crc32(machine().encode()):08x}"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
