"""Writes one series in bounded memory: chunks in small transactions, then one that publishes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import Conflict, Damaged, StoreError
from ...quick_import import later
from ...table import Column, Table
from ..db import lease
from ..db.database_file import Host
from . import chunks
from .chunk_builder import BLOCK, Builder, Built
from .chunks import CHUNK, Packed
from .layout import SeriesInfo

if TYPE_CHECKING:
    from . import steps_then
else:  # steps are computed only when samples come in
    steps_then = later("workbench.store.series.steps_then")


FLUSH_BYTES = 4 << 20


class Shelf(Protocol):
    """All series of a store: where what was written becomes visible."""

    def revisions(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, ...], int]: ...

    def purge(self, numbers: Iterable[int]) -> None: ...

    def tidy(self) -> None: ...

    def publish(
        self,
        connection: sqlite3.Connection,
        owner: str,
        dataset: str,
        number: int,
        built: Built,
        rule: int | None,
        tail: bytes | None = None,
    ) -> SeriesInfo: ...


class SeriesWriter:
    """Writes one series in bounded memory. Nobody sees it before ``publish``.

    As a context manager it deletes what was not published.
    """

    def __init__(
        self, store: Host, series: Shelf, owner: str, dataset: str, rule: int | None, late: str | None = None
    ) -> None:
        self.owner = owner
        self.dataset = dataset
        self.rule = rule
        self.number = 0
        self._store = store
        self._series = series
        self._builder = Builder(late=late)
        self._packed: list[Packed] = []
        self._bytes = 0
        self._done = False
        self._tail: bytes | None = None

    def add(self, table: Table) -> None:
        """Add the next samples: any number of rows, with the columns of the first table.

        Raises
        ------
        BadRequest
            If a column is new, mixes kinds, or cannot be joined to what came before without loss.
        """
        self._check()
        self._builder.feed(table)
        if self.dataset == "steps" and table.n:
            self._tail = steps_then.tail_of(table)
        self._drain(BLOCK)

    @property
    def waits(self) -> int:
        """Bytes in memory that wait for a late column."""
        return self._builder.waits

    def settle(self, values: Callable[[NDArray[np.int64]], Column]) -> None:
        """Say the values of the late column at any of the rows that were added so far."""
        self._check()
        packed = self._builder.settle(values)
        self._packed += packed
        self._bytes += sum(len(one.payload) for one in packed)
        self._relieve()

    def _drain(self, least: int) -> None:
        """Pack what waits; the chunks of each turn are written during the next."""
        for packed in self._builder.drain(least, self._relieve):
            self._packed += packed
            self._bytes += sum(len(one.payload) for one in packed)

    def _relieve(self) -> None:
        if self._bytes >= FLUSH_BYTES:
            self._flush()

    def _check(self) -> None:
        if self._done:
            raise StoreError(f"The writer of the {self.dataset} of '{self.owner}' is finished; take a new one.")

    def _flush(self) -> None:
        with self._store.transaction() as connection:
            self._take_number(connection, lease.take())
            query = "update drafts set beat = ? where id = ? and lease is not null"
            if not connection.execute(query, (self._store.tick(connection), self.number)).rowcount:
                raise self._swept()
            chunks.insert(connection, self.number, self._packed)
        self._packed, self._bytes = [], 0

    def _swept(self) -> StoreError:
        return StoreError(
            f"The unpublished {self.dataset} of '{self.owner}' was swept; write it again. Another process took this "
            "one for gone: it was silent for an hour, as when a machine sleeps, or the clocks of two machines differ. "
            "Nothing of it is stored."
        )

    def _take_number(self, connection: sqlite3.Connection, held: str | None) -> None:
        if not self.number:
            made = connection.execute(
                "insert into drafts (lease, beat) values (?, ?) returning id", (held, self._store.tick(connection))
            )
            number = int(made.fetchone()[0])
            if is_published(connection, number):
                raise Damaged(f"The store gave out the number {number} of a series again; restore a backup.")
            self.number = number

    def publish(self, connection: sqlite3.Connection | None = None, *, replace: bool = True) -> SeriesInfo:
        """Make the series visible, in one last transaction; it replaces an older one.

        With ``connection`` the caller's transaction decides; it must be of this thread.

        Raises
        ------
        Conflict
            If ``replace`` is false and there is one.
        """
        self._check()
        self._drain(CHUNK)
        packed, built = self._builder.finish(self._flush if self._packed else None)
        with self._store.transaction() as writing:
            if (
                not replace
                and self._series.revisions([(self.owner, self.dataset)])["series", self.owner, self.dataset]
            ):
                raise Conflict(f"'{self.owner}' has {self.dataset} by now; append again.")
            if self.number and not writing.execute(_IS_THERE, (self.number,)).fetchone():
                raise self._swept()
            self._take_number(writing, None)
            chunks.insert(writing, self.number, [*self._packed, *packed])
            info = self._series.publish(
                writing, self.owner, self.dataset, self.number, built, self.rule, self._tail
            )
        self._done = True
        self._packed = []
        if connection is None:
            self._series.tidy()
        return info

    def discard(self) -> None:
        """Stop and remove what was written so far."""
        self._done = True
        self._packed = []
        if self.number:
            # The first error is the one to show. What stays is removed when the store is opened next.
            with suppress(StoreError):
                self._series.purge([self.number])

    def __enter__(self) -> SeriesWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._done:
            self.discard()


_IS_THERE = "select 1 from drafts where id = ? and lease is not null"


def is_published(connection: sqlite3.Connection, number: int) -> bool:
    """Whether a number is that of a series that readers see."""
    return connection.execute("select 1 from series where id = ?", (number,)).fetchone() is not None
