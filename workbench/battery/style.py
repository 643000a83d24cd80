"""The default look of figures: a template fit to print, colours for colour-blind readers, a bar for many curves."""

from __future__ import annotations

import copy
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from .doubts import NeedsUnmet
from .plotly_dict import PlotlyDict, PlotlyValue
from .short_names import short_names

# Okabe and Ito's colours for colour-blind readers (jfly.uni-koeln.de/color), with a dark brown for the yellow, which is
# lost on white; in an order in which neighbours differ in lightness too.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#661100")
SCALE = "Viridis"
_BRIGHTEST = 0.88  # the end of the scale is too pale for a line on white
_INK = "#222222"
# The camera, zoom, pan and reset stay: so few buttons do not cover the title of a narrow figure.
_BUTTONS_LESS = ("sendcharttocloud", "select2d", "lasso2d", "zoomin", "zoomout", "autoscale")
_CORNERS = {
    "top left": {"x": 0.02, "xanchor": "left", "y": 0.98, "yanchor": "top"},
    "top right": {"x": 0.98, "xanchor": "right", "y": 0.98, "yanchor": "top"},
    "bottom left": {"x": 0.02, "xanchor": "left", "y": 0.03, "yanchor": "bottom"},
    "bottom right": {"x": 0.98, "xanchor": "right", "y": 0.03, "yanchor": "bottom"},
}


def template() -> go.layout.Template:
    """The default template.

    White background, a frame with ticks inside, a light grid, one size of type. Give it as
    ``layout={"template": battery.template()}`` or ``figure.update_layout(template=...)``. It leaves the mode bar four
    buttons, none of which sends the figure anywhere.
    """
    # plotly checks each property, which takes longer than many a figure. These were checked once; later ones are again.
    made = go.layout.Template(copy.deepcopy(_checked_template()), _validate=False)
    made._validate = True
    return made


@cache
def _checked_template() -> PlotlyDict:
    axis = {
        "showline": True,
        "linecolor": _INK,
        "linewidth": 1,
        "mirror": "ticks",
        "ticks": "inside",
        "tickcolor": _INK,
        "ticklen": 5,
        "showgrid": True,
        "gridcolor": "#ECECEC",
        "zeroline": False,
        "automargin": True,
        "title": {"standoff": 10},
    }
    layout = {
        "font": {"family": "Helvetica, Arial, sans-serif", "size": 14, "color": _INK},
        "title": {"font": {"size": 16}, "x": 0.02, "xanchor": "left"},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "colorway": list(PALETTE),
        "colorscale": {"sequential": SCALE, "sequentialminus": SCALE, "diverging": "RdBu"},
        "xaxis": axis,
        "yaxis": axis,
        "margin": {"l": 70, "r": 24, "t": 44, "b": 60},
        "legend": {"bgcolor": "rgba(255,255,255,0.85)", "borderwidth": 0, "font": {"size": 12}},
        "modebar": {"remove": list(_BUTTONS_LESS), "bgcolor": "rgba(255,255,255,0)"},
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "white", "bordercolor": "#BBBBBB", "font": {"color": _INK, "size": 12}},
    }
    lines = [{"line": {"width": 1.8}, "marker": {"size": 6}}]
    data = {"scatter": lines, "scattergl": lines, "table": [table_heights(14)]}
    checked: PlotlyDict = go.layout.Template(layout=layout, data=data).to_plotly_json()
    return checked


def table_heights(letters: float) -> PlotlyDict:
    """Heights of the rows of a table whose letters have this size, in px: plotly's own fit letters of 12 px."""
    line = round(1.3 * letters)
    return {"cells": {"height": line + 10}, "header": {"height": line + 14}}


def legend(place: str = "below", **more: PlotlyValue) -> PlotlyDict:
    """Where a legend goes, below or at ``top right``: ``figure.update_layout(legend=battery.legend())``.

    Parameters
    ----------
    place : ``below`` the figure, in rows, where it covers no sample whatever the width; or inside the axes,
        ``top left``, ``top right``, ``bottom left`` or ``bottom right``, for a corner that is free in all data.
    more : other properties of the legend, such as ``title={"text": "Batch"}``.

    Raises
    ------
    ValueError
        If there is no such place.
    """
    if place == "below":
        edge = {"yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"}
        return {"orientation": "h", **edge, "tracegroupgap": 0, **more}
    if place not in _CORNERS:
        raise ValueError(f"A legend goes 'below' or into {', '.join(map(repr, _CORNERS))}; not {place!r}.")
    return {"orientation": "v", **_CORNERS[place], "tracegroupgap": 0, **more}


