"""Two people change the notes and tags of one test: nobody's words are lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, open_site

from workbench.records import Measurement, Project
from workbench.store import Scope


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


def test_what_somebody_else_wrote_meanwhile_stays(site: Site) -> None:
    rows = site.store.rows
    (organization,) = rows.organizations()
    (project,) = rows.page(Project, Scope(organization.id, None)).items
    scope = Scope(organization.id, project.id)
    test = rows.page(Measurement, scope).items[0]
    at = f"/cell_measurements/{test.id}"

    def present() -> Measurement:
        return rows.get(Measurement, test.id, scope)

    with httpx.Client(base_url=site.address, headers={"X-API-Key": site.key}, timeout=60) as other:
        assert other.patch(at, json={"notes": "begun", "tags": ["first"]}).status_code == 200
        window = site.window(f"/explore/tests/{test.id}")
        page = window.page
        expect(page.get_by_text("begun")).to_be_visible()
        page.get_by_role("button", name="Edit").click()
        assert other.patch(at, json={"notes": "theirs", "tags": ["first", "second"]}).status_code == 200
        notes = page.get_by_role("textbox", name="Notes")
        notes.fill("mine")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Somebody else has changed these notes")).to_be_visible()
        assert present().notes == "theirs"
        assert notes.input_value() == "mine\n\ntheirs"
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("The notes are saved.")).to_be_visible()
        assert present().notes == "mine\n\ntheirs"
        assert other.patch(at, json={"tags": ["first", "second", "third"]}).status_code == 200
        page.get_by_role("textbox", name="New tag").fill("mine")
        page.get_by_role("button", name="Add").click()
        page.get_by_role("button", name="Remove the tag mine").wait_for()
        assert present().tags == ["first", "mine", "second", "third"]
        page.get_by_role("button", name="Remove the tag first").click()
        page.get_by_role("button", name="Remove the tag first").wait_for(state="detached")
        assert present().tags == ["mine", "second", "third"]
    window.assert_proper()
    window.close()
