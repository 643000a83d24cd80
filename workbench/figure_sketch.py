"""A figure as a few thin lines: enough to recognise it on a card, small enough to send with a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from .export import Trace, listed, points_of
from .table import Column
from .typed_arrays import Decoded, decode, mapping

MOST_LINES = 8
MOST_POINTS = 24
SIDE = 100
"""Places are whole numbers from 0 to this, from left to right and from top to bottom."""
_DRAWN = ("scatter", "scattergl", "bar")
_Ends: TypeAlias = tuple[float, float]
_Numbers: TypeAlias = NDArray[np.float64]


class SketchLine(TypedDict):
    """A trace of a sketch: places of its points as ``[x, y]``; ``dots`` if they are not joined, or there is one."""

    dots: bool
    points: list[list[int]]


def sketch(figure: bytes) -> list[SketchLine]:
    """At most ``MOST_LINES`` traces of encoded figure bytes, each with at most ``MOST_POINTS`` points.

    Lines, points and bars are sketched, in the part of the picture that their axes have. Other kinds of traces are
    not: a figure of those gives an empty list.
    """
    content = decode(figure)
    layout = mapping(content.get("layout"))
    places: dict[str, dict[str, int]] = {}
    found = [
        (trace, *_points(trace, layout, places))
        for trace in map(mapping, listed(content.get("data")))
        if trace.get("type", "scatter") in _DRAWN and trace.get("visible", True) is True
    ]
    found = [one for one in found if len(one[1])]
    across, down = _ends(found, "x"), _ends(found, "y")
    made: list[SketchLine] = []
    for trace, x, y in _spread(found):
        place_x, place_y = str(trace.get("xaxis", "x")), str(trace.get("yaxis", "y"))
        left = _placed(x, across[place_x], _domain(layout, place_x))
        top = SIDE - _placed(y, down[place_y], _domain(layout, place_y))
        # A line of one point would show nothing.
        dots = len(x) == 1 or (trace.get("type") != "bar" and "lines" not in str(trace.get("mode", "lines")))
        points = np.stack([left, top], axis=1).round().astype(int)
        made.append({"dots": dots, "points": points.tolist()})
    return made


_Found: TypeAlias = tuple[Trace, _Numbers, _Numbers]


def _spread(found: list[_Found]) -> list[_Found]:
    """At most ``MOST_LINES`` of them, spread over all: the first ones may be of one cell."""
    if len(found) <= MOST_LINES:
        return found
    return [found[n] for n in np.linspace(0, len(found) - 1, MOST_LINES).round().astype(int)]


def _points(
    trace: Trace, layout: Mapping[str, Decoded], places: dict[str, dict[str, int]]
) -> tuple[_Numbers, _Numbers]:
    """The points of a trace that both axes can show, thinned. ``places`` has the texts of each axis so far."""
    columns = points_of(trace).columns
    if "x" not in columns or "y" not in columns:
        return np.zeros(0), np.zeros(0)
    across, down = str(trace.get("xaxis", "x")), str(trace.get("yaxis", "y"))
    x = _numbers(columns["x"], _is_log(layout, across), places.setdefault(across, {}))
    y = _numbers(columns["y"], _is_log(layout, down), places.setdefault(down, {}))
    fine = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    kept = fine[np.linspace(0, len(fine) - 1, min(len(fine), MOST_POINTS)).round().astype(int)]
    return x[kept], y[kept]


def _numbers(column: Column, log: bool, places: dict[str, int]) -> _Numbers:
    """The values of a column as numbers: times as times, other texts by their places on the axis."""
    values = column.tolist()
    if all(value is None or isinstance(value, int | float) for value in values):
        numbers = np.array([np.nan if value is None else value for value in values], float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log10(numbers) if log else numbers
    texts = [str(value) for value in values]
    try:
        return np.array(texts, "datetime64[us]").astype(np.int64).astype(float)
    except ValueError:
        return np.array([places.setdefault(text, len(places)) for text in texts], float)


def _is_log(layout: Mapping[str, Decoded], axis: str) -> bool:
    return _axis(layout, axis).get("type") == "log"


def _axis(layout: Mapping[str, Decoded], axis: str) -> Mapping[str, Decoded]:
    """``x2`` is ``xaxis2`` in the layout."""
    return mapping(layout.get(f"{axis[:1]}axis{axis[1:]}"))


def _domain(layout: Mapping[str, Decoded], axis: str) -> _Ends:
    given = _axis(layout, axis).get("domain")
    if isinstance(given, list) and len(given) == 2:
        low, high = given
        if isinstance(low, int | float) and isinstance(high, int | float) and 0 <= low < high <= 1:
            return float(low), float(high)
    return 0.0, 1.0


def _ends(found: list[_Found], letter: str) -> dict[str, _Ends]:
    """The least and the greatest value on each axis; a bar begins at 0."""
    made: dict[str, _Ends] = {}
    for trace, x, y in found:
        values = x if letter == "x" else y
        axis = str(trace.get(f"{letter}axis", letter))
        low, high = float(values.min()), float(values.max())
        if trace.get("type") == "bar" and letter == "y":
            low = min(low, 0.0)
        before = made.get(axis, (low, high))
        made[axis] = (min(low, before[0]), max(high, before[1]))
    return made


def _placed(values: _Numbers, ends: _Ends, domain: _Ends) -> _Numbers:
    low, high = ends
    share = np.full(len(values), 0.5) if high <= low else (values - low) / (high - low)
    return SIDE * (domain[0] + share * (domain[1] - domain[0]))
