"""What the type of a field says besides its shape: where params bind, and which field names an earlier step.

Binding, references and the builders follow these marks, so that a new field needs nothing but its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from types import UnionType
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from ..cached_property import cached_property
from .strict import TAG, Form, Raw, Strict

Position: TypeAlias = Literal["ids", "filter list", "filter", "window", "comparison", "factor", "join"]
"""The kinds of places where a param may be. Each kind has its own rule of binding."""


@dataclass(frozen=True)
class Binds:
    """Marks a value position: ``$name`` there stands for the value of a param. The outermost mark counts."""

    position: Position


@dataclass(frozen=True)
class Earlier:
    """Marks a field that holds the name of an earlier row-shaped step."""


@dataclass(frozen=True)
class OneOf:
    """Marks a text that is one of these names."""

    names: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: type[str], handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.names))


M = TypeVar("M")
S = TypeVar("S", bound=Strict)


@dataclass(frozen=True)
class Tagged(Generic[S]):
    """Marks an object that is of one of these models, by the one value that their field ``by`` allows."""

    by: str
    models: tuple[type[S], ...]

    def model_of(self, value: Raw) -> type[S] | None:
        """The model that an object, or what should be one, says it is of."""
        given = value.get(self.by) if isinstance(value, dict) else getattr(value, self.by, None)
        return self.by_tag.get(given) if isinstance(given, str) else None

    @cached_property
    def by_tag(self) -> dict[str, type[S]]:
        """The one allowed value of the field -> the model, in order."""
        return {get_args(model.model_fields[self.by].annotation)[0]: model for model in self.models}

    def __get_pydantic_core_schema__(self, source: type[S], handler: GetCoreSchemaHandler) -> CoreSchema:
        tags = {model: TAG + tag for tag, model in self.by_tag.items()}

        def tag_of(value: Raw) -> str | None:
            model = self.model_of(value)
            return None if model is None else tags[model]

        choices = {tag: handler.generate_schema(model) for model, tag in tags.items()}
        return core_schema.tagged_union_schema(choices, tag_of)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        made = handler(schema)
        refs = [str(choice["$ref"]) for choice in made["oneOf"]]
        mapping = dict(zip(self.by_tag, refs, strict=True))
        return {"discriminator": {"mapping": mapping, "propertyName": self.by}, **made}


def marks(annotation: Form, of: type[M]) -> Iterator[M]:
    """The marks of one class in a type, the outermost first: through ``Annotated`` and unions."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from (mark for mark in inside[1:] if isinstance(mark, of))
        yield from marks(inside[0], of)
    elif origin in (Union, UnionType):
        for part in inside:
            yield from marks(part, of)


def mark_of(field: FieldInfo, of: type[M]) -> M | None:
    """The outermost mark of a class on a field, or on the values of its mapping; None without one."""
    own = (mark for mark in field.metadata if isinstance(mark, of))
    mapped = (get_args(part)[1] for part in _members(field.annotation) if get_origin(part) is dict)
    below = (mark for annotation in mapped for mark in marks(annotation, of))
    return next(chain(own, marks(field.annotation, of), below), None)


def _members(annotation: Form) -> tuple[Form, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
