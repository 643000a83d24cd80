"""The objects of a store: where they are, and the chunks in them, checked and through the local cache."""

from __future__ import annotations

import os
import sqlite3
import threading
import zlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ...environment import OBJECT_CACHE_GB
from ...errors import BadRequest, Damaged, StoreError
from ..db.database_file import Host
from ..series.chunks import HEAD_BYTES, Elsewhere, Wanted, key, open_head
from . import stored
from .block_cache import BlockCache
from .cloud import Cloud
from .folder import Folder
from .object_file import Directory, read_directory
from .place import ObjectMissing, Place, Range, parse
from .stored import StoredObject

CACHE_GB = 2.0
"""Bound of the local cache, unless the environment names another one."""
AHEAD = 256 << 10
"""First bytes of an object that are read with its directory over a network: they hold the coarse levels too."""
MOST_HELD = 64 << 20
"""Most bytes of chunks that are fetched before they are asked for."""
BATCH = 8 << 20
"""Bytes of a long column that are fetched at once."""
DIRECTORIES = 512
AT_ONCE = 16
"""Objects whose first bytes are fetched at the same time."""


class Objects:
    """What a store knows of its objects. Nothing is opened before a chunk is not in the file."""

    def __init__(self, store: Host, place_id: Callable[[], str]) -> None:
        self._store = store
        self._place_id = place_id
        self._places: dict[str, Place] = {}
        self._directories: OrderedDict[str, Directory] = OrderedDict()
        self._lock = threading.Lock()
        self._cache: BlockCache | None = None
        self.uncached: Elsewhere = _Uncached(self)
        """As this, but it reads every byte from its place: for verify."""

    def place(self, db: sqlite3.Connection) -> Place | None:
        """Where the store keeps its samples; None for its file.

        Raises
        ------
        PlaceAway
            If what is needed to reach it is not installed.
        """
        found = stored.setting(db)
        return None if found is None else self.opened(found.place)

    def is_keeper(self, db: sqlite3.Connection) -> bool:
        """Whether this store keeps its samples outside, and may write there: a copy of it may only read."""
        found = stored.setting(db)
        return found is not None and found.keeper == self._place_id()

    def opened(self, text: str, beside: Path | None = None) -> Place:
        """The place at an address; a relative folder is in the folder ``beside``, without it in that of the store.
        Errors as `place`."""
        with self._lock:
            known = self._places.get(text) if beside is None else None
            if known is None:
                address = parse(text)
                if address is None:
                    raise BadRequest("The store's own file is not a place of objects.")
                if address.kind == "folder":
                    known = Folder((beside or self._store.path.parent) / address.path, address.text)
                else:
                    known = Cloud(address)
                if beside is None:
                    self._places[text] = known
            return known

    def chunks_of(self, connection: sqlite3.Connection, series: int, owner: str) -> SeriesObject | None:
        """The chunks of a series outside of the file; None if it has no object."""
        return self._chunks_of(connection, series, owner, cached=True)

    def _chunks_of(
        self, connection: sqlite3.Connection, series: int, owner: str, *, cached: bool
    ) -> SeriesObject | None:
        row = stored.of(connection, series)
        if row is None:
            return None
        place = self.place(connection)
        if place is None:
            raise Damaged(
                f"Damaged series of '{owner}': its samples are outside of the store, which does not say where."
            )
        cache = self._block_cache() if cached and place.is_remote else None
        return SeriesObject(row, owner, place, cache, self if cached else None)

    def read_ahead(self, owners: Iterable[str]) -> None:
        """Before samples of these are read one after the other: bring the directories and the coarse levels of their
        objects into the local cache, many at once. It does nothing where samples are not behind a network.

        Raises
        ------
        PlaceAway
            If the place does not answer.
        """
        with self._store.snapshot() as connection:
            place = self.place(connection)
            if place is None or not place.is_remote:
                return
            found = stored.of_owners(connection, owners)
        cache = self._block_cache()
        wanted = [row for row in found if self.directory(row.name) is None]
        if cache is None or len(wanted) < 2:
            return

        def fetch(row: StoredObject) -> None:
            cache.ranges(place, row.name, row.size, [(0, max(row.directory, min(AHEAD, row.size)))])

        pool = ThreadPoolExecutor(min(AT_ONCE, len(wanted)), "workbench objects")
        try:
            for done in [pool.submit(fetch, row) for row in wanted]:
                with suppress(ObjectMissing):  # whoever reads that series gets the error, with its name
                    done.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def directory(self, name: str) -> Directory | None:
        with self._lock:
            found = self._directories.get(name)
            if found is not None:
                self._directories.move_to_end(name)
            return found

    def keep_directory(self, name: str, directory: Directory) -> None:
        with self._lock:
            self._directories[name] = directory
            if len(self._directories) > DIRECTORIES:
                self._directories.popitem(last=False)

    def _block_cache(self) -> BlockCache | None:
        with self._lock:
            if self._cache is None:
                most = cache_bytes()
                self._cache = BlockCache(Path(f"{self._store.path}.objects"), most) if most else None
            return self._cache

    def close(self) -> None:
        with self._lock:
            cache, self._cache = self._cache, None
        if cache is not None:
            cache.close()


