"""``series``: its shape; its result is series by id, to which no step refers."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..filters import SeriesSource, Window
from ..names import ColumnName, Ids
from ..strict import WHOLE, NotNull
from .step import Columns, Step

MOST_POINTS = 10_000
"""Most samples of one source that a step reads. A selection of them is drawn, and never computed with."""


class SeriesStep(Step):
    """Reads sampled series, such as time series and curves, of one or more sources."""

    has_rows: ClassVar[bool] = False

    op: Literal["series"] = Field(description="Says that this is a series step.")
    source: SeriesSource = Field(description="What kind of record the ids name.")
    ids: Ids = Field(description="Whose series: a list of ids, one id, a reference or a column of a step.")
    x: ColumnName = Field(description="Column on the x axis; it is among the returned columns.")
    columns: Columns = Field(description="Columns to read, aligned with x.")
    window: Annotated[Window | None, NotNull()] = Field(
        None, description="The part of x to read; without it all of it."
    )
    max_points: Annotated[int, Field(ge=1, le=MOST_POINTS), WHOLE] = Field(
        2000, description="At most this many samples of each source; more are reduced to real samples."
    )

    @property
    def stored_in(self) -> str | None:
        return self.source
