"""Blobs: bytes of files, kept once under the SHA-256 of their content, in blocks of 1 MiB."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable, Iterable, Iterator

from ...errors import Damaged, NotFound
from ..db.database_file import Host

BLOCK = 1 << 20
PASSING = "passing-"
ABANDONED_SECONDS = 24 * 3600


class Blobs:
    """Bytes by the SHA-256 of their content, in blocks of 1 MiB, each with its own checksum."""

    def __init__(self, store: Host) -> None:
        self._store = store

    def put(self, chunks: Iterable[bytes]) -> str:
        """Keep these bytes and return their SHA-256 (hex). At most two blocks are held in memory.

        The blocks are written under a temporary name in small transactions. The last transaction gives them their
        own name, so a reader never finds half of them.
        """
        store = self._store
        with store.transaction() as connection:
            passing = f"{PASSING}{store.tick(connection)}"
        try:
            name, size = self._write(passing, chunks)
            with store.transaction() as connection:
                now = store.tick(connection)
                known = connection.execute("update contents set created = ? where hash = ?", (now, name)).rowcount
                if not known:
                    connection.execute("update pieces set hash = ? where hash = ?", (name, passing))
                    connection.execute("insert into contents values (?, ?, ?)", (name, size, now))
        finally:
            with store.transaction() as connection:
                connection.execute("delete from pieces where hash = ?", (passing,))
        return name

    def _write(self, passing: str, chunks: Iterable[bytes]) -> tuple[str, int]:
        digest, size, buffer = hashlib.sha256(), 0, bytearray()
        for chunk in chunks:
            digest.update(chunk)
            buffer += chunk
            while len(buffer) >= BLOCK:
                self._add(passing, size, bytes(buffer[:BLOCK]))
                size += BLOCK
                del buffer[:BLOCK]
        if buffer:
            self._add(passing, size, bytes(buffer))
        return digest.hexdigest(), size + len(buffer)

    def _add(self, name: str, start: int, data: bytes) -> None:
        with self._store.transaction() as connection:
            connection.execute("insert into pieces values (?, ?, ?, ?)", (name, start, zlib.crc32(data), data))

    def size(self, name: str) -> int:
        """The number of bytes kept under ``name``.

        Raises
        ------
        NotFound
            If there are none.
        Damaged
            If the blocks end elsewhere.
        """
        query = (
            "select size, (select start + length(data) from pieces where pieces.hash = contents.hash "
            "order by start desc limit 1) from contents where hash = ?"
        )
        with self._store.snapshot() as connection:
            row = connection.execute(query, (name,)).fetchone()
        if row is None:
            raise NotFound(f"There are no bytes with the hash '{name}' in the store.")
        size, held = row
        if size != (held or 0):
            raise Damaged(f"'{name}' should have {size} bytes, but its blocks have {held or 0}; restore a backup.")
        return int(size)

    def get(self, name: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The bytes from ``start`` to before ``stop`` (the end), in blocks of at most 1 MiB.

        Raises
        ------
        NotFound
            If there are none under ``name``.
        Damaged
            If a block is missing or its checksum fails.
        """
        size = self.size(name)
        stop = size if stop is None else min(stop, size)
        first = start // BLOCK * BLOCK
        for place in range(first, stop, BLOCK):
            with self._store.snapshot() as connection:
                row = connection.execute(
                    "select crc, data from pieces where hash = ? and start = ?", (name, place)
                ).fetchone()
            data = _sound(name, place, size, row)
            yield data[max(start - place, 0) : stop - place]

    def sweep(self, referenced: Callable[[], set[str]]) -> int:
        """Delete contents to which nothing has referred for a day; returns how many.

        Each is deleted in a transaction of its own, which reads the references (``referenced``) again. Bytes that are
        put again meanwhile count as new, and their record has a day to come.
        """
        before = time.time_ns() // 1000 - ABANDONED_SECONDS * 10**6
        with self._store.snapshot() as connection:
            old = "select hash from contents where created < ?"
            found = {name for (name,) in connection.execute(old, (before,))}
            found -= referenced() if found else set()
        gone = 0
        for name in sorted(found):
            with self._store.transaction() as connection:
                if name in referenced():
                    continue
                again = "delete from contents where hash = ? and created < ?"
                if connection.execute(again, (name, before)).rowcount:
                    connection.execute("delete from pieces where hash = ?", (name,))
                    gone += 1
        return gone

    def tidy(self) -> None:
        """Delete what killed calls of ``put`` left: temporary blocks that are a day old."""
        before = f"{PASSING}{time.time_ns() // 1000 - ABANDONED_SECONDS * 10**6}"
        chosen = "from pieces where hash >= ? and hash < ?"
        with self._store.snapshot() as connection:
            found = connection.execute(f"select 1 {chosen} limit 1", (PASSING, before)).fetchone()
        if found:
            with self._store.transaction() as connection:
                connection.execute(f"delete {chosen}", (PASSING, before))

    def verify(self) -> list[str]:
        """Sentences about contents whose bytes do not have the hash that is their name."""
        return self.wrong(self.names())

    def names(self) -> list[str]:
        """The hashes of all contents."""
        return [name for (name,) in self._store.execute("select hash from contents").fetchall()]

    def wrong(self, names: Iterable[str]) -> list[str]:
        """As `verify`, of these contents."""
        findings = []
        for name in names:
            digest = hashlib.sha256()
            try:
                for block in self.get(name):
                    digest.update(block)
            except Damaged as error:
                findings.append(str(error))
                continue
            if digest.hexdigest() != name:
                findings.append(f"The bytes kept as '{name}' have another SHA-256.")
        return findings


def _sound(name: str, start: int, size: int, row: tuple[int, bytes] | None) -> bytes:
    expected = min(BLOCK, size - start)
    if row is None or len(row[1]) != expected or zlib.crc32(row[1]) != row[0]:
        raise Damaged(f"The block at byte {start} of '{name}' is damaged or missing; restore a backup.")
    return row[1]
