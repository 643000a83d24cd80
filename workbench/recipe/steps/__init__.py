"""The operations of a plan, one class each: shape, limits, references, columns. Their meaning is in ``engine/ops``.

A new operation is listed here, once; ``engine/ops/<op>.py`` says what it does.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from ..marks import Tagged
from .aggregate import AggregateStep, Function, Metric
from .join import JoinStep, On
from .list import MOST_LIMIT, ListStep
from .series import SeriesStep
from .step import Known, Reference, Step, Taken, Visit, earlier_fields
from .summary import SummaryStep

__all__ = [
    "MOST_LIMIT",
    "STEPS",
    "AggregateStep",
    "AnyStep",
    "Function",
    "JoinStep",
    "Known",
    "ListStep",
    "Metric",
    "On",
    "Reference",
    "SeriesStep",
    "Step",
    "SummaryStep",
    "Taken",
    "Visit",
    "earlier_fields",
]

_OPERATIONS = Tagged[Step]("op", (ListStep, SeriesStep, SummaryStep, AggregateStep, JoinStep))
AnyStep: TypeAlias = Annotated[Step, _OPERATIONS]
STEPS: dict[str, type[Step]] = _OPERATIONS.by_tag
"""Operation -> the step that does it."""
