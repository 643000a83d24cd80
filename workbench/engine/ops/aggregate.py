"""``aggregate``: one row per group of equal keys, in the order in which the groups first appear."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from graphlib import CycleError, TopologicalSorter

from ...errors import Invalid, Problem
from ...recipe.steps import AggregateStep, Metric
from ...table import Column, Table
from ..columns import column_of
from ..grouping import groups_of
from ..plan import Part, Plan, run_step
from .metrics import EDGES, Arranged, Judged, check_metric, evaluate


def aggregate(step: AggregateStep, table: Table, open_columns: Collection[str] = ()) -> Table:
    """One row per group: the columns of ``group_by`` (each once), then the metrics, in their order.

    A null or NaN key is a group of its own. ``sort_by`` orders the rows within a group before the metrics:
    stable, ascending, false, true, numbers, texts by code point, nulls last. Columns are checked against those
    of ``table``, whatever its rows. Whether their types fit is judged by its rows; of a table without rows, by the
    kinds of its columns other than ``open_columns``.

    Raises
    ------
    Invalid
        A column that is missing, metrics of other things than numbers, a comparison of unlike types, or
        metrics that refer to each other in a circle; places are relative to the step.
    """
    keys = list(dict.fromkeys(step.group_by))
    problems: list[Problem] = []
    for key in keys:
        _gather(problems, partial(column_of, table, key, ("group_by", step.group_by.index(key))))
    if step.sort_by is not None:
        _gather(problems, partial(column_of, table, step.sort_by, ("sort_by",)))
    judged = Judged(table, open_columns)
    for name, metric in step.metrics.items():
        _gather(problems, partial(check_metric, name, metric, judged))
    if problems:
        raise Invalid(problems)
    sort_by = None if step.sort_by is None else table[step.sort_by]
    groups = groups_of([table[key] for key in keys], table.n, sort_by)
    rows = Arranged(judged, groups)
    made: dict[str, Column] = {}
    for name in metric_order(step.metrics):
        ratio = step.metrics[name].ratio
        if ratio is not None and ratio.ratio_of not in made:
            continue
        try:
            made[name] = evaluate(name, step.metrics, rows, made)
        except Invalid as error:
            problems += error.problems
    if problems:
        raise Invalid(problems)
    columns = {key: table[key].take(groups.first) for key in keys}
    return Table({**columns, **{name: made[name] for name in step.metrics}}, len(groups.starts))


def metric_order(metrics: dict[str, Metric]) -> list[str]:
    """Metric names so that each stands after the one that its threshold refers to."""
    needs = {name: [ratio.ratio_of] if (ratio := metric.ratio) else [] for name, metric in metrics.items()}
    for name, of in needs.items():
        if of and of[0] not in metrics:
            place = ("metrics", name, "where", "value", "ratio_of")
            raise Invalid(Problem(place, f"There is no metric '{of[0]}' in this step."))
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = " -> ".join(f"'{name}'" for name in error.args[1])
        raise Invalid(
            Problem(("metrics", error.args[1][0]), f"These metrics refer to each other: {circle}.")
        ) from None


def _gather(problems: list[Problem], check: Callable[[], object]) -> None:
    try:
        check()
    except Invalid as error:
        problems.extend(error.problems)


@run_step.register
def _run(step: AggregateStep, plan: Plan) -> Part:
    of_input = plan.parts[step.input].open
    made = aggregate(step, plan.table(step.input), of_input)
    kept = (name for name, metric in step.metrics.items() if metric.fn in EDGES and metric.column in of_input)
    return Part.of_rows(made, open=[*(key for key in step.group_by if key in of_input), *kept])
