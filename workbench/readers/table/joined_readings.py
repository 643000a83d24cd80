"""Joins readings of the tables of one file: one series, in the order in which the tables were measured."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...cycling.columns import TIME
from ...cycling.findings import Finding
from ...messages import quoted
from ...table import Column, Kind, Table
from ..reading import Reading
from .columns import in_order
from .impedance_beside import empty
from .values import number_column


@dataclass
class Part:
    """The reading of one table, and the times of its first and last row as the file has them."""

    reading: Reading
    first: float | None
    last: float | None


def joined(parts: Sequence[Part], notes: list[Finding]) -> Iterator[Table]:
    """The batches of all parts, with the columns of all. ``notes`` get those of each part after its last batch.

    A time that is later than the last of the table before goes on; one that starts again is moved behind it.
    """
    begun = []
    for part in parts:
        batches = iter(part.reading.batches)
        begun.append((next(batches, None), batches))
    firsts = [first for first, _ in begun if first is not None]
    kinds = _kinds(firsts)
    lost = sorted({name for table in firsts for name in table.names if not _fits(table[name], kinds[name])})
    if lost:
        text = f"Values in {quoted(lost)} are of another kind in a later table, and were left empty there."
        notes.append(Finding("odd", "column_left_out", text))
    end, before = 0.0, None
    seen: set[tuple[str, str]] = set()
    for part, (first, rest) in zip(parts, begun, strict=True):
        start = _start(part, end, before)
        if first is not None:
            for batch in itertools.chain([first], rest):
                made = _later(batch, start)
                if TIME in made:
                    end = max(end, float(np.nanmax(made[TIME].floats(), initial=end)))
                yield _with_all(made, kinds)
        before = part.last if part.last is not None else before
        for note in part.reading.notes:
            if (note.code, note.message) not in seen:
                seen.add((note.code, note.message))
                notes.append(note)


def _start(part: Part, end: float, before: float | None) -> float:
    """The time of the first row of a part in the series, s; ``before`` is the last time written before it."""
    if before is None or part.first is None:
        return end
    goes_on = part.first - before
    return end + (goes_on if goes_on >= 0 else max(part.first, 0.0))


def _later(batch: Table, start: float) -> Table:
    if not start or TIME not in batch:
        return batch
    time = batch[TIME]
    moved = Column("number", time.floats() + start, time.valid)
    return Table({**batch.columns, TIME: moved}, batch.n)


def _kinds(tables: Sequence[Table]) -> dict[str, Kind]:
    """Column name -> its kind in all tables: that of the first, or number where integers and numbers meet."""
    found: dict[str, Kind] = {}
    for table in tables:
        for name in table.names:
            kind, known = table[name].kind, found.get(name, "null")
            numeric = {kind, known} == {"integer", "number"}
            found[name] = "number" if numeric else kind if known == "null" else known
    return in_order(found)


def _with_all(table: Table, kinds: dict[str, Kind]) -> Table:
    """The table with a column of each name. A column of another kind than in the first table is left empty."""
    made: dict[str, Column] = {}
    for name, kind in kinds.items():
        column = table[name] if name in table else empty(kind, table.n)
        if kind == "number" and column.kind == "integer":
            column = number_column(column.floats())
        made[name] = column if column.kind == kind else empty(kind, table.n)
    return Table(made, table.n)


def _fits(column: Column, kind: Kind) -> bool:
    return column.kind in (kind, "null") or (column.kind == "integer" and kind == "number")
