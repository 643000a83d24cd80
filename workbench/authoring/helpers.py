"""The helpers of ``workbench.battery`` in words, taken from their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from .. import battery

_PARTS = (
    *("Coloring", "color_bar", "differential_capacity", "directions", "resistance_column"),
    *("rest_limit", "shades", "slope_on_grid", "unit_text"),
)
"""Helpers that the others use or return. The text names them and does not describe them."""


Helper: TypeAlias = Callable[..., None] | tuple[str, ...]


@cache
def helpers() -> str:
    """One line for each helper: how it is called, and what it gives."""
    told = [name for name in battery.__all__ if _is_shown(name)]
    lines = [_line(name, getattr(battery, name)) for name in told if name not in _PARTS]
    parts = [name for name in told if name in _PARTS]
    return "\n".join([*lines, f"- also, seldom needed: {', '.join(parts)}"])


def _is_shown(name: str) -> bool:
    thing = getattr(battery, name)
    return not (inspect.isclass(thing) and issubclass(thing, Warning))


def _line(name: str, thing: Helper) -> str:
    if not callable(thing):
        return f"- {name}: {', '.join(thing)}" if isinstance(thing, tuple) else f"- {name}"
    return f"- {name}{_called(thing)}: {_told(inspect.getdoc(thing) or '')}"


def _told(doc: str) -> str:
    """The first paragraph of a docstring, and what it says of the columns that come back."""
    first, _, rest = doc.partition("\n\n")
    returned = re.search(r"^Returns(?:\n-+\n)?\s(.*?)(?:\.\s|\.$|\n\n)", rest, re.DOTALL | re.MULTILINE)
    told = [first, f"Returns {returned[1]}." if returned else ""]
    return " ".join(" ".join(told).split()).replace("``", "`")


def _called(thing: Callable[..., None]) -> str:
    """The arguments without their types."""
    signature = inspect.signature(thing)
    bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))
