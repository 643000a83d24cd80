"""A recipe against a store: what would go wrong, found without reading a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import JsonValue

from ..dataset import Samples, Warn
from ..errors import Invalid, Problem
from ..recipe.bind import Bound, bind
from ..recipe.plot import PlotConfig
from ..recipe.references import references
from ..recipe.values import effective
from ..store.scope import Scope
from ..store.store import Store
from ..table import Table
from .choices import live_options, options_from, resolve
from .columns import empty
from .plan import Plan
from .reader import Reader
from .run import one_step


class _WithoutSamples(Reader):
    """Reads records, counts and summaries; a series is known by what the store notes of it."""

    def sample(
        self,
        owner: str,
        x: str,
        columns: Sequence[str],
        window: tuple[float | int | None, float | int | None] | None,
        most: int,
    ) -> Samples:
        names = dict.fromkeys([x, *columns])
        return Samples(np.zeros(0, np.int64), Table({name: empty("number") for name in names}, 0), True, 0)


def check_against_store(
    config: PlotConfig, values: Mapping[str, JsonValue] | None, store: Store, scope: Scope
) -> list[Problem]:
    """Every problem that a plan with these values, or the defaults, would meet in the store; empty if none.

    Fields and columns must exist, ids must be in reach and hold data, choices must come from columns that are
    there, and the counts of sources, rows and points must keep to the caps. A step that builds on a faulty one
    is not looked at.
    """
    try:
        settled = effective(config, values)
    except Invalid as error:
        return error.problems
    with store.snapshot():
        reader = _WithoutSamples(store, scope)
        problems: list[Problem] = []
        try:
            settled = resolve(config, values, lambda bound, step: _rows(bound, step, reader)).values
        except Invalid as error:
            problems += error.problems
        try:
            bound = bind(config, settled, checked=True)
        except Invalid as error:
            return _once([*problems, *error.problems])
        plan, found = _walk(bound, reader)
        return _once([*problems, *found, *_choice_columns(config, plan)])


def _rows(bound: Bound, step: str, reader: Reader) -> tuple[Table, list[Warn]]:
    plan, problems = _walk(bound, reader)
    if problems:
        raise Invalid(problems)
    return plan.table(step), []


def _walk(bound: Bound, reader: Reader) -> tuple[Plan, list[Problem]]:
    """Every step that can be looked at, and what is wrong with the others."""
    plan = Plan(bound, reader)
    problems: list[Problem] = []
    for name, step in bound.steps.items():
        if any(needed not in plan.parts for needed in references(step)):
            continue
        try:
            plan.parts[name] = one_step(bound, name, step, plan)
        except Invalid as error:
            problems += error.problems
    return plan, problems


def _choice_columns(config: PlotConfig, plan: Plan) -> list[Problem]:
    problems: list[Problem] = []
    for name, param in config.params.items():
        live = options_from(param)
        if live is None or live.step not in plan.parts:
            continue
        try:
            live_options(name, live, plan.table(live.step))
        except Invalid as error:
            problems += error.problems
    return problems


def _once(problems: list[Problem]) -> list[Problem]:
    return list({(problem.loc, problem.msg): problem for problem in problems}.values())
