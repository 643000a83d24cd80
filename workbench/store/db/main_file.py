"""The file of a store beside SQLite's connections: its first bytes, and the note that says which log belongs to it.

SQLite writes changes to a log beside the file first (``lab.db-wal``). A copy of the file alone would open as a sound
store without them. So the file itself notes which log is in use, in the four bytes of ``user_version``:

- Every transaction writes the page with these bytes to the log, as the mark of the file: 0, or a number that only this
  backup has. After its commit the note is written to the file, beside SQLite: a number of that log.
- When the whole log has been moved into the file, by whichever program, the page comes along and clears the note.
- A commit and its note are one for every other process of ours: none commits or moves the log between them. Else the
  note of a log that is moved already could outlive it, and a kill before the next note would leave a note of one log
  beside another.

A file with a note, and without the log of that number, lacks changes. A log with another mark than a backup is of
another file, such as the store whose place the backup took.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import struct
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ...errors import Damaged, StoreError

if sys.platform == "linux":
    import fcntl

_NOTE_AT, _NOTE_BYTES = 60, 4
"""Where SQLite keeps ``user_version``: https://sqlite.org/fileformat2.html#the_database_header"""
_FRAME_HEADER, _FIRST_PAGE = 24, b"\0\0\0\1"
_LOG_HEADER, _SALT_AT, _SALT_BYTES = 32, 16, 4
"""The header of a log, and its first salt, which each new log raises: https://sqlite.org/fileformat2.html#walformat"""
_NOTED = 0x40000000
"""Set in every note, and in no mark."""
_LOOKS = (0.02, 0.1, 0.3, 1.0, 0)
_OURS_ALONE = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags of a descriptor that a program started by this one does not get; each system has one of them."""


_SHARED_FROM, _SHARED_BYTES = 0x40000002, 510
"""The bytes of a file that SQLite locks while it uses it: https://sqlite.org/src/file/src/os.h"""
_NOTING_AT = _SHARED_FROM + _SHARED_BYTES
"""The byte that a process locks from a commit to its note: the first that SQLite never locks."""
_NOTING_SECONDS, _NOTING_PAUSE = 5.0, 0.001
"""How long a process waits for the note of another one, which takes milliseconds. It then goes on as if there were no
such lock: the other one may be stopped, or have left a child that still holds its descriptor."""


@dataclass
class _Descriptor:
    number: int
    users: int = 0
    in_use: int = 0
    noting: threading.Lock = field(default_factory=threading.Lock)
    """The threads of a process share the descriptor, and so its lock of a byte."""


_Key = tuple[int, int]
_LOCK = threading.Lock()
_OPEN: dict[_Key, _Descriptor] = {}
"""One descriptor for each file that this process has connections to, by device and inode.

POSIX drops all locks that a process has on a file when the process closes *any* descriptor of it. Another process
would then take itself for the last user of the store and delete the log under this one. So we have one descriptor,
which is closed after the last connection. Where the system has locks of a descriptor (Linux), it also holds one: code
that is not ours may open and close the file too, to copy it."""
_LEFT: deque[_Key] = deque()
"""Files whose user was garbage collected. A finalizer may run anywhere, so it takes no lock."""


