"""The fields and limits of a recipe in words, taken from its models: in few lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache

from pydantic.json_schema import JsonSchemaValue

from ..recipe.filters import ALL, APPLIES
from ..recipe.plot import AuthoringDraft
from ..recipe.schema import bounds_of, range_of, schema_of
from ..recipe.shapes import models_under

_KINDS = {"string": "text"}
_HEAD = (
    "`field?` may be left out, `= x` is its default; all others are required, no more are allowed. "
    "Types are strict, null only where it is listed. "
    "In brackets: characters of a text, entries of a list."
)


@cache
def fields() -> str:
    """Every object of a recipe, with all its fields, their types and limits; the rules say what they mean."""
    whole = schema_of(AuthoringDraft)
    parts = whole["$defs"]
    words = _Words(parts)
    lines = [_HEAD, *words.aliases(), ""]
    lines.append(_object("AuthoringDraft", whole, words))
    for model in models_under(AuthoringDraft)[1:]:
        name = model.__name__
        lines += _filters(parts[name], words) if name == "Filters" else [_object(name, parts[name], words)]
    text = "\n".join(lines).replace("(at most ", "(≤ ")
    return re.sub(r"(\d) (?:characters|entries)\)", r"\1)", text)


def _object(name: str, part: JsonSchemaValue, words: _Words) -> str:
    told = [
        f"{field}{_optional(field, part, about)}: {words.of(about)}" for field, about in part["properties"].items()
    ]
    return f"{name} {{{', '.join(told)}}}"


def _optional(field: str, part: JsonSchemaValue, about: JsonSchemaValue) -> str:
    if field in part.get("required", ()):
        return ""
    return f"? = {json.dumps(about['default'])}" if about.get("default") is not None else "?"


def _filters(part: JsonSchemaValue, words: _Words) -> Iterator[str]:
    """The keys of Filters, each with the sources it applies to: any other pair is an error."""
    yield "Filters: each for the sources in brackets; all must hold, a null one is absent."
    for key, about in part["properties"].items():
        sources = "all" if set(APPLIES[key]) == set(ALL) else ", ".join(APPLIES[key])
        yield f"  {key}?: {words.of(about).removesuffix(' | null')} [{sources}]"


class _Words:
    """Types in words. A type of many fields has a name of its own, defined once."""

    def __init__(self, parts: JsonSchemaValue) -> None:
        step = parts["SeriesStep"]["properties"]
        self._known: dict[str, str] = {}
        self._told: list[str] = []
        self._name("Name", parts["StepRef"]["properties"]["from"], "{}: letters, digits and _, no digit first")
        self._name("Short", step["x"], "{}; of a column its exact name, unit and all")
        self._name("Scalar", parts["Filters"]["properties"]["name"], "{}")
        self._name("Ids", step["ids"], "{}")

    def aliases(self) -> list[str]:
        return self._told

    def _name(self, name: str, about: JsonSchemaValue, told: str) -> None:
        self._told.append(f"{name} = {told.format(self.of(about))}.")
        self._known[_key(about)] = name

    def of(self, about: JsonSchemaValue) -> str:
        """A schema in words."""
        if _key(about) in self._known:
            return self._known[_key(about)]
        if "$ref" in about:
            name = about["$ref"].rsplit("/", 1)[-1]
            return "any JSON value" if name == "JsonValue" else str(name)
        for key in ("anyOf", "oneOf"):
            if key in about:
                return self._union(about[key])
        if "const" in about:
            return json.dumps(about["const"])
        if "enum" in about:
            return " | ".join(json.dumps(value) for value in about["enum"])
        if about.get("type") == "array":
            return f"list of {self.of(about.get('items', {}))}{bounds_of(about, 'Items', 'entries')}"
        if about.get("type") == "object":
            inside = about.get("additionalProperties", {})
            key = self._key_of(about.get("propertyNames", {}))
            return f"{{{key}: {self.of(inside)}}}{bounds_of(about, 'Properties', 'entries')}"
        kinds = about.get("type", "any JSON value")
        named = " | ".join(_KINDS.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
        return named + bounds_of(about, "Length", "characters") + range_of(about)

    def _key_of(self, names: JsonSchemaValue) -> str:
        if not names:
            return "text"
        return self.of({"type": "string", **names})

    def _union(self, parts: list[JsonSchemaValue]) -> str:
        """The members of a union; those of a named one under its name."""
        whole = _key({"anyOf": parts})
        for known, name in self._known.items():
            inside = json.loads(known).get("anyOf", [])
            if inside and whole != known and all(part in parts for part in inside):
                rest = [self.of(part) for part in parts if part not in inside]
                return " | ".join([name, *rest])
        return " | ".join(self.of(part) for part in parts)


def _key(about: JsonSchemaValue) -> str:
    """What a schema allows, whatever it is described as."""
    shape = {key: value for key, value in about.items() if key not in ("description", "default", "title")}
    if "oneOf" in shape:
        shape["anyOf"] = shape.pop("oneOf")
    return json.dumps(shape, sort_keys=True)
