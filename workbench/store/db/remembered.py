"""What was made of a store's records is remembered until the store changes: then a request asks nothing of it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar, cast

T = TypeVar("T")
Size = Callable[[T], int]
"""How many bytes a thing takes, about."""
MOST_THINGS = 1000
MOST_BYTES = 32 << 20
LARGEST = 4 << 20
"""A thing of more bytes is not remembered, if nobody says another limit."""
SMALL = 2 << 10
"""Bytes of a thing whose size nobody gives."""


class NotRemembered(BaseException):
    """What reads must ask the store after all. It never leaves this package, and no ``except Exception`` on its way
    must take it for an error."""


class Remembered:
    """Things by name, made of a store as it was at one time, or of what the name is a hash of; for all threads. The
    oldest make room for new ones."""

    def __init__(
        self, most_things: int = MOST_THINGS, most_bytes: int = MOST_BYTES, largest: int = LARGEST
    ) -> None:
        self._most_things, self._most_bytes, self._largest = most_things, most_bytes, largest
        self._things: dict[Hashable, tuple[object, int]] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, name: Hashable) -> object | None:
        found = self._things.get(name)
        return None if found is None else found[0]

    def keep(self, name: Hashable, thing: object, size: int = SMALL) -> None:
        if size > self._largest:
            return
        with self._lock:
            _, before = self._things.pop(name, (None, 0))
            self._things[name] = thing, size
            self._bytes += size - before
            while self._bytes > self._most_bytes or len(self._things) > self._most_things:
                _, freed = self._things.pop(next(iter(self._things)))
                self._bytes -= freed

    def made(self, name: Hashable, make: Callable[[], T], size: Size[T] | None = None) -> T:
        """The thing of a name; ``make`` makes it if it is not there. None is not kept."""
        # Under one name there is one kind of thing.
        found = cast(T, self.get(name))
        if found is None:
            found = make()
            if found is not None:
                self.keep(name, found, SMALL if size is None else size(found))
        return found


class Opened(Protocol):
    """An open connection; closed when nobody holds this any more."""

    connection: sqlite3.Connection


class FileMemory:
    """What is remembered of an SQLite file, as long as nobody commits a change to it, in whichever process.

    Its connection only looks whether somebody did: SQLite gives it another number after each commit that it did not
    make itself. That takes a few microseconds and waits for nobody.
    """

    def __init__(self, connect: Callable[[], Opened]) -> None:
        self._connect = connect
        self._opened: Opened | None = None
        self._lock = threading.Lock()
        self._version: int | None = None
        self._remembered = Remembered()

    def present(self, *, waits: bool) -> Remembered | None:
        """What is remembered of the file as it is now; None if SQLite cannot say. Then whoever reads meets its error.

        Without ``waits`` it also is None if that would wait for another thread or open a connection, and if the file
        has just changed, so that nothing is remembered.
        """
        if not self._lock.acquire(blocking=waits):
            return None
        try:
            if self._opened is None and waits:
                self._opened = self._connect()
            if self._opened is None:
                return None
            ((version,),) = self._opened.connection.execute("pragma data_version").fetchall()
            if version == self._version:
                return self._remembered
            self._version, self._remembered = version, Remembered()
            return self._remembered if waits else None
        except sqlite3.Error:
            self._version = None
            return None
        finally:
            self._lock.release()

    def forget(self) -> None:
        """Remember nothing of what was made until now."""
        with self._lock:
            self._version = None
