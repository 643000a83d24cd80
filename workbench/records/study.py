"""Studies: measurements and simulations looked at together."""

from typing import Annotated

from pydantic import Field

from .record import Counted, InProject, Searched, Text


class Study(InProject):
    """A set of measurements and simulations; deleting it deletes none of them."""

    table = "studies"
    entity = "study"
    label = "study"

    description: Annotated[Text | None, Searched("words")] = Field(None, description="What it asks.")
    measurement_count: Annotated[int, Counted("study_measurements", "study_id")] = Field(
        0, serialization_alias="validation_count", description="Measurements assigned."
    )
    simulation_count: Annotated[int, Counted("study_simulations", "study_id")] = Field(
        0, description="Simulations assigned."
    )
