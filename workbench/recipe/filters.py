"""The conditions of a list step, and which source each applies to; comparisons and windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag
from pydantic.alias_generators import to_camel

from ..records import SOURCES
from .marks import Binds, OneOf, mark_of
from .names import ColumnName, Identifier, Ids
from .strict import TAG, NumberOrText, NumberTextOrNull, Raw, ScalarOrNull, Strict, is_number

Condition: TypeAlias = Annotated[ScalarOrNull, Binds("filter")]
AnyOf: TypeAlias = Annotated[Ids | None, Binds("filter list")]


class Filters(Strict):
    """Conditions on the rows of a list step; all of them must hold. A null condition is absent.

    Reads as a mapping from JSON key to condition, holding only the keys that were given.
    """

    model_config = ConfigDict(alias_generator=to_camel)

    ids: AnyOf = Field(None, description="Only the records with these ids.")
    instance_ids: AnyOf = Field(None, description="Only what belongs to these cell instances.")
    measurement_ids: AnyOf = Field(None, description="Only what belongs to these measurements.")
    specification_ids: AnyOf = Field(None, description="Only what belongs to these cell specifications.")
    name: Condition = Field(None, description="Only records of exactly this name.")
    name_contains: Condition = Field(None, description="Only records whose name contains this text, case ignored.")
    batch: Condition = Field(None, description="Only cells of this batch: its id, or its name, case ignored.")
    measurement_type: Condition = Field(
        None, description="Only measurements of this type: time_series, file or properties."
    )
    analysis_type: Condition = Field(None, description="Only analyses of this type.")
    material_id: Condition = Field(None, description="Only the material with this id, or its property sets.")
    study_id: Condition = Field(None, description="Only what is assigned to the study with this id.")

    def keys(self) -> list[str]:
        """JSON keys of the given conditions, in the order of declaration."""
        return [key for key, _ in self.items()]

    def items(self) -> list[tuple[str, JsonValue]]:
        """(JSON key, condition) of the given conditions."""
        fields = type(self).model_fields.items()
        return [(str(f.alias), getattr(self, name)) for name, f in fields if name in self.model_fields_set]

    def get(self, key: str, default: JsonValue = None) -> JsonValue:
        return dict(self.items()).get(key, default)

    def __getitem__(self, key: str) -> JsonValue:
        return dict(self.items())[key]

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    # A mapping iterates over keys; pydantic's models iterate over pairs.
    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def holding(self, conditions: Mapping[str, Any]) -> Filters:
        """Filters holding these conditions (field -> bound condition), taken as they are; one of None is absent."""
        given = {name: value for name, value in conditions.items() if value is not None}
        return Filters.model_construct(_fields_set=None, **given)


ALL: tuple[str, ...] = tuple(sorted(SOURCES, key=lambda source: SOURCES[source].listed_place))
"""The sources of a list step, as the records declare them."""
ListSource: TypeAlias = Annotated[str, OneOf(ALL)]


SAMPLED: tuple[str, ...] = tuple(source for source in ALL if "series" in SOURCES[source].samples)
"""The sources of a series step."""
SeriesSource: TypeAlias = Annotated[str, OneOf(SAMPLED)]


def _applies() -> dict[str, tuple[str, ...]]:
    """The keys in the order of ``Filters``, each with its sources.

    Raises
    ------
    TypeError
        If a source declares a filter that is not a field of ``Filters``.
    """
    keys = [str(field.alias) for field in Filters.model_fields.values()]
    for source, record in SOURCES.items():
        if unknown := [key for key in record.filters if key not in keys]:
            raise TypeError(f"The source '{source}' has a filter '{unknown[0]}', which is not a field of Filters.")
    return {key: tuple(source for source in ALL if key in SOURCES[source].filters) for key in keys}


def _closed() -> dict[str, tuple[str, ...]]:
    """Filters key -> the only values it takes, where the field of the record has a closed set."""
    found = {}
    for record in SOURCES.values():
        for key, wanted in record.filters.items():
            if choices := record.members()[wanted.field].choices:
                found[key] = choices
    return found


APPLIES = _applies()
"""Filters key -> the sources it applies to."""
CLOSED = _closed()
"""The keys whose values come from a closed set."""
LISTS = frozenset(
    str(field.alias) for field in Filters.model_fields.values() if mark_of(field, Binds) == Binds("filter list")
)
"""The keys whose position takes a list of values; all others take one value."""


WindowBound: TypeAlias = Annotated[NumberTextOrNull, Binds("window")]


class Window(Strict):
    """The part of a series that is read: ``min <= x <= max``; a null bound is open."""

    min: WindowBound = Field(
        None, description="Smallest x, a number, or a date-time as text where x is one; null: open."
    )
    max: WindowBound = Field(
        None, description="Largest x, a number, or a date-time as text where x is one; null: open."
    )


class RatioOf(Strict):
    """A factor times another metric of the same group, for thresholds such as 80 % of the first capacity."""

    ratio_of: Identifier = Field(description="Name of another metric of the same step.")
    factor: Annotated[NumberOrText, Binds("factor")] = Field(
        description="A number, or a reference to a data param that is one."
    )


def _shape_of_value(value: Raw) -> str | None:
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
    Binds("comparison"),
]


class Where(Strict):
    """A comparison of a row's value with a number, a text or a share of another metric."""

    column: ColumnName = Field(description="Column of the step's input that is compared.")
    op: Literal["lt", "lte", "gt", "gte", "eq", "neq"] = Field(description="The comparison.")
    value: WhereValue = Field(
        description="What the row's value is compared with: a number, a text or a share of another metric."
    )
