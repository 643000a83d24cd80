"""JSON Schemas of what goes over the wire, derived from the records' declarations."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from workbench.records import Record
from workbench.records.record import Member

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
NUMBER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}
TIME_OR_NULL: Schema = {"type": ["string", "null"], "format": "date-time"}
FREE: Schema = {"type": "object"}
ANY: Schema = {}
NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 500, "pattern": r"\S"}
FILLED: Schema = {"type": "string", "minLength": 1, "pattern": r"\S"}
TITLE_OR_NULL: Schema = {**NAME, "type": ["string", "null"]}
ROWS: Schema = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": ["number", "string", "boolean", "null"]}},
}


def record(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object with these keys; others may be added by a later server."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


def body(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """A request body with these keys and no others."""
    return {**record(required, optional), "additionalProperties": False}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def listed(items: Schema) -> Schema:
    """A page of a list."""
    return record({"items": array(items), "count": NUMBER, "total": NUMBER})


def kind(cls: type[Record]) -> Schema:
    """A reference to the schema of a kind of record."""
    return ref(cls.__name__)


@cache
def _of_kind(cls: type[Record]) -> Schema:
    made = cls.model_json_schema(by_alias=True, mode="serialization", ref_template="#/components/schemas/{model}")
    made.pop("additionalProperties", None)
    for name in WITHHELD.get(cls.table, ()):
        made["properties"].pop(name)
        made["required"] = [other for other in made["required"] if other != name]
    return made


def of_kinds(kinds: Iterable[type[Record]], more: Mapping[str, Mapping[str, Schema]]) -> dict[str, Schema]:
    """The component schemas of these kinds and of the shapes inside them; ``more`` are keys that the wire adds."""
    made: dict[str, Schema] = {}
    for cls in kinds:
        schema = copy.deepcopy(_of_kind(cls))
        made.update(schema.pop("$defs", {}))
        schema["properties"].update(more.get(cls.__name__, {}))
        made[cls.__name__] = schema
    return made


WITHHELD: dict[str, frozenset[str]] = {
    "measurements": frozenset({"files"}),
    "raw_data": frozenset({"piece"}),
}
"""Fields that stand in no answer: bytes are asked for by name, never by what they are kept under."""


def given(cls: type[Record], *, changing: bool = False, more: Mapping[str, Schema] | None = None) -> Schema:
    """The body that makes a record of a kind, or changes one: what a caller may give, under its wire names."""
    whole = copy.deepcopy(cls.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}"))
    members: Mapping[str, Member] = cls.members()
    stay = cls.fixed if changing else frozenset()
    names = [name for name in cls.given() if name not in cls.kept | stay]
    properties = {members[name].wire: whole["properties"][name] for name in names}
    properties["name"] = {**properties["name"], **NAME}
    required = [members[name].wire for name in names if name in whole.get("required", []) and not changing]
    return {
        "type": "object",
        "properties": {**properties, **(more or {})},
        "required": required,
        "additionalProperties": False,
    }
