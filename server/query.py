"""Query parameters: read by their declarations, and lists narrowed, sorted and paged by those of a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.errors import Invalid, Problem, instead
from workbench.records import Project, Record
from workbench.records.values import as_moment

from .body import strict_json
from .operation import Operation, Parameter

MOST_ROWS = 10_000_000
_TIMES = ("created_at", "updated_at", "start_time")
_FILTER = {"type": "string", "pattern": r"^(?!ilike\.)[^\x00]*$|^ilike\.%[^\x00]*%$"}
_BOUND = {"type": "string", "pattern": r"^(gt|gte|lt|lte)\.\d{4}-\d{2}-\d{2}"}
_MOMENT = {"type": "string", "format": "date-time"}
_COMPARED = ("gt", "gte", "lt", "lte")


def integer(name: str, least: int, most: int, default: int | None, meaning: str = "") -> Parameter:
    """A whole number within bounds."""
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return Parameter(name, schema, meaning, default=default)


def flag(name: str, meaning: str) -> Parameter:
    return Parameter(name, {"type": "boolean"}, meaning, default=False)


def text(name: str, meaning: str = "", *, many: bool = False, kind: type[Record] | None = None) -> Parameter:
    return Parameter(name, {"type": "string"}, meaning, many=many, kind=kind)


def values_parameter() -> Parameter:
    """Chosen values of params, as one JSON object."""
    schema = {"type": "string", "contentMediaType": "application/json"}
    return Parameter("values", schema, "Chosen values by param name, one JSON object.")


def paging(default: int = 100, most: int = 1000) -> tuple[Parameter, ...]:
    """Page size and rows to skip."""
    return (
        integer("limit", 1, most, default, "Rows of a page."),
        integer("offset", 0, MOST_ROWS, 0, "Rows to skip."),
    )


def listing(
    kind: type[Record], *, default: int = 100, most: int = 1000, sort: str = "created_at", order: str = "asc"
) -> tuple[Parameter, ...]:
    """The parameters of a list of records: page, sort, and the filters that its fields allow. Projects are not found
    by who made them: the interface says so."""
    members = kind.members()
    made = [
        *paging(default, most),
        Parameter("order_by", {"type": "string", "enum": list(kind.sorts)}, "Column to sort by.", default=sort),
        Parameter("order", {"type": "string", "enum": ["asc", "desc"]}, "Direction.", default=order),
    ]
    for name in ("name", "description", "created_by_email", "form_factor", "manufacturer", "product_id"):
        if name in members and (kind, name) != (Project, "created_by_email"):
            made.append(Parameter(name, _FILTER, "Equal, or ilike.%<text>% for a part, case ignored.", many=True))
    for name in _TIMES:
        if name in members:
            made.append(Parameter(name, _BOUND, "An operator and an ISO 8601 time; may be repeated.", many=True))
            made += [
                Parameter(f"{name}_{bound}", _MOMENT, "ISO 8601 time, strict bound.") for bound in ("gt", "lt")
            ]
    return tuple(made)


def read(operation: Operation, given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The checked parameters of a request by name, defaults included.

    Raises
    ------
    Invalid
        For an unknown parameter, a value of the wrong type or out of its range, and a missing one that is
        required; ``loc`` is the name.
    """
    known = {parameter.name: parameter for parameter in operation.query}
    sent: dict[str, list[str]] = {}
    problems: list[Problem] = []
    for name, value in given:
        sent.setdefault(name, []).append(value)
    for name in sent:
        if name not in known:
            message = f"There is no parameter '{name}' here. {instead(name, known, 'parameters')}"
            problems.append(Problem((name,), message, "extra_forbidden"))
    values: dict[str, Any] = {}
    for name, parameter in known.items():
        try:
            values[name] = _value(parameter, sent.get(name, []))
        except Invalid as error:
            problems += error.problems
    if problems:
        raise Invalid(problems)
    return values


