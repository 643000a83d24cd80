"""Strict JSON shapes: what every model of a recipe is made of.

Texts and booleans are never numbers, ``5.0`` is an integer where one is wanted, ``null`` stands only where the
interface allows it, and an unknown property is refused in every object.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetCoreSchemaHandler, PlainValidator, WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError

Scalar: TypeAlias = str | int | float | bool | None
"""A JSON value that is neither an array nor an object."""

Raw: TypeAlias = object
"""What a caller hands over, before it was checked."""
Form: TypeAlias = object
"""A type as it is written, such as ``list[int] | None``: Python has no name for that yet."""
TAG = "\x1f"
"""The beginning of the tag of every union that a function distinguishes, so that no tag is taken for a key of the
request."""


class Strict(BaseModel):
    """Base of every object in a recipe: frozen, no unknown property, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NotNull:
    """Marks an optional field whose JSON type has no null: absent is None, a given null is refused."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(_without_none(source))


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, UnionType):
        return Union[tuple(part for part in get_args(annotation) if part is not NoneType)]  # noqa: UP007
    return annotation


def kind(value: Raw) -> str:
    """The JSON type of a value, in words: ``a text``, ``an integer``, ``null`` ..."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, int):
        return "an integer"
    if isinstance(value, float):
        return "a number"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object"


def is_number(value: Raw) -> TypeGuard[int | float]:
    """True for an integer or a float. A boolean is not a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _only(wanted: str, accepts: Callable[[Raw], bool]) -> PlainValidator:
    def check(value: Any) -> Any:
        if accepts(value):
            return value
        raise PydanticCustomError("wrong_type", "{wanted} is needed here", {"wanted": wanted})

    return PlainValidator(check)


WHOLE = BeforeValidator(_whole)
"""Stands last in an ``Annotated[int, ...]``: ``5.0`` is an integer."""
Number: TypeAlias = Annotated[int | float, _only("A number", is_number), WithJsonSchema({"type": "number"})]
"""A number that keeps its JSON type: ``5`` stays an integer, ``5.0`` a float."""

ScalarOrNull: TypeAlias = Annotated[
    Scalar,
    _only("A text, a number, a boolean or null", lambda v: v is None or isinstance(v, str | int | float)),
    WithJsonSchema({"type": ["string", "number", "boolean", "null"]}),
]
ScalarNotNull: TypeAlias = Annotated[
    str | int | float | bool,
    _only("A text, a number or a boolean", lambda v: isinstance(v, str | int | float)),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
NumberTextOrNull: TypeAlias = Annotated[
    str | int | float | None,
    _only("A number, a text or null", lambda v: v is None or isinstance(v, str) or is_number(v)),
    WithJsonSchema({"type": ["number", "string", "null"]}),
]
NumberOrText: TypeAlias = Annotated[
    str | int | float | None,
    _only("A number or a text", lambda v: isinstance(v, str) or is_number(v)),
    WithJsonSchema({"type": ["number", "string"]}),
]
"""A number or a text. The Python type also has None, which binding a param to null puts there."""
