"""Connections to the SQLite file for many threads and processes: snapshots, transactions, errors of SQLite."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from ...errors import Damaged, StoreAway, StoreError, StoreFull, WorkbenchError
from .log_mover import LogMover
from .main_file import MainFile, log_bytes, mark_of
from .remembered import FileMemory, NotRemembered, Remembered, Size

T = TypeVar("T")
Transaction: TypeAlias = sqlite3.Connection
"""What `Store.transaction` gives. Code outside of this package only passes it on."""
PAGE_SIZE = 4096
MMAP_BYTES = 4 * 1024**3
# 16 MB: after a write of usual size SQLite does not have to move the log into the file.
LOG_PAGES = 4096
# A transaction that fits is written once, at its end.
CACHE_KB = 8192
BUSY_SECONDS = 30
_PAUSE = 0.01
_DAMAGE = (
    "invalid fts5",
    "malformed",
    "not a database",
    "corrupt",
    "could not decode",
    "no such column",
    "no such table",
)
_TOUCHING = (sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
_UNREADABLE = ("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_CORRUPTFS", "SQLITE_IOERR_DATA")


class _Reason(threading.local):
    """Why a function of ours stopped a query. SQLite itself reports only that it did."""

    text: str = ""


_REASON = _Reason()


class _Undone(Exception):
    """Ends a transaction and rolls it back. It never leaves this module."""


class _Handle:
    """A connection, closed when nobody uses it any more, in whichever thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.depth = 0
        self.refuses = False

    def __del__(self) -> None:
        self.connection.close()


class _Mine(threading.local):
    reader: _Handle | None = None
    writer: _Handle | None = None
    pid: int = 0
    sees_damage: bool = False
    remembered: Remembered | None = None
    at_once: bool = False


