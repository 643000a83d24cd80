"""Analyses: tables that were computed from a measurement elsewhere and kept with it."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from ..table import Plain
from .record import Filter, Kept, Link, Name, OpenJson, Strict, Text, Through
from .values import json_value


class TableColumn(Strict):
    """A column of a kept table; plans use ``name`` as it is."""

    name: Name = Field(description="Name under which it is stored.")
    unit: Text = Field("", description="Its unit; empty for none.")
    dtype: Text | None = Field(None, description="Type of its values.")


class Analysis(Kept):
    """The result of an analysis of one measurement."""

    table = "analyses"
    listed_as = "analyses"
    listed_place = 2
    samples = ("series",)
    kind_field = "analysis_type"
    entity = "analysis"
    label = "analysis"
    filters: ClassVar[Mapping[str, Filter]] = {
        **Kept.filters,
        "specificationIds": Filter("specification_id", "in"),
        "instanceIds": Filter("instance_id", "in"),
        "measurementIds": Filter("measurement_id", "in"),
        "batch": Filter("batch_id", "batch"),
        "analysisType": Filter("analysis_type", "equal"),
    }

    measurement_id: Annotated[str, Link("measurements", "cascade", parent=True)] = Field(
        description="The measurement it was made from."
    )
    measurement_name: Annotated[str | None, Through("measurement_id", "name")] = Field(
        None, description="Name of the measurement."
    )
    instance_id: Annotated[str | None, Through("measurement_id", "instance_id")] = Field(
        None, serialization_alias="cell_instance_id", description="The measured cell."
    )
    instance_name: Annotated[str | None, Through("measurement_id", "instance_name")] = Field(
        None, serialization_alias="cell_instance_name", description="Name of the measured cell."
    )
    specification_id: Annotated[str | None, Through("measurement_id", "specification_id")] = Field(
        None, serialization_alias="cell_specification_id", description="The cell's specification."
    )
    specification_name: Annotated[str | None, Through("measurement_id", "specification_name")] = Field(
        None, serialization_alias="cell_specification_name", description="Name of the cell's specification."
    )
    batch_id: Annotated[str | None, Through("measurement_id", "batch_id")] = Field(
        None, description="The cell's batch."
    )
    batch_name: Annotated[str | None, Through("measurement_id", "batch_name")] = Field(
        None, description="Name of the cell's batch."
    )
    analysis_type: Name = Field(description="Such as dcir_from_hppc; any text.")
    metadata: OpenJson = Field({}, description="Settings and results beside the table.")
    columns: list[TableColumn] = Field([], description="Columns of its table.")
    plots: Annotated[list[Plain], AfterValidator(json_value)] = Field([], description="Plots made with it.")
