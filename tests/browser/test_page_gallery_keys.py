"""A question about chosen tests becomes a plot; keys are made, shown once and revoked; stars stay on top."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, open_site

from workbench.records import Measurement, Project
from workbench.store.scope import Scope

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


def test_a_question_about_chosen_tests_becomes_a_plot(site: Site) -> None:
    window = site.window("/explore")
    page = window.page
    for name in ("LFP-C-01_ageing", "LFP-C-02_ageing"):
        page.get_by_role("checkbox", name=f"Choose {name}").check()
    page.get_by_role("link", name="Gallery for 2 tests").click()
    expect(
        page.get_by_role("button", name=re.compile("^Capacity fade")).locator(".sketch path").first
    ).to_be_attached()
    page.get_by_role("button", name=re.compile("^Capacity fade")).click()
    window.drawn()
    expect(page.get_by_text("Made for 2 chosen tests.")).to_be_visible()
    tile = window.tile("Capacity fade")
    before = window.picture_number(tile)
    page.get_by_role("radiogroup", name="Show").get_by_label("each cell").check()
    window.redrawn(tile, before)
    page.get_by_role("button", name="Save as a plot").click()
    dialog = page.get_by_role("dialog", name="Save as a plot")
    dialog.get_by_role("combobox", name="Dashboard").select_option(label="A new dashboard, “Capacity fade”")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Capacity fade", level=1)).to_be_visible()
    window.drawn()
    expect(page.get_by_role("radiogroup", name="Show").get_by_label("each cell")).to_be_checked()
    page.get_by_role("button", name="Star Capacity fade").click()
    expect(page.get_by_role("button", name="Star Capacity fade")).to_have_attribute("aria-pressed", "true")
    window.go("/")
    expect(page.get_by_role("region", name="Starred").get_by_role("link")).to_have_text("Capacity fade")
    card = page.get_by_role("article", name="Capacity fade")
    expect(card.locator(".sketch path").first).to_be_attached()
    window.assert_proper()
    window.close()


def test_a_card_without_a_drawing_says_so(site: Site) -> None:
    window = site.window("/explore")
    page = window.page
    page.get_by_role("checkbox", name="Choose LFP-C-01_ageing").check()
    page.route("**/gallery/fade/sketch", lambda route: route.fulfill(json=[]))
    page.route("**/gallery/end-of-life/sketch", lambda route: route.abort())
    page.get_by_role("link", name="Gallery for 1 test").click()
    card = page.get_by_role("button", name=re.compile("^Capacity fade"))
    expect(card.get_by_text("Open it to read what it says of these tests")).to_be_visible()
    expect(
        page.get_by_role("button", name=re.compile("^Voltage curves")).locator(".sketch path").first
    ).to_be_attached()
    expect(page.get_by_text("Open it to read")).to_have_count(1)
    window.close()


def test_zoom_in_a_recipe_that_is_not_saved_reads_finer_samples(site: Site) -> None:
    project = site.store.rows.page(Project, Scope(site.organization, None)).items[0]
    scope = Scope(site.organization, project.id)
    test = max(site.store.rows.page(Measurement, scope, limit=200).items, key=lambda one: one.sample_count or 0)
    window = site.window(f"/explore/gallery/{test.project_id}?recipe=test-timeline&tests={test.id}")
    window.drawn()
    tile = window.page.get_by_role("article").first
    tile.locator(".wb-figure").focus()
    tile.locator("[aria-keyshortcuts]").wait_for()
    with window.page.expect_response(re.compile("/gallery/test-timeline/figure/detail$")) as answer:
        window.page.keyboard.press("+")
    assert answer.value.json()["traces"]
    expect(tile.get_by_text(re.compile("in view: "))).to_be_visible()
    window.assert_proper()
    window.close()


def test_a_key_is_shown_once_and_refused_when_it_is_revoked(site: Site) -> None:
    window = site.window("/admin?tab=keys")
    page = window.page
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    dialog.get_by_role("combobox", name="Gives at most").select_option(label="read only")
    dialog.get_by_role("button", name="Make it").click()
    key = page.get_by_role("textbox", name="The new key").input_value()

    def status() -> int:
        return httpx.get(f"{site.address}/projects", headers={"X-API-Key": key}).status_code

    assert status() == 200
    page.get_by_role("button", name="I have copied it").click()
    secret = key.split("_")[-1]
    assert secret not in page.content()
    id = key.split("_")[1]
    page.get_by_role("button", name=re.compile(f"^Revoke the key {id}")).click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("region", name="Keys")).to_contain_text("revoked")
    assert status() == 401
    page.get_by_role("tab", name="Audit log").click()
    expect(page.get_by_role("region", name="Audit log")).to_contain_text("key.revoked")
    window.assert_proper()
    window.close()