class MainFile:
    """The file of a store that this process has open, and its note."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _LOCK:
            _release_left()
            self._key = _key(os.stat(path))
            if self._key not in _OPEN:
                _OPEN[self._key] = _Descriptor(_opened(path))
            self._descriptor = _OPEN[self._key]
            self._descriptor.users += 1
        self._in_use = False
        self._leave = weakref.finalize(self, _LEFT.append, self._key)
        self._leave.atexit = False

    def use(self) -> None:
        """Show other processes that the store is in use, whatever happens to SQLite's own lock."""
        if not self._in_use:
            self._in_use = True
            with _LOCK:
                self._descriptor.in_use += 1
                _lock(self._descriptor.number, _SHARED_FROM, _SHARED_BYTES, "read")

    def let_go(self) -> None:
        """To be called before the connections are closed: the last one of all moves the log into the file."""
        if self._in_use:
            self._in_use = False
            with _LOCK:
                self._descriptor.in_use -= 1
                if not self._descriptor.in_use:
                    _lock(self._descriptor.number, _SHARED_FROM, _SHARED_BYTES, "none")

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Inside, no other process or thread commits, makes a note or moves the log."""
        with self._descriptor.noting:
            until = time.monotonic() + _NOTING_SECONDS
            while (
                not (held := _lock(self._descriptor.number, _NOTING_AT, 1, "write")) and time.monotonic() < until
            ):
                time.sleep(_NOTING_PAUSE)
            try:
                yield
            finally:
                if held:
                    _lock(self._descriptor.number, _NOTING_AT, 1, "none")

    def keep_note(self) -> None:
        """Note the log that is in use now, if it is another one. Called after each commit, both inside `noting`."""
        log = log_number(self._path)
        if log is None or log == self._read():
            return
        self._write(log)
        if log_number(self._path) is None and self._read() == log:
            self._write(0)  # another process moved the log into the file meanwhile

    def clear_note(self, connection: sqlite3.Connection) -> None:
        """Clear a note that a killed process left after its log was moved into the file."""
        if not self._read() & _NOTED or log_number(self._path) is not None:
            return
        connection.execute("begin immediate")  # nobody begins a log meanwhile
        try:
            if log_number(self._path) is None:
                self._write(0)
        finally:
            connection.execute("rollback")

    def close(self) -> None:
        """To be called after the connections of the store were closed."""
        if self._leave.detach() is None:
            return
        with _LOCK:
            _release(self._key)

    def _read(self) -> int:
        return int.from_bytes(_bytes(self._descriptor.number, _NOTE_AT, _NOTE_BYTES), "big")

    def _write(self, note: int) -> None:
        number = self._descriptor.number
        with suppress(OSError), _LOCK:  # a file that may only be read has no new log either
            os.lseek(number, _NOTE_AT, os.SEEK_SET)
            os.write(number, note.to_bytes(_NOTE_BYTES, "big"))
            os.fsync(number)


def first_bytes(path: Path, count: int) -> bytes:
    """The first bytes of a file that may be a store which this process has open."""
    with _LOCK:
        _release_left()
        held = _OPEN.get(_key(os.stat(path)))
        if held is not None:
            return _bytes_locked(held.number, 0, count)
        with path.open("rb") as file:
            return file.read(count)


def new_mark() -> int:
    """The mark of a new backup."""
    return 1 + secrets.randbelow(_NOTED - 1)


def mark_of(version: int) -> int:
    """The mark of a file, from its ``user_version`` as SQLite reads it: 0 if that is the note of a log."""
    return 0 if version & _NOTED else version


def is_noted(path: Path) -> bool:
    """Whether the file notes that a log belongs to it."""
    return bool(_note(path))


def _note(path: Path) -> int:
    note = int.from_bytes(first_bytes(path, _NOTE_AT + _NOTE_BYTES)[_NOTE_AT:], "big")
    return note if note & _NOTED else 0


def log_number(path: Path) -> int | None:
    """The number of the log beside a store; None if there is no log, or an empty one."""
    try:
        with log_of(path).open("rb") as file:
            head = file.read(_LOG_HEADER)
    except FileNotFoundError:
        return None
    if len(head) < _LOG_HEADER:
        return None
    return _NOTED | int.from_bytes(head[_SALT_AT : _SALT_AT + _SALT_BYTES], "big") & (_NOTED - 1)


def log_bytes(path: Path) -> int:
    """The size of the log beside a store."""
    try:
        return log_of(path).stat().st_size
    except FileNotFoundError:
        return 0


def log_of(path: Path) -> Path:
    """Where SQLite keeps the log of a store."""
    return path.with_name(f"{path.name}-wal")


def refuse_without_log(path: Path) -> None:
    """Refuse a file that lacks changes: it notes a log, and that log is not beside it.

    Raises
    ------
    StoreError
        Its text says how to copy a store, and how to open what is there.
    """
    for pause in _LOOKS:
        note, log = _note(path), log_of(path)
        there = log.exists()
        if not note or (there and log_number(path) in (None, note)):
            return
        time.sleep(pause)  # a process that works on it may have begun another log just now
    what = (
        f"the log '{log.name}' beside it is of another time" if there else f"its log '{log.name}' is not beside it"
    )
    raise StoreError(
        f"The store '{path}' lacks its last changes: it was copied or moved while it was open, and {what}. Copy it "
        "again with 'workbench backup', or copy all its files after everyone closed it. To go on with what is there, "
        f"without the last changes: 'workbench backup NEW.db --without-log --store {path}'."
    )


def refuse_older_log(path: Path) -> None:
    """Refuse a log of another store, or one that is older than its file, before SQLite writes its pages over those of
    the file.

    The name of a store never changes. Every change moves the store's clock, so the clock with the log is never behind
    that of the file alone.

    Raises
    ------
    Damaged
        Its text says what to do with the log.
    """
    if log_number(path) is None:
        return
    # A connection that may not write does not move the log when it is closed.
    with_log = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    alone, both = _facts(connect_without_log(path)), _facts(with_log)
    if alone is None or alone == _UNREADABLE:  # while a log is being moved, the file alone may be unreadable
        return
    if both == _UNREADABLE or (both is not None and alone[0] != both[0]):
        raise _of_another(path)
    if both is not None and alone[1] > both[1]:
        raise Damaged(
            f"The store '{path}' is newer than the log beside it, '{log_of(path).name}', which is left of an older "
            "copy. Move that log away, with the file that ends in '-shm', and open the store again."
        )


def refuse_log_of_another(path: Path) -> None:
    """Refuse a log of another file beside a backup, before SQLite writes its pages over those of the backup.

    Raises
    ------
    Damaged
        Its text says what to do with the log.
    """
    for pause in _LOOKS:
        version = int.from_bytes(first_bytes(path, _NOTE_AT + _NOTE_BYTES)[_NOTE_AT:], "big")
        if not version or version & _NOTED or _log_mark(path) in (None, version):
            return
        time.sleep(pause)  # a process that works on it may have moved the log just now
    raise _of_another(path)


def _of_another(path: Path) -> Damaged:
    return Damaged(
        f"The log '{log_of(path).name}' beside the store '{path}' is of another file, whose place this one took. Let "
        "everyone close the store, move that log away, with the file that ends in '-shm', and open the store again."
    )


def _log_mark(path: Path) -> int | None:
    """The mark in the first page of a file in its log; None if it is not there."""
    with suppress(FileNotFoundError), log_of(path).open("rb") as log:
        head = log.read(_LOG_HEADER)
        page = int.from_bytes(head[8:12], "big")
        while page >= _NOTE_AT + _NOTE_BYTES:
            frame = log.read(_FRAME_HEADER)
            if len(frame) < _FRAME_HEADER or frame[8:16] != head[_SALT_AT : _SALT_AT + 8]:
                break
            start = log.read(_NOTE_AT + _NOTE_BYTES)
            if frame[:4] == _FIRST_PAGE and len(start) == _NOTE_AT + _NOTE_BYTES:
                return mark_of(int.from_bytes(start[_NOTE_AT:], "big"))
            log.seek(page - len(start), os.SEEK_CUR)
    return None


_UNREADABLE = ("", 0)


def _facts(connection: sqlite3.Connection) -> tuple[str, int] | None:
    """The name and the clock of a store. ``_UNREADABLE`` if its pages do not fit together, as with the log of another
    store; None if they cannot be read for another reason, or are not there."""
    with closing(connection):
        try:
            rows = dict(connection.execute("select name, value from facts where name in ('store', 'clock')"))
        except sqlite3.DatabaseError as error:
            return _UNREADABLE if error.sqlite_errorname.startswith("SQLITE_CORRUPT") else None
        except UnicodeDecodeError:
            return _UNREADABLE
    name, clock = rows.get("store"), rows.get("clock")
    return (name, clock) if isinstance(name, str) and isinstance(clock, int) else None


def connect_without_log(path: Path) -> sqlite3.Connection:
    """A connection that reads the file alone, as if it had no log."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _lock(number: int, start: int, count: int, kind: Literal["read", "write", "none"]) -> bool:
    """Hold, or let go, a lock of these bytes by this descriptor. False if another process holds one that excludes it.

    A file system or a system without such locks, or a file that may only be read, is as it was without: True.
    """
    if sys.platform == "linux":
        flag = {"read": fcntl.F_RDLCK, "write": fcntl.F_WRLCK, "none": fcntl.F_UNLCK}[kind]
        try:
            fcntl.fcntl(number, fcntl.F_OFD_SETLK, struct.pack("@hhqqi", flag, os.SEEK_SET, start, count, 0))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            return True
    return True


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | _OURS_ALONE)
    except OSError:
        return os.open(path, os.O_RDONLY | _OURS_ALONE)


