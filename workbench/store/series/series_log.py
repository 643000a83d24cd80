"""The log of sampled data: a line for each publication and append, with the hash of what there was then."""

from __future__ import annotations

import sqlite3
import zlib
from typing import NamedTuple

from ...errors import Damaged
from ...table import Plain


class Entry(NamedTuple):
    """What a publication or an append gave. An older version noted neither ``content``, the hash of all samples, nor
    ``layout``, which names the columns. ``tail``: of steps, what the cycler counted in the last one, as JSON; when the
    test goes on it counts more, and the samples alone do not say how much it was."""

    time: int
    revision: int
    rows: int
    rule: int | None
    content: bytes | None
    layout: bytes | None
    tail: bytes | None = None


_COLUMNS = ", ".join(Entry._fields)


def add(connection: sqlite3.Connection, owner: str, dataset: str, entry: Entry) -> None:
    """Write a line, inside a transaction."""
    connection.execute(
        f"insert into series_log (owner, dataset, {_COLUMNS}, crc) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (owner, dataset, *entry, _crc(owner, dataset, entry)),
    )


def entries(connection: sqlite3.Connection, owner: str, dataset: str) -> list[Entry]:
    """All lines of a dataset, the oldest first; Damaged if one is not what was written."""
    query = f"select {_COLUMNS}, crc from series_log where owner = ? and dataset = ? order by revision"  # noqa: S608
    return [_sound(owner, dataset, *row) for row in connection.execute(query, (owner, dataset))]


def last(connection: sqlite3.Connection, owner: str, dataset: str, as_of: int) -> Entry | None:
    """The last line up to a time, None if there was none; errors as `entries`."""
    query = (
        f"select {_COLUMNS}, crc from series_log where owner = ? and dataset = ? and revision <= ? "  # noqa: S608
        "order by revision desc limit 1"
    )
    row = connection.execute(query, (owner, dataset, as_of)).fetchone()
    return None if row is None else _sound(owner, dataset, *row)


def followed(connection: sqlite3.Connection, owner: str, dataset: str, series: Entry, as_of: int) -> Entry | None:
    """The line of steps or cycles that followed from a line of the samples, as of a time.

    They are published after the samples in one transaction, so a time between them means those too.
    """
    found = last(connection, owner, dataset, as_of)
    if found is not None and found.revision >= series.revision:
        return found
    query = (
        f"select {_COLUMNS}, crc from series_log where owner = ? and dataset = ? and revision >= ? "  # noqa: S608
        "order by revision limit 1"
    )
    row = connection.execute(query, (owner, dataset, series.revision)).fetchone()
    return None if row is None else _sound(owner, dataset, *row)


def damaged(owner: str) -> Damaged:
    return Damaged(f"Damaged series of '{owner}': its log fails its checksum; restore a backup.")


def _sound(owner: str, dataset: str, *found: Plain) -> Entry:
    *values, crc = found
    entry = Entry(*values)
    if not all(isinstance(one, bytes | None) for one in values[4:]) or _crc(owner, dataset, entry) != crc:
        raise damaged(owner)
    return entry


def _crc(owner: str, dataset: str, entry: Entry) -> int:
    # What an older version did not keep is not in the checksum, which is then the one that it wrote.
    held = tuple(entry[:3]) if entry.rule is None else tuple(entry[:4])
    later = [one.hex() for one in (entry.content, entry.layout, entry.tail) if one is not None]
    return zlib.crc32("\0".join([owner, dataset, str(held), *later]).encode())
