"""Connections to PostgreSQL for many threads and processes: snapshots, transactions, errors, and tries again.

A snapshot is a transaction that only reads, on a connection that waits for the next one afterwards. There is one writer
at a time in the whole store, as in a file of SQLite: a transaction begins with a lock of its schema, which the database
lets go when it ends or when its connection is lost. So what a transaction reads stays as it is until it has written.
"""

from __future__ import annotations

import os
import threading
import time
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NoReturn, TypeVar
from weakref import WeakSet

import orjson
import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq.abc import PGresult

from ...errors import BadRequest, Damaged, StoreAway, StoreError, StoreFull, WorkbenchError
from ..db.connections import BUSY_SECONDS, damaged_rows
from ..db.dialect import Question, SqlValue
from ..db.remembered import Size
from .address import Address
from .connection import Connection, Cursor, Snapshot, Writer
from .dialect import PostgresDialect
from .moment import Memory, Moment, Moved
from .raw_connection import Answer, RawConnection, Statement, adapters

T = TypeVar("T")
CONNECTIONS = 16
"""Readers of one process at a time; more wait. Beside them is one that writes."""
TRIES = 5
READINGS = 3
"""How often a reading is tried from memory. One that the store's changes overtake so often is then made as ever."""
PAUSES = (0.05, 0.2, 0.5, 1.0)
"""Seconds before a connection is tried again, if PostgreSQL was restarted or the network was away."""
_LOCK_CLASS = 0x5742
_NOTICES_LOSS = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
"""The server asks after a client that is silent. Without it the lock of a machine that lost its power, or its network,
in a transaction would be held for as long as the server's system waits, mostly two hours."""
_BEGIN: Statement = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ())
_FACTS = "SELECT name, value FROM facts WHERE name IN ('format', 'clock')"
_DAMAGED_SERIES = "WB001"
_NOT_STORED = (errors.DiskFull, errors.OutOfMemory, errors.ProgramLimitExceeded)
"""Errors of a change that PostgreSQL itself refused, though psycopg counts them among those of the connection."""
_DAMAGE = (errors.UndefinedTable, errors.UndefinedColumn, errors.DataCorrupted, errors.IndexCorrupted)


class _Mine(threading.local):
    pid = 0
    reader: Connection | None = None
    writer: Connection | None = None
    moment: Moment | None = None


class _Undone(Exception):
    """Ends a transaction and rolls it back. It never leaves this module."""


