"""Every kind of control, by mouse and keyboard: the value reaches the kernel and the figure changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect
from support.live_view import LiveView
from support.notebook_page import NotebookPage

from workbench.recipe.controls import WIDGETS

Act = Callable[[Locator, Page], None]


class Case(NamedTuple):
    """A param, what a person does with its control, and the value that it has then."""

    default: Any
    control: dict[str, Any]
    act: Act
    value: Any


def click(text: str) -> Act:
    return lambda field, page: field.get_by_text(text, exact=True).click()


def press(place: str, *keys: str) -> Act:
    def act(field: Locator, page: Page) -> None:
        field.locator(place).focus()
        for key in keys:
            page.keyboard.press(key)

    return act


def write(place: str, text: str, end: str = "Enter") -> Act:
    def act(field: Locator, page: Page) -> None:
        field.locator(place).click()
        page.keyboard.press("Control+a")
        page.keyboard.type(text)
        page.keyboard.press(end)

    return act


def moment(place: str, *parts: str) -> Act:
    """Type into a date field part by part; full parts go on to the next by themselves."""

    def act(field: Locator, page: Page) -> None:
        field.locator(place).focus()
        for part in parts:
            page.keyboard.type(part)
            if len(part) == 4:  # a year could have more digits
                page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")

    return act


def drag_slider(share: float) -> Act:
    def act(field: Locator, page: Page) -> None:
        bar, handle = (
            field.locator(".noUi-base").bounding_box(),
            field.locator(".noUi-handle").first.bounding_box(),
        )
        assert bar
        assert handle
        y = handle["y"] + handle["height"] / 2
        page.mouse.move(handle["x"] + handle["width"] / 2, y)
        page.mouse.down()
        page.mouse.move(bar["x"] + share * bar["width"], y, steps=6)
        page.mouse.up()

    return act


def with_control(text: str) -> Act:
    return lambda field, page: field.get_by_role("option", name=text, exact=True).click(modifiers=["Control"])


def only_filtered(text: str) -> Act:
    """Nothing first, then all that pass the filter."""

    def act(field: Locator, page: Page) -> None:
        field.get_by_role("button", name="none").click()
        field.get_by_placeholder("filter").click()
        page.keyboard.type(text)
        expect(field.get_by_role("option")).to_have_count(10)
        field.get_by_role("button", name="all").click()

    return act


def given_number(text: str) -> Act:
    def act(field: Locator, page: Page) -> None:
        field.get_by_text("auto").click()
        expect(field.locator(".wb-number input")).to_be_enabled()
        write(".wb-number input", text)(field, page)

    return act


GREEK = ["alpha", "beta", "gamma", "delta", "epsilon"]
LETTERS = [*GREEK, "zeta", "eta"]
MANY = [f"cell {n:02d}" for n in range(60)]
CASES: dict[str, Case] = {
    "toggle_buttons": Case("lines", {"options": ["lines", "dots"]}, click("dots"), "dots"),
    "dropdown": Case("alpha", {"options": GREEK}, press("select", "ArrowDown"), "beta"),
    "combobox": Case(MANY[0], {"options": MANY}, write("input", "cell 41"), "cell 41"),
    "toggle_multiple": Case(["alpha", "beta"], {"options": GREEK}, click("alpha"), ["beta"]),
    "select_multiple": Case(["alpha"], {"options": LETTERS}, with_control("gamma"), ["alpha", "gamma"]),
    "filtered_select_multiple": Case(MANY[:3], {"options": MANY[:30]}, only_filtered("cell 1"), MANY[10:20]),
    "checkbox": Case(True, {}, press("input", "Space"), False),
    "int_slider": Case(3, {"min": 0, "max": 10}, press(".noUi-handle", "ArrowRight"), 4),
    "float_slider": Case(0.25, {"min": 0.0, "max": 1.0, "step": 0.05}, drag_slider(0.8), 0.8),
    "bounded_int": Case(5, {"min": 0, "max": 100_000}, write("input", "4321"), 4321),
    "bounded_float": Case(0.5, {"min": 0.0, "max": 1.0, "step": 0.0001}, write("input", "0.1234"), 0.1234),
    "int": Case(7, {}, write("input", "-12"), -12),
    "float": Case(1.5, {}, write("input", "2.75"), 2.75),
    "int_range_slider": Case(
        [2, 8], {"min": 0, "max": 10}, press(".noUi-handle >> nth=1", "ArrowLeft", "ArrowLeft"), [2, 6]
    ),
    "float_range_slider": Case(
        [0.2, 0.8], {"min": 0.0, "max": 1.0, "step": 0.1}, press(".noUi-handle >> nth=0", "ArrowRight"), [0.3, 0.8]
    ),
    "optional_number": Case(None, {"min": 1, "max": 1000, "step": 1}, given_number("25"), 25),
    "date": Case("2026-03-01", {}, moment("input", "04", "15", "2025"), "2025-04-15"),
    "datetime": Case(
        "2026-03-01T08:30:00", {}, moment("input", "04", "15", "2025", "01", "45", "PM"), "2025-04-15T13:45:00"
    ),
    "text": Case("a word", {}, write("input", "another word"), "another word"),
    "textarea": Case("two\nlines", {}, write("textarea", "one line", "Tab"), "one line"),
    "json": Case({"a": 1}, {}, write("input", '{"a": [1, 2.5]}'), {"a": [1, 2.5]}),
}
LABELS = {name: name.replace("_", " ").capitalize() for name in CASES}
PARAMS = {
    name: {"kind": "view", "default": case.default, "control": {"label": LABELS[name], **case.control}}
    for name, case in CASES.items()
}
SETUP = f"""
import workbench as wb
bench = wb.open("../workbench.db")
recipe = wb.Recipe(
    plan={{"steps": {{"cells": {{"op": "list", "source": "instances", "fields": ["name"]}}}}}},
    transform='''
def transform(data, params):
    names = sorted(params)
    words = [repr(params[name]) for name in names]
    return go.Figure(go.Bar(y=names, x=[len(word) for word in words], text=words, orientation="h"))
''',
    params={PARAMS!r},
)
"""


@pytest.fixture(scope="module")
def sheet(kept_open) -> NotebookPage:
    sheet = kept_open([SETUP, "view = bench.show(recipe)\nview"])
    sheet.run(0)
    sheet.run(1)
    return sheet


@pytest.fixture(scope="module")
def view(sheet: NotebookPage) -> LiveView:
    return LiveView(sheet, sheet.output(1))


def test_every_kind_is_tried() -> None:
    assert {*CASES} == {*WIDGETS}


@pytest.mark.parametrize("name", CASES)
def test_a_control_changes_the_figure(sheet: NotebookPage, view: LiveView, name: str) -> None:
    case = CASES[name]
    sheet.kernel.wait(f"view.values[{name!r}]", case.default)
    field = view.field(LABELS[name])
    expect(field).to_have_class(re.compile(f"wb-{name.replace('_', '-')}"))
    field.scroll_into_view_if_needed()
    with view.another_picture():
        case.act(field, sheet.page)
    view.wait_shown("gd.data[0].text[gd.data[0].y.indexOf(given[0])] === given[1]", [name, repr(case.value)])
    value = sheet.kernel.ask(f"view.values[{name!r}]")
    assert (value, type(value)) == (case.value, type(case.value))


def test_keys_in_a_dropdown_delete_no_cell(sheet: NotebookPage, view: LiveView) -> None:
    before = sheet.cells.count()
    view.field(LABELS["dropdown"]).locator("select").focus()
    with view.another_picture():
        sheet.page.keyboard.press("d")
        sheet.page.keyboard.press("d")
    assert sheet.cells.count() == before
    sheet.kernel.wait("view.values['dropdown']", "delta")


def test_every_control_tells_what_it_is_for(view: LiveView) -> None:
    for nothing in ("null", "undefined"):
        assert view.root.locator(f'.wb-field [title="{nothing}"]:visible').count() == 0


def test_all_was_proper(sheet: NotebookPage, view: LiveView) -> None:
    sheet.assert_proper()
