"""Controls and the picture that is kept: what a person presses stays in sight when the picture has been put away, and
the picture suits light and dark pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from support.live_view import LiveView
from support.notebook_page import NotebookPage
from support.shown_lightness import ground

CELL = """import workbench as wb
bench = wb.open("../workbench.db")
view = bench.dashboards.get("Ageing").plot("Fade by batch").show()
view"""
CURVES = """import workbench as wb
wb.open("../workbench.db").dashboards.get("Electrochemistry").plot("Voltage curves").show()"""
COLORS = "gd._fullData.filter(trace => trace.mode.includes('lines')).map(trace => trace.line.color)"
WIDGET = """import workbench as wb
bench = wb.open("../workbench.db")
bench.show(bench.dashboards.get("Ageing").plot("Fade by batch"), figure_widget=True)"""
ARROW = """list => {
  const { backgroundImage, backgroundColor } = getComputedStyle(list);
  const drawn = decodeURIComponent(backgroundImage.replace(/;base64,([^"]*)/, (_, data) => atob(data)));
  return [/#[0-9a-fA-F]{6}/.exec(drawn)[0], backgroundColor];
}"""
LOOK = """look = {"op": "list", "source": "measurements", "fields": ["name", "cycle_count"]}
bench.look({"steps": {"tests": look}})"""
BATCHES = """from workbench import steps
cells = steps.list("instances", fields=["id", "batch_name"], limit=100)
batches = wb.param("batches", ["A", "B", "C"], label="Batches", options_from=cells["batch_name"])
chosen = steps.join(cells, cells, ("id", "id"), fields=[], where={"batch_name": batches})
script = "def transform(data, params):\\n    return px.histogram(data['chosen'], x='batch_name', color='batch_name')\\n"
bench.show(wb.Recipe(plan=wb.plan(cells=cells, chosen=chosen), transform=script, params=[batches]))"""
LIST = """bench.dashboards.get("Ageing").plot("Coulombic efficiency").show()"""


@pytest.fixture(scope="module")
def sheet(kept_open: Callable[..., NotebookPage]) -> NotebookPage:
    return kept_open([CELL, LIST, LOOK, BATCHES])


@pytest.mark.long
def test_buttons_and_counts_stay_when_the_picture_is_kept(sheet: NotebookPage) -> None:
    sheet.keep_soon()
    sheet.run(0)
    view = LiveView(sheet, sheet.run(3))
    kept = sheet.output(3).locator("[data-wb-still] img")
    kept.wait_for(state="attached")
    field = view.field("Batches")
    expect(field.locator("button")).to_have_text(["A", "B", "C"])
    with view.another_picture():
        field.get_by_role("button", name="C", exact=True).click()
    expect(field.locator("button.mod-active")).to_have_text(["A", "B"])
    assert view.shown("gd._fullData.map(trace => trace.name)") == ["A", "B"]

    other = LiveView(sheet, sheet.run(1))
    sheet.output(1).locator("[data-wb-still] img").wait_for(state="attached")
    count = other.field("Cells").locator(".wb-count")
    expect(count).to_be_visible()
    expect(other.field("Cells").get_by_role("button", name="all", exact=True)).to_be_visible()


def test_a_row_of_buttons_has_one_line_where_there_is_room(sheet: NotebookPage) -> None:
    sheet.width(1600)
    sheet.hide_side_bar()
    view = LiveView(sheet, sheet.run(0))
    buttons = view.field("Show").get_by_role("button")
    expect(buttons).to_have_count(3)
    tops = {round((buttons.nth(n).bounding_box() or {"y": -1})["y"]) for n in range(3)}
    assert len(tops) == 1, tops


def test_a_look_at_a_plan_keeps_its_own_face_beside_a_view(sheet: NotebookPage) -> None:
    LiveView(sheet, sheet.run(0))
    table = sheet.run(2).locator("div.wb-look")
    assert table.evaluate("e => getComputedStyle(e, '::before').content") == "none"
    for kind, side in (("text", "left"), ("number", "right")):
        for tag in ("th", "td"):
            cell = table.locator(f"{tag}.wb-{kind}").first
            assert cell.evaluate("e => getComputedStyle(e).textAlign") == side, (tag, kind)


@pytest.mark.parametrize(
    "drawn_dark",
    [pytest.param(False, id="drawn light", marks=pytest.mark.long), pytest.param(True, id="drawn dark")],
)
def test_a_saved_picture_suits_both_themes(
    opened: Callable[..., NotebookPage], pictures: Path | None, drawn_dark: bool
) -> None:
    sheet = opened([CELL])
    sheet.keep_soon()
    sheet.theme(dark=drawn_dark)
    LiveView(sheet, sheet.run(0))
    still = sheet.output(0).locator("[data-wb-still] img")
    still.wait_for(state="attached")
    expect(still).to_have_attribute("data-ground", "dark" if drawn_dark else "light")
    sheet.save()
    sheet.lab.stop_kernel(sheet.path)
    sheet.reopen_without_kernel()
    grounds = {}
    for dark in (True, False):  # the theme stays for the next page
        sheet.theme(dark)
        expect(still).to_be_visible()
        grounds[dark] = ground(still)
        if pictures is not None:
            still.screenshot(path=pictures / f"still-{drawn_dark}-{dark}.png")
    assert grounds[True] < 40, "as dark as the page"
    assert grounds[False] > 225, "as light as the page"


@pytest.mark.long
def test_a_view_on_a_figure_widget_leaves_a_picture_too(opened: Callable[..., NotebookPage]) -> None:
    sheet = opened([WIDGET])
    sheet.keep_soon()
    sheet.run(0)
    still = sheet.output(0).locator("[data-wb-still] img")
    still.wait_for(state="attached")
    expect(still).not_to_be_visible()
    sheet.save()
    sheet.lab.stop_kernel(sheet.path)
    sheet.reopen_without_kernel()
    expect(still).to_be_visible()
    assert still.evaluate("image => image.naturalWidth") > 300
    expect(sheet.output(0).get_by_text("not found")).not_to_be_visible()


@pytest.mark.long
def test_the_arrow_of_a_list_is_seen_on_both_themes(sheet: NotebookPage) -> None:
    view = LiveView(sheet, sheet.run(0))
    chosen = view.field("Capacity").locator("select")
    for dark in (True, False):
        sheet.theme(dark)
        arrow, field = chosen.evaluate(ARROW)
        lightest, darkest = sorted((luminance(arrow), luminance(field)), reverse=True)
        assert (lightest + 0.05) / (darkest + 0.05) > 3, (arrow, field)


@pytest.mark.long
def test_dark_lines_are_seen_on_a_dark_page(opened: Callable[..., NotebookPage]) -> None:
    sheet = opened([CURVES])
    sheet.theme(dark=False)
    view = LiveView(sheet, sheet.run(0))
    light = view.shown(COLORS)
    paper = view.shown("gd._fullLayout.paper_bgcolor")
    sheet.theme(dark=True)
    view.wait_shown("gd._fullLayout.paper_bgcolor !== given", paper)
    dark = view.shown(COLORS)
    page = luminance(view.shown("gd._fullLayout.paper_bgcolor"))
    sheet.theme(dark=False)
    assert min((luminance(color) + 0.05) / (page + 0.05) for color in light) < 1.5, "lost if it stayed"
    assert min((luminance(color) + 0.05) / (page + 0.05) for color in dark) > 3
    assert sorted(dark, key=luminance) == [made for _, made in sorted(zip(light, dark, strict=True), key=by_first)]


def by_first(pair: tuple[str, str]) -> float:
    return luminance(pair[0])


def luminance(color: str) -> float:
    """The relative luminance of ``#rgb``, ``#rrggbb`` or ``rgb(r, g, b)``, 0 to 1."""
    hexadecimal = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:4])
    parts = bytes.fromhex(hexadecimal) if color[0] == "#" else map(int, re.findall(r"\d+", color)[:3])
    parts = [part / 3295 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
