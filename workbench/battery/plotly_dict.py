"""The types of traces and parts of layouts, as plotly takes them."""

from __future__ import annotations

from typing import Any, TypeAlias

PlotlyValue: TypeAlias = Any
"""A property of a trace or layout. plotly has no types; it checks the values when it makes the figure."""
PlotlyDict: TypeAlias = dict[str, PlotlyValue]
"""A trace, or a part of a layout: property -> value."""


def parts_of(value: PlotlyValue) -> list[PlotlyDict]:
    """The parts in a list of a layout, such as its annotations. Without a list it has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
