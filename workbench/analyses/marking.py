"""Marks answers that show stored analyses which do not hold any more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..engine.answer import Answered
from ..engine.reader import Dependency
from ..engine.warnings import analysis_stale
from ..quick_import import later
from ..recipe.bind import bind
from ..recipe.plot import PlotConfig
from ..recipe.steps import ListStep
from ..store import Scope, Store
from ..table import Table

if TYPE_CHECKING:
    from . import freshness
else:  # few figures show stored analyses, and it takes all functions on frames
    freshness = later("workbench.analyses.freshness")


def marked(found: Answered, config: PlotConfig, store: Store, scope: Scope) -> Answered:
    """An answer with a warning at each list step that shows stored analyses which do not hold any more.

    It is not kept with the answer: a rating may change, and nothing that the plan reads. So the answer is current only
    as long as no record changes. What is shown of an earlier time is not looked at.
    """
    listing = [
        name
        for name, step in config.plan.steps.items()
        if isinstance(step, ListStep) and step.source == "analyses"
    ]
    if not listing or scope.as_of is not None:
        return found
    dependencies: dict[Dependency, int] = {
        ("rows", table): now for table, now in store.row_revisions(store.catalogs.tables).items()
    }
    steps = bind(config, found.values, checked=True).steps
    warnings = [*found.warnings]
    for name in listing:
        step, rows = steps[name], found.dataset.steps[name]
        where = step.where if isinstance(step, ListStep) else None
        said = None if where is None else where.get("analysisType")
        types = (said,) if isinstance(said, str) else None
        gone = store.kept_answer((scope, "stale analyses", types), partial(freshness.stale, store, scope, types))
        if gone and isinstance(rows, Table):
            shown = set(rows["id"].tolist()) if "id" in rows else gone.keys()
            if of := [analysis for id, analysis in gone.items() if id in shown]:
                warnings.append(replace(analysis_stale(of), step=name))
    return replace(found, warnings=warnings, dependencies={**dependencies, **found.dependencies})
