"""What the search of the page leads to, and what the page of a test of impedance shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect
from support.web_page import Site, Window, open_site

import workbench as wb

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


@pytest.fixture
def window(site: Site) -> Iterator[Window]:
    yield site.window()
    site.close_windows()


def searched(window: Window, text: str) -> Locator:
    window.page.get_by_role("button", name="Search …").wait_for()  # keys are heard from its first picture on
    window.page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    window.page.keyboard.press("Control+k")
    window.page.get_by_role("combobox", name="Search everything").fill(text)
    found = window.page.get_by_role("option")
    found.filter(has_text=text).first.wait_for()
    return found


def test_what_has_a_page_comes_first_and_opens(window: Window) -> None:
    found = searched(window, "M50")
    links = [one != "true" for one in found.evaluate_all("all => all.map((one) => one.ariaDisabled)")]
    assert links == sorted(links, reverse=True)
    assert 0 < links.count(True) < len(links)
    without = found.filter(has_text="M50 full cell")
    expect(without).to_contain_text("has no page")
    expect(without).to_have_attribute("aria-selected", "false")


def test_enter_waits_for_what_was_typed_last(window: Window) -> None:
    searched(window, "M50-A-01")
    window.page.get_by_role("combobox", name="Search everything").fill("M50-B-03_ageing")
    window.page.keyboard.press("Enter")
    expect(window.page.get_by_role("heading", name="M50-B-03_ageing", level=1)).to_be_visible()


def test_several_words_that_no_name_has_get_a_hint(window: Window) -> None:
    window.page.get_by_role("button", name="Search …").click()
    field = window.page.get_by_role("combobox", name="Search everything")
    field.fill("%")
    expect(window.page.get_by_role("option")).to_have_text("Type two letters or more.")
    field.fill("M50-A-03 HPPC")
    expect(window.page.get_by_role("option")).to_contain_text("try one word of it")


@pytest.mark.parametrize(
    ("text", "heading", "more"),
    [
        ("SIM M50 21700", "Explore", "M50-A-01"),
        ("M50-A-01_degradation_modes", "M50-A-01_RPT3", "Cycles"),
        ("Default", "Boards", "Ageing"),
    ],
)
def test_enter_opens_the_nearest_page(window: Window, text: str, heading: str, more: str) -> None:
    searched(window, text)
    window.page.keyboard.press("Enter")
    expect(window.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    expect(window.page.get_by_role("main")).to_contain_text(more)


def test_the_chosen_line_stays_in_sight(window: Window) -> None:
    found = searched(window, "M50")
    for _ in range(16):
        window.page.keyboard.press("ArrowDown")
    chosen = found.and_(window.page.locator("[aria-selected=true]"))
    expect(chosen).to_have_count(1)
    expect(chosen).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("tag", [[], ["EIS"]])
def test_the_page_of_a_spectrum_shows_it(site: Site, window: Window, tag: list[str], tmp_path: Path) -> None:
    """It has neither time nor voltage, and its page showed empty axes."""
    path = tmp_path / f"spectrum {len(tag)}.csv"
    rows = [f"{10.0 ** (4 - k / 5)},{0.02 + k / 1000 + len(tag)},{k / 2000}" for k in range(20)]
    path.write_text("\n".join(["Freq/Hz,Re(Z)/Ohm,-Im(Z)/Ohm", *rows]))
    with wb.open(site.folder / "lab.db") as bench:
        id = bench.ingest(path)[0].measurement_id
        bench.measurements.update(id, tags=tag)
    window.go(f"/explore/tests/{id}")
    curve = window.page.get_by_role("article", name="Curve")
    expect(curve).to_contain_text("−Z″ / Ω")
    expect(curve.locator(".scatterlayer .point").first).to_be_attached()


def test_a_tag_of_impedance_does_not_hide_another_curve(site: Site, window: Window) -> None:
    with wb.open(site.folder / "lab.db") as bench:
        id = bench.measurements.get("LFP-C-02_RPT1").id
        bench.measurements.update(id, tags=["EIS"])
    window.go(f"/explore/tests/{id}")
    curve = window.page.get_by_role("article", name="Curve")
    expect(curve).to_contain_text("Time / h")
    expect(curve).to_contain_text("Voltage / V")