class PostgresConnections:
    """The connections of one process to the schema of a store at an ``address``."""

    def __init__(self, address: Address, dialect: PostgresDialect) -> None:
        self.address = address
        self.path = address.side_path
        try:
            self._given = conninfo_to_dict(address.url)
        except psycopg.ProgrammingError as error:
            raise BadRequest(
                f"'{address}' is not an address of PostgreSQL ({_said(error)}). Write postgresql://user@host/database."
            ) from None
        self._dialect = dialect
        self._mine = _Mine()
        self._lock = threading.Lock()
        self._writing = threading.RLock()
        self._idle: list[RawConnection] = []
        self._made: WeakSet[RawConnection] = WeakSet()
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._writer: RawConnection | None = None
        self._pid = os.getpid()
        self._closed = False
        self._refusal: StoreError | None = None
        self._format: object = None
        self._memory = Memory()
        self.on_new_tables: Callable[[Connection], None] = lambda connection: None
        """Called in a transaction if the store has another format than at the last one."""

    # Connecting

    def _settings(self, *, writes: bool) -> dict[str, Any]:
        given = dict(self._given)
        own = f"-c search_path={self.address.schema},public -c jit=off -c timezone=UTC {_NOTICES_LOSS}"
        if not writes:
            own += " -c default_transaction_read_only=on"
        return {
            "connect_timeout": "10",
            "application_name": "battery-workbench",
            "keepalives_idle": "30",
            "keepalives_interval": "10",
            "tcp_user_timeout": "30000",  # a network that is cut ends a statement after 30 s
            **given,
            "options": f"{given.get('options', '')} {own}".strip(),
            "client_encoding": "UTF8",
            "autocommit": True,
            "prepare_threshold": None,  # psycopg would drop the statements that we prepare
            "context": _WithAdapters,
        }

    def _connected(self, *, writes: bool = False) -> RawConnection:
        raw = RawConnection.connect(**self._settings(writes=writes))
        with self._lock:
            self._made.add(raw)
        return raw

    def count(self) -> int:
        """How many connections are open."""
        with self._lock:
            return sum(not raw.closed for raw in self._made)

    def extra(self) -> RawConnection:
        """A connection that writes, beside those of the store and without its lock; the caller closes it.

        Raises
        ------
        StoreError
            If the store was closed.
        """
        self._own()
        return self._connected(writes=True)

    def _own(self) -> _Mine:
        """What this thread has; nothing in a forked process, which must not use connections of its parent."""
        mine = self._mine
        pid = os.getpid()
        if self._closed:
            raise StoreError(f"The store '{self.address}' was closed; open it again.")
        if self._pid != pid:
            self._lock, self._writing = threading.Lock(), threading.RLock()
            self._free = threading.BoundedSemaphore(CONNECTIONS)
            self._made = WeakSet()
            self._idle, self._writer = [], None  # libpq closes them in the process alone that opened them
            self._pid = pid
        if mine.pid != pid:
            mine.pid, mine.reader, mine.writer, mine.moment = pid, None, None, None
        return mine

    def _again(self, begin: Callable[[], T]) -> T:
        """What ``begin`` gives. It changes nothing and is the first of all, so a lost connection is tried again."""
        for pause in (*PAUSES[: TRIES - 1], None):
            try:
                return begin()
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                passing = not isinstance(error, errors.LockNotAvailable | errors.QueryCanceled)
                if pause is None or not passing or _is_refused(error):
                    raise
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def _borrowed(self) -> Iterator[RawConnection]:
        """A connection for one statement, which is given back; after an error it is closed."""
        raw, _ = self._begun(())
        try:
            yield raw
        except BaseException:
            raw.close()
            raise
        finally:
            self._give_back(raw, None)

    def read(self, questions: Sequence[Question]) -> list[Cursor]:
        """The answers to questions, which are sent at once, each at its own moment."""

        def read() -> list[Cursor]:
            with self._borrowed() as raw:
                return Connection(raw, self._dialect).execute_together(questions)

        with self.named():
            return self._again(read)

    def _begun(self, first: Sequence[Statement]) -> tuple[RawConnection, list[Answer]]:
        """A connection to read, and the answers of the first statements of a snapshot on it."""
        if not self._free.acquire(timeout=BUSY_SECONDS):
            raise StoreAway(
                f"The store '{self.address}' is busy: {CONNECTIONS} readers of this process have been at work for over "
                f"{BUSY_SECONDS} s. Try again."
            )
        raw: RawConnection | None = None
        answers: list[Answer] = []
        try:
            with self._lock:
                raw = self._idle.pop() if self._idle else None
            if raw is None:
                raw = self._connected()
            if first:
                _, *answers = raw.ask_together([_BEGIN, *first])
        except BaseException:
            self._free.release()
            if raw is not None:
                raw.close()
                self._close_idle()  # what ended this connection ended the others
            raise
        return raw, answers

    def _begun_again(self, first: Sequence[Statement]) -> tuple[RawConnection, list[Answer]]:
        return self._again(lambda: self._begun(first))

    def _close_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for raw in idle:
            raw.close()

    # Reading

    @property
    def is_writing(self) -> bool:
        """Whether this thread is in a transaction."""
        return self._mine.pid == os.getpid() and self._mine.writer is not None

    def current(self) -> Connection | _Loose:
        """What this thread reads with: its transaction, its snapshot, or a connection for each statement."""
        mine = self._own()
        return mine.writer or mine.reader or mine.moment or _Loose(self)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """One moment of the store for all reads of this thread inside. Inside another snapshot it joins that one."""
        mine = self._own()
        there = mine.writer or mine.reader
        if there is not None:
            with self.named():
                yield there
            return
        if mine.moment is not None:
            with self.named(), mine.moment.joined() as moment:
                yield moment
            return
        with self.named():
            reader = mine.reader = Snapshot(self._begun_again, self._dialect)
            pid = os.getpid()
            try:
                yield reader
            finally:
                mine.reader = None
                # A process that was forked meanwhile leaves it to its parent.
                if os.getpid() == pid and reader.taken is not None:
                    self._give_back(reader.taken)

    def reading(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, all of whose reads are of one moment, no earlier than now; see `moment`. It only reads,
        and is called again if the store has changed meanwhile. Inside another snapshot or transaction it joins that
        one.

        If it begins a transaction after all, what it read before is looked at then, and from there on it reads as
        ever.
        """
        mine = self._own()
        if mine.writer is not None or mine.reader is not None or mine.moment is not None:
            return work()
        for _ in range(READINGS):
            try:
                return self._read_from_memory(mine, work)
            except Moved:
                continue
        return work()

    def at_once(self, work: Callable[[], T]) -> None:
        """None: whether the store is as it was is asked over the network."""

    def remembered(self, name: Hashable, make: Callable[[], T], size: Size[T] | None) -> T:
        """See `Host.remembered`."""
        reads = self.current()
        return reads.remembered(name, make, size) if isinstance(reads, Moment) else make()

    def _read_from_memory(self, mine: _Mine, work: Callable[[], T]) -> T:
        memory = self._memory
        if memory.is_old:
            memory = self._memory = Memory(memory.clock)
        moment = mine.moment = Moment(memory, self._asked, self._dialect)
        try:
            if memory.is_restless or memory.clock is None:
                with self.named():
                    moment.look()
            return self._found(mine, work)
        except Moved:
            if self._memory is memory:
                self._memory = Memory(moment.clock, is_restless=True)
            raise
        finally:
            mine.moment = None

    def _found(self, mine: _Mine, work: Callable[[], T]) -> T:
        try:
            found = work()
        except Exception:
            self._end(mine)  # it may come of what is not so any more
            raise
        self._end(mine)
        return found

    def _end(self, mine: _Mine) -> None:
        """End the moment of this thread, if it is in one; Moved if it was not the present one."""
        if mine.moment is not None:
            with self.named():
                mine.moment.end()
            mine.moment = None

    def _asked(self, statements: Sequence[Statement]) -> list[Answer]:
        def ask() -> list[Answer]:  # as `_borrowed`, which takes longer than half of the rest
            raw, _ = self._begun(())
            try:
                return raw.ask_together(statements)
            except BaseException:
                raw.close()
                raise
            finally:
                self._give_back(raw, None)

        return self._again(ask)

    def _give_back(self, raw: RawConnection, ending: bytes | None = b"ROLLBACK") -> None:
        if ending is not None and not raw.closed:
            try:
                raw.start(ending)
            except psycopg.Error:
                raw.close()
        if raw.closed or self._closed:
            raw.close()
        else:
            with self._lock:
                self._idle.append(raw)
        self._free.release()

    # Writing

    def only_read(self, refusal: StoreError, stand_ins: Sequence[str] = ()) -> None:
        """From now on every transaction raises ``refusal``."""
        self._refusal = refusal

    def transaction(self) -> AbstractContextManager[Connection]:
        """Write all or nothing. Inside another transaction of this thread it joins that one, which then decides."""
        if self._refusal is not None:
            raise self._refusal
        return self._transaction()

    @contextmanager
    def trial(self) -> Iterator[Connection]:
        """A transaction that is always rolled back."""
        with suppress(_Undone), self._transaction() as connection:
            yield connection
            connection.flush()  # so that the trial finds what the database refuses
            raise _Undone

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        mine = self._own()
        if mine.writer is not None:
            yield mine.writer
            return
        self._end(mine)
        with self._writing, self.named():
            raw, facts = self._again(self._begun_to_write)
            clock = facts.get("clock")
            mine.writer = Writer(raw, self._dialect, clock if isinstance(clock, int) else None)
            pid = os.getpid()
            try:
                if self._format is None or facts.get("format") != self._format:
                    self._look_at_format(mine.writer)
                yield mine.writer
                self._commit(mine.writer)
            finally:
                mine.writer = None
                if os.getpid() == pid and raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    with suppress(psycopg.Error):
                        raw.run(b"ROLLBACK")

    def _commit(self, writer: Writer) -> None:
        try:
            writer.commit()
        except _NOT_STORED:
            raise
        except psycopg.OperationalError as error:
            raise StoreAway(
                f"The connection to the store '{self.address}' was lost while a change was being stored "
                f"({_said(error)}). It is stored whole or not at all: look whether it is there, then make it again."
            ) from error

    def _begun_to_write(self) -> tuple[RawConnection, dict[str, object]]:
        """A connection in a transaction that nobody else can be in, and the format and the clock of the store, where it
        had a format before."""
        raw = self._writer
        if raw is None or raw.closed or raw.broken:
            raw = self._writer = self._connected(writes=True)
        try:
            # By its name: while the store is made, its schema is not there yet.
            number = zlib.crc32(self.address.schema.encode()) - 2**31
            lock = f"SELECT pg_advisory_xact_lock({_LOCK_CLASS}, {number})"
            facts = "" if self._format is None else f"; {_FACTS}"
            result = raw.run(f"BEGIN; SET LOCAL lock_timeout = '{BUSY_SECONDS}s'; {lock}{facts}".encode())
        except BaseException:
            raw.close()
            self._writer = None
            raise
        rows = range(result.ntuples if facts else 0)
        return raw, {(result.get_value(n, 0) or b"").decode(): orjson.loads(_held(result, n)) for n in rows}

    def _look_at_format(self, writer: Writer) -> None:
        if self._format is None and not writer.has_tables():
            return  # they are being made now
        facts = dict(writer.execute(_FACTS))
        clock = facts.get("clock")
        if isinstance(clock, int):
            writer.know(clock)
        if facts.get("format") != self._format:
            self.on_new_tables(writer)
            self._format = facts.get("format")

    # What only a file has

    def refuse_tables(self, damage: Mapping[str, str]) -> None:
        """PostgreSQL keeps checksums of its pages itself."""

    @contextmanager
    def all_tables(self) -> Iterator[None]:
        yield

    def move_log(self) -> bool:
        return True

    is_replaced = False

    def close(self) -> None:
        """Close the connections of all threads; later use is an error."""
        if self._closed:
            return
        mine_too = self._pid == os.getpid()
        self._closed = True
        if not mine_too:
            return
        self._close_idle()
        if self._writer is not None:
            self._writer.close()

    # Errors

    @contextmanager
    def named(self) -> Iterator[None]:
        """Turn the errors of PostgreSQL into ours. IntegrityError passes: callers explain it."""
        try:
            yield
        except (WorkbenchError, psycopg.IntegrityError):
            raise
        except psycopg.Error as error:
            self._explain(error)

    def _explain(self, error: psycopg.Error) -> NoReturn:
        place, said = self.address, _said(error)
        if error.sqlstate == _DAMAGED_SERIES:
            raise Damaged(damaged_rows(error.diag.message_detail, error.diag.message_hint)) from error
        if isinstance(error, errors.LockNotAvailable):
            raise StoreAway(
                f"The store '{place}' is busy: another process has been writing for over {BUSY_SECONDS} s. Try again."
            ) from error
        if isinstance(error, errors.DiskFull | errors.OutOfMemory):
            raise (StoreFull if isinstance(error, errors.DiskFull) else StoreError)(
                f"The store '{place}' could not be written ({said}). Nothing of this change was stored; make room on "
                "the machine of PostgreSQL and try again."
            ) from error
        if isinstance(error, errors.ProgramLimitExceeded):
            what = f" of '{error.diag.table_name}'" if error.diag.table_name else ""
            raise BadRequest(
                f"A text{what} is too long for a store on PostgreSQL ({said}). What must be unique, such as a name, "
                "has at most 2 600 bytes there. Shorten it; nothing of this change was stored."
            ) from error
        if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            raise StoreError(
                f"You have no right to do this in the store '{place}' ({said}). Ask for it."
            ) from error
        if isinstance(error, _DAMAGE):
            raise Damaged(f"The store '{place}' is damaged ({said}). Restore a backup.") from error
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            raise StoreAway(
                f"The store '{place}' cannot be reached: {said}. See that PostgreSQL runs and that its address, user "
                "and password are right, then try again. What was not stored before is not stored."
            ) from error
        raise StoreError(f"The store '{place}' could not be used: {said}.") from error


class _Loose:
    """Runs each statement on a connection of its own, each at its own moment."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self.dialect = connections._dialect

    def execute(self, statement: str, params: Sequence[SqlValue] = ()) -> Cursor:
        return self._connections.read([(statement, params)])[0]

    def execute_together(self, questions: Sequence[Question]) -> list[Cursor]:
        return self._connections.read(questions)


class _WithAdapters:
    """Gives each connection the adapters of the store."""

    adapters = adapters()
    connection = None


def _held(result: PGresult, row: int) -> bytes:
    return result.get_value(row, 1) or b"null"


def _said(error: psycopg.Error) -> str:
    """The first line of what PostgreSQL said. It never holds a password."""
    said = error.diag.message_primary or str(error)
    return " ".join(said.split()).rstrip(".?") or type(error).__name__


def _is_refused(error: psycopg.Error) -> bool:
    """Whether it would be refused again: a wrong password, an unknown user or database."""
    said = str(error)
    return any(
        sign in said for sign in ("authentication failed", "does not exist", "no password supplied", "pg_hba")
    )
