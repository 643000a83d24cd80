"""Copies a store row by row into a new one of another kind: from a file into PostgreSQL, between databases, and back.

First what takes long, chunks of samples and bytes of files, in small transactions: after a stop only what is missing is
sent again, which the heads of the chunks and the places of the bytes say. Then, in one moment of the source and one
transaction of the copy, what changed meanwhile and all other rows. So the copy is one moment of the source, and its
records are there at once or not at all.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from typing import NamedTuple, TypeAlias

from ...errors import BadRequest, StoreError
from .. import migrations
from ..db.dialect import SqlValue, dialect_of
from ..db.facts import set_fact
from ..db.formats import APPLIED, apply, reference
from ..series import chunks
from ..store import Store

Progress: TypeAlias = Callable[[int, int, str], object]
Row: TypeAlias = tuple[SqlValue, ...]
_OF_THE_PLACE = frozenset({"facts", APPLIED, "chunks", "pieces", "drafts"})
"""Tables that are not copied as they are: facts one by one, bytes and chunks before, and what is being written not at
all."""
_OF_OBJECTS = frozenset({"series_objects", "series_waiting", "object_leftovers"})
"""Tables that say where samples are: they differ between a store and its copy."""
_OWN_FACTS = frozenset({"format", "schema", "upgrade", "copy", "objects"})
"""Facts that each store has its own of."""
_PAGE = 1000
_CHUNKS = 512
_LAST = (1 << 63) - 1


class _Table(NamedTuple):
    """A table: its columns, those that its rows are read in the order of, and those that refer to its own rows."""

    columns: tuple[str, ...]
    order: tuple[str, ...]
    own_links: tuple[str, ...]


@cache
def _tables() -> dict[str, _Table]:
    """The tables of a store, each after those that its rows refer to."""
    made, columns = reference(migrations.MIGRATIONS)
    found = {}
    for name, held in columns.items():
        text = made["table", name]
        if text.lower().startswith("create virtual") or name.startswith(("search_names", "search_words")):
            continue
        keys = tuple(column for column, type in held.items() if "PRIMARY KEY" in type)
        is_number = re.search(r"\binteger primary key\b", text, re.IGNORECASE) is not None
        order = keys if is_number or "without rowid" in text.lower() else ("rowid",)
        own = tuple(re.findall(rf'"(\w+)" TEXT REFERENCES "{name}"', text))
        found[name] = _Table(tuple(held), order, own)
    return found


def hashes(db: sqlite3.Connection) -> dict[str, tuple[int, str]]:
    """Of each table that is copied the number of its rows and a hash of them all, whatever their order. Files and
    samples are compared by verify, with the hashes that their rows hold."""
    made = {}
    for name in _tables():
        if name in _OF_THE_PLACE or name in _OF_OBJECTS:
            continue
        count = total = 0
        for page in _pages(db, name):
            count += len(page)
            for row in page:
                digest = hashlib.sha256(repr(row).encode("utf-8", "surrogatepass")).digest()
                total += int.from_bytes(digest, "big")
        made[name] = (count, f"{total % (1 << 256):064x}")
    return made


def is_empty(copy: Store) -> bool:
    """Whether a store has nothing but what each new one has: an organization, its user and its project."""
    with copy.snapshot() as db:
        return all(_count(db, name) <= most for name, most in _counts_of_a_new_store().items())


@cache
def _counts_of_a_new_store() -> dict[str, int]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        apply(db, migrations.MIGRATIONS)
        return {name: _count(db, name) for name in _tables() if name not in _OF_THE_PLACE}


def _count(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f'select count(*) from "{name}"').fetchone()[0])  # noqa: S608


def copy_rows(
    source: Store, copy: Store, noted: Callable[[sqlite3.Connection], str], objects: str | None, progress: Progress
) -> None:
    """Copy all rows into a store that is empty, or holds a part of an earlier try.

    Parameters
    ----------
    noted : gives, in the moment of the copy, what the fact ``copy`` says from then on.
    objects : what the fact about objects says in the copy; None if all samples are in the store.

    Raises
    ------
    StoreError
        If the source has another format.
    BadRequest
        If a text cannot be kept in the copy; names the record.
    """
    if not source.format_is_ours():
        raise StoreError(
            f"The store '{source.place}' has another format than this version writes. Run 'workbench upgrade' on it, "
            "then copy it."
        )
    _send(source, copy, progress)
    with source.snapshot() as db, copy.transaction() as to:
        _send(source, copy, lambda *_: None)
        for name in reversed([*_tables()]):
            if name not in _OF_THE_PLACE:
                to.execute(f'delete from "{name}"')  # noqa: S608
        for name in _tables():
            if name not in _OF_THE_PLACE:
                _write(db, to, name)
        to.execute("delete from pieces where hash not in (select hash from contents)")
        _count_on(db, to)
        _write_facts(db, to)
        if objects is not None:
            set_fact(to, "objects", objects)
        set_fact(to, "copy", noted(db))


def _pages(db: sqlite3.Connection, name: str) -> Iterator[list[Row]]:
    """The rows of a table, some at a time, in the order in which they came or of their key."""
    table = _tables()[name]
    order = ", ".join(f'"{column}"' for column in table.order)
    names = ", ".join(f'"{column}"' for column in table.columns)
    marks = ", ".join("?" * len(table.order))
    after: Row = ()
    while True:
        where = f"where ({order}) > ({marks})" if after else ""
        query = f'select {order}, {names} from "{name}" {where} order by {order} limit ?'  # noqa: S608
        rows = db.execute(query, [*after, _PAGE]).fetchall()
        yield [tuple(row[len(table.order) :]) for row in rows]
        if len(rows) < _PAGE:
            return
        after = tuple(rows[-1][: len(table.order)])


def _write(db: sqlite3.Connection, to: sqlite3.Connection, name: str) -> None:
    """Write the rows of a table. A row that refers to a later one of its table gets this link afterwards."""
    table = _tables()[name]
    dialect = dialect_of(to)
    more = [*dialect.entry_columns("")] if name == "search_entries" else []
    names = ", ".join(f'"{column}"' for column in [*table.columns, *more])
    marks = ", ".join("?" * (len(table.columns) + len(more)))
    statement = f'insert into "{name}" ({names}) values ({marks})'  # noqa: S608
    links = [table.columns.index(column) for column in table.own_links]
    words = table.columns.index("words") if more else 0
    later: list[Row] = []
    for page in _pages(db, name):
        for row in page:
            given = [*row, *(dialect.entry_columns(str(row[words])).values() if more else ())]
            for at in links:
                if given[at] is not None:
                    later.append((given[at], given[0]))
                    given[at] = None
            try:
                to.execute(statement, given)
            except BadRequest as error:
                raise BadRequest(f"The row {row[0]!r} of '{name}' cannot be copied. {error}") from error
    for column in table.own_links:
        to.executemany(f'update "{name}" set "{column}" = ? where id = ?', later)  # noqa: S608


def _count_on(db: sqlite3.Connection, to: sqlite3.Connection) -> None:
    """Let the copy number its series and its entries of the search after those that it has."""
    query = (
        "select coalesce(max(n), 0) from (select max(id) as n from series union all select max(id) from drafts)"
    )
    (series,) = db.execute(query).fetchone()
    (entry,) = db.execute("select coalesce(max(entry), 0) from search_entries").fetchone()
    to.execute("delete from drafts")
    if series:
        to.execute("insert into drafts (id, lease, beat) values (?, null, 0)", (series,))
        to.execute("delete from drafts")
    for table, column, number in (("drafts", "id", series), ("search_entries", "entry", entry)):
        statement = dialect_of(to).count_after(table, column)
        if statement is not None and number:
            to.execute(statement, (number,))


def _write_facts(db: sqlite3.Connection, to: sqlite3.Connection) -> None:
    own = [name for (name,) in to.execute("select name from facts").fetchall() if name not in _OWN_FACTS]
    to.executemany("delete from facts where name = ?", [(name,) for name in own])
    for name, value in db.execute("select name, value from facts").fetchall():
        if name not in _OWN_FACTS:
            set_fact(to, name, value)


def _send(source: Store, copy: Store, progress: Progress) -> None:
    _send_files(source, copy)
    _send_chunks(source, copy, progress)


def _send_files(source: Store, copy: Store) -> None:
    """Send the bytes of files that the copy lacks. Bytes under a hash never change."""
    with source.snapshot() as db:
        names = [name for (name,) in db.execute("select hash from contents order by hash").fetchall()]
    starts = "select start from pieces where hash = ? order by start"
    for name in names:
        there = {start for (start,) in copy.execute(starts, (name,)).fetchall()}
        for (start,) in source.execute(starts, (name,)).fetchall():
            if start in there:
                continue
            query = "select hash, start, crc, data from pieces where hash = ? and start = ?"
            with copy.transaction() as to:
                for row in source.execute(query, (name, start)).fetchall():
                    to.execute("insert into pieces (hash, start, crc, data) values (?, ?, ?, ?)", row)


def _send_chunks(source: Store, copy: Store, progress: Progress) -> None:
    """Send the chunks whose heads differ from those of the copy, and delete those that the source does not have. A head
    holds the checksum of its chunk."""
    with source.snapshot() as db:
        (of,) = db.execute("select count(*) from chunks").fetchone()
        published = {number for (number,) in db.execute("select id from series").fetchall()}
    after, done = -1, 0
    while after < _LAST:
        with source.snapshot() as db, copy.transaction() as to:
            query = "select key, head from chunks where key > ? order by key limit ?"
            found = db.execute(query, (after, _CHUNKS)).fetchall()
            last = int(found[-1][0]) if len(found) == _CHUNKS else _LAST
            wanted = {key: bytes(head) for key, head in found if chunks.series_of(key) in published}
            query = "select key, head from chunks where key > ? and key <= ?"
            there = {key: bytes(head) for key, head in to.execute(query, (after, last)).fetchall()}
            surplus = [(key,) for key in there if key not in wanted]
            to.executemany("delete from chunks where key = ?", surplus)
            missing = [key for key, head in wanted.items() if there.get(key) != head]
            for start in range(0, len(missing), chunks.INSERT_CHUNKS):
                chunks.insert_stored(to, _chunks_of(db, missing[start : start + chunks.INSERT_CHUNKS]))
        after, done = last, done + len(found)
        progress(done, max(of, done), f"to {copy.place}")


def _chunks_of(db: sqlite3.Connection, keys: Sequence[int]) -> list[tuple[int, bytes, bytes]]:
    """These chunks, whose keys rise."""
    query = "select key, head, data from chunks where key between ? and ? order by key"
    wanted = set(keys)
    return [row for row in db.execute(query, (keys[0], keys[-1])).fetchall() if row[0] in wanted]
