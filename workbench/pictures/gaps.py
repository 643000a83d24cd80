"""Space between the panels of a printed figure: what ticks and titles there need, at the size of the paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from ..battery.paper_size import PX_PER_PT, Paper
from ..battery.plotly_dict import PlotlyDict, PlotlyValue, parts_of

_AXIS = re.compile(r"(?P<letter>[xy])axis(?P<number>\d*)")
_SAME = 1e-6
"""Shares of a figure that differ less are one edge."""
_FREE = 10
"""Pixels between two panels that nothing else takes: half a tick label of each reaches over its corner."""
_LINE, _LETTER_WIDTH, _STANDOFF = 1.3, 0.56, 5
"""Of a line of letters and of a letter, in letter heights; px from ticks to a title, as the template of a paper has."""
_TICK_LETTERS = 6
"""Letters of numbers at a y axis, such as ``0.0005``: which there are, is known to plotly alone."""
_MOST = 0.6
"""Share of the plot that all gaps may take; with more there are too many panels for the paper."""
_TAG = re.compile("<[^>]*>")
Axis = Mapping[str, PlotlyValue]


@dataclass(frozen=True)
class _Gap:
    """Two edges of panels with nothing between, as shares of the plot."""

    low: float
    high: float


def fit_gaps(traces: list[PlotlyDict], layout: PlotlyDict, made: Paper, plot: tuple[float, float]) -> None:
    """Give the gaps between rows and columns of panels the pixels that their ticks and titles need on paper.

    Gaps of a figure are shares of its size: right on a screen, they are too large on a wide paper and too small on a
    narrow one. Panels keep their proportions; what is placed beside them moves along. Gaps stay where a text of its own
    is in them, and all stay where axes or pictures have places of their own. They do not shrink where labels of ticks
    may be turned. Gaps between columns only shrink: nobody knows here how wide the ticks will be.

    ``plot``: pixels of width and height that all panels have together.
    """
    axes = dict(_axes(layout))
    if any(isinstance(trace.get("domain"), dict) for trace in traces) or layout.get("images"):
        return
    if any(axis.get("anchor") == "free" for axis in axes.values()):
        return
    for letter, pixels in zip("xy", plot, strict=True):
        gaps = _gaps(axes, letter)
        wanted = [_wanted(gap, letter, axes, layout, traces, made, pixels) for gap in gaps]
        if gaps and sum(wanted) <= _MOST:
            _move(layout, traces, letter, _moved(axes, letter, gaps, wanted))


def _axes(layout: Mapping[str, PlotlyValue]) -> Iterator[tuple[str, PlotlyDict]]:
    """Each axis by its short name, ``x`` or ``y2``."""
    for name, value in layout.items():
        match = _AXIS.fullmatch(name)
        if match and isinstance(value, dict):
            yield match["letter"] + match["number"], value


def _domain(axis: Axis) -> tuple[float, float]:
    low, high = axis.get("domain") or (0, 1)
    return float(low), float(high)


def _domains(axes: Mapping[str, Axis], letter: str) -> list[tuple[float, float]]:
    return sorted(
        {_domain(axis) for name, axis in axes.items() if name[0] == letter and not axis.get("overlaying")}
    )


def _gaps(axes: Mapping[str, Axis], letter: str) -> list[_Gap]:
    """The gaps between panels; none where panels are in no rows (or columns)."""
    domains = _domains(axes, letter)
    # A panel over several columns has no gap of its own.
    bands = [one for one in domains if not any(other != one and _within(other, one) for other in domains)]
    edges = [edge for band in bands for edge in band]
    if any(after < before - _SAME for before, after in pairwise(edges)):
        return []
    if any(min(abs(edge - known) for known in edges) > _SAME for domain in domains for edge in domain):
        return []
    return [_Gap(one[1], other[0]) for one, other in pairwise(bands) if other[0] - one[1] > _SAME]


def _within(inner: tuple[float, float], outer: tuple[float, float]) -> bool:
    return inner[0] >= outer[0] - _SAME and inner[1] <= outer[1] + _SAME


def _wanted(
    gap: _Gap,
    letter: str,
    axes: Mapping[str, Axis],
    layout: Mapping[str, PlotlyValue],
    traces: list[PlotlyDict],
    made: Paper,
    pixels: float,
) -> float:
    """The share that a gap is to have."""
    held = gap.high - gap.low
    if _has_text(layout, traces, letter, gap):
        return held
    high = letter == "y"
    # Between rows are the x axes below the upper one and above the lower one; between columns the y axes.
    sides = (("bottom", gap.high), ("top", gap.low)) if high else (("left", gap.high), ("right", gap.low))
    need, turned = float(_FREE), False
    for side, edge in sides:
        beside = [
            (name, axis)
            for name, axis in axes.items()
            if name[0] != letter and (axis.get("side") or sides[0][0]) == side and _at(axes, axis, letter, edge)
        ]
        need += max((_thickness(axis, made, high=high) for _, axis in beside), default=0)
        turned = turned or any(_may_turn(name, axis, traces) for name, axis in beside)
    if high:
        need += _titles_above(layout, gap.low, made)
    share = need / pixels
    return max(share, held) if high and turned else share if high else min(share, held)


def _at(axes: Mapping[str, Axis], axis: Axis, letter: str, edge: float) -> bool:
    """Whether an axis is at this edge of a panel: it is anchored at the other axis of the panel."""
    other = axes.get(str(axis.get("anchor") or letter), {})
    return any(abs(end - edge) < _SAME for end in _domain(other))


def _thickness(axis: Axis, made: Paper, *, high: bool) -> float:
    """Pixels of ticks and title of an axis."""
    if axis.get("visible") is False:
        return 0
    size, ticks = made.letters * PX_PER_PT, 0.0
    words = [str(word) for word in axis.get("ticktext") or []]
    if axis.get("showticklabels") is not False:
        lines = 1 + max((word.count("<br>") for word in words), default=0)
        longest = max((len(_TAG.sub("", word)) for word in words), default=_TICK_LETTERS)
        ticks = _LINE * size * lines if high else _LETTER_WIDTH * size * longest + _STANDOFF
    title = axis.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    if not text:
        return ticks
    return ticks + _STANDOFF + _LINE * made.titles * PX_PER_PT * (1 + str(text).count("<br>"))


def _may_turn(name: str, axis: Axis, traces: list[PlotlyDict]) -> bool:
    """Whether the labels of ticks may be turned or have two lines: words and times, but not numbers."""
    if axis.get("tickangle") or axis.get("type") in ("category", "multicategory", "date"):
        return True
    letter = name[0]
    values = [trace.get(letter) for trace in traces if (trace.get(f"{letter}axis") or letter) == name]
    return any(isinstance(value, str) for one in values if isinstance(one, list) for value in one)


def _titles_above(layout: Mapping[str, PlotlyValue], edge: float, made: Paper) -> float:
    """Pixels of the titles that are on the upper edge of panels."""
    found = [0.0]
    for note in parts_of(layout.get("annotations")):
        place = note.get("y")
        if note.get("yref") == "paper" and isinstance(place, int | float) and abs(place - edge) < _SAME:
            lines = 1 + str(note.get("text")).count("<br>")
            shift = max(float(note.get("yshift") or 0), 0)
            found.append(
                _LINE * made.letters * PX_PER_PT * lines + shift if note.get("yanchor") == "bottom" else 0
            )
    return max(found)


def _has_text(layout: Mapping[str, PlotlyValue], traces: list[PlotlyDict], letter: str, gap: _Gap) -> bool:
    """Whether something of its own is in a gap: a note, a legend, a bar of colours."""
    parts = [note for note in parts_of(layout.get("annotations")) if note.get(f"{letter}ref") == "paper"]
    parts += [value for name, value in layout.items() if name.startswith("legend") and isinstance(value, dict)]
    parts += [bar for bar in _bars(layout, traces) if (bar.get("orientation") == "h") == (letter == "y")]
    places = [part.get(letter) for part in parts]
    return any(isinstance(place, int | float) and gap.low + _SAME < place < gap.high - _SAME for place in places)


def _moved(
    axes: Mapping[str, Axis], letter: str, gaps: list[_Gap], wanted: list[float]
) -> Callable[[float], float]:
    """Where each place of the plot goes: gaps get their share, panels what is left in proportion."""
    domains = _domains(axes, letter)
    first, last = domains[0][0], max(high for _, high in domains)
    drawn = last - first - sum(gap.high - gap.low for gap in gaps)
    stretch = (last - first - sum(wanted)) / drawn
    old, new = [first], [first]
    for gap, share in zip(gaps, wanted, strict=True):
        new.append(new[-1] + (gap.low - old[-1]) * stretch)
        new.append(new[-1] + share)
        old += [gap.low, gap.high]
    old.append(last)
    new.append(last)

    def moved(place: float) -> float:
        for (old_low, old_high), (low, high) in zip(pairwise(old), pairwise(new), strict=True):
            if old_low <= place <= old_high:
                return low + (place - old_low) * (high - low) / (old_high - old_low)
        return place

    return moved


def _move(layout: PlotlyDict, traces: list[PlotlyDict], letter: str, moved: Callable[[float], float]) -> None:
    for name, axis in _axes(layout):
        if name[0] == letter and "domain" in axis:
            axis["domain"] = [moved(end) for end in _domain(axis)]
    for part in [*parts_of(layout.get("annotations")), *parts_of(layout.get("shapes"))]:
        if part.get(f"{letter}ref") == "paper":
            _move_places(part, (letter, f"{letter}0", f"{letter}1"), moved)
    for name, value in layout.items():
        if name.startswith("legend") and isinstance(value, dict) and value.get(f"{letter}ref") != "container":
            _move_places(value, (letter,), moved)
    for bar in _bars(layout, traces):
        along = (bar.get("orientation") == "h") == (letter == "x")
        place, length = bar.get(letter), bar.get("len")
        if along and isinstance(place, int | float) and isinstance(length, int | float):
            # Its anchor is its middle unless it says otherwise; a bar beside one panel stays as long as that.
            share = {"top": 1.0, "right": 1.0, "bottom": 0.0, "left": 0.0}.get(
                str(bar.get(f"{letter}anchor")), 0.5
            )
            low, high = moved(place - share * length), moved(place + (1 - share) * length)
            bar[letter], bar["len"] = low + share * (high - low), high - low


def _move_places(part: PlotlyDict, names: tuple[str, ...], moved: Callable[[float], float]) -> None:
    for name in names:
        place = part.get(name)
        if isinstance(place, int | float):
            part[name] = moved(float(place))


def _bars(layout: Mapping[str, PlotlyValue], traces: list[PlotlyDict]) -> list[PlotlyDict]:
    holders = [value for name, value in layout.items() if name.startswith("coloraxis")]
    holders += [*traces, *(trace.get("marker") for trace in traces), *(trace.get("line") for trace in traces)]
    found = [holder.get("colorbar") for holder in holders if isinstance(holder, dict)]
    return [bar for bar in found if isinstance(bar, dict)]
