"""The columns of ``steps`` and ``cycles`` that are not stored, but computed whenever they are read."""

from __future__ import annotations

from .columns import COMPLETE, Described
from .cycles import CYCLE_COLUMNS
from .steps import STEP_COLUMNS, STEP_TYPE

COMPUTED: dict[str, Described] = {
    "steps": next(column for column in STEP_COLUMNS if column.name == STEP_TYPE),
    "cycles": next(column for column in CYCLE_COLUMNS if column.name == COMPLETE),
}
"""Summary -> its computed column. One that was given with the table is used as it is."""
