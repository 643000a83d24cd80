"""The files of one test that was split, as one reading: their samples in order, on one clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

import numpy as np

from ...cycling import columns as c
from ...cycling.findings import Finding, Level
from ...readers import Reading
from ...table import Column, Table

_CLOCK_IS_COARSE = 2.0
"""Seconds by which a part may seem to begin before the one before it ends: start times are whole seconds often."""


class Joined:
    """Readings one after the other. Of a single one nothing is changed.

    Each part begins as long after the first as their start times say; where they say nothing, where the part
    before it ends. Columns that only some parts have are null in the others.
    """

    def __init__(self, readings: Sequence[Reading], names: Sequence[str]) -> None:
        self.readings = readings
        self.names = names
        self.first = readings[0]
        self._end = 0.0
        self._said: list[Finding] = []

    def batches(self) -> Iterator[Table]:
        """The samples of all parts, with the same columns in every batch."""
        if len(self.readings) == 1:
            yield from self.first.batches
            return
        opened = [_opened(reading) for reading in self.readings]
        kinds = {
            name: column for first, _ in reversed(opened) if first is not None for name, column in first.items()
        }
        for place, (first, rest) in enumerate(opened):
            if first is None:
                continue
            begin = self._begin(place) if place else 0.0
            for batch in chain([first], rest):
                yield self._moved(batch, begin, kinds)

    def _begin(self, place: int) -> float:
        """When a part begins, s after the first."""
        start, first = self.readings[place].start_time, self.first.start_time
        name, before = self.names[place], self.names[place - 1]
        apart = _apart(start, first)
        if apart is None:
            self._say(
                "assumed",
                "joined",
                f"'{name}' and '{before}' do not both say when they start, so they were joined without a gap.",
            )
            return self._end
        if apart < self._end - _CLOCK_IS_COARSE:
            early = self._end - apart
            self._say(
                "odd",
                "overlap",
                f"'{name}' began {early:.6g} s before '{before}' ended. It was placed after the end of '{before}'. "
                "If both hold the same samples, these count twice: remove them from one file and ingest both again.",
            )
        return max(apart, self._end)

    def _say(self, level: Level, code: str, message: str) -> None:
        finding = Finding(level, code, message)
        if finding not in self._said:
            self._said.append(finding)

    def _moved(self, batch: Table, begin: float, kinds: dict[str, Column]) -> Table:
        columns = {
            name: batch[name] if name in batch else _nulls_like(column, batch.n) for name, column in kinds.items()
        }
        columns |= {name: column for name, column in batch.items() if name not in columns}
        if c.TIME in columns:
            times = columns[c.TIME].floats() + begin
            self._end = max(self._end, float(np.nanmax(times, initial=self._end)))
            columns[c.TIME] = Column("number", times, columns[c.TIME].valid)
        return Table(columns, batch.n)

    def notes(self) -> list[Finding]:
        """What the readers noticed, of several parts by name; whole when the last batch was taken."""
        if len(self.readings) == 1:
            return self.first.notes
        joined = f"{len(self.names)} parts were joined in this order: {', '.join(self.names)}."
        findings = [Finding("assumed", "parts", joined), *self._said]
        for name, reading in zip(self.names, self.readings, strict=True):
            findings += [replace(note, message=f"{name}: {note.message}") for note in reading.notes]
        return findings


def _opened(reading: Reading) -> tuple[Table | None, Iterator[Table]]:
    first = next(reading.batches, None)
    return first, reading.batches


def _apart(start: datetime | None, first: datetime | None) -> float | None:
    return None if start is None or first is None else (start - first).total_seconds()


def _nulls_like(column: Column, n: int) -> Column:
    values = np.zeros(n, column.values.dtype)
    return Column(column.kind, values, np.zeros(n, bool), column.words)
