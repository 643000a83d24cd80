"""What a saved plot stores: a plan of named steps, a transform and params; and what authors send."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from .names import Identifier
from .params import Param
from .steps import AnyStep, Step
from .strict import WHOLE, NotNull, Strict

MOST_PROMPT = 10_000
"""Characters of a wish."""
MOST_SOURCES, MOST_SUMMARY_ROWS, MOST_SERIES_POINTS, MOST_LIST_ROWS = 500, 200_000, 200_000, 5000


class Caps(Strict):
    """Ceilings of each step, which a plan may lower and never raise."""

    max_sources: Annotated[int, Field(ge=1, le=MOST_SOURCES), WHOLE] = Field(
        MOST_SOURCES, description="Most sources that a series or summary step may read."
    )
    max_summary_rows: Annotated[int, Field(ge=1, le=MOST_SUMMARY_ROWS), WHOLE] = Field(
        MOST_SUMMARY_ROWS, description="Most rows of a summary or join step; more are an error."
    )
    max_series_points: Annotated[int, Field(ge=1, le=MOST_SERIES_POINTS), WHOLE] = Field(
        MOST_SERIES_POINTS, description="Most samples of a series step, shared equally by its sources."
    )
    max_list_rows: Annotated[int, Field(ge=1, le=MOST_LIST_ROWS), WHOLE] = Field(
        MOST_LIST_ROWS, description="Most rows of a list step; more are left out with a warning."
    )


class Plan(Strict):
    """Named steps, run in the order in which they stand."""

    steps: Annotated[dict[Identifier, AnyStep], Field(min_length=1, max_length=20)] = Field(
        description="Step name -> step; a step may refer to earlier ones."
    )
    caps: Annotated[Caps | None, NotNull()] = Field(
        None, description="Ceilings of the plan; without it the server's own."
    )


class PlotConfig(Strict):
    """A recipe: what a saved plot stores."""

    plan: Plan = Field(description="What is read and computed before the transform.")
    transform: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] = Field(
        description="Python that defines transform(data, params) and returns a plotly figure."
    )
    params: Annotated[dict[Identifier, Param], Field(max_length=30)] = Field(
        default_factory=dict, description="Param name -> param."
    )

    def dump(self) -> dict[str, Any]:
        """The recipe as JSON, holding what was given and nothing more."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def steps(self) -> dict[str, Step]:
        """Step name -> step, in order."""
        return dict(self.plan.steps)


class AuthoringDraft(Strict):
    """A recipe in the making, with the name the plot is to have."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(description="Name of the plot.")
    config: PlotConfig = Field(description="The recipe.")


class AuthoringRequest(Strict):
    """What a person asks of the authoring endpoint."""

    prompt: Annotated[str, StringConstraints(min_length=1, max_length=MOST_PROMPT)] = Field(
        description="What the plot is to show, in words."
    )
    plot_id: (
        Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")] | None
    ) = Field(None, description="The plot to change; null: a new one.", json_schema_extra={"format": "uuid"})
    draft: AuthoringDraft | None = Field(None, description="The recipe to go on from.")
    session_id: Annotated[str | None, NotNull()] = Field(None, description="The session to go on with.")
