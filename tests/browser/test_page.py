"""The web page in a browser: sign in, dashboards, controls, zoom, links with values, one plot, search, editing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, Window, open_site

import workbench as wb
from browser.conftest import evidence
from workbench.records import Dashboard, Plot, Project
from workbench.store.scope import Scope

SAMPLES = Path(__file__).parents[2] / "sample_data"


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


@pytest.fixture(scope="module")
def signed_in(site: Site) -> Window:
    """One window for all tests that may share it."""
    return site.window()


@pytest.fixture
def window(signed_in: Window) -> Iterator[Window]:
    """The shared window, at home; afterwards it has nothing to complain about."""
    signed_in.go("/")
    yield signed_in
    signed_in.assert_proper()


def values_of(window: Window) -> dict[str, dict[str, object]]:
    """The values that the address carries, by the id of the plot."""
    found = parse_qs(urlsplit(window.page.url).query).get("values", ["{}"])
    given: dict[str, dict[str, object]] = json.loads(found[0])
    return given


def test_a_test_that_fails_leaves_pictures_of_its_windows(window: Window, request: pytest.FixtureRequest) -> None:
    (said,) = evidence(request.node)
    picture, address = said.splitlines()[:2]
    assert Path(picture.removeprefix("screenshot: ")).read_bytes().startswith(b"\x89PNG")
    assert address == window.page.url


def test_a_wrong_key_is_refused_in_words_and_a_right_one_opens_the_page(site: Site) -> None:
    window = site.window(key=None)
    window.allow_error("401")
    window.page.get_by_label("Your key").fill("wb_wrong")
    window.page.get_by_role("button", name="Sign in").click()
    expect(window.page.get_by_role("alert")).to_contain_text("key")
    window.sign_in(site.key)
    expect(window.page.get_by_role("article", name="Ageing")).to_be_visible()
    storage = window.page.evaluate("() => JSON.stringify({ ...localStorage }) + document.cookie + location.href")
    assert site.key not in storage
    window.page.get_by_role("button", name="Local user").click()
    with window.page.expect_navigation():
        window.page.get_by_role("button", name="Sign out").click()
    expect(window.page.get_by_label("Your key")).to_be_visible()
    window.assert_proper()
    window.close()


def test_a_code_in_the_fragment_signs_in_once(site: Site) -> None:
    user = site.store.rows.user("local@localhost")
    issued = site.store.people.issue(site.organization, user.id)
    code = site.store.sign_ins.code(issued.id)
    window = site.window(f"/#code={code}", key=None)
    expect(window.page.get_by_role("navigation", name="Main")).to_be_visible()
    assert "code" not in window.page.url
    window.assert_proper()
    window.close()
    again = site.window(f"/#code={code}", key=None)
    again.allow_error("401")
    expect(again.page.get_by_label("Your key")).to_be_visible()
    again.close()


@pytest.mark.parametrize("address", ["/", "/boards/{project}/{board}", "/boards/{project}/{board}/plots/{plot}"])
def test_the_html_names_all_that_a_page_loads_before_it_shows_something(site: Site, address: str) -> None:
    rows = site.store.rows
    project = rows.page(Project, Scope(site.organization, None)).items[0]
    scope = Scope(site.organization, project.id)
    board = next(one for one in rows.page(Dashboard, scope).items if one.name == "Ageing")
    plot = next(one for one in rows.page(Plot, scope).items if one.dashboard_id == board.id)
    window = site.window()
    window.go(address.format(project=project.id, board=board.id, plot=plot.id))
    window.page.get_by_role("article" if address == "/" else "img").first.wait_for()
    named, loaded = window.page.evaluate(
        """() => [
          [...document.querySelectorAll("link[rel=modulepreload], link[rel=preload]")].map((one) => one.href),
          performance.getEntriesByType("resource").map((one) => one.name).filter((name) => name.endsWith(".js")),
        ]"""
    )
    assert sorted(named) == sorted(name for name in loaded if not name.endswith("/alerts.js"))  # it comes after
    window.assert_proper()
    window.close()


def test_a_dashboard_draws_its_plots_and_can_be_used_by_people_who_hear_it(window: Window) -> None:
    window.open_board("Ageing")
    tile = window.tile("Fade by batch")
    expect(tile.get_by_role("img", name=re.compile("^Figure: Fade by batch"))).to_be_visible()
    width = tile.locator(".main-svg").first.bounding_box()
    around = tile.locator(".picture").bounding_box()
    assert width
    assert around
    assert abs(width["width"] - (around["width"] - 16)) <= 0.02 * around["width"]
    tile.locator(".wb-figure").focus()
    tile.locator("[aria-keyshortcuts]").wait_for()
    for key, zoomed in (("+", "yes"), ("0", "")):
        window.page.keyboard.press(key)
        expect(tile.locator(".wb-plot")).to_have_attribute("data-zoomed", zoomed)


def test_a_choice_is_in_the_address_and_goes_back_and_forward(window: Window) -> None:
    window.open_board("Ageing")
    tile = window.tile("Cycle life")
    before = window.picture_number(tile)
    tile.get_by_role("button", name="Controls of Cycle life").click()
    window.page.get_by_role("dialog", name="Controls of Cycle life").get_by_role(
        "radio", name="temperature"
    ).check()
    window.redrawn(tile, before)
    (chosen,) = values_of(window).values()
    assert list(chosen) == ["color"]
    link = window.page.url
    window.page.keyboard.press("Escape")

    drawn = window.picture_number(tile)
    window.page.go_back()
    window.redrawn(tile, drawn)
    assert values_of(window) == {}
    window.page.go_forward()
    window.redrawn(tile, drawn + 1)
    assert window.page.url == link

    window.go(urlsplit(link)._replace(scheme="", netloc="").geturl())
    window.drawn()
    window.tile("Cycle life").get_by_role("button", name="Controls of Cycle life").click()
    dialog = window.page.get_by_role("dialog", name="Controls of Cycle life")
    expect(dialog.get_by_role("radio", name="temperature")).to_be_checked()
    window.page.keyboard.press("Escape")


def test_a_slider_is_moved_by_the_keyboard_and_a_refused_number_says_why(window: Window) -> None:
    window.open_board("Ageing")
    window.tile("Cycle life").get_by_role("link", name="Cycle life").click()
    window.drawn()
    tile = window.tile("Cycle life")
    before = window.picture_number(tile)
    slider = window.page.get_by_role("slider", name="End of life at")
    slider.focus()
    window.page.keyboard.press("ArrowLeft")
    window.redrawn(tile, before)
    assert list(values_of(window)) == ["threshold"]
    number = window.page.get_by_role("textbox", name="End of life at / %, as a number")
    number.fill("700")
    number.press("Enter")
    expect(window.page.get_by_role("alert")).to_contain_text("The most is")
    number.press("Escape")


def test_zoom_reads_finer_samples_and_one_plot_shows_what_it_is_made_of(window: Window) -> None:
    window.open_board("Electrochemistry")
    window.tile("Test record").scroll_into_view_if_needed()
    window.tile("Test record").get_by_role("link", name="Test record").click()
    window.drawn()
    test = window.page.get_by_role("combobox", name="Test")
    test.click()
    test.fill("M50-A-02_ageing")
    with window.page.expect_response("**/figure"):  # the plot of the test before is reduced too
        test.press("Enter")
    tile = window.tile("Test record")
    expect(tile.get_by_text(re.compile("of 27.732 points"))).to_be_visible()
    window.drawn()
    box = tile.locator(".nsewdrag").first.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    window.page.mouse.move(box["x"] + 0.40 * box["width"], middle)
    window.page.mouse.down()
    window.page.mouse.move(box["x"] + 0.43 * box["width"], middle, steps=4)
    window.page.mouse.up()
    expect(tile.get_by_text(re.compile("in view: "))).to_be_visible()
    for name in ("Notes", "Log", "History", "About"):
        window.page.get_by_role("tab", name=name).click()
        expect(window.page.get_by_role("tabpanel", name=name)).to_be_visible()
    expect(window.page.get_by_role("tabpanel", name="About")).to_contain_text("M50-A-02_ageing")
    window.page.get_by_role("tab", name="Data").click()
    expect(window.page.get_by_role("region", name="The plotted numbers")).to_contain_text("Voltage")


@pytest.mark.long
def test_numbers_and_pictures_leave_as_files(window: Window) -> None:
    window.open_board("Ageing")
    tile = window.tile("Cycle life")
    for word, suffix, begins in (("Numbers (csv)", ".csv", b"trace"), ("Picture (png)", ".png", b"\x89PNG")):
        tile.get_by_role("button", name="More about Cycle life").click()
        with window.page.expect_download() as coming:
            tile.get_by_role("button", name=word).click()
        assert coming.value.suggested_filename.endswith(suffix)
        assert Path(coming.value.path()).read_bytes().startswith(begins)


def test_search_finds_a_test_and_its_page_shows_curve_cycles_and_origin(window: Window) -> None:
    window.page.get_by_role("button", name="Search …").wait_for()  # keys are heard from its first picture on
    window.page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    window.page.keyboard.press("Control+k")
    window.page.get_by_role("combobox", name="Search everything").fill("M50-A-02_ageing")
    hit = window.page.get_by_role("option", name="M50-A-02_ageing")
    expect(hit).to_contain_text(re.compile(r"M50-A-02_ageing\s+M50-A-02\s*test"))  # with its cell
    window.page.keyboard.press("Enter")
    expect(window.page.get_by_role("heading", name="M50-A-02_ageing")).to_be_visible()
    window.drawn()
    expect(window.page.get_by_role("region", name="Cycles")).to_contain_text("Discharge capacity [A.h]")
    window.page.get_by_role("tab", name="Origin").click()
    expect(window.page.get_by_role("tabpanel", name="Origin")).to_contain_text("SHA-256")
    window.page.get_by_role("textbox", name="New tag").fill("seen")
    window.page.keyboard.press("Enter")
    expect(window.page.get_by_role("button", name="Remove the tag seen")).to_be_visible()


def test_the_tests_are_a_table_that_sorts_and_filters(window: Window) -> None:
    window.page.get_by_role("link", name="Explore").click()
    table = window.page.get_by_role("region", name="Tests")
    table.get_by_role("button", name="Cycles").click()
    table.get_by_role("button", name="Cycles").click()
    expect(table.get_by_role("row").nth(1)).to_contain_text("121")
    window.page.get_by_role("button", name=re.compile("^GITT")).click()
    expect(table.get_by_role("row")).to_have_count(2)
    window.page.get_by_role("searchbox", name="Search the tests").fill("no such test")
    expect(window.page.get_by_role("heading", name="Nothing fits")).to_be_visible()


def test_tabs_are_moved_by_arrows_and_the_focus_is_never_lost(window: Window) -> None:
    page = window.page
    page.get_by_role("link", name="Explore").click()
    content = page.get_by_role("main")
    expect(content).to_be_focused()
    expect(page.get_by_role("status").filter(has_text=re.compile("^Tests$"))).to_be_attached()
    tests, cells = page.get_by_role("tab", name="Tests"), page.get_by_role("tab", name="Cells")
    tests.focus()
    page.keyboard.press("ArrowLeft")
    expect(cells).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Cells")).to_be_visible()
    assert tests.get_attribute("tabindex") == "-1"
    page.keyboard.press("Home")
    expect(tests).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search everything").wait_for()
    page.keyboard.press("Escape")
    expect(cells).to_be_focused()
    for change in ("remove()", "disabled = true"):
        page.evaluate(f"""() => {{
          const button = document.querySelector("main").appendChild(document.createElement("button"));
          button.focus();
          requestAnimationFrame(() => button.{change});
        }}""")
        expect(content).to_be_focused()


def test_a_recipe_is_checked_fixed_saved_compared_and_restored(window: Window) -> None:
    window.open_board("Models")
    window.tile("Drive cycle").get_by_role("link", name="Drive cycle").click()
    window.page.get_by_role("link", name="Edit").click()
    expect(window.page.get_by_text("No problems")).to_be_visible()
    window.page.get_by_role("tab", name="Plan").click()
    window.page.locator(".cm-line", has_text='"source": "measurements"').first.click()
    window.page.keyboard.press("End")
    for _ in range(2):
        window.page.keyboard.press("ArrowLeft")
    window.page.keyboard.press("Backspace")
    problems = window.page.get_by_role("list", name="Problems")
    expect(problems).to_contain_text("Did you mean 'measurements'?")
    expect(window.page.get_by_role("button", name="Save as revision 2")).to_be_disabled()
    problems.get_by_role("button", name="Use “measurements”").click()
    expect(window.page.get_by_text("No problems")).to_be_visible()
    window.page.get_by_role("tab", name="Script").click()
    window.page.locator(".cm-content").click()
    window.page.keyboard.press("Control+Home")
    window.page.keyboard.type("# checked by the team")
    window.page.keyboard.press("Enter")
    expect(window.page.get_by_text("No problems · not saved")).to_be_visible()
    window.page.get_by_role("button", name="Save as revision 2").click()
    expect(window.page.get_by_text("Saved as revision 2.")).to_be_visible()
    window.page.get_by_role("button", name="Compare").click()
    expect(window.page.get_by_role("region", name="Difference")).to_contain_text("# checked by the team")
    window.page.get_by_role("link", name="Drive cycle").click()
    window.page.get_by_role("tab", name="History").click()
    window.page.get_by_role("button", name="Restore").click()
    expect(window.page.get_by_text("Revision 3, changed")).to_be_visible()


def test_who_saves_second_sees_both_sides_and_loses_nothing(site: Site, window: Window) -> None:
    window.allow_error("409")
    window.open_board("Models")
    window.tile("Open-circuit curves").scroll_into_view_if_needed()
    window.tile("Open-circuit curves").get_by_role("link", name="Open-circuit curves").click()
    window.page.get_by_role("link", name="Edit").click()
    expect(window.page.get_by_text("No problems")).to_be_visible()
    _, _, project, board, _, plot, *_ = [*window.page.url.replace(site.address, "x").split("/"), ""]
    where = f"{site.address}/projects/{project}/dashboards/{board}/plots/{plot}"
    import httpx2 as httpx

    saved = httpx.get(where, headers={"X-API-Key": site.key}).json()
    theirs = {"revision": saved["revision"], "config": {**saved["config"]}}
    theirs["config"]["transform"] = "# theirs\n" + saved["config"]["transform"]
    other = site.key_of("bob@lab.org", everywhere="project-contributor")
    assert httpx.patch(where, headers={"X-API-Key": other}, json=theirs).status_code == 200
    window.page.locator(".cm-content").click()
    window.page.keyboard.press("Control+Home")
    window.page.keyboard.type("# mine")
    window.page.keyboard.press("Enter")
    expect(window.page.get_by_text("No problems · not saved")).to_be_visible()
    window.page.get_by_role("button", name="Save as revision 2").click()
    dialog = window.page.get_by_role("dialog", name="Somebody else saved meanwhile")
    expect(dialog).to_contain_text("# theirs")
    expect(dialog).to_contain_text("# mine")
    expect(dialog).to_contain_text("Revision 2 was saved just now by bob.")
    dialog.get_by_role("button", name="Take mine, as revision 3").click()
    expect(window.page.get_by_text("Saved as revision 3.")).to_be_visible()
    window.go(f"/boards/{project}/{board}/plots/{plot}")
    expect(window.page.get_by_text("Revision 3, changed just now by local")).to_be_visible()
    window.go(f"/boards/{project}/{board}/plots/{plot}?revision=2")
    expect(window.page.get_by_text("Revision 2, changed just now by bob")).to_be_visible()


def test_a_dashboard_is_made_and_arranged_by_keyboard(window: Window) -> None:
    window.open_board("Models")
    window.page.get_by_role("button", name="Edit", exact=True).click()
    window.page.get_by_role("button", name="Arrange").click()
    window.page.get_by_role("button", name="Move Model and measurement").focus()
    window.page.keyboard.press("ArrowRight")
    window.page.keyboard.press("Shift+ArrowRight")
    expect(
        window.page.get_by_text(re.compile("Model and measurement: column 2, row 1, 7 columns"))
    ).to_be_attached()
    window.page.get_by_role("button", name="Save", exact=True).click()
    window.page.wait_for_function("() => document.querySelector('.tile')?.style.gridColumn.startsWith('2 /')")


def test_files_are_brought_in_and_the_report_says_what_became_of_each(window: Window, tmp_path: Path) -> None:
    bad = tmp_path / "notes.csv"
    bad.write_text("a,b,c\n" + "".join(f"{n},3.{n:02},1\n" for n in range(20)))
    window.page.get_by_role("link", name="Bring in").click()
    window.page.get_by_label("Files").set_input_files([SAMPLES / "materials" / "M50_full_ocv.csv", bad])
    window.page.get_by_role("button", name="Bring in 2 files").click()
    report = window.page.get_by_role("region", name="Report")
    expect(report).to_contain_text("1 stored, 1 refused")
    expect(report).to_contain_text("has no column that is known as time")
    window.page.get_by_label("Columns").fill("a = Time [s]\nVoltage [V]")
    window.page.get_by_role("button", name="Bring in 1 file").click()
    expect(window.page.get_by_role("alert").first).to_contain_text('"Voltage [V]" names no column of the file')
    window.page.get_by_label("Columns").fill("a = Time [s]\nb = Voltage [V]\nc = Current [A]")
    window.page.get_by_label("Positive current").select_option("discharge")
    window.page.get_by_role("button", name="Bring in 1 file").click()
    expect(report).to_contain_text("1 stored")
    unsaid = tmp_path / "unsaid.csv"
    unsaid.write_text("Time,Voltage [V],Current [A]\n" + "".join(f"{n},2.{n:02},1\n" for n in range(20)))
    window.page.get_by_label("Files").set_input_files([unsaid])
    window.page.get_by_label("Columns").fill("")
    window.page.get_by_role("button", name="Bring in 1 file").click()
    expect(report).to_contain_text("Settle it by: “Columns” Time = Time [s]")
    expect(report).not_to_contain_text("column_map")
    counted = tmp_path / "counted.csv"
    rows = [f"{60 * n},{3.5 + 0.1 * (n % 5)},{1 if n // 5 % 2 else -1}" for n in range(40)]
    counted.write_text("Time [s],Voltage [V],Current [A]\n" + "\n".join(rows) + "\n")
    window.page.get_by_label("Files").set_input_files([counted])
    window.page.get_by_role("button", name="Bring in 1 file").click()
    expect(report).to_contain_text("Settle it by: “Cycles” the file's numbers")
    window.page.get_by_label("Files").set_input_files([counted])
    window.page.get_by_label("Cycles").select_option("the file's numbers")
    window.page.get_by_label("Repair").select_option("a clock that jumps back")
    window.page.get_by_role("button", name="Bring in 1 file").click()
    expect(report).to_contain_text("1 updated")
    expect(report).to_contain_text("40 rows, 1 cycle")


def test_a_viewer_sees_no_way_to_change_and_a_stranger_sees_one_sentence(site: Site, window: Window) -> None:
    reader = site.window(key=site.key_of("reader@lab.org", everywhere="project-viewer"))
    page = reader.page
    reader.open_board("Models")
    expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="Bring in")).to_have_count(0)
    reader.allow_error("404")
    reader.go("/boards/no-project/no-board")
    expect(page.get_by_text("does not exist, or your key has no role in its project")).to_be_visible()
    reader.assert_proper()
    reader.close()


def test_an_address_that_nothing_has_says_so_and_leads_home(site: Site) -> None:
    outside = site.window("/no/such/place", key=None)
    outside.allow_error("404")
    expect(outside.page.get_by_role("heading", name="There is no such page")).to_be_visible()
    outside.page.get_by_role("link", name="To the boards").click()
    outside.sign_in(site.key)
    expect(outside.page.get_by_role("heading", name="Boards", level=1)).to_be_visible()
    outside.go("/no/such/place")
    expect(outside.page.get_by_role("heading", name="There is no such page")).to_be_visible()
    expect(outside.page.get_by_role("navigation", name="Main")).to_be_visible()
    outside.assert_proper()
    outside.close()


def test_a_session_that_ends_is_renewed_without_losing_the_place(site: Site) -> None:
    user = site.store.rows.user("local@localhost")
    issued = site.store.people.issue(site.organization, user.id)
    window = site.window(key=issued.key)
    window.allow_error("401")
    window.open_board("Ageing")
    site.store.people.revoke(site.organization, issued.id)
    window.page.get_by_role("link", name="Cycle life").click()
    dialog = window.page.get_by_role("dialog", name="Your session is over")
    dialog.get_by_label("Your key").fill(site.key)
    dialog.get_by_role("button", name="Sign in").click()
    expect(window.page.get_by_role("heading", name="Cycle life", level=1)).to_be_visible()
    window.assert_proper()
    window.close()


@pytest.mark.long
def test_a_test_without_clock_times_is_not_said_to_run(site: Site, window: Window) -> None:
    with wb.connect(site.address, site.key) as bench:
        frame = pd.DataFrame({"Time [s]": [0.0, 1.0], "Current [A]": [1.0, 1.0], "Voltage [V]": [3.9, 3.8]})
        test = bench.measurements.create(instance="M50-A-01", name="no clock", time_series=frame)
        running = bench.measurements.create(
            instance="M50-A-01", name="runs", time_series=frame, start_time="2024-03-01T08:00:00Z"
        )
    facts = window.page.locator("dl.facts").first
    window.go(f"/explore/tests/{test.id}")
    expect(facts).to_contain_text("SpecificationSIM M50 21700")
    expect(facts).to_contain_text("Begannot knownEndednot known")
    window.go(f"/explore/tests/{running.id}")
    expect(facts).to_contain_text("Endedstill running")


@pytest.mark.long
def test_long_names_leave_room_for_the_other_columns(site: Site, window: Window) -> None:
    name = "LAB__G20M7-202512-Gru6mV__20251228__C30__25degC__Neware export of a long test"
    with wb.connect(site.address, site.key) as bench:
        bench.specifications.create(
            name=f"Unspecified {name}", ratings=bench.specifications.get("SIM M50 21700").ratings
        )
        bench.instances.create(name=name, specification=f"Unspecified {name}")
        frame = pd.DataFrame({"Time [s]": [0.0, 1.0], "Current [A]": [1.0, 1.0], "Voltage [V]": [3.9, 3.8]})
        bench.measurements.create(instance=name, name=name, time_series=frame)
    window.page.get_by_role("link", name="Explore").click()
    window.page.get_by_role("searchbox", name="Search the tests").fill("Gru6mV")
    table = window.page.get_by_role("region", name="Tests")
    cut = table.get_by_title(name, exact=True)
    expect(cut).to_have_count(2)  # the test and its cell
    width = window.page.evaluate("innerWidth")
    for column in ("Began", "Samples"):
        box = table.get_by_role("columnheader", name=column).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] < width
