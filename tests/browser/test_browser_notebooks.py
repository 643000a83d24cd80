"""Every shipped notebook in JupyterLab: run cell by cell, its live views drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from support.live_view import LiveView
from support.notebook_page import NotebookPage

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
EVERYDAY = "03_curves_and_dqdv"
EACH = [
    pytest.param(path, id=path.stem, marks=[] if path.stem == EVERYDAY else [pytest.mark.long])
    for path in NOTEBOOKS
]
WIDE = """figure => {
  const drawn = figure.querySelector(".main-svg").getBoundingClientRect().width;
  return Math.abs(drawn / figure.parentElement.clientWidth - 1) < 0.02;
}"""


def views(sheet: NotebookPage) -> list[LiveView]:
    """Every live view on the page, with its picture drawn."""
    roots = sheet.page.locator(".jp-Cell-outputArea .wb-view")
    return [LiveView(sheet, roots.nth(n)) for n in range(roots.count())]


def photograph(sheet: NotebookPage, folder: Path) -> None:
    """Every cell that shows a figure, in both themes."""
    shown = sheet.cells.filter(has=sheet.page.locator(".js-plotly-plot"))
    for dark in (True, False):  # the theme stays for the next page
        sheet.theme(dark)
        sheet.settled()
        for n in range(shown.count()):
            plot = shown.nth(n).locator(".js-plotly-plot").first.element_handle()
            sheet.page.wait_for_function("plot => plot.getBoundingClientRect().height > 200", arg=plot)
            theme = "dark" if dark else "light"
            shown.nth(n).screenshot(path=folder / f"{sheet.path.stem}-{n}-{theme}.png")


@pytest.mark.long
@pytest.mark.parametrize("path", EACH)
def test_it_runs_and_draws(opened, path: Path, pictures: Path | None) -> None:
    sheet = opened(path, height=1400)
    sheet.run_all()
    for view in views(sheet):
        expect(view.problem).to_be_empty()
        assert view.figure.evaluate(WIDE)
    expect(sheet.page.locator(".jp-Cell-outputArea .js-plotly-plot .main-svg").first).to_be_visible()
    sheet.assert_proper()
    if pictures is not None:
        photograph(sheet, pictures)


@pytest.mark.long
def test_a_saved_notebook_shows_a_picture_without_a_kernel(opened) -> None:
    sheet = opened(NOTEBOOKS[0])
    sheet.keep_soon()
    sheet.run_all()
    still = sheet.page.locator("[data-wb-still] img")
    still.wait_for(state="attached")
    expect(still).to_be_hidden()
    sheet.save()
    sheet.reopen_without_kernel()
    expect(still).to_be_visible()
    assert still.evaluate("image => image.naturalWidth") > 300
