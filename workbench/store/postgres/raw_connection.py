"""A connection of psycopg on which statements are run by libpq itself: prepared, several at once, in binary."""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson
import psycopg
from psycopg.abc import Buffer, PQGen
from psycopg.adapt import AdaptersMap, Loader, Transformer
from psycopg.errors import error_from_result
from psycopg.generators import READY_R, WAIT_R, WAIT_RW
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGresult
from psycopg.types.numeric import Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import StrBinaryDumper

from ..db.dialect import SqlValue


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


Answer: TypeAlias = tuple[list[tuple[Any, ...]], list[str] | None, int]
"""The rows of a statement, the names of its columns, and how many rows it found or changed."""
Statement: TypeAlias = tuple[str, Sequence[SqlValue]]
"""A statement of PostgreSQL and its values."""
Bound: TypeAlias = tuple[tuple[int, ...], tuple[bytes | None, ...]]
"""The types and the bytes of the values of a statement."""


@dataclass
class _Known:
    """A statement that came before: its name once it is prepared, how often it ran, and when it is planned anew."""

    name: bytes | None = None
    runs: int = 1
    plan_until: int = 0


@dataclass(frozen=True)
class _Ready:
    """A statement that is to be sent: by its name, which may have to be prepared before, or by its text. ``older`` is
    the name that it had until now."""

    text: bytes
    bound: Bound
    name: bytes | None = None
    is_new: bool = False
    older: bytes | None = None

    @property
    def drops(self) -> bytes | None:
        return None if self.older is None else b"DEALLOCATE " + self.older


