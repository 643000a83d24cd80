"""Small pictures of live plots that are saved in the notebook, for readers without a kernel."""

from __future__ import annotations

import re
from html import escape
from uuid import uuid4

from IPython.display import HTML, DisplayHandle

_PICTURE = re.compile(r"data:image/(webp|png);base64,[A-Za-z0-9+/=]+")
MOST_BYTES = 400_000
_CAPTION = "As last drawn. Run the cell for the live view."
# Without a kernel, the output of the live view is one line that says so, and this style hides it. In a live view,
# elements of one line (buttons, labels, counts) are inside other widgets, so the style does not match them.
_STYLE = (
    ".jp-OutputArea-child:has(+ .jp-OutputArea-child [data-wb-still='{id}'])"
    " .jupyter-widgets:not(.jupyter-widgets *):not(:has(*)) {{ display: none; }}"
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
_FRAME = "max-width: {width}; border-radius: 6px"


class Still:
    """An output next to that of live plots. They hide it, and put pictures into it when nothing else is to do."""

    def __init__(self) -> None:
        self.id = uuid4().hex[:12]
        self._handle: DisplayHandle | None = None
        self._pictures: dict[str, tuple[str, str]] = {}

    def display(self) -> None:
        """Add the output below the present one."""
        self._handle = DisplayHandle(f"workbench-{self.id}")
        self._handle.display(self._html())

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
            self._handle.update(self._html())

    def _html(self) -> HTML:
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
