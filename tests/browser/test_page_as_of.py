"""The page shows the data of an earlier day, and what alerts found until somebody has seen it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, Window, open_site

from workbench.store.records.alerts import Seen
from workbench.store.scope import Scope

LONG = 120_000


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


@pytest.fixture
def window(site: Site) -> Iterator[Window]:
    opened = site.window()
    opened.page.set_default_timeout(LONG)
    yield opened
    opened.assert_proper()
    opened.close()


def test_the_data_of_an_earlier_day(window: Window) -> None:
    """The plots ask for the data of the day that was chosen, and for today's when one goes back."""
    window.open_board("Ageing")
    window.page.get_by_role("button", name="As of", exact=True).click()
    day = datetime.now(UTC).date().isoformat()
    with window.page.expect_response(lambda answer: f"/figure?as_of={day}" in answer.url, timeout=LONG) as asked:
        window.page.get_by_label("Show the data of this day").fill(day)
    assert asked.value.ok
    expect(window.page).to_have_url(re.compile(f"as_of={day}"), timeout=LONG)
    note = window.page.get_by_role("status").filter(has_text=f"The data are shown as of {day}.")
    expect(note).to_be_visible(timeout=LONG)
    link = window.tile("Fade by batch").get_by_role("link", name="Fade by batch")
    assert f"as_of={day}" in (link.get_attribute("href") or "")
    window.page.keyboard.press("Escape")
    with window.page.expect_response(lambda answer: answer.url.endswith("/figure"), timeout=LONG):
        note.get_by_role("button", name="Back to today").click()
    expect(note).to_have_count(0, timeout=LONG)
    window.drawn()


def test_what_alerts_found_is_shown_until_somebody_has_seen_it(site: Site, window: Window) -> None:
    window.open_board("Ageing")
    window.page.get_by_role("button", name="Edit", exact=True).click()
    window.page.get_by_role("button", name="Alerts", exact=True).click()
    dialog = window.page.get_by_role("dialog", name="Alerts")
    dialog.get_by_role("textbox", name="Name").fill('Low <img src=x onerror="alert(1)">')
    dialog.get_by_role("combobox", name="Once for each").select_option(label="alert: only once in all")
    columns = dialog.get_by_role("combobox", name=re.compile("^Column"))
    columns.select_option(label="Cycle count")
    above = dialog.get_by_role("textbox", name=re.compile("^Above"))
    above.press_sequentially("7 5")
    dialog.get_by_role("button", name="Add the alert").click()
    expect(dialog.get_by_role("button", name=re.compile("^Delete Low"))).to_have_count(0)
    above.fill("")
    above.press_sequentially("7,5")
    dialog.get_by_role("button", name="Add the alert").click()
    delete = dialog.get_by_role("button", name=re.compile("^Delete Low"))
    expect(delete).to_be_visible(timeout=LONG)
    (made,) = site.store.execute("select about from alerts").fetchone()
    assert json.loads(made)["key"] == []
    assert json.loads(made)["above"] == 7.5
    dialog.get_by_role("button", name="Close", exact=True).last.click()
    expect(window.page.get_by_role("button", name="Edit", exact=True)).to_be_focused()
    (project,) = site.store.execute("select project_id from alerts").fetchone()
    scope = Scope(site.organization, project)
    (alert,) = site.store.alerts.of_project(scope)
    with site.store.transaction() as db:
        site.store.alerts.note(db, alert, [Seen({"id": "1", "cell": "<b>M50</b>"})], site.store.latest())
    found = window.page.get_by_role("region", name="Alerts")
    window.go("/")
    expect(window.page.get_by_role("article", name="Ageing")).to_contain_text(
        "1 alert waits to be seen", timeout=LONG
    )
    window.open_board("Ageing")
    expect(found).to_contain_text("cell <b>M50</b>", timeout=LONG)
    found.get_by_role("button", name=re.compile("^Seen")).click()
    expect(found).to_have_count(0, timeout=LONG)
    (seen,) = site.store.alerts.occurrences(scope)
    assert seen.acknowledged_at is not None
