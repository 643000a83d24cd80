"""Leases: which process is writing an unpublished series. Others leave it alone while that process lives."""

from __future__ import annotations

import os
import time

import orjson

from ... import living_process

SILENCE_SECONDS = 3600


def take() -> str:
    """The text that says that this process is the writer."""
    pid = os.getpid()
    return orjson.dumps([living_process.machine(), pid, living_process.began(pid)]).decode()


def is_name_held(name: str, beat: int) -> bool:
    """As `is_held`, for a name of a process (see `living_process.name`); one of an older version has no process."""
    ended = living_process.has_ended(name)
    return time.time() - beat / 1e6 < SILENCE_SECONDS if ended is None else not ended


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
    if machine != living_process.machine():
        return time.time() - beat / 1e6 < SILENCE_SECONDS
    if not living_process.is_alive(pid):
        return False
    return bool(living_process.began(pid) == born)


def _is_of_another_start(machine: str) -> bool:
    """Whether the text of a `living_process.machine` names another start than that of this machine now."""
    parts, now = machine.rsplit(" ", 2), living_process.start_of_machine()
    return len(parts) == 3 and bool(parts[1] and now) and parts[1] != now
