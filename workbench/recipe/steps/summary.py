"""``summary``: its shape and its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from ..names import Ids
from .step import Columns, Known, Step

KEY = "measurement_id"
"""The column that stands before those asked for."""


class SummaryStep(Step):
    """Reads exact rows per step or per cycle of measurements."""

    row_key: ClassVar[str | None] = KEY

    op: Literal["summary"] = Field(description="Says that this is a summary step.")
    source: Literal["measurements"] = Field("measurements", description="What kind of record the ids name.")
    dataset: Literal["steps", "cycles"] = Field(description="One row per step or one per cycle.")
    ids: Ids = Field(description="Whose rows: a list of ids, one id, a reference or a column of a step.")
    columns: Columns = Field(description="Columns to read; measurement_id comes before them by itself.")

    def known_columns(self, earlier: Mapping[str, Known]) -> Known | None:
        return Known.of(KEY, *self.columns, named_in="columns")
