"""Leases: which process is writing an unpublished series. Others leave it alone while that process lives."""

from __future__ import annotations

import os
import platform
import secrets
import time
import zlib
from pathlib import Path

import orjson

from ...living_process import is_alive

SILENCE_SECONDS = 3600


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


def _start() -> str:
    """Which start of the machine this is, where the system says so: every start has another text."""
    return _read("/proc/sys/kernel/random/boot_id").strip()


def _machine() -> str:
    return f"{platform.node()} {_start()} {_namespace()}"


def _born(pid: int) -> str:
    """When a process started, if the system says so. With it, a process number that is used again is recognized."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else ""


def take() -> str:
    """The text that says that this process is the writer."""
    pid = os.getpid()
    return orjson.dumps([_machine(), pid, _born(pid)]).decode()


def name() -> str:
    """A part of a file name that says that this process writes the file; each one is another."""
    pid = os.getpid()
    return f"{_machine_number()}-{pid}-{_born(pid) or 0}-{secrets.token_hex(4)}"


def is_name_held(name: str, beat: int) -> bool:
    """As `is_held`, for a `name`; one of an older version has no process."""
    parts = name.split("-")
    if len(parts) != 4 or parts[0] != _machine_number():
        return time.time() - beat / 1e6 < SILENCE_SECONDS
    pid = int(parts[1])
    return is_alive(pid) and (_born(pid) or "0") == parts[2]


def _machine_number() -> str:
    return f"{zlib.crc32(_machine().encode()):08x}"


def is_held(lease: str, beat: int, *, one_machine: bool = False) -> bool:
    """Whether the writer may still be running; ``beat`` is when it last wrote, in microseconds since 1970.

    On this machine the system knows. A writer on another machine counts as gone after an hour without a write.

    Parameters
    ----------
    one_machine : that all writers are on this machine, as those of a store in a file. One from before the machine was
        started, as after a power cut, is then known to be gone. Containers of a machine share its start.
    """
    try:
        machine, pid, born = orjson.loads(lease)
    except (orjson.JSONDecodeError, ValueError, TypeError):
        return False
    if one_machine and _is_of_another_start(str(machine)):
        return False
    if machine != _machine():
        return time.time() - beat / 1e6 < SILENCE_SECONDS
    if not is_alive(pid):
        return False
    return bool(_born(pid) == born)


def _is_of_another_start(machine: str) -> bool:
    """Whether the text of a machine (see `_machine`) names another start than that of this machine now."""
    parts, now = machine.rsplit(" ", 2), _start()
    return len(parts) == 3 and bool(parts[1] and now) and parts[1] != now