class Connections:
    """The connections to the file at ``path``: each thread has one to read and one to write.

    Readers never wait (write-ahead log); writers wait for each other, at most ``BUSY_SECONDS``. A connection
    is never carried into a forked process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mine = _Mine()
        self._handles: weakref.WeakSet[_Handle] = weakref.WeakSet()
        self._writing = threading.RLock()
        self._pid = os.getpid()
        self._closed = False
        self._wrote = False
        self._file = self._present()
        self._main: MainFile | None = MainFile(path) if self._file else None
        self._stand_ins: list[str] = []
        self._refusal: StoreError | None = None
        self._damage: dict[str, str] = {}
        self._memory = FileMemory(self._connect_to_look)
        self._log_mover = LogMover(self.move_log)
        self.on_new_tables: Callable[[sqlite3.Connection], None] = lambda connection: None
        """Called in a transaction if another process changed the tables since the last one."""
        self._tables: int | None = None

    def named(self) -> AbstractContextManager[None]:
        """Turn SQLite's errors into ours, with the name of the file."""
        return named(self.path)

    def _connect(self, *, writes: bool) -> _Handle:
        if self._closed:
            raise StoreError(f"The store '{self.path}' was closed; open it again.")
        self._check_same()
        with named(self.path):
            connection = sqlite3.connect(
                self.path,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
            handle = _Handle(connection)
            connection.execute(f"pragma page_size = {PAGE_SIZE}")
            connection.execute(f"pragma mmap_size = {MMAP_BYTES}")
            connection.execute("pragma foreign_keys = on")
            connection.execute("pragma cell_size_check = on")
            connection.create_function("fold", 1, _fold, deterministic=True)
            connection.create_function("damaged_series", 2, _damaged_series)
            if writes:
                if self._refusal is None:  # otherwise the file must stay as it is
                    _keep_log(connection)
                connection.execute("pragma synchronous = full")
                # The log is moved after each commit that makes it long, see `_move_long_log`: the note must be known.
                connection.execute("pragma wal_autocheckpoint = 0")
                connection.execute("pragma journal_size_limit = 0")
                connection.execute(f"pragma cache_size = -{CACHE_KB}")
            else:
                connection.execute("pragma temp_store = memory")
                for text in self._stand_ins:
                    connection.execute(text)
                connection.execute("pragma query_only = on")
            keeps_log = connection.execute("pragma journal_mode").fetchone() == ("wal",)
        self._handles.add(handle)
        if self._main is None and self._present() is not None:
            self._main = MainFile(self.path)
        if self._main is not None and keeps_log:
            self._main.use()
        return handle

    def _connect_to_look(self) -> _Handle:
        made = self._connect(writes=False)
        made.connection.execute("pragma busy_timeout = 0")
        return made

    def _present(self) -> tuple[int, int] | None:
        """Device and inode of the file that is at the path now."""
        try:
            found = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"The store '{self.path}' cannot be reached: {error}.") from error
        return found.st_dev, found.st_ino

    def _check_same(self) -> None:
        """Refuse to go on if another file replaced the store: what is written to the old file is lost."""
        present = self._present()
        if self._file is None:
            self._file = present
        elif present is None:
            raise StoreError(f"The store '{self.path}' is gone: it was moved or deleted while it was open.")
        elif present != self._file:
            raise StoreError(
                f"The store '{self.path}' was replaced by another file while it was open; open it again."
            )

    @property
    def is_replaced(self) -> bool:
        """Whether the file that was opened is not at the path any more."""
        return self._file is not None and self._present() != self._file

    def _own(self) -> _Mine:
        mine = self._mine
        if mine.pid != os.getpid():
            mine.reader = mine.writer = mine.remembered = None
            mine.at_once = False
            mine.pid = os.getpid()
            if self._pid != mine.pid:
                self._writing = threading.RLock()
                self._memory = FileMemory(self._connect_to_look)
                self._pid = mine.pid
        if mine.at_once:
            raise NotRemembered
        return mine

    def _reader(self) -> _Handle:
        mine = self._own()
        if mine.reader is None or self._closed:
            mine.reader = self._connect(writes=False)
        if self._damage:
            self._guard(mine.reader, mine)
        return mine.reader

    def _writer(self) -> _Handle:
        mine = self._own()
        if mine.writer is None or self._closed:
            mine.writer = self._connect(writes=True)
        if self._damage:
            self._guard(mine.writer, mine)
        return mine.writer

    def refuse_tables(self, damage: Mapping[str, str]) -> None:
        """From now on every statement that reads or changes one of these tables raises Damaged with its text."""
        self._damage |= damage
        self._memory.forget()

    def count(self) -> int:
        """How many connections are open."""
        return len(self._handles)

    @contextmanager
    def all_tables(self) -> Iterator[None]:
        """Inside, this thread may read damaged tables too."""
        mine = self._own()
        mine.sees_damage = True
        try:
            yield
        finally:
            mine.sees_damage = False

    def _guard(self, handle: _Handle, mine: _Mine) -> None:
        """Each thread does it for its own connections: SQLite may hold a lock of a connection that is in use."""
        if handle.refuses == mine.sees_damage:
            handle.refuses = not mine.sees_damage
            handle.connection.set_authorizer(self._authorize if handle.refuses else None)

    def _authorize(self, action: int, table: str | None, *where: str | None) -> int:
        if action in _TOUCHING and table in self._damage and where[1] == "main":
            _REASON.text = self._damage[table]
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def only_read(self, refusal: StoreError, stand_ins: Sequence[str] = ()) -> None:
        """From now on every transaction raises ``refusal``. Connections that read run ``stand_ins`` first."""
        self._refusal = refusal
        self._stand_ins = [*stand_ins]
        self._mine.reader = None
        self._memory.forget()

    @property
    def is_writing(self) -> bool:
        """Whether this thread is in a transaction."""
        writer = self._own().writer
        return writer is not None and writer.depth > 0

    def current(self) -> sqlite3.Connection:
        """This thread's connection: the writing one inside a transaction, else the one that only reads."""
        writer = self._own().writer
        if writer is not None and writer.depth:
            return writer.connection
        return self._reader().connection

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """One moment of the store for all reads of this thread inside. Inside another snapshot it joins that one."""
        writer = self._own().writer
        if writer is not None and writer.depth:
            with named(self.path):
                yield writer.connection
            return
        reader = self._reader()
        with named(self.path):
            if not reader.depth:
                self._check_same()
                reader.connection.execute("begin")
            reader.depth += 1
            try:
                yield reader.connection
            finally:
                reader.depth -= 1
                if not reader.depth and reader.connection.in_transaction:
                    reader.connection.execute("rollback")

    def reading(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, which only reads. What it makes inside `remembered` is remembered; see `FileMemory`."""
        mine = self._own()
        if mine.remembered is not None or any(one is not None and one.depth for one in (mine.reader, mine.writer)):
            return work()
        self._check_same()
        mine.remembered = self._memory.present(waits=True)
        try:
            return work()
        finally:
            mine.remembered = None

    def at_once(self, work: Callable[[], T]) -> T | None:
        """What ``work`` gives, if all that it wants to know is remembered of the file as it is now; else None. It does
        not wait for the disk."""
        mine = self._own()
        if mine.remembered is not None:
            return None
        remembered = self._memory.present(waits=False)
        if remembered is None:
            return None
        self._check_same()
        mine.remembered, mine.at_once = remembered, True
        try:
            return work()
        except NotRemembered:
            return None
        finally:
            mine.remembered, mine.at_once = None, False

    def remembered(self, name: Hashable, make: Callable[[], T], size: Size[T] | None) -> T:
        """See `Host.remembered`."""
        mine = self._mine
        if mine.remembered is None or mine.pid != os.getpid():
            return make()
        return mine.remembered.made(name, make, size)

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Write all or nothing. Inside another transaction of this thread it joins that one, which then decides."""
        if self._refusal is not None:
            raise self._refusal
        return self._transaction()

    @contextmanager
    def trial(self) -> Iterator[Transaction]:
        """A transaction that is always rolled back; it works also if the store was opened to read."""
        with suppress(_Undone), self._transaction() as connection:
            yield connection
            raise _Undone

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        writer = self._writer()
        if writer.depth:
            yield writer.connection
            return
        with self._writing, named(self.path):
            self._check_same()
            self._mine.remembered = None  # from here on this thread reads what it writes
            writer.connection.execute("begin immediate")
            writer.depth = 1
            try:
                self._check_tables(writer.connection)
                (version,) = writer.connection.execute("pragma user_version").fetchone()
                writer.connection.execute(f"pragma user_version = {mark_of(version)}")  # see `main_file`
                yield writer.connection
                self._commit(writer.connection)
            finally:
                writer.depth = 0
                if writer.connection.in_transaction:
                    writer.connection.execute("rollback")
        self._log_mover.written()

    def _commit(self, connection: sqlite3.Connection) -> None:
        """Commit, note the log, and move it into the file if it is long."""
        if self._main is None:
            self._main = MainFile(self.path)
        with self._main.noting():
            connection.execute("commit")
            self._wrote = True
            self._main.keep_note()
        if log_bytes(self.path) >= LOG_PAGES * PAGE_SIZE:
            self._move(connection, self._main, "passive")

    def _move(self, connection: sqlite3.Connection, main: MainFile, how: str) -> bool:
        """Move the log into the file. All of it clears the note; after a part of it the note is made again."""
        with main.noting():
            busy, pages, moved = connection.execute(f"pragma wal_checkpoint({how})").fetchone()
            if pages != moved or pages < 0:
                main.keep_note()
        return not busy

    def move_log(self) -> bool:
        """Move the log into the file and empty it, so that the file alone is the whole store.

        Nobody waits for it: False if somebody reads or writes now.
        """
        writer = self._writer()
        if writer.depth or self._refusal is not None:
            return False
        with named(self.path):
            self._check_same()
            writer.connection.execute("pragma busy_timeout = 0")
            try:
                if self._main is None:
                    self._main = MainFile(self.path)
                done = self._move(writer.connection, self._main, "truncate")
                if done:
                    self._main.clear_note(writer.connection)
            except sqlite3.OperationalError:  # another process is writing
                done = False
            finally:
                writer.connection.execute(f"pragma busy_timeout = {BUSY_SECONDS * 1000}")
        return done

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        """Check the tables again if they changed: a newer workbench may have upgraded the store meanwhile."""
        (tables,) = connection.execute("pragma schema_version").fetchone()
        if tables != self._tables:
            self.on_new_tables(connection)
            (self._tables,) = connection.execute("pragma schema_version").fetchone()

    def close(self) -> None:
        """Close the connections of all threads; later use is an error.

        The log is moved before: another process may have moved all of it between a commit and its note, and then the
        last connection deletes a log whose note nothing clears.
        """
        self._log_mover.stop()
        if self._wrote:
            with suppress(WorkbenchError, sqlite3.Error):
                self.move_log()
        self._closed = True
        if self._main is not None:
            self._main.let_go()
        for handle in list(self._handles):
            handle.connection.close()
        if self._main is not None:
            self._main.close()
            self._main = None


def _keep_log(connection: sqlite3.Connection) -> None:
    """Let the file have a log, as each store that is open has. A backup has none before it is opened.

    SQLite does not wait for others who do the same: of two that read the file, neither could have it alone.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, with the name of the file. IntegrityError passes: callers explain it."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # SQLite's messages quote the file. If that is damaged, the message may not be valid text.
        text = str(error).lower()
        if "user-defined function raised" in text and _REASON.text:
            reason, _REASON.text = _REASON.text, ""
            raise Damaged(reason) from error
        code = getattr(error, "sqlite_errorname", "")
        if code == "SQLITE_AUTH" and _REASON.text:
            reason, _REASON.text = _REASON.text, ""
            raise Damaged(reason) from error
        if isinstance(error, UnicodeDecodeError) or code in _UNREADABLE or any(sign in text for sign in _DAMAGE):
            raise Damaged(
                f"The store '{path}' is damaged ({error}). Run 'workbench verify', then restore a backup."
            ) from error
        if "locked" in text or "busy" in text:
            raise StoreAway(
                f"The store '{path}' is busy: another process has been writing for over {BUSY_SECONDS} s. Try again."
            ) from error
        if code.startswith("SQLITE_IOERR_SHM"):
            raise StoreError(
                f"The store '{path}' could not be opened ({error}): SQLite needs 32 KB beside it, also to read. The "
                "disk may be full, or at its quota. Nothing was changed; make room and try again."
            ) from error
        if code == "SQLITE_FULL" or code.startswith("SQLITE_IOERR"):
            raise (StoreFull if code == "SQLITE_FULL" else StoreError)(
                f"The store '{path}' could not be written ({error}). Its disk may be full, or at its quota. Nothing of "
                "this change was stored; make room and try again."
            ) from error
        if "readonly" in text:
            raise StoreError(
                f"You have no right to write the store '{path}' or its folder. Ask for it, or copy "
                "the store to a folder that you may write. A backup can be read without that right."
            ) from error
        if (code == "SQLITE_CANTOPEN" or "unable to open" in text) and path.exists():
            raise StoreError(
                f"The store '{path}' could not be opened: SQLite writes beside it, also to read. You may have no right "
                "to write its folder, or the disk is read-only. Ask for it, or copy the store to a folder that you may "
                "write. A backup can be read without that right."
            ) from error
        if code == "SQLITE_CANTOPEN" or "unable to open" in text:
            raise StoreError(
                f"The store '{path}' could not be opened or made. You may have no right to write the folder "
                f"'{path.parent}'. Ask for it, or give the path of a store in a folder that you may write."
            ) from error
        raise StoreError(f"The store '{path}' could not be used: {error}.") from error


def _fold(text: str | None) -> str | None:
    """The text with case ignored, by Unicode; SQLite itself does this only for ASCII."""
    return None if text is None else text.casefold()


def _damaged_series(owner: object, dataset: object) -> None:
    """Stop a query that found a series whose number of rows differs from its log."""
    _REASON.text = damaged_rows(owner, dataset)
    raise Damaged(_REASON.text)


def damaged_rows(owner: object, dataset: object) -> str:
    """The text about a series whose number of rows differs from its log."""
    return (
        f"Damaged series of '{owner}': the number of rows of its {dataset} differs from that in its log. "
        "Restore a backup."
    )
