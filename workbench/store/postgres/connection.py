"""One connection to PostgreSQL, with the few methods of a connection of SQLite that the store uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import StrBinaryDumper

from ...errors import BadRequest
from ..db.dialect import SqlValue
from .dialect import ROWID, PostgresDialect

_NOWHERE = "\uffff"
"""What a null character is looked for as: no text of a store holds one, and PostgreSQL takes none."""


class _Flag(Dumper):
    """Truth as a whole number, as the columns hold it."""

    format = Format.BINARY
    oid = psycopg.adapters.types["int8"].oid

    def dump(self, obj: bool) -> Buffer:
        return int(obj).to_bytes(8, "big")


class _Truth(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        return int(bytes(data) != b"\0")


class _Fact(Loader):
    """A value of the store's facts: a text or a whole number."""

    format = Format.BINARY

    def load(self, data: Buffer) -> object:
        return orjson.loads(bytes(data))


def adapters() -> AdaptersMap:
    """How values go to PostgreSQL and come back: whole numbers have 64 bits, truth is 0 or 1, sums are whole."""
    made = AdaptersMap(psycopg.adapters)
    made.register_dumper(int, Int8BinaryDumper)
    made.register_dumper(bool, _Flag)
    made.register_dumper(str, StrBinaryDumper)
    made.register_loader("bool", _Truth)
    made.register_loader("json", _Fact)
    made.register_loader("numeric", _Sum)
    return made


class _Sum(Loader):
    """A sum of whole numbers, which PostgreSQL gives more than 64 bits."""

    format = Format.BINARY

    def load(self, data: Buffer) -> int | float:
        value = NumericBinaryLoader(self.oid, self.connection).load(data)
        return int(value) if value == value.to_integral_value() else float(value)


class Cursor:
    """The answer of a statement: all its rows are here."""

    def __init__(
        self, rows: list[tuple[Any, ...]], names: list[str] | None, rowcount: int, of: Connection
    ) -> None:
        self._rows = iter(rows)
        self.description = None if names is None else [(name, *[None] * 6) for name in names]
        self.rowcount = rowcount
        self._of = of

    @property
    def lastrowid(self) -> int | None:
        """The number of the row that this connection wrote last."""
        found = self._of.raw.execute("SELECT lastval()").fetchone()
        return None if found is None else int(found[0])

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def __next__(self) -> Any:
        return next(self._rows)


class Connection:
    """Runs the store's statements on one connection."""

    def __init__(self, raw: psycopg.Connection[Any], dialect: PostgresDialect) -> None:
        self.raw = raw
        self.dialect = dialect

    @property
    def in_transaction(self) -> bool:
        return self.raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def execute(self, statement: str, params: Sequence[SqlValue] = ()) -> Cursor:
        meant = self.dialect.translated(statement)
        bound = [_sound(value, meant.reads) for value in params]
        with psycopg.RawCursor(self.raw) as cursor:
            cursor.execute(meant.text.encode(), bound, binary=True)
            if cursor.description is None:
                return Cursor([], None, cursor.rowcount, self)
            names = [column.name for column in cursor.description]
            rows = cursor.fetchall()
            rowcount = cursor.rowcount
        if meant.hides_rowid and ROWID in names:
            at = names.index(ROWID)
            names = names[:at] + names[at + 1 :]
            rows = [row[:at] + row[at + 1 :] for row in rows]
        return Cursor(rows, names, rowcount, self)

    def executemany(self, statement: str, rows: Iterable[Sequence[SqlValue]]) -> Cursor:
        meant = self.dialect.translated(statement)
        with psycopg.RawCursor(self.raw) as cursor:
            cursor.executemany(meant.text.encode(), [[_sound(value, False) for value in row] for row in rows])
            return Cursor([], None, cursor.rowcount, self)


def _sound(value: SqlValue, reads: bool) -> SqlValue:
    if not isinstance(value, str):
        return value
    if reads and "\\u0000" in value:  # in a list as JSON
        value = value.replace("\\u0000", _NOWHERE)
    if "\0" not in value:
        return value
    if reads:
        return value.replace("\0", _NOWHERE)
    raise BadRequest("A text holds a null character, which a store on PostgreSQL cannot keep. Take it out.")
