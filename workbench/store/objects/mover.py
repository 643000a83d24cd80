"""Moves the chunks of published series from the store's file to an object, and back.

A series is published in the file first, in one transaction, as in a store that keeps all in its file. So a place that
does not answer stops nobody, and nothing half is visible. Then its chunks are written as one object, and one
transaction names that object in the catalog. Only after it are they deleted from the file. What an append adds stays
in the file until it is worth an object: then all of the series becomes the next generation.
"""

from __future__ import annotations

import secrets
import sqlite3
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import IO, NamedTuple

from ...errors import Damaged, StoreError, StoreNotice
from ..db import lease
from ..db.database_file import Host
from ..series import chunks
from ..series.chunks import payload_crc
from ..series.reading import Reading, runs_of
from . import stored
from .object_file import ObjectWriter, Run, Written, no_room, read_directory
from .objects import Objects
from .place import Place, PlaceAway
from .stored import StoredObject

LEAST = 16 << 10
"""Bytes of a series that are worth an object. Less stays in the file, where it is read at once."""
GROWTH = 4
"""An object is written anew when what the file has of its series is more than this part of it: an append does not copy
the whole series, and all appends together copy it a few times."""
IN_MEMORY = 8 << 20
AWAY_SECONDS = 60.0
"""After a place did not answer, it is left alone for so long."""
_DELETED_AT_ONCE = 2000
_WRITTEN_AT_ONCE = 4 << 20
_NOTED_AT_ONCE = 1000

OpenNumber = Callable[[sqlite3.Connection, int], Reading | None]


class _Prepared(NamedTuple):
    """An object that is ready to be written: its bytes, and what its row will say."""

    file: IO[bytes]
    written: Written
    series: int
    revision: int
    before: StoredObject | None


