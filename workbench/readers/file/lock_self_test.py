"""What a locked parser tries when the first of its kind starts: none of it may work."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable


def what_works() -> list[str]:
    """What worked of that which a locked parser must not be able to do, in words. Its own folder must work."""
    found = [name for name, attempt in _ATTEMPTS if _works(attempt)]
    if not _works(_own_folder):
        found.append("it cannot write in its own folder")
    return found


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _own_folder() -> None:
    with open(os.path.join(tempfile.gettempdir(), "test"), "wb") as file:
        file.write(b"test")


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _write_elsewhere() -> None:
    place = os.path.join(os.path.dirname(tempfile.gettempdir()), f"test-{os.getpid()}")
    os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(place)


_ATTEMPTS: tuple[tuple[str, Callable[[], object]], ...] = (
    ("it opens a file of the system", lambda: os.close(os.open("/etc/passwd", os.O_RDONLY))),
    ("it lists a folder", lambda: os.listdir("/")),
    ("it reads the state of processes", lambda: os.close(os.open("/proc/self/environ", os.O_RDONLY))),
    ("it writes outside of its folder", _write_elsewhere),
    ("it opens a socket", lambda: socket.socket().close()),
    ("it starts a process", _fork),
    ("it runs a program", lambda: os.execv("/proc/self/exe", ["python", "-c", ""])),  # noqa: S606
    ("it signals a process", lambda: os.kill(os.getppid(), 0)),
)