class RawConnection(psycopg.Connection[Any]):
    """A connection of psycopg, on which statements are run by libpq itself: that takes a fifth of the time.

    It is closed with the store that nobody holds any more.
    """

    def __init__(self, *given: Any, **named: Any) -> None:  # Any: those of its class
        super().__init__(*given, **named)
        self._turn = threading.Lock()
        self._statements: dict[tuple[str, tuple[int, ...]], _Known] = {}
        self._statement_count = 0
        self._is_awaited = False

    def __del__(self, _: object = None, /) -> None:
        """The warning of its class is for code that forgets one; here the last user may be a thread that ended."""

    def run(self, statement: bytes) -> PGresult:
        """Run statements that take no values; the result of the last, in texts."""
        with self._turn:
            self._settle()
            return self._checked(self.pgconn.exec_(statement))

    def start(self, statement: bytes) -> None:
        """Send a statement without values and without rows, and do not wait for its end: what is run next does."""
        with self._turn:
            self._settle()
            self.pgconn.send_query(statement)
            self._is_awaited = True

    def _settle(self) -> None:
        """Wait for the end of what was started."""
        if not self._is_awaited:
            return
        self._is_awaited = False
        self._flush()
        while (result := self._received()) is not None:
            self._checked(result)

    def ask(self, statement: str, params: Sequence[SqlValue]) -> Answer:
        """The rows of a statement, the names of its columns, and how many rows it found or changed."""
        return self.ask_together([(statement, params)])[-1]

    def ask_together(self, statements: Sequence[Statement]) -> list[Answer]:
        """As `ask`, of several statements that are sent at once: one turn to the database for all. After one that
        fails none is run."""
        bound = [bound_all(params) for _, params in statements]
        with self._turn:
            self._settle()
            if len(self._statements) + len(statements) > MOST_PREPARED:
                self._checked(self.pgconn.exec_(b"DEALLOCATE ALL"))
                self._statements.clear()
            pairs = zip(statements, bound, strict=True)
            ready = [self._ready(text, values) for (text, _), values in pairs]
            try:
                results = self._sent_together(ready) if len(ready) > 1 else [self._sent_alone(ready[0])]
                return [self._answer(self._checked(result)) for result in results]
            except BaseException:
                # Whether these were prepared is not known.
                unsure = {one.name for one in ready if one.is_new}
                self._statements = {
                    key: known for key, known in self._statements.items() if known.name not in unsure
                }
                raise

    def _answer(self, result: PGresult) -> Answer:
        if result.status == ExecStatus.COMMAND_OK:
            return [], None, result.command_tuples or 0
        reader = Transformer(self)
        reader.set_pgresult(result)
        names = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
        return reader.load_rows(0, result.ntuples, tuple), names, result.ntuples

    def _ready(self, statement: str, bound: Bound) -> _Ready:
        """A statement that comes again is prepared. Its plan is made anew when it ran twice as often as before: tables
        that were small may have grown, and what PostgreSQL knows of them comes late."""
        if statement.startswith(_NEVER_PREPARED):
            return _Ready(statement.encode(), bound)
        key = statement, bound[0]
        known = self._statements.get(key)
        if known is None:
            self._statements[key] = _Known()
            return _Ready(statement.encode(), bound)
        known.runs += 1
        if known.name is not None and known.runs < known.plan_until:
            return _Ready(statement.encode(), bound, known.name)
        self._statement_count += 1
        older, known.name = known.name, b"workbench_%d" % self._statement_count
        known.plan_until = max(2 * known.runs, PLANNED_FOR)
        return _Ready(statement.encode(), bound, known.name, True, older)

    def _sent_alone(self, one: _Ready) -> PGresult:
        types, values = one.bound
        formats = [Format.BINARY] * len(values)
        if one.name is None:
            return self.pgconn.exec_params(one.text, values, types, formats, Format.BINARY)
        if one.drops is not None:
            self._checked(self.pgconn.exec_(one.drops))
        if one.is_new:
            self._checked(self.pgconn.prepare(one.name, one.text, types))
        # Its annotation leaves out the None of a null.
        return self.pgconn.exec_prepared(one.name, values, formats, Format.BINARY)  # type: ignore[arg-type]

    def _sent_together(self, ready: Sequence[_Ready]) -> list[PGresult]:
        """The results of statements, up to one that failed."""
        results: list[PGresult] = []
        failed: PGresult | None = None
        self.pgconn.enter_pipeline_mode()
        try:
            for one in ready:
                types, values = one.bound
                formats = [Format.BINARY] * len(values)
                if one.name is None:
                    self.pgconn.send_query_params(one.text, values, types, formats, Format.BINARY)
                    continue
                if one.drops is not None:
                    self.pgconn.send_query_params(one.drops, ())
                if one.is_new:
                    self.pgconn.send_prepare(one.name, one.text, types)
                self.pgconn.send_query_prepared(one.name, values, formats, Format.BINARY)
            self.pgconn.pipeline_sync()
            self._flush()
            before = ((one.drops is not None) + one.is_new for one in ready)
            awaited = [is_last for number in before for is_last in (*[False] * number, True)]
            for is_last in awaited:
                result = self._received()
                if result is None and failed is not None:  # it said that the connection is lost
                    break
                if result is None:
                    raise psycopg.OperationalError("the connection was lost")
                self._received()  # the None after it
                if failed is None and result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
                    failed = result
                if is_last and failed is None:
                    results.append(result)
            self._received()  # the end of all
        finally:
            if self.pgconn.status != ConnStatus.BAD:
                try:
                    self.pgconn.exit_pipeline_mode()
                except psycopg.OperationalError:  # interrupted: results are still on their way
                    self.close()
        return results if failed is None else [*results, failed]

    def _flush(self) -> None:
        if self.pgconn.flush():
            self.wait(self._flushing())

    def _flushing(self) -> PQGen[None]:
        while self.pgconn.flush():
            if (yield WAIT_RW) & READY_R:
                self.pgconn.consume_input()

    def _received(self) -> PGresult | None:
        """The next result. libpq itself would wait for it with the interpreter's lock."""
        if self.pgconn.is_busy():
            self.wait(self._receiving())
        return self.pgconn.get_result()

    def _receiving(self) -> PQGen[None]:
        while self.pgconn.is_busy():
            yield WAIT_R
            self.pgconn.consume_input()

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
_NEVER_PREPARED = ("BEGIN", "COMMIT")
PLANNED_FOR = 64
"""How often a statement has run at least before its plan is made anew."""
_LEAST, _GREATEST = -(2**63), 2**63 - 1
_TYPES = {name: psycopg.adapters.types[name].oid for name in ("int8", "float8", "text", "bytea")}


def bound_all(params: Sequence[SqlValue]) -> Bound:
    """The types and the bytes of the values of a statement; errors as `_bound`."""
    types, values = zip(*map(_bound, params), strict=True) if params else ((), ())
    return types, values


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
