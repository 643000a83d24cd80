"""Rules about tables in a figure: rows that lie below its edge."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

import numpy as np

from ..messages import counted, spaced
from ..typed_arrays import Decoded, mapping
from .figure_reader import Drawn, Trace, length
from .observation import Observation
from .places import LETTER, LINE, Places

_FIGURE, _ABOVE, _BELOW, _CELL, _HEADER = 600, 100, 80, 20, 28
"""px: the height of an exported figure that names none; plotly's own margins and heights of rows."""


def table_cut(drawn: Drawn) -> Iterator[Observation]:
    """Tables whose rows need more height than the figure has. A row is at least as high as it is set to be, and as its
    texts need, which go on in the next line where a column is narrow."""
    template = mapping(drawn.layout.get("template"))
    margins = [mapping(held.get("margin")) for held in (drawn.layout, mapping(template.get("layout")))]
    figure = _first(drawn.layout.get("height"), mapping(template.get("layout")).get("height"), usual=_FIGURE)
    above, below = (
        _first(*(margin.get(side) for margin in margins), usual=usual)
        for side, usual in (("t", _ABOVE), ("b", _BELOW))
    )
    letters = LINE * Places(drawn).font
    for trace in drawn.traces:
        rows = _rows(trace, "cells")
        if trace.kind != "table" or not trace.shown or not rows:
            continue
        header = _rows(trace, "header") * _height(trace, template, "header", _HEADER)
        row = _height(trace, template, "cells", _CELL)
        room = (figure - above - below) * _share(trace)
        heights = [max(row, lines * letters + row - letters) for lines in _lines(trace, drawn, letters / LINE)]
        if header + sum(heights) > room + 1:
            fit = int((np.cumsum(heights) + header <= room + 1).sum())
            needed = header + sum(heights) + (figure - room)
            message = (
                f"{trace.label} shows at most {counted(fit, 'row')} of its {spaced(rows)} in a picture: they need a "
                f"figure {needed:.0f} px high, and it has {figure:.0f} px."
            )
            yield Observation(message, trace.n)


def _rows(trace: Trace, part: str) -> int:
    """How many rows the header or the cells have; a column of a header may be a single text."""
    columns = mapping(trace.raw.get(part)).get("values")
    held = columns if isinstance(columns, list) else []
    return max(
        (length(column) if isinstance(column, list) else max(length(column), 1) for column in held), default=0
    )


def _lines(trace: Trace, drawn: Drawn, size: float) -> list[int]:
    """How many lines the texts of each row take, in columns of a wide figure."""
    columns = mapping(trace.raw.get("cells")).get("values")
    held = [column for column in columns if isinstance(column, list)] if isinstance(columns, list) else []
    lines = [1] * _rows(trace, "cells")
    given = trace.raw.get("columnwidth")
    if not held or length(given):
        return lines
    fit = max(int(Places(drawn).size["x"] / len(held) / (size * LETTER)), 1)
    for column in held:
        for place, cell in enumerate(column):
            words = textwrap.wrap(cell, fit) if isinstance(cell, str) else ()
            lines[place] = max(lines[place], len(words))
    return lines


def _height(trace: Trace, template: Mapping[str, Decoded], part: str, usual: float) -> float:
    tables = mapping(template.get("data")).get("table")
    own = mapping(mapping(tables[0]).get(part)) if isinstance(tables, list) and tables else {}
    return _first(mapping(trace.raw.get(part)).get("height"), own.get("height"), usual=usual)


def _share(trace: Trace) -> float:
    """The part of the height between the margins that a table has."""
    domain = mapping(trace.raw.get("domain")).get("y")
    edges = [edge for edge in domain if isinstance(edge, int | float)] if isinstance(domain, list) else []
    return edges[1] - edges[0] if len(edges) == 2 else 1.0


def _first(*given: Decoded, usual: float) -> float:
    """The first of these that is a number."""
    numbers = (one for one in given if isinstance(one, int | float) and not isinstance(one, bool))
    return float(next(numbers, usual))
