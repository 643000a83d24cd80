"""Controls and the picture that is kept: what a person presses stays in sight when the picture has been put away."""

from __future__ import annotations

from collections.abc import Callable

from live_view import LiveView
from notebook_page import NotebookPage
from playwright.sync_api import expect

CELL = """import workbench as wb
bench = wb.open("../workbench.db")
view = bench.dashboards.get("Ageing").plot("Fade by batch").show()
view"""
LIST = """bench.dashboards.get("Ageing").plot("Coulombic efficiency").show()"""


def test_buttons_and_counts_stay_when_the_picture_is_kept(opened: Callable[..., NotebookPage]) -> None:
    sheet = opened([CELL, LIST])
    view = LiveView(sheet, sheet.run(0))
    kept = sheet.output(0).locator("[data-wb-still] img")
    kept.wait_for(state="attached")
    field = view.field("Batches")
    expect(field.locator("button")).to_have_text(["A", "B", "C"])
    with view.another_picture():
        field.get_by_role("button", name="C", exact=True).click()
    expect(field.locator("button.mod-active")).to_have_text(["A", "B"])
    assert view.shown("gd._fullData.filter(t => t.name.startsWith('C,')).length") == 0

    other = LiveView(sheet, sheet.run(1))
    sheet.output(1).locator("[data-wb-still] img").wait_for(state="attached")
    count = other.field("Cells").locator(".wb-count")
    expect(count).to_be_visible()
    expect(other.field("Cells").get_by_role("button", name="all", exact=True)).to_be_visible()


def test_a_row_of_buttons_has_one_line_where_there_is_room(opened: Callable[..., NotebookPage]) -> None:
    sheet = opened([CELL], width=1600)
    sheet.hide_side_bar()
    view = LiveView(sheet, sheet.run(0))
    buttons = view.field("Spread").get_by_role("button")
    expect(buttons).to_have_count(3)
    tops = {round((buttons.nth(n).bounding_box() or {"y": -1})["y"]) for n in range(3)}
    assert len(tops) == 1, tops


def test_a_look_at_a_plan_keeps_its_own_face_beside_a_view(opened: Callable[..., NotebookPage]) -> None:
    look = 'bench.look({"steps": {"tests": {"op": "list", "source": "measurements", "fields": ["name"]}}})'
    sheet = opened([CELL, look])
    LiveView(sheet, sheet.run(0))
    table = sheet.run(1).locator("div.wb-look")
    assert table.evaluate("e => getComputedStyle(e, '::before').content") == "none"
