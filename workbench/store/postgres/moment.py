"""What was read before is not asked for again while the store is as it was: then a request takes one turn.

Every transaction that changes something gives the store a later time, which is written with it. So as long as the clock
says the same, every answer is the same. A `Moment` answers from memory what was answered before at the time that the
memory is of, and looks at the clock once, at its end, or together with the first statement that is not in memory. If
the clock has moved by then, what was made of these answers is thrown away and made again: nobody ever sees it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from ..db.remembered import Remembered, Size
from .connection import OneMoment
from .dialect import PostgresDialect
from .raw_connection import Answer, Bound, Statement, bound_all

T = TypeVar("T")
LONGEST_S = 1.0
"""How long an answer is remembered at most: what somebody changes past the workbench is seen after that."""
MOST_BYTES = 16 << 20
LARGEST = 256 << 10
"""An answer of more bytes is not remembered."""
_OF_A_VALUE = 60
"""Bytes that a value takes beside its text."""
_CLOCK: Statement = ("SELECT value FROM facts WHERE name = 'clock'", ())
_Key: TypeAlias = tuple[str, Bound]
Ask: TypeAlias = Callable[[Sequence[Statement]], list[Answer]]


class Moved(BaseException):
    """The store has changed since the memory was filled: what reads begins again. It never leaves this package, and
    no ``except Exception`` on its way must take it for an error."""


class Memory:
    """Answers of a store at one time of its clock, for all threads; None before the clock is known.

    ``is_restless``: the store was changed shortly before. Then it may be again, and who reads looks at the clock first.
    """

    def __init__(self, clock: object = None, *, is_restless: bool = False) -> None:
        self.clock = clock
        self.is_restless = is_restless
        self._since = time.monotonic()
        self.made = Remembered()
        self._answers: dict[_Key, Answer] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self._since > LONGEST_S

    def get(self, key: _Key) -> Answer | None:
        return self._answers.get(key)

    def keep(self, key: _Key, answer: Answer) -> None:
        rows, names, _ = answer
        texts = sum(len(value) for row in rows for value in row if isinstance(value, str | bytes))
        size = texts + len(rows) * len(names or ()) * _OF_A_VALUE + len(key[0])
        with self._lock:
            if size <= LARGEST and self._bytes + size <= MOST_BYTES:
                self._answers[key] = answer
                self._bytes += size


class Moment(OneMoment):
    """Reads at one moment, of which `end` says whether it was the present one.

    ``ask`` asks statements at once, each at its own moment, in their order.
    """

    def __init__(self, memory: Memory, ask: Ask, dialect: PostgresDialect) -> None:
        super().__init__(None, dialect)
        self._memory = memory
        self._ask = ask
        self._is_checked = self._is_over = False
        self._joined = 0
        self.clock: object = memory.clock

    @contextmanager
    def joined(self) -> Iterator[Moment]:
        """This moment for a snapshot inside."""
        self._joined += 1
        try:
            yield self
        finally:
            self._joined -= 1

    def _asked_together(self, statements: Sequence[Statement]) -> list[Answer]:
        if self._is_over:
            return self._ask(statements)
        keys = [(text, bound_all(params)) for text, params in statements]
        found = [self._memory.get(key) for key in keys]
        new = [n for n, answer in enumerate(found) if answer is None]
        if new:
            # The clock comes last: if it still says what it said before, nothing was changed before it either.
            *answers, clock = self._ask([*(statements[n] for n in new), _CLOCK])
            self._check(clock)
            for n, answer in zip(new, answers, strict=True):
                found[n] = answer
                self._memory.keep(keys[n], answer)
        return [answer for answer in found if answer is not None]

    def remembered(self, name: Hashable, make: Callable[[], T], size: Size[T] | None = None) -> T:
        """What ``make`` makes of what it reads here, remembered under a name, unless it is None."""
        # All that it reads is of the time of the memory, or it is Moved.
        return make() if self._is_over else self._memory.made.made(name, make, size)

    def look(self) -> None:
        """Look at the clock, if it was not looked at before; errors as `end`."""
        if not self._is_checked:
            (clock,) = self._ask([_CLOCK])
            self._check(clock)

    def end(self) -> None:
        """Look at the clock, if nothing was asked.

        Raises
        ------
        Moved
            If the store has changed since, or a snapshot goes on, which must see this moment to its end.
        """
        self.look()
        if self._joined:
            raise Moved
        self._is_over = True

    def _check(self, answer: Answer) -> None:
        rows, _, _ = answer
        self.clock = rows[0][0] if rows else None
        if self.clock is None or self.clock != self._memory.clock:
            raise Moved
        self._is_checked = True
