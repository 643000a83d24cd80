"""Materials and the curves measured on them."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from .record import Filter, Json, Kept, Link, Name, Strict, Text, Through


class Material(Kept):
    """A material of an electrode, electrolyte, separator or case."""

    table = "materials"
    listed_as = "materials"
    listed_place = 3
    entity = "material"
    label = "material"
    everywhere = True
    sorts = (*Kept.sorts, "manufacturer")
    filters: ClassVar[Mapping[str, Filter]] = {**Kept.filters, "materialId": Filter("id", "equal")}

    manufacturer: Text | None = Field(None, description="Who makes it.")
    product_id: Text | None = Field(None, description="The maker's name for it.")
    source: Json = Field({}, description="Provenance.")


class PropertyColumn(Strict):
    """A column of a property set; plans use ``name`` as it is."""

    name: Name = Field(description="Name under which it is stored.")
    unit: Text = Field("", description="Its unit; empty for none.")
    source_column_index: int = Field(ge=0, description="Its place in the file it came from, from 0.")


class MaterialProperty(Kept):
    """A table of properties of a material, such as an open-circuit curve."""

    table = "material_properties"
    listed_as = "materialProperties"
    listed_place = 4
    samples = ("series",)
    label = "material property set"
    kept = frozenset({"data_version"})
    filters: ClassVar[Mapping[str, Filter]] = {**Kept.filters, "materialId": Filter("material_id", "equal")}

    material_id: Annotated[str, Link("materials", "cascade", parent=True)] = Field(
        description="The material it describes."
    )
    material_name: Annotated[str | None, Through("material_id", "name")] = Field(
        None, description="Name of the material."
    )
    data_version: int = Field(1, ge=1, description="One higher with each new table.")
    columns: list[PropertyColumn] = Field([], description="Columns of its table.")
    source: Json = Field({}, description="Provenance.")
