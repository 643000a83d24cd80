"""How a plan runs: bound steps in, rows and series out, with what was read and how long each step took."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..dataset import StepColumns, StepResult, Warn
from ..errors import Invalid, Problem
from ..recipe.bind import Bound
from ..recipe.names import literal
from ..recipe.steps import Step
from ..store.scope import Scope
from ..store.store import Store
from . import ops  # noqa: F401 - registers what every operation does
from .mixed_rules import Mixing
from .plan import Part, Plan, run_step
from .reader import Cancel, Dependency, Progress, Reader


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
            more = [*mixing.warnings(reader.dependencies), *reader.then.take()]
            more = [replace(warning, step=name) for warning in more]
            plan.parts[name] = part._replace(warnings=[*part.warnings, *more])
            reader.reads["steps"] += 1
            ran.timings[name] = (time.perf_counter() - started) * 1e3
        ran.dependencies = {**(known.dependencies if known else {}), **reader.revisions()}
    return ran


def one_step(bound: Bound, name: str, step: Step, plan: Plan) -> Part:
    """Run one step on those before it; its problems and warnings say where they belong."""
    try:
        part = run_step(step, plan)
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
