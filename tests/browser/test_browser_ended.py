"""A view that never had a figure, and one whose kernel was restarted: both say what is, and pretend nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from support.live_view import LiveView
from support.notebook_page import NotebookPage

OPEN = """
import workbench as wb

bench = wb.open("../workbench.db")
"""
FAILS = """
plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
bench.show(wb.Recipe(plan=plan, transform="def transform(data, params):\\n    return data['cell']\\n"))
"""


@pytest.mark.long
def test_a_first_figure_that_fails_leaves_no_empty_frame(opened: Callable[..., NotebookPage]) -> None:
    sheet = opened([OPEN, FAILS])
    sheet.run(0)
    output = sheet.run(1)
    expect(output.locator(".wb-problem")).to_contain_text("Did you mean 'cells'?")
    stage = output.locator(".wb-stage").bounding_box()
    assert stage is None or stage["height"] < 40


@pytest.mark.long
def test_a_view_of_a_kernel_that_was_restarted_says_so(opened: Callable[..., NotebookPage]) -> None:
    """Broken chains were all over its controls, which could be moved and changed nothing."""
    sheet = opened(["1", OPEN, "bench.show('Fade by batch')"])
    sheet.run(0)
    sheet.run(1)
    view = LiveView(sheet, sheet.run(2))
    kernel = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    sheet.page.evaluate(f"() => {kernel}.restart()")
    told = view.root.locator(".wb-told")
    expect(told).to_have_text("The kernel has ended. Run the cell again.")
    assert view.root.locator(".wb-buttons").evaluate("node => node.inert")
    assert view.root.locator(".wb-controls").evaluate("node => node.inert")
    chain = "node => getComputedStyle(node, '::before').display"
    for broken in view.root.locator(".jupyter-widgets-disconnected").all()[:5]:
        assert broken.evaluate(chain) == "none"
    sheet.run(1)
    again = LiveView(sheet, sheet.run(2))
    assert not again.root.locator(".wb-controls").evaluate("node => node.inert")
    expect(again.root.locator(".wb-told")).to_contain_text("rows")
