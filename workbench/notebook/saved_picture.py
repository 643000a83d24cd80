"""Small pictures of live plots, stored in the notebook: what a reader without a kernel sees."""

from __future__ import annotations

import re
from html import escape
from typing import Any
from uuid import uuid4

from IPython.display import HTML, DisplayHandle

_PICTURE = re.compile(r"data:image/(webp|png);base64,[A-Za-z0-9+/=]+")
MOST_BYTES = 400_000
_CAPTION = "As last drawn. Run the cell for the live view."
# Where no kernel runs, the live view's own output is one line that says so. Live, what stands within the view is
# of one line too: buttons, labels, counts.
_STYLE = (
    ".jp-OutputArea-child:has(+ .jp-OutputArea-child [data-wb-still='{id}'])"
    " .jupyter-widgets:not(.jupyter-widgets *):not(:has(*)) {{ display: none; }}"
)
# One picture does for both themes: where the page is dark and the picture light, or the other way round, light and
# dark change places and the hues stay. Where a page drops styles, the picture stands on the ground it was drawn on.
_DARK_PAGE = ":is(body[data-jp-theme-light='false'], body[data-vscode-theme-kind*='dark'])"
_THEMES = (
    f"{_DARK_PAGE} [data-wb-still='{{id}}'] img[data-ground='light']"
    " {{ filter: invert(0.93) hue-rotate(180deg); }}"
    f"body:not({_DARK_PAGE}) [data-wb-still='{{id}}'] img[data-ground='dark']"
    " {{ filter: invert(1) hue-rotate(180deg) brightness(1.08); }}"
)
_FRAME = "max-width: {width}; border-radius: 6px"


class Still:
    """An output beside that of live plots; they hide it, and put pictures into it when all is quiet."""

    def __init__(self) -> None:
        self.id = uuid4().hex[:12]
        self._handle: DisplayHandle | None = None
        self._pictures: dict[str, tuple[str, str]] = {}

    def display(self) -> None:
        """Make the output below the present one."""
        self._handle = DisplayHandle(f"workbench-{self.id}")
        self._handle.display(self._html())

    def keep(self, picture: str, name: str = "", dark: bool = False) -> None:
        """Keep the picture of a plot, given as a data address; anything else, and what is very large, is not
        taken. ``dark`` tells that it was drawn on a dark ground."""
        kept = (picture, "dark" if dark else "light")
        if self._handle is None or len(picture) > MOST_BYTES or self._pictures.get(name) == kept:
            return
        if _PICTURE.fullmatch(picture):
            self._pictures[name] = kept
            self._handle.update(self._html())

    def _html(self) -> Any:
        width = "100%" if len(self._pictures) == 1 else "48%"
        images = [
            f'<img src="{picture}" alt="{escape(name or "The figure")}, as last drawn" data-ground="{ground}"'
            f' style="{_FRAME.format(width=width)}">'
            for name, (picture, ground) in self._pictures.items()
        ]
        inside = ""
        if images:
            style = (_STYLE + _THEMES).format(id=self.id)
            inside = f"<style>{style}</style>{''.join(images)}<div><small>{_CAPTION}</small></div>"
        return HTML(f'<div data-wb-still="{self.id}">{inside}</div>')
