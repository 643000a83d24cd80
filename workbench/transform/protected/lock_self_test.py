"""The self-test of the lock: a process locks itself, tries what a script must not do, and reports what worked."""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
from collections.abc import Callable

from .allowed_calls import REPLY
from .lock import Lock

_HERE = b"/"


def in_child(lock: Lock) -> list[str]:
    """What a locked process could do but must not, in words. Empty if the lock holds.

    If a step of the lock fails, or the process ends without an answer, the list says that.
    """
    ours, theirs = socket.socketpair()
    me = os.getpid()
    process = os.fork()
    if process == 0:
        _try_all(theirs.fileno(), lock, me)
    theirs.close()
    ours.settimeout(20)
    told = b""
    try:
        while part := ours.recv(4096):
            told += part
    except TimeoutError:
        told += b"the self-test did not end;"
    finally:
        ours.close()
    _, status = os.waitpid(process, 0)
    words = [word for word in told.decode().split(";") if word]
    if status or not words or words[-1] != "done":
        return [*words, f"the self-test ended early (status {status})"]
    return words[:-1]


def _try_all(descriptor: int, lock: Lock, parent: int) -> None:
    try:
        os.dup2(descriptor, REPLY)
        tests = _tests(lock)
        try:
            lock.apply(parent)
        except OSError as error:
            os.write(REPLY, f"the lock failed: {error};done;".encode())
            os._exit(0)
        for name, test in tests:
            if _worked(test):
                os.write(REPLY, f"{name};".encode())
        os.write(REPLY, b"done;")
    finally:
        os._exit(0)


def _worked(test: Callable[[], bool | None]) -> bool:
    try:
        return test() is not False
    except (PermissionError, OSError):
        return False


def _tests(lock: Lock) -> list[tuple[str, Callable[[], bool | None]]]:
    """Name and attempt. Without the lock each attempt works; one that returns False did not."""
    libc = lock.libc
    libc.mmap.restype = ctypes.c_void_p
    failed = ctypes.c_void_p(-1).value

    def executable() -> bool:
        address = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
        return bool(address != failed)

    def fork() -> bool:
        process = os.fork()
        if process == 0:
            os._exit(0)
        return True

    return [
        ("open a file", lambda: os.open(_HERE, os.O_RDONLY) >= 0),
        ("look for a file", lambda: os.path.samestat(os.stat(_HERE), os.stat(_HERE))),
        ("list a folder", lambda: bool(os.listdir(_HERE)) or True),
        ("open a socket", lambda: socket.socket().fileno() >= 0),
        ("start a process", fork),
        ("run a program", lambda: os.execv("/proc/self/exe", ["python", "-c", ""])),  # noqa: S606
        ("signal a process", lambda: os.kill(os.getppid(), 0)),
        ("share memory", lambda: len(mmap.mmap(-1, 4096)) > 0),
        ("run made code", executable),
    ]
