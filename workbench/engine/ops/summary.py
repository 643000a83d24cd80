"""``summary``: exact rows per step or per cycle of measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import JsonValue

from ...cycling.cycles import CYCLE_COLUMNS
from ...cycling.life import LIFE_COLUMNS
from ...cycling.steps import STEP_COLUMNS, STEP_TYPE, STEP_TYPE_NEEDS, step_types
from ...dataset import Warn
from ...errors import Invalid, Problem
from ...recipe.plot import Caps
from ...recipe.steps import SummaryStep
from ...recipe.steps.summary import KEY
from ...table import Column, Kind, Table, concat_columns
from ..columns import empty, merged, there_are
from ..limits import check_sources, check_summary_rows
from ..plan import Part, Plan, run_step
from ..ratings import in_ampere_hours
from ..reader import Reader, Source, source_ids
from .series import missing_warning

DECLARED: dict[str, dict[str, Kind]] = {
    "steps": {column.name: column.kind for column in (*STEP_COLUMNS, *LIFE_COLUMNS)},
    "cycles": {column.name: column.kind for column in (*CYCLE_COLUMNS, *LIFE_COLUMNS)},
}
_MOST_IDS = 5000


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
    counts = [source.info.rows for source in sources]
    check_summary_rows(sum(counts), caps)
    typed = STEP_TYPE in names and step.dataset == "steps"
    asked = list(dict.fromkeys([*names, *(STEP_TYPE_NEEDS if typed else ())]))
    tables = reader.summaries([source.id for source in sources], asked, step.dataset) if sources else {}
    if typed:
        made, unknown = _with_step_types(sources, tables, reader)
        tables, warnings = made, [*warnings, *unknown]
    codes = np.repeat(np.arange(len(sources), dtype=np.int32), counts)
    columns = {KEY: Column("text", codes, None, tuple(source.id for source in sources))}
    for name in names:
        columns[name] = _together(name, kinds[name], [tables[source.id] for source in sources])
    return Table(columns, sum(counts)), warnings


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
    held = [{column.name: column.kind for column in source.info.columns} for source in sources]
    for name in names:
        found = [columns[name] for columns in held if name in columns]
        made[name] = merged(found) if sources else in_reach.get(name, "null")
        if made[name] == "null":
            made[name] = declared.get(name, "null")
        lacking = [source for source, columns in zip(sources, held, strict=True) if name not in columns]
        if not lacking or (name == STEP_TYPE and step.dataset == "steps"):
            continue
        if len(lacking) == len(sources):
            there = dict.fromkeys([*(column for columns in held for column in columns), *_computed(step)])
            message = f"No source has a column '{name}' in its {step.dataset}. {there_are(name, there)}"
            problems.append(Problem(("columns", step.columns.index(name)), message))
        warnings.append(missing_warning(name, lacking, len(sources)))
    if problems:
        raise Invalid(problems)
    return made, warnings


def _computed(step: SummaryStep) -> list[str]:
    return [STEP_TYPE] if step.dataset == "steps" else []


def _together(name: str, kind: Kind, tables: Sequence[Table]) -> Column:
    if not tables:
        return empty(kind)
    made = concat_columns([table[name] if name in table else Column.nulls(table.n) for table in tables])
    return (
        made
        if made.kind != "null" or kind == "null"
        else Column(kind, np.zeros(len(made), empty(kind).values.dtype), made.valid)
    )


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


def rated_capacities(ids: Sequence[str], reader: Reader) -> tuple[dict[str, float | None], list[Warn]]:
    """Measurement id -> rated capacity of its specification, A.h; None, with a warning, in an unknown unit."""
    if not ids:
        return {}, []
    links = reader.rows("measurements", {"ids": [*ids]}, ["id", "specification_id"], len(ids)).table.records()
    specifications = list(dict.fromkeys(link["specification_id"] for link in links if link["specification_id"]))
    capacities: dict[str | None, float | None] = {}
    warnings: list[Warn] = []
    fields = ["id", "name", "ratings.capacity.value", "ratings.capacity.unit"]
    for row in reader.rows("cellSpecifications", {"ids": specifications}, fields, _MOST_IDS).table.records():
        value, unit = row["ratings.capacity.value"], row["ratings.capacity.unit"]
        capacities[row["id"]] = None if value is None or unit is None else in_ampere_hours(float(value), str(unit))
        if value is not None and capacities[row["id"]] is None:
            message = (
                f"The rated capacity of '{row['name']}' is in '{unit}', which is not a known unit of charge, "
                "so step types do without it. Give it in A.h."
            )
            warnings.append(Warn("unit_unknown", message))
    return {link["id"]: capacities.get(link["specification_id"]) for link in links}, warnings


@run_step.register
def _run(step: SummaryStep, plan: Plan) -> Part:
    return Part.of_rows(*summary(step, plan.ids(step.ids), plan.reader, plan.caps))
