"""Small pictures of live plots that are saved in the notebook, for readers without a kernel. Beside them is what the
plots show: `bench/notebook_page.py` makes a page of it whose controls work."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from uuid import uuid4

import ipywidgets as widgets
from IPython.display import HTML, DisplayHandle, display
from pydantic import JsonValue

_PICTURE = re.compile(r"data:image/(webp|png);base64,[A-Za-z0-9+/=]+")
MOST_BYTES = 400_000
VIEWS = "battery_workbench_view"
"""The metadata of an output that say what its live views show."""
_CAPTION = "As last drawn. Run the cell for the live view."
# Without a kernel, the output of the live view is one line that says so, and on a page that nbconvert made it is the
# view as text; this style hides both. In a live view, elements of one line (buttons, labels, counts) are inside other
# widgets, so the style does not match them.
_STYLE = (
    ".jp-OutputArea-child:has(+ .jp-OutputArea-child [data-wb-still='{id}'])"
    " :is(.jupyter-widgets:not(.jupyter-widgets *):not(:has(*)), .jp-RenderedText) {{ display: none; }}"
)
# One picture serves both themes. On a dark page, light and dark of a light picture are swapped and the hues stay;
# the same on a light page with a dark picture. On a page that drops styles, the picture keeps its background.
_DARK_PAGE = ":is(body[data-jp-theme-light='false'], body[data-vscode-theme-kind*='dark'])"
_THEMES = (
    f"{_DARK_PAGE} [data-wb-still='{{id}}'] img[data-ground='light']"
    " {{ filter: invert(0.93) hue-rotate(180deg); }}"
    f"body:not({_DARK_PAGE}) [data-wb-still='{{id}}'] img[data-ground='dark']"
    " {{ filter: invert(1) hue-rotate(180deg) brightness(1.08); }}"
)
_FRAME = "max-width: 100%; border-radius: 6px"
_TILE = (
    "display: inline-block; width: {width}; box-sizing: border-box; padding: 4px; vertical-align: top; "
    "font-size: 13px"
)
_ABSENT = "<small>No picture was kept.</small>"
_LEAST = 0.25
"""The least part of the width that the picture of a tile takes."""


def show_live(widget: widgets.Widget, text: str) -> None:
    """Display a widget. ``text`` is what is read where widgets are not drawn: in a terminal, and in saved notebooks."""
    display({**widget._repr_mimebundle_(), "text/plain": text}, raw=True)


class Still:
    """An output next to that of live plots. They hide it, and put pictures into it when nothing else is to do.

    Parameters
    ----------
    title : of the dashboard; empty for a single plot.
    tiles : the plots of a dashboard in their order, each with its name and its part of the width, from 0 to 1. A
        picture that comes earlier than another does not change their order, and a plot without one keeps its place.
    """

    def __init__(self, title: str = "", tiles: Sequence[tuple[str, float]] = ()) -> None:
        self.id = uuid4().hex[:12]
        self._title = title
        self._tiles = dict(tiles)
        self._handle: DisplayHandle | None = None
        self._pictures: dict[str, tuple[str, str]] = {}
        self._views: list[Callable[[], Mapping[str, JsonValue]]] = []

    def shows(self, view: Callable[[], Mapping[str, JsonValue]]) -> None:
        """Add a view, in the order of the plots; the function says what it shows now."""
        self._views.append(view)

    def display(self) -> None:
        """Add the output below the present one."""
        self._handle = DisplayHandle(f"workbench-{self.id}")
        self._handle.display(self._html(), metadata=self._said())

    def keep(self, picture: str, name: str = "", dark: bool = False) -> None:
        """Keep the picture of a plot.

        ``picture`` is a data address. Anything else is ignored, and so is a picture over ``MOST_BYTES``. ``dark``: it
        was drawn on a dark background.
        """
        kept = (picture, "dark" if dark else "light")
        if self._handle is None or len(picture) > MOST_BYTES or self._pictures.get(name) == kept:
            return
        if _PICTURE.fullmatch(picture):
            self._pictures[name] = kept
            self._handle.update(self._html(), metadata=self._said())

    def _said(self) -> dict[str, JsonValue]:
        return {VIEWS: {"title": self._title, "views": [dict(view()) for view in self._views]}}

    def _html(self) -> HTML:
        inside = ""
        if self._pictures:
            style = (_STYLE + _THEMES).format(id=self.id)
            shown = self._dashboard() if self._tiles else "".join(self._image(name) for name in self._pictures)
            inside = f"<style>{style}</style>{shown}<div><small>{_CAPTION}</small></div>"
        return HTML(f'<div data-wb-still="{self.id}">{inside}</div>')

    def _dashboard(self) -> str:
        """The tiles from left to right and from top to bottom, each with its name above its picture."""
        tiles = "".join(
            f'<div style="{_TILE.format(width=f"{100 * max(share, _LEAST):.4g}%")}">'
            f"<div><b>{escape(name)}</b></div>{self._image(name) if name in self._pictures else _ABSENT}</div>"
            for name, share in self._tiles.items()
        )
        title = f"<div><b>{escape(self._title)}</b></div>" if self._title else ""
        return f'{title}<div style="font-size: 0">{tiles}</div>'

    def _image(self, name: str) -> str:
        picture, ground = self._pictures[name]
        return (
            f'<img src="{picture}" alt="{escape(name or "The figure")}, as last drawn" data-ground="{ground}"'
            f' style="{_FRAME}">'
        )
