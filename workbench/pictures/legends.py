"""Legends of printed figures: below the plot, or names and colours of another kind where one would eat the plot."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..battery.end_labels import end_labels
from ..battery.paper_size import PX_PER_PT, Paper
from ..battery.plotly_dict import PlotlyDict, PlotlyValue
from ..battery.style import color_bar, shades

MOST_ENTRIES = 8
"""Most curves that a legend names; more get a colour bar if their names are numbers, else names at their ends."""
_LINES = ("scatter", "scattergl")
_NUMBERED = re.compile(r"(?P<before>\D*?)(?P<number>-?\d+(?:\.\d+)?)(?P<after>\D*)")
_WIDEST = 0.35
"""Most of the width that names at the ends of curves may take."""
_LETTER_WIDTH = 0.56
"""Width of a letter in the mean, in letter heights."""
_BESIDE = 55
"""Pixels of the paper beside the plot, below which the legend is."""
_MOST_OF_HEIGHT = 0.5
"""A legend that takes more of the height is too long."""
_SYMBOL_WIDTH = 50
"""Pixels of the line beside a name in a legend, with the space around it."""


@dataclass(frozen=True)
class _Plot:
    """The pixels that are left for the plot itself."""

    width: float
    height: float


def fit_legend(traces: list[PlotlyDict], layout: PlotlyDict, made: Paper) -> str | None:
    """Bring the legend of a figure below the plot, or replace it if it names more than ``MOST_ENTRIES`` curves.

    It stays where names at the ends of curves would not be understood or not be read: in figures of several panels,
    of other things than curves, and beside a colour bar. Returns what could not be done, in words.
    """
    named = _entries(traces)
    if not _is_replaced(named, traces, layout):
        _below(layout)
        if legend_height(traces, layout, made) > _MOST_OF_HEIGHT * made.pixels[1]:
            return f"The legend names {len(named)} traces and may be cut off: draw fewer, or one panel each."
        return None
    numbers = _numbers(named)
    layout["showlegend"] = False
    if numbers is not None:
        _as_bar(traces, named, *numbers)
        return None
    return _as_labels(named, layout, made)


def legend_height(traces: list[PlotlyDict], layout: Mapping[str, PlotlyValue], made: Paper) -> float:
    """About how many pixels of height a legend below the plot takes: as many rows as its entries need."""
    named = _entries(traces)
    shown = layout.get("showlegend")
    if not named or shown is False or (len(named) == 1 and shown is not True):
        return 0
    if _is_replaced(named, traces, layout):
        return 0
    held = layout.get("legend")
    legend = held if isinstance(held, dict) else {}
    inside = isinstance(legend.get("y"), int | float) and 0 < legend["y"] <= 1 and 0 <= legend.get("x", 1) < 1
    if inside and legend.get("yref") != "container":
        return 0
    letters = made.letters * PX_PER_PT
    each = max(len(str(trace["name"])) for trace in named) * letters * _LETTER_WIDTH + _SYMBOL_WIDTH
    rows = math.ceil(len(named) / max(int((made.pixels[0] - _BESIDE) // each), 1))
    return (rows + bool(legend.get("title"))) * (letters * 1.3 + 6)


def _is_replaced(named: list[PlotlyDict], traces: list[PlotlyDict], layout: Mapping[str, PlotlyValue]) -> bool:
    """Whether names at the ends of the curves, or a colour bar, take the place of the legend."""
    if len(named) <= MOST_ENTRIES or layout.get("showlegend") is False or "coloraxis" in layout:
        return False
    first = named[0]
    return all(
        trace.get("type", "scatter") in _LINES
        and (trace.get("xaxis"), trace.get("yaxis")) == (first.get("xaxis"), first.get("yaxis"))
        for trace in traces
        if trace.get("name") or trace.get("legendgroup")
    )


def _entries(traces: list[PlotlyDict]) -> list[PlotlyDict]:
    """The first trace of each entry of the legend."""
    groups: set[str] = set()
    found = []
    for trace in traces:
        group = trace.get("legendgroup")
        if trace.get("showlegend") is False or not trace.get("name") or (group and group in groups):
            continue
        if group:
            groups.add(group)
        found.append(trace)
    return found


def _below(layout: PlotlyDict) -> None:
    """A legend beside the plot goes below; the template of the paper says how."""
    held = layout.get("legend")
    if isinstance(held, dict) and isinstance(held.get("x"), int | float) and held["x"] >= 1:
        for name in ("x", "y", "xanchor", "yanchor", "xref", "yref", "orientation"):
            held.pop(name, None)


def _numbers(named: list[PlotlyDict]) -> tuple[list[float], str] | None:
    """The numbers of names that differ in nothing else, and what they are: ``Cycle 5``, ``Cycle 100``."""
    matches = [_NUMBERED.fullmatch(str(trace["name"])) for trace in named]
    found = [match for match in matches if match]
    if len(found) < len(matches) or len({(match["before"], match["after"]) for match in found}) > 1:
        return None
    before, after = found[0]["before"].strip(" =:"), found[0]["after"].strip()
    title = f"{before} / {after}" if before and after else before or after
    return [float(match["number"]) for match in found], title


def _as_bar(traces: list[PlotlyDict], named: list[PlotlyDict], numbers: list[float], title: str) -> None:
    colors = dict(zip(map(id, named), shades(numbers), strict=True))
    by_group = {trace["legendgroup"]: colors[id(trace)] for trace in named if trace.get("legendgroup")}
    for trace in traces:
        color = colors.get(id(trace)) or by_group.get(trace.get("legendgroup"))
        if color is None:
            continue
        for part in ("line", "marker"):
            held = trace.get(part) or {}
            trace[part] = {**held, "color": color} if not isinstance(held.get("color"), list | dict) else held
    traces.append(color_bar(min(numbers), max(numbers), title))


def _as_labels(named: list[PlotlyDict], layout: PlotlyDict, made: Paper) -> str | None:
    letters = made.letters * PX_PER_PT
    plot = _plot(layout, made)
    kinds = {
        letter: (layout.get(f"{letter}axis{str(named[0].get(f'{letter}axis') or letter)[1:]}") or {}).get("type")
        for letter in "xy"
    }
    labels = end_labels(
        named, height=plot.height, size=letters, log_y=kinds["y"] == "log", log_x=kinds["x"] == "log"
    )
    layout["annotations"] = [*(layout.get("annotations") or []), *labels]
    axis = layout.get(f"xaxis{str(named[0].get('xaxis') or 'x')[1:]}") or {}
    if axis.get("range"):  # else plotly makes room inside the plot
        longest = max((len(str(label["text"])) for label in labels), default=0)
        base = layout["template"]["layout"]["margin"]
        beside = min(longest * letters * _LETTER_WIDTH + 18, _WIDEST * plot.width)
        layout["margin"] = {**base, "r": round(base["r"] + beside)}
    if len(labels) < len(named):
        return (
            f"{len(labels)} of {len(named)} curves have their name beside them: more do not fit. Make it higher."
        )
    return None


def _plot(layout: PlotlyDict, made: Paper) -> _Plot:
    base = layout["template"]["layout"]["margin"]
    width, height = made.pixels
    return _Plot(width - base["l"] - base["r"], height - base["t"] - base["b"])
