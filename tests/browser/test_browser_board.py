"""A dashboard of six plots: it opens, every plot answers for itself, one control may speak for all; light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from support.live_view import LiveView
from support.notebook_page import NotebookPage

SETUP = """
import workbench as wb

bench = wb.open("../workbench.db")
saved = [plot for name in ("Ageing", "Electrochemistry") for plot in bench.dashboards.get(name).plots()]
board = bench.dashboards.create("Six")
for plot in saved[:6]:
    board.save(plot.name, plot.recipe())
"""
SHOW = "shown = board.show()\nshown"
GROUND = "gd => gd._fullLayout.paper_bgcolor"


@pytest.fixture(scope="module")
def sheet(kept_open) -> NotebookPage:
    sheet = kept_open([SETUP, SHOW])
    sheet.run(0)
    sheet.run(1)
    return sheet


@pytest.fixture(scope="module")
def views(sheet: NotebookPage) -> dict[str, LiveView]:
    names = sheet.kernel.ask("list(shown.views)")
    tiles = sheet.output(1).locator(".wb-tile")
    expect(tiles).to_have_count(6)
    return {name: LiveView(sheet, tiles.nth(n)) for n, name in enumerate(names)}


def test_six_plots_are_drawn(views: dict[str, LiveView]) -> None:
    assert len(views) == 6
    for name, view in views.items():
        expect(view.root.locator(".wb-title")).to_have_text(name)
        expect(view.figure.locator(".main-svg").first).to_be_visible()
        expect(view.problem).to_be_empty()


def test_the_button_of_the_board_has_a_name(sheet: NotebookPage, views: dict[str, LiveView]) -> None:
    named = sheet.output(1).get_by_role("button", name="Read every plot again", exact=True)
    expect(named).to_have_count(1)


def test_one_plot_answers_for_itself(sheet: NotebookPage, views: dict[str, LiveView]) -> None:
    before = {name: view.drawn for name, view in views.items()}
    fade = views["Fade by batch"]
    if not fade.field("Show").is_visible():
        fade.button("controls").click()
    with fade.another_picture():
        fade.field("Show").get_by_text("each cell").click()
    sheet.kernel.wait("shown.views['Fade by batch'].values['group']", "cells")
    after = {name: view.drawn for name, view in views.items()}
    assert {name for name in before if before[name] != after[name]} == {"Fade by batch"}


def test_one_switch_shares_what_all_plots_have(
    sheet: NotebookPage, views: dict[str, LiveView], pictures: Path | None
) -> None:
    switch = sheet.output(1).get_by_role("button", name="Share params of the same name", exact=True)
    expect(switch).to_have_attribute("aria-pressed", "false")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    shared = sheet.output(1).locator(".wb-board-frame > .wb-controls")
    expect(shared).to_be_visible()
    if pictures is not None:
        sheet.output(1).screenshot(path=pictures / "board-shared.png")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(shared).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 700])
def test_tiles_fill_the_width(sheet: NotebookPage, views: dict[str, LiveView], width: int) -> None:
    sheet.width(width)
    for view in views.values():
        view.wait_shown(
            "Math.abs(gd.querySelector('.main-svg').getBoundingClientRect().width / gd.parentElement.clientWidth - 1)"
            " < 0.02"
        )
    board = sheet.output(1).locator(".wb-board").bounding_box()
    assert board
    for view in views.values():
        tile = view.root.bounding_box()
        assert tile
        assert tile["x"] + tile["width"] <= board["x"] + board["width"] + 1
    sheet.width(1440)


def test_plots_follow_the_theme(sheet: NotebookPage, views: dict[str, LiveView], pictures: Path | None) -> None:
    view = views["Fade by batch"]
    sheet.theme(dark=False)
    sheet.settled()
    light = view.figure.evaluate(GROUND)
    sheet.theme(dark=True)
    view.wait_shown("gd._fullLayout.paper_bgcolor !== given", light)
    if pictures is not None:
        for width in (1440, 700):
            sheet.width(width)
            sheet.settled()
            sheet.output(1).screenshot(path=pictures / f"board-dark-{width}.png")
        sheet.width(1440)
    sheet.theme(dark=False)
    view.wait_shown("gd._fullLayout.paper_bgcolor === given", light)


def test_all_was_proper(sheet: NotebookPage, views: dict[str, LiveView]) -> None:
    sheet.assert_proper()
