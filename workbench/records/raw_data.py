"""Raw data: files kept as they came, from which measurements are made."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from .measurement import FileName
from .record import Aside, Counted, Filter, InProject, Json, Text


class RawData(InProject):
    """A file as it came from a cycler or a person; measurements may say that they come from it."""

    table = "raw_data"
    label = "raw data file"
    kept = frozenset({"filename", "content_type", "size", "piece"})
    withheld = frozenset({"piece"})
    filters: ClassVar[Mapping[str, Filter]] = {}

    filename: FileName = Field(description="Name of the file.")
    content_type: Text = Field("application/octet-stream", description="Its media type.")
    size: Annotated[int, Aside()] = Field(ge=0, serialization_alias="size_bytes", description="Bytes.")
    piece: Annotated[str, Aside()] = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of its bytes.")
    source: Text | None = Field(None, description="Where it comes from.")
    metadata: Json = Field({}, description="Anything else that is known of it.")
    measurement_count: Annotated[int, Counted("measurement_raw_data", "raw_data_id")] = Field(
        0, description="Measurements that come from it."
    )
