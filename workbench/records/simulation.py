"""Models, and what was simulated with them."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from .record import Aside, Filter, InProject, Json, Kept, Link, Searched, Text, Through


class Model(InProject):
    """A model with its configuration. A model without an organization belongs to the system and everyone sees it."""

    table = "models"
    entity = "model"
    label = "model"
    kept = frozenset({"is_custom_model"})
    shared = True
    everywhere = True

    # A record of the system has no owner, and any other has one: the base class declares the narrower type.
    organization_id: Annotated[str | None, Link("organizations"), Aside()] = Field(  # type: ignore[assignment]
        None, description="Owning organization; null for the system's own."
    )
    created_by: Annotated[str | None, Link("users"), Aside()] = Field(
        None, serialization_alias="user_id", description="Creating user."
    )
    description: Annotated[Text | None, Searched("words")] = Field(None, description="What it is for.")
    config: Json = Field(description="Model configuration.")
    chemistry: Literal["lithium_ion", "lithium_sulfur", "ecm", "generic"] = Field(
        "lithium_ion", description="Kind of cell; generic means nothing chemistry-specific is added."
    )
    is_custom_model: bool = Field(False, description="Whether the model brought its own model data.")
    simulator_version: Text | None = Field(None, description="Version of the simulation library.")
    simulation_settings: Json | None = Field(None, description="Simulation settings; null for the defaults.")
    source_model_id: Annotated[str | None, Link("models")] = Field(None, description="Model it was made from.")


class Simulation(Kept):
    """One simulated run; its series are kept like a measurement's."""

    table = "simulations"
    listed_as = "simulations"
    listed_place = 5
    samples = ("series",)
    status_field = "state"
    entity = "simulation"
    label = "simulation"
    filters: ClassVar[Mapping[str, Filter]] = {
        **Kept.filters,
        "specificationIds": Filter("specification_id", "in"),
        "studyId": Filter("id", "study"),
    }

    model_id: Annotated[str | None, Link("models")] = Field(None, description="The model.")
    model_name: Annotated[str | None, Through("model_id", "name")] = Field(None, description="Name of the model.")
    specification_id: Annotated[str | None, Link("specifications")] = Field(
        None, serialization_alias="cell_specification_id", description="The simulated design."
    )
    specification_name: Annotated[str | None, Through("specification_id", "name")] = Field(
        None, serialization_alias="cell_specification_name", description="Name of the simulated design."
    )
    state: Literal["queued", "running", "completed", "failed"] = Field(
        "completed", description="Whether its results can be read yet."
    )
    error: Annotated[Text | None, Aside()] = Field(None, description="Why it failed.")
    metrics: Json = Field({}, description="Results that are one number each.")
    source: Json = Field({}, description="Provenance.")
