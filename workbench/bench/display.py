"""A static figure in a notebook: its height, and light and dark with the page."""

from __future__ import annotations

import re
from html import escape
from uuid import uuid4

import plotly.graph_objects as go
import plotly.io as pio

from ..export import CONFIG
from ..messages import counted

HEIGHT = 450
"""Pixels of a figure that does not give its height. Without a number, JupyterLab draws 360, and 450 after a resize."""
_RENDERERS = ("plotly_mimetype", "notebook", "jupyterlab", "nteract", "vscode")
_LIGHT = 0.4
_MOST_NAMES = 8
DARK_PAGE = ":is(body[data-jp-theme-light='false'], body[data-vscode-theme-kind*='dark'])"
# Saved pictures of live views have the same rule: light and dark are swapped, and the hues stay.
SWAPPED = "filter: invert(0.93) hue-rotate(180deg)"
_FIGURE = ":is(.jp-RenderedPlotly, .plotly-graph-div)"
_UNSEEN = (
    "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap"
)


def show(figure: go.Figure) -> None:
    """Show a figure as plotly does, with a fixed height, and below it what makes it follow the page."""
    content = figure.to_dict()
    content["layout"] = {**content.get("layout", {})}
    content["layout"].setdefault("height", HEIGHT)
    pio.show(content, validate=False, config=CONFIG)
    if any(name in str(pio.renderers.default) for name in _RENDERERS):
        from IPython.display import HTML, display  # all of IPython, which only a notebook has loaded

        display(HTML(_beside(figure, content["layout"]["height"])))


def _beside(figure: go.Figure, height: float) -> str:
    """A style for dark pages, which works without a kernel too, and the figure in words for those who hear the page.

    The style also holds the height. On a resize plotly forgets the one of the layout and takes that of the element; in
    JupyterLab, whose element has none, every second resize or change of the theme left a figure without any height.
    """
    mark = uuid4().hex[:12]
    above = f".jp-OutputArea-child:has(+ .jp-OutputArea-child [data-wb-figure='{mark}'])"
    rules = f"{above} .jp-RenderedPlotly {{ height: {height:g}px; }}"
    if _follows(figure):
        rules += f" {DARK_PAGE} {above} {_FIGURE} {{ {SWAPPED}; }}"
    style = f"<style>{rules}</style>"
    return f"<div data-wb-figure='{mark}'>{style}<span style='{_UNSEEN}'>{escape(in_words(figure))}</span></div>"


def _follows(figure: go.Figure) -> bool:
    """Whether the page decides on light and dark: the script chose no ground, and that of its template is light."""
    layout = figure.layout
    if layout.paper_bgcolor is not None or layout.plot_bgcolor is not None:
        return False
    ground = layout.template.layout.paper_bgcolor
    return ground is None or _lightness(str(ground)) > _LIGHT


def _lightness(color: str) -> float:
    """How light a colour is, 0 to 1, by its parts; 1 for a name that is not black."""
    if color.startswith("#") and len(color) in (4, 7):
        step = (len(color) - 1) // 3
        parts = [int(color[1 + n * step : 1 + (n + 1) * step], 16) / float(16**step - 1) for n in range(3)]
        return sum(parts, 0.0) / 3
    if color.startswith("rgb"):
        written = color.partition("(")[2].rstrip(")").split(",")[:3]
        return sum(float(part.strip("% ")) / (100 if "%" in part else 255) for part in written) / 3
    return 0.0 if color == "black" else 1.0


def in_words(figure: go.Figure) -> str:
    """Title, axes and traces of a figure as a sentence."""
    axes = [_plain(axis.title.text) for axis in (*figure.select_xaxes(), *figure.select_yaxes())]
    names = [name for name in (_plain(trace.name) for trace in figure.data) if name]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    parts = [
        f"Figure: {_plain(figure.layout.title.text) or 'without a title'}",
        f"axes {', '.join(dict.fromkeys(filter(None, axes)))}" if any(axes) else "",
        counted(len(figure.data), "trace") + (f": {', '.join(names[:_MOST_NAMES])}{more}" if names else ""),
    ]
    return ". ".join(part for part in parts if part) + "."


def _plain(text: str | None) -> str:
    """A text of plotly without its markup."""
    return " ".join(re.sub(r"<[^>]*>", " ", text or "").split())
