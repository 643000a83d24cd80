"""Sampled data by owner and dataset: written in parts, published whole, read exactly or reduced.

A series is written under a number of its own, in small transactions that nobody sees. The last transaction writes the
row that names it, so a reader finds the old series or the new one, never a mix. An append packs its chunks
first and then replaces the last, partial ones in one transaction.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

import orjson

from ...dataset import Samples
from ...errors import Conflict, Damaged, NotFound, StoreError
from ...table import Column, Table, from_micros
from ..db.database_file import Host
from ..db.dialect import dialect_of
from ..objects import stored
from ..objects.mover import Mover
from ..objects.objects import Objects
from ..objects.place import PlaceAway
from ..records.tables import owned_within
from ..scope import EVERYTHING, Within
from . import chunks, series_log, summaries
from .chunk_builder import Builder, Built, Start
from .chunks import CHUNK, Fetcher
from .layout import ROW_COLUMNS, Layout, Row, SeriesColumn, SeriesInfo, load_row, load_stats, pack_stats
from .past import Past
from .reading import Reading, Window, levels_at
from .recent import Recent
from .series_log import Entry
from .series_writer import SeriesWriter, is_published

__all__ = ["Series", "SeriesColumn", "SeriesInfo", "SeriesWriter"]

PURGE_CHUNKS = 2000
ATTEMPTS = 2


class Series:
    """All sampled data of a store: ``dataset`` is "series", "steps" or "cycles" of an owner (a record's id).

    Every read takes the scope of its caller. Data of a record outside the scope do not exist for the caller.
    """

    def __init__(self, store: Host, objects: Objects) -> None:
        self._store = store
        self._layouts: dict[bytes, Layout] = {}
        self._past = Past(self)
        self.recent = Recent()
        self._objects = objects
        self.mover = Mover(store, objects, self._open_number)

    def writer(
        self, owner: str, dataset: str = "series", *, rule: int | None = None, late: str | None = None
    ) -> SeriesWriter:
        """A writer of a new series, which replaces the owner's present one when it is published.

        ``rule`` is the number of the rule that makes it, kept with its publication; None for what was given. ``late``
        is a column of whole numbers that never fall, whose values `SeriesWriter.settle` says after all others.
        """
        return SeriesWriter(self._store, self, owner, dataset, rule, late)

    def info(self, owner: str, dataset: str = "series", *, scope: Within) -> SeriesInfo | None:
        """Columns, rows and revision of a series; None if there is none."""
        return self.infos([owner], dataset, scope=scope).get(owner)

    def infos(self, owners: Iterable[str], dataset: str = "series", *, scope: Within) -> dict[str, SeriesInfo]:
        """As ``info``, of those owners that have such a series."""
        with self._store.snapshot() as connection:
            if as_of(scope) is not None:
                found = self._readings_then(connection, owners, dataset, scope)
                return {owner: SeriesInfo(one.row, one.layout) for owner, one in found.items()}
            rows = self._rows(connection, owners, dataset, scope)
            return {row.owner: SeriesInfo(row, self._layout(connection, row)) for row in rows}

    def revisions(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, ...], int]:
        """The revision of each (owner, dataset), 0 where there is none."""
        wanted = list(keys)
        found: dict[tuple[str, ...], int] = {("series", *key): 0 for key in wanted}
        if wanted:
            with self._store.snapshot() as connection:
                of = dialect_of(connection).array_of
                query = (
                    "with wanted(place, pair) as (select cast(key as integer), value from json_each(?)) "  # noqa: S608
                    f"select {of('place')}, {of('revision')} from wanted "
                    "join series on owner = pair ->> 0 and dataset = pair ->> 1"
                )
                row = connection.execute(query, (orjson.dumps(wanted).decode(),)).fetchone()
            places, present = (orjson.loads(values or "[]") for values in row)
            for place, revision in zip(places, present, strict=True):
                found[("series", *wanted[place])] = revision
        return found

    def history(self, owner: str, dataset: str = "series", *, scope: Within) -> list[tuple[datetime, int, int]]:
        """(time, revision, number of samples) of every publication and append, oldest first."""
        with self._store.snapshot() as connection:
            found = series_log.entries(connection, owner, dataset)
            rows = self._rows(connection, [owner], dataset, scope)
        if not rows and scope is not EVERYTHING:
            return []
        if rows and rows[0].entries != len(found):
            raise series_log.damaged(owner)
        return [(from_micros(one.time), one.revision, one.rows) for one in found]

    def unproven(self, owners: Iterable[str], datasets: Sequence[str], scope: Within) -> list[str]:
        """Those of these owners of which the scope shows an earlier time, and of which it is not certain that these
        datasets are, to the bit, what they were then."""
        moment = as_of(scope)
        if moment is None:
            return []
        with self._store.snapshot() as connection:
            rows = self._rows_of_all(connection, owners, scope)
            return [
                owner
                for owner, found in rows.items()
                if not all(self._past.is_proven(connection, found, one, moment) for one in datasets)
            ]

    def _rows_of_all(
        self, connection: sqlite3.Connection, owners: Iterable[str], scope: Within
    ) -> dict[str, dict[str, Row]]:
        """The rows of all datasets of owners within the scope, in the order of ``owners``."""
        wanted = list(dict.fromkeys(owners))
        found: dict[str, dict[str, Row]] = {owner: {} for owner in wanted}
        for dataset in ("series", "steps", "cycles"):
            for row in self._rows(connection, wanted, dataset, scope):
                found[row.owner][dataset] = row
        return found

    def _readings_then(
        self, connection: sqlite3.Connection, owners: Iterable[str], dataset: str, scope: Within
    ) -> dict[str, Reading]:
        """A dataset of owners at the time of the scope, in the order of ``owners``; those that had none are absent."""
        moment = as_of(scope)
        if moment is None:
            raise TypeError("this scope shows the present")
        rows = self._rows_of_all(connection, owners, scope)
        made = {owner: self._past.reading(connection, found, dataset, moment) for owner, found in rows.items()}
        return {owner: one for owner, one in made.items() if one is not None}

    def rule(self, owner: str, dataset: str = "series") -> int | None:
        """The number of the rule that made a series; None if it was given, or published before rules were kept."""
        query = (
            "select l.rule from series as s join series_log as l using (owner, dataset, revision) "
            "where owner = ? and dataset = ?"
        )
        with self._store.snapshot() as connection:
            row = connection.execute(query, (owner, dataset)).fetchone()
        return None if row is None else row[0]

    def read(
        self,
        owner: str,
        columns: Sequence[str] | None = None,
        rows: tuple[int, int] | None = None,
        dataset: str = "series",
        *,
        scope: Within,
    ) -> Table:
        """The samples, exact to the bit: all columns and rows, or those asked for.

        Raises
        ------
        NotFound
            If there is no such series or column.
        Damaged
            If a chunk fails its checksum.
        """
        with self._reading(owner, dataset, scope) as reading:
            names = reading.layout.names if columns is None else list(dict.fromkeys(columns))
            start, stop = rows or (0, reading.row.rows)
            return reading.table(names, start, stop)

    def many(
        self, owners: Iterable[str], columns: Sequence[str], dataset: str, *, scope: Within
    ) -> dict[str, Table]:
        """Whole tables of many owners, in their order: those columns that each has.

        Owners without such a series are absent.
        """
        with self._store.snapshot() as connection:
            if as_of(scope) is not None:
                names = list(dict.fromkeys(columns))
                return {
                    owner: one.table([name for name in names if name in one.layout.places], 0, one.row.rows)
                    for owner, one in self._readings_then(connection, owners, dataset, scope).items()
                }
            rows = self._rows(connection, owners, dataset, scope, stats="null")
            layouts = {row.layout: self._layout(connection, row) for row in rows}
            names = list(dict.fromkeys(columns))
            return self.recent.tables(
                rows, names, lambda absent: summaries.read(connection, absent, layouts, names, self._objects)
            )

    def stacked(self, infos: Sequence[SeriesInfo], columns: Sequence[str], *, scope: Within) -> dict[str, Column]:
        """Whole tables of one dataset, one below the other: those columns that any has, null where another lacks them.

        ``infos`` are what `infos` gave for this scope in the same snapshot; the rows follow their order.

        Raises
        ------
        Damaged
            If a chunk is missing or fails its checksum.
        """
        names = list(dict.fromkeys(columns))
        with self._store.snapshot() as connection:
            if as_of(scope) is not None:
                tables = (
                    self.many([one.owner for one in infos], names, infos[0].dataset, scope=scope) if infos else {}
                )
                return summaries.below(list(tables.values()), names)
            layouts = {one.row.layout: one.layout for one in infos}
            rows = [one.row for one in infos]
            return self.recent.columns(
                rows, names, lambda: summaries.stacked(connection, rows, layouts, names, self._objects)
            )

    def sample(
        self,
        owner: str,
        x: str,
        columns: Sequence[str],
        *,
        window: Window | None = None,
        most: int,
        dataset: str = "series",
        known: Sequence[str] = (),
        scope: Within,
    ) -> Samples:
        """At most ``most`` samples of those with ``window[0] <= x <= window[1]`` (None: no bound) that have a value,
        neither null nor NaN, in each of the columns ``known``.

        All of them if they are no more than ``most`` (then ``complete``), else real samples that represent them:
        in stored order, at least half of ``most``, the first and the last, and, if ``most`` is at least two for
        each column and two more, the least and greatest finite value of each.
        Bounds of a date-time x are microseconds since 1970 UTC.
        """
        with self._reading(owner, dataset, scope) as reading:
            asked = (x, tuple(columns), window, most, *known)
            return self.recent.samples(reading.row, asked, lambda: reading.sample(x, columns, window, most, known))

    def sample_rows(
        self,
        owner: str,
        x: str,
        columns: Sequence[str],
        rows: tuple[int, int],
        most: int,
        dataset: str = "series",
        *,
        known: Sequence[str] = (),
        scope: Within,
    ) -> Samples:
        """As ``sample``, of the samples with the numbers ``rows[0]`` to before ``rows[1]``."""
        with self._reading(owner, dataset, scope) as reading:
            asked = (x, tuple(columns), ("rows", *rows, *known), most)
            return self.recent.samples(
                reading.row, asked, lambda: reading.sample_rows(x, columns, rows, most, known)
            )

    def append(
        self,
        owner: str,
        dataset: str,
        tables: Table | Sequence[Table],
        connection: sqlite3.Connection | None = None,
        *,
        rule: int | None = None,
    ) -> SeriesInfo:
        """Add samples at the end of a series; without one, begin it.

        Full chunks stay as they are; the last one of each column and level is written anew. The encoded new
        samples are held in memory; much more than a test's growth goes through ``writer``. ``rule`` as there; None
        keeps that of the series.

        Raises
        ------
        BadRequest
            If the columns do not fit those of the series.
        """
        parts = [tables] if isinstance(tables, Table) else list(tables)
        # Encode outside of a transaction, so that others may write. If another one was first each time, encode inside
        # a transaction, so that others wait.
        for _ in range(ATTEMPTS):
            with suppress(Conflict):
                info = self._appended(owner, dataset, parts, connection, rule)
                if info is not None:
                    return info
        with self._store.transaction() as writing:
            info = self._appended(owner, dataset, parts, writing, rule)
        if info is None:
            raise StoreError(f"The {dataset} of '{owner}' changed inside a transaction.")
        return info

    def _appended(
        self,
        owner: str,
        dataset: str,
        parts: Sequence[Table],
        connection: sqlite3.Connection | None,
        rule: int | None,
    ) -> SeriesInfo | None:
        """One attempt to append; None, or Conflict, if another process wrote the series meanwhile."""
        with self._store.snapshot() as reader:
            found = self._rows(reader, [owner], dataset, EVERYTHING)
            builder = self._resumed(self._open(reader, found[0])) if found else None
        if builder is None:
            with self.writer(owner, dataset, rule=rule) as writer:
                for part in parts:
                    writer.add(part)
                return writer.publish(connection, replace=False)
        packed = []
        for part in parts:
            builder.feed(part)
            packed += [one for turn in builder.drain() for one in turn]
        last, built = builder.finish()
        with self._store.transaction() as writing:
            now = self._rows(writing, [owner], dataset, EVERYTHING)
            if not now or now[0].revision != found[0].revision:
                return None
            chunks.insert(writing, found[0].id, [*packed, *last])
            kept = self.rule(owner, dataset) if rule is None else rule
            return self.publish(writing, owner, dataset, found[0].id, built, kept)

    def _resumed(self, reading: Reading) -> Builder:
        """A builder at the end of the full chunks, fed with the samples after them."""
        row, layout = reading.row, reading.layout
        full = row.rows // CHUNK * CHUNK if row.rows > CHUNK else 0
        builder = Builder()
        if full:
            stats = load_stats(row.stats)
            for place, one in enumerate(stats):
                tail = reading.column(place, full, row.rows)
                one.nulls -= 0 if tail.valid is None else int((~tail.valid).sum())
                if one.sorted:  # what follows has to rise from here
                    one.last = reading.fetch.head(place, full // CHUNK - 1).high
            builder = Builder.resume(Start(list(layout.fields), stats, full, levels_at(reading, full)))
        builder.feed(reading.table(layout.names, full, row.rows))
        return builder

    def delete(self, owner: str, dataset: str | None = None, connection: sqlite3.Connection | None = None) -> None:
        """Remove a series, or all of an owner. Its chunks are removed in small steps afterwards."""
        with self._store.transaction() as writing:
            chosen = "owner = ? and dataset = coalesce(?, dataset)"
            found = writing.execute(f"select id from series where {chosen}", (owner, dataset)).fetchall()  # noqa: S608
            writing.executemany("insert or replace into drafts values (?, null, 0)", found)
            self._release(writing, found)
            writing.execute(f"delete from series where {chosen}", (owner, dataset))  # noqa: S608
            writing.execute(f"delete from series_log where {chosen}", (owner, dataset))  # noqa: S608
            if found:
                self._store.bump(writing, "series")
        if connection is None:
            self.tidy()

    def publish(
        self,
        connection: sqlite3.Connection,
        owner: str,
        dataset: str,
        number: int,
        built: Built,
        rule: int | None,
        tail: bytes | None = None,
    ) -> SeriesInfo:
        tick = self._store.tick(connection)
        body = built.layout
        connection.execute("insert or ignore into layouts values (?, ?)", (body.digest, body.body))
        entry = Entry(tick, tick, built.rows, rule, built.content, body.digest, tail)
        series_log.add(connection, owner, dataset, entry)
        query = "select count(*) from series_log where owner = ? and dataset = ?"
        entries = connection.execute(query, (owner, dataset)).fetchone()[0]
        row = Row(
            owner, dataset, number, tick, built.rows, built.base, built.buckets, tick, entries,
            body.digest, built.content, pack_stats(built.stats),
        )  # fmt: skip
        query = "select id from series where owner = ? and dataset = ? and id <> ?"
        older = connection.execute(query, (owner, dataset, number)).fetchall()
        connection.executemany("insert or replace into drafts values (?, null, 0)", older)
        self._release(connection, older)
        connection.execute("delete from drafts where id = ?", (number,))
        marks = ", ".join("?" * len(row.values()))
        connection.execute(f"insert or replace into series ({ROW_COLUMNS}, stats) values ({marks})", row.values())  # noqa: S608
        # Lists show how many samples a record has, so they depend on this revision.
        self._store.bump(connection, "series")
        if dataset == "series":
            self.mover.note(connection, number)
        return SeriesInfo(row, body)

    def _release(self, connection: sqlite3.Connection, numbers: Iterable[tuple[int]]) -> None:
        """Note that the objects of series that are deleted or replaced are not needed any more."""
        for (number,) in numbers:
            stored.release(connection, number, self._store.tick)

    def tidy(self) -> None:
        """Remove the chunks of series that were deleted or replaced; what cannot be removed now is removed later.

        What the store keeps elsewhere is moved there, see `Mover.move_waiting`."""
        # The caller's change is published already: a full disk or a busy store here must not look like its failure.
        with suppress(StoreError):
            with self._store.snapshot() as connection:
                gone = connection.execute("select id from drafts where lease is null").fetchall()
            self.purge(number for (number,) in gone)
        self.mover.move_waiting()

    def sweep(self) -> int:
        """Remove the chunks of series that were deleted, replaced or left by a writer that is gone.

        Returns how many series were removed. What another process is writing now is left alone.
        """
        with self._store.snapshot() as connection:
            found = connection.execute("select id, lease, beat from drafts").fetchall()
        gone = [number for number, held, _ in found if held is None]
        gone += self._taken_from(
            [
                (number, beat)
                for number, held, beat in found
                if held is not None and not self._store.is_held(held, beat)
            ]
        )
        self.purge(gone)
        return len(gone)

    def _taken_from(self, writers: Sequence[tuple[int, int]]) -> list[int]:
        """The numbers that were taken from writers that are gone. One that was only silent, or whose clock is another,
        learns of it before it publishes: its chunks are deleted in several transactions from now on."""
        if not writers:
            return []
        query = "update drafts set lease = null where id = ? and beat = ? and lease is not null"
        with self._store.transaction() as connection:
            return [number for number, beat in writers if connection.execute(query, (number, beat)).rowcount]

    def purge(self, numbers: Iterable[int]) -> None:
        """Remove the chunks under these numbers in small transactions; those of a published series stay."""
        query = "delete from chunks where key in (select key from chunks where key between ? and ? limit ?)"
        waiting = deque(numbers)
        while waiting:
            left = PURGE_CHUNKS
            with self._store.transaction() as connection:
                while waiting and left:
                    number = waiting[0]
                    asked, gone = left, 0
                    if not is_published(connection, number):
                        gone = connection.execute(query, (*chunks.span(number), asked)).rowcount
                        left -= gone
                    if gone < asked:
                        connection.execute("delete from drafts where id = ?", (number,))
                        waiting.popleft()

    def _rows(
        self,
        connection: sqlite3.Connection,
        owners: Iterable[str],
        dataset: str,
        scope: Within,
        stats: str = "stats",
    ) -> list[Row]:
        """The rows of published series of owners within the scope, in the order of ``owners``."""
        wanted = list(dict.fromkeys(owners))
        within, params = owned_within(scope)
        if len(wanted) == 1:
            query = f"select {ROW_COLUMNS}, {stats} from series where owner = ? and dataset = ? and {within}"  # noqa: S608
            return [load_row(row) for row in connection.execute(query, (*wanted, dataset, *params))]
        query = (
            "with wanted(place, name) as (select cast(key as integer), value from json_each(?)) "  # noqa: S608
            f"select {ROW_COLUMNS}, {stats} from wanted join series on owner = name and dataset = ? "
            f"where {within} order by place"
        )
        found = connection.execute(query, (orjson.dumps(wanted).decode(), dataset, *params)).fetchall()
        return [load_row(row) for row in found]

    def _layout(self, connection: sqlite3.Connection, row: Row) -> Layout:
        return self._layout_of(connection, row.owner, row.layout)

    def _layout_of(self, connection: sqlite3.Connection, owner: str, digest: bytes) -> Layout:
        known = self._layouts.get(digest)
        if known is None:
            found = connection.execute("select body from layouts where digest = ?", (digest,)).fetchone()
            if found is None:
                raise Damaged(f"Damaged series of '{owner}': the description of its columns is missing.")
            known = self._layouts[digest] = Layout.load(digest, found[0])
        return known

    def _open(self, connection: sqlite3.Connection, row: Row) -> Reading:
        layout = self._layout(connection, row)
        return Reading(row, layout, self._fetcher(connection, row, layout))

    def _fetcher(self, connection: sqlite3.Connection, row: Row, layout: Layout) -> Fetcher:
        return Fetcher(connection, row.id, row.owner, layout.names, self._objects)

    def _open_number(self, connection: sqlite3.Connection, number: int) -> Reading | None:
        """The published series of a number."""
        query = f"select {ROW_COLUMNS}, stats from series where id = ?"  # noqa: S608
        found = connection.execute(query, (number,)).fetchone()
        return None if found is None else self._open(connection, load_row(found))

    @contextmanager
    def _reading(self, owner: str, dataset: str, scope: Within) -> Iterator[Reading]:
        with self._store.snapshot() as connection:
            if as_of(scope) is not None:
                found = self._readings_then(connection, [owner], dataset, scope)
                if not found:
                    raise NotFound(f"'{owner}' had no {dataset} then.")
                yield found[owner]
                return
            rows = self._rows(connection, [owner], dataset, scope)
            if not rows:
                raise NotFound(f"'{owner}' has no {dataset}.")
            yield self._open(connection, rows[0])

    def verify(self) -> list[str]:
        """Everything that is wrong with the series, as sentences."""
        return self.wrong(self.keys()) + self.stray()

    def keys(self) -> list[tuple[str, str]]:
        """Owner and dataset of all that is stored, in the order in which it was."""
        return self._store.connection().execute("select owner, dataset from series").fetchall()

    def wrong(self, keys: Iterable[tuple[str, str]]) -> list[str]:
        """Everything that is wrong with these tables, as sentences. All of their samples are read."""
        findings: list[str] = []
        for owner, dataset in keys:
            try:
                with self._reading(owner, dataset, EVERYTHING) as reading:
                    reading.fetch.elsewhere = self._objects.uncached
                    findings += summaries.check(reading)
                self.history(owner, dataset, scope=EVERYTHING)
            except PlaceAway as error:
                # Each series would wait as long for it.
                findings.append(f"{error} This series and those after it were not checked.")
                break
            except StoreError as error:
                findings.append(str(error))
        return findings

    def stray(self) -> list[str]:
        """Chunks that belong to nothing, as sentences."""
        return summaries.stray(self._store.connection())


def as_of(scope: Within) -> int | None:
    """The time at which a scope shows the data; None for the present."""
    return None if scope is EVERYTHING else scope.as_of
