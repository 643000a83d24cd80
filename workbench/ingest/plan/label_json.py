"""Labels as JSON, as they come with a request: checked, and made labels again."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from ...errors import BadRequest, Invalid, Problem, instead
from ...readers.reading import SIGNS
from ...records.values import clean_text
from .labels import Labels
from .ratings import ratings_of

_TEXTS = ("specification", "batch", "instance", "measurement", "part", "protocol")
_PROPERTIES = ("design", "cell", "test")
_KNOWN = (*_TEXTS, "tags", "ratings", *_PROPERTIES, "reading")


def labels_of(given: Mapping[str, JsonValue], loc: tuple[str | int, ...] = ()) -> Labels:
    """The labels of a JSON object that :meth:`Labels.said` made.

    Raises
    ------
    Invalid
        For anything that no sheet and no rule for names can say; ``loc`` is where they stand.
    """
    for name, value in given.items():
        if name not in _KNOWN:
            message = f"There is no label '{name[:80]}'. {instead(name, _KNOWN, 'labels')}"
            raise Invalid(Problem((*loc, name), message, "extra_forbidden"))
        if not _is_sound(name, value):
            raise Invalid(Problem((*loc, name), f"The label '{name}' does not take this value.", "value_error"))
    try:
        named = given.get("ratings")
        ratings = ratings_of(named) if isinstance(named, Mapping) else {}
    except BadRequest as error:
        raise Invalid(Problem((*loc, "ratings"), str(error), "value_error")) from None
    return Labels.of({**given, "ratings": ratings})


def _is_sound(name: str, value: JsonValue) -> bool:
    if name in _TEXTS:
        return _is_text(value)
    if name == "tags":
        return isinstance(value, list) and all(map(_is_text, value))
    if not isinstance(value, Mapping):
        return False
    if name == "reading":
        return all(_is_reading(key, one) for key, one in value.items())
    if name == "ratings":
        return all(_is_quantity(one) for one in value.values())
    return all(_is_text(key) and (_is_scalar(one) or _is_quantity(one)) for key, one in value.items())


def _is_reading(name: str, value: JsonValue) -> bool:
    if name == "column_map":
        return isinstance(value, Mapping) and all(_is_text(one) for pair in value.items() for one in pair)
    return (name == "sign" and value in SIGNS) or (name == "format" and _is_text(value))


def _is_quantity(value: JsonValue) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() == {"value", "unit"}
        and _is_scalar(value["value"])
        and not isinstance(value["value"], str | bool)
        and _is_text(value["unit"])
    )


def _is_scalar(value: JsonValue) -> bool:
    return isinstance(value, bool | int | float) or _is_text(value)


def _is_text(value: JsonValue) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return bool(clean_text(value)) or not value
    except ValueError:
        return False
