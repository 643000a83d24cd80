"""``summary``: exact rows per step or per cycle of measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from pydantic import JsonValue

from ...cycling.columns import COMPLETE, CYCLE_COUNT
from ...cycling.computed_columns import COMPUTED
from ...cycling.cycles import CYCLE_COLUMNS
from ...cycling.life import KINDS, LIFE_COLUMNS
from ...cycling.steps import SINCE, STEP_COLUMNS, STEP_TYPE, STEP_TYPE_NEEDS, step_types
from ...dataset import Warn
from ...errors import Invalid, Problem
from ...recipe.plot import Caps
from ...recipe.steps import SummaryStep
from ...recipe.steps.summary import KEY
from ...table import Column, Kind, Table, concat_columns
from ..columns import empty, merged, there_are
from ..complete_cycles import with_completeness
from ..limits import check_sources, check_summary_rows
from ..plan import Part, Plan, run_step
from ..ratings import rated_capacities
from ..reader import Reader, Source, source_ids
from .series import missing_warning

DECLARED: dict[str, dict[str, Kind]] = {
    "steps": {column.name: column.kind for column in (*STEP_COLUMNS, *LIFE_COLUMNS)},
    "cycles": {column.name: column.kind for column in (*CYCLE_COLUMNS, *LIFE_COLUMNS)},
}
_FROM = {STEP_TYPE: STEP_TYPE_NEEDS, COMPLETE: (CYCLE_COUNT,)}
"""What the computed columns need of their own table."""


def summary(step: SummaryStep, ids: Sequence[JsonValue], reader: Reader, caps: Caps) -> tuple[Table, list[Warn]]:
    """``measurement_id``, then the columns: the order of ids, then of steps or cycles.

    Raises
    ------
    Invalid
        Unknown ids, too many sources or rows, columns that all sources lack; places are relative to the step.
    """
    wanted = source_ids(ids)
    check_sources(len(wanted), caps)
    names = [name for name in dict.fromkeys(step.columns) if name != KEY]
    sources = reader.sources("measurements", wanted, step.dataset, names)
    in_reach = {} if sources else reader.kinds_in_reach("measurements", step.dataset)
    kinds, warnings = summary_kinds(step, names, sources, in_reach)
    warnings += reader.lives.warnings([source.id for source in sources], names)
    counts = [source.info.rows for source in sources]
    check_summary_rows(sum(counts), caps)
    computed = COMPUTED[step.dataset].name if COMPUTED[step.dataset].name in names else None
    asked = list(dict.fromkeys([*names, *(_FROM[computed] if computed else ())]))
    codes = np.repeat(np.arange(len(sources), dtype=np.int32), counts)
    key = Column("text", codes, None, tuple(source.id for source in sources))
    if sources and is_stored(step):
        held = reader.stacked(sources, names)
        return Table(
            {KEY: key, **{name: _of_kind(kinds[name], held[name]) for name in names}}, sum(counts)
        ), warnings
    tables = reader.summaries([source.id for source in sources], asked, step.dataset) if sources else {}
    if computed == STEP_TYPE:
        made, unknown = _with_step_types(sources, tables, reader)
        tables, warnings = made, [*warnings, *unknown]
    elif computed == COMPLETE:
        made, unknown = with_completeness(tables, reader)
        tables, warnings = made, [*warnings, *unknown]
    columns = {KEY: key}
    for name in names:
        columns[name] = _together(name, kinds[name], [tables[source.id] for source in sources])
    return Table(columns, sum(counts)), warnings


def is_stored(step: SummaryStep) -> bool:
    """Whether all columns of a step are read as they are stored: none is computed, or over the life of a cell."""
    return not {COMPUTED[step.dataset].name, *KINDS} & set(step.columns)


def summary_kinds(
    step: SummaryStep, names: Sequence[str], sources: Sequence[Source], in_reach: Mapping[str, Kind]
) -> tuple[dict[str, Kind], list[Warn]]:
    """The kind of each column over all sources, and a warning for each that some lack; Invalid where all do.

    ``in_reach`` are those of all measurements in reach, for a step without sources.
    """
    declared = DECLARED[step.dataset]
    made: dict[str, Kind] = {}
    warnings: list[Warn] = []
    problems: list[Problem] = []
    held = [source.info.kinds for source in sources]
    for name in names:
        found = [columns[name] for columns in held if name in columns]
        made[name] = merged(found) if sources else in_reach.get(name, "null")
        if made[name] == "null":
            made[name] = declared.get(name, "null")
        lacking = [source for source, columns in zip(sources, held, strict=True) if name not in columns]
        if not lacking or name == COMPUTED[step.dataset].name:
            continue
        if len(lacking) == len(sources):
            there = dict.fromkeys(
                [*(column for columns in held for column in columns), COMPUTED[step.dataset].name]
            )
            message = f"No source has a column '{name}' in its {step.dataset}. {there_are(name, there)}"
            message += _since(step, name)
            problems.append(Problem(("columns", step.columns.index(name)), message))
        warning = missing_warning(name, lacking, len(sources))
        warnings.append(replace(warning, message=warning.message + _since(step, name)))
    if problems:
        raise Invalid(problems)
    return made, warnings


def _since(step: SummaryStep, name: str) -> str:
    """What adds a column that older rules did not make; empty for other columns."""
    if step.dataset != "steps" or name not in SINCE:
        return ""
    return " 'workbench recompute' adds it to steps of an older rule, but not to step tables that were given."


def _together(name: str, kind: Kind, tables: Sequence[Table]) -> Column:
    if not tables:
        return empty(kind)
    parts = [table[name] if name in table else Column.nulls(table.n) for table in tables]
    return _of_kind(kind, concat_columns(parts))


def _of_kind(kind: Kind, column: Column) -> Column:
    """A column of nulls as one of the kind that is declared or that other sources have."""
    if column.kind != "null" or kind == "null":
        return column
    return Column(kind, np.zeros(len(column), empty(kind).values.dtype), column.valid)


def _with_step_types(
    sources: Sequence[Source], tables: Mapping[str, Table], reader: Reader
) -> tuple[dict[str, Table], list[Warn]]:
    """The tables with ``Step type`` where it was not given, from the present rated capacity."""
    bare = [source for source in sources if STEP_TYPE not in tables[source.id]]
    if not bare:
        return dict(tables), []
    rated, warnings = rated_capacities([source.id for source in bare], reader)
    made = dict(tables)
    for source in bare:
        reader.tell(f"step types of {source.name}")
        table = tables[source.id]
        made[source.id] = Table({**table.columns, STEP_TYPE: step_types(table, rated[source.id])}, table.n)
    return made, warnings


@run_step.register
def _run(step: SummaryStep, plan: Plan) -> Part:
    table, warnings = summary(step, plan.ids(step.ids), plan.reader, plan.caps)
    return Part.of_rows(table, warnings, open=table.keys() - {KEY, *DECLARED[step.dataset]})
