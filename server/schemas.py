"""Bodies and answers that are records, typed by their kind: what one may give, what one is shown, a page of a list.

Each is a JSON object at run time. Its schema comes from the declaration of the record's kind, so that an added field
is in the API at once. What is given is checked once, where the record is made: by the kind itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, TypeVar, get_args, get_origin

from fastapi import UploadFile
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
    create_model,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import TypedDict

from workbench.errors import Invalid
from workbench.records import Record
from workbench.records.values import LONGEST_NAME, plain_name

from .requests import strict_json

R = TypeVar("R", bound=Record)
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class Body(BaseModel):
    """Base of request bodies that are not records: no unknown field, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Answer(BaseModel):
    """Base of answers that are documented here and given as plain JSON values. A later server may add fields."""


def _whole_text(value: str) -> str:
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError("Text must be whole Unicode characters without NUL.")
    return value


Text = Annotated[str, AfterValidator(_whole_text)]
_NAME: dict[str, Any] = {"minLength": 1, "maxLength": LONGEST_NAME, "pattern": r"\S"}
Name = Annotated[str, AfterValidator(plain_name), Field(json_schema_extra=_NAME)]
"""A name that a record may have."""


def id_of(kind: type[Record]) -> Any:
    """Marks a field that holds the id of such a record, or several."""
    return Field(json_schema_extra={"x-record": kind.table})


def _file_part(value: Any) -> Any:
    if isinstance(value, str):
        raise PydanticCustomError("missing", "This part is a file.")
    return value


FilePart = Annotated[UploadFile, BeforeValidator(_file_part)]
"""A part of a form that is a file."""


def _json_text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return strict_json(value.encode("utf-8", "surrogatepass"), "The text")
    except Invalid as error:
        raise PydanticCustomError("json_invalid", "{words}", {"words": error.problems[0].msg}) from None


JsonText = Annotated[Any, BeforeValidator(_json_text), WithJsonSchema({"type": "string"})]
"""A field of a form that holds JSON text; its value is what the text says."""
Json = dict[str, Any]
"""An object with free keys."""


@dataclass(frozen=True)
class DescribedAs:
    """Marks a value that the endpoint checks itself; its schema is that of the model."""

    model: type[BaseModel]

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self.model.__pydantic_core_schema__)


class _OfKind(dict[str, Any], Generic[T]):
    """A JSON object whose schema is that of the type in brackets."""

    @classmethod
    def described(cls, of: Any) -> type[BaseModel]:
        """The model that describes the object."""
        raise TypeError(f"{cls.__name__} needs a kind in brackets.")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        plain = core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
        metadata = {"pydantic_js_functions": [cls._schema_of(source)]}
        return core_schema.no_info_after_validator_function(cls, plain, metadata=metadata)

    @classmethod
    def _schema_of(cls, source: Any) -> Any:
        found = get_origin(source) or source
        base = source if get_args(source) else found.__orig_bases__[0]
        of = get_args(base)[0]

        def schema(_: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
            return handler(found.described(of).__pydantic_core_schema__)

        return schema


class Given(_OfKind[R]):
    """The body that makes a record of a kind: what a caller may give, under its wire names."""

    @classmethod
    def described(cls, of: type[Record]) -> type[BaseModel]:
        return _given(of, False, ())


class Changed(_OfKind[R]):
    """The body that changes a record of a kind: any of what a caller may give."""

    @classmethod
    def described(cls, of: type[Record]) -> type[BaseModel]:
        return _given(of, True, ())


class GivenUnder(_OfKind[R]):
    """As `Given`, where the path names the record one level up, so that the body need not."""

    @classmethod
    def described(cls, of: type[Record]) -> type[BaseModel]:
        parent = of.parent()
        above = (parent.name if parent is not None else "project_id",)
        return _given(of, False, above)


class GivenIn(_OfKind[R]):
    """As `Given`, where the path names the project."""

    @classmethod
    def described(cls, of: type[Record]) -> type[BaseModel]:
        return _given(of, False, ("project_id",))


class Shown(_OfKind[R]):
    """A record as the wire shows it."""

    more: ClassVar[Mapping[str, Any]] = {}
    """Fields that the wire adds to those of the kind: name -> type."""

    @classmethod
    def described(cls, of: type[Record]) -> type[BaseModel]:
        return _shown(of, tuple(cls.more.items()))


class Unchecked(_OfKind[M]):
    """A JSON object that the endpoint checks itself, with the checker of the recipe; described as the model."""

    @classmethod
    def described(cls, of: type[BaseModel]) -> type[BaseModel]:
        return of


class Page(TypedDict, Generic[T]):
    """A page of a list: its rows, how many they are, and how many rows match in all."""

    items: Sequence[T]
    count: int
    total: int


@cache
def _given(kind: type[Record], changing: bool, left_out: tuple[str, ...]) -> type[BaseModel]:
    stay = kind.fixed if changing else frozenset()
    members = kind.members()
    fields: dict[str, Any] = {}
    for name in kind.given():
        if name in kind.kept | stay or name in left_out:
            continue
        info = kind.model_fields[name]
        wire = members[name].wire
        extra: dict[str, Any] = {}
        if members[name].link is not None:
            extra["x-record"] = members[name].link.table  # type: ignore[union-attr]
        if name == "name":
            extra |= _NAME
        needed = info.is_required() and not changing
        default = Field(
            ... if needed else None, alias=wire, description=info.description, json_schema_extra=extra or None
        )
        fields[name] = (_documented(info), default)
    title = f"{kind.__name__}{'Changed' if changing else 'Given'}{'Under' if left_out else ''}"
    return create_model(title, __config__=ConfigDict(extra="forbid", populate_by_name=True), **fields)


def _documented(info: Any) -> Any:
    """The type of a field with its marks, as pydantic takes it again."""
    metadata = tuple(mark for mark in info.metadata)
    return Annotated[(info.annotation, *metadata)] if metadata else info.annotation


@cache
def _shown(kind: type[Record], more: tuple[tuple[str, Any], ...]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, info in kind.model_fields.items():
        if name not in kind.withheld:
            made = Field(
                serialization_alias=kind.members()[name].wire,
                description=info.description,
                default=... if info.is_required() else None,
            )
            fields[name] = (_documented(info), made)
    fields |= {name: (annotation, ...) for name, annotation in more}
    return create_model(kind.__name__, __doc__=kind.__doc__, **fields)


def wire(record: R) -> Shown[R]:
    """A record as the wire shows it."""
    return Shown({name: value for name, value in record.wire().items() if name not in record.withheld})


def page(items: Sequence[T], total: int) -> Page[T]:
    """A page of a list."""
    return {"items": items, "count": len(items), "total": total}
