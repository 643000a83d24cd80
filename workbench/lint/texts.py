"""Rules about texts: titles that are on the next panel, names that cover each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ..errors import listed
from ..figure_traces import SCATTER
from ..typed_arrays import Decoded, mapping
from .figure_reader import Drawn, Trace
from .observation import Observation
from .places import LINE, Box, Places, box, lines_of, number

_MOST = 300
"""Texts that are compared."""
_SHARE = 0.85
"""Of the room that a title needs, how much it must have: sizes are estimates."""
_AT = 0.02
"""How near to the upper edge of a panel, of the height of the plot, its title is."""
_POINT = 6.0
"""px between a point and the text beside it."""
_CUT = 0.4
"""Of the width or height of a text, how much is beyond the edge of a panel: sizes are estimates."""
Named: TypeAlias = tuple[Box, tuple[float, float] | None]
"""A text, and the point that it names, px."""


def title_on_panel(drawn: Drawn) -> Iterator[Observation]:
    """X titles and titles of panels that are in the space between two rows, which is too low for them."""
    places = Places(drawn)
    panels = sorted({(trace.axis("x"), trace.axis("y")) for trace in drawn.flat})
    told: set[float] = set()
    for x, y in panels:
        bottom = places.domain(y)[0]
        below = [
            other
            for other_x, other in panels
            if places.domain(other)[1] <= bottom and _meet(places.domain(x), places.domain(other_x))
        ]
        if not below or bottom in told or drawn.axis(x).get("side") == "top":
            continue
        next_one = max(below, key=lambda name: places.domain(name)[1])
        room = (bottom - places.domain(next_one)[1]) * places.size["y"]
        title, heading = places.title_height(x), _heading(drawn, places, next_one)
        needed = places.numbers_height(x) + title + heading
        if (title or heading) and room < _SHARE * needed:
            told.add(bottom)
            what = f"The title of {x}" if title else "The title of a panel"
            yield Observation(
                f"{what} is on the next panel: it needs {needed:.0f} px between the rows, which have {room:.0f} px.",
                axis=x if title else None,
            )


def title_over_plot(drawn: Drawn) -> Iterator[Observation]:
    """A title of several lines where plotly puts it: its first line is in the middle of the margin above the plot."""
    places = Places(drawn)
    lines, size, room = places.title()
    needed = 2 * (lines - 0.5) * size * LINE
    if lines > 1 and room < _SHARE * needed:
        yield Observation(
            f"The title has {lines} lines and is over the plot; margin={{'t': {needed:.0f}}} has room."
        )


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return min(one[1], other[1]) > max(one[0], other[0])


def _heading(drawn: Drawn, places: Places, y: str) -> float:
    """Height of the titles above the panels that end where this axis does, px."""
    top = places.domain(y)[1]
    found = [0.0]
    for note in _notes(drawn):
        at = note.get("y")
        above = note.get("yref") == "paper" and note.get("yanchor") == "bottom" and note.get("showarrow") is False
        if above and isinstance(at, int | float) and abs(at - top) < _AT:
            size = number(mapping(note.get("font")).get("size"), usual=places.font)
            found.append(lines_of(str(note["text"])) * size * LINE)
    return max(found)


def texts_overlap(drawn: Drawn) -> Iterator[Observation]:
    """Names beside points, and notes, of which one covers another or its point."""
    places = Places(drawn)
    boxes = [*_of_points(drawn, places), *((note, None) for note in _of_notes(drawn, places))][:_MOST]
    for place, (one, point) in enumerate(boxes):
        for other, its_point in boxes[:place]:
            covers_point = (its_point is not None and one.holds(*its_point)) or (
                point is not None and other.holds(*point)
            )
            if one.overlaps(other) or covers_point:
                what = "the point of the other" if covers_point else "the other"
                yield Observation(f"Of the texts '{other.text}' and '{one.text}' one covers {what}.")


def text_cut(drawn: Drawn) -> Iterator[Observation]:
    """Names beside points that the edge of their panel cuts: an axis that fits its points has no room for them."""
    places = Places(drawn)
    for trace in drawn.flat:
        if "text" not in str(trace.raw.get("mode")) or trace.raw.get("cliponaxis") is False:
            continue
        if trace.kind not in SCATTER:
            continue
        (left, right), (bottom, top) = (
            (begin * places.size[name[0]], end * places.size[name[0]])
            for name in (trace.axis("x"), trace.axis("y"))
            for begin, end in [places.domain(name)]
        )
        cut = [
            one.text
            for one, _ in _of_trace(trace, places)
            if max(left - one.left, one.right - right) > _CUT * (one.right - one.left)
            or max(bottom - one.bottom, one.top - top) > _CUT * (one.top - one.bottom)
        ]
        if cut:
            names = listed((f"'{text}'" for text in cut), most=4)
            yield Observation(f"The edge of the panel cuts {names}.", trace.n, trace.axis("x"))


def _notes(drawn: Drawn) -> list[Mapping[str, Decoded]]:
    notes = drawn.layout.get("annotations")
    held = map(mapping, notes if isinstance(notes, list) else ())
    return [note for note in held if note.get("text") and note.get("visible") is not False]


def _of_points(drawn: Drawn, places: Places) -> Iterator[Named]:
    for trace in drawn.flat:
        if trace.kind in SCATTER and "text" in str(trace.raw.get("mode")):
            yield from _of_trace(trace, places)


def _of_trace(trace: Trace, places: Places) -> Iterator[Named]:
    texts, given = trace.raw.get("text"), trace.raw.get("textposition")
    if trace.x is None or trace.y is None or not isinstance(texts, list | np.ndarray):
        return
    size = number(mapping(trace.raw.get("textfont")).get("size"), usual=places.font)
    each = list(given) if isinstance(given, list | np.ndarray) else [given] * len(texts)
    for text, x, y, position in zip(texts, trace.x, trace.y, each, strict=False):
        spot = _spot(places, trace.axis("x"), trace.axis("y"), float(x), float(y))
        if text and spot is not None:
            marked = spot if "markers" in str(trace.raw.get("mode")) else None
            yield _beside(str(text), size, spot, str(position or "middle center").split()), marked


def _beside(text: str, size: float, spot: tuple[float, float], words: Sequence[str]) -> Box:
    """The box of a text at its place beside a point."""
    # A text that is right of its point begins there.
    xanchor = {"right": "left", "left": "right"}.get(words[-1], "center")
    yanchor = {"top": "bottom", "bottom": "top"}.get(words[0], "middle")
    away = (
        {"left": _POINT, "right": -_POINT}.get(xanchor, 0.0),
        {"bottom": _POINT, "top": -_POINT}.get(yanchor, 0.0),
    )
    return box(text, size, spot[0] + away[0], spot[1] + away[1], xanchor, yanchor)


def _spot(places: Places, x_axis: str, y_axis: str, x: float, y: float) -> tuple[float, float] | None:
    """Where a point of the data is, px."""
    if places.is_log(x_axis):
        x = math.log10(x) if x > 0 else math.nan
    if places.is_log(y_axis):
        y = math.log10(y) if y > 0 else math.nan
    at = places.place(x_axis, x), places.place(y_axis, y)
    return None if at[0] is None or at[1] is None else (at[0], at[1])


def _of_notes(drawn: Drawn, places: Places) -> Iterator[Box]:
    for note in _notes(drawn):
        at = [_along(places, note, letter) for letter in "xy"]
        if at[0] is None or at[1] is None or note.get("textangle"):
            continue
        size = number(mapping(note.get("font")).get("size"), usual=places.font)
        xanchor, yanchor = (str(note.get(name) or "auto") for name in ("xanchor", "yanchor"))
        if note.get("showarrow") is False:
            x, y = (at[0] + number(note.get("xshift"), usual=0.0), at[1] + number(note.get("yshift"), usual=0.0))
        else:
            x, y = at[0] + number(note.get("ax"), usual=-10.0), at[1] - number(note.get("ay"), usual=-30.0)
        yield box(str(note["text"]), size, x, y, xanchor, yanchor)


def _along(places: Places, note: Mapping[str, Decoded], letter: str) -> float | None:
    """Where a note is along x or y, px."""
    ref, value = str(note.get(f"{letter}ref") or letter), note.get(letter)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if ref == "paper":
        return float(value) * places.size[letter]
    name = f"{letter}axis{ref.split()[0][1:]}"
    if ref.endswith(" domain"):
        begin, end = places.domain(name)
        return (begin + (end - begin) * float(value)) * places.size[letter]
    return places.place(name, float(value))
