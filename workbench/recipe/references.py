"""What a step refers to: earlier steps, and params in its value positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from ..errors import Loc
from .filters import LISTS, Filters, RatioOf, Where, Window
from .names import StepRef, reference
from .plot import Plan
from .steps import AggregateStep, JoinStep, ListStep, Metric, SeriesStep, Step, SummaryStep

Position: TypeAlias = Literal["ids", "filter list", "filter", "window", "comparison", "factor", "join"]
"""What may stand in a value position: the rules of binding differ by it."""

Visit: TypeAlias = Callable[[Any, Position, Loc], Any]

S = TypeVar("S", bound=Step)


class Reference(NamedTuple):
    """A step named by another: the step, where its name stands, and the column taken (None: the rows)."""

    step: str
    at: Loc
    column: str | None


def refer(step: Step) -> Iterator[Reference]:
    """The references of a step, places relative to it."""
    if isinstance(step, ListStep):
        for key, value in step.where.items() if step.where is not None else ():
            if isinstance(value, StepRef):
                yield Reference(value.from_, ("where", key), value.column)
    elif isinstance(step, SeriesStep | SummaryStep):
        if isinstance(step.ids, StepRef):
            yield Reference(step.ids.from_, ("ids",), step.ids.column)
    elif isinstance(step, AggregateStep):
        yield Reference(step.input, ("input",), None)
    else:
        yield Reference(step.left, ("left",), None)
        yield Reference(step.right, ("right",), None)


def references(step: Step) -> list[str]:
    """The steps that a step reads, each once."""
    return list(dict.fromkeys(found.step for found in refer(step)))


def ancestors(plan: Plan, name: str) -> list[str]:
    """The steps that must run before ``name``, without it, in the order of the plan; unknown names are skipped."""
    needed: set[str] = set()
    waiting = [name]
    while waiting:
        step = plan.steps.get(waiting.pop())
        for found in references(step) if step is not None else ():
            if found in plan.steps and found not in needed:
                needed.add(found)
                waiting.append(found)
    return [step for step in plan.steps if step in needed and step != name]


def params_of(step: Step) -> set[str]:
    """The params in the value positions of a step."""
    found: set[str] = set()

    def visit(value: Any, position: Position, at: Loc) -> Any:
        for item in value if isinstance(value, list) else [value]:
            if (name := reference(item)) is not None:
                found.add(name)
        return value

    rebuild(step, visit)
    return found


def rebuild(step: S, visit: Visit) -> S:
    """The step with every value position replaced by ``visit(value, position, place)``; StepRefs stay.

    Conditions of Filters and of a join that become None are left out. The result is not validated again: it may
    hold what only a bound step holds.
    """
    if isinstance(step, ListStep):
        return step.model_copy(update={"where": _filters(step.where, visit)})
    if isinstance(step, SeriesStep):
        return step.model_copy(update={"ids": _ids(step.ids, visit), "window": _window(step.window, visit)})
    if isinstance(step, SummaryStep):
        return step.model_copy(update={"ids": _ids(step.ids, visit)})
    if isinstance(step, AggregateStep):
        metrics = {name: _metric(name, metric, visit) for name, metric in step.metrics.items()}
        return step.model_copy(update={"metrics": metrics})
    return step.model_copy(update={"where": _joined(step, visit)})


def _filters(where: Filters | None, visit: Visit) -> Filters | None:
    if where is None:
        return None
    made: dict[str, Any] = {}
    for key, value in where.items():
        position: Position = "filter list" if key in LISTS else "filter"
        bound = value if isinstance(value, StepRef) else visit(value, position, ("where", key))
        if bound is not None:
            made[key] = bound
    return Filters.of(made)


def _ids(ids: Any, visit: Visit) -> Any:
    return ids if isinstance(ids, StepRef) else visit(ids, "ids", ("ids",))


def _window(window: Window | None, visit: Visit) -> Window | None:
    if window is None:
        return None
    low = visit(window.min, "window", ("window", "min"))
    return window.model_copy(update={"min": low, "max": visit(window.max, "window", ("window", "max"))})


def _metric(name: str, metric: Metric, visit: Visit) -> Metric:
    where = metric.where
    if where is None:
        return metric
    at: Loc = ("metrics", name, "where", "value")
    return metric.model_copy(update={"where": where.model_copy(update={"value": _compared(where, visit, at)})})


def _compared(where: Where, visit: Visit, at: Loc) -> Any:
    if isinstance(where.value, RatioOf):
        factor = visit(where.value.factor, "factor", (*at, "factor"))
        return where.value.model_copy(update={"factor": factor})
    return visit(where.value, "comparison", at)


def _joined(step: JoinStep, visit: Visit) -> dict[str, Any] | None:
    if step.where is None:
        return None
    bound = {column: visit(value, "join", ("where", column)) for column, value in step.where.items()}
    return {column: value for column, value in bound.items() if value is not None}
