"""One connection to PostgreSQL, with the few methods of a connection of SQLite that the store uses."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGresult
from psycopg.types.numeric import Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import StrBinaryDumper

from ...errors import BadRequest
from ..db.dialect import SqlValue
from .dialect import ROWID, PostgresDialect

_NOWHERE = "\uffff"
"""What a null character is looked for as: no text of a store holds one, and PostgreSQL takes none."""


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
    """How values go to PostgreSQL and come back: whole numbers have 64 bits, truth comes as 0 or 1, sums are whole."""
    made = AdaptersMap(psycopg.adapters)
    made.register_dumper(int, Int8BinaryDumper)
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


class RawConnection(psycopg.Connection[Any]):
    """A connection of psycopg, on which statements are run by libpq itself: that takes a fifth of the time.

    It is closed with the store that nobody holds any more.
    """

    def __init__(self, *given: Any, **named: Any) -> None:  # Any: those of its class
        super().__init__(*given, **named)
        self._turn = threading.Lock()
        self._statements: dict[tuple[str, tuple[int, ...]], bytes | None] = {}
        self._statement_count = 0

    def __del__(self, _: object = None, /) -> None:
        """The warning of its class is for code that forgets one; here the last user may be a thread that ended."""

    def run(self, statement: bytes) -> None:
        """Run statements that take no values; their rows are left out."""
        with self._turn:
            self._checked(self.pgconn.exec_(statement))

    def ask(
        self, statement: str, params: Sequence[SqlValue]
    ) -> tuple[list[tuple[Any, ...]], list[str] | None, int]:
        """The rows of a statement, the names of its columns, and how many rows it found or changed."""
        types, values = zip(*map(_bound, params), strict=True) if params else ((), ())
        with self._turn:
            result = self._checked(self._executed(statement, types, values))
            if result.status == ExecStatus.COMMAND_OK:
                return [], None, result.command_tuples or 0
            reader = Transformer(self)
            reader.set_pgresult(result)
            names = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
            return reader.load_rows(0, result.ntuples, tuple), names, result.ntuples

    def _executed(self, statement: str, types: tuple[int, ...], values: tuple[bytes | None, ...]) -> PGresult:
        """Run a statement; one that comes again is prepared."""
        key = statement, types
        formats = [Format.BINARY] * len(values)
        name = self._statements.get(key)
        if name is None:
            if key not in self._statements:
                if len(self._statements) >= MOST_PREPARED:
                    self._checked(self.pgconn.exec_(b"DEALLOCATE ALL"))
                    self._statements.clear()
                self._statements[key] = None
                return self.pgconn.exec_params(statement.encode(), values, types, formats, Format.BINARY)
            self._statement_count += 1
            name = b"workbench_%d" % self._statement_count
            self._checked(self.pgconn.prepare(name, statement.encode(), types))
            self._statements[key] = name
        # Its annotation leaves out the None of a null.
        return self.pgconn.exec_prepared(name, values, formats, Format.BINARY)  # type: ignore[arg-type]

    def _checked(self, result: PGresult) -> PGresult:
        if result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
            return result
        if self.pgconn.status == ConnStatus.BAD:
            raise psycopg.OperationalError(result.get_error_message())
        error = error_from_result(result)
        if error.sqlstate is None:  # said by libpq itself: the connection is lost, whatever its status is yet
            raise psycopg.OperationalError(str(error))
        if isinstance(error, psycopg.errors.FeatureNotSupported):  # a table got a column since they were prepared
            self._statements.clear()
        raise error


MOST_PREPARED = 500
"""Statements that a connection has prepared, at most."""
_LEAST, _GREATEST = -(2**63), 2**63 - 1
_TYPES = {name: psycopg.adapters.types[name].oid for name in ("int8", "float8", "text", "bytea")}


def _bound(value: SqlValue) -> tuple[int, bytes | None]:
    """The type and the bytes of a value of a statement.

    Raises
    ------
    OverflowError
        For a whole number beyond 64 bits, as SQLite does.
    TypeError
        For anything but a text, a number, bytes or None.
    """
    if value is None:
        return 0, None
    if isinstance(value, str):
        return _TYPES["text"], value.encode()
    if isinstance(value, int):  # truth too, as the columns hold it
        if not _LEAST <= value <= _GREATEST:
            raise OverflowError("a whole number beyond 64 bits cannot be stored")
        return _TYPES["int8"], value.to_bytes(8, "big", signed=True)
    if isinstance(value, float):
        return _TYPES["float8"], struct.pack(">d", value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _TYPES["bytea"], bytes(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be stored")


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
        ((number,),), _, _ = self._of.raw.ask("SELECT lastval()", ())
        return int(number)

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

    def __init__(self, raw: RawConnection, dialect: PostgresDialect) -> None:
        self.raw = raw
        self.dialect = dialect

    @property
    def in_transaction(self) -> bool:
        return self.raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def has_tables(self) -> bool:
        """Whether the schema of the store holds its tables; those of other schemas do not count."""
        own = "format('%I.facts', split_part(current_setting('search_path'), ',', 1))"
        ((found,),), _, _ = self.raw.ask(f"SELECT to_regclass({own}) IS NOT NULL", ())
        return bool(found)

    def execute(self, statement: str, params: Sequence[SqlValue] = ()) -> Cursor:
        meant = self.dialect.translated(statement)
        rows, names, count = self.raw.ask(meant.text, [_sound(value, meant.reads) for value in params])
        if meant.hides_rowid and names is not None and ROWID in names:
            at = names.index(ROWID)
            names = names[:at] + names[at + 1 :]
            rows = [row[:at] + row[at + 1 :] for row in rows]
        return Cursor(rows, names, count, self)

    def executemany(self, statement: str, rows: Iterable[Sequence[SqlValue]]) -> Cursor:
        return Cursor([], None, sum(self.execute(statement, row).rowcount for row in rows), self)


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
