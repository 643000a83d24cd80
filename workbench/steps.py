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

from .recipe.build import column, metric, metric_builder, step_builder

__all__ = [
    "aggregate",
    "column",
    "count",
    "first",
    "first_where",
    "join",
    "last",
    "last_where",
    "list",
    "max",
    "mean",
    "metric",
    "min",
    "series",
    "sum",
    "summary",
]

# Named as in a recipe's JSON; used behind "steps." they hide no built-in.
list = step_builder("list")
series = step_builder("series")
summary = step_builder("summary")
aggregate = step_builder("aggregate")
join = step_builder("join")

first = metric_builder("first")
last = metric_builder("last")
min = metric_builder("min")
max = metric_builder("max")
mean = metric_builder("mean")
sum = metric_builder("sum")
count = metric_builder("count")
first_where = metric_builder("first_where")
last_where = metric_builder("last_where")
