"""The base of all records. Each kind is one pydantic class; store, lists, search, catalog and HTTP read it.

The annotation of a field says its type. The marks in ``Annotated`` say the rest: ``Link`` points to another record,
``Through`` shows a field of the linked record, ``Counted``, ``Named`` and ``Sampled`` are read from other tables,
search looks at ``Searched``, ``Open`` is an object with free keys, lists show ``Aside`` only when asked.

The modules with records import no ``annotations`` from ``__future__``: pydantic would evaluate the text of three
hundred annotations whenever a process opens a store, which takes 20 ms.
"""

import functools
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
)
from pydantic.fields import FieldInfo

from ..errors import Invalid, Problem, instead
from ..messages import called, refused
from ..table import JsonObject, Kind, Plain, moment_text
from .values import as_date, as_moment, clean_text, json_object, plain_name

Scoping = Literal["project", "organization", "itself", "everyone"]
Match = Literal["in", "equal", "contains", "batch", "study"]
Dataset = Literal["series", "steps", "cycles"]
Storage = Literal["text", "integer", "number", "boolean", "datetime", "date", "json"]


@dataclass(frozen=True)
class Link:
    """The id of a record in ``table``. ``parent`` marks the link to the record one level up. When the target is
    deleted, this record is deleted too (``cascade``) or the link becomes null (``unlink``)."""

    table: str
    on_delete: Literal["cascade", "unlink"] = "unlink"
    parent: bool = False


@dataclass(frozen=True)
class Through:
    """Read only: ``field`` of the record that the field ``link`` points to; may itself be a ``Through``."""

    link: str
    field: str


@dataclass(frozen=True)
class Counted:
    """Read only: how many records of ``table`` have their field ``link`` pointing here."""

    table: str
    link: str


@dataclass(frozen=True)
class Sampled:
    """Read only: the rows of the record's sampled data of this dataset; null without any."""

    dataset: Dataset


@dataclass(frozen=True)
class Named:
    """Read only: what follows ``prefix`` in the field ``field`` of the records of ``table`` whose field ``link`` points
    here, as one text in alphabetical order; empty without any."""

    table: str
    link: str
    field: str
    prefix: str


@dataclass(frozen=True)
class Searched:
    """Found by search: names by any part (``substring``), free text by the beginnings of words (``words``)."""

    how: Literal["substring", "words"]


@dataclass(frozen=True)
class Open:
    """An object with free keys, reached in plans by dotted names."""


@dataclass(frozen=True)
class Aside:
    """A column that lists show only when ``fields`` names it."""


@dataclass(frozen=True)
class Filter:
    """One key of ``Filters`` for this record: the field it looks at and how it compares."""

    field: str
    match: Match


@dataclass(frozen=True)
class Unique:
    """What must differ between two records of a project; ``folded`` ignores the case of the name.

    If another record has the same values already, the new one is refused with the id of the other (`Conflict`).
    With ``reuse`` the other one is the answer.
    """

    fields: tuple[str, ...]
    folded: bool = False
    reuse: bool = False


@dataclass(frozen=True)
class Member:
    """A field with all that its annotation and marks say."""

    name: str
    storage: Storage
    kind: Kind
    meaning: str
    wire: str
    required: bool
    choices: tuple[str, ...] = ()
    shape: type[BaseModel] | None = None
    link: Link | None = None
    through: Through | None = None
    counted: Counted | None = None
    named: Named | None = None
    sampled: Sampled | None = None
    searched: Searched | None = None
    open: bool = False
    aside: bool = False

    @property
    def stored(self) -> bool:
        return self.through is None and self.counted is None and self.named is None and self.sampled is None


Name = Annotated[str, AfterValidator(plain_name)]
Text = Annotated[str, AfterValidator(clean_text)]
Moment = Annotated[
    datetime,
    BeforeValidator(as_moment),
    PlainSerializer(moment_text, when_used="json"),
]
Day = Annotated[date, BeforeValidator(as_date)]
Json = Annotated[JsonObject, AfterValidator(json_object)]
OpenJson = Annotated[JsonObject, AfterValidator(json_object), Open()]


class Strict(BaseModel):
    """Base of all shapes: unknown keys are refused and no value changes its type."""

    model_config = ConfigDict(extra="forbid", strict=True, validate_default=False)

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """What is shown: the fields that have a value."""
        return ((name, value) for name, value in super().__repr_args__() if value not in (None, "", {}, []))


