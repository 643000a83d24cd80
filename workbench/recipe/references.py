"""What the steps of a plan refer to: earlier steps, and params in their value positions."""

from __future__ import annotations

from pydantic import JsonValue

from ..errors import Loc
from .marks import Position
from .names import reference
from .plot import Plan
from .steps import Step


def references(step: Step) -> list[str]:
    """The steps that a step reads, each once."""
    return list(dict.fromkeys(found.step for found in step.references()))


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

    def visit(value: JsonValue, position: Position, at: Loc) -> JsonValue:
        for item in value if isinstance(value, list) else [value]:
            if (name := reference(item)) is not None:
                found.add(name)
        return value

    step.rebuilt(visit)
    return found
