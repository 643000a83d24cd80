"""Bodies that are no records: a few named fields, each of one JSON type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import Invalid, Problem, instead
from workbench.records.values import plain_name

_WORDS = {str: "a text", bool: "true or false", int: "a whole number", dict: "an object", list: "a list"}


def read(
    body: Mapping[str, Any],
    types: Mapping[str, type],
    *,
    required: Sequence[str] = (),
    nullable: Sequence[str] = (),
) -> dict[str, Any]:
    """The fields of a body, each of its type; null only where ``nullable`` says so, and then left in.

    Raises
    ------
    Invalid
        With everything that is missing, unknown or of another type.
    """
    problems = [
        Problem((name,), f"There is no '{name[:80]}' here. {instead(name, types, 'fields')}", "extra_forbidden")
        for name in body
        if name not in types
    ]
    problems += [Problem((name,), f"'{name}' is missing.", "missing") for name in required if name not in body]
    for name, wanted in types.items():
        value = body.get(name)
        if name not in body or (value is None and name in nullable):
            continue
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            problems.append(Problem((name,), f"'{name}' is {_WORDS[wanted]}.", f"{wanted.__name__}_type"))
        elif isinstance(value, str) and ("\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value)):
            problems.append(Problem((name,), "Text must be whole Unicode characters without NUL.", "value_error"))
    if problems:
        raise Invalid(problems)
    return dict(body)


def texts(given: Sequence[Any] | None, name: str) -> list[str]:
    """The texts of a list, each once.

    Raises
    ------
    Invalid
        If something in it is no text.
    """
    problems = [
        Problem((name, place), "This is a list of texts.", "string_type")
        for place, value in enumerate(given or [])
        if not isinstance(value, str)
    ]
    if problems:
        raise Invalid(problems)
    return list(dict.fromkeys(given or []))


def name(value: Any, loc: tuple[str | int, ...]) -> str:
    """A name that a record may have.

    Raises
    ------
    Invalid
        If it is missing, no text, blank or too long.
    """
    if not isinstance(value, str):
        raise Invalid(Problem(loc, f"'{loc[-1]}' is missing.", "missing"))
    try:
        return plain_name(value)
    except ValueError as error:
        raise Invalid(Problem(loc, str(error), "value_error")) from None
