"""The author in JupyterLab, by the keyboard alone: from a wish to a saved plot and its revision."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from support.notebook_page import PATIENCE, NotebookPage

AUTHOR = """import workbench as wb
bench = wb.open("../workbench.db")
board = bench.dashboards.create("Wished")
view = bench.author(board=board)
view"""
SCRIPTED = """import json
plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name", "batch_name"]}}}
script = ("def transform(data, params):\\n    counts = data['cells']['batch_name'].value_counts()\\n"
          "    figure = go.Figure(go.Bar(x=counts.index, y=counts, name='cells'))\\n"
          "    return figure.update_xaxes(title='Batch').update_yaxes(title='Number of cells')\\n")
answers = iter([{"say": "", "draft": {"name": "Cells", "config": {"plan": plan, "transform": "import os"}}},
                {"say": "Cells by batch.", "draft": {"name": "Cells", "config": {"plan": plan, "transform": script}}}])
bench.author(board=board, respond=lambda turns: json.dumps(next(answers)))"""


@pytest.mark.long
def test_from_a_wish_to_a_saved_plot_and_its_revision(
    opened: Callable[..., NotebookPage], pictures: Path | None
) -> None:
    sheet = opened([AUTHOR, "print([(p.name, p.revision) for p in board.plots()])", SCRIPTED])
    root = sheet.run(0)
    page, panel = sheet.page, root.locator(".wb-author")
    wish = panel.get_by_role("textbox", name="Wish")
    wish.focus()
    page.keyboard.type("Which cells fade fastest?")
    page.keyboard.press("Enter")
    accept = panel.get_by_role("button", name="Accept into 'Wished'")
    expect(panel.locator(".wb-said-list")).to_contain_text("You: Which cells fade fastest?", timeout=2 * PATIENCE)
    # The first locked process of a kernel takes its time on a busy machine.
    expect(accept).to_be_visible(timeout=4 * PATIENCE)
    expect(root.locator(".wb-figure .main-svg").first).to_be_visible(timeout=2 * PATIENCE)
    shot(page, pictures, "author-draft")

    wish.focus()
    page.keyboard.type("only batch A, each cell")
    page.keyboard.press("Enter")
    difference = panel.locator(".wb-author-difference summary")
    expect(difference).to_be_visible(timeout=2 * PATIENCE)
    difference.focus()
    page.keyboard.press("Enter")
    expect(panel.locator(".wb-removed").first).to_be_visible(timeout=2 * PATIENCE)
    compare = panel.get_by_role("button", name="Compare")
    compare.focus()
    page.keyboard.press("Enter")
    expect(root.locator(".wb-plot")).to_have_count(2, timeout=2 * PATIENCE)
    for place in range(2):
        shown = root.locator(".wb-plot").nth(place).locator(".main-svg").first
        expect(shown).to_be_visible(timeout=2 * PATIENCE)
    shot(page, pictures, "author-difference")

    accept.focus()
    page.keyboard.press("Enter")
    expect(panel.locator(".wb-said-list")).to_contain_text("revision 1", timeout=2 * PATIENCE)
    wish.focus()
    page.keyboard.type("only batch B")
    page.keyboard.press("Enter")
    # Only then is the draft there: the button of the draft before may still go away.
    expect(panel.locator(".wb-said-list")).to_contain_text("'M50-B-01'", timeout=2 * PATIENCE)
    expect(accept).to_be_visible(timeout=2 * PATIENCE)
    accept.focus()
    page.keyboard.press("Enter")
    expect(panel.locator(".wb-said-list")).to_contain_text("revision 2", timeout=2 * PATIENCE)
    sheet.run(1)
    expect(sheet.output(1)).to_contain_text("('Capacity fade', 2)", timeout=2 * PATIENCE)

    other = sheet.run(2)
    wish = other.get_by_role("textbox", name="Wish")
    wish.focus()
    page.keyboard.type("Cells by batch")
    page.keyboard.press("Enter")
    expect(other.locator(".wb-said-list")).to_contain_text("Cells by batch.", timeout=2 * PATIENCE)
    expect(other.locator(".wb-figure .main-svg").first).to_be_visible(timeout=2 * PATIENCE)
    shot(page, pictures, "author-model")


def shot(page: Page, folder: Path | None, name: str) -> None:
    if folder is not None:
        page.screenshot(path=folder / f"{name}.png")
