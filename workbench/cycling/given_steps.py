"""Step tables that a person gives. They are used as they are; missing columns are computed from the samples."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import Invalid, Problem
from ..table import Column, Table
from . import columns as c
from .run_statistics import Ints
from .steps import (
    CYCLE_SUMS,
    END_INDEX,
    START_INDEX,
    STEP_COLUMNS,
    STEP_TYPE,
    STEP_TYPE_FROM_CYCLER,
    as_table,
    in_order,
    step_numbers,
    with_cycle_sums,
)
from .steps_builder import RunsBuilder

LAYERS = 16
_ALWAYS = frozenset(
    described.name
    for described in STEP_COLUMNS
    if described.name not in (STEP_TYPE, STEP_TYPE_FROM_CYCLER, c.FRAME, *CYCLE_SUMS)
    and "temperature" not in described.name
)


def complete_steps(given: Table, samples: Iterable[Table], rows: int) -> Table:
    """The ``steps`` of a series for which a step table was given.

    Given columns are used as they are, also those that the workbench does not know. Missing columns are computed from
    the samples from ``Start index`` to ``End index`` (both inclusive), the ``Cycle`` sums from the given rows.

    Parameters
    ----------
    given : one row per step, with ``Start index`` and ``End index`` unless nothing is missing. Ranges may leave
        samples out and may overlap; at most 16 steps may cover one sample.
    samples : all samples of the series in batches; read only if something is missing.
    rows : how many samples the series has.

    Raises
    ------
    Invalid
        If a range lies outside the samples, or ``Cycle count`` is given with nulls.
    """
    made = dict(given.columns)
    if not made.keys() >= _ALWAYS:
        computed = _measured(given, samples, rows)
        made |= {name: column for name, column in computed.columns.items() if name not in made}
    if given.n and bool(made[c.CYCLE_COUNT].missing().any()):
        raise Invalid(Problem(("steps", c.CYCLE_COUNT), f"'{c.CYCLE_COUNT}' must be an integer in every step."))
    return with_cycle_sums(Table(in_order(made), given.n))


def _measured(given: Table, samples: Iterable[Table], rows: int) -> Table:
    """Statistics of the samples in the range of each given row, in the order of those rows."""
    starts, stops = _ranges(given, rows)
    layers = _layers(starts, stops)
    builders = [RunsBuilder() for _ in layers]
    numbers = np.arange(given.n)
    at = 0
    for batch in samples:
        here = np.flatnonzero((starts >= at) & (starts < at + batch.n))
        if c.STEP_COUNT in batch:
            numbers[here] = step_numbers(batch)[starts[here] - at]
        for layer, builder in zip(layers, builders, strict=True):
            builder.feed(batch, _keys(layer, starts, stops, at, batch.n))
        at += batch.n
    parts = []
    for builder in builders:
        stats = builder.finish()
        kept = np.flatnonzero(stats["key"] >= 0) if stats else np.zeros(0, np.intp)
        parts.append({name: values[kept] for name, values in stats.items()})
    if not parts:
        return as_table({}, frozenset())
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(joined["key"], kind="stable")
    table = as_table({name: values[order] for name, values in joined.items()}, builders[0].present)
    return Table({**table.columns, c.STEP_COUNT: Column("integer", numbers)}, table.n)


def _ranges(given: Table, rows: int) -> tuple[Ints, Ints]:
    ends = []
    for name in (START_INDEX, END_INDEX):
        if name not in given:
            raise Invalid(Problem(("steps", name), f"The step table needs '{name}' to compute what it lacks."))
        column = given[name]
        if column.kind not in ("integer", "number") or bool(column.missing().any()):
            raise Invalid(Problem(("steps", name), f"'{name}' must be an integer in every step."))
        ends.append(column.values.astype(np.int64))
    starts, stops = ends
    wrong = np.flatnonzero((starts < 0) | (stops < starts) | (stops >= rows))
    if len(wrong):
        row = int(wrong[0])
        raise Invalid(
            Problem(
                ("steps", START_INDEX, row),
                f"Step {row} covers samples {starts[row]} to {stops[row]}; the series has 0 to {rows - 1}.",
            )
        )
    return starts, stops


def _layers(starts: Ints, stops: Ints) -> list[Ints]:
    """The given rows in sets whose ranges do not overlap; each set in the order of the samples."""
    layers: list[list[int]] = []
    last: list[int] = []
    for row in np.argsort(starts, kind="stable").tolist():
        for place, stop in enumerate(last):
            if stop < starts[row]:
                layers[place].append(row)
                last[place] = int(stops[row])
                break
        else:
            layers.append([row])
            last.append(int(stops[row]))
        if len(layers) > LAYERS:
            raise Invalid(Problem(("steps", START_INDEX, row), f"More than {LAYERS} steps cover one sample."))
    return [np.array(layer, np.int64) for layer in layers]


def _keys(layer: Ints, starts: Ints, stops: Ints, at: int, n: int) -> Ints:
    """(n,) the given row that covers each of the ``n`` samples from number ``at`` on; -1 if no row covers it."""
    rows = np.arange(at, at + n)
    place = np.searchsorted(starts[layer], rows, side="right") - 1
    covered = (place >= 0) & (rows <= stops[layer][place])
    return np.where(covered, layer[place], -1)


def given_steps(table: Table) -> Table:
    """A given step table with its columns of whole numbers as integers.

    Raises
    ------
    Invalid
        If a column that the workbench knows has the wrong kind: texts instead of numbers, numbers in ``Step type``, a
        fraction instead of the number of a step, cycle or sample. Names all such columns.
    """
    made = dict(table.columns)
    problems = []
    for described in STEP_COLUMNS:
        column = made.get(described.name)
        if column is None or column.kind == "null":
            continue
        wanted = ("text",) if described.kind == "text" else ("number", "integer")
        if column.kind not in wanted:
            words = f"'{described.name}' must hold {wanted[0]}s, not {column.kind} values."
            problems.append(Problem(("steps", described.name), words))
        elif described.kind == "integer" and column.kind == "number":
            known = ~column.missing()
            values = np.where(known, column.values, 0.0)
            if bool((values != np.floor(values)).any()) or bool((np.abs(values) >= 2**53).any()):
                words = f"'{described.name}' must hold whole numbers."
                problems.append(Problem(("steps", described.name), words))
                continue
            made[described.name] = Column("integer", values.astype(np.int64), None if bool(known.all()) else known)
    if problems:
        raise Invalid(problems)
    return Table(made, table.n)
