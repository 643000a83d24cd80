"""Every flow of the page by keyboard alone, on a desk, a tablet and a phone: Tab leads there, no focus is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect
from support.keyboard import Keyboard
from support.web_page import Site, Window, open_site

pytestmark = pytest.mark.long

SAMPLES = Path(__file__).parents[2] / "sample_data"
MENUS_BELOW = 620
"""In narrower windows some places are in the menu of the person."""


class Person(Keyboard):
    """A signed-in person at a window of this width, who has no mouse."""

    def __init__(self, window: Window, width: int) -> None:
        super().__init__(window.page)
        self.window = window
        self.width = width

    def dialog(self, name: str | re.Pattern[str]) -> Locator:
        found = self.page.get_by_role("dialog", name=name)
        found.wait_for()
        return found

    def to_place(self, name: str) -> None:
        """Go to a place of the main menu."""
        if self.width < MENUS_BELOW and name not in ("Boards", "Explore"):
            self.use(self.page.get_by_role("button", name=re.compile("Local user")))
        self.use(self.page.get_by_role("banner").get_by_role("link", name=name).locator("visible=true"))
        self.has_place()

    def to_board(self, name: str) -> None:
        self.window.go("/")
        card = self.page.get_by_role("article", name=name, exact=True)
        self.use(card.get_by_role("link", name=name, exact=True))
        self.window.drawn()
        self.has_place()

    def to_plot(self, board: str, name: str) -> Locator:
        self.to_board(board)
        self.use(self.window.tile(name).get_by_role("link", name=name, exact=True))
        expect(self.page.get_by_role("heading", name=name, level=1)).to_be_visible()
        self.window.drawn()
        self.has_place()
        return self.window.tile(name)


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


@pytest.fixture(scope="module", params=[1400, 800, 390])
def signed_in(site: Site, request: pytest.FixtureRequest) -> Iterator[Person]:
    width: int = request.param
    window = site.window(key=None, width=width, height=900 if width > 400 else 844)
    window.page.on(
        "filechooser", lambda _: None
    )  # from here on choosers are heard, also the one that opens at once
    person = Person(window, width)
    window.page.get_by_label("Your key").wait_for()
    person.write(window.page.get_by_label("Your key"), site.key)
    person.press("Enter")
    window.page.get_by_role("navigation", name="Main").wait_for()
    person.has_place()
    yield person
    window.close()


@pytest.fixture
def person(signed_in: Person) -> Iterator[Person]:
    yield signed_in
    signed_in.has_place()
    signed_in.window.assert_proper()


def test_controls_undo_and_zoom(person: Person) -> None:
    page, window = person.page, person.window
    person.to_board("Ageing")
    tile = window.tile("Cycle life")
    before = window.picture_number(tile)
    opener = tile.get_by_role("button", name="Controls of Cycle life")
    person.use(opener)
    person.reach(person.dialog("Controls of Cycle life").get_by_role("radio", checked=True).first)
    person.press("ArrowDown")
    window.redrawn(tile, before)
    person.press("Escape")
    expect(opener).to_be_focused()
    page.go_back()
    window.redrawn(tile, before + 1)
    fade = window.tile("Fade by batch")
    person.reach(fade.locator(".wb-figure"))
    fade.locator("[aria-keyshortcuts]").wait_for()
    person.press("+")
    expect(fade.locator(".wb-plot")).to_have_attribute("data-zoomed", "yes")
    person.press("ArrowRight", "0")
    expect(fade.locator(".wb-plot")).to_have_attribute("data-zoomed", "")


def test_exports_and_links(person: Person) -> None:
    page = person.page
    person.to_board("Ageing")
    person.use(page.get_by_role("button", name="Export", exact=True))
    person.press("ArrowUp")
    expect(page.get_by_role("button", name="Print", exact=True)).to_be_focused()
    person.press("ArrowDown")
    expect(page.get_by_role("button", name=re.compile("^One page that works offline"))).to_be_focused()
    with page.expect_download() as coming:
        person.use(page.get_by_role("button", name=re.compile("Notebook")).locator("visible=true"))
    assert coming.value.suggested_filename.endswith(".ipynb")
    share = page.get_by_role("button", name="Share", exact=True)
    person.use(share)
    dialog = person.dialog(re.compile("^Share"))
    person.use(dialog.get_by_role("button", name="Make a link"))
    expect(dialog.get_by_label("The link")).to_be_focused()
    person.use(dialog.get_by_role("button", name="Copy"))
    person.use(dialog.get_by_role("button", name="Revoke").first)
    expect(dialog.get_by_text("revoked").first).to_be_visible()
    person.has_place()
    person.press("Escape")
    expect(share).to_be_focused()


def test_a_dashboard_is_made_arranged_and_deleted(person: Person) -> None:
    page = person.page
    person.to_board("Ageing")
    edit = page.get_by_role("button", name="Edit", exact=True)
    person.use(edit)
    person.use(page.get_by_role("button", name="Arrange"))
    person.reach(page.get_by_role("button", name="Move Cycle life"))
    person.press("ArrowDown", "Shift+ArrowLeft")
    person.reach(page.get_by_role("button", name="Save", exact=True), back=True)
    person.press("Enter")
    expect(page.get_by_text("The arrangement is saved.").last).to_be_visible()
    person.use(edit)
    person.use(page.get_by_role("button", name="Name and description"))
    dialog = person.dialog("Name and description")
    person.write(dialog.get_by_label("Description"), f"Seen at {person.width}")
    person.use(dialog.get_by_role("button", name="Save"))
    expect(page.get_by_text(f"Seen at {person.width}")).to_be_visible()
    person.to_place("Boards")
    person.use(page.get_by_role("button", name="New dashboard").first)
    dialog = person.dialog(re.compile("^New dashboard"))
    page.keyboard.type(f"Mine {person.width}")
    person.use(dialog.get_by_role("button", name="Make it"))
    expect(page.get_by_role("heading", name=f"Mine {person.width}", level=1)).to_be_visible()
    person.has_place()
    person.use(
        page.get_by_role("main").get_by_role("link", name="New plot from the gallery").locator("visible=true")
    )
    expect(page.get_by_role("heading", name="Gallery")).to_be_visible()
    page.go_back()
    person.use(edit)
    person.use(page.get_by_role("button", name="Delete"))
    person.use(person.dialog("Delete this dashboard?").get_by_role("button", name="Delete it"))
    expect(page.get_by_role("heading", name="Boards", level=1)).to_be_visible()


def test_a_recipe_is_edited_saved_compared_and_restored(person: Person) -> None:
    page = person.page
    person.to_plot("Models", "Drive cycle")
    person.reach(page.get_by_role("tab", name="Data"))
    person.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Notes")).to_be_visible()
    person.press("End")
    expect(page.get_by_role("tab", name="About")).to_be_focused()
    person.reach(page.get_by_role("main").get_by_role("link", name="Edit"), back=True)
    person.press("Enter")
    expect(page.get_by_text("No problems")).to_be_visible()
    person.reach(page.get_by_role("tab", name="Script"))
    person.reach(page.locator(".cm-content"))
    person.press("Control+Home")
    page.keyboard.type(f"# by keyboard at {person.width}")
    person.press("Enter")
    expect(page.get_by_text("No problems · not saved")).to_be_visible()
    person.press("Control+s")
    expect(page.get_by_text(re.compile("^Saved as revision")).last).to_be_visible()
    person.press("Escape", "Tab")
    person.reach(page.get_by_role("button", name="Compare"), back=True)
    person.press("Enter")
    expect(page.get_by_role("region", name="Difference")).to_contain_text(f"at {person.width}")
    person.use(page.get_by_role("button", name="Close"))
    person.has_place()
    person.reach(page.get_by_role("link", name="Drive cycle"), back=True)
    person.press("Enter")
    person.reach(page.get_by_role("tab", name="Data"))
    person.press("ArrowRight", "ArrowRight", "ArrowRight")
    revision = page.get_by_text(re.compile(r"^Revision \d+, changed"))
    before = revision.text_content()
    person.use(page.get_by_role("button", name="Restore").first)
    expect(revision).not_to_have_text(before or "")


def test_tests_are_found_and_a_question_about_them_becomes_a_plot(person: Person) -> None:
    page = person.page
    person.to_place("Explore")
    person.reach(page.get_by_role("tab", name="Tests"))
    person.press("ArrowRight")
    expect(page.get_by_role("tab", name="Cells")).to_have_attribute("aria-selected", "true")
    person.press("Home")
    person.write(page.get_by_role("searchbox", name="Search the tests"), "LFP-C-01")
    table = page.get_by_role("region", name="Tests")
    person.use(table.get_by_role("button", name="Cycles"))
    person.use(table.get_by_role("checkbox", name="Choose LFP-C-01_ageing"), "Space")
    person.reach(page.get_by_role("link", name="Gallery for 1 test"), back=True)
    person.press("Enter")
    person.use(page.get_by_role("button", name=re.compile("^Capacity fade")))
    person.window.drawn()
    person.has_place()
    person.use(page.get_by_role("button", name="Save as a plot"))
    dialog = person.dialog("Save as a plot")
    expect(dialog.get_by_label("Name")).to_be_focused()
    person.write(dialog.get_by_label("Name"), f"Fade at {person.width}")
    person.use(dialog.get_by_role("button", name="Save"))
    expect(page.get_by_role("tab", name="Data")).to_be_visible()


def test_a_test_gets_notes_and_tags(person: Person) -> None:
    page = person.page
    person.to_place("Explore")
    person.press("Control+k")
    page.get_by_role("combobox", name="Search everything").wait_for()
    page.keyboard.type("M50-A-02_ageing")
    page.get_by_role("option", name="M50-A-02_ageing").wait_for()
    person.press("Enter")
    expect(page.get_by_role("heading", name="M50-A-02_ageing")).to_be_visible()
    person.window.drawn()
    person.use(page.get_by_role("button", name="Edit"))
    notes = page.get_by_role("textbox", name="Notes")
    expect(notes).to_be_focused()
    person.write(notes, f"read at {person.width}")
    person.use(page.get_by_role("button", name="Save"))
    expect(page.get_by_text(f"read at {person.width}")).to_be_visible()
    person.has_place()
    tag = f"tag-{person.width}"
    person.write(page.get_by_role("textbox", name="New tag"), tag)
    person.press("Enter")
    out = page.get_by_role("button", name=f"Remove the tag {tag}")
    out.wait_for()
    person.reach(out, back=True)
    person.press("Enter")
    out.wait_for(state="detached")
    person.has_place()
    person.reach(page.get_by_role("tab", name="Cycles"))
    person.press("ArrowRight", "ArrowRight")
    expect(page.get_by_role("tabpanel", name="Origin")).to_be_visible()
    person.press("Control+k")
    search = page.get_by_role("combobox", name="Search everything")
    search.wait_for()
    person.press("Escape")
    search.wait_for(state="detached")
    expect(page.get_by_role("tab", name="Origin")).to_be_focused()


def test_files_are_brought_in(person: Person) -> None:
    page = person.page
    person.window.go("/")
    person.to_place("Bring in")
    person.reach(page.get_by_role("button", name="Choose files"))
    with page.expect_file_chooser() as chooser:
        person.press("Enter")
    chooser.value.set_files([SAMPLES / "materials" / "M50_full_ocv.csv"])
    person.write(page.get_by_label("Batch"), f"batch {person.width}")
    person.use(page.get_by_role("button", name="Bring in 1 file"))
    report = page.get_by_role("region", name="Report")
    report.wait_for()
    person.has_place()
    person.use(report.locator("summary").first)


def test_people_and_keys_are_looked_after(person: Person) -> None:
    page = person.page
    person.window.go("/")
    person.to_place("Admin")
    mail = f"person-{person.width}@lab.org"
    person.use(page.get_by_role("button", name="Add a person"))
    dialog = person.dialog(re.compile("person"))
    person.write(dialog.get_by_label("E-mail address"), mail)
    person.press("Enter")
    dialog.wait_for(state="detached")
    card = page.get_by_role("article", name=f"person-{person.width}")
    person.use(card.get_by_role("button", name="Give a role"))
    dialog = person.dialog(re.compile("role"))
    person.use(dialog.get_by_role("button", name=re.compile("Give")))
    dialog.wait_for(state="detached")
    person.has_place()
    person.use(card.get_by_role("button", name="Remove", exact=True))
    person.use(person.dialog("Remove this person?").get_by_role("button", name="Remove", exact=True))
    card.wait_for(state="detached")
    person.has_place()
    person.reach(page.get_by_role("tab", name="People"), back=True)
    person.press("ArrowRight")
    person.use(page.get_by_role("button", name="New key"))
    person.use(person.dialog("New key").get_by_role("button", name="Make it"))
    page.get_by_role("textbox", name="The new key").wait_for()
    person.use(page.get_by_role("button", name="I have copied it"))
    page.get_by_role("dialog").wait_for(state="detached")
    person.has_place()
    person.reach(page.get_by_role("tab", name="Keys"), back=True)
    person.press("End")
    expect(page.get_by_role("region", name="Audit log")).to_be_visible()
