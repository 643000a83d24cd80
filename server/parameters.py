"""Query parameters, as types of an endpoint's signature; and lists narrowed, sorted and paged by those of a record."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Depends, Query
from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from workbench.errors import Invalid, Problem, instead
from workbench.records import Project, Record
from workbench.records.values import as_moment

from .requests import strict_json

Reads = TypeVar("Reads", bound=Callable[..., object])
MOST_ROWS = 10_000_000
_TEXTS = ("name", "description", "created_by_email", "form_factor", "manufacturer", "product_id")
_TIMES = ("created_at", "updated_at", "start_time")
_FILTER = {"pattern": r"^(?!ilike\.)[^\x00]*$|^ilike\.%[^\x00]*%$"}
_BOUND = {"pattern": r"^(gt|gte|lt|lte)\.\d{4}-\d{2}-\d{2}"}
_COMPARED = ("gt", "gte", "lt", "lte")


def without_nul(value: Any) -> Any:
    """A text of a query has no NUL character."""
    if isinstance(value, str) and "\0" in value:
        raise PydanticCustomError("value_error", "The text holds a NUL character.")
    return value


def whole(value: Any) -> Any:
    """Digits alone are a whole number: no blanks, underscores, signs or fractions, which pydantic would take."""
    if isinstance(value, str):
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise PydanticCustomError("out_of_range", "A whole number is needed here.")
        return int(value)
    return value


def _truth(value: Any) -> Any:
    if isinstance(value, str):
        if value.lower() not in ("true", "false", "1", "0"):
            raise PydanticCustomError("bool_parsing", "This is true or false.")
        return value.lower() in ("true", "1")
    return value


Text = Annotated[str, BeforeValidator(without_nul)]
Flag = Annotated[bool, BeforeValidator(_truth)]
Offset = Annotated[int, Field(ge=0, le=MOST_ROWS), BeforeValidator(whole), Query(description="Rows to skip.")]


def _values(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        found = strict_json(value.encode("utf-8", "surrogatepass"), "'values'")
    except Invalid as error:
        raise PydanticCustomError("json_invalid", "{words}", {"words": error.problems[0].msg}) from None
    if not isinstance(found, dict):
        raise PydanticCustomError("dict_type", "'values' is one JSON object.")
    return found


Values = Annotated[
    Any,
    BeforeValidator(_values),
    WithJsonSchema({"type": "string", "contentMediaType": "application/json"}),
    Query(description="Chosen values by param name, one JSON object."),
]


def ids_of(kind: type[Record], meaning: str = "", **more: Any) -> Any:
    """Marks a query parameter that holds the id of such a record, or several."""
    return Query(description=meaning, json_schema_extra={"x-record": kind.table}, **more)


def limit(most: int = 1000) -> Any:
    """The type of a page size."""
    return Annotated[int, Field(ge=1, le=most), BeforeValidator(whole), Query(description="Rows of a page.")]


def of_query(read: Reads) -> Reads:
    """Marks a dependency that reads the query and nothing else, so that a route may remember what it read."""
    read.__dict__["reads_query"] = True
    return read


@dataclass(frozen=True)
class Paging:
    """The page of a list that is asked for."""

    limit: int
    offset: int


def paging(default: int = 100, most: int = 1000) -> Any:
    """The dependency that reads ``limit`` and ``offset``."""

    async def read(limit: Any = default, offset: Any = 0) -> Paging:
        return Paging(limit, offset)

    read.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_parameter("limit", limit(most), default), _parameter("offset", Offset, 0)]
    )
    return Depends(of_query(read))


@dataclass(frozen=True)
class Asked:
    """What is asked of a list of records: conditions, order, page; as ``Rows.page`` takes them."""

    where: Mapping[str, Any] = field(default_factory=dict)
    order_by: str = "created_at"
    order: str = "asc"
    limit: int = 100
    offset: int = 0

    def page(self, **fixed: Any) -> dict[str, Any]:
        """The arguments of ``Rows.page``; ``fixed`` are conditions beside those of the query."""
        made = {name: getattr(self, name) for name in ("order_by", "order", "limit", "offset")}
        return {**made, "where": {**self.where, **fixed}}


def listing(
    kind: type[Record], *, default: int = 100, most: int = 1000, sort: str = "created_at", order: str = "asc"
) -> Any:
    """The dependency that reads a list of records: page, order, and the filters that the fields of the kind allow.

    Projects are not found by who made them: the interface says so.
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
            words = "Equal, or ilike.%<text>% for a part, case ignored."
            parameters.append(_parameter(name, _many(words, _FILTER), []))
    for name in _TIMES:
        if name in members:
            words = "An operator and an ISO 8601 time; may be repeated."
            parameters.append(_parameter(name, _many(words, _BOUND), []))
            parameters += [
                _parameter(
                    f"{name}_{bound}",
                    Annotated[
                        Text | None,
                        Query(
                            description="ISO 8601 time, strict bound.", json_schema_extra={"format": "date-time"}
                        ),
                    ],
                    None,
                )
                for bound in ("gt", "lt")
            ]

    async def read(**given: Any) -> Asked:
        paged = {name: given.pop(name) for name in ("limit", "offset", "order_by", "order")}
        return Asked(_where(given), **paged)

    read.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return Depends(of_query(read))


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _many(words: str, items: Mapping[str, Any]) -> Any:
    item = Annotated[Text, Field(json_schema_extra=dict(items))]
    return Annotated[list[item], Query(description=words)]


