"""What was computed from tables, kept in memory until one of these tables changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from .database_file import Host

T = TypeVar("T")


class Kept(Generic[T]):
    """At most ``most`` values by name, each with the revisions of the tables that it was made from.

    The least recently used value is dropped first. Nobody may change a value that is kept.
    """

    def __init__(self, store: Host, most: int) -> None:
        self._store = store
        self._most = most
        self._values: OrderedDict[Hashable, tuple[tuple[int, ...], T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable, tables: Iterable[str], make: Callable[[], T]) -> T:
        """The value of this name; ``make()`` makes it from ``tables`` if it is not here or they changed."""
        (value,) = self.get_all([(name, tuple(tables), make)])
        return value

    def get_all(
        self,
        wanted: Sequence[tuple[Hashable, Sequence[str], Callable[[], T]]],
        revisions: Mapping[str, int] | None = None,
    ) -> list[T]:
        """As ``get`` for several names, with one look at all revisions: on PostgreSQL each look is a turn. Who has
        looked at them at this moment gives them as ``revisions``."""
        with self._store.snapshot():
            if (
                self._store.is_changing
            ):  # what a transaction wrote may not have its revision yet, or be rolled back
                return [make() for _, _, make in wanted]
            now = revisions or self._store.row_revisions(table for _, tables, _ in wanted for table in tables)
            return [self._current(name, tuple(now[one] for one in tables), make) for name, tables, make in wanted]

    def _current(self, name: Hashable, revisions: tuple[int, ...], make: Callable[[], T]) -> T:
        with self._lock:
            kept = self._values.get(name)
            if kept is not None and kept[0] == revisions:
                self._values.move_to_end(name)
                return kept[1]
        made = make()
        with self._lock:
            self._values[name] = (revisions, made)
            self._values.move_to_end(name)
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        return made
