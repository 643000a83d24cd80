"""Measurements: a test run on a cell, what it gave, and the files kept with it."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from .record import (
    Aside,
    Filter,
    Json,
    Kept,
    Link,
    Moment,
    Named,
    OpenJson,
    Sampled,
    Strict,
    Text,
    Through,
    Unique,
)

KIND = "kind:"
"""How the type of an analysis begins that says of which kind a test is."""
FileName = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^/\\?#%\x00-\x1f]+$")]


class StoredFile(Strict):
    """A file kept with a measurement. The store has its bytes under the hash ``piece``."""

    filename: FileName = Field(description="Name of the file.")
    piece: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of its bytes.")
    size: int = Field(ge=0, description="Bytes.")


class Measurement(Kept):
    """One test run on one cell: a time series, a set of properties or files."""

    table = "measurements"
    listed_as = "measurements"
    listed_place = 1
    samples = ("series", "steps", "cycles")
    kind_field = "measurement_type"
    status_field = "processing_status"
    entity = "cell_measurement"
    label = "measurement"
    unique = (
        Unique(("instance_id", "project_id", "name")),
        Unique(("organization_id", "project_id", "content_hash")),
    )
    sorts = (*Kept.sorts, "start_time")
    kept = frozenset({"processing_status", "processing_error", "content_hash", "files"})
    fixed = frozenset({"measurement_type"})
    withheld = frozenset({"files", "kinds"})
    filters: ClassVar[Mapping[str, Filter]] = {
        **Kept.filters,
        "specificationIds": Filter("specification_id", "in"),
        "instanceIds": Filter("instance_id", "in"),
        "measurementIds": Filter("id", "in"),
        "batch": Filter("batch_id", "batch"),
        "measurementType": Filter("measurement_type", "equal"),
        "studyId": Filter("id", "study"),
    }

    instance_id: Annotated[str, Link("instances", "cascade", parent=True)] = Field(
        serialization_alias="cell_instance_id", description="The cell it was made on."
    )
    instance_name: Annotated[str | None, Through("instance_id", "name")] = Field(
        None, serialization_alias="cell_instance_name", description="Name of the cell."
    )
    specification_id: Annotated[str | None, Through("instance_id", "specification_id")] = Field(
        None, serialization_alias="cell_specification_id", description="The cell's specification."
    )
    specification_name: Annotated[str | None, Through("instance_id", "specification_name")] = Field(
        None, serialization_alias="cell_specification_name", description="Name of the cell's specification."
    )
    batch_id: Annotated[str | None, Through("instance_id", "batch_id")] = Field(
        None, description="The cell's batch."
    )
    batch_name: Annotated[str | None, Through("instance_id", "batch_name")] = Field(
        None, description="Name of the cell's batch."
    )
    measurement_type: Literal["time_series", "file", "properties"] = Field(description="What it holds.")
    start_time: Moment | None = Field(None, description="First sample, UTC.")
    end_time: Moment | None = Field(None, description="Last sample, UTC; null while it is running.")
    processing_status: Literal["pending", "running", "ready", "failed"] = Field(
        "ready", description="Whether its data can be read yet."
    )
    tags: list[str] = Field([], description="Labels, in alphabetical order.")
    sample_count: Annotated[int | None, Sampled("series")] = Field(None, description="Samples of the time series.")
    step_count: Annotated[int | None, Sampled("steps")] = Field(None, description="Rows of the steps summary.")
    cycle_count: Annotated[int | None, Sampled("cycles")] = Field(None, description="Rows of the cycles summary.")
    kinds: Annotated[str, Named("analyses", "measurement_id", "analysis_type", KIND)] = Field(
        "", description="Kinds of test that it was recognised as, in alphabetical order: 'hppc', 'rpt' ..."
    )
    properties: OpenJson = Field({}, description="Values that were measured once.")
    protocol: OpenJson = Field({}, description="What was to be done.")
    test_setup: OpenJson = Field({}, description="Cycler, channel, chamber and the like.")
    processing_error: Annotated[Text | None, Aside()] = Field(None, description="Why its data are not ready.")
    file_name: Annotated[Text | None, Aside()] = Field(None, description="Name of the file it was read from.")
    content_hash: Annotated[Text | None, Aside()] = Field(
        None, description="Hash of the content it was read from; once in a project."
    )
    source: Json = Field({}, description="Provenance, and what was assumed.")
    files: list[StoredFile] = Field([], description="Files kept beside it.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.start_time is not None and self.end_time is not None and self.end_time < self.start_time:
            raise ValueError("'end_time' is before 'start_time'.")
        return self
