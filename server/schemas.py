"""Types of bodies and answers. Those of records derive from the kind: ``Given[Analysis]``, ``Shown[Analysis]``.

At run time each is a JSON object. Its schema comes from the declaration of the kind, so that a new field is in the API
at once. The kind itself checks what is given, where the record is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from fastapi import UploadFile
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    WithJsonSchema,
    create_model,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import TypedDict

from workbench.errors import Invalid
from workbench.records import Record
from workbench.records.values import LONGEST_NAME, is_whole, plain_name

from .requests import strict_json

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Annotation: TypeAlias = Any
"""A type as pydantic takes it, marks included; the type checker has no type for these."""
FromJson: TypeAlias = Any
"""A JSON value that the endpoint checks: pydantic looks at its outermost type alone."""
M = TypeVar("M", bound=BaseModel)


class Body(BaseModel):
    """Base of bodies that are not records: unknown fields are refused, and nothing is converted in silence."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Empty(Body):
    """A body without fields."""


def _whole_text(value: str) -> str:
    if "\0" in value or not is_whole(value):
        raise ValueError("A text must be valid Unicode without the NUL character.")
    return value


Text = Annotated[str, AfterValidator(_whole_text)]
_NAME: dict[str, JsonValue] = {"minLength": 1, "maxLength": LONGEST_NAME, "pattern": r"\S"}
Name = Annotated[str, AfterValidator(plain_name), Field(json_schema_extra=_NAME)]
"""A name that a record may have."""


def id_of(kind: type[Record]) -> FieldInfo:
    """Marks a field that holds the id of such a record, or several."""
    mark: FieldInfo = Field(json_schema_extra={"x-record": kind.table})
    return mark


def _file_part(value: str | UploadFile) -> UploadFile:
    if isinstance(value, str):
        raise PydanticCustomError("missing", "This part must be a file.")
    return value


FilePart = Annotated[UploadFile, BeforeValidator(_file_part)]
"""A part of a form that is a file."""


def _json_text(value: FromJson) -> FromJson:
    if not isinstance(value, str):
        return value
    try:
        return strict_json(value.encode("utf-8", "surrogatepass"), "The text")
    except Invalid as error:
        raise PydanticCustomError("json_invalid", "{words}", {"words": error.problems[0].msg}) from None


JsonText = Annotated[FromJson, BeforeValidator(_json_text), WithJsonSchema({"type": "string"})]
"""A field of a form that holds JSON text; its value is that of the text."""
Json = dict[str, FromJson]
"""An object with free keys."""


@dataclass(frozen=True)
class DescribedAs:
    """Marks a value that the endpoint checks itself; OpenAPI describes it as the model."""

    model: type[BaseModel]

    def __get_pydantic_core_schema__(self, source: Annotation, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _described(self.model, handler(source), handler)


def _described(model: type[BaseModel], checked: CoreSchema, handler: GetCoreSchemaHandler) -> CoreSchema:
    """A value that is checked in one way and described as a model.

    FastAPI checks Python values, and a JSON schema describes the JSON branch.
    """
    return core_schema.json_or_python_schema(handler.generate_schema(model), checked)


class _OfKind(Generic[T], dict[str, Any]):
    """A JSON object, described by a model that is made from the type in brackets.

    ``Shown[Analysis]`` is a class of its own, so that FastAPI does not look into the brackets for further models.
    """

    of: ClassVar[type[BaseModel]]

    if not TYPE_CHECKING:

        def __class_getitem__(cls, of: Annotation) -> Annotation:
            return super().__class_getitem__(of) if isinstance(of, TypeVar) else cls.made(of)

    @classmethod
    @cache
    def made(cls, of: type[BaseModel]) -> type[Self]:
        """The class of this type in brackets."""
        return type(f"{cls.__name__}{of.__name__}", (cls,), {"of": of})

    @classmethod
    def described(cls) -> type[BaseModel]:
        """The model that describes the object."""
        return cls.of

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Annotation, handler: GetCoreSchemaHandler) -> CoreSchema:
        plain = core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
        checked = core_schema.no_info_after_validator_function(cls, plain)
        return _described(cls.described(), checked, handler)


