"""A figure as a few thin lines: enough to recognise it on a card, small enough to send with a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypeAlias

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from .figure_traces import Trace, listed, points_of
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
    """A trace of a sketch: places of its points as ``[x, y]``; ``dots`` if they are not joined, or there is one.
    With ``bars`` each two of them are the ends of a bar."""

    dots: bool
    points: list[list[int]]
    bars: NotRequired[bool]


def sketch(figure: bytes) -> list[SketchLine]:
    """At most ``MOST_LINES`` traces of encoded figure bytes, each with at most ``MOST_POINTS`` points or bars.

    Lines, points and bars are sketched, in the part of the picture that their axes have. Other kinds of traces are
    not: a figure of those gives an empty list.
    """
    content = decode(figure)
    layout = mapping(content.get("layout"))
    places: dict[str, dict[str, int]] = {}
    shown = [
        trace
        for trace in map(mapping, listed(content.get("data")))
        if trace.get("type", "scatter") in _DRAWN and trace.get("visible", True) is True
    ]
    bars = _Bars(layout, [trace for trace in shown if trace.get("type") == "bar"])
    found = [(trace, *_points(trace, layout, places, bars)) for trace in shown]
    found = [one for one in found if len(one[1])]
    across, down = _ends(found, "x"), _ends(found, "y")
    made: list[SketchLine] = []
    for trace, x, y in _spread(found):
        place_x, place_y = str(trace.get("xaxis", "x")), str(trace.get("yaxis", "y"))
        left = _placed(x, across[place_x], layout, place_x)
        top = SIDE - _placed(y, down[place_y], layout, place_y)
        points = np.stack([left, top], axis=1).round().astype(int).tolist()
        if trace.get("type") == "bar":
            made.append({"dots": False, "points": points, "bars": True})
        else:  # a line of one point would show nothing
            made.append({"dots": len(x) == 1 or "lines" not in str(trace.get("mode", "lines")), "points": points})
    return made


class _Bars:
    """Where bars begin and end: beside each other, or on those that were drawn before."""

    def __init__(self, layout: Mapping[str, Decoded], traces: list[Trace]) -> None:
        self._mode = layout.get("barmode", "group")
        self._traces = traces
        self._sums: dict[tuple[str, float, bool], float] = {}

    def ends(self, trace: Trace, at: _Numbers, length: _Numbers, base: _Numbers) -> tuple[_Numbers, _Numbers]:
        """Places along the axis of the categories, and values along the other: each two are the ends of a bar."""
        if self._mode in ("stack", "relative"):
            axes = f"{trace.get('xaxis', 'x')}{trace.get('yaxis', 'y')}"
            keys = [(axes, float(place), bool(size < 0)) for place, size in zip(at, length, strict=True)]
            for n, key in enumerate(keys):
                base[n] += self._sums.get(key, 0.0)
                self._sums[key] = base[n] + length[n]
        elif self._mode == "group" and len(self._traces) > 1:
            apart = np.diff(np.unique(at)).min(initial=np.inf)
            width = 0.8 * (apart if np.isfinite(apart) else 1.0) / len(self._traces)
            number = next(n for n, one in enumerate(self._traces) if one is trace)
            at = at + width * (number - (len(self._traces) - 1) / 2)
        return np.repeat(at, 2), np.stack([base, base + length], axis=1).ravel()


_Found: TypeAlias = tuple[Trace, _Numbers, _Numbers]


def _spread(found: list[_Found]) -> list[_Found]:
    """At most ``MOST_LINES`` of them, spread over all: the first ones may be of one cell."""
    if len(found) <= MOST_LINES:
        return found
    return [found[n] for n in np.linspace(0, len(found) - 1, MOST_LINES).round().astype(int)]


def _points(
    trace: Trace, layout: Mapping[str, Decoded], places: dict[str, dict[str, int]], bars: _Bars
) -> tuple[_Numbers, _Numbers]:
    """The points of a trace that both axes can show, thinned; of bars their ends. ``places`` has the texts of each axis
    so far."""
    columns = points_of(trace).columns
    if "x" not in columns or "y" not in columns:
        return np.zeros(0), np.zeros(0)
    across, down = str(trace.get("xaxis", "x")), str(trace.get("yaxis", "y"))
    for axis in (across, down):
        order = listed(_axis(layout, axis).get("categoryarray"))
        places.setdefault(axis, {str(text): place for place, text in enumerate(order)})
    is_bar, flat = trace.get("type") == "bar", trace.get("orientation") == "h"
    x = _numbers(columns["x"], _is_log(layout, across) and not (is_bar and flat), places[across])
    y = _numbers(columns["y"], _is_log(layout, down) and not (is_bar and not flat), places[down])
    fine = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    kept = fine[np.linspace(0, len(fine) - 1, min(len(fine), MOST_POINTS)).round().astype(int)]
    if not is_bar or not len(kept):
        return x[kept], y[kept]
    base, from_times = np.zeros(len(kept)), False
    if "base" in columns:
        given = _numbers(columns["base"], False, {})[kept]
        base = np.where(np.isfinite(given), given, 0.0)
        from_times = any(isinstance(value, str) for value in columns["base"].tolist())
    # Bars that begin at times have their lengths in ms; times are here in microseconds.
    length = (x if flat else y)[kept] * (1000.0 if from_times else 1.0)
    if flat:
        at, along = bars.ends(trace, y[kept], length, base)
        return _scaled(along, _is_log(layout, across)), at
    at, along = bars.ends(trace, x[kept], length, base)
    return at, _scaled(along, _is_log(layout, down))


def _scaled(ends: _Numbers, log: bool) -> _Numbers:
    """The ends of bars on their axis; a logarithmic one has no 0: there they begin a decade below the least end."""
    if not log:
        return ends
    above = ends[ends > 0]
    least = float(above.min()) / 10 if len(above) else 1.0
    return np.log10(np.where(ends > 0, ends, least))


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
    """The least and the greatest value on each axis."""
    made: dict[str, _Ends] = {}
    for trace, x, y in found:
        values = x if letter == "x" else y
        axis = str(trace.get(f"{letter}axis", letter))
        low, high = float(values.min()), float(values.max())
        before = made.get(axis, (low, high))
        made[axis] = (min(low, before[0]), max(high, before[1]))
    return made


def _placed(values: _Numbers, ends: _Ends, layout: Mapping[str, Decoded], axis: str) -> _Numbers:
    low, high = ends
    share = np.full(len(values), 0.5) if high <= low else (values - low) / (high - low)
    if _axis(layout, axis).get("autorange") == "reversed":
        share = 1 - share
    domain = _domain(layout, axis)
    return SIDE * (domain[0] + share * (domain[1] - domain[0]))
