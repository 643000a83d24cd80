"""Names at the ends of curves, in place of a legend that would be larger than the plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, log10
from typing import TypeAlias

import numpy as np
from plotly.basedatatypes import BaseTraceType

from ..typed_arrays import from_spec, is_spec
from .plotly_dict import PlotlyDict, PlotlyValue
from .style import PALETTE

_LINE = 1.2
"""Height of a line of text, in letters."""
_BEYOND = 1.12
"""How much longer an axis is than the range of its values."""
_LETTER = 0.56
"""Width of a letter in the mean, in letter heights."""
_REACH = 14
"""Pixels from the end of a curve to its name."""
NAME = "end label"
"""The ``name`` of each label, by which others find them in a figure."""


_End: TypeAlias = tuple[Mapping[str, PlotlyValue], PlotlyValue, float]
"""A curve, and where it ends."""


def end_labels(
    traces: Iterable[Mapping[str, PlotlyValue] | BaseTraceType],
    *,
    height: float = 360,
    size: float = 12,
    log_y: bool = False,
    log_x: bool = False,
    width: float | None = None,
    y_range: tuple[float, float] | None = None,
) -> list[PlotlyDict]:
    """The name of each curve beside its end, apart: ``figure.update_layout(annotations=battery.end_labels(figure.data),
    showlegend=False, margin={"r": 90})``.

    For more curves than a legend can hold, where a colour bar cannot name them. Names that would overlap
    move apart; a thin line in the colour of the curve leads to each. Leave room on the right: ``margin={"r": 90}``.

    Parameters
    ----------
    traces : the curves, as of ``figure.data``, each with ``name``, ``x``, ``y`` and the colour in ``line``. Those
        without a name or a finite point get no label.
    height : height of the plot in pixels, by which names move apart.
    size : size of the letters in pixels. As many names as fit into the height are shown, of evenly chosen curves.
    log_y, log_x : whether the axis is logarithmic.
    width : width of the plot in pixels. With it, curves that end far apart have their names side by side.
    y_range : the range of the axis where it is not that of all curves; on a logarithmic axis in logarithms. A curve
        that leaves it has its name where it does.

    >>> end_labels([{"name": "A", "x": [0, 1], "y": [1.0, 2.0]}])[0]["text"]
    'A'
    """
    given = (trace if isinstance(trace, Mapping) else trace.to_plotly_json() for trace in traces)
    curves = [
        {**trace, "color": _color(trace) or PALETTE[number % len(PALETTE)]}
        for number, trace in enumerate(given)
        if trace.get("name")
    ]
    low, high = y_range or _range(curves, log_y)
    tall = height if y_range else height / _BEYOND
    ends: list[_End] = [
        (trace, *end) for trace in curves if (end := _end(trace, log_x, log_y, y_range)) is not None
    ]
    room = max(int(height // (size * _LINE)), 1)
    span = (high - low) or 1.0
    labels: list[PlotlyDict] = []
    for beside in _beside(ends, width, size, log_x):
        beside.sort(key=lambda one: one[2])
        if len(beside) > room:
            places = np.linspace(0, len(beside) - 1, room).round().astype(int).tolist()
            beside = [beside[place] for place in sorted(set(places))]
        wanted = [(y - low) / span * tall for _, _, y in beside]
        placed = _apart(wanted, size * _LINE, height)
        labels += [
            _label(*one, want - place, size) for one, want, place in zip(beside, wanted, placed, strict=True)
        ]
    return labels


def _beside(ends: list[_End], width: float | None, size: float, log_x: bool) -> list[list[_End]]:
    """The ends in groups whose names may be beside each other: between two groups there is room for a name."""
    places = [x for _, x, _ in ends]
    if width is None or not all(isinstance(x, int | float) for x in places):
        return [ends] if ends else []
    first, last = _x_range([trace for trace, _, _ in ends], log_x)
    longest = max((len(str(trace["name"])) for trace, _, _ in ends), default=0)
    apart = (longest * size * _LETTER + 2 * _REACH) * (last - first) / width
    groups: list[list[_End]] = []
    for one in sorted(ends, key=lambda one: float(str(one[1]))):
        if groups and float(str(one[1])) - float(str(groups[-1][-1][1])) <= apart:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _x_range(curves: Sequence[Mapping[str, PlotlyValue]], log: bool) -> tuple[float, float]:
    numbers = [
        n for trace in curves for value in _values(trace.get("x")) if (n := _number(value, log)) is not None
    ]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _label(trace: Mapping[str, PlotlyValue], x: PlotlyValue, y: float, down: float, size: float) -> PlotlyDict:
    return {
        "name": NAME,
        "text": str(trace["name"]),
        "x": x,
        "y": y,
        "xref": trace.get("xaxis") or "x",
        "yref": trace.get("yaxis") or "y",
        "ax": _REACH,
        "ay": down,
        "xanchor": "left",
        "yanchor": "middle",
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 0.7,
        "arrowcolor": trace["color"],
        "font": {"size": size},
        # A curve that goes on behind the end of another would cross out its name.
        "bgcolor": "rgba(255,255,255,0.8)",
        "borderpad": 0,
    }


def _values(given: PlotlyValue) -> list[PlotlyValue]:
    if given is None or isinstance(given, str):
        return []
    return list(np.asarray(from_spec(given) if is_spec(given) else given).tolist())


def _number(value: PlotlyValue, log: bool) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    if not log:
        return float(value)
    return log10(value) if value > 0 else None


def _end(
    trace: Mapping[str, PlotlyValue], log_x: bool, log_y: bool, y_range: tuple[float, float] | None
) -> tuple[PlotlyValue, float] | None:
    """Where a curve ends in the range, in the coordinates of annotations: logarithms on a logarithmic axis."""
    low, high = y_range or (-inf, inf)
    y = _values(trace.get("y"))
    x = _values(trace.get("x")) or list(range(len(y)))
    for one, other in reversed(list(zip(x, y, strict=False))):
        number = _number(other, log_y)
        place = one if isinstance(one, str) else _number(one, log_x)
        if number is not None and place is not None and low <= number <= high:
            return place, number
    return None


def _range(curves: Sequence[Mapping[str, PlotlyValue]], log: bool) -> tuple[float, float]:
    numbers = [
        n for trace in curves for value in _values(trace.get("y")) if (n := _number(value, log)) is not None
    ]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _apart(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Rising places at least a gap apart, as near to the wanted ones as they can be: names that would overlap are
    moved by the same mean distance."""
    blocks: list[
        tuple[float, int]
    ] = []  # the sum of what names of a block want, less their own place in it; how many
    for number, place in enumerate(wanted):
        total, count = place - number * gap, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            total, count = total + blocks[-1][0], count + blocks.pop()[1]
        blocks.append((total, count))
    free = [total / count for total, count in blocks for _ in range(count)]
    most = max(height - gap * (len(wanted) - 1), 0)
    return [min(max(place, 0), most) + number * gap for number, place in enumerate(free)]


def _color(trace: Mapping[str, PlotlyValue]) -> str | None:
    for part in ("line", "marker"):
        styled = trace.get(part)
        if isinstance(styled, Mapping) and isinstance(styled.get("color"), str):
            return str(styled["color"])
    return None
