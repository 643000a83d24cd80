"""Clock times on the page: they are those of the browser, and the page says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, open_site

import workbench as wb


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("page-times"), browser) as opened:
        yield opened


def test_times_name_the_time_zone_that_they_are_shown_in(site: Site) -> None:
    frame = pd.DataFrame({"Time [s]": [0.0, 1.0], "Current [A]": [1.0, 1.0], "Voltage [V]": [3.9, 3.8]})
    with wb.connect(site.address, site.key) as bench:
        test = bench.measurements.create(
            instance="M50-A-01", name="at night", time_series=frame, start_time="2024-03-01T23:30:00Z"
        )
    window = site.window(f"/explore/tests/{test.id}", zone="Australia/Lord_Howe", height=1200)
    page = window.page
    expect(page.locator("dl.facts").first).to_contain_text("BeganMar 2, 2024, 10:30 AM GMT+11")
    window.go("/explore?q=at+night")
    table = page.get_by_role("region", name="Tests")
    expect(table.get_by_role("columnheader", name="Began Australia/Lord Howe")).to_be_visible()
    expect(table.get_by_role("row", name="at night")).to_contain_text("Mar 2, 2024, 10:30 AM")
    window.go("/admin")
    for tab, heads in (("Keys", ("Made", "Ends")), ("Audit log", ("When",))):
        page.get_by_role("tab", name=tab).click()
        for head in heads:
            expect(page.get_by_role("columnheader", name=f"{head} Australia/Lord Howe")).to_be_visible()
    window.assert_proper()
    window.close()


def test_the_ready_recipes_of_a_test_and_of_a_cell_are_one_click_away(site: Site) -> None:
    with wb.connect(site.address, site.key) as bench:
        test = bench.measurements.get("LFP-C-01_RPT0")
    window = site.window(f"/explore/tests/{test.id}")
    page = window.page
    page.get_by_role("link", name="Gallery", exact=True).click()
    expect(page.get_by_text("Made for 1 chosen test.")).to_be_visible()
    page.go_back()
    page.locator("dl.facts").get_by_role("link", name="LFP-C-01").click()
    page.get_by_role("button", name="Gallery", exact=True).click()
    expect(page.get_by_text("Made for 7 chosen tests.")).to_be_visible()
    window.assert_proper()
    window.close()