def cache_bytes() -> int:
    """The bound of the local cache in bytes, 0 for none.

    Raises
    ------
    BadRequest
        If the environment names something that is not a number of gigabytes.
    """
    given = os.environ.get(OBJECT_CACHE_GB, "").strip()
    try:
        size = float(given) if given else CACHE_GB
    except ValueError:
        size = -1.0
    if not 0 <= size < 1e6:
        raise BadRequest(
            f"${OBJECT_CACHE_GB} is '{given}'; give a number of gigabytes, for example 5, or 0 for none."
        )
    return int(size * 1e9)


class _Uncached:
    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def chunks_of(self, connection: sqlite3.Connection, series: int, owner: str) -> SeriesObject | None:
        return self._objects._chunks_of(connection, series, owner, cached=False)


@dataclass
class SeriesObject:
    """The chunks in the object of one series, for one reading. What fails its checksum is None."""

    row: StoredObject
    owner: str
    place: Place
    cache: BlockCache | None
    objects: Objects | None
    """Where directories are kept between readings; None: all is read from its place."""
    _held: dict[int, bytes] = field(default_factory=dict)
    _heads: dict[tuple[int, int], list[bytes]] = field(default_factory=dict)
    _known: Directory | None = None

    @property
    def directory(self) -> Directory:
        """Where the chunks are.

        Raises
        ------
        Damaged
            If it is not the one that was written.
        """
        if self._known is None:
            kept = self.objects.directory(self.row.name) if self.objects is not None else None
            self._known = kept or self._read_directory()
        return self._known

    def _read_directory(self) -> Directory:
        whole = (0, self.row.directory)
        ahead = (0, max(self.row.directory, min(AHEAD, self.row.size)) if self.cache else self.row.directory)
        try:
            (raw,) = self._ranges([ahead])
            directory = self._directory_in(raw)
        except ObjectMissing:
            raise
        except Damaged as error:
            if self.cache is None:
                raise self._damaged(error) from error
            self.cache.forget(self.row.name, [whole])
            try:
                directory = self._directory_in(self._from_place([whole])[0])
            except ObjectMissing:
                raise
            except Damaged as again:
                raise self._damaged(again) from again
        if directory.size != self.row.size:
            raise self._damaged(f"it should have {directory.size} bytes, and its row says {self.row.size}")
        if self.objects is not None:
            self.objects.keep_directory(self.row.name, directory)
        return directory

    def _directory_in(self, raw: bytes) -> Directory:
        return read_directory(self.row.id, raw[: self.row.directory], self.row.directory_crc)

    def _damaged(self, why: object) -> Damaged:
        return Damaged(
            f"Damaged series of '{self.owner}': of its object '{self.row.name}' in {self.place.text}, "
            f"{str(why).rstrip('.')}. Restore a backup."
        )

    def _from_place(self, wanted: Sequence[Range]) -> list[bytes]:
        try:
            return self.place.ranges(self.row.name, wanted)
        except ObjectMissing as error:
            raise ObjectMissing(f"Damaged series of '{self.owner}': the object {error}") from error
        except StoreError as error:
            raise type(error)(f"The series of '{self.owner}' cannot be read. {error}") from error

    def _ranges(self, wanted: Sequence[Range]) -> list[bytes]:
        if self.cache is None:
            return self._from_place(wanted)
        try:
            return self.cache.ranges(self.place, self.row.name, self.row.size, wanted)
        except ObjectMissing as error:
            raise ObjectMissing(f"Damaged series of '{self.owner}': the object {error}") from error
        except StoreError as error:
            raise type(error)(f"The series of '{self.owner}' cannot be read. {error}") from error

    def hold(self, wanted: Iterable[Wanted]) -> None:
        numbers = []
        size = 0
        for one in wanted:
            for number in self._numbers(*one):
                if number is None or number in self._held:
                    continue
                start, stop = self.directory.payload(number)
                size += stop - start
                if size > MOST_HELD:
                    break
                numbers.append(number)
        if len(numbers) > 1:
            for number, data in zip(numbers, self._payloads(numbers), strict=True):
                if data is not None:
                    self._held[number] = data

    def payloads(self, level: int, column: int, first: int, last: int) -> Iterator[bytes | None]:
        numbers = self._numbers(level, column, first, last)
        batch: list[int | None] = []
        size = 0
        for number in numbers:
            batch.append(number)
            if number is not None and number not in self._held:
                start, stop = self.directory.payload(number)
                size += stop - start
            if size >= BATCH:
                yield from self._taken(batch)
                batch, size = [], 0
        yield from self._taken(batch)

    def _taken(self, batch: Sequence[int | None]) -> Iterator[bytes | None]:
        asked = [number for number in batch if number is not None and number not in self._held]
        fetched = dict(zip(asked, self._payloads(asked), strict=True))
        for number in batch:
            if number is None:
                yield None
            else:
                yield self._held.pop(number) if number in self._held else fetched[number]

    def _numbers(self, level: int, column: int, first: int, last: int) -> list[int | None]:
        return [self.directory.find(level, column, chunk) for chunk in range(first, last + 1)]

    def _payloads(self, numbers: Sequence[int]) -> list[bytes | None]:
        """The payloads of chunks. What is wrong in the local cache is asked for again."""
        wanted = [self.directory.payload(number) for number in numbers]
        made: list[bytes | None] = [
            data if zlib.crc32(data) == self.directory.crc(number) else None
            for number, data in zip(numbers, self._joined(wanted), strict=True)
        ]
        wrong = [at for at, data in enumerate(made) if data is None]
        if wrong and self.cache is not None:
            again = [wanted[at] for at in wrong]
            self.cache.forget(self.row.name, again)
            for at, data in zip(wrong, self._from_place(again), strict=True):
                made[at] = data if zlib.crc32(data) == self.directory.crc(numbers[at]) else None
        return made

    def _joined(self, wanted: Sequence[Range]) -> list[bytes]:
        """The ranges; those that touch are read as one."""
        runs: list[Range] = []
        for start, stop in sorted(set(wanted)):
            if runs and start <= runs[-1][1] and stop - runs[-1][0] <= BATCH:
                runs[-1] = runs[-1][0], max(stop, runs[-1][1])
            else:
                runs.append((start, stop))
        starts = [start for start, _ in runs]
        data = self._ranges(runs)
        made = []
        for start, stop in wanted:
            at = bisect_right(starts, start) - 1
            made.append(data[at][start - starts[at] : stop - starts[at]])
        return made

    def heads(self, level: int, column: int, first: int, last: int) -> list[bytes | None]:
        numbers = self._numbers(level, column, first, last)
        known = self._column_heads(level, column) if any(number is not None for number in numbers) else []
        return [None if number is None else known[chunk] for chunk, number in enumerate(numbers, first)]

    def _column_heads(self, level: int, column: int) -> list[bytes]:
        """The heads of all chunks of a column: a search for a place looks at several."""
        known = self._heads.get((level, column))
        if known is None:
            count = next(run.chunks for run in self.directory.runs if (run.level, run.column) == (level, column))
            start = self.directory.find(level, column, 0) or 0
            together = self.objects is None or HEAD_BYTES * len(self.directory.chunks) <= AHEAD
            first, last = (0, len(self.directory.chunks)) if together else (start, start + count)
            heads = self._heads_between(first, last)
            known = heads[start - first : start - first + count]
            if self.cache is not None and not self._are_sound(level, column, known):
                self.cache.forget(self.row.name, [(self.directory.head(first)[0], self.directory.head(last)[0])])
                heads = self._heads_between(first, last)
                known = heads[start - first : start - first + count]
            self._heads[level, column] = known
            if together:
                self._keep_heads(heads)
        return known

    def _keep_heads(self, heads: Sequence[bytes]) -> None:
        at = 0
        for run in self.directory.runs:
            self._heads[run.level, run.column] = list(heads[at : at + run.chunks])
            at += run.chunks

    def _heads_between(self, first: int, last: int) -> list[bytes]:
        (raw,) = self._ranges([(self.directory.head(first)[0], self.directory.head(last)[0])])
        return [raw[at : at + HEAD_BYTES] for at in range(0, len(raw), HEAD_BYTES)]

    def _are_sound(self, level: int, column: int, heads: Sequence[bytes]) -> bool:
        first = key(self.row.id, level, column, 0)
        return all(open_head(number, head) is not None for number, head in enumerate(heads, first))

    def lengths(self, level: int, column: int, first: int, last: int) -> list[int]:
        found = [number for number in self._numbers(level, column, first, last) if number is not None]
        wanted = [self.directory.payload(number) for number in found]
        return [stop - start for start, stop in wanted] + [0] * (last + 1 - first - len(found))

    def keys(self) -> Iterator[int]:
        for run in self.directory.runs:
            for chunk in range(run.chunks):
                yield key(0, run.level, run.column, chunk)