def _value(parameter: Parameter, sent: Sequence[str]) -> Any:
    name = parameter.name
    if not sent:
        if parameter.required:
            raise Invalid(Problem((name,), f"'{name}' is missing.", "missing"))
        return [] if parameter.many else parameter.default
    if parameter.many:
        return [_one(parameter, value) for value in sent]
    if len(sent) > 1:
        raise Invalid(Problem((name,), f"'{name}' is given {len(sent)} times; give it once.", "value_error"))
    return _one(parameter, sent[0])


def _one(parameter: Parameter, sent: str) -> Any:
    name, schema = parameter.name, parameter.schema
    if schema.get("contentMediaType") == "application/json":
        return _object(name, sent)
    kind = schema.get("type")
    if kind == "integer":
        return _integer(name, sent, schema)
    if kind == "boolean":
        if sent.lower() not in ("true", "false", "1", "0"):
            raise Invalid(Problem((name,), f"'{name}' is true or false.", "bool_parsing"))
        return sent.lower() in ("true", "1")
    if "enum" in schema and sent not in schema["enum"]:
        raise Invalid(Problem((name,), f"'{sent[:80]}' is no '{name}'. {instead(sent, schema['enum'])}", "enum"))
    if len(sent) < schema.get("minLength", 0):
        message = f"'{name}' has at least {schema['minLength']} characters."
        raise Invalid(Problem((name,), message, "string_too_short"))
    if "\0" in sent:
        raise Invalid(Problem((name,), f"'{name}' holds a NUL character.", "value_error"))
    return sent


def _integer(name: str, sent: str, schema: Mapping[str, Any]) -> int:
    least, most = schema.get("minimum", 0), schema.get("maximum", MOST_ROWS)
    digits = sent.removeprefix("-")
    number = int(sent) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None
    if number is None or not least <= number <= most:
        raise Invalid(Problem((name,), f"'{name}' is a whole number from {least} to {most}.", "out_of_range"))
    return number


def _object(name: str, sent: str) -> dict[str, Any]:
    try:
        value = strict_json(sent.encode("utf-8", "surrogatepass"), f"'{name}'")
    except Invalid as error:
        raise Invalid([Problem((name,), problem.msg, problem.type) for problem in error.problems]) from None
    if not isinstance(value, dict):
        raise Invalid(Problem((name,), f"'{name}' is one JSON object.", "dict_type"))
    return value


def where(kind: type[Record], query: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions of a list of records, for ``Rows.page``.

    Raises
    ------
    Invalid
        For an operator or a time that cannot be read.
    """
    made: dict[str, Any] = {}
    members = kind.members()
    for name, sent in query.items():
        if name in ("name", "description", "created_by_email", "form_factor", "manufacturer", "product_id"):
            for value in sent if name in members else []:
                _text_condition(made, name, value)
        if name in _TIMES and name in members:
            for value in sent:
                _time_condition(made, name, value)
        for bound in ("gt", "lt"):
            field = name.removesuffix(f"_{bound}")
            if field != name and field in _TIMES and sent is not None:
                _both(made, field, {bound: _time(name, sent)})
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


def _time(name: str, sent: str) -> Any:
    try:
        # A plus sign that was not escaped arrives as a blank.
        return as_moment(sent.replace(" ", "+") if "T" in sent else sent)
    except ValueError as error:
        raise Invalid(Problem((name,), str(error), "datetime_parsing")) from None


def _both(made: dict[str, Any], name: str, further: dict[str, Any]) -> None:
    """Add conditions to a field; of two bounds of one kind the narrower one holds."""
    there = made.setdefault(name, {})
    for comparison, value in further.items():
        if comparison in there and comparison in _COMPARED:
            narrower = max if comparison in ("gt", "gte") else min
            value = narrower(value, there[comparison])
        elif comparison in there:
            message = f"'{name}' is narrowed twice in the same way; give it once."
            raise Invalid(Problem((name,), message, "value_error"))
        there[comparison] = value


def page(kind: type[Record], query: Mapping[str, Any], **fixed: Any) -> dict[str, Any]:
    """The arguments of ``Rows.page`` from the parameters of a list; ``fixed`` are further conditions."""
    return {
        "where": {**where(kind, query), **fixed},
        "order_by": query.get("order_by") or "created_at",
        "order": query.get("order") or "asc",
        "limit": query["limit"],
        "offset": query["offset"],
    }
