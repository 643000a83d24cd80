"""Where panels and texts of a figure are, in pixels: about as plotly draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..typed_arrays import Decoded, mapping
from .figure_reader import Drawn, numbers

HEIGHT, WIDTH = 600.0, 1000.0
"""px, of a figure that names none: that of an export, and a wide one, in which texts have room."""
_MARGINS = {"t": 100.0, "b": 80.0, "l": 80.0, "r": 80.0}
_FONT = 12.0
LETTER, LINE = 0.55, 1.3
"""Width of a letter and height of a line, of the size of the font."""
_PAD = 0.06
"""Part of the values' range that an axis goes beyond them on either side."""


_MOST_MATCHES = 100
"""Axes that match each other in a row; a circle ends."""


def number(*given: Decoded, usual: float) -> float:
    """The first of these that is a number."""
    found = (one for one in given if isinstance(one, int | float) and not isinstance(one, bool))
    return float(next(found, usual))


@dataclass(frozen=True)
class Box:
    """A text: its edges from the left and the bottom of the plot, px."""

    text: str
    left: float
    right: float
    bottom: float
    top: float

    def overlaps(self, other: Box) -> bool:
        """Whether more than a fifth of the smaller text is covered."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.top, other.top) - max(self.bottom, other.bottom)
        return wide > 0 and high > 0 and wide * high > 0.2 * min(self.area, other.area)

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is under the text."""
        return self.left < x < self.right and self.bottom < y < self.top

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.top - self.bottom)


class Places:
    """The sizes of a figure, and where its axes put a value."""

    def __init__(self, drawn: Drawn) -> None:
        self._drawn = drawn
        self._template = mapping(mapping(drawn.layout.get("template")).get("layout"))
        self._held = (drawn.layout, self._template)
        margins = [mapping(held.get("margin")) for held in self._held]
        edge = {side: number(*(one.get(side) for one in margins), usual=usual) for side, usual in _MARGINS.items()}
        height, width = (
            number(*(held.get(name) for held in self._held), usual=usual)
            for name, usual in (("height", HEIGHT), ("width", WIDTH))
        )
        self.size = {"x": max(width - edge["l"] - edge["r"], 1.0), "y": max(height - edge["t"] - edge["b"], 1.0)}
        self._above = edge["t"]
        self.font = number(*(mapping(held.get("font")).get("size") for held in self._held), usual=_FONT)
        self._ranges: dict[str, tuple[float, float] | None] = {}

    def title(self) -> tuple[int, float, float]:
        """Lines of the title of the figure, the size of its letters, and the height of the margin above the plot, px.
        Without a title, or with one that has a place of its own, there are none."""
        given = [mapping(title) for held in self._held if isinstance(title := held.get("title"), Mapping)]
        text = next((str(one["text"]) for one in given if one.get("text")), "")
        placed = any(one.get("y") is not None or one.get("automargin") for one in given)
        size = number(*(mapping(one.get("font")).get("size") for one in given), usual=1.4 * self.font)
        return (0 if placed or not text else lines_of(text)), size, self._above

    def axis(self, name: str) -> list[Mapping[str, Decoded]]:
        """An axis of the layout, and what the template says of its letter."""
        return [self._drawn.axis(name), mapping(self._template.get(f"{name[0]}axis"))]

    def domain(self, name: str) -> tuple[float, float]:
        """The part of the plot that an axis has, from 0 to 1."""
        given = self._drawn.axis(name).get("domain")
        edges = [one for one in given if isinstance(one, int | float)] if isinstance(given, list) else []
        return (edges[0], edges[1]) if len(edges) == 2 else (0.0, 1.0)

    def title_height(self, name: str) -> float:
        """Height of an axis title with its distance from the axis and the numbers between, px; 0 without a title."""
        text = self._drawn.title(name)
        if not text:
            return 0.0
        given = [mapping(one.get("title")) for one in self.axis(name)]
        size = number(*(mapping(one.get("font")).get("size") for one in given), usual=1.2 * self.font)
        away = number(*(one.get("standoff") for one in given), usual=10.0)
        return lines_of(text) * size * LINE + min(away, 10.0)

    def numbers_height(self, name: str) -> float:
        """Height of the numbers below an axis, px; 0 where they are hidden."""
        held = self.axis(name)
        hidden = any(one.get("showticklabels") is False or one.get("visible") is False for one in held)
        size = number(*(mapping(one.get("tickfont")).get("size") for one in held), usual=self.font)
        return 0.0 if hidden else size * LINE

    def place(self, name: str, value: float) -> float | None:
        """Where an axis puts a value (of a logarithmic one its logarithm), px from the edge of the plot."""
        found = self._range(name)
        if found is None or not np.isfinite(value):
            return None
        low, high = found
        begin, end = self.domain(name)
        return float((begin + (end - begin) * (value - low) / (high - low)) * self.size[name[0]])

    def _range(self, name: str) -> tuple[float, float] | None:
        if name not in self._ranges:
            self._ranges[name] = self._found_range(name)
        return self._ranges[name]

    def _found_range(self, name: str) -> tuple[float, float] | None:
        root = self._shared(name)
        axis = self._drawn.axis(root)
        if axis.get("type") in ("date", "category", "multicategory"):
            return None
        given = numbers(axis.get("range")) if axis.get("range") is not None else None
        if given is not None and len(given) == 2 and np.isfinite(given).all() and given[0] != given[1]:
            return float(given[0]), float(given[1])
        held = []
        for trace in self._drawn.flat:
            if self._shared(trace.axis(name[0])) == root:
                values = trace.x if name[0] == "x" else trace.y
                if values is None:
                    return None
                held.append(values)
        values = np.concatenate(held) if held else np.empty(0)
        if axis.get("type") == "log":
            values = np.log10(values[values > 0])
        values = values[np.isfinite(values)]
        if not len(values) or values.min() == values.max():
            return None
        low, high = float(values.min()), float(values.max())
        pad = _PAD * (high - low)
        return low - pad, high + pad

    def _shared(self, name: str) -> str:
        """The axis whose range an axis has: another one that it matches, or itself."""
        for _ in range(_MOST_MATCHES):
            other = self._drawn.axis(name).get("matches")
            if not isinstance(other, str):
                break
            name = f"{other[0]}axis{other[1:]}"
        return name

    def is_log(self, name: str) -> bool:
        return self._drawn.axis(self._shared(name)).get("type") == "log"


def lines_of(text: str) -> int:
    return text.count("<br>") + 1


def box(text: str, size: float, x: float, y: float, xanchor: str, yanchor: str) -> Box:
    """A text whose anchor is at a place, px."""
    wide = max(len(line) for line in text.split("<br>")) * size * LETTER
    high = lines_of(text) * size * LINE
    left = x - {"left": 0.0, "right": wide}.get(xanchor, wide / 2)
    bottom = y - {"bottom": 0.0, "top": high}.get(yanchor, high / 2)
    return Box(text, left, left + wide, bottom, bottom + high)