def _bytes(number: int, at: int, count: int) -> bytes:
    with _LOCK:
        return _bytes_locked(number, at, count)


def _bytes_locked(number: int, at: int, count: int) -> bytes:
    os.lseek(number, at, os.SEEK_SET)
    return os.read(number, count)


def _key(found: os.stat_result) -> _Key:
    return found.st_dev, found.st_ino


def _own_after_fork() -> None:
    """Give a forked process its own locks. Threads that held one are not there, and would never let it go; and locks
    of a descriptor that it shared with its parent would be those of both: neither waited for the other, and what one
    let go the other would have lost."""
    global _LOCK
    _LOCK = threading.Lock()
    for held in _OPEN.values():
        held.noting = threading.Lock()
        with suppress(OSError):
            own = _opened(Path(f"/proc/self/fd/{held.number}"))
            os.dup2(own, held.number, inheritable=False)
            os.close(own)
            if held.in_use:
                _lock(held.number, _SHARED_FROM, _SHARED_BYTES, "read")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_own_after_fork)


def _release_left() -> None:
    while _LEFT:
        _release(_LEFT.popleft())


def _release(key: _Key) -> None:
    held = _OPEN[key]
    held.users -= 1
    if not held.users:
        del _OPEN[key]
        os.close(held.number)
