"""Rules about scale: curves and bars that others make so small that nothing is seen of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import listed
from .figure_reader import Drawn, Trace
from .observation import Observation

_SMALL, _LARGE = 0.03, 0.3
"""Parts of the range of an axis: a curve below the one in both directions is a dot, beside one above the other."""
_POINTS = 5
_FLOOR = 0.05
"""Part of the largest value of a panel: curves below it are on its floor."""
_DIFFER = 1.5
"""Ratio of the means of curves that are worth telling apart."""
_FEWEST = 3
_TIMES, _FEWEST_BARS = 20, 5
"""A bar so many times as long as the next, of so many, leaves nothing to see of the others."""
Span = tuple[float, float, float, float]


def curve_is_a_dot(drawn: Drawn) -> Iterator[Observation]:
    for y, groups, spans in _panels(drawn, ("x", "y")):
        low_x, high_x, low_y, high_y = (
            pick(span[place] for span in spans.values()) for place, pick in enumerate((min, max, min, max))
        )
        whole = high_x - low_x, high_y - low_y
        if not all(whole):
            continue
        parts = {group: ((s[1] - s[0]) / whole[0], (s[3] - s[2]) / whole[1]) for group, s in spans.items()}
        large = [group for group, part in parts.items() if min(part) > _LARGE]
        dots = [
            groups[group][0]
            for group, part in parts.items()
            if max(part) < _SMALL and sum(len(one.x) for one in groups[group] if one.x is not None) >= _POINTS
        ]
        if large and dots:
            names = listed((one.label for one in dots), most=4)
            beside = groups[large[0]][0].label
            yield Observation(f"{names} {'is' if len(dots) == 1 else 'are'} a dot beside {beside}.", dots[0].n, y)


def curves_on_the_floor(drawn: Drawn) -> Iterator[Observation]:
    """Curves that lie on each other at the foot of a panel, since one that is many times larger sets its scale, though
    they differ."""
    for y, groups, spans in _panels(drawn, ("y",)):
        if len(spans) < _FEWEST or min(span[2] for span in spans.values()) < 0:
            continue
        top = max(spans, key=lambda group: spans[group][3])
        flat = {group: span for group, span in spans.items() if 0 < span[3] < _FLOOR * spans[top][3]}
        means = [(span[2] + span[3]) / 2 for span in flat.values()]
        if len(flat) > 1 and spans[top][2] > _FLOOR * spans[top][3] and max(means) > _DIFFER * min(means):
            names = listed((groups[group][0].label for group in flat), most=4)
            beside = groups[top][0].label
            yield Observation(f"{names} lie at the foot of the panel, since {beside} is far larger.", None, y)


def bars_on_the_floor(drawn: Drawn) -> Iterator[Observation]:
    """Bars of things with names, of which one is many times the next. Bins of a histogram may well be so."""
    panels: dict[tuple[str, str], dict[str, float]] = {}
    for trace in drawn.flat:
        if trace.kind != "bar" or not trace.shown:
            continue
        lies = trace.raw.get("orientation") == "h"
        of, along = (trace.raw.get("y"), trace.x) if lies else (trace.raw.get("x"), trace.y)
        axis = drawn.axis(trace.axis("x" if lies else "y"))
        named = isinstance(of, list) and all(isinstance(one, str) for one in of)
        if along is None or not (named or lies) or axis.get("range") is not None or axis.get("type") == "log":
            continue
        names = [str(one) for one in of] if isinstance(of, list | np.ndarray) else []
        lengths = panels.setdefault((trace.axis("x"), trace.axis("y")), {})
        for name, value in zip(names, np.nan_to_num(np.abs(along)), strict=False):
            lengths[name] = lengths.get(name, 0.0) + float(value)
    for (x, _), lengths in panels.items():
        longest, *others = sorted((value for value in lengths.values() if value > 0), reverse=True) or [0.0]
        if len(others) >= _FEWEST_BARS - 1 and longest > _TIMES * others[0]:
            yield Observation(f"The longest bar is {longest / others[0]:.0f} times the next.", None, x)


def _panels(
    drawn: Drawn, letters: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, list[Trace]], dict[str, Span]]]:
    """The panels of lines whose axes (``letters``) are linear and have no range of their own: the y axis, the traces of
    each group, and the span of each group that has finite points."""
    panels: dict[tuple[str, str], dict[str, list[Trace]]] = {}
    for trace in drawn.scatters:
        if trace.has_lines and trace.x is not None and trace.y is not None:
            group = str(trace.raw.get("legendgroup") or trace.name or trace.n)
            panels.setdefault((trace.axis("x"), trace.axis("y")), {}).setdefault(group, []).append(trace)
    for names, groups in panels.items():
        axes = [drawn.axis(name) for name in names if name[0] in letters]
        if any(axis.get("range") is not None or axis.get("type") == "log" for axis in axes):
            continue
        spans = {group: span for group, traces in groups.items() if (span := _span(traces)) is not None}
        if spans:
            yield names[1], groups, spans


def _span(traces: list[Trace]) -> Span | None:
    """The least and the largest x and y of the traces of a group."""
    both = [
        np.concatenate([values for one in traces if (values := getattr(one, letter)) is not None])
        for letter in "xy"
    ]
    finite = np.isfinite(both[0]) & np.isfinite(both[1]) if len(both[0]) == len(both[1]) else np.zeros(0, bool)
    if not finite.any():
        return None
    x, y = both[0][finite], both[1][finite]
    return float(x.min()), float(x.max()), float(y.min()), float(y.max())
