"""Ways away from what is not saved: a link, Back, a reload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, expect
from support.web_page import Site, open_site


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("page-leaving"), browser) as opened:
        yield opened


def test_back_and_a_reload_ask_before_they_leave_an_editor_with_changes(site: Site) -> None:
    window = site.window(site.plot("Left", '{"x": [1, 2], "y": [1, 2]}'))
    page = window.page
    page.get_by_role("link", name="Edit", exact=True).click()
    name = page.get_by_label("Name of the plot", exact=True)
    name.fill("Another")
    editor = page.url
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        if len(asked) == 1:
            dialog.dismiss()
        else:
            dialog.accept()

    page.on("dialog", answer)
    page.go_back()
    expect(name).to_have_value("Another")
    assert page.url == editor
    page.go_back()
    expect(page.get_by_role("heading", name="Left", exact=True)).to_be_visible()
    assert asked == ["confirm", "confirm"]
    page.go_forward()
    name.fill("A third")
    page.reload()
    expect(name).to_have_value("Left")
    assert asked[2:] == ["beforeunload"]
    window.assert_proper()
    window.close()


def test_a_link_asks_before_it_leaves_notes_or_an_arrangement(site: Site) -> None:
    window = site.window("/explore")
    page = window.page
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", answer)
    page.get_by_role("link", name="M50-A-01_RPT0", exact=True).click()
    page.get_by_role("button", name="Edit", exact=True).click()
    notes = page.get_by_role("textbox", name="Notes")
    notes.fill("typed for a while")
    page.get_by_role("link", name="Boards", exact=True).click()
    assert asked == ["Leave this test? Its notes are not saved."]
    expect(notes).to_have_value("typed for a while")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("link", name="Boards", exact=True).click()
    window.open_board("Models")
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("button", name="Arrange", exact=True).click()
    move = page.get_by_role("button", name="Move Drive cycle")
    move.focus()
    page.keyboard.press("Shift+ArrowDown")
    page.get_by_role("link", name="Explore", exact=True).click()
    assert asked[1:] == ["Leave the dashboard? Its arrangement is not saved."]
    expect(move).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("link", name="Explore", exact=True).click()
    expect(page.get_by_role("heading", name="Explore", exact=True)).to_be_visible()
    assert len(asked) == 2
    window.assert_proper()
    window.close()
