"""A live view on the page, as a person sees and handles it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator

from support.notebook_page import PATIENCE, NotebookPage

QUIET = """([root, before]) => {
  const view = root.querySelector(".wb-plot");
  const drawn = Number(view?.dataset.drawn ?? 0);
  return drawn > before && !view.querySelector(".wb-busy").hasChildNodes();
}"""


class LiveView:
    """A view in the output of a cell: its controls by label, its picture, its words."""

    def __init__(self, sheet: NotebookPage, root: Locator) -> None:
        self.sheet = sheet
        self.page = sheet.page
        self.root = root
        self.wait_drawn(0)

    @property
    def figure(self) -> Locator:
        return self.root.locator(".wb-figure")

    @property
    def drawn(self) -> int:
        """The number of the picture that is shown."""
        return int(self.root.locator(".wb-plot").get_attribute("data-drawn") or 0)

    def wait_drawn(self, before: int) -> None:
        """Wait for a later picture than ``before``."""
        self.page.wait_for_function(QUIET, arg=[self.root.element_handle(), before])

    @contextmanager
    def another_picture(self) -> Iterator[None]:
        """Wait, after what is done inside, until another picture is there."""
        before = self.drawn
        yield
        self.wait_drawn(before)

    def field(self, label: str) -> Locator:
        """The control with this label."""
        inside = self.page.locator(".widget-label, .widget-label-basic").get_by_text(label, exact=True)
        return self.root.locator(".wb-field").filter(has=inside)

    def button(self, name: str) -> Locator:
        return self.root.locator(f".wb-act-{name}")

    def badge(self, name: str) -> Locator:
        return self.root.locator(f".wb-badge.wb-{name}")

    @property
    def problem(self) -> Locator:
        return self.root.locator(".wb-problem")

    def shown(self, expression: str) -> Any:
        """A JavaScript expression over ``gd``, the plot."""
        return self.figure.evaluate(f"gd => {expression}")

    def wait_shown(self, condition: str, given: Any = None) -> None:
        """Wait until a JavaScript condition over ``gd`` and ``given`` holds."""
        handle = self.figure.element_handle()
        self.page.wait_for_function(f"([gd, given]) => {condition}", arg=[handle, given], timeout=PATIENCE)

    @property
    def range(self) -> list[float]:
        return list(self.shown("gd._fullLayout.xaxis.range.map(Number)"))

    @property
    def samples(self) -> list[float]:
        """The x of the samples of the first trace that the page holds."""
        return list(self.shown("Array.from(gd._fullData[0].x)"))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw a box in the picture, in parts of its width and height."""
        area = self.plot_area
        mouse = self.page.mouse
        mouse.move(area["x"] + start[0] * area["width"], area["y"] + start[1] * area["height"])
        mouse.down()
        mouse.move(area["x"] + end[0] * area["width"], area["y"] + end[1] * area["height"], steps=8)
        mouse.up()

    def double_click(self) -> None:
        """Two clicks that plotly takes for one: on a busy machine it may see them too far apart (300 ms)."""
        self.shown("gd.once('plotly_doubleclick', () => { gd.twice = true; })")
        for _ in range(5):
            area = self.plot_area
            self.page.mouse.dblclick(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
            self.page.wait_for_timeout(500)
            if self.shown("gd.twice === true"):
                self.shown("delete gd.twice")
                return
        raise AssertionError("plotly saw no double click")

    @property
    def plot_area(self) -> dict[str, float]:
        layer = self.figure.locator(".nsewdrag").first
        layer.scroll_into_view_if_needed()
        box = layer.bounding_box()
        if box is None:
            raise AssertionError("the plot area is not on the page")
        return dict(box)
