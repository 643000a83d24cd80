"""Capacity and efficiency: analyses of the ``steps`` and ``cycles`` of a test. They need no samples."""

from .calendar import calendar
from .capacity_by_step import capacity_by_step
from .cycle_count import cycle_count
from .efficiency import efficiency
from .equivalent_cycles import equivalent_cycles
from .formation import formation
from .peukert import peukert
from .rate_capability import rate_capability
from .retention import retention, soh
from .self_discharge import self_discharge

__all__ = [
    "calendar",
    "capacity_by_step",
    "cycle_count",
    "efficiency",
    "equivalent_cycles",
    "formation",
    "peukert",
    "rate_capability",
    "retention",
    "self_discharge",
    "soh",
]