def _one_of(names: tuple[str, ...]) -> Any:
    def known(value: Any) -> Any:
        if value not in names:
            raise PydanticCustomError(
                "enum", "{words}", {"words": f"'{str(value)[:80]}' is not a column. {instead(str(value), names)}"}
            )
        return value

    return Annotated[Literal[names], BeforeValidator(known)]


def _where(given: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions of a list of records.

    Raises
    ------
    Invalid
        For an operator or a time that cannot be read.
    """
    made: dict[str, Any] = {}
    for name, sent in given.items():
        if name in _TEXTS:
            for value in sent:
                _text_condition(made, name, value)
        elif name in _TIMES:
            for value in sent:
                _time_condition(made, name, value)
        elif sent is not None:
            bound = name[-2:]
            _both(made, name.removesuffix(f"_{bound}"), {bound: _time(name, sent)})
    return made


def _text_condition(made: dict[str, Any], name: str, sent: str) -> None:
    operator, _, rest = sent.partition(".")
    if operator == "ilike":
        if len(rest) < 2 or not (rest.startswith("%") and rest.endswith("%")):
            message = f"'{name}=ilike.' takes its text between two percent signs: ilike.%{rest.strip('%')}%."
            raise Invalid(Problem((name,), message, "value_error"))
        _both(made, name, {"contains": rest[1:-1]})
    else:
        _both(made, name, {"in": [rest if operator == "eq" else sent]})


def _time_condition(made: dict[str, Any], name: str, sent: str) -> None:
    operator, dot, rest = sent.partition(".")
    if operator not in _COMPARED or not dot:
        message = f"'{name}' takes gt., gte., lt. or lte. and a time, such as gte.2026-01-31T12:00:00Z."
        raise Invalid(Problem((name,), message, "value_error"))
    _both(made, name, {operator: _time(name, rest)})


def _time(name: str, sent: str) -> datetime:
    try:
        # A plus sign that was not escaped arrives as a blank.
        return as_moment(sent.replace(" ", "+") if "T" in sent else sent)
    except ValueError as error:
        raise Invalid(Problem((name,), str(error), "datetime_parsing")) from None


def _both(made: dict[str, Any], name: str, further: Mapping[str, Any]) -> None:
    """Add conditions to a field; of two bounds of one kind the narrower one holds."""
    there = made.setdefault(name, {})
    for comparison, value in further.items():
        if comparison in there and comparison in _COMPARED:
            narrower: Callable[..., Any] = max if comparison in ("gt", "gte") else min
            value = narrower(value, there[comparison])
        elif comparison in there:
            message = f"'{name}' is narrowed twice in the same way; give it once."
            raise Invalid(Problem((name,), message, "value_error"))
        there[comparison] = value
