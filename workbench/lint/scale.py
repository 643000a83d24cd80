"""Rules about scale: curves that others make so small that nothing is seen of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import listed
from .figure_reader import Drawn, Trace
from .observation import Observation

_SMALL, _LARGE = 0.03, 0.3
"""Parts of the range of an axis: a curve below the one in both directions is a dot, beside one above the other."""
_POINTS = 5
Span = tuple[float, float, float, float]


def curve_is_a_dot(drawn: Drawn) -> Iterator[Observation]:
    panels: dict[tuple[str, str], dict[str, list[Trace]]] = {}
    for trace in drawn.scatters:
        if trace.has_lines and trace.x is not None and trace.y is not None:
            group = str(trace.raw.get("legendgroup") or trace.name or trace.n)
            panels.setdefault((trace.axis("x"), trace.axis("y")), {}).setdefault(group, []).append(trace)
    for (x, y), groups in panels.items():
        if any(
            drawn.axis(name).get("range") is not None or drawn.axis(name).get("type") == "log" for name in (x, y)
        ):
            continue
        spans = {group: span for group, traces in groups.items() if (span := _span(traces)) is not None}
        if not spans:
            continue
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
