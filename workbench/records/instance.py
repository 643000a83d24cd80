"""Cells and the batches they were made in."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from .record import Counted, Day, Filter, Json, Kept, Link, OpenJson, Through, Unique


class Batch(Kept):
    """Cells of one specification made together. Deleting it deletes no cell."""

    table = "batches"
    entity = "cell_batch"
    label = "batch"
    unique = (Unique(("specification_id", "project_id", "name"), folded=True),)

    specification_id: Annotated[str, Link("specifications", "cascade", parent=True)] = Field(
        serialization_alias="cell_specification_id", description="Its specification."
    )
    date_manufactured: Day | None = Field(None, description="Day of manufacture.")
    properties: Json = Field({}, description="Anything else that is known of the batch.")
    instance_count: Annotated[int, Counted("instances", "batch_id")] = Field(0, description="Cells in it.")


class Instance(Kept):
    """One physical cell."""

    table = "instances"
    listed_as = "instances"
    listed_place = 0
    entity = "cell_instance"
    label = "cell instance"
    unique = (Unique(("specification_id", "project_id", "name")),)
    filters: ClassVar[Mapping[str, Filter]] = {
        **Kept.filters,
        "specificationIds": Filter("specification_id", "in"),
        "instanceIds": Filter("id", "in"),
        "batch": Filter("batch_id", "batch"),
    }

    specification_id: Annotated[str, Link("specifications", "cascade", parent=True)] = Field(
        serialization_alias="cell_specification_id", description="Its specification."
    )
    specification_name: Annotated[str | None, Through("specification_id", "name")] = Field(
        None, serialization_alias="cell_specification_name", description="Name of its specification."
    )
    batch_id: Annotated[str | None, Link("batches")] = Field(None, description="Its batch, if any.")
    batch_name: Annotated[str | None, Through("batch_id", "name")] = Field(None, description="Name of its batch.")
    date_manufactured: Day | None = Field(None, description="Day of manufacture.")
    properties: OpenJson = Field({}, description="Anything else that is known of the cell.")
