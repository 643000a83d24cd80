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


class Still:
    """An output beside that of live plots; they hide it, and put pictures into it when all is quiet."""

    def __init__(self) -> None:
        self.id = uuid4().hex[:12]
        self._handle: DisplayHandle | None = None
        self._pictures: dict[str, str] = {}

    def display(self) -> None:
        """Make the output below the present one."""
        self._handle = DisplayHandle(f"workbench-{self.id}")
        self._handle.display(self._html())

    def keep(self, picture: str, name: str = "") -> None:
        """Keep the picture of a plot, given as a data address; anything else, and what is very large, is not
        taken."""
        if self._handle is None or len(picture) > MOST_BYTES or self._pictures.get(name) == picture:
            return
        if _PICTURE.fullmatch(picture):
            self._pictures[name] = picture
            self._handle.update(self._html())

    def _html(self) -> Any:
        width = "100%" if len(self._pictures) == 1 else "48%"
        images = [
            f'<img src="{picture}" alt="{escape(name or "The figure")}, as last drawn" style="max-width: {width}">'
            for name, picture in self._pictures.items()
        ]
        inside = ""
        if images:
            style = _STYLE.format(id=self.id)
            inside = f"<style>{style}</style>{''.join(images)}<div><small>{_CAPTION}</small></div>"
        return HTML(f'<div data-wb-still="{self.id}">{inside}</div>')
