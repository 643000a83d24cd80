"""``aggregate``: its shape, the columns it takes, and what metrics may say of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ...errors import Loc, Problem, instead
from ..circles import circle
from ..filters import RatioOf, Where
from ..names import ColumnName, MetricName
from ..strict import Strict
from .step import EarlierStep, Known, Step, Taken

Function: TypeAlias = Literal["first", "last", "min", "max", "mean", "sum", "count", "first_where", "last_where"]


class Metric(Strict):
    """One value per group: a function of one column."""

    fn: Function = Field(description="How the rows of a group become one value.")
    column: ColumnName | None = Field(None, description="Column the function takes; only count can do without.")
    where: Where | None = Field(
        None, description="The comparison that first_where and last_where need and all others refuse."
    )

    @property
    def ratio(self) -> RatioOf | None:
        """The share of another metric that rows are compared with, if they are."""
        value = self.where.value if self.where is not None else None
        return value if isinstance(value, RatioOf) else None

    def problems(self) -> Iterator[Problem]:
        """What the function lacks or refuses; places relative to the metric."""
        searching = self.fn in ("first_where", "last_where")
        if self.column is None and self.fn != "count":
            yield Problem(("column",), f"'{self.fn}' needs a column; only count can do without.", "missing")
        if searching and self.where is None:
            yield Problem(("where",), f"'{self.fn}' needs a 'where' that says which row it looks for.", "missing")
        if not searching and self.where is not None:
            other = (
                f"use {self.fn}_where" if self.fn in ("first", "last") else "filter the rows in an earlier step"
            )
            yield Problem(("where",), f"'{self.fn}' takes no 'where'; remove it or {other}.", "where_not_allowed")


class AggregateStep(Step):
    """Reduces a row-shaped step to one row per group."""

    op: Literal["aggregate"] = Field(description="Says that this is an aggregate step.")
    input: EarlierStep = Field(description="Name of an earlier row-shaped step.")
    group_by: Annotated[list[ColumnName], Field(min_length=1, max_length=4)] = Field(
        description="Columns whose equal values make a group, in the order in which groups first appear."
    )
    sort_by: ColumnName | None = Field(
        None, description="Column that orders the rows within a group before the metrics; else the input order."
    )
    metrics: Annotated[dict[MetricName, Metric], Field(min_length=1, max_length=20)] = Field(
        description="Output column -> how it is computed."
    )

    def known_columns(self, earlier: Mapping[str, Known]) -> Known | None:
        return Known.of(*self.group_by, *self.metrics)

    def taken(self) -> Iterator[Taken]:
        for place, column in enumerate(self.group_by):
            yield Taken(self.input, column, ("group_by", place))
        if self.sort_by is not None:
            yield Taken(self.input, self.sort_by, ("sort_by",))
        for name, metric in self.metrics.items():
            if metric.column is not None:
                yield Taken(self.input, metric.column, ("metrics", name, "column"))
            if metric.where is not None:
                yield Taken(self.input, metric.where.column, ("metrics", name, "where", "column"))

    def problems(self, earlier: Mapping[str, Known]) -> Iterator[Problem]:
        for name, metric in self.metrics.items():
            at: Loc = ("metrics", name)
            if name in self.group_by:
                message = f"Metric '{name}' has the name of a group column; give it another name."
                yield Problem(at, message, "name_taken")
            for problem in metric.problems():
                yield problem.below(at)
            for problem in self._ratio(name, metric):
                yield problem.below((*at, "where", "value", "ratio_of"))

    def _ratio(self, name: str, metric: Metric) -> Iterator[Problem]:
        """What is wrong with the metric whose share this one is compared with."""
        if metric.ratio is None:
            return
        wanted = metric.ratio.ratio_of
        if wanted not in self.metrics:
            message = f"There is no metric '{wanted}' in this step. {instead(wanted, self.metrics, 'metrics')}"
            yield Problem((), message, "unknown_metric")
            return

        def refers(other: str) -> list[str]:
            ratio = self.metrics[other].ratio
            return [ratio.ratio_of] if ratio is not None and ratio.ratio_of in self.metrics else []

        path = circle(name, refers)
        if path:
            message = f"Metric '{name}' depends on itself: {' -> '.join(path)}. Break the circle."
            yield Problem((), message, "circle")