class Mover:
    """Moves series between the file of a store and its objects."""

    def __init__(self, store: Host, objects: Objects, opened: OpenNumber) -> None:
        self._store = store
        self._objects = objects
        self._opened = opened
        self._not_before = 0.0

    def note(self, connection: sqlite3.Connection, number: int) -> None:
        """Note in a transaction that a series was published, if it has to be moved."""
        goes_out = stored.setting(connection) is not None and self._is_large(connection, number)
        if goes_out and self._objects.is_keeper(connection):
            stored.wait(connection, number)

    def note_all(self) -> list[int]:
        """Note all series that have much in the file; returns the numbers of all that wait."""
        with self._store.snapshot() as connection:
            known = [number for (number,) in connection.execute("select id from series where dataset = 'series'")]
            large = [number for number in known if self._is_large(connection, number)]
        for start in range(0, len(large), _NOTED_AT_ONCE):
            with self._store.transaction() as db:
                for number in large[start : start + _NOTED_AT_ONCE]:
                    stored.wait(db, number)
        with self._store.snapshot() as connection:
            return [number for number, _, _ in stored.waiting(connection)]

    def _is_large(self, connection: sqlite3.Connection, number: int) -> bool:
        """Whether the file has enough of a series; it looks at no more chunks than that takes."""
        size = 0
        query = "select length(data) from chunks where key between ? and ?"
        for (length,) in connection.execute(query, chunks.span(number)):
            size += length
            if size >= LEAST:
                return True
        return False

    def move_waiting(self) -> int:
        """Move what was published and is large enough; returns how many series were moved.

        It raises nothing: what cannot be moved now stays in the file, where it is whole, and is moved later. The
        reason is shown once as a `StoreNotice`.
        """
        if self._store.is_changing or time.monotonic() < self._not_before:
            return 0
        moved = 0
        try:
            with self._store.snapshot() as connection:
                numbers = [
                    number for number, held, beat in stored.waiting(connection) if not self._is_taken(held, beat)
                ]
            for number in numbers:
                try:
                    moved += self.move(number)
                except Damaged as error:  # the others are moved
                    warnings.warn(f"{error} It stays in the store itself.", StoreNotice, stacklevel=3)
                    with self._store.transaction() as db:
                        stored.done(db, number)
        except StoreError as error:
            self._not_before = time.monotonic() + AWAY_SECONDS
            warnings.warn(
                f"{error} Until then the samples that came last stay in the store itself, where they are whole.",
                StoreNotice,
                stacklevel=3,
            )
        return moved

    def move(self, number: int) -> bool:
        """Move a series that waits; False if it is small, gone, or moved by another process.

        Raises
        ------
        PlaceAway
            If the place cannot be used. The series stays as it was.
        Damaged
            If a chunk of it is damaged.
        """
        if not self._take(number):
            return False
        try:
            with self._store.snapshot() as connection:
                place = self._objects.place(connection) if self._objects.is_keeper(connection) else None
                prepared = self._prepared(connection, number) if place is not None else None
            if prepared is not None and place is not None:
                with prepared.file:
                    self._write(place, prepared)
            else:
                self._delete_moved(number)
            return prepared is not None
        except BaseException:
            # Also when interrupted, another one may try at once. The first error is the one to show.
            with suppress(StoreError), self._store.transaction() as db:
                stored.take(db, number, None, 0)
            raise

    def _take(self, number: int) -> bool:
        with self._store.transaction() as db:
            held = stored.waits(db, number)
            if held is None or self._is_taken(*held):
                return False
            stored.take(db, number, lease.take(), self._store.tick(db))
            return True

    def _is_taken(self, held: str | None, beat: int) -> bool:
        return held is not None and self._store.is_held(held, beat)

    def _prepared(self, connection: sqlite3.Connection, number: int) -> _Prepared | None:
        """The next object of a series, None if what the file has of it is not worth one."""
        reading = self._opened(connection, number)
        before = stored.of(connection, number)
        if reading is None or (before is not None and before.revision == reading.row.revision):
            return None
        query = "select coalesce(sum(length(data)), 0) from chunks where key between ? and ?"
        (size,) = connection.execute(query, chunks.span(number)).fetchone()
        if size < max(LEAST, 0 if before is None else before.size // GROWTH):
            return None
        file, written = packed(reading)
        return _Prepared(file, written, number, reading.row.revision, before)

    def _write(self, place: Place, prepared: _Prepared) -> None:
        """Put the object at its place, then name it in the catalog, then delete its chunks from the file."""
        number, before = prepared.series, prepared.before
        generation = 1 if before is None else before.generation + 1
        name = object_name(number, generation)
        place.put(name, prepared.file, prepared.written.size)
        row = StoredObject(number, name, generation, prepared.revision, *prepared.written)
        if not self._name(row, place):
            with suppress(PlaceAway):  # then it goes when objects without a row are collected
                place.delete([name])
            return
        self._delete_moved(number)

    def _name(self, row: StoredObject, place: Place) -> bool:
        """Make an object visible; False if its series, or the place of the store, changed meanwhile."""
        with self._store.transaction() as db:
            setting = stored.setting(db)
            is_there = (
                setting is not None and setting.place == place.text and not stored.is_condemned(db, row.name)
            )
            if not is_there or self._revision(db, row.id) != row.revision:
                stored.take(db, row.id, None, 0)
                return False
            present = stored.of(db, row.id)
            if present is not None and present.revision == row.revision:  # another process was first
                stored.take(db, row.id, None, 0)
                return False
            stored.release(db, row.id, self._store.tick)
            stored.keep(db, row)
            stored.wait(db, row.id)
        return True

    def _revision(self, db: sqlite3.Connection, number: int) -> int | None:
        found = db.execute("select revision from series where id = ?", (number,)).fetchone()
        return None if found is None else int(found[0])

    def _delete_moved(self, number: int) -> None:
        """Delete from the file what the object of a series has, in small transactions: a reader finds it in either."""
        first, last = chunks.span(number)
        query = "delete from chunks where key in (select key from chunks where key between ? and ? limit ?)"
        left = _DELETED_AT_ONCE
        while left == _DELETED_AT_ONCE:
            with self._store.transaction() as db:
                now = stored.of(db, number)
                if now is not None and now.revision == self._revision(db, number):
                    left = db.execute(query, (first, last, _DELETED_AT_ONCE)).rowcount
                else:
                    left = 0
                if left < _DELETED_AT_ONCE:
                    stored.done(db, number)

    def bring_back(self, number: int) -> None:
        """Write the chunks of a series into the file again, and give up its object.

        Raises
        ------
        PlaceAway, Damaged
            As reading them does. The series stays as it was.
        """
        while not self._brought_back(number):
            pass  # somebody appended to it, or deleted chunks that were moved, meanwhile

    def _brought_back(self, number: int) -> bool:
        with self._store.snapshot() as connection:
            reading = self._opened(connection, number)
            before = stored.of(connection, number)
            if reading is None or before is None:
                return True
            reading.fetch.elsewhere = self._objects.uncached
            file, written = packed(reading)
        # From a local file, and in small transactions, so that nobody who writes waits for long. A chunk in the file
        # goes before the same one in the object.
        count = 0
        with file:
            for part in _parts(file, number, written):
                with self._store.transaction() as db:
                    if self._revision(db, number) != reading.row.revision:
                        return False
                    chunks.insert_stored(db, part)
                count += len(part)
        with self._store.transaction() as db:
            if self._revision(db, number) != reading.row.revision or stored.of(db, number) != before:
                return False
            query = "select count(*) from chunks where key between ? and ?"
            (there,) = db.execute(query, chunks.span(number)).fetchone()
            if there < count:  # another process still deleted what it had moved: see `_delete_moved`
                return False
            stored.release(db, number, self._store.tick)
        return True


def object_name(series: int, generation: int) -> str:
    """A name that no other object has, also not one of a copy of the store, which counts on from the same number."""
    return f"{series // 1000:06d}/{series}-{generation}-{secrets.token_hex(8)}"


def packed(reading: Reading) -> tuple[IO[bytes], Written]:
    """The object of a series, in a temporary file, at its start; every chunk was checked."""
    runs = [Run(*run) for run in runs_of(reading.row, reading.layout)]
    heads: list[bytes] = []
    known: list[tuple[int, int]] = []
    for run in runs:
        for head, length in reading.fetch.facts(run.level, run.column, run.chunks):
            heads.append(head)
            known.append((length, payload_crc(head)))
    size = sum(length for length, _ in known)
    file: IO[bytes] = BytesIO() if size <= IN_MEMORY else tempfile.TemporaryFile(prefix="workbench-")  # noqa: SIM115
    try:
        writer = ObjectWriter(file, reading.row.id, runs, known)
        for head in heads:
            writer.add(head)
        reading.fetch.expect((run.level, run.column, 0, run.chunks - 1) for run in runs)
        for run in runs:
            for payload in reading.fetch.payloads(run.level, run.column, 0, run.chunks - 1):
                writer.add(payload)
        file.seek(0)
    except OSError as error:
        with suppress(OSError):  # closing writes what waits
            file.close()
        raise no_room(f"The samples of '{reading.row.owner}'", error) from error
    except BaseException:  # whatever stops it, the file must not stay open
        with suppress(OSError):
            file.close()
        raise
    return file, writer.written


def _parts(file: IO[bytes], number: int, written: Written) -> Iterator[list[tuple[int, bytes, bytes]]]:
    """The chunks of a packed series as they are stored in the file, some at a time."""
    directory = read_directory(number, file.read(written.directory), written.crc)
    heads = file.read(chunks.HEAD_BYTES * len(directory.chunks))
    part: list[tuple[int, bytes, bytes]] = []
    at = size = 0
    for run in directory.runs:
        for chunk in range(run.chunks):
            head = heads[at * chunks.HEAD_BYTES : (at + 1) * chunks.HEAD_BYTES]
            start, stop = directory.payload(at)
            part.append((chunks.key(number, run.level, run.column, chunk), head, file.read(stop - start)))
            at, size = at + 1, size + stop - start
            if len(part) == chunks.INSERT_CHUNKS or size >= _WRITTEN_AT_ONCE:
                yield part
                part, size = [], 0
    if part:
        yield part
