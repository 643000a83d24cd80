"""A cache of bytes by key, in memory and in a side file. All processes on a store share the side file.

An entry is (kind, key) -> bytes and a small JSON ``meta``. The cache does not know whether an entry is stale. If the
bytes depend on more than the key, the caller gives ``valid``, which decides by the ``meta``.

The side file may be deleted at any time. Every failure of it (deleted, damaged, locked, full disk) is a miss, counted
in ``stats``. If several ask for one key at once, in this process or others, one makes the entry and the rest wait.
The one that makes it renews a lease in the side file, so that another takes over if it is killed. Servers on several
machines have no file together: they keep figures, and the leases on these, where their store is (see `store.shared`).
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import orjson

from ...dataset import Parts
from ...table import JsonObject, Plain
from .disk import Kept, SideFile, Stats, weight
from .leases import Leases

if TYPE_CHECKING:
    from ..shared import Shared

SHARED = frozenset({"figure", "traces", "hints"})
"""Kinds of entries that machines share. A dataset is read from the store as quickly as from there."""
LARGE = 1 << 20
"""An entry of so many bytes is written to the side file by a thread: whoever asked for it does not wait."""


Data: TypeAlias = bytes | Parts
"""Bytes, or what they are joined from when they leave the memory of this process."""


class Found(NamedTuple):
    """The answer of the cache: the bytes, their meta, and whether they were in the cache (``hit``) or were made now."""

    data: Data
    meta: JsonObject
    hit: bool

    @property
    def bytes(self) -> bytes:
        return bytes(self.data)


Valid = Callable[[JsonObject], bool]
Make = Callable[[], tuple[Data, Mapping[str, Plain]]]


class Cache:
    """Two levels, each bounded in bytes. The least recently used entries are dropped first.

    Parameters
    ----------
    path : the side file, or None for memory alone.
    shared : where servers on several machines keep figures together, and see who draws which. None: machines do not
        know of each other.
    memory_bytes, disk_bytes : bounds; an entry above a quarter of a bound does not enter that level.
    """

    def __init__(
        self,
        path: str | Path | None,
        *,
        memory_bytes: int = 256 * 2**20,
        disk_bytes: int = 2 * 2**30,
        shared: Shared | None = None,
    ) -> None:
        self.stats = Stats()
        self.told: Callable[[str, bool], None] | None = None
        """Called with the kind of each entry that is given, and whether it was in the cache."""
        self._memory = _Memory(memory_bytes)
        self._side = None if path is None else SideFile(Path(path), disk_bytes, self.stats)
        self._shared = shared
        self._flights: dict[tuple[str, str], _Flight] = {}
        self._lock = threading.Lock()

    def get(self, kind: str, key: str, valid: Valid | None = None) -> Found | None:
        """The entry, or None if there is none, it is damaged, or ``valid(meta)`` is false."""
        return self._look(kind, key, valid, count=True)

    def put(
        self, kind: str, key: str, data: Data, meta: Mapping[str, Plain] | None = None, *, soon: bool = False
    ) -> None:
        """Keep bytes under a key, in place of older ones. With ``soon`` a thread writes them to the side file later."""
        self._keep(kind, key, Kept(bytes(data), orjson.dumps(dict(meta or {}))), soon, soon)

    def _keep(self, kind: str, key: str, kept: Kept, soon: bool, shared_soon: bool) -> None:
        self._memory.put(kind, key, kept)
        if self._side is not None:
            (self._side.put_soon if soon else self._side.put)(kind, key, kept)
        shared = self._shared_for(kind)
        if shared is not None:
            if shared_soon and self._side is not None:
                self._side.later(lambda: shared.keep_entry(kind, key, kept))
            else:
                shared.keep_entry(kind, key, kept)

    def _shared_for(self, kind: str) -> Shared | None:
        return self._shared if kind in SHARED else None

    def get_or_make(
        self,
        kind: str,
        key: str,
        make: Make,
        valid: Valid | None = None,
        waiting: Callable[[], None] | None = None,
        *,
        soon: bool = False,
        keep: bool = True,
        quick: Callable[[], bool] | None = None,
    ) -> Found:
        """The entry; ``make() -> (bytes, meta)`` makes it if it is not in the cache or not ``valid``.

        ``soon`` is for answers on a screen: nothing is written before this returns, and another process may make the
        same entry meanwhile. Without ``keep`` what is made now does not enter the cache. ``quick()`` is asked after
        ``make``: if making the entry again costs no more than reading it from the side file, it is only in memory until
        the caller puts it.

        While another caller makes it, ``waiting()`` is called every few hundredths of a second; what it raises, such as
        a cancellation, ends the wait. An error of ``make`` goes to its own caller; the next one then tries to make it.
        """
        found = self._found_or_made(kind, key, make, valid, waiting, soon, keep, quick)
        if self.told is not None:
            self.told(kind, found.hit)
        return found

    def _found_or_made(
        self,
        kind: str,
        key: str,
        make: Make,
        valid: Valid | None,
        waiting: Callable[[], None] | None,
        soon: bool,
        keep: bool,
        quick: Callable[[], bool] | None,
    ) -> Found:
        found = self._look(kind, key, valid, count=True)
        if found is not None:
            return found
        if not keep:
            data, meta = make()
            return Found(data, dict(meta), False)
        with self._flight(kind, key, waiting):
            found = self._look(kind, key, valid)
            if found is not None:
                return found
            shared = self._shared_for(kind)
            among = shared or self._side
            if soon or among is None:
                return self._make(kind, key, make, soon, quick)
            return self._leased(among.leases, kind, key, make, valid, waiting, quick)

    def count_hit(self, kind: str) -> None:
        """Count an entry that was given without a look here, as a part of an answer that was remembered."""
        self.stats.memory_hits += 1
        if self.told is not None:
            self.told(kind, True)

    def clear(self) -> None:
        """Drop every entry, in memory and in the side file."""
        self._memory.clear()
        if self._side is not None:
            self._side.clear()

    def close(self) -> None:
        """Close the side file. The cache may still be used; it then opens the file again."""
        if self._side is not None:
            self._side.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look(self, kind: str, key: str, valid: Valid | None, count: bool = False) -> Found | None:
        kept = self._memory.get(kind, key)
        if kept is not None:
            found = _checked(kept, valid)
            if found is not None:
                self.stats.memory_hits += 1
                if self._side is not None:
                    self._side.touch(kind, key)
                return found
        if self._side is not None:
            read = self._side.get(kind, key)
            found = None if read is None else _checked(read, valid)
            if read is not None and found is not None:
                self.stats.disk_hits += 1
                self._memory.put(kind, key, read)
                return found
        shared = self._shared_for(kind)
        if shared is not None:
            read = shared.entry(kind, key)
            found = None if read is None else _checked(read, valid)
            if read is not None and found is not None:
                self.stats.shared_hits += 1
                self._memory.put(kind, key, read)
                if self._side is not None:
                    self._side.put_soon(kind, key, read)
                return found
        self.stats.misses += count
        return None

    def _make(self, kind: str, key: str, make: Make, soon: bool, quick: Callable[[], bool] | None) -> Found:
        data, meta = make()
        if quick is not None and quick():
            self._memory.put(kind, key, (data, orjson.dumps(dict(meta))))
            return Found(data, dict(meta), False)
        later = LARGE <= len(data) <= self._memory.most // 4  # what waits is in memory anyhow
        # The server that waits for this lease looks for the entry as soon as it is given back.
        self._keep(kind, key, Kept(bytes(data), orjson.dumps(dict(meta))), soon or later, soon)
        return Found(bytes(data), dict(meta), False)

    def _leased(
        self,
        leases: Leases,
        kind: str,
        key: str,
        make: Make,
        valid: Valid | None,
        waiting: Callable[[], None] | None,
        quick: Callable[[], bool] | None,
    ) -> Found:
        pause = 0.005
        while not leases.take(kind, key):
            if waiting is not None:
                waiting()
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
        try:
            found = self._look(kind, key, valid)
            return found if found is not None else self._make(kind, key, make, False, quick)
        finally:
            leases.give_back(kind, key)

    @contextmanager
    def _flight(self, kind: str, key: str, waiting: Callable[[], None] | None) -> Iterator[None]:
        """One thread of this process at a time for each key."""
        place = (kind, key)
        with self._lock:
            flight = self._flights.setdefault(place, _Flight())
            flight.users += 1
        held = False
        try:
            while not (held := flight.lock.acquire(timeout=0.05)):
                if waiting is not None:
                    waiting()
            yield
        finally:
            if held:
                flight.lock.release()
            with self._lock:
                flight.users -= 1
                if not flight.users:
                    del self._flights[place]


class NotCached(Exception):
    """The entry is not in the cache; see `HitsOnly`."""


class HitsOnly(Cache):
    """A view of a cache that makes nothing: an entry that is missing or not valid raises `NotCached`."""

    def __init__(self, cache: Cache) -> None:
        self.__dict__ = cache.__dict__

    def get_or_make(
        self,
        kind: str,
        key: str,
        make: Make,
        valid: Valid | None = None,
        waiting: Callable[[], None] | None = None,
        *,
        soon: bool = False,
        keep: bool = True,
        quick: Callable[[], bool] | None = None,
    ) -> Found:
        found = self._look(kind, key, valid)
        if found is None:
            raise NotCached(key)
        if self.told is not None:
            self.told(kind, True)
        return found


@dataclass
class _Flight:
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0


def _checked(kept: tuple[Data, bytes], valid: Valid | None) -> Found | None:
    data, raw = kept
    meta = orjson.loads(raw)
    return Found(data, meta, True) if valid is None or valid(meta) else None


class _Memory:
    def __init__(self, most: int) -> None:
        self.most = most
        self._size = 0
        self._kept: OrderedDict[tuple[str, str], tuple[Data, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, kind: str, key: str) -> tuple[Data, bytes] | None:
        with self._lock:
            kept = self._kept.get((kind, key))
            if kept is not None:
                self._kept.move_to_end((kind, key))
            return kept

    def put(self, kind: str, key: str, kept: tuple[Data, bytes]) -> None:
        with self._lock:
            before = self._kept.pop((kind, key), None)
            if before is not None:
                self._size -= weight(before)
            if weight(kept) > self.most // 4:
                return
            self._kept[kind, key] = kept
            self._size += weight(kept)
            while self._size > self.most:
                _, dropped = self._kept.popitem(last=False)
                self._size -= weight(dropped)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._size = 0
