"""The helpers of ``workbench.battery`` in words, taken from their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from .. import battery
from ..battery.checked import T_COLUMNS
from .topics import Wish

_PARTS = (
    *("Coloring", "HalfCycle", "Smoothing", "axis_titles", "color_bar", "differential_capacity", "directions"),
    *(
        "off_course",
        "pale",
        "paper",
        "per_area",
        "resistance_column",
        "rest_limit",
        "shades",
        "short_names",
        "slope_on_grid",
        "smoothing_window",
        "unit_text",
    ),
)
"""Helpers that the others use or return. The text at most names them."""
_DRAWN = frozenset(["dvdq", "end_labels", "nyquist_layout", "nyquist_trace", "pulse_resistance"])
_SPECIAL = _DRAWN | {"stands_apart"}
"""Helpers of one kind of plot, which are described like analyses."""
MOST = 2
"""Analyses that are described to the writer of one wish; the others are named."""
_BESIDE = frozenset([*T_COLUMNS, "n", "Reference [A.h]", "Reference kind"])
"""Columns of most analyses that say from what the result was computed."""
_UNIT = re.compile(r"^(\w+) : (V|A|m|A\.h|s|g|K|degC|Ohm|Hz|1/h|W)[,;]", re.MULTILINE)
_SENTENCE = re.compile(r"(?<!\.)\.(?:\s|$)|\n\n")

Helper: TypeAlias = Callable[..., None] | tuple[str, ...]


@cache
def helpers() -> str:
    """One line for each helper that draws or prepares: how it is called, and what it gives."""
    told = [name for name in battery.__all__ if _is_shown(name) and not is_analysis(name) and name not in _PARTS]
    return "\n".join(_line(name, getattr(battery, name)) for name in told)


def analyses(wish: Wish, most: int = MOST, *, columns: bool = True, others: bool = True) -> str:
    """The analyses: up to ``most`` near the wish with how they are called and what they give, with ``others`` the rest
    by name. ``columns``: also with those columns that their descriptions do not name."""
    names = [name for name in battery.__all__ if is_analysis(name)]
    # After what the wish calls by name comes what draws: a wish about aged cells is near many analyses.
    near = sorted(wish.ranked(names), key=lambda name: (name not in wish.named, name not in _DRAWN))[:most]
    lines = [_line(name, getattr(battery, name), columns=columns) for name in near]
    rest = ", ".join([*(name for name in names if name not in near), *_PARTS]) if others else ""
    return "\n".join([*lines, f"- {'also' if near else 'there are'}: {rest}"] if rest else lines)


def is_analysis(name: str) -> bool:
    """Whether a helper is of one kind of plot: it computes the table of an analysis, in a package of ``battery``."""
    if name in _SPECIAL:
        return True
    home = getattr(getattr(battery, name), "__module__", "")
    return home.startswith(f"{battery.__name__}.") and home.count(".") > battery.__name__.count(".") + 1


def _is_shown(name: str) -> bool:
    thing = getattr(battery, name)
    return not (inspect.isclass(thing) and issubclass(thing, Exception))


def _line(name: str, thing: Helper, *, columns: bool = False) -> str:
    if not callable(thing):
        return f"- {name}: {len(thing)} colours" if isinstance(thing, tuple) else f"- {name}"
    doc = inspect.getdoc(thing) or ""
    told = _told(doc)
    return f"- {name}{_called(thing)}: {told}{_columns(thing, told) if columns else ''}{_units(doc)}"


def _told(doc: str) -> str:
    """The first paragraph of a docstring, and what it says of the columns that come back."""
    first, _, rest = doc.partition("\n\n")
    returned = re.search(r"^Returns(?:\n-+\n|\s)", rest, re.MULTILINE)
    gives = _SENTENCE.split(rest[returned.end() :], maxsplit=1)[0] if returned else ""
    return " ".join(f"{first} {f'Returns {gives}.' if gives else ''}".split()).replace("``", "`")


def _columns(thing: Callable[..., None], told: str) -> str:
    """The columns of an analysis that are not named yet, but for those beside its result."""
    columns = [one for one in getattr(thing, "columns", ()) if one not in _BESIDE and f"`{one}`" not in told]
    return f" Columns: {', '.join(f'`{one}`' for one in columns)}." if columns else ""


def _units(doc: str) -> str:
    """The units of the parameters that have one: a window in volts is not one in points."""
    found = _UNIT.findall(doc)
    return f" ({', '.join(f'{name} in {unit}' for name, unit in found)})" if found else ""


def _called(thing: Callable[..., None]) -> str:
    """The arguments without their types."""
    signature = inspect.signature(thing)
    bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))
