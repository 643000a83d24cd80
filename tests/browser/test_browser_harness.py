"""The harness itself: a plain widget answers to mouse and keyboard, and what must not happen would be seen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.notebook_page import NotebookPage

WIDGET = """
import ipywidgets
slider = ipywidgets.IntSlider(value=3, max=10, description="Rate")
told = ipywidgets.Label("3")
slider.observe(lambda change: setattr(told, "value", str(change.new)), "value")
ipywidgets.VBox([slider, told])
"""


@pytest.fixture(scope="module")
def sheet(kept_open) -> NotebookPage:
    sheet = kept_open([WIDGET, "slider.value"])
    sheet.run(0)
    return sheet


def test_a_slider_is_moved_by_the_keyboard(sheet: NotebookPage) -> None:
    before = sheet.kernel.ask("slider.value")
    sheet.output(0).locator(".noUi-handle").click()
    sheet.page.keyboard.press("ArrowRight")
    expect(sheet.output(0).locator(".widget-label").last).to_have_text(str(before + 1))
    sheet.kernel.wait("slider.value", before + 1)
    expect(sheet.run(1)).to_contain_text(str(before + 1))


def test_the_kernel_answers_soon(sheet: NotebookPage) -> None:
    assert min(sheet.kernel.delay() for _ in range(5)) < 0.1


def test_requests_and_complaints_are_heard(opened) -> None:
    sheet = opened(["1"])
    sheet.assert_proper()
    sheet.page.evaluate(
        "() => { console.error('as a test'); return fetch('http://nowhere.example/').catch(() => 0) }"
    )
    assert sheet.heard.strangers == ["http://nowhere.example/"]
    assert "as a test" in sheet.heard.errors


def test_a_failing_cell_is_told(opened) -> None:
    sheet = opened(["1 / 0"])
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        sheet.run(0)
