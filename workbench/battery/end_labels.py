"""Names at the ends of curves, in place of a legend that would be larger than the plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log10

import numpy as np
from plotly.basedatatypes import BaseTraceType

from ..typed_arrays import from_spec, is_spec
from .plotly_dict import PlotlyDict, PlotlyValue
from .style import PALETTE

_LINE = 1.3
"""Height of a name with its ground, in letters."""
_BEYOND = 1.12
"""How much longer an axis is than the range of its values."""
_REACH = 14
"""Pixels from the end of a curve to its name."""


def end_labels(
    traces: Iterable[Mapping[str, PlotlyValue] | BaseTraceType],
    *,
    height: float = 360,
    size: float = 12,
    log_y: bool = False,
    log_x: bool = False,
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

    >>> end_labels([{"name": "A", "x": [0, 1], "y": [1.0, 2.0]}])[0]["text"]
    'A'
    """
    given = (trace if isinstance(trace, Mapping) else trace.to_plotly_json() for trace in traces)
    curves = [
        {**trace, "color": _color(trace) or PALETTE[number % len(PALETTE)]}
        for number, trace in enumerate(given)
        if trace.get("name")
    ]
    low, high = _range(curves, log_y)
    ends = [(trace, *end) for trace in curves if (end := _end(trace, log_x, log_y)) is not None]
    ends.sort(key=lambda one: one[2])
    room = max(int(height // (size * _LINE)), 1)
    if len(ends) > room:
        ends = [
            ends[place] for place in sorted(set(np.linspace(0, len(ends) - 1, room).round().astype(int).tolist()))
        ]
    span = (high - low) or 1.0
    wanted = [(y - low) / span * height / _BEYOND for _, _, y in ends]
    placed = _apart(wanted, size * _LINE, height)
    return [
        {
            "text": str(trace["name"]),
            "x": x,
            "y": y,
            "xref": trace.get("xaxis") or "x",
            "yref": trace.get("yaxis") or "y",
            "ax": _REACH,
            "ay": want - place,
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
        for (trace, x, y), want, place in zip(ends, wanted, placed, strict=True)
    ]


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


def _end(trace: Mapping[str, PlotlyValue], log_x: bool, log_y: bool) -> tuple[PlotlyValue, float] | None:
    """Where a curve ends, in the coordinates of annotations: on a logarithmic axis these are logarithms."""
    y = _values(trace.get("y"))
    x = _values(trace.get("x")) or list(range(len(y)))
    for one, other in reversed(list(zip(x, y, strict=False))):
        number = _number(other, log_y)
        place = one if isinstance(one, str) else _number(one, log_x)
        if number is not None and place is not None:
            return place, number
    return None


def _range(curves: Sequence[Mapping[str, PlotlyValue]], log: bool) -> tuple[float, float]:
    numbers = [
        n for trace in curves for value in _values(trace.get("y")) if (n := _number(value, log)) is not None
    ]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _apart(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Rising places at least a gap apart, as near to the wanted ones as a pass up and a pass down bring them."""
    placed: list[float] = []
    for place in wanted:
        placed.append(max(place, placed[-1] + gap) if placed else place)
    limit = max(height, gap * (len(placed) - 1))
    for number in range(len(placed) - 1, -1, -1):
        placed[number] = min(placed[number], limit)
        limit = placed[number] - gap
    return placed


def _color(trace: Mapping[str, PlotlyValue]) -> str | None:
    for part in ("line", "marker"):
        styled = trace.get(part)
        if isinstance(styled, Mapping) and isinstance(styled.get("color"), str):
            return str(styled["color"])
    return None