class _OfRecord(_OfKind[R]):
    of: ClassVar[type[Record]]


class Given(_OfRecord[R]):
    """The body that makes a record of a kind: the fields that a caller may give, under their wire names."""

    @classmethod
    def described(cls) -> type[BaseModel]:
        return _given(cls.of)


class Changed(_OfRecord[R]):
    """The body that changes a record of a kind: any of the fields that a caller may change."""

    @classmethod
    def described(cls) -> type[BaseModel]:
        return _given(cls.of, changing=True)


class GivenUnder(_OfRecord[R]):
    """As `Given`, where the path names the record one level up, so that the body need not."""

    @classmethod
    def described(cls) -> type[BaseModel]:
        parent = cls.of.parent()
        return _given(cls.of, without=parent.name if parent is not None else "project_id")


class GivenIn(_OfRecord[R]):
    """As `Given`, where the path names the project."""

    @classmethod
    def described(cls) -> type[BaseModel]:
        return _given(cls.of, without="project_id")


class Shown(_OfRecord[R]):
    """A record as the wire shows it."""

    more: ClassVar[Mapping[str, Annotation]] = {}
    """Fields that the wire adds to those of the kind: name -> type."""

    @classmethod
    def described(cls) -> type[BaseModel]:
        return _shown(cls.of, cls.__name__.removeprefix("Shown"), tuple(cls.more.items()))


class Unchecked(_OfKind[M]):
    """A JSON object that the endpoint checks itself; OpenAPI describes it as the model."""


class Page(TypedDict, Generic[T]):
    """A page of a list: its items, their number, and how many items match in all."""

    items: Sequence[T]
    count: int
    total: int


@cache
def _given(kind: type[Record], *, changing: bool = False, without: str = "") -> type[BaseModel]:
    """The model of what a caller may give of a kind, or change; ``without`` the field that the path names."""
    left_out = kind.kept | {without} | (kind.fixed if changing else frozenset())
    fields: dict[str, Annotation] = {}
    for name in kind.given():
        if name in left_out:
            continue
        info, member = kind.model_fields[name], kind.members()[name]
        extra = {} if member.link is None else {"x-record": member.link.table}
        default = Field(
            ... if info.is_required() and not changing else None,
            alias=member.wire,
            description=info.description,
            json_schema_extra={**extra, **(_NAME if name == "name" else {})} or None,
        )
        fields[name] = (_documented(info), default)
    title = f"{kind.__name__}{'Changed' if changing else 'Given'}{'Under' if without else ''}"
    return create_model(title, __config__=ConfigDict(extra="forbid", populate_by_name=True), **fields)


def _documented(info: FieldInfo) -> Annotation:
    """The type of a field with its marks, as pydantic takes it again."""
    return Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation


@cache
def _shown(kind: type[Record], title: str, more: tuple[tuple[str, Annotation], ...]) -> type[BaseModel]:
    fields: dict[str, Annotation] = {}
    for name, info in kind.model_fields.items():
        if name not in kind.withheld:
            made = Field(
                serialization_alias=kind.members()[name].wire,
                description=info.description,
                default=... if info.is_required() else None,
            )
            fields[name] = (_documented(info), made)
    fields |= {name: (annotation, ...) for name, annotation in more}
    return create_model(title, __doc__=kind.__doc__, **fields)


def wire(record: R) -> Shown[R]:
    """A record as the wire shows it."""
    return Shown({name: value for name, value in record.wire().items() if name not in record.withheld})


def page(items: Sequence[T], total: int) -> Page[T]:
    """A page of a list."""
    return {"items": items, "count": len(items), "total": total}
