"""Legends of printed figures: below the plot, or names and colours of another kind where one would eat the plot."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..battery.end_labels import NAME, end_labels
from ..battery.paper_size import MARGIN, PX_PER_PT, Paper
from ..battery.plotly_dict import PlotlyDict, PlotlyValue
from ..battery.short_names import FEWEST, short_names
from ..battery.style import color_bar, shades

MOST_ENTRIES = 8
"""Most curves that a legend names; more get a colour bar if their names are numbers, else names at their ends."""
_LINES = ("scatter", "scattergl")
_NUMBERED = re.compile(r"(?P<before>\D*?)(?P<number>-?\d+(?:\.\d+)?)(?P<after>\D*)")
_WIDEST = 0.35
"""Most of the width that names at the ends of curves may take."""
_REACH = 18
"""Pixels from the end of a curve to its name, and from there to the edge."""
_LETTER_WIDTH = 0.56
"""Width of a letter in the mean, in letter heights."""
_BESIDE = 55
"""Pixels of the paper beside the plot, below which the legend is."""
_MOST_BELOW = 12
"""Curves that end far apart have a legend up to so many: names beside their ends would cover other curves."""
_NEAR_END = 0.2
_MOST_LABELS = 40
"""A figure grows for so many names beside curves."""
_MOST_OF_HEIGHT = 0.5
"""A legend that takes more of the height is too long."""
_SYMBOL_WIDTH = 50
"""Pixels of the line beside a name in a legend, with the space around it."""


@dataclass(frozen=True)
class _Plot:
    """The pixels that are left for the plot itself."""

    width: float
    height: float


def fit_legend(traces: list[PlotlyDict], layout: PlotlyDict, made: Paper, above: float = 0) -> str | None:
    """Bring the legend of a figure below the plot, or replace it if it names more than ``MOST_ENTRIES`` curves.

    It stays where names at the ends of curves would not be understood or not be read: in figures of several panels,
    of other things than curves, and beside a colour bar. Returns what could not be done, in words.

    ``above``: pixels that lines above the plot take.
    """
    named = _entries(traces)
    if not _is_replaced(named, traces, layout):
        _below(layout)
        if legend_height(traces, layout, made) > _MOST_OF_HEIGHT * made.pixels[1]:
            return f"The legend names {len(named)} traces and may be cut off: draw fewer, or one panel each."
        return None
    numbers = None if _has_labels(layout) else _numbers(named)
    layout["showlegend"] = False
    if numbers is not None:
        _as_bar(traces, named, *numbers)
        return None
    return _as_labels(named, layout, made, above)


def shorten_names(traces: list[PlotlyDict], made: Paper) -> None:
    """Cut names of curves in the middle that are longer than the legend is wide."""
    most = _letters_in(made.pixels[0] - _BESIDE - _SYMBOL_WIDTH, made)
    names = short_names((str(trace["name"]) for trace in traces if trace.get("name")), most)
    for trace in traces:
        if trace.get("name"):
            trace["name"] = names[str(trace["name"])]


def _letters_in(width: float, made: Paper) -> int:
    """About how many letters fit into a width in pixels."""
    return max(int(width / (made.letters * PX_PER_PT * _LETTER_WIDTH)), FEWEST)


def legend_height(traces: list[PlotlyDict], layout: Mapping[str, PlotlyValue], made: Paper) -> float:
    """About how many pixels of height a legend below the plot takes: as many rows as its entries need.

    Names beside the ends of curves take what they need beyond the height of the plot.
    """
    named = _entries(traces)
    shown = layout.get("showlegend")
    if not named or (shown is False and not _has_labels(layout)) or (len(named) == 1 and shown is not True):
        return 0
    if _is_replaced(named, traces, layout):
        labelled = _has_labels(layout) or not _numbers(named)
        lines = min(len(named), _MOST_LABELS) if labelled else 0
        return max(0, 1.25 * lines * made.letters * PX_PER_PT - _plot(made).height)
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
    if _has_labels(layout):
        return bool(named)
    if len(named) <= MOST_ENTRIES or layout.get("showlegend") is False or "coloraxis" in layout:
        return False
    if all(_is_key(trace) for trace in named):
        return False
    if len(named) <= _MOST_BELOW and not _numbers(named) and not _end_together(named):
        return False
    first = named[0]
    return all(
        trace.get("type", "scatter") in _LINES
        and (trace.get("xaxis"), trace.get("yaxis")) == (first.get("xaxis"), first.get("yaxis"))
        for trace in traces
        if trace.get("name") or trace.get("legendgroup")
    )


def _has_labels(layout: Mapping[str, PlotlyValue]) -> bool:
    """Whether the names of the curves are already beside their ends, placed for a screen."""
    notes = layout.get("annotations")
    return isinstance(notes, list) and any(isinstance(note, dict) and note.get("name") == NAME for note in notes)


def _is_key(trace: PlotlyDict) -> bool:
    """Whether a trace is only there for its entry in the legend: it has no point to write a name beside."""
    return not end_labels([trace])


def _end_together(named: list[PlotlyDict]) -> bool:
    """Whether the curves end at the right of the plot, where their names do not cover other curves."""
    ends = [label["x"] for label in end_labels(named)]
    numbers = [end for end in ends if isinstance(end, int | float)]
    return len(numbers) < len(ends) or not numbers or min(numbers) > (1 - _NEAR_END) * max(numbers)


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


def _as_labels(named: list[PlotlyDict], layout: PlotlyDict, made: Paper, above: float) -> str | None:
    letters = made.letters * PX_PER_PT
    plot = _plot(made)
    kinds = {
        letter: (layout.get(f"{letter}axis{str(named[0].get(f'{letter}axis') or letter)[1:]}") or {}).get("type")
        for letter in "xy"
    }
    shown = short_names((str(trace["name"]) for trace in named), _letters_in(_WIDEST * plot.width - _REACH, made))
    y_axis = layout.get(f"yaxis{str(named[0].get('yaxis') or 'y')[1:]}") or {}
    y_range = y_axis.get("range")
    labels = end_labels(
        [{**trace, "name": shown[str(trace["name"])]} for trace in named],
        height=plot.height - above,
        size=letters,
        log_y=kinds["y"] == "log",
        log_x=kinds["x"] == "log",
        width=plot.width,
        y_range=(min(y_range), max(y_range)) if isinstance(y_range, list) and None not in y_range else None,
    )
    kept = [note for note in layout.get("annotations") or [] if note.get("name") != NAME]
    layout["annotations"] = [*kept, *labels]
    axis = layout.get(f"xaxis{str(named[0].get('xaxis') or 'x')[1:]}") or {}
    if axis.get("range"):  # else plotly makes room inside the plot
        longest = max((len(str(label["text"])) for label in labels), default=0)
        beside = min(longest * letters * _LETTER_WIDTH + _REACH, _WIDEST * plot.width)
        layout["margin"] = {**MARGIN, "r": round(MARGIN["r"] + beside)}
    if len(labels) < len(named):
        return (
            f"{len(labels)} of {len(named)} curves have their name beside them: more do not fit. Make it higher."
        )
    return None


def plot_height(made: Paper) -> float:
    """Pixels of height that are left for the plot of a paper, without legend and lines above it."""
    return _plot(made).height


def _plot(made: Paper) -> _Plot:
    width, height = made.pixels
    return _Plot(width - MARGIN["l"] - MARGIN["r"], height - MARGIN["t"] - MARGIN["b"])
