"""Samples on their way into the store while their file is still read, so that a long file takes less time.

They are a draft that nobody sees. It becomes the series of a new measurement if the reading turns out to have been made
in one go; else it is removed, and the samples are written from their spool as those of a short file are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, BinaryIO

import numpy as np

from ...cycling.columns import CYCLE_COUNT
from ...errors import WorkbenchError
from ...store.series.series import SeriesWriter
from ...store.store import Store
from ...table import Column, Table
from ..plan.jobs import Job
from ..read import samples_file
from ..read.prepare import Prepared

MOST_WAITING = 48 << 20
"""Bytes that may be held until the cycles are counted."""
Opens = Callable[[], BinaryIO | None]


@dataclass(frozen=True)
class Begun:
    """The series of the measurement to be with this ``id``, of which ``writer`` has what ``rest`` does not open."""

    id: str
    writer: SeriesWriter
    rest: Callable[[], Iterator[tuple[str, Table]]]

    def goes_on(self, rule: int | None) -> SeriesWriter:
        """The writer, for the samples that are left, of a series that this rule made."""
        self.writer.rule = rule
        return self.writer


class Ahead:
    """What is written of the file that is read, one at a time, if it ``is_worth`` it."""

    def __init__(self, store: Store, is_worth: Callable[[Job], bool]) -> None:
        self._store = store
        self._is_worth = is_worth
        self._job: Job | None = None
        self._wanted = self._late = self._counts = False
        self._said: str | None = None
        """Who numbers the cycles: see `ReadOptions`."""
        self._rows = self._first = 0
        self._file: BinaryIO | None = None
        self._id = ""
        self._writer: SeriesWriter | None = None

    def write(self, job: Job, opens: Opens) -> None:
        """Write what has come of the samples of a file since the last call."""
        if job is not self._job:
            self.drop()
            self._job, self._wanted = job, self._is_worth(job)
        if not self._wanted:
            return
        if self._file is None and (file := opens()) is not None:
            self._file, self._said = file, job.options.cycles
        if self._file is not None:
            try:
                self._write(self._file)
            except Exception:  # the bytes may be of a spool that was dropped; whoever reads all says what is wrong
                self._give_up()
            if self._writer is not None and self._writer.waits > MOST_WAITING:
                self._give_up()

    def _write(self, file: BinaryIO) -> None:
        place = file.tell()
        for name, table, unsure in samples_file.arrived(file):
            if name != "series":  # steps and cycles come after all samples
                file.seek(place)
                return
            if self._writer is not None:
                self._add(self._writer, table)
            elif self._begins(table, unsure):
                file.seek(0)
                self._write(file)
                return
            place = file.tell()

    def _begins(self, table: Table, unsure: bool) -> bool:
        """Begin to write a file from its first sample on, if what is known of it now is likely to last: the numbers of
        its cycles are those of the cycler, or they are written at the end."""
        cycles = table[CYCLE_COUNT]
        final = self._said == "file" or (self._said is None and _rises(cycles))
        if not final and (unsure or cycles.kind != "integer" or cycles.valid is not None):
            return False
        (self._id,) = self._store.rows.reserved_ids()
        self._writer = self._store.series.writer(self._id, "series", late=None if final else CYCLE_COUNT)
        self._late, self._counts, self._rows = not final, False, 0
        self._first = int(cycles.values[0])
        return True

    def _add(self, writer: SeriesWriter, table: Table) -> None:
        if self._late and not np.all(table[CYCLE_COUNT].values == self._first):
            if self._said is None:  # the cycler counts: its numbers are the ones, and there was one until now
                self._settle(writer, None)
            else:
                self._counts = True
        writer.add(table)
        self._rows += table.n

    def _settle(self, writer: SeriesWriter, starts: Sequence[int] | None) -> None:
        """Number the cycles of what was written, which begin at the samples ``starts``; None: there is one, with the
        number that it has in the file."""
        first = self._first if starts is None else 0
        writer.settle(lambda rows: samples_file.numbers_at(starts or (), rows, first))
        self._late = False

    def taken(self, job: Job, prepared: Prepared, file: IO[bytes]) -> Begun | None:
        """What was written of a file whose spool is whole now: its samples in it are the ones that came. The caller
        publishes or discards it. None if there is nothing that can be used."""
        writer, part, starts = self._writer, self._file, prepared.cycle_starts
        if job is not self._job or part is None or writer is None or prepared.again or not _are_one(part, file):
            self.drop()
            return None
        if (starts is not None and not self._late) or (starts is None and self._late and self._counts):
            self.drop()
            return None
        if self._late:
            self._settle(writer, starts)
        place, row = part.tell(), self._rows
        part.close()
        self._file = self._writer = None

        def rest() -> Iterator[tuple[str, Table]]:
            file.seek(place)
            return samples_file.counted(samples_file.tables(file), starts, row)

        return Begun(self._id, writer, rest)

    def drop(self) -> None:
        """Remove what was written."""
        self._remove()
        file, self._file, self._job = self._file, None, None
        if file is not None:
            file.close()

    def _give_up(self) -> None:
        self._wanted = False
        self._remove()

    def _remove(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(WorkbenchError):
                writer.discard()


def _rises(numbers: Column) -> bool:
    return len(numbers) > 0 and bool(numbers.values[0] != numbers.values[-1])


def _are_one(part: BinaryIO, whole: IO[bytes]) -> bool:
    """Whether what was read while it was written is the file that was written."""
    return os.path.sameopenfile(part.fileno(), whole.fileno())