def message(text: str, *, unmet: bool = False) -> go.Figure:
    """A figure that is only a sentence: for a script whose data are not there.

    Parameters
    ----------
    text : what is missing, and what to choose or add; shown as it is written, without markup. An empty line
        starts a paragraph. A word of more than 44 letters, such as a name of a file, is cut in the middle.
    unmet : warn too (``needs_unmet``), so that programs see that the store lacks what the script needs.

    >>> message("No impedance here.").layout.annotations[0].text
    'No impedance here.'
    """
    if unmet:
        warnings.warn(" ".join(text.split()), NeedsUnmet, stacklevel=2)
    short = short_names(text.split(), 44)
    paragraphs = [" ".join(short[word] for word in part.split()) for part in text.split("\n\n")]
    lines = [line for part in paragraphs for line in textwrap.wrap(part, 52, break_on_hyphens=False)]
    place = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "xanchor": "center", "yanchor": "middle"}
    words = {
        "text": "<br>".join(escape(line, quote=False) for line in lines),
        "font": {"size": 15, "color": "#555555"},
        "showarrow": False,
    }
    figure = go.Figure(layout={"template": template(), "annotations": [{**words, **place}]})
    return figure.update_xaxes(visible=False).update_yaxes(visible=False)


def sequential(n: int) -> list[str]:
    """``n`` colours from dark to light: for curves that have an order."""
    if n <= 0:
        return []
    places = np.linspace(0, _BRIGHTEST, n) if n > 1 else np.zeros(1)
    return list(sample_colorscale(SCALE, places.tolist()))


def shades(values: Sequence[float], low: float | None = None, high: float | None = None) -> list[str]:
    """A colour for each number, by its place between ``low`` and ``high`` (by default the least and the most)."""
    numbers = np.asarray(values, float)
    if not len(numbers):
        return []
    least = float(np.nanmin(numbers)) if low is None else low
    most = float(np.nanmax(numbers)) if high is None else high
    span = most - least
    places = np.clip((numbers - least) / span, 0, 1) if span > 0 else np.zeros(len(numbers))
    return list(sample_colorscale(SCALE, (np.nan_to_num(places) * _BRIGHTEST).tolist()))


def color_bar(low: float, high: float, title: str) -> PlotlyDict:
    """A trace that draws only the colour bar of ``shades`` between two numbers."""
    stops = np.linspace(0, 1, 11)
    scale = [[float(stop), shade] for stop, shade in zip(stops, sequential(11), strict=True)]
    marker = {
        "color": [low],
        "cmin": low,
        "cmax": high,
        "colorscale": scale,
        "showscale": True,
        "colorbar": {
            "title": {"text": title, "side": "right"},
            "thickness": 14,
            "outlinewidth": 0,
            "ticks": "inside",
        },
    }
    hidden = {"x": [None], "y": [None], "hoverinfo": "skip", "showlegend": False}
    return {"type": "scatter", "mode": "markers", "marker": marker, **hidden}


@dataclass(frozen=True)
class Coloring:
    """How to colour a family of curves: one colour each, and either a legend or the traces of a colour bar."""

    colors: list[str]
    legend: bool
    bar: list[PlotlyDict]


def coloring(values: Sequence[float | str], title: str, *, above: int = 8) -> Coloring:
    """Colours for curves that differ in ``values`` (cycles, temperatures, rates): ``c.colors[i]`` and
    ``showlegend=c.legend`` of curve i, and ``c.bar``, traces to add.

    Up to ``above`` curves get colours along the scale and a legend. More curves get a colour bar instead of the
    legend, if the values are numbers. Texts take the colours of the palette in turn.

    Use as ``c = coloring(cycles, "Cycle count")``, then ``figure.add_traces(c.bar)`` after the curves.
    """
    listed = list(values)
    numbers = [
        v for v in listed if isinstance(v, int | float | np.integer | np.floating) and not isinstance(v, bool)
    ]
    if len(numbers) < len(listed):
        return Coloring([PALETTE[place % len(PALETTE)] for place in range(len(listed))], True, [])
    if len(numbers) <= above:
        return Coloring(_by_rank(numbers), True, [])
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    return Coloring(shades(numbers, low, high), False, [color_bar(low, high, title)])


def _by_rank(values: list[float]) -> list[str]:
    """Colours at even distances along the scale, so that neighbours differ clearly whatever their values."""
    ranked = sorted(set(values))
    colors = dict(zip(ranked, sequential(len(ranked)), strict=True))
    return [colors[value] for value in values]
