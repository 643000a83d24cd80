"""Builders of the steps of a plan and of the metrics of an aggregate step: ``from workbench import steps``.

>>> from workbench import steps
>>> cycles = steps.summary("cycles", ["id-1"], ["Cycle count", "Discharge capacity [A.h]"])
>>> life = steps.aggregate(
...     cycles,
...     ["measurement_id"],
...     {
...         "first": steps.first("Discharge capacity [A.h]"),
...         "end": steps.first_where(
...             "Cycle count", steps.column("Discharge capacity [A.h]") < 0.8 * steps.metric("first")
...         ),
...     },
... )
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import instead
from .recipe.build import FUNCTIONS, column, metric, metric_builder, step_builder
from .recipe.steps import STEPS

_BUILDERS: dict[str, Callable[..., Any]] = {
    **{op: step_builder(op) for op in STEPS},
    **{fn: metric_builder(fn) for fn in FUNCTIONS},
    "column": column,
    "metric": metric,
}
__all__ = sorted(_BUILDERS)


def __getattr__(name: str) -> Callable[..., Any]:
    """The builders, named as in a recipe's JSON: behind ``steps.`` they hide no built-in."""
    try:
        return _BUILDERS[name]
    except KeyError:
        raise AttributeError(
            f"There is no builder 'steps.{name}'. {instead(name, _BUILDERS, 'builders')}"
        ) from None


def __dir__() -> list[str]:
    return list(__all__)
