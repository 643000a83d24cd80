"""Params of a recipe and the controls that choose their values."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator, Field, JsonValue, StringConstraints, Tag

from .names import ColumnName, Identifier
from .strict import TAG, NotNull, Number, NumberOrText, Raw, ScalarNotNull, Strict, is_number

Label: TypeAlias = Annotated[str, StringConstraints(max_length=200)]


Choice: TypeAlias = dict[str, JsonValue]
"""A choice as it is offered: its ``value``, and as ``label`` what is shown for it (null: the value)."""


class ControlOption(Strict):
    """One choice: ``value`` reaches the recipe, ``label`` is shown."""

    value: ScalarNotNull = Field(description="The value that the param takes.")
    label: Label | None = Field(None, description="What is shown for it; without it the value.")


class OptionsFrom(Strict):
    """Choices from a column of a row-shaped step, looked up at every figure."""

    step: Identifier = Field(description="Name of a row-shaped step of the plan.")
    value: ColumnName = Field(description="Column whose distinct non-null values are the choices.")
    label: ColumnName | None = Field(None, description="Column that is shown for each choice.")


def _shape_of_option(value: Raw) -> str | None:
    if isinstance(value, str) or is_number(value):
        return TAG + "plain"
    return TAG + "option" if isinstance(value, dict | ControlOption) else None


Option: TypeAlias = Annotated[
    Annotated[NumberOrText, Tag(TAG + "plain")] | Annotated[ControlOption, Tag(TAG + "option")],
    Discriminator(
        _shape_of_option,
        custom_error_type="wrong_type",
        custom_error_message="A text, a number or {'value': value, 'label': text} is needed here",
    ),
]


class Control(Strict):
    """How a param is chosen: its label, its choices or its range."""

    label: Label | None = Field(None, description="Shown beside the control; without it the param's name.")
    description: Annotated[str, StringConstraints(max_length=500)] | None = Field(
        None, description="One or two sentences of help."
    )
    options: Annotated[list[Option], Field(max_length=500)] | None = Field(
        None, description="Fixed choices; not together with optionsFrom."
    )
    options_from: OptionsFrom | None = Field(
        None, alias="optionsFrom", description="Choices from a step of the plan; not together with options."
    )
    min: Number | None = Field(None, description="Smallest allowed value.")
    max: Number | None = Field(None, description="Largest allowed value.")
    step: Number | None = Field(None, description="Step of a slider; for the widget only.")


class Param(Strict):
    """An input of a recipe. A default that is a list makes it a multiple choice."""

    kind: Literal["data", "view"] = Field(
        description="data binds into the plan; view reaches only the transform and re-reads nothing."
    )
    default: JsonValue = Field(description="The value without a choice; null: nothing chosen.")
    control: Annotated[Control | None, NotNull()] = Field(
        None, description="How the value is chosen; without it nothing is shown."
    )

    @property
    def multiple(self) -> bool:
        """True where the value is a list of choices."""
        return isinstance(self.default, list)

    def option_pairs(self) -> list[tuple[JsonValue, str | None]]:
        """(value, label) of the fixed options as they were written; empty where there are none."""
        options = (self.control.options if self.control else None) or []
        return [(o.value, o.label) if isinstance(o, ControlOption) else (o, None) for o in options]
