"""What a person meets on any page: heights that stay, light and dark, names for those who hear it, a stop, an end."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from support.live_view import LiveView
from support.notebook_page import PATIENCE, NotebookPage
from support.shown_lightness import ground

SETUP = '''
import numpy as np, pandas as pd
import workbench as wb

bench = wb.open("../workbench.db")
recipe = wb.Recipe(
    plan={"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}},
    transform="""
from workbench import battery

def transform(data, params):
    if params["how"] == "for ever":
        while True:
            pass
    figure = go.Figure(layout={"template": battery.template(), "title": {"text": "Two <b>lines</b>"}})
    figure.add_scatter(x=[1, 2, 3], y=[2, 1, 3], name="first", line_color="black")
    figure.add_scatter(x=[1, 2, 3], y=[1, 2, 1], name="second")
    figure.update_layout(xaxis_title="Time / h", yaxis_title="Voltage / V")
    if params["height"]:
        figure.update_layout(height=params["height"])
    return figure
""",
    params={
        "height": {"kind": "view", "default": 520, "control": {"label": "Height", "min": 0, "max": 900}},
        "how": {"kind": "view", "default": "well", "control": {"label": "How", "options": ["well", "for ever"]}},
        "several": {"kind": "view", "default": ["a"], "control": {"label": "Several", "options": ["a", "b"]}},
        "span": {"kind": "view", "default": [2, 8], "control": {"label": "Span", "min": 0, "max": 10}},
        "share": {"kind": "view", "default": 0.333, "control": {"label": "Share", "min": 0.0, "max": 1.0}},
        "count": {"kind": "view", "default": 7, "control": {"label": "Count"}},
        "depth": {"kind": "view", "default": 1.5, "control": {"label": "Depth"}},
        "maybe": {"kind": "view", "default": None, "control": {"label": "Maybe", "min": 0}},
        "many": {"kind": "view", "default": [1], "control": {"label": "Many", "options": list(range(30))}},
        "day": {"kind": "view", "default": "2026-03-31", "control": {"label": "Day"}},
    },
)
table = pd.DataFrame({"Time [s]": np.arange(500.0), "Voltage [V]": np.linspace(3, 4, 500)})
'''
VIEW, STATIC, PLAIN, QUICK, WIDGET, OTHER = range(1, 7)
CELLS = [
    SETUP,
    "view = bench.show(recipe, time_limit=None)\nview",
    "bench.figure(recipe)",
    "bench.figure(recipe, height=0)",
    "quick = bench.quick(table, x='Time [s]', y='Voltage [V]')\nquick",
    "bench.figure_widget(recipe)",
    "reached = 1 + 1\nreached",
]
HEIGHTS = """root => [...root.querySelectorAll(".js-plotly-plot")].map(gd =>
  [gd.getBoundingClientRect().height, gd.querySelector(".main-svg").getBoundingClientRect().height])"""


@pytest.fixture(scope="module")
def sheet(kept_open: Callable[..., NotebookPage]) -> NotebookPage:
    sheet = kept_open(CELLS)
    for number in range(len(CELLS)):
        sheet.run(number)
    for number in (STATIC, PLAIN, QUICK, WIDGET):
        sheet.output(number).locator(".main-svg").first.wait_for()
    return sheet


@pytest.fixture(scope="module")
def view(sheet: NotebookPage) -> LiveView:
    return LiveView(sheet, sheet.output(VIEW))


def heights(sheet: NotebookPage) -> dict[int, list[list[float]]]:
    return {n: sheet.output(n).evaluate(HEIGHTS) for n in (VIEW, STATIC, PLAIN, QUICK, WIDGET)}


def wait_heights(sheet: NotebookPage, expected: dict[int, list[list[float]]]) -> None:
    """Wait until the pictures are this high: a page that is resized comes to rest a little later."""
    for _ in range(PATIENCE // 100):
        if (found := heights(sheet)) == expected:
            return
        sheet.page.wait_for_timeout(100)
    assert found == expected


def test_pictures_keep_their_height_on_any_resize(sheet: NotebookPage, view: LiveView) -> None:
    before = heights(sheet)
    assert before[VIEW] == before[STATIC] == before[WIDGET] == [[520, 520]]
    assert before[PLAIN] == before[QUICK] == [[450, 450]]
    sizes = [(900, 1000), (900, 500), (1440, 1400), (800, 700), (1440, 1000)]
    for width, height in sizes:
        sheet.page.set_viewport_size({"width": width, "height": height})
        for number in (VIEW, STATIC, QUICK, WIDGET):
            sheet.page.wait_for_function(
                "root => { const gd = root.querySelector('.js-plotly-plot'); return Math.abs("
                "gd.querySelector('.main-svg').getBoundingClientRect().width / gd.clientWidth - 1) < 0.02; }",
                arg=sheet.output(number).element_handle(),
            )
        wait_heights(sheet, before)
    with view.another_picture():
        sheet.kernel.run("view.set(height=400)")
    sheet.page.set_viewport_size({"width": 1000, "height": 900})
    view.wait_shown(
        "Math.abs(gd.querySelector('.main-svg').getBoundingClientRect().width / gd.clientWidth - 1) < 0.02"
    )
    wait_heights(sheet, {**before, VIEW: [[400, 400]]})
    sheet.page.set_viewport_size({"width": 1440, "height": 1000})
    with view.another_picture():
        sheet.kernel.run("view.set(height=520)")


@pytest.mark.parametrize("number", [STATIC, QUICK], ids=["figure", "quick"])
def test_static_figures_follow_the_theme(sheet: NotebookPage, pictures: Path | None, number: int) -> None:
    figure = sheet.output(number).locator(".js-plotly-plot").first
    figure.scroll_into_view_if_needed()
    grounds = {}
    for dark in (True, False):
        sheet.theme(dark)
        sheet.settled()
        grounds[dark] = ground(figure)
        assert figure.bounding_box()["height"] >= 450, "a change of the theme is a resize too"  # type: ignore[index]
        if pictures is not None:
            sheet.output(number).screenshot(path=pictures / f"static-{number}-{'dark' if dark else 'light'}.png")
    assert grounds[True] < 40
    assert grounds[False] > 225


def test_controls_look_well_on_both_themes(sheet: NotebookPage, view: LiveView, pictures: Path | None) -> None:
    for dark in (True, False):
        sheet.theme(dark)
        sheet.settled()
        typed = view.field("Count").locator("input")
        ink, paper = (typed.evaluate(f"e => getComputedStyle(e).{part}") for part in ("color", "backgroundColor"))
        assert abs(lightness(ink) - lightness(paper)) > 0.4
        if pictures is not None:
            view.root.screenshot(path=pictures / f"controls-{'dark' if dark else 'light'}.png")


def test_controls_and_pictures_have_names_and_states(view: LiveView) -> None:
    root = view.root
    expect(root.get_by_role("group", name="View params", exact=True)).to_have_count(1)
    how = root.get_by_role("group", name="How", exact=True)
    expect(how.get_by_role("button", name="well", exact=True, pressed=True)).to_have_count(1)
    expect(how.get_by_role("button", name="for ever", exact=True, pressed=False)).to_have_count(1)
    several = root.get_by_role("group", name="Several", exact=True)
    expect(several.get_by_role("button", name="a", exact=True, pressed=True)).to_have_count(1)
    with view.another_picture():
        several.get_by_role("button", name="b", exact=True).click()
    expect(several.get_by_role("button", name="b", exact=True, pressed=True)).to_have_count(1)
    for name, value in {"Height": "520", "Share": "0.333", "Span, from": "2", "Span, to": "8"}.items():
        slider = root.get_by_role("slider", name=name, exact=True)
        expect(slider).to_have_attribute("aria-valuetext", value)
        expect(root.get_by_role("spinbutton", name=name, exact=True)).to_have_value(value)
    for role, name in (
        ("spinbutton", "Count"),
        ("spinbutton", "Depth"),
        ("checkbox", "Maybe, auto"),
        ("textbox", "Many, filter"),
    ):
        expect(root.get_by_role(role, name=name, exact=True)).to_have_count(1)  # type: ignore[arg-type]
    picture = root.get_by_role("img", name=re.compile("^Figure: Two lines"))
    expect(picture).to_have_attribute(
        "aria-label", "Figure: Two lines. axes Time / h, Voltage / V. 2 traces: first, second."
    )
    root.locator("label").get_by_text("Depth", exact=True).click()
    expect(root.get_by_role("spinbutton", name="Depth", exact=True)).to_be_focused()
    ids = root.evaluate("root => [...root.querySelectorAll('[id]')].map(node => node.id)")
    assert len(ids) == len(set(ids))
    unnamed = [line for line in root.aria_snapshot().splitlines() if UNNAMED.match(line)]
    assert unnamed == []


UNNAMED = re.compile(
    r"\s*- (img|slider|spinbutton|button|textbox|combobox|listbox|checkbox|group|radio)( \[.*\])?:?$"
)


def test_a_static_figure_is_told_in_words(sheet: NotebookPage) -> None:
    words = sheet.output(STATIC).locator("[data-wb-figure]")
    expect(words).to_contain_text("Figure: Two lines. axes Time / h, Voltage / V. 2 traces: first, second.")
    assert (words.bounding_box() or {"height": 99})["height"] < 2


@pytest.mark.parametrize(("typed", "taken"), [("8e1", "80"), ("1 000", "1000")])
def test_a_typed_number_is_taken_whole(sheet: NotebookPage, view: LiveView, typed: str, taken: str) -> None:
    field = write(view.field("Count"), typed)
    expect(field).to_have_value(taken)
    sheet.kernel.wait("view.values['count']", int(taken))


@pytest.mark.parametrize("typed", ["7.5", "7,5", "seven"])
def test_a_number_that_is_not_whole_is_refused_in_words(sheet: NotebookPage, view: LiveView, typed: str) -> None:
    before = sheet.kernel.ask("view.values['count']")
    field = write(view.field("Count"), typed)
    expect(view.field("Count").locator(".wb-hint")).to_contain_text(f"'{typed}' is not a ")
    expect(field).to_have_value(typed)
    expect(field).to_have_attribute("aria-invalid", "true")
    sheet.kernel.wait("view.values['count']", before)
    write(view.field("Count"), str(before))
    expect(field).not_to_have_attribute("aria-invalid", "true")


def test_a_decimal_comma_is_a_point_and_arrow_keys_step(sheet: NotebookPage, view: LiveView) -> None:
    field = write(view.field("Share"), "0,25")
    expect(field).to_have_value("0.25")
    sheet.page.keyboard.press("ArrowUp")
    expect(field).to_have_value("0.26")
    expect(view.root.get_by_role("slider", name="Share", exact=True)).to_have_attribute("aria-valuetext", "0.26")
    write(view.field("Span").first, "3")
    view.wait_shown("gd.isConnected")
    sheet.kernel.wait("view.values['span']", [3, 8])


def test_a_cleared_date_sends_nothing(sheet: NotebookPage, view: LiveView) -> None:
    field = view.field("Day").locator("input")
    field.fill("")
    field.blur()
    expect(view.field("Day").locator(".wb-hint")).to_contain_text(
        "no whole date in the field. 2026-03-31 stays in use"
    )
    sheet.kernel.wait("view.values['day']", "2026-03-31")
    field.fill("2026-02-01")
    field.blur()
    expect(view.field("Day").locator(".wb-hint")).to_have_text("")
    sheet.page.wait_for_timeout(100)
    sheet.kernel.wait("view.values['day']", "2026-02-01")


def test_a_script_that_never_ends_is_stopped_by_its_button(
    sheet: NotebookPage, view: LiveView, pictures: Path | None
) -> None:
    view.field("How").get_by_role("button", name="for ever").click()
    stop = view.root.get_by_role("button", name="Stop", exact=True)
    stop.wait_for()
    expect(sheet.run(OTHER)).to_contain_text("2")  # other cells run meanwhile
    assert sheet.kernel.delay() < 5
    stop.scroll_into_view_if_needed()
    if pictures is not None:
        view.root.screenshot(path=pictures / "stop.png")
    stop.click()
    expect(view.problem).to_contain_text("You stopped the script. It was at this line.")
    expect(view.problem.locator(".wb-code")).to_have_text(re.compile("while True:|pass"))
    expect(stop).to_have_count(0)
    with view.another_picture():
        view.field("How").get_by_role("button", name="well").click()
    expect(view.problem).to_be_empty()


def test_a_closed_view_is_gone_from_page_and_kernel(sheet: NotebookPage, view: LiveView) -> None:
    sheet.kernel.run("import comm; from ipywidgets.widgets import widget as w")
    sheet.kernel.run("before = set(w._instances), set(comm.get_comm_manager().comms)")
    sheet.kernel.run("other = bench.show(recipe); other.close()")
    sheet.kernel.run("after = set(w._instances), set(comm.get_comm_manager().comms)")
    sheet.kernel.wait("[len(late - early) for early, late in zip(before, after)]", [0, 0])
    sources = "() => globalThis.__workbench.sources.size"
    shown = sheet.page.evaluate(sources)
    sheet.kernel.run("view.close()")
    expect(sheet.output(VIEW).locator(".wb-plot, .wb-field")).to_have_count(0)
    assert sheet.page.evaluate(sources) == shown - 1


def test_all_was_proper(sheet: NotebookPage) -> None:
    sheet.assert_proper()


def write(field: Locator, text: str) -> Locator:
    typed = field.locator(".wb-number input").first
    typed.click()
    typed.page.keyboard.press("Control+a")
    typed.page.keyboard.type(text)
    typed.page.keyboard.press("Enter")
    return typed


def lightness(color: str) -> float:
    parts = [float(part) for part in re.findall(r"[\d.]+", color)[:3]]
    return sum(parts) / 765
