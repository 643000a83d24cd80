"""The recipe panel in a low window: it opens in sight, with its Run; a single plot has its dashboard's width."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from support.live_view import LiveView
from support.notebook_page import NotebookPage

VIEW = """import workbench as wb
bench = wb.open("../workbench.db")
bench.dashboards.get("Ageing").plot("Fade by batch").show()"""
BOARD = """board = bench.dashboards.create("Alone")
board.save("Fade", bench.dashboards.get("Ageing").plot("Fade by batch").recipe())
board.show()"""


@pytest.mark.long
def test_the_panel_opens_in_sight_and_a_plot_alone_is_wide(opened: Callable[..., NotebookPage]) -> None:
    sheet = opened([VIEW, BOARD], width=760, height=640)
    view = LiveView(sheet, sheet.run(0))
    panel = view.root.locator(".wb-recipe")
    for _ in range(2):
        view.button("recipe").click()
        expect(panel.get_by_role("button", name="Run", exact=True)).to_be_in_viewport()
        view.button("recipe").click()
        expect(panel).to_be_hidden()

    sheet.width(1440)
    LiveView(sheet, sheet.run(1))
    tile, board = (sheet.output(1).locator(name).bounding_box() for name in (".wb-tile", ".wb-board"))
    assert tile
    assert board
    assert tile["width"] > 0.98 * board["width"]
