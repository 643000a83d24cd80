"""The page on a store that nobody arranged: a table of capacities, long names and no dashboards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, open_site

import workbench as wb
from server.routes.ingests import MOST_FILES

LONG = "SINTEF__G20M7-202512-Gru6mV__20251228__C30__25degC__Neware.bdf"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    cycles = "".join(f"{n},{1.1 - n / 1000:.4f}\n" for n in range(1, 41))
    (folder / "capacities.csv").write_text("Cycle,Discharge capacity (Ah)\n" + cycles)
    (folder / f"{LONG}.csv").write_text("Time [s],Current [A],Voltage [V]\n0,1,4\n10,1,3.9\n20,1,3.8\n")
    with wb.open(folder / "own.db") as bench:
        bench.ingest(folder / "capacities.csv")
        bench.ingest(folder / f"{LONG}.csv", sign="discharge")
    with open_site(folder / "own.db", tmp_path_factory.mktemp("server"), browser) as made:
        yield made


def test_a_record_of_capacities_shows_its_cycles(site: Site) -> None:
    window = site.window("/explore")
    window.page.get_by_role("link", name="capacities").first.click()
    expect(window.page.get_by_role("heading", name="capacities")).to_be_visible()
    table = window.page.get_by_role("region", name="Cycles")
    expect(table.get_by_role("columnheader", name="Discharge capacity [A.h]")).to_be_visible()
    expect(table.get_by_role("cell", name="1.099", exact=True)).to_be_visible()
    expect(window.page.get_by_role("article", name="Curve")).to_be_visible()
    expect(window.page.get_by_text("has no samples")).to_have_count(0)
    expect(window.page.get_by_text("table of cycles · 40 cycles")).to_be_visible()
    window.close()


def test_more_files_than_an_ingest_takes_are_refused_before_they_are_sent(site: Site) -> None:
    window = site.window("/bring-in")
    window.page.get_by_label("Files", exact=True).evaluate(
        """(field, count) => {
          const held = new DataTransfer();
          for (let n = 0; n < count; n++) held.items.add(new File(["x"], `${n}.csv`));
          field.files = held.files;
          field.dispatchEvent(new Event("change", { bubbles: true }));
        }""",
        MOST_FILES + 1,
    )
    expect(window.page.get_by_role("alert")).to_have_text("At most 10 000 files at a time. Take 1 file away.")
    begin = window.page.get_by_role("button", name="Bring in 10 001 files")
    expect(begin).to_be_disabled()
    window.page.get_by_role("button", name="Take 0.csv away").click()
    expect(window.page.get_by_role("button", name="Bring in 10 000 files")).to_be_enabled()
    window.close()


def test_files_of_one_name_and_size_from_two_folders_are_both_taken(site: Site, tmp_path: Path) -> None:
    window = site.window("/bring-in")
    for day, folder in enumerate(("one", "two")):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "Data.csv"
        file.write_text(f"{day}")
        os.utime(file, (86400.0 * (day + 1),) * 2)
    for folder in ("one", "two", "one"):
        window.page.get_by_label("Files", exact=True).set_input_files(tmp_path / folder / "Data.csv")
    expect(window.page.get_by_role("button", name="Bring in 2 files")).to_be_enabled()
    expect(window.page.get_by_text("Data.csv")).to_have_count(2)
    window.close()


@pytest.mark.long
def test_chosen_tests_stay_chosen_after_a_look_at_one(site: Site) -> None:
    window = site.window("/explore")
    window.page.get_by_label(f"Choose {LONG}").check()
    window.page.get_by_role("link", name=LONG).first.click()
    expect(window.page.get_by_role("heading", name=LONG)).to_be_visible()
    window.page.go_back()
    expect(window.page.get_by_label(f"Choose {LONG}")).to_be_checked()
    expect(window.page.get_by_role("link", name="Gallery for 1 test")).to_be_visible()
    window.close()


@pytest.mark.long
def test_a_project_without_dashboards_says_what_to_do(site: Site) -> None:
    window = site.window("/")
    expect(window.page.get_by_text("No dashboards yet.")).to_be_visible()
    made = window.page.get_by_role("button", name="New dashboard")
    border = made.evaluate(
        "(one) => { const s = getComputedStyle(one); return [s.borderTopStyle, s.borderTopColor]; }"
    )
    assert border[0] == "dashed"
    assert border[1] not in ("rgba(0, 0, 0, 0)", "transparent")
    window.close()


@pytest.mark.long
def test_long_names_leave_room_for_the_numbers(site: Site) -> None:
    window = site.window("/explore")
    heading = window.page.get_by_role("columnheader", name="Cycles")
    expect(window.page.get_by_role("link", name=LONG).first).to_be_visible()
    box = heading.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] < 1400
    window.close()


@pytest.mark.long
def test_tests_are_found_by_the_name_of_their_cell(site: Site) -> None:
    window = site.window("/explore")
    window.page.get_by_label("Search the tests").fill("unspecified capac")
    expect(window.page.get_by_role("link", name=LONG)).to_have_count(0)
    expect(window.page.get_by_role("link", name="capacities").first).to_be_visible()
    window.close()
