"""The page of the recipe: a table of fields for every object."""

from __future__ import annotations

import json
from typing import Any

from workbench.recipe.filters import APPLIES
from workbench.recipe.schema import ID, schema

from .prose import MADE


def page() -> str:
    """The reference page of the recipe: a table of fields for every object."""
    whole = schema()
    parts = [_HEAD, _object("PlotConfig", whole)]
    order = list(dict.fromkeys([*_ORDER, *whole["$defs"]]))
    parts += [_object(name, whole["$defs"][name]) for name in order if "properties" in whole["$defs"][name]]
    parts.append(_applies())
    return "\n".join(parts)


_ORDER = (
    *("Plan", "Caps", "ListStep", "Filters", "StepRef", "SeriesStep", "Window", "SummaryStep", "AggregateStep"),
    *("Metric", "Where", "RatioOf", "JoinStep", "On", "Param", "Control", "ControlOption", "OptionsFrom"),
)

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
        return f"list of {_type(about.get('items', {}))}{_bounds(about, 'Items', 'entries')}"
    if about.get("type") == "object":
        return f"object of {_type(about.get('additionalProperties', {}))}{_bounds(about, 'Properties', 'entries')}"
    kinds = about.get("type", "any JSON value")
    words = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    if about.get("pattern"):
        return "name"
    return words + _bounds(about, "Length", "characters") + _range(about)


def _bounds(about: dict[str, Any], what: str, noun: str) -> str:
    low, high = about.get(f"min{what}"), about.get(f"max{what}")
    if low is None and high is None:
        return ""
    return f" ({low} to {high} {noun})" if low is not None else f" (at most {high} {noun})"


def _range(about: dict[str, Any]) -> str:
    return f" ({about['minimum']} to {about['maximum']})" if "minimum" in about and "maximum" in about else ""


def _applies() -> str:
    lines = ["## Which filter applies to which source", "", "| key | sources |", "|---|---|"]
    lines += [
        f"| `{key}` | {', '.join(f'`{source}`' for source in sources)} |" for key, sources in APPLIES.items()
    ]
    return "\n".join(lines) + "\n"
