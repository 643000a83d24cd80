"""Marks answers that show stored analyses which do not hold any more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ..engine.answer import Answered
from ..engine.ops.list import list_rows
from ..engine.plan import Part, Plan
from ..engine.reader import Dependency, Reader
from ..engine.warnings import analysis_stale
from ..quick_import import later
from ..recipe.bind import Bound, bind
from ..recipe.names import StepRef
from ..recipe.plot import PlotConfig
from ..recipe.steps import ListStep, SeriesStep, Step
from ..store import Scope, Store
from ..store.cache.cache import Cache
from ..table import Table

if TYPE_CHECKING:
    from . import staleness
else:  # few figures show stored analyses, and it takes all functions on frames
    staleness = later("workbench.analyses.staleness")


def marked(
    found: Answered, config: PlotConfig, store: Store, scope: Scope, cache: Cache | None = None
) -> Answered:
    """An answer with a warning at each step that shows stored analyses which do not hold any more: at steps that list
    them, and at series steps that name them.

    It is not kept with the answer: a rating may change, and nothing that the plan reads. So the answer is current only
    as long as no record changes. What is shown of an earlier time is not looked at.
    """
    showing = [name for name, step in config.plan.steps.items() if _shows_analyses(step)]
    if not showing or scope.as_of is not None:
        return found
    dependencies: dict[Dependency, int] = {
        ("rows", table): now for table, now in store.row_revisions(store.catalogs.tables).items()
    }
    bound = bind(config, found.values, checked=True)
    warnings = [*found.warnings]
    for name in showing:
        step = bound.steps[name]
        where = step.where if isinstance(step, ListStep) else None
        said = None if where is None else where.get("analysisType")
        types = (said,) if isinstance(said, str) else None
        gone = store.kept_answer(
            (scope, "stale analyses", types), partial(staleness.stale, store, scope, types, cache)
        )
        if gone:
            shown = _shown(bound, name, found, store, scope)
            if of := [one for id, one in gone.items() if id in shown]:
                warnings.append(replace(analysis_stale(of), step=name))
    return replace(found, warnings=warnings, dependencies={**dependencies, **found.dependencies})


def _shows_analyses(step: Step) -> bool:
    if isinstance(step, SeriesStep):
        return step.source == "analyses" and not isinstance(step.ids, StepRef)
    return isinstance(step, ListStep) and step.source == "analyses"


def _shown(bound: Bound, name: str, found: Answered, store: Store, scope: Scope) -> set[JsonValue]:
    """The ids of the records that a step shows, also where its rows do not hold them."""
    step, rows = bound.steps[name], found.dataset.steps[name]
    plan = Plan(bound, Reader(store, scope))
    plan.parts = {one: Part(result, found.columns[one], []) for one, result in found.dataset.steps.items()}
    if isinstance(step, SeriesStep):
        return set(plan.ids(step.ids))
    if not isinstance(step, ListStep) or not isinstance(rows, Table):
        return set()
    if "id" not in rows:
        rows = list_rows(
            step.model_copy(update={"fields": ["id"]}), plan.where(step.where), plan.reader, plan.caps
        )[0]
    return set(rows["id"].tolist())