class Record(Strict):
    """Base of all kinds. A subclass names its table. If plans can list it, it names its source; if search finds it, its
    entity. Only the user who made a ``private`` record sees it."""

    table: ClassVar[str] = ""
    listed_as: ClassVar[str | None] = None
    """Its name as a source of plans. Lists, checks, catalog, schema and the texts for authors derive from it."""
    listed_place: ClassVar[int] = 99
    """Its place among the sources; those of the interface come first."""
    samples: ClassVar[tuple[Dataset, ...]] = ()
    """The sampled data that a record may have; one with "series" is a source of series steps too."""
    kind_field: ClassVar[str | None] = None
    """The field with the type of a record, for the error about a record without samples."""
    status_field: ClassVar[str | None] = None
    """The field that says whether the samples of a record can be read yet."""
    entity: ClassVar[str | None] = None
    label: ClassVar[str] = "record"
    scoping: ClassVar[Scoping] = "everyone"
    shared: ClassVar[bool] = False
    everywhere: ClassVar[bool] = False
    private: ClassVar[bool] = False
    unique: ClassVar[tuple[Unique, ...]] = ()
    sorts: ClassVar[tuple[str, ...]] = ("name", "created_at", "updated_at")
    filters: ClassVar[Mapping[str, Filter]] = {}
    by_store: ClassVar[frozenset[str]] = frozenset(
        {"id", "created_at", "updated_at", "organization_id", "created_by"}
    )
    kept: ClassVar[frozenset[str]] = frozenset()
    """Fields that come with the bytes of a record. No caller sets them, because others trust them."""
    fixed: ClassVar[frozenset[str]] = frozenset()
    """Fields that never change after the record is made."""
    withheld: ClassVar[frozenset[str]] = frozenset()
    """Fields that no answer shows of a record. Callers ask for bytes by file name, never by hash; what other
    records say of it is in lists."""

    id: str = Field(description="Identifier, never used again; later records have later ids.")
    name: Annotated[Name, Searched("substring")] = Field(description="What people call it.")
    created_at: Moment = Field(description="When the record was made, UTC; no two are equal.")
    updated_at: Moment = Field(description="When the record was last changed, UTC.")

    @classmethod
    @functools.cache
    def members(cls) -> Mapping[str, Member]:
        """All fields by name, in the order of declaration."""
        return {name: _member(name, info) for name, info in cls.model_fields.items()}

    @classmethod
    @functools.cache
    def given(cls) -> tuple[str, ...]:
        """The fields a caller may give; the store sets the others."""
        return tuple(n for n, m in cls.members().items() if m.stored and n not in cls.by_store)

    @classmethod
    @functools.cache
    def parent(cls) -> Member | None:
        """The link to the record one level up."""
        return next((m for m in cls.members().values() if m.link is not None and m.link.parent), None)

    @classmethod
    def checked(cls, values: Mapping[str, Plain]) -> Self:
        """The record of these values.

        Raises
        ------
        Invalid
            With every problem; ``loc`` begins at the field.
        """
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise Invalid(list(_problems(cls, error))) from None

    @classmethod
    def entered(cls, values: Mapping[str, Plain], present: Self | None = None) -> Self:
        """The record of values that somebody enters; ``present`` is the stored one that they change. As ``checked``,
        and without what only older stores may hold."""
        made = cls.checked(values)
        problems = made.problems_entered(present)
        if problems:
            raise Invalid(problems)
        return made

    def problems_entered(self, present: Self | None) -> list[Problem]:
        """What is refused of values that somebody enters, though older stores may hold them: reading takes them, and
        so does a change of other fields of ``present``."""
        return []

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """What is shown of a record: the fields that have a value, without the ids of its organization and user."""
        for name, value in super().__repr_args__():
            if name not in ("organization_id", "created_by"):
                yield name, moment_text(value) if isinstance(value, datetime) else value

    def _repr_html_(self) -> str:
        """In a notebook: the same as a table."""
        import html  # only a notebook needs it

        rows = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{html.escape(str(name))}</th>"
            f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
            for name, value in self.__repr_args__()
        )
        return f"<table>{rows}</table>"

    def wire(self) -> JsonObject:
        """The record as JSON values under its wire names (``cell_instance_id`` for ``instance_id``)."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def from_wire(cls, values: Mapping[str, Plain]) -> JsonObject:
        """Values by our own names, from a body that may use the wire's."""
        ours = {member.wire: name for name, member in cls.members().items()}
        return {ours.get(key, key): value for key, value in values.items()}


