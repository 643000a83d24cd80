"""axe on the pages, light and dark, and the widths of a phone, a tablet and a desk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route
from support.web_page import Site, Window, axe, open_site, pictures_folder

import workbench as wb
from workbench.records import Dashboard, Measurement, Plot, Project
from workbench.store.scope import Scope


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


def addresses(site: Site) -> dict[str, str]:
    """The page's addresses, by a word for each."""
    project = site.store.rows.page(Project, Scope(site.organization, None)).items[0]
    scope = Scope(site.organization, project.id)
    board = next(one for one in site.store.rows.page(Dashboard, scope).items if one.name == "Ageing")
    plot = next(one for one in site.store.rows.page(Plot, scope).items if one.dashboard_id == board.id)
    test = next(one for one in site.store.rows.page(Measurement, scope).items if one.sample_count)
    home = f"/boards/{board.project_id}/{board.id}"
    return {
        "home": "/",
        "board": home,
        "plot": f"{home}/plots/{plot.id}",
        "editor": f"{home}/plots/{plot.id}/edit",
        "tests": "/explore",
        "cells": "/explore?what=cells",
        "test": f"/explore/tests/{test.id}",
        "cell": f"/explore/cells/{test.instance_id}",
        "bring-in": "/bring-in",
        "admin": "/admin",
        "audit-log": "/admin?tab=audit",
        "keys": "/admin?tab=keys",
        "gallery": f"/explore/gallery/{project.id}",
        "recipe": f"/explore/gallery/{project.id}?recipe=fade",
    }


def visit(window: Window, path: str) -> None:
    window.go(path)
    window.page.get_by_role("heading", level=1).first.wait_for()
    tiles = window.page.locator(".tile[data-state]")
    window.page.wait_for_function("() => !document.querySelector('[aria-busy=true]:not(.tile *)')")
    for number in range(tiles.count()):  # on a narrow page some are drawn when they come into sight
        tiles.nth(number).scroll_into_view_if_needed()
        tiles.nth(number).locator("[aria-busy=true]").first.wait_for(state="detached")
        tiles.nth(number).scroll_into_view_if_needed()  # its controls may have moved it
        window.drawn()
    window.page.evaluate("() => scrollTo(0, 0)")


def kept(window: Window, name: str) -> None:
    """Keep a picture of what is in sight, where pictures are wanted."""
    if (folder := pictures_folder()) is not None:
        window.page.screenshot(path=folder / f"{name}.png", animations="disabled")


CUT = """() => [...document.querySelectorAll(".wb-figure .annotation")]
  .filter((note) => note.getBoundingClientRect().right > note.closest(".wb-figure").getBoundingClientRect().right + 1)
  .map((note) => note.textContent)"""
"""The notes in figures that are cut at the right."""


def looked_at(site: Site, width: int, *, dark: bool) -> None:
    """Visit every page: nothing serious, nothing wider than the window, no note cut, no complaint."""
    axe()
    window = site.window(width=width, height=900 if width > 400 else 844, dark=dark)
    for word, path in addresses(site).items():
        visit(window, path)
        window.assert_accessible()
        wide = window.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, (word, wide)
        assert window.page.evaluate(CUT) == [], word
        kept(window, f"page-{word}-{width}-{'dark' if dark else 'light'}")
    window.assert_proper()
    window.close()


def test_every_page_is_for_everyone(site: Site) -> None:
    looked_at(site, 1400, dark=True)


@pytest.mark.long
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (800, False), (800, True), (390, False), (390, True)])
def test_every_page_is_for_everyone_at_every_width(site: Site, width: int, dark: bool) -> None:
    looked_at(site, width, dark=dark)


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True])
def test_every_state_is_for_everyone(site: Site, dark: bool) -> None:
    """Signing in and refused, waiting, failed, absent, empty, and with what lies over the page."""
    axe()
    window = site.window(key=None, dark=dark)
    page = window.page
    for part in ("401", "404", "500"):
        window.allow_error(part)
    page.get_by_label("Your key").fill("wb_wrong")
    window.assert_accessible()
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    window.assert_accessible()
    window.sign_in(site.key)
    page.get_by_role("button", name="New dashboard").first.click()
    page.get_by_role("dialog").wait_for()
    window.assert_accessible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search everything").wait_for()
    window.assert_accessible()

    board = addresses(site)["board"]
    visit(window, board)
    for opener, opened in (
        (page.get_by_role("button", name="Share", exact=True), page.get_by_role("dialog")),
        (page.get_by_role("button", name="Export", exact=True), page.locator(".float:popover-open")),
        (page.get_by_role("button", name=re.compile("^Controls of")).first, page.get_by_role("dialog")),
    ):
        opener.click()
        opened.first.wait_for()
        window.assert_accessible()
        page.keyboard.press("Escape")

    window.go(board.rsplit("/", 1)[0] + "/no-board")
    page.get_by_role("heading", name="Nothing to see here").wait_for()
    window.assert_accessible()
    page.route("**/figure*", lambda route: route.fulfill(status=500, json={"message": "It failed."}))
    window.go(board)
    page.get_by_role("alert").first.wait_for()
    window.assert_accessible()
    page.unroute("**/figure*")
    waiting: list[Route] = []
    page.route("**/figure*", lambda route: waiting.append(route))
    window.go(board)
    page.locator(".picture[aria-busy=true]").first.wait_for()
    window.assert_accessible()
    for route in waiting:
        route.abort()
    page.unroute("**/figure*")
    visit(window, "/explore?q=no-such-test")
    page.get_by_role("heading", name="Nothing fits").wait_for()
    window.assert_accessible()
    window.close()


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True])
def test_a_server_that_is_away_is_said_to_everyone(site: Site, dark: bool) -> None:
    """The banner lies over the page, with the pictures below it."""
    axe()
    window = site.window(width=800, dark=dark)
    window.open_board("Ageing")
    window.allow_error("ERR_INTERNET_DISCONNECTED")
    window.page.context.set_offline(True)
    tile = window.tile("Cycle life")
    tile.get_by_role("button", name="More about Cycle life").click()
    tile.get_by_role("button", name="Read the data again").click()
    banner = window.page.get_by_text(re.compile("has not been reachable since"))
    banner.wait_for()
    window.assert_accessible()
    window.page.set_viewport_size({"width": 390, "height": 844})
    assert window.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    window.assert_accessible()
    kept(window, f"page-offline-390-{'dark' if dark else 'light'}")
    window.page.context.set_offline(False)
    window.assert_proper()
    window.close()


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True])
def test_an_empty_store_is_for_everyone(tmp_path: Path, browser: Browser, dark: bool) -> None:
    """Each page says what to do next where there is nothing yet."""
    axe()
    wb.open(tmp_path / "empty.db").close()
    (tmp_path / "site").mkdir()
    with open_site(tmp_path / "empty.db", tmp_path / "site", browser) as site:
        project = site.store.rows.page(Project, Scope(site.organization, None)).items[0]
        paths = {
            "home": "/",
            "tests": "/explore",
            "cells": "/explore?what=cells",
            "gallery": f"/explore/gallery/{project.id}",
            "bring-in": "/bring-in",
            "audit-log": "/admin?tab=audit",
        }
        for width in (1400, 390):
            window = site.window(width=width, dark=dark)
            for word, path in paths.items():
                visit(window, path)
                window.assert_accessible()
                wide = window.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, (word, wide)
                kept(window, f"page-empty-{word}-{width}-{'dark' if dark else 'light'}")
            window.assert_proper()
            window.close()
