"""One connection to PostgreSQL, with the few methods of a connection of SQLite that the store uses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import psycopg

from ...errors import BadRequest
from ..db.dialect import FACTS, REVISIONS, Present, Question, SqlValue
from .dialect import ROWID, PostgresDialect, Translated
from .raw_connection import Answer, RawConnection, Statement, bound_all

Borrow: TypeAlias = Callable[[Sequence[Statement]], tuple[RawConnection, list[Answer]]]
_NOWHERE = "\uffff"
"""What a null character is looked for as: no text of a store holds one, and PostgreSQL takes none."""


class Cursor:
    """The answer of a statement: all its rows are here."""

    def __init__(
        self, rows: list[tuple[Any, ...]], names: list[str] | None, count: int | None, of: Connection
    ) -> None:
        self._rows = iter(rows)
        self.description = None if names is None else [(name, *[None] * 6) for name in names]
        self._count = count
        self._of = of

    @property
    def rowcount(self) -> int:
        """How many rows it found or changed; a change that waits is sent for it."""
        if self._count is None:
            self._of.flush()
        return -1 if self._count is None else self._count

    def came(self, count: int) -> None:
        """The change was made, of so many rows."""
        self._count = count

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

    def __init__(self, raw: RawConnection | None, dialect: PostgresDialect) -> None:
        self._raw = raw
        self.dialect = dialect

    @property
    def raw(self) -> RawConnection:
        assert self._raw is not None
        return self._raw

    @property
    def in_transaction(self) -> bool:
        return self._raw is not None and self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def flush(self) -> None:
        """Send the changes that wait, if there are some."""

    def has_tables(self) -> bool:
        """Whether the schema of the store holds its tables; those of other schemas do not count."""
        own = "format('%I.facts', split_part(current_setting('search_path'), ',', 1))"
        ((found,),) = self.execute(f"SELECT to_regclass({own}) IS NOT NULL").fetchall()
        return bool(found)

    def execute(self, statement: str, params: Sequence[SqlValue] = ()) -> Cursor:
        meant = self.dialect.translated(statement)
        return self._cursor(meant, self._asked(meant, [_sound(value, meant.reads) for value in params]))

    def execute_together(self, questions: Sequence[Question]) -> list[Cursor]:
        """The answers to questions that are sent at once."""
        meant = [self.dialect.translated(text) for text, _ in questions]
        given = [
            [_sound(value, one.reads) for value in params]
            for one, (_, params) in zip(meant, questions, strict=True)
        ]
        texts = [one.text for one in meant]
        answers = self._asked_together([*zip(texts, given, strict=True)])
        return [self._cursor(one, answer) for one, answer in zip(meant, answers, strict=True)]

    def _asked(self, meant: Translated, params: Sequence[SqlValue]) -> Answer:
        return self._asked_together([(meant.text, params)])[0]

    def _asked_together(self, statements: Sequence[Statement]) -> list[Answer]:
        return self.raw.ask_together(statements)

    def _cursor(self, meant: Translated, answer: Answer) -> Cursor:
        rows, names, count = answer
        if meant.hides_rowid and names is not None and ROWID in names:
            at = names.index(ROWID)
            names = names[:at] + names[at + 1 :]
            rows = [row[:at] + row[at + 1 :] for row in rows]
        return Cursor(rows, names, count, self)

    def executemany(self, statement: str, rows: Iterable[Sequence[SqlValue]]) -> Cursor:
        return Cursor([], None, sum(self.execute(statement, row).rowcount for row in rows), self)


class OneMoment(Connection):
    """Reads at one moment."""

    _present: Present | None = None

    def present(self) -> Present:
        """The facts of the store and its revisions at this moment; asked once and together."""
        if self._present is None:
            facts, revisions = self.execute_together([(FACTS, ()), (REVISIONS, ())])
            self._present = Present(dict(facts), dict(revisions))
        return self._present


class Snapshot(OneMoment):
    """Reads at one moment, that of the first statement. Without one it takes no connection; the first goes together
    with the beginning of its transaction.

    ``borrow`` gives a connection and what the first statements answered on it.
    """

    def __init__(self, borrow: Borrow, dialect: PostgresDialect) -> None:
        super().__init__(None, dialect)
        self._borrow = borrow

    @property
    def taken(self) -> RawConnection | None:
        """The connection, if there was a statement."""
        return self._raw

    @property
    def raw(self) -> RawConnection:
        if self._raw is None:
            self._raw, _ = self._borrow([("SELECT 1", ())])
        return self._raw

    def _asked_together(self, statements: Sequence[Statement]) -> list[Answer]:
        if self._raw is not None:
            return self._raw.ask_together(statements)
        self._raw, answers = self._borrow(statements)
        return answers


class Writer(Connection):
    """Writes in a transaction. A change whose answer nobody looks at waits for the next statement that has one, or for
    the end: they go to the database together. An error of it comes then.

    Attributes
    ----------
    clock : the time of the store that was given last, in microseconds; only this transaction may give one. It is
        written at the end. None if it is not known; then it is in the store.
    """

    def __init__(self, raw: RawConnection, dialect: PostgresDialect, clock: int | None) -> None:
        super().__init__(raw, dialect)
        self._began = self.clock = clock
        self._changed = self._timed = False
        self._waiting: list[Statement] = []
        self._cursors: list[Cursor] = []
        self._bytes = 0

    @property
    def raw(self) -> RawConnection:
        self.flush()
        return super().raw

    def execute(self, statement: str, params: Sequence[SqlValue] = ()) -> Cursor:
        meant = self.dialect.translated(statement)
        values = [_sound(value, meant.reads) for value in params]
        self._changed |= not meant.reads
        if _FACTS in meant.text:
            self._write_clock()
            if not meant.reads:
                self.clock = self._began = None
        if meant.answers:
            return self._cursor(meant, self._asked(meant, values))
        later = Cursor([], None, None, self)
        bound_all(values)  # a value that cannot be stored is refused here
        self._waiting.append((meant.text, values))
        self._cursors.append(later)
        self._bytes += sum(len(value) for value in values if isinstance(value, str | bytes))
        if len(self._waiting) >= MOST_WAITING or self._bytes > MOST_WAITING_BYTES:
            self.flush()
        return later

    def executemany(self, statement: str, rows: Iterable[Sequence[SqlValue]]) -> Cursor:
        for row in rows:
            self.execute(statement, row)
        return Cursor([], None, -1, self)

    def execute_together(self, questions: Sequence[Question]) -> list[Cursor]:
        return [self.execute(*question) for question in questions]

    def _asked_together(self, statements: Sequence[Statement]) -> list[Answer]:
        return self._all_asked(statements)[-len(statements) :]

    def flush(self) -> None:
        """Send the changes that wait."""
        if self._waiting:
            self._all_asked([])

    def commit(self) -> None:
        """Send what waits, and the time that was given last, and end the transaction. A change to which nobody gave a
        time gets one: see `moment`."""
        if self._changed and not self._timed and self.clock is not None and self.clock == self._began:
            self.dialect.next_time(self, time.time_ns() // 1000)
        self._write_clock()
        if self._waiting:
            self._all_asked([("COMMIT", ())])
        else:
            super().raw.run(b"COMMIT")

    def know(self, clock: int) -> None:
        """The time that the store gave last."""
        self._began = self.clock = clock

    def _write_clock(self) -> None:
        if self.clock is not None and self.clock != self._began:
            self._began = self.clock
            self._timed = True
            self._waiting.append(("UPDATE facts SET value = to_json($1) WHERE name = 'clock'", (self.clock,)))
            self._cursors.append(Cursor([], None, None, self))

    def _all_asked(self, last: Sequence[Statement]) -> list[Answer]:
        waiting, cursors = self._waiting, self._cursors
        self._waiting, self._cursors, self._bytes = [], [], 0
        answers = super().raw.ask_together([*waiting, *last])
        for cursor, (_, _, count) in zip(cursors, answers[: len(waiting)], strict=True):
            cursor.came(count)
        return answers


_FACTS = "facts"
"""Where the time is kept: a statement that names it finds the time that was given last."""
MOST_WAITING = 64
"""Changes of a transaction that go to the database together, at most."""
MOST_WAITING_BYTES = 1 << 20


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
