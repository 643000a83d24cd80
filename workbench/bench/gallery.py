"""``bench.gallery()``: ready recipes, each with its question and a picture drawn from the data of the bench."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from ..backend import Backend
from ..errors import WorkbenchError
from ..gallery.listing import GalleryItem
from ..operations.galleries import gallery_config
from ..pictures import thumbnails
from ..quick_import import later
from ..recipe.plot import PlotConfig
from ..recipe.recipe import Recipe

if TYPE_CHECKING:
    from . import display
else:  # a gallery that is printed draws nothing
    display = later("workbench.bench.display")

_WIDE = (720, 460)


class Gallery:
    """The ready recipes for a store. In a notebook it shows each with a picture; printed, it is a list."""

    def __init__(self, backend: Backend, measurements: list[str] | None = None) -> None:
        self._backend = backend
        self._measurements = measurements
        self.items: list[GalleryItem] = (
            backend.gallery_items() if measurements is None else backend.gallery_items_of(measurements)
        )

    def __iter__(self) -> Iterator[GalleryItem]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def frame(self) -> pd.DataFrame:
        """One row for each recipe: its name and question, whether there are data for it, and what is missing."""
        columns = ["name", "question", "ready", "lacking", "needs", "analyses"]
        return pd.DataFrame([dict(item) for item in self.items], columns=columns)

    def recipe(self, name: str) -> Recipe:
        """A recipe of the gallery as it is made for this store, or for the chosen tests, to change or to save.

        Raises
        ------
        NotFound
            If the gallery has none of that name; the message has the nearest.
        """
        return Recipe(self._config(name))

    def _config(self, name: str) -> PlotConfig:
        return gallery_config(self._backend, name, self._measurements)

    def __repr__(self) -> str:
        width = max(len(item["name"]) for item in self.items)
        lines = [
            f"{item['name']:<{width}}  {item['question']}" + ("" if item["ready"] else f"  ({item['lacking']})")
            for item in self.items
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The recipes that have data with their pictures; those that have none, with what is missing."""
        parts = self._cards([item for item in self.items if item["ready"]])
        rest = [
            f"<li><code>{escape(item['name'])}</code>: {escape(item['question'])} {escape(item['lacking'])}</li>"
            for item in self.items
            if not item["ready"]
        ]
        grid = "display:grid;grid-template-columns:repeat(auto-fill,minmax(360px,1fr));gap:12px"
        style = f"<style>{display.DARK_PAGE} .wb-gallery img {{ {display.SWAPPED}; }}</style>"
        return f"{style}<div class='wb-gallery' style='{grid}'>{''.join(parts)}</div><ul>{''.join(rest)}</ul>"

    def _cards(self, items: list[GalleryItem]) -> list[str]:
        """What each recipe shows. One that cannot be drawn shows why, and does not hide the others."""
        figures: dict[str, bytes] = {}
        shown: dict[str, bytes | WorkbenchError] = {}
        for item in items:
            try:
                figures[item["name"]] = self._backend.figure(self._config(item["name"]), {}).figure
            except WorkbenchError as error:
                shown[item["name"]] = error
        try:
            shown |= zip(figures, thumbnails([*figures.values()], *_WIDE), strict=True)
        except WorkbenchError as error:
            shown |= dict.fromkeys(figures, error)
        return [_card(item, shown[item["name"]]) for item in items]


def _card(item: GalleryItem, shown: bytes | WorkbenchError) -> str:
    head = f"<b>{escape(item['question'])}</b><br><code>bench.show(&quot;{escape(item['name'])}&quot;)</code>"
    if isinstance(shown, WorkbenchError):
        return f"<div>{head}<p>{escape(str(shown))}</p></div>"
    source = b64encode(shown).decode()
    title = escape(item["title"], quote=True)
    return f"<div>{head}<br><img width='360' alt='{title}' src='data:image/png;base64,{source}'></div>"
