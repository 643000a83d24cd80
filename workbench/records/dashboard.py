"""Dashboards, their plots and every revision of a plot."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from .record import Counted, InProject, Json, Link, Moment, Name, Searched, Strict, Text, Unique


class Tile(Strict):
    """Where a plot is on the dashboard's grid of 12 columns."""

    plot_id: str = Field(description="The plot.")
    x: int = Field(ge=0, le=11, description="First column, from 0.")
    y: int = Field(ge=0, le=100_000, description="First row, from 0.")
    w: int = Field(ge=1, le=12, description="Columns it covers.")
    h: int = Field(ge=1, le=1000, description="Rows it covers.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.x + self.w > 12:
            raise ValueError(f"x {self.x} and w {self.w} reach beyond the 12 columns.")
        return self


class Dashboard(InProject):
    """Saved plots and how they are laid out."""

    table = "dashboards"
    entity = "dashboard"
    label = "dashboard"
    unique = (Unique(("organization_id", "project_id", "name")),)

    description: Annotated[Text | None, Searched("words")] = Field(None, description="What it shows.")
    layout: list[Tile] = Field([], description="Places of its plots.")
    plot_count: Annotated[int, Counted("plots", "dashboard_id")] = Field(0, description="Plots on it.")
    alert_count: Annotated[int, Counted("open_alerts", "dashboard_id")] = Field(
        0, description="What its alerts found and nobody has acknowledged."
    )


class Plot(InProject):
    """A saved recipe under a name, as its newest revision has it."""

    table = "plots"
    entity = "plot"
    label = "plot"
    unique = (Unique(("dashboard_id", "name")),)
    by_store = InProject.by_store | {"project_id", "revision"}

    dashboard_id: Annotated[str, Link("dashboards", "cascade", parent=True)] = Field(description="Its dashboard.")
    config: Json = Field(description="The recipe: plan, transform and params.")
    revision: int = Field(1, ge=1, description="Number of the newest revision, from 1.")


class Revision(Strict):
    """One state of a plot that was saved; ``origin`` says how it came about, such as ``save`` or ``restore 2``."""

    plot_id: str = Field(description="The plot.")
    revision: int = Field(ge=1, description="Its number, from 1.")
    name: Name = Field(description="Name of the plot then.")
    config: Json = Field(description="The recipe then.")
    origin: Text = Field(description="How it came about.")
    created_at: Moment = Field(description="When it was saved, UTC.")
    created_by: str | None = Field(None, description="Who saved it.")
    created_by_email: str | None = Field(None, description="E-mail of who saved it.")
    note: Text | None = Field(None, description="What changed and why, in words of who saved it.")
