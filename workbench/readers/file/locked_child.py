"""The side of the locked process: it answers jobs, and asks its parent to run what it may not start itself."""

from __future__ import annotations

import os
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict

import orjson

from ...errors import FileRefused

if TYPE_CHECKING:  # not all systems can import the lock
    from ...lock.launcher import Run
    from ...lock.reader_lock import Bounds, ReaderLock
    from .parser_process import Job

ANSWER, QUESTION, UNLOCKED = b"A", b"Q", b"L"
HEAD = struct.Struct("=cQ")
MOST = 64 << 20
"""Bytes of one message."""
LOADED_WHEN_USED = ("scipy.io", "h5py", "bpx", "galvani", "yadg", "fastnda", "polars")
"""Slow to import, so the parent imports them once a file has needed them."""

LACKS = 75
"""The exit code of a process that needs a library which only its parent can import."""

Work = Callable[[bytes], bytes]


def as_text(path: str) -> str:
    """A path as JSON takes it: its name need not be Unicode."""
    return os.fsencode(path).decode("latin-1")


def as_path(text: str) -> str:
    """The path that :func:`as_text` wrote."""
    return os.fsdecode(text.encode("latin-1"))


class Place(TypedDict):
    """The files that a process may read, and the folder in which it may write."""

    reading: list[str]
    writing: str


class Question(TypedDict, total=False):
    """What a locked process asks its parent; it may be anything if a file has taken the process over."""

    what: Literal["parse", "programs", "imported", "remove"]
    job: Job
    runs: list[Run]
    seconds: float
    modules: list[str]
    names: list[str]


class _Parent:
    """The connection to the parent; there is none in a process that is not locked."""

    descriptor: int | None = None
    left: ClassVar[list[str]] = []
    """What is to be removed."""


def is_locked() -> bool:
    """Whether this process is one that a parent locked in to read a file."""
    return _Parent.descriptor is not None


def ask(what: str, question: Mapping[str, Any]) -> dict[str, Any]:
    """What the parent answers.

    Raises
    ------
    FileRefused
        If it does not: it is at its end.
    """
    if _Parent.descriptor is None:
        raise FileRefused("The process that reads the file has lost its parent. Ingest the file again.")
    send(_Parent.descriptor, QUESTION, orjson.dumps({"what": what, **question}))
    found = receive(_Parent.descriptor)
    if found is None:
        os._exit(1)
    answer: dict[str, Any] = orjson.loads(found[1])
    return answer


def need(module: str) -> None:
    """Let the parent of this locked process import a library that cannot be imported under the lock, because it runs
    programs meanwhile, and do the job again. Elsewhere nothing happens."""
    if is_locked() and module not in sys.modules and ask("imported", {"modules": [module]}).get("new"):
        os._exit(LACKS)


def leave(path: str) -> None:
    """Say that what was made in the folder of this locked process is not needed any more: its parent removes it."""
    _Parent.left.append(path)


def serve(connection: socket.socket, parent: int, lock: ReaderLock, bounds: Bounds, work: Work) -> None:
    """Lock this process for the files of the first message, then answer jobs until the parent ends the connection."""
    try:
        descriptor = _alone(connection)
        first = receive(descriptor)
        if first is None:
            return
        place: Place = orjson.loads(first[1])
        reading, writing = [as_path(one) for one in place["reading"]], as_path(place["writing"])
        tempfile.tempdir = writing
        os.environ.clear()
        try:
            lock.apply(parent, reading, writing, bounds)
        except OSError as error:
            send(descriptor, UNLOCKED, str(error).encode())
            return
        _Parent.descriptor = descriptor
        while (job := receive(descriptor)) is not None:
            before = set(sys.modules)
            answer = work(job[1])
            if new := [name for name in LOADED_WHEN_USED if name in sys.modules and name not in before]:
                ask("imported", {"modules": new})
            if _Parent.left:
                names = [as_text(os.path.basename(path)) for path in _Parent.left]
                _Parent.left.clear()
                ask("remove", {"names": names})
            send(descriptor, ANSWER, answer)
    finally:
        os._exit(0)


def send(descriptor: int, kind: bytes, data: bytes) -> None:
    left = memoryview(HEAD.pack(kind, len(data)) + data)
    while left:
        left = left[os.write(descriptor, left) :]


def receive(descriptor: int) -> tuple[bytes, bytes] | None:
    """Kind and bytes of the next message; None at the end."""
    head = _exactly(descriptor, HEAD.size)
    if head is None:
        return None
    kind, size = HEAD.unpack(head)
    data = _exactly(descriptor, size) if size <= MOST else None
    return None if data is None else (kind, data)


def _exactly(descriptor: int, size: int) -> bytes | None:
    parts, left = [], size
    while left:
        part = os.read(descriptor, min(left, 1 << 20))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _alone(connection: socket.socket) -> int:
    """Keep the connection alone of all that the parent had open; gives its descriptor."""
    _quiet()
    os.dup2(connection.fileno(), 3)
    connection.detach()
    os.closerange(4, 1 << 16)
    return 3


def _quiet() -> None:
    """What a parser prints is lost: it might be for a terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
