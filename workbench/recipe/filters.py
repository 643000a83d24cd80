"""The conditions of a list step, and which source each applies to; comparisons and windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag
from pydantic.alias_generators import to_camel

from .names import ColumnName, Identifier, Ids
from .strict import TAG, NumberOrText, NumberTextOrNull, ScalarOrNull, Strict, is_number

ListSource: TypeAlias = Literal[
    "instances",
    "measurements",
    "analyses",
    "materials",
    "materialProperties",
    "simulations",
    "cellSpecifications",
]
ALL: tuple[ListSource, ...] = (
    "instances",
    "measurements",
    "analyses",
    "materials",
    "materialProperties",
    "simulations",
    "cellSpecifications",
)
APPLIES: dict[str, tuple[ListSource, ...]] = {
    "ids": ALL,
    "instanceIds": ("instances", "measurements", "analyses"),
    "measurementIds": ("measurements", "analyses"),
    "specificationIds": ("cellSpecifications", "instances", "measurements", "analyses", "simulations"),
    "name": ALL,
    "nameContains": ALL,
    "batch": ("instances", "measurements", "analyses"),
    "measurementType": ("measurements",),
    "analysisType": ("analyses",),
    "materialId": ("materials", "materialProperties"),
    "studyId": ("measurements", "simulations"),
}
"""Filters key -> the sources it applies to."""
LISTS = frozenset({"ids", "instanceIds", "measurementIds", "specificationIds"})
"""The keys whose position takes a list of values; all others take one value."""
CLOSED: dict[str, tuple[str, ...]] = {"measurementType": ("time_series", "file", "properties")}
"""The keys whose values come from a closed set."""


class Filters(Strict):
    """Conditions on the rows of a list step; all of them must hold. A null condition is absent.

    Reads as a mapping from JSON key to condition, holding only the keys that were given.
    """

    model_config = ConfigDict(alias_generator=to_camel)

    ids: Ids | None = Field(None, description="Only the records with these ids.")
    instance_ids: Ids | None = Field(None, description="Only what belongs to these cell instances.")
    measurement_ids: Ids | None = Field(None, description="Only what belongs to these measurements.")
    specification_ids: Ids | None = Field(None, description="Only what belongs to these cell specifications.")
    name: ScalarOrNull = Field(None, description="Only records of exactly this name.")
    name_contains: ScalarOrNull = Field(
        None, description="Only records whose name contains this text, case ignored."
    )
    batch: ScalarOrNull = Field(None, description="Only cells of this batch: its id, or its name, case ignored.")
    measurement_type: ScalarOrNull = Field(
        None, description="Only measurements of this type: time_series, file or properties."
    )
    analysis_type: ScalarOrNull = Field(None, description="Only analyses of this type.")
    material_id: ScalarOrNull = Field(None, description="Only the material with this id, or its property sets.")
    study_id: ScalarOrNull = Field(None, description="Only what is assigned to the study with this id.")

    def keys(self) -> list[str]:
        """JSON keys of the given conditions, in the order of declaration."""
        return [key for key, _ in self.items()]

    def items(self) -> list[tuple[str, Any]]:
        """(JSON key, condition) of the given conditions."""
        fields = type(self).model_fields.items()
        return [(str(f.alias), getattr(self, name)) for name, f in fields if name in self.model_fields_set]

    def get(self, key: str, default: Any = None) -> Any:
        return dict(self.items()).get(key, default)

    def __getitem__(self, key: str) -> Any:
        return dict(self.items())[key]

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    @classmethod
    def of(cls, conditions: dict[str, Any]) -> Filters:
        """Filters holding these conditions (JSON key -> bound condition), taken as they are."""
        names = {field.alias: name for name, field in cls.model_fields.items()}
        return cls.model_construct(_fields_set=None, **{names[key]: value for key, value in conditions.items()})


class Window(Strict):
    """The part of a series that is read: ``min <= x <= max``; a null bound is open."""

    min: NumberTextOrNull = Field(
        None, description="Smallest x, a number, or a date-time as text where x is one; null: open."
    )
    max: NumberTextOrNull = Field(
        None, description="Largest x, a number, or a date-time as text where x is one; null: open."
    )


class RatioOf(Strict):
    """A factor times another metric of the same group, for thresholds such as 80 % of the first capacity."""

    ratio_of: Identifier = Field(description="Name of another metric of the same step.")
    factor: NumberOrText = Field(description="A number, or a reference to a data param that is one.")


def _shape_of_value(value: object) -> str | None:
    if isinstance(value, str) or is_number(value):
        return TAG + "plain"
    return TAG + "ratio" if isinstance(value, dict | RatioOf) else None


WhereValue: TypeAlias = Annotated[
    Annotated[NumberOrText, Tag(TAG + "plain")] | Annotated[RatioOf, Tag(TAG + "ratio")],
    Discriminator(
        _shape_of_value,
        custom_error_type="wrong_type",
        custom_error_message="A number, a text or {'ratio_of': metric, 'factor': number} is needed here",
    ),
]


class Where(Strict):
    """A comparison of a row's value with a number, a text or a share of another metric."""

    column: ColumnName = Field(description="Column of the step's input that is compared.")
    op: Literal["lt", "lte", "gt", "gte", "eq", "neq"] = Field(description="The comparison.")
    value: WhereValue = Field(
        description="What the row's value is compared with: a number, a text or a share of another metric."
    )
