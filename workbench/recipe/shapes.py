"""The models of a recipe as a tree of JSON names: which object stands where, which fields it has."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, TypeGuard, Union, get_args, get_origin

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from ..errors import Loc
from .marks import Tagged, marks
from .strict import Form, Strict


def fields_of(model: type[Strict]) -> dict[str, FieldInfo]:
    """JSON name -> field of a model."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def only_object(model: type[Strict], field: str) -> type[Strict] | None:
    """The model of a field that holds an object and nothing else, save null; None for any other field."""
    found = fields_of(model).get(field)
    parts = [part for part in _parts(found.annotation) if part is not NoneType] if found is not None else []
    return parts[0] if len(parts) == 1 and is_model(parts[0]) else None


def models_in(field: FieldInfo) -> Iterator[type[Strict]]:
    """The models that a field holds: as its value, in a list or as values of a mapping."""
    waiting: list[Form] = [field.annotation]
    for annotation in waiting:
        for part in _parts(annotation):
            if is_model(part):
                yield part
            elif get_origin(part) in (list, dict):
                waiting += get_args(part)


def models_under(model: type[Strict]) -> list[type[Strict]]:
    """The model and every model that it can contain, each once, in the order of the fields."""
    found = [model]
    for field in model.model_fields.values():
        for inner in models_in(field):
            found += [one for one in models_under(inner) if one not in found]
    return found


def model_at(model: type[Strict], raw: JsonValue, loc: Loc) -> type[Strict] | None:
    """The model of the object at ``loc`` of ``raw``, or None if there is no such object."""
    annotation: Form = model
    for key in loc:
        owner = _model_of(annotation, raw)
        if owner is not None:
            field = fields_of(owner).get(str(key))
            annotation = field.annotation if field else None
        else:
            annotation = _element(annotation, raw)
        raw = _inside(raw, key)
    return _model_of(annotation, raw)


def _inside(raw: JsonValue, key: str | int) -> JsonValue:
    """What stands under a key or index, null where nothing does."""
    if isinstance(raw, dict):
        return raw.get(str(key))
    return raw[key] if isinstance(raw, list) and isinstance(key, int) and key < len(raw) else None


def without(model: type[Strict], raw: JsonValue, places: list[Loc]) -> JsonValue | None:
    """A copy of ``raw`` without the values at ``places``, each cut at the nearest field that may be missing.

    None where that is not possible: a required field would go, or the params, to which others refer.
    """
    rest = copy.deepcopy(raw)
    for place in places:
        cut = next((place[:n] for n in range(len(place), 0, -1) if may_go(model, raw, place[:n])), None)
        if cut is None or cut == ("params",):
            return None
        owner = rest
        for key in cut[:-1]:
            owner = owner.get(str(key)) if isinstance(owner, dict) else None
        if isinstance(owner, dict):
            owner.pop(str(cut[-1]), None)
    return rest


def may_go(model: type[Strict], raw: JsonValue, place: Loc) -> bool:
    """Whether ``raw`` keeps its shape without the value at ``place``: a field that is optional or unknown."""
    owner = model_at(model, raw, place[:-1])
    if owner is None:
        return False
    field = fields_of(owner).get(str(place[-1]))
    return field is None or not field.is_required()


def is_model(part: Form) -> TypeGuard[type[Strict]]:
    return isinstance(part, type) and issubclass(part, Strict)


def _parts(annotation: Form) -> Iterator[Form]:
    """The members of a union, through Annotated."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inside, *metadata = get_args(annotation)
        tagged = next((mark for mark in metadata if isinstance(mark, Tagged)), None)
        yield from tagged.models if tagged is not None else _parts(inside)
    elif origin in (Union, UnionType):
        for part in get_args(annotation):
            yield from _parts(part)
    else:
        yield annotation


def _model_of(annotation: Form, raw: JsonValue) -> type[Strict] | None:
    tagged = next(marks(annotation, Tagged), None)
    if tagged is not None:
        return tagged.model_of(raw)
    return next((part for part in _parts(annotation) if is_model(part)), None) if isinstance(raw, dict) else None


def _element(annotation: Form, raw: JsonValue) -> Form:
    wanted = dict if isinstance(raw, dict) else list
    for part in _parts(annotation):
        if get_origin(part) is wanted:
            return get_args(part)[-1]
    return None
