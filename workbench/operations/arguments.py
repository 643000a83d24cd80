"""Arguments of operations, checked here as a server checks them: a local caller passes whatever it has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from ..errors import Invalid, NotFound, Problem
from ..messages import called, refused
from ..recipe.jsontext import plain
from .operation import Argument, Arguments, Carrier, Operation

FIELD_TYPES: Mapping[str, str] = {
    "model_attributes_type": "dict_type",
    "model_type": "dict_type",
    "string_type": "str_type",
}
"""The ``type`` of a problem of a field of a body, where pydantic has another name for it: these are the names of
version 0.1.0, and clients may rely on them."""
QUERY_TYPES: Mapping[str, str] = {
    "literal_error": "enum",
    "int_parsing": "out_of_range",
    "int_from_float": "out_of_range",
    "int_parsing_size": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than_equal": "out_of_range",
    "too_short": "string_too_short",
}
"""The same for a query parameter."""
_DIGITS = re.compile("-?[0-9]{1,18}")


def whole(value: str | int) -> int:
    """A whole number from its digits. pydantic would also take blanks, underscores and fractions."""
    if isinstance(value, str):
        if not _DIGITS.fullmatch(value):
            raise PydanticCustomError("out_of_range", "This must be a whole number.")
        return int(value)
    return value


def number_of(text: str) -> int:
    """The number of a revision, from a path."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise NotFound(f"'{text[:40]}' is not the number of a revision. Revisions count from 1.")
    return int(text)


def checked(operation: Operation[..., Any], carrier: Carrier, arguments: Arguments) -> dict[str, Argument]:
    """The arguments of an operation as a server gives them to its function.

    Raises
    ------
    Invalid
        For an argument of another type than the declared one, in the words of a server.
    NotFound
        For an id that no record can have.
    """
    made = dict(arguments)
    for name in operation.positions:
        if name in made:
            text = operation.position(name, carrier, arguments)
            made[name] = number_of(text) if operation.types[name] is int else text
    if operation.whole_body is not None:
        return made
    if operation.body is not None:
        return made | _of_body(operation, carrier, arguments)
    return made | _of_query(operation, carrier, arguments)


def _of_body(operation: Operation[..., Any], carrier: Carrier, arguments: Arguments) -> dict[str, Argument]:
    sent, problems = plain(operation.content(carrier, arguments))
    if problems:
        raise Invalid(problems)
    if operation.body is None:
        return {}
    try:
        body = operation.body.model_validate(sent)
    except ValidationError as error:
        raise Invalid([_problem(found, FIELD_TYPES) for found in error.errors(include_url=False)]) from None
    return {name: getattr(body, name) for name in operation.sent}


def _of_query(operation: Operation[..., Any], carrier: Carrier, arguments: Arguments) -> dict[str, Argument]:
    made: dict[str, Argument] = {}
    problems: list[Problem] = []
    for name, text in operation.query(carrier, arguments).items():
        if name not in operation.sent:
            continue
        try:
            made[name] = _reader(operation.types[name]).validate_python(text)
        except ValidationError as error:
            found = error.errors(include_url=False)[0]
            problems.append(_problem({**found, "loc": (name,)}, QUERY_TYPES))
    for name, one in operation.sent.items():
        if arguments[name] is None and one.default is one.empty:
            problems.append(Problem((name,), f"'{name}' is missing.", "missing"))
        elif arguments[name] is None:
            made[name] = one.default
    if problems:
        raise Invalid(problems)
    return made


@lru_cache(maxsize=256)
def _reader(annotation: Any) -> TypeAdapter[Any]:  # Any: Python has no type for annotations
    bare = getattr(annotation, "__origin__", annotation)
    return TypeAdapter(Annotated[annotation, BeforeValidator(whole)] if bare is int else annotation)


def _problem(found: ErrorDetails, types: Mapping[str, str]) -> Problem:
    place = found["loc"]
    kind = found["type"]
    known = types if len(place) < 2 else {key: to for key, to in types.items() if to == "dict_type"}
    return Problem(place, refused(called(place), kind, found["msg"], found.get("ctx")), known.get(kind, kind))
