"""``Complete`` of the cycles that a plan reads, from their steps and the present voltage limits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import JsonValue

from ..cycling.columns import COMPLETE, CYCLE_COUNT
from ..cycling.cycle_completeness import READ, VoltageLimits, completeness
from ..dataset import Warn
from ..records.exclusion import CYCLES, EXCLUSION, is_excluded
from ..store.db.remembered import Remembered
from ..table import Column, Table
from .ratings import voltage_limits
from .reader import Reader

_KNOWN = Remembered(most_things=4096, most_bytes=8 << 20)
"""``Complete`` by a hash of all that it follows from."""


def with_completeness(
    tables: Mapping[str, Table], reader: Reader, excluded: Mapping[str, Sequence[str]] | None = None
) -> tuple[dict[str, Table], list[Warn]]:
    """The cycles of measurements, by id, with ``Complete`` behind the other columns where it was not given.

    Each table needs its ``Cycle count``. What the answer hangs on is noted with the reader: any step of a test can
    change the answer of each of its cycles. ``excluded`` is what ``excluded_cycles`` gives, for who has asked already.
    """
    if excluded is None:
        excluded = excluded_cycles([*tables], reader)
    bare = [owner for owner, table in tables.items() if COMPLETE not in table]
    if not bare:
        return _without_excluded(dict(tables), excluded), []
    limits, warnings = voltage_limits(bare, reader)
    reader.dependencies.update(("series", owner, "steps") for owner in bare)
    steps = reader.store.series.many(bare, list(READ), "steps", scope=reader.scope)
    made = dict(tables)
    for owner in bare:
        table = tables[owner]
        if CYCLE_COUNT in table:
            column = _judged(steps.get(owner), table[CYCLE_COUNT], limits[owner])
        else:
            column = Column.nulls(table.n)
        made[owner] = Table({**table.columns, COMPLETE: column}, table.n)
    return _without_excluded(made, excluded), warnings


def _judged(steps: Table | None, cycles: Column, limits: VoltageLimits) -> Column:
    """As `completeness`, which takes most of the time of reading the cycles of many tests; recipes read the same tests
    again and again."""
    if steps is None:
        return completeness(None, cycles, limits)
    digest = hashlib.blake2b(repr((limits.low, limits.high)).encode(), digest_size=16)
    for name, column in (*steps.items(), ("", cycles)):
        digest.update(repr((name, column.kind, column.values.dtype.str, len(column), column.words)).encode())
        digest.update(np.ascontiguousarray(column.values).data)
        digest.update(b"" if column.valid is None else np.ascontiguousarray(column.valid).data)
    return _KNOWN.made(
        digest.digest(), lambda: _fixed(completeness(steps, cycles, limits)), lambda made: 3 * len(made)
    )


def _fixed(column: Column) -> Column:
    """The column as one that nobody can change."""
    for array in (column.values, column.valid):
        if array is not None:
            array.flags.writeable = False
    return column


def _without_excluded(tables: dict[str, Table], excluded: Mapping[str, Sequence[str]]) -> dict[str, Table]:
    """The cycles, of which those that a user excluded are not complete."""
    for owner, texts in excluded.items():
        table = tables[owner]
        if CYCLE_COUNT not in table:
            continue
        out = is_excluded(table[CYCLE_COUNT].floats(), texts)
        held = table[COMPLETE]
        values = np.where(out, False, held.values.astype(bool))
        known = out | ~held.null_mask()
        tables[owner] = Table({**table.columns, COMPLETE: Column("boolean", values, known)}, table.n)
    return tables


def excluded_cycles(owners: Sequence[str], reader: Reader) -> dict[str, list[str]]:
    """Measurement -> the texts of what is excluded of it; those of which nothing is are absent."""
    where: dict[str, JsonValue] = {"analysisType": EXCLUSION, "measurementIds": [*owners]}
    listed = reader.rows("analyses", where, ["measurement_id", CYCLES], None).table
    found: dict[str, list[str]] = {}
    for row in listed.records() if listed.n else []:
        if row[CYCLES] is not None:
            found.setdefault(str(row["measurement_id"]), []).append(str(row[CYCLES]))
    return found
