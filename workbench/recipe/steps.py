"""The five steps of a plan: what each reads or makes, and its limits. Their meaning is in ``engine/ops``."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from .filters import Filters, ListSource, Where, Window
from .names import ColumnName, Identifier, Ids, MetricName, Values
from .strict import TAG, WHOLE, NotNull, ScalarOrNull, Strict

SeriesSource: TypeAlias = Literal["measurements", "analyses", "materialProperties", "simulations"]
Function: TypeAlias = Literal["first", "last", "min", "max", "mean", "sum", "count", "first_where", "last_where"]
MOST_LIMIT = 1000
Fields: TypeAlias = Annotated[list[ColumnName], Field(max_length=30)]
Columns: TypeAlias = Annotated[list[ColumnName], Field(min_length=1, max_length=12)]


class ListStep(Strict):
    """Reads metadata rows from one source."""

    op: Literal["list"] = Field(description="Says that this is a list step.")
    source: ListSource = Field(description="What is listed.")
    where: Annotated[Filters | None, NotNull()] = Field(
        None, description="Conditions on the rows; without it all records in reach."
    )
    fields: Annotated[Fields | None, NotNull()] = Field(
        None, description="Columns to give, dotted for nested values; without it the source's own columns."
    )
    limit: Annotated[int, Field(ge=1, le=MOST_LIMIT), WHOLE] = Field(
        100, description="At most this many rows, the oldest first; more are left out with a warning."
    )


class SeriesStep(Strict):
    """Reads sampled series, such as time series and curves, of one or more sources."""

    op: Literal["series"] = Field(description="Says that this is a series step.")
    source: SeriesSource = Field(description="What kind of record the ids name.")
    ids: Ids = Field(description="Whose series: a list of ids, one id, a reference or a column of a step.")
    x: ColumnName = Field(description="Column on the x axis; it is among the returned columns.")
    columns: Columns = Field(description="Columns to read, aligned with x.")
    window: Annotated[Window | None, NotNull()] = Field(
        None, description="The part of x to read; without it all of it."
    )
    max_points: Annotated[int, Field(ge=1, le=10_000), WHOLE] = Field(
        2000, description="At most this many samples of each source; more are reduced to real samples."
    )


class SummaryStep(Strict):
    """Reads exact rows per step or per cycle of measurements."""

    op: Literal["summary"] = Field(description="Says that this is a summary step.")
    source: Literal["measurements"] = Field("measurements", description="What kind of record the ids name.")
    dataset: Literal["steps", "cycles"] = Field(description="One row per step or one per cycle.")
    ids: Ids = Field(description="Whose rows: a list of ids, one id, a reference or a column of a step.")
    columns: Columns = Field(description="Columns to read; measurement_id comes before them by itself.")


class Metric(Strict):
    """One value per group: a function of one column."""

    fn: Function = Field(description="How the rows of a group become one value.")
    column: ColumnName | None = Field(None, description="Column the function takes; only count can do without.")
    where: Where | None = Field(
        None, description="The comparison that first_where and last_where need and all others refuse."
    )


class AggregateStep(Strict):
    """Reduces a row-shaped step to one row per group."""

    op: Literal["aggregate"] = Field(description="Says that this is an aggregate step.")
    input: Identifier = Field(description="Name of an earlier row-shaped step.")
    group_by: Annotated[list[ColumnName], Field(min_length=1, max_length=4)] = Field(
        description="Columns whose equal values make a group, in the order in which groups first appear."
    )
    sort_by: ColumnName | None = Field(
        None, description="Column that orders the rows within a group before the metrics; else the input order."
    )
    metrics: Annotated[dict[MetricName, Metric], Field(min_length=1, max_length=20)] = Field(
        description="Output column -> how it is computed."
    )


class On(Strict):
    """The key columns of a join."""

    left: ColumnName = Field(description="Key column of the left step.")
    right: ColumnName = Field(description="Key column of the right step.")


def _shape_of_join_value(value: object) -> str:
    return TAG + ("list" if isinstance(value, list) else "plain")


JoinValue: TypeAlias = Annotated[
    Annotated[ScalarOrNull, Tag(TAG + "plain")] | Annotated[Values, Tag(TAG + "list")],
    Discriminator(_shape_of_join_value),
]


class JoinStep(Strict):
    """Attaches columns of one row-shaped step to another by equality of a key."""

    op: Literal["join"] = Field(description="Says that this is a join step.")
    left: Identifier = Field(description="Name of the earlier step whose rows are kept.")
    right: Identifier = Field(description="Name of the earlier step whose columns are attached.")
    on: On = Field(description="The key columns on both sides; a null key matches nothing.")
    fields: Annotated[Fields | None, NotNull()] = Field(
        None, description="Right columns to attach; without it all but the key."
    )
    where: dict[ColumnName, JoinValue] | None = Field(
        None, description="Column of the result -> value or list of values that a joined row must have."
    )
    how: Literal["inner", "left"] = Field(
        "inner", description="inner drops left rows without a match, left keeps them with nulls."
    )


Step: TypeAlias = ListStep | SeriesStep | SummaryStep | AggregateStep | JoinStep
ROW_SHAPED = (ListStep, SummaryStep, AggregateStep, JoinStep)
"""The steps whose result is rows, which others may refer to."""
