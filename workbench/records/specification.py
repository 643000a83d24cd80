"""Cell specifications: the design that cells share."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from ..errors import Problem
from .quantity import Ratings
from .record import Aside, Filter, Kept, Link, OpenJson, Text, Unique

ESTIMATED = "estimated from the data"
"""What ``source.ratings`` says where the ratings were estimated from a file; ``source.capacity`` is that estimate."""


def is_estimate(source: Mapping[str, Any], capacity: float | None, unit: str | None) -> bool:
    """Whether a rated capacity is still the one that was estimated from a file. Nobody has said it, so the types of
    steps do without it."""
    if source.get("ratings") != ESTIMATED:
        return False
    return "capacity" not in source or (unit == "A.h" and source["capacity"] == capacity)


Component = Annotated[str | None, Link("materials"), Aside()]


class Specification(Kept):
    """A cell design: ratings, form, components, properties and where they come from."""

    table = "specifications"
    listed_as = "cellSpecifications"
    listed_place = 6
    entity = "cell_specification"
    label = "cell specification"
    unique = (Unique(("organization_id", "project_id", "name")),)
    filters: ClassVar[Mapping[str, Filter]] = {**Kept.filters, "specificationIds": Filter("id", "in")}

    form_factor: Text | None = Field(None, description="Physical form, such as 21700 or pouch.")
    manufacturer: Text | None = Field(None, description="Who assembled the cell.")
    ratings: Ratings = Field(description="Electrical ratings.")
    anode_id: Component = Field(None, description="Material of the anode.")
    cathode_id: Component = Field(None, description="Material of the cathode.")
    electrolyte_id: Component = Field(None, description="Material of the electrolyte.")
    separator_id: Component = Field(None, description="Material of the separator.")
    case_id: Component = Field(None, description="Material of the case.")
    properties: OpenJson = Field({}, description="Other design properties; numbers as value and unit.")
    source: OpenJson = Field({}, description="Provenance: doi, citation ...")

    def problems_entered(self, present: Self | None) -> list[Problem]:
        """A capacity below 0. One of 0 is a capacity that nobody knows: the field cannot be left out."""
        capacity = self.ratings.capacity
        if capacity.value >= 0 or (present is not None and present.ratings.capacity == capacity):
            return []
        said = f"A rated capacity is above 0, or 0 where it is not known; it is {capacity.value:g}."
        return [Problem(("ratings", "capacity", "value"), said)]
