"""The JSON Schema of the models, and the file that publishes it."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from .plot import PlotConfig
from .strict import Strict

VERSION = "0.1.0"
"""Of the shape of a recipe: a saved one has no version field, so that of the schema's ``$id`` names it."""
ID = f"urn:battery-workbench:plot-config:{VERSION}"

SCHEMA_FILE = Path(__file__).with_name("plot-config.schema.json")


class _Schema(GenerateJsonSchema):
    """Without titles made from names, without null defaults, and with names of objects checked as such."""

    def field_title_should_be_set(self, schema: core_schema.CoreSchema) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if "default" in schema and schema["default"] is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        made: JsonSchemaValue = {"type": "object"}
        if "keys_schema" in schema:
            names = self.generate_inner(schema["keys_schema"]).copy()
            names.pop("type", None)
            made["propertyNames"] = names
        if "values_schema" in schema:
            made["additionalProperties"] = self.generate_inner(schema["values_schema"])
        for bound, word in (("min_length", "minProperties"), ("max_length", "maxProperties")):
            if bound in schema:
                # Both keys of each pair are in pydantic's schema of mappings; mypy follows only literals.
                made[word] = schema[bound]  # type: ignore[literal-required]
        return made


def schema() -> JsonSchemaValue:
    """JSON Schema (2020-12) of PlotConfig, with a sentence for every field and its version in ``$id``."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": ID}
    return {**head, **schema_of(PlotConfig)}


def schema_of(model: type[Strict]) -> JsonSchemaValue:
    """JSON Schema of any model of a recipe, in the same style."""
    return model.model_json_schema(by_alias=True, schema_generator=_Schema)


def schema_text() -> str:
    """The schema as its file holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def bounds_of(about: JsonSchemaValue, what: str, noun: str) -> str:
    """How many entries or characters a schema allows, in brackets; ``what`` is the end of its keys."""
    low, high = about.get(f"min{what}"), about.get(f"max{what}")
    if low is None and high is None:
        return ""
    return f" ({low} to {high} {noun})" if low is not None else f" (at most {high} {noun})"


def range_of(about: JsonSchemaValue) -> str:
    """The least and the greatest number that a schema allows, in brackets."""
    return f" ({about['minimum']} to {about['maximum']})" if "minimum" in about and "maximum" in about else ""
