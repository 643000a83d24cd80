"""Query parameters as types of an endpoint's signature, and the filters, order and page of a list of records."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeVar

from fastapi import Depends, Query, params
from pydantic import BeforeValidator, Field, JsonValue, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from workbench.errors import BadRequest, Invalid, Problem, instead
from workbench.moments import micros_of
from workbench.operations.arguments import whole
from workbench.operations.operation import MOST_ROWS
from workbench.records import Project, Record
from workbench.records.values import as_moment
from workbench.store.records.rows import Page, Rows
from workbench.store.scope import Scope

from .requests import strict_json
from .schemas import Annotation, FromJson

Reads = TypeVar("Reads", bound=Callable[..., object])
R = TypeVar("R", bound=Record)
T = TypeVar("T")
Bound = str | datetime | Sequence[str]
Condition = str | Mapping[str, Bound] | None
"""What a field of a record must be: equal to a text or null, or as comparisons say."""
_TEXTS = ("name", "description", "created_by_email", "form_factor", "manufacturer", "product_id")
_TIMES = ("created_at", "updated_at", "start_time")
_FILTER = {"pattern": r"^(?!ilike\.)[^\x00]*$|^ilike\.%[^\x00]*%$"}
_BOUND = {"pattern": r"^(gt|gte|lt|lte)\.\d{4}-\d{2}-\d{2}"}
_COMPARED = ("gt", "gte", "lt", "lte")


def without_nul(value: T) -> T:
    """Refuse a text with a NUL character."""
    if isinstance(value, str) and "\0" in value:
        raise PydanticCustomError("value_error", "The text holds a NUL character. Leave it out.")
    return value


def _truth(value: str | bool) -> bool:
    if isinstance(value, str):
        if value.lower() not in ("true", "false", "1", "0"):
            raise PydanticCustomError("bool_parsing", "This must be true or false.")
        return value.lower() in ("true", "1")
    return value


Text = Annotated[str, BeforeValidator(without_nul)]
Flag = Annotated[bool, BeforeValidator(_truth)]
Offset = Annotated[int, Field(ge=0, le=MOST_ROWS), BeforeValidator(whole), Query(description="Rows to skip.")]


def _values(value: str | None) -> dict[str, JsonValue] | None:
    if not isinstance(value, str):
        return value
    try:
        found = strict_json(value.encode("utf-8", "surrogatepass"), "'values'")
    except Invalid as error:
        raise PydanticCustomError("json_invalid", "{words}", {"words": error.problems[0].msg}) from None
    if not isinstance(found, dict):
        raise PydanticCustomError("dict_type", "'values' must be one JSON object.")
    return found


Values = Annotated[
    FromJson,
    BeforeValidator(_values),
    WithJsonSchema({"type": "string", "contentMediaType": "application/json"}),
    Query(description="Chosen values by param name, one JSON object."),
]


def _moment(value: str | int | None) -> int | None:
    if value is None:
        return None
    try:
        return micros_of(value)
    except BadRequest as error:
        raise PydanticCustomError("value_error", "{words}", {"words": str(error)}) from None


AsOf = Annotated[
    int | None,
    BeforeValidator(_moment),
    WithJsonSchema({"type": "string"}),
    Query(
        description="Show the data as they were then: a time (2026-01-31T12:00:00Z), a day (2026-01-31), which counts "
        "to its end, or a revision of the store. What a person changed since gives the warning changed_since."
    ),
]


def ids_of(kind: type[Record], meaning: str = "", *, many: bool = False) -> FieldInfo:
    """Marks a query parameter that holds the id of such a record, or ``many`` of them."""
    extra: dict[str, JsonValue] = {"x-record": kind.table}
    if many:
        several: FieldInfo = Query(description=meaning, json_schema_extra=extra, default_factory=list)
        return several
    one: FieldInfo = Query(description=meaning, json_schema_extra=extra)
    return one


def limit(most: int = 1000) -> Annotation:
    """The type of a page size."""
    return Annotated[int, Field(ge=1, le=most), BeforeValidator(whole), Query(description="Rows of a page.")]


def of_query(read: Reads) -> Reads:
    """Marks a dependency that reads the query and nothing else, so that a route may remember what it read."""
    read.__dict__["reads_query"] = True
    return read


@dataclass(frozen=True)
class Paging:
    """The page of a list that a request asks for."""

    limit: int
    offset: int


def paging(default: int = 100, most: int = 1000) -> params.Depends:
    """The dependency that reads ``limit`` and ``offset``."""

    async def read(limit: int = default, offset: int = 0) -> Paging:
        return Paging(limit, offset)

    read.__dict__["__signature__"] = inspect.Signature(
        [_parameter("limit", limit(most), default), _parameter("offset", Offset, 0)]
    )
    made: params.Depends = Depends(of_query(read))
    return made


@dataclass(frozen=True)
class Asked:
    """The conditions, the order and the page that a request asks for."""

    where: Mapping[str, Condition] = field(default_factory=dict)
    order_by: str = "created_at"
    order: str = "asc"
    limit: int = 100
    offset: int = 0

    def page(self, rows: Rows, kind: type[R], scope: Scope, **fixed: Condition) -> Page[R]:
        """The rows that the request asks for; ``fixed`` are further conditions."""
        return rows.page(
            kind,
            scope,
            where={**self.where, **fixed},
            order_by=self.order_by,
            order=self.order,
            limit=self.limit,
            offset=self.offset,
        )


def listing(
    kind: type[Record], *, default: int = 100, most: int = 1000, sort: str = "created_at", order: str = "asc"
) -> params.Depends:
    """The dependency that reads page, order, and the filters that the fields of a kind allow.

    The interface has no filter of projects by their creator.
    """
    members = kind.members()
    parameters = [
        _parameter("limit", limit(most), default),
        _parameter("offset", Offset, 0),
        _parameter("order_by", Annotated[_one_of(kind.sorts), Query(description="Column to sort by.")], sort),
        _parameter("order", Annotated[Literal["asc", "desc"], Query(description="Direction.")], order),
    ]
    for name in _TEXTS:
        if name in members and (kind, name) != (Project, "created_by_email"):
            words = "The exact text, or ilike.%<text>% for a part of it in upper or lower case."
            parameters.append(_parameter(name, _many(words, _FILTER), []))
    for name in _TIMES:
        if name in members:
            words = "An operator (gt, gte, lt, lte) and an ISO 8601 time, such as gte.2026-01-31; may be repeated."
            parameters.append(_parameter(name, _many(words, _BOUND), []))
            parameters += [
                _parameter(
                    f"{name}_{bound}",
                    Annotated[
                        Text | None,
                        Query(
                            description="ISO 8601 time; the bound itself is left out.",
                            json_schema_extra={"format": "date-time"},
                        ),
                    ],
                    None,
                )
                for bound in ("gt", "lt")
            ]

    async def read(limit: int, offset: int, order_by: str, order: str, **given: list[str] | str | None) -> Asked:
        return Asked(_where(given), order_by, order, limit, offset)

    read.__dict__["__signature__"] = inspect.Signature(parameters)
    made: params.Depends = Depends(of_query(read))
    return made


def _parameter(name: str, annotation: Annotation, default: Annotation) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _many(words: str, items: Mapping[str, JsonValue]) -> Annotation:
    item = Annotated[Text, Field(json_schema_extra=dict(items))]
    return Annotated[list[item], Query(description=words)]


def _one_of(names: tuple[str, ...]) -> Annotation:
    def known(value: str) -> str:
        if value not in names:
            words = f"'{value[:80]}' is not a column. {instead(value, names)}"
            raise PydanticCustomError("enum", "{words}", {"words": words})
        return value

    return Annotated[Literal[names], BeforeValidator(known)]


def _where(given: Mapping[str, list[str] | str | None]) -> dict[str, Condition]:
    """The conditions of a list of records.

    Raises
    ------
    Invalid
        For an operator or a time that cannot be read.
    """
    made: dict[str, dict[str, Bound]] = {}
    for name, sent in given.items():
        if isinstance(sent, str):
            field, _, bound = name.rpartition("_")
            _add(made, field, bound, _time(name, sent))
        for value in sent if isinstance(sent, list) else ():
            read = _text_condition if name in _TEXTS else _time_condition
            _add(made, name, *read(name, value))
    return {**made}


def _text_condition(name: str, sent: str) -> tuple[str, Bound]:
    """A comparison and what is compared with."""
    operator, _, rest = sent.partition(".")
    if operator == "ilike":
        if len(rest) < 2 or not (rest.startswith("%") and rest.endswith("%")):
            message = f"Write the text of '{name}=ilike.' between two percent signs: ilike.%{rest.strip('%')}%."
            raise Invalid(Problem((name,), message, "value_error"))
        return "contains", rest[1:-1]
    return "in", [rest if operator == "eq" else sent]


def _time_condition(name: str, sent: str) -> tuple[str, Bound]:
    """A comparison and the time that is compared with."""
    operator, dot, rest = sent.partition(".")
    if operator not in _COMPARED or not dot:
        message = f"'{name}' must be gt., gte., lt. or lte. and a time, such as gte.2026-01-31T12:00:00Z."
        raise Invalid(Problem((name,), message, "value_error"))
    return operator, _time(name, rest)


def _time(name: str, sent: str) -> datetime:
    try:
        # A plus sign that the client did not escape arrives as a blank.
        return as_moment(sent.replace(" ", "+") if "T" in sent else sent)
    except ValueError as error:
        raise Invalid(Problem((name,), str(error), "datetime_parsing")) from None


def _add(made: dict[str, dict[str, Bound]], name: str, comparison: str, value: Bound) -> None:
    """Add a condition to a field; of two bounds in one direction the narrower one holds."""
    there = made.setdefault(name, {})
    before = there.get(comparison)
    if isinstance(before, datetime) and isinstance(value, datetime):
        value = max(value, before) if comparison in ("gt", "gte") else min(value, before)
    elif before is not None:
        raise Invalid(Problem((name,), f"'{name}' has the same filter twice. Give it once.", "value_error"))
    there[comparison] = value