class Owned(Record):
    """A record of an organization."""

    organization_id: Annotated[str, Link("organizations"), Aside()] = Field(description="Owning organization.")
    created_by: Annotated[str | None, Link("users"), Aside()] = Field(None, description="Creating user.")
    created_by_email: Annotated[str | None, Through("created_by", "email")] = Field(
        None, description="E-mail of the creating user."
    )


class InProject(Owned):
    """A record of a project. If ``project_id`` is null, all projects of the organization share it."""

    scoping = "project"

    project_id: Annotated[str | None, Link("projects", "cascade")] = Field(
        None, description="Its project; null for a record that all projects of the organization share."
    )


class Kept(InProject):
    """A record with free notes."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "ids": Filter("id", "in"),
        "name": Filter("name", "equal"),
        "nameContains": Filter("name", "contains"),
    }

    notes: Annotated[Text | None, Searched("words")] = Field(None, description="Free text.")


Mark: TypeAlias = Link | Through | Counted | Named | Sampled | Searched | Open | Aside
_STORAGE: dict[Any, tuple[Storage, Kind]] = {
    str: ("text", "text"),
    bool: ("boolean", "boolean"),
    int: ("integer", "integer"),
    float: ("number", "number"),
    datetime: ("datetime", "datetime"),
    date: ("date", "text"),
}
M = TypeVar("M", bound=Mark)


class _Marks:
    """The marks of one field, at most one of each class."""

    def __init__(self, metadata: Iterable[Plain]) -> None:
        self._found: dict[type, Mark] = {}
        self.take(metadata)

    def take(self, metadata: Iterable[Plain]) -> None:
        """Add the marks among the values in ``Annotated``; validators are in it too."""
        self._found |= {type(mark): mark for mark in metadata if isinstance(mark, Mark)}

    def get(self, kind: type[M]) -> M | None:
        mark = self._found.get(kind)
        return mark if isinstance(mark, kind) else None


def _bare(annotation: Any, marks: _Marks) -> tuple[Any, bool]:
    """The annotation without marks and None, and whether None is allowed."""
    optional = False
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *metadata = get_args(annotation)
            marks.take(metadata)
        elif origin in (types.UnionType, Union):
            optional = True
            (annotation,) = [arg for arg in get_args(annotation) if arg is not type(None)]
        else:
            return annotation, optional


def _member(name: str, info: FieldInfo) -> Member:
    marks = _Marks(info.metadata)
    bare, optional = _bare(info.annotation, marks)
    choices: tuple[str, ...] = ()
    shape: type[BaseModel] | None = None
    if get_origin(bare) is Literal:
        choices = get_args(bare)
        bare = str
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        shape = bare
    storage, kind = _STORAGE.get(bare, ("json", "text"))
    return Member(
        name=name,
        storage=storage,
        kind=kind,
        meaning=info.description or "",
        wire=info.serialization_alias or name,
        required=not optional,
        choices=choices,
        shape=shape,
        link=marks.get(Link),
        through=marks.get(Through),
        counted=marks.get(Counted),
        named=marks.get(Named),
        sampled=marks.get(Sampled),
        searched=marks.get(Searched),
        open=marks.get(Open) is not None,
        aside=marks.get(Aside) is not None,
    )


def _problems(cls: type[Record], error: ValidationError) -> Iterator[Problem]:
    for item in error.errors(include_url=False, include_input=False):
        loc = tuple(item["loc"])
        message = item["msg"]
        if item["type"] == "extra_forbidden":
            message = _unknown(cls, loc)
        elif item["type"] == "missing":
            message = f"'{loc[-1]}' is missing."
        else:
            message = refused(called(loc), item["type"], message, item.get("ctx"))
        yield Problem(loc, message, item["type"])


def _unknown(cls: type[Record], loc: tuple[str | int, ...]) -> str:
    shape: type[BaseModel] | None = cls
    names: list[str] = list(cls.given())
    for part in loc[:-1]:
        if isinstance(part, int):
            continue
        inner = shape.model_fields.get(part) if shape is not None else None
        shape = _shape_of(inner.annotation) if inner is not None else None
        names = list(shape.model_fields) if shape is not None else []
    return f"There is no '{loc[-1]}' here. {instead(str(loc[-1]), names)}"


def _shape_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _shape_of(arg)) is not None), None)
