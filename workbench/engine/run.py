"""How a plan runs: bound steps in, rows and series out, with what was read and how long each step took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..dataset import StepColumns, StepResult, Warn
from ..errors import Invalid, Problem
from ..recipe.bind import Bound
from ..recipe.filters import Filters
from ..recipe.names import StepRef, literal
from ..recipe.plot import Caps
from ..recipe.steps import AggregateStep, JoinStep, ListStep, SeriesStep, Step, SummaryStep
from ..store.scope import Scope
from ..store.store import Store
from ..table import Table
from .columns import column_of, kinds_of
from .equality import distinct
from .mixing import Mixing
from .ops.aggregate import aggregate
from .ops.join import join
from .ops.list import list_rows
from .ops.series import series
from .ops.summary import summary
from .reader import Cancel, Dependency, Progress, Reader


class Part(NamedTuple):
    """What one step gave: its result, the kinds of its columns, its warnings."""

    result: StepResult
    columns: StepColumns
    warnings: list[Warn]


class Known(NamedTuple):
    """Steps whose result is known already, and the revisions of what it was read from."""

    parts: dict[str, Part]
    dependencies: dict[Dependency, int]


@dataclass
class Ran:
    """What a plan gave. ``dependencies`` are the revisions of all that was read; ``timings`` are ms by step."""

    parts: dict[str, Part] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=lambda: {"steps": 0, "sources": 0})
    timings: dict[str, float] = field(default_factory=dict)
    dependencies: dict[Dependency, int] = field(default_factory=dict)

    @property
    def steps(self) -> dict[str, StepResult]:
        return {name: part.result for name, part in self.parts.items()}

    @property
    def columns(self) -> dict[str, StepColumns]:
        return {name: part.columns for name, part in self.parts.items()}

    @property
    def warnings(self) -> list[Warn]:
        return [warning for part in self.parts.values() for warning in part.warnings]


class Plan:
    """The steps that have run so far, for the one that runs now."""

    def __init__(self, bound: Bound, reader: Reader) -> None:
        self.reader = reader
        self.caps: Caps = bound.caps
        self.parts: dict[str, Part] = {}

    def table(self, name: str) -> Table:
        """The rows of an earlier step. The check of the recipe has seen that they are rows."""
        result = self.parts[name].result
        if not isinstance(result, Table):
            raise Invalid(Problem((), f"Step '{name}' is a series step, which has no rows."))
        return result

    def values(self, ref: StepRef, place: tuple[str, ...]) -> list[Any]:
        """The distinct non-null values of a column of an earlier step, in row order."""
        return distinct(column_of(self.table(ref.from_), ref.column, (*place, "column")))

    def ids(self, ids: Any) -> list[Any]:
        return self.values(ids, ("ids",)) if isinstance(ids, StepRef) else list(ids)

    def where(self, where: Filters | None) -> dict[str, Any]:
        return {
            key: self.values(value, ("where", key)) if isinstance(value, StepRef) else value
            for key, value in (where.items() if where is not None else ())
        }


def _run_list(step: ListStep, plan: Plan) -> Part:
    table, warnings = list_rows(step, plan.where(step.where), plan.reader, plan.caps)
    return Part(table, kinds_of(table), warnings)


def _run_series(step: SeriesStep, plan: Plan) -> Part:
    return Part(*series(step, plan.ids(step.ids), plan.reader, plan.caps))


def _run_summary(step: SummaryStep, plan: Plan) -> Part:
    table, warnings = summary(step, plan.ids(step.ids), plan.reader, plan.caps)
    return Part(table, kinds_of(table), warnings)


def _run_aggregate(step: AggregateStep, plan: Plan) -> Part:
    table = aggregate(step, plan.table(step.input))
    return Part(table, kinds_of(table), [])


def _run_join(step: JoinStep, plan: Plan) -> Part:
    table = join(step, plan.table(step.left), plan.table(step.right), plan.caps.max_summary_rows)
    return Part(table, kinds_of(table), [])


RUN: dict[type[Step], Callable[[Any, Plan], Part]] = {
    ListStep: _run_list,
    SeriesStep: _run_series,
    SummaryStep: _run_summary,
    AggregateStep: _run_aggregate,
    JoinStep: _run_join,
}
"""The meaning of every step, by its shape."""


def run(
    bound: Bound,
    store: Store,
    scope: Scope,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    known: Known | None = None,
) -> Ran:
    """Run the steps of a bound plan in their order, all on one unchanging view of the store.

    Parameters
    ----------
    bound : what ``recipe.bind`` gave, or some of its steps with their ancestors (``Bound.only``).
    scope : whose records the plan may see.
    progress : called as ``progress(step, index, of, detail)`` before each step and each source.
    cancel : looked at in the same places.
    known : results of steps that were bound just so on this view of the store; they do not run again.

    Raises
    ------
    Invalid
        What is wrong with a step, at its place in the request.
    Cancelled
        If ``cancel`` is set.
    """
    reader = Reader(store, scope, progress=progress, cancel=cancel)
    plan = Plan(bound, reader)
    ran = Ran(parts=plan.parts, reads=reader.reads)
    with store.snapshot():
        mixing = Mixing(store, known.dependencies if known else ())
        for index, (name, step) in enumerate(bound.steps.items()):
            started = time.perf_counter()
            reader.begin(name, index, len(bound.steps))
            if known and name in known.parts:
                plan.parts[name] = known.parts[name]
                continue
            part = one_step(bound, name, step, plan)
            mixed = [replace(warning, step=name) for warning in mixing.warnings(reader.dependencies)]
            plan.parts[name] = part._replace(warnings=[*part.warnings, *mixed])
            reader.reads["steps"] += 1
            ran.timings[name] = (time.perf_counter() - started) * 1e3
        ran.dependencies = {**(known.dependencies if known else {}), **reader.revisions()}
    return ran


def one_step(bound: Bound, name: str, step: Step, plan: Plan) -> Part:
    """Run one step on those before it; its problems and warnings say where they belong."""
    try:
        part = RUN[type(step)](step, plan)
    except Invalid as error:
        raise Invalid([placed(bound, name, problem) for problem in error.problems]) from None
    return part._replace(warnings=[replace(warning, step=name) for warning in part.warnings])


def placed(bound: Bound, name: str, problem: Problem) -> Problem:
    """A problem of a step at its place in the request; an id at its own place where the request names it."""
    loc = ("config", "plan", "steps", name, *problem.loc)
    ids = getattr(bound.config.plan.steps[name], "ids", None)
    if problem.loc == ("ids",) and isinstance(ids, list) and "id" in problem.ctx:
        written = [literal(value) if isinstance(value, str) else value for value in ids]
        if problem.ctx["id"] in written:
            loc = (*loc, written.index(problem.ctx["id"]))
    return replace(problem, loc=loc)
