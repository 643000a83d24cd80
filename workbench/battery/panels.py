"""A figure of several panels: one for each cell, test or quantity, with room for its titles and ticks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .short_names import short_names
from .style import legend, template
from .titles import axis_title

_WIDEST = 4
"""Panels in a row at most: a page of 900 px has room for the ticks of so many."""
_ROW = 230
"""px of a row of a grid; of one of a column of panels, whose x axis they share, `_LOW`."""
_LOW = 180
_TALLEST = 420
"""px of a single row."""
_ABOVE, _BELOW = 40, 110
"""px above the panels, and below them: ticks, a title, and a row or two of a legend."""
_TICKS, _HEADING = 30, 26
_PAGE, _LETTER = 600, 7
"""px of all panels of a row of a narrow page, without what is between them; and of a letter of 12 px."""
Place = dict[str, int]


def panels(
    titles: Sequence[str],
    x: str | Sequence[str] = "",
    y: str | Sequence[str] = "",
    *,
    columns: int | None = None,
    equal: bool = False,
) -> tuple[go.Figure, list[Place]]:
    """A figure with room for a panel for each title, and their places: ``fig, at = battery.panels(...)``, then
    ``fig.add_scatter(..., **at[n])``. ``x``, ``y``: columns or axis titles, one for all or a list; ``columns=1``: below
    each other, on one x axis; ``equal=True`` for Nyquist: one scale for x and y, the same in all.

    Panels of a grid have ticks of their own, since cells differ; those of one column share the x axis if they share its
    title. Titles of axes are written once for each column and row of panels where they are the same. Height and look
    (``template``) are set, so a legend, if there is one, is below.

    Parameters
    ----------
    titles : what is above each panel; long ones are cut in the middle. An empty text gives none.
    x, y : columns (``Voltage [V]``) or titles of the axes.
    columns : panels in a row, 1 to 4; without it all of up to 3, 2 of 4 panels, 3 of up to 9, else 4.
    equal : x and y have one scale, and all panels the same ranges, which plotly makes wide enough for all.

    Raises
    ------
    ValueError
        If there is no title, a list has another length, or ``columns`` is not from 1 to 4.

    >>> figure, places = panels(["A", "B", "C", "D"], "Cycle count", "Voltage [V]")
    >>> places[2]
    {'row': 2, 'col': 1}
    """
    names = [str(title) for title in titles]
    if not names:
        raise ValueError("panels needs a title for each panel; there is none. Return battery.message(why) then.")
    across = _fitting(len(names)) if columns is None else columns
    if across not in range(1, _WIDEST + 1):
        raise ValueError(f"'columns' is from 1 to {_WIDEST}; it is {columns!r}.")
    across = min(across, len(names))
    x_titles, y_titles = _each(x, "x", len(names)), _each(y, "y", len(names))
    places = [{"row": n // across + 1, "col": n % across + 1} for n in range(len(names))]
    one_x = across == 1 and len(set(x_titles)) == 1
    height = _TALLEST if len(names) <= across else _LOW if one_x else _ROW
    figure = _grid(names, across, height, one_x=one_x)
    for n, place in enumerate(places):
        last = n + across >= len(names)
        if last or x_titles[n] != x_titles[n + across]:
            figure.update_xaxes(title_text=_lines(x_titles[n], _PAGE // across), **place)
        if place["col"] == 1 or y_titles[n] != y_titles[n - 1]:
            figure.update_yaxes(title_text=_lines(y_titles[n], height), **place)
    if equal:
        # The ranges give way, not the panels: their titles would be left above an empty strip.
        figure.update_xaxes(matches="x", constrain="range")
        figure.update_yaxes(matches="y", constrain="range")
        figure.update_layout(yaxis={"matches": None, "scaleanchor": "x"}, xaxis_matches=None)
    return figure, places


def _fitting(n: int) -> int:
    return n if n <= 3 else 2 if n == 4 else 3 if n <= 9 else _WIDEST


def _each(titles: str | Sequence[str], name: str, n: int) -> list[str]:
    given = [titles] * n if isinstance(titles, str) else list(titles)
    if len(given) != n:
        raise ValueError(
            f"'{name}' has {len(given)} titles for {n} panels: give one for each, or one text for all."
        )
    return [axis_title(title) for title in given]


def _lines(title: str, room: int) -> str:
    """A title in lines that fit this many px."""
    return "<br>".join(textwrap.wrap(title, max(room // _LETTER, 8), break_long_words=False)) or title


def _grid(names: list[str], across: int, height: int, *, one_x: bool) -> go.Figure:
    rows = math.ceil(len(names) / across)
    between = (0 if one_x else _TICKS + _HEADING) + (_HEADING if any(names) else 12)
    drawn = rows * height + (rows - 1) * between
    most = max(_PAGE // across // _LETTER, 8)
    short = short_names([name for name in names if name], most) | {"": ""}
    # A hole in the grid has no axes: they would be empty ones.
    specs: list[list[dict[str, str] | None]] = [
        [{} if r * across + c < len(names) else None for c in range(across)] for r in range(rows)
    ]
    figure = make_subplots(
        rows=rows,
        cols=across,
        specs=specs,
        shared_xaxes=one_x,
        subplot_titles=[short[name] for name in names],
        vertical_spacing=between / drawn if rows > 1 else 0,
        horizontal_spacing=0.28 / across if across > 1 else 0,
    )
    small = {"tickfont": {"size": 11}, "title": {"font": {"size": 12}, "standoff": 6}}
    figure.update_annotations(font_size=12)
    figure.update_layout(template=template(), height=_ABOVE + drawn + _BELOW, legend=legend())
    figure.update_layout(margin={"t": _ABOVE, "b": _BELOW})
    return figure.update_xaxes(**small).update_yaxes(**small)
