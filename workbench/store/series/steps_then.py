"""Steps and cycles that a test had with fewer samples, made from these and from the steps that it has today."""

from __future__ import annotations

import numpy as np
import orjson

from ...cycling import columns as c
from ...cycling.cycles import cycles_of
from ...cycling.steps import (
    CYCLE_SUMS,
    END_INDEX,
    OWN_TIME,
    START_INDEX,
    StepsBuilder,
    replaced,
    with_cycle_sums,
)
from ...cycling.steps_builder import READ
from ...table import Column, Table, concat_columns
from .reading import Reading

_PIECE = 1 << 18


def tail_of(steps: Table) -> bytes:
    """What the counters gave the last step, to be kept in the log of the steps."""
    last = steps.slice(steps.n - 1, steps.n)
    noted: bytes = orjson.dumps({name: last[name].tolist()[0] for name in c.COUNTERS if name in last})
    return noted


def steps(series: Reading, today: Table, tail: bytes | None) -> Table:
    """The steps of a cut series.

    Steps that ended before the cut are those of ``today``, where the test's own rule gives the same; the last one is
    made from its samples, and from the ``tail`` that was kept of it. What only a file or a person said of a step is
    taken from today's.
    """
    owning = OWN_TIME in today and today.n > 0
    made = _made(series, owning=owning)
    if made.n > today.n or made[START_INDEX].tolist() != today[START_INDEX].tolist()[: made.n]:
        return made
    before = today.slice(0, made.n)
    columns = dict(made.columns)
    if owning:
        last = orjson.loads(tail) if tail is not None else {}
        counters = {
            name: _counted(made[name], before[name], last.get(name))
            for name in c.COUNTERS
            if name in series.layout.places
        }
        columns = dict(replaced(made, counters).columns) if counters else columns
    for name, column in before.items():
        if name not in columns and name not in CYCLE_SUMS:
            columns[name] = column
    done = made[END_INDEX].values == before[END_INDEX].values
    if not owning:
        columns = {name: _where(done, before, name, column) for name, column in columns.items()}
    kept = {name: columns[name] for name in [*today, *columns] if name in columns and name not in CYCLE_SUMS}
    return with_cycle_sums(Table(kept, made.n))


def cycles(steps: Table) -> Table:
    return cycles_of(steps)


def _made(series: Reading, *, owning: bool) -> Table:
    """The steps that follow from the samples alone."""
    builder = StepsBuilder(owning=owning)
    names = [name for name in dict.fromkeys((*READ, c.STEP_COUNT, c.CYCLE_COUNT)) if name in series.layout.places]
    for start in range(0, series.row.rows, _PIECE):
        builder.feed(series.table(names, start, start + _PIECE))
    return builder.finish()


def _where(
    done: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], before: Table, name: str, made: Column
) -> Column:
    """Of steps that were done then the values of today, of the last one those that were made."""
    if name not in before or bool(done.all()):
        return before.get(name, made)
    if not bool(done[:-1].all()):
        return made
    n = len(done)
    return concat_columns([before[name].slice(0, n - 1), made.slice(n - 1, n)])


def _counted(made: Column, before: Column, last: float | None) -> Column:
    """What a counter of the cycler gave: of steps that were whole as today, of the last one what was noted then."""
    values = before.floats().copy()
    values[-1] = made.floats()[-1] if last is None else last
    return Column("number", values)
