"""The files of plotly.js on a page of a notebook: the small one for most figures, the whole one where it is needed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.live_view import LiveView
from support.notebook_page import NotebookPage

SETUP = '''
import workbench as wb

bench = wb.open("../workbench.db")
recipe = wb.Recipe(
    plan={"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}},
    transform="""
def transform(data, params):
    if params["kind"] == "polar":
        return {"data": [{"type": "scatterpolar", "r": [1, 2, 3], "theta": [0, 60, 120]}], "layout": {}}
    return {"data": [{"x": [1, 2, 3], "y": [2, 1, params["last"]]}], "layout": {"title": {"text": params["kind"]}}}
""",
    params={
        "kind": {"kind": "view", "default": "line", "control": {"options": ["line", "polar"]}},
        "last": {"kind": "view", "default": 3, "control": {"min": 0, "max": 9}},
    },
)
'''
CELLS = [SETUP, "view = bench.show(recipe)\nview", "other = bench.show(recipe)\nother"]
LOADED = "() => [...window.__workbench.libraries].filter(([, file]) => file.plotly).map(([name]) => name)"


OF_A_NEW_KERNEL = f"{SETUP}\nlate = bench.show(recipe, kind='polar')\nlate"


def test_the_file_is_there_before_the_first_plot_and_nothing_is_left_of_what_brought_it(
    kept_open: Callable[..., NotebookPage],
) -> None:
    sheet = kept_open([SETUP])
    sheet.page.evaluate("() => { window.__workbench = undefined; }")
    sheet.run(0)
    sheet.page.wait_for_function("() => window.__workbench?.libraries.get('small')?.plotly")
    sheet.page.wait_for_function("() => window.__workbench.sources.size === 0")
    held = "[type(one).__name__ for one in __import__('ipywidgets').widgets.widget._instances.values()]"
    sheet.kernel.wait(held, [])
    assert sheet.output(0).inner_text().strip() == ""
    sheet.assert_proper()


@pytest.fixture
def sheet(kept_open: Callable[..., NotebookPage]) -> NotebookPage:
    sheet = kept_open([*CELLS, OF_A_NEW_KERNEL])
    sheet.page.evaluate("() => { window.__workbench = undefined; }")  # a window shows one notebook after the other
    for number in range(len(CELLS)):
        sheet.run(number)
    for number in (1, 2):
        LiveView(sheet, sheet.output(number)).figure.locator(".scatterlayer .trace").first.wait_for()
    return sheet


def test_a_figure_that_needs_the_whole_file_gets_it_and_others_stay(sheet: NotebookPage) -> None:
    view, other = (LiveView(sheet, sheet.output(n)) for n in (1, 2))
    for one in (view, other):
        one.figure.locator(".scatterlayer .trace").first.wait_for()
    assert sheet.page.evaluate(LOADED) == ["small"]
    sheet.kernel.ask("view.set(kind='polar').values")
    view.figure.locator(".polarlayer .trace").first.wait_for()
    assert sheet.page.evaluate(LOADED) == ["small", "whole"]
    sheet.kernel.ask("(view.set(kind='line').values, other.set(last=5).values)")
    for one in (view, other):
        one.figure.locator(".cartesianlayer .scatterlayer .trace").first.wait_for()
    assert view.figure.locator(".polarlayer .trace").count() == 0
    sheet.page.wait_for_function("n => document.querySelectorAll('.js-plotly-plot')[1].data[0].y[2] === n", arg=5)
    sheet.assert_proper()


def test_a_view_of_a_new_kernel_gets_the_file_that_dead_views_cannot_bring(sheet: NotebookPage) -> None:
    """The views of the kernel before stay on the page, and a message to it is an error."""
    assert sheet.page.evaluate(LOADED) == ["small"]
    sheet.page.evaluate(
        "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
    )
    sheet.run(3)
    sheet.output(3).locator(".polarlayer .trace").first.wait_for()
    assert sheet.page.evaluate(LOADED) == ["small", "whole"]
