"""The numbers of a figure as one tidy table: a row for each point, columns with quantities and units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .battery.titles import column_of, is_plain_unit, unit_name
from .figure_traces import GROUP, Trace, dimension_labels, listed, points_of, trace_name
from .table import Column, Table, concat_columns
from .transform.frames import frame_of
from .typed_arrays import Decoded, decode, mapping
from .units import split_unit

CURVE, SERIES, PANEL = "Curve", "Series", "Panel"
_ERRORS = {"": " error", "_minus": " error below"}
_PLAIN = {
    "labels": "Label",
    "parents": "Parent",
    "values": "Value",
    "text": "Text",
    "hovertext": "Hover text",
    "base": "Base",
    "real": "Real part",
    "imag": "Imaginary part",
    "locations": "Location",
    "lat": "Latitude [deg]",
    "lon": "Longitude [deg]",
    "source": "Source",
    "target": "Target",
    "measure": "Measure",
    "counts": "Count",
}
_ALONG_Y = ("open", "high", "low", "close")
_OF_BOX = ("lowerfence", "q1", "median", "q3", "upperfence", "mean", "sd", "notchspan")
_BY_COLOUR = {"value": "Value", "intensity": "Intensity", "surfacecolor": "Surface colour"}
_HOVER = "Hover value"
_PART = re.compile(r"%\{(?P<what>[^}:|]+)[^}]*\}")
_BREAK = re.compile(r"<br\s*/?>|[,;(]|</?[A-Za-z][^<>]*>")


def tidy(figure: bytes) -> Table:
    """The plotted numbers of encoded figure bytes, exactly, one row for each point.

    The first columns are ``Curve`` (the number of the trace, from 0), ``Series`` (its name), and ``Panel`` where there
    are several. The others are called by the titles of the axes and colour bars, as columns are: ``Voltage / V`` and
    ``Voltage (V)`` give ``Voltage [V]``. Error bars are ``... error``. A value that is only shown on hover is called by
    the word before it, as ``n`` in ``n = %{customdata[1]}``, else ``Hover value 2``. So is what an axis without a title
    shows, else it is ``x`` or ``y``. One ``hovertext`` of a whole trace, ``Cell: C01``, is a column too: ``Cell``.
    A trace with ``visible`` false is left out where no button or slider can show it.

    Raises
    ------
    BadRequest
        If the table would have more than ``figure_traces.MOST_VALUES`` values.
    """
    content = decode(figure)
    layout = mapping(content.get("layout"))
    traces = [mapping(trace) for trace in listed(content.get("data"))]
    panels = _panels(traces, layout)
    parts = []
    for number, trace in enumerate(traces):
        if _draws_nothing(trace) or _stays_hidden(trace, layout):
            continue
        points = points_of(trace)
        named = _columns(trace, points, layout, {CURVE, SERIES, PANEL})
        head = {
            CURVE: Column.of(np.full(points.n, number)),
            SERIES: Column("text", np.zeros(points.n, np.int32), None, (trace_name(trace.get("name"), number),)),
        }
        if len(set(panels.values())) > 1:
            head[PANEL] = Column.of(np.full(points.n, panels[number]))
        parts.append(Table({**head, **named, **_of_whole_trace(trace, points.n, {*head, *named})}, points.n))
    names = dict.fromkeys(name for part in parts for name in part)
    rows = sum(part.n for part in parts)
    return Table(
        {
            name: concat_columns([part.columns.get(name) or Column.nulls(part.n) for part in parts])
            for name in names
        },
        rows,
    )


def tidy_frame(figure: bytes) -> pd.DataFrame:
    """``tidy`` as a DataFrame."""
    return frame_of(tidy(figure))


def _draws_nothing(trace: Trace) -> bool:
    """Whether a trace has only nulls, as the trace of a colour bar."""
    return all(
        len(values) > 0 and all(value is None for value in values)
        for values in (listed(trace.get("x")), listed(trace.get("y")))
    )


def _stays_hidden(trace: Trace, layout: Mapping[str, Decoded]) -> bool:
    """Whether nobody can see a trace: what is off in the legend can be switched on."""
    return (
        trace.get("visible") is False
        and not listed(layout.get("updatemenus"))
        and not listed(layout.get("sliders"))
    )


def _text(title: Decoded) -> str:
    """The text of a title, which is a mapping or, in figures of other programs, the text itself."""
    text = title.get("text") if isinstance(title, dict) else title
    return text if isinstance(text, str) else ""


def _word(value: Decoded, usual: str) -> str:
    """A text of a figure, which may hold anything, also an array, in its place."""
    return value if isinstance(value, str) and value else usual


def _panels(traces: list[Trace], layout: Mapping[str, Decoded]) -> dict[int, int]:
    """Trace number -> number of its panel, from 1. Axes that lie over another one are in its panel."""
    seen: dict[tuple[str, ...], int] = {}
    found = {}
    for number, trace in enumerate(traces):
        key = tuple(_base(_word(trace.get(f"{letter}axis"), letter), layout) for letter in "xy")
        place = _word(trace.get("scene"), _word(trace.get("subplot"), ""))
        found[number] = seen.setdefault((*key, place), len(seen) + 1)
    return found


def _base(axis: str, layout: Mapping[str, Decoded]) -> str:
    over = _axis(axis, layout).get("overlaying")
    return over if isinstance(over, str) and over != "free" else axis


def _axis(name: str, layout: Mapping[str, Decoded]) -> Mapping[str, Decoded]:
    """The axis that traces call ``x2``."""
    return mapping(layout.get(f"{name[:1]}axis{name[1:]}"))


@dataclass(frozen=True)
class _Names:
    """The names that the columns of one trace get."""

    layout: Mapping[str, Decoded]
    trace: Trace

    def of_axis(self, letter: str) -> str:
        trace, layout = self.trace, self.layout
        given, kind = _word(trace.get("scene"), ""), _word(trace.get("type"), "scatter")
        if given or kind in ("scatter3d", "surface", "mesh3d"):
            scene = mapping(layout.get(given or "scene"))
            return column_of(_text(mapping(scene.get(f"{letter}axis")).get("title"))) or letter
        if letter == "z":
            return self.of_bar(trace) or "z"
        name = _word(trace.get(f"{letter}axis"), letter)
        for other in self._same(name):
            title = column_of(_text(_axis(other, layout).get("title")))
            if title:
                return title
        return self._in_hover(letter) or letter

    def _same(self, name: str) -> Iterator[str]:
        """An axis, and the axes that share its title: those that move with it, and those above or below it."""
        yield name
        axis = _axis(name, self.layout)
        letter = name[:1]
        others = [f"{letter}{key[5:]}" for key in self.layout if key.startswith(f"{letter}axis")]
        for other in others:
            held = _axis(other, self.layout)
            if other == axis.get("matches") or held.get("matches") == name:
                yield other
        for other in others:
            if axis.get("domain") is not None and _axis(other, self.layout).get("domain") == axis.get("domain"):
                yield other

    def of_bar(self, holder: Mapping[str, Decoded]) -> str:
        """The title of the colour bar that explains an array of colours."""
        shared = holder.get("coloraxis")
        held = mapping(self.layout.get(shared)) if isinstance(shared, str) else holder
        return column_of(_text(mapping(held.get("colorbar")).get("title")))

    def of(self, name: str) -> str:
        letter, _, rest = name.partition("_")
        if name in ("x", "y", "z"):
            return self.of_axis(name)
        if name.endswith(GROUP):
            return _said(self.of_axis(name.removesuffix(GROUP)), GROUP)
        if letter == "error":
            axis, minus = rest[:1], rest[1:]
            return _said(self.of_axis(axis), _ERRORS.get(minus, " error"))
        if name.startswith("customdata"):
            return self.of_hover(name.removeprefix("customdata").strip())
        if name in ("r", "theta"):
            polar = mapping(self.layout.get(_word(self.trace.get("subplot"), "polar")))
            along = mapping(polar.get("radialaxis" if name == "r" else "angularaxis"))
            return column_of(_text(along.get("title"))) or ("Radius" if name == "r" else "Angle [deg]")
        if name in (*_ALONG_Y, *_OF_BOX):
            across = name in _OF_BOX and self.trace.get("orientation") == "h"
            return _said(self.of_axis("x" if across else "y"), f" {name}")
        if name in _BY_COLOUR:
            title = column_of(_text(mapping(self.trace.get("title")).get("text")))
            return self.of_bar(self.trace) or title or _BY_COLOUR[name]
        return self._in_hover(name) or _PLAIN.get(name, name)

    def of_hover(self, place: str) -> str:
        """The name of the values in a place of ``customdata``, which are shown on hover alone."""
        plain = f"{_HOVER} {int(place) + 1}" if place else _HOVER
        return self._in_hover(f"customdata[{place}]" if place else "customdata", plain)

    def _in_hover(self, wanted: str, plain: str = "") -> str:
        """What the words of the hover text call a value: ``n = %{customdata[1]}`` calls it ``n``."""
        template = self.trace.get("hovertemplate")
        words = template if isinstance(template, str) else ""
        for match in _PART.finditer(words):
            if match["what"].replace(" ", "") != wanted:
                continue
            before = _BREAK.split(_PART.sub(";", words[: match.start()]))[-1].strip()
            after = re.match(r"\s*([^<>%{(),;]*)", words[match.end() :])
            unit = after[1].strip() if after else ""
            if before == "±":
                return _said(self.of_axis("y"), " ±")
            named = before.rstrip("=: ") if before.endswith(("=", ":")) else ""
            named = named or plain
            return f"{named} [{unit_name(unit)}]" if named and is_plain_unit(unit) else named
        return plain


def _said(column: str, more: str) -> str:
    """A column name with words before its unit."""
    name, unit = split_unit(column)
    return f"{name}{more} [{unit}]" if unit else f"{name}{more}"


def _columns(trace: Trace, points: Table, layout: Mapping[str, Decoded], taken: set[str]) -> dict[str, Column]:
    names = _Names(layout, trace)
    columns = dict(points.items())
    made: dict[str, Column] = {}
    labels = dimension_labels(trace)
    for number, (key, column) in enumerate(columns.items(), 1):
        if trace.get("type") == "table":
            name = key
        else:
            name = column_of(labels[key]) or labels[key] if key in labels else names.of(key)
        if name in made or name in taken:
            name = _said(name, f", {number if key in labels else key}")
        made[name] = column
    for holder in (mapping(trace.get("marker")), mapping(trace.get("line"))):
        colors, shown = listed(holder.get("color")), names.of_bar(holder)
        if shown and shown not in made and 0 < len(colors) == points.n and not isinstance(colors[0], str):
            made[shown] = Column.from_python([_plain(value) for value in colors])
    return made


def _of_whole_trace(trace: Trace, n: int, taken: set[str]) -> dict[str, Column]:
    """What one hover text says of all points of a trace: ``Cell: C01`` is ``C01`` in the column ``Cell``."""
    said = trace.get("hovertext")
    if not isinstance(said, str) or not said:
        return {}
    name, colon, value = said.partition(": ")
    name, value = (name, value) if colon else (_PLAIN["hovertext"], said)
    return {} if name in taken else {name: Column("text", np.zeros(n, np.int32), None, (value,))}


def _plain(value: Decoded | np.generic) -> float | int | str | None:
    if isinstance(value, np.generic):
        number: float | int = value.item()
        return number
    return value if isinstance(value, int | float | str) else None
