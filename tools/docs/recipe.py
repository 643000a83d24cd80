"""The page of the recipe: a table of fields for every object."""

from __future__ import annotations

import json
from typing import Any

from workbench.recipe.filters import APPLIES
from workbench.recipe.plot import PlotConfig
from workbench.recipe.schema import ID, bounds_of, range_of, schema
from workbench.recipe.shapes import models_under

from .prose import MADE


def page() -> str:
    """The reference page of the recipe: a table of fields for every object."""
    whole = schema()
    parts = [_HEAD, _object("PlotConfig", whole)]
    parts += [_object(model.__name__, whole["$defs"][model.__name__]) for model in models_under(PlotConfig)[1:]]
    parts.append(_applies())
    return "\n".join(parts)


_HEAD = f"""# The recipe: every object and field

<!-- {MADE} -->

The same as JSON Schema: `workbench/recipe/plot-config.schema.json` (`{ID}`).

Unknown properties are refused in every object. Texts and booleans are never numbers; `5.0` is an integer where
one is wanted. `null` stands only where the type says so. Step and param names are letters, digits and underscores,
no digit first, at most 200 characters.
"""


def _object(name: str, part: dict[str, Any]) -> str:
    lines = [f"## {name}", "", part["description"].replace("\n\n", " ").replace("\n", " ").replace("``", "`"), ""]
    lines += ["| field | type | required | default | meaning |", "|---|---|---|---|---|"]
    required = set(part.get("required", ()))
    for field, about in part["properties"].items():
        default = f"`{json.dumps(about['default'])}`" if "default" in about else ""
        cells = [f"`{field}`", _type(about), "yes" if field in required else "", default, about["description"]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _type(about: dict[str, Any]) -> str:
    """A schema in words, for one cell of a table."""
    if "$ref" in about:
        name = about["$ref"].rsplit("/", 1)[-1]
        if name == "JsonValue":
            return "any JSON value"
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf"):
        if key in about:
            return " or ".join(_type(part) for part in about[key])
    if "const" in about:
        return f"`{about['const']}`"
    if "enum" in about:
        return " or ".join(f"`{value}`" for value in about["enum"])
    if about.get("type") == "array":
        return f"list of {_type(about.get('items', {}))}{bounds_of(about, 'Items', 'entries')}"
    if about.get("type") == "object":
        return (
            f"object of {_type(about.get('additionalProperties', {}))}{bounds_of(about, 'Properties', 'entries')}"
        )
    kinds = about.get("type", "any JSON value")
    words = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    if about.get("pattern"):
        return "name"
    return words + bounds_of(about, "Length", "characters") + range_of(about)


def _applies() -> str:
    lines = ["## Which filter applies to which source", "", "| key | sources |", "|---|---|"]
    lines += [
        f"| `{key}` | {', '.join(f'`{source}`' for source in sources)} |" for key, sources in APPLIES.items()
    ]
    return "\n".join(lines) + "\n"
