"""Puts datasets into sealed memory: after one write nobody can change or resize it, and any process may map it.

One such memory file serves every figure of its dataset, so a change of a view param copies nothing.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

_SEALS = 0x0001 | 0x0002 | 0x0004 | 0x0008  # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE
_ADD_SEALS = 1033
MOST_BYTES, MOST_FILES = 256 * 2**20, 64


class Sealed(NamedTuple):
    """A descriptor of sealed memory and its size in bytes."""

    descriptor: int
    size: int


def seal(packed: bytes | bytearray | memoryview) -> Sealed:
    """Copy the bytes into sealed memory. The caller closes the descriptor."""
    descriptor = os.memfd_create("dataset", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(packed).cast("B")
        size = len(view)
        os.posix_fallocate(descriptor, 0, max(size, 1))
        done = 0
        while done < size:
            done += os.pwrite(descriptor, view[done : done + 2**30], done)
        fcntl.fcntl(descriptor, _ADD_SEALS, _SEALS)
    except BaseException:  # whatever happens, the descriptor must not leak
        os.close(descriptor)
        raise
    return Sealed(descriptor, size)


class Shelf:
    """Sealed datasets by the key of their content. It holds a limited number of bytes and of datasets, and drops the
    least recently used first."""

    def __init__(self, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> None:
        self._most_bytes, self._most_files = most_bytes, most_files
        self._kept: OrderedDict[str, Sealed] = OrderedDict()
        self._lent: dict[int, int] = {}
        self._dropped: set[int] = set()
        self._lock = threading.Lock()

    @contextmanager
    def lend(self, key: str | None, packed: bytes | bytearray | memoryview) -> Iterator[Sealed]:
        """The sealed bytes, while the block runs. With a key they stay for the next call."""
        sealed = self._taken(key, packed)
        try:
            yield sealed
        finally:
            self._back(sealed)

    def close(self) -> None:
        """Drop everything. What is in use is closed when its last user is done."""
        with self._lock:
            while self._kept:
                self._drop(self._kept.popitem()[1])

    def __len__(self) -> int:
        return len(self._kept)

    def _taken(self, key: str | None, packed: bytes | bytearray | memoryview) -> Sealed:
        with self._lock:
            found = None if key is None else self._kept.get(key)
            if found is not None and key is not None:
                self._kept.move_to_end(key)
                self._lent[found.descriptor] = self._lent.get(found.descriptor, 0) + 1
                return found
        made = seal(packed)
        with self._lock:
            self._lent[made.descriptor] = 1
            if key is None or key in self._kept:
                self._dropped.add(made.descriptor)
            else:
                self._keep(key, made)
        return made

    def _keep(self, key: str, made: Sealed) -> None:
        self._kept[key] = made
        while (
            len(self._kept) > self._most_files or sum(one.size for one in self._kept.values()) > self._most_bytes
        ):
            self._drop(self._kept.popitem(last=False)[1])

    def _drop(self, sealed: Sealed) -> None:
        if self._lent.get(sealed.descriptor):
            self._dropped.add(sealed.descriptor)
        else:
            os.close(sealed.descriptor)

    def _back(self, sealed: Sealed) -> None:
        with self._lock:
            self._lent[sealed.descriptor] -= 1
            if self._lent[sealed.descriptor]:
                return
            del self._lent[sealed.descriptor]
            if sealed.descriptor in self._dropped:
                self._dropped.discard(sealed.descriptor)
                os.close(sealed.descriptor)
