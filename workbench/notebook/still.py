"""A small picture of a live plot, stored in the notebook: what a reader without a kernel sees."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

from IPython.display import HTML, DisplayHandle

_PICTURE = re.compile(r"data:image/(webp|png);base64,[A-Za-z0-9+/=]+")
MOST_BYTES = 400_000
_CAPTION = "As last drawn. Run the cell for the live view."
# Where no kernel runs, the live view's own output is one line that says so.
_STYLE = (
    ".jp-OutputArea-child:has(+ .jp-OutputArea-child [data-wb-still='{id}']) .jupyter-widgets:not(:has(*))"
    " {{ display: none; }}"
)


class Still:
    """An output beside that of a live plot; the plot hides it, and puts a picture into it when all is quiet."""

    def __init__(self) -> None:
        self.id = uuid4().hex[:12]
        self._handle: DisplayHandle | None = None
        self._picture = ""

    def display(self) -> None:
        """Make the output below the present one."""
        self._handle = DisplayHandle(f"workbench-{self.id}")
        self._handle.display(self._html())

    def keep(self, picture: str) -> None:
        """Keep a picture, given as a data address; anything else, and what is very large, is not taken."""
        if self._handle is None or picture == self._picture or len(picture) > MOST_BYTES:
            return
        if _PICTURE.fullmatch(picture):
            self._picture = picture
            self._handle.update(self._html())

    def _html(self) -> Any:
        inside = ""
        if self._picture:
            style = _STYLE.format(id=self.id)
            image = f'<img src="{self._picture}" alt="The figure as last drawn" style="max-width: 100%">'
            inside = f"<style>{style}</style>{image}<div><small>{_CAPTION}</small></div>"
        return HTML(f'<div data-wb-still="{self.id}">{inside}</div>')
