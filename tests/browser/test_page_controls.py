"""Every kind of control on the page: it is seen, and its value is in the address and in the figure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, Locator, expect
from support.web_page import Site, Window, open_site

from workbench.recipe.controls import WIDGETS
from workbench.records import Dashboard, Project
from workbench.store.scope import Scope

GREEK = ["alpha", "beta", "gamma", "delta", "epsilon"]
MANY = [f"cell {n:02d}" for n in range(60)]
SCRIPT = """def transform(data, params):
    names = sorted(params)
    words = [repr(params[name]) for name in names]
    return go.Figure(go.Bar(y=names, x=[len(word) for word in words], text=words, orientation="h"))
"""
CHOSEN = """([name, value]) => {
  const all = JSON.parse(new URLSearchParams(location.search).get("values") ?? "{}");
  return JSON.stringify(all[name]) === value;
}"""
SHOWN = """(words) => {
  const bar = document.querySelector(".wb-figure")?.data?.[0];
  return bar && Object.entries(words).every(([name, word]) => bar.text[bar.y.indexOf(name)] === word);
}"""


class Case(NamedTuple):
    """A param, what a person does with its control, and the value that it has then."""

    default: Any
    control: dict[str, Any]
    act: Callable[[Locator], None]
    value: Any


def typed(text: str, *, end: str = "Enter", place: str = "input, textarea") -> Callable[[Locator], None]:
    def act(field: Locator) -> None:
        box = field.locator(place).first
        box.fill(text)
        box.press(end)

    return act


def pressed(name: str, key: str) -> Callable[[Locator], None]:
    return lambda field: field.get_by_role("slider", name=name).press(key)


def only_filtered(field: Locator) -> None:
    field.get_by_role("button", name="None").click()
    expect(field.get_by_role("checkbox", checked=True)).to_have_count(0)
    field.get_by_role("searchbox").fill("cell 1")
    expect(field.get_by_role("checkbox")).to_have_count(10)
    field.get_by_role("button", name="All shown").click()


def given_number(field: Locator) -> None:
    field.get_by_role("checkbox").uncheck()
    box = field.get_by_role("textbox")
    expect(box).to_be_enabled()
    box.fill("25")
    box.press("Enter")


CASES: dict[str, Case] = {
    "toggle_buttons": Case(
        "lines",
        {"options": ["lines", "dots"]},
        lambda field: field.get_by_role("radio", name="dots").check(),
        "dots",
    ),
    "dropdown": Case(
        "alpha",
        {"options": GREEK},
        lambda field: field.locator("select").select_option(label="beta") and None,
        "beta",
    ),
    "combobox": Case(MANY[0], {"options": MANY}, typed("cell 41"), "cell 41"),
    "toggle_multiple": Case(
        ["alpha", "beta"],
        {"options": GREEK},
        lambda field: field.get_by_role("checkbox", name="alpha").uncheck(),
        ["beta"],
    ),
    "select_multiple": Case(
        ["alpha"],
        {"options": [*GREEK, "zeta", "eta"]},
        lambda field: field.get_by_role("checkbox", name="gamma").check(),
        ["alpha", "gamma"],
    ),
    "filtered_select_multiple": Case(MANY[:3], {"options": MANY[:30]}, only_filtered, MANY[10:20]),
    "checkbox": Case(True, {}, lambda field: field.get_by_role("switch").uncheck(), False),
    "int_slider": Case(3, {"min": 0, "max": 10}, pressed("Int slider", "ArrowRight"), 4),
    "float_slider": Case(0.25, {"min": 0.0, "max": 1.0, "step": 0.05}, typed("0.8", place="input.number"), 0.8),
    "bounded_int": Case(5, {"min": 0, "max": 100_000}, typed("4321"), 4321),
    "bounded_float": Case(0.5, {"min": 0.0, "max": 1.0, "step": 0.0001}, typed("0.1234"), 0.1234),
    "int": Case(7, {}, typed("-12"), -12),
    "float": Case(1.5, {}, typed("2.75"), 2.75),
    "int_range_slider": Case([2, 8], {"min": 0, "max": 10}, pressed("Int range slider, to", "ArrowLeft"), [2, 7]),
    "float_range_slider": Case(
        [0.2, 0.8],
        {"min": 0.0, "max": 1.0, "step": 0.1},
        pressed("Float range slider, from", "ArrowRight"),
        [0.3, 0.8],
    ),
    "optional_number": Case(None, {"min": 1, "max": 1000, "step": 1}, given_number, 25),
    "date": Case("2026-03-01", {}, lambda field: field.locator("input").fill("2025-04-15"), "2025-04-15"),
    "datetime": Case(
        "2026-03-01T08:30:00",
        {},
        lambda field: field.locator("input").fill("2025-04-15T13:45:00"),
        "2025-04-15T13:45:00",
    ),
    "text": Case("a word", {}, typed("another word"), "another word"),
    "textarea": Case("two\nlines", {}, typed("one line", end="Tab"), "one line"),
    "json": Case({"a": 1}, {}, typed('{"a": [1, 2.5]}', end="Tab"), {"a": [1, 2.5]}),
}


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


def plot_with_all(site: Site) -> str:
    """The address of a plot that has a param for every kind of control."""
    params = {
        name: {
            "kind": "view",
            "default": case.default,
            "control": {"label": name.replace("_", " ").capitalize(), **case.control},
        }
        for name, case in CASES.items()
    }
    plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
    rows = site.store.rows
    project = rows.page(Project, Scope(site.organization, None)).items[0]
    board = rows.page(Dashboard, Scope(site.organization, project.id)).items[0]
    at = f"/projects/{project.id}/dashboards/{board.id}/plots"
    with httpx.Client(base_url=site.address, headers={"X-API-Key": site.key}, timeout=60) as client:
        config = {"plan": plan, "transform": SCRIPT, "params": params}
        made = client.post(at, json={"name": "All controls", "config": config})
    assert made.status_code == 200, made.text
    return f"/boards/{project.id}/{board.id}/plots/{made.json()['id']}"


def test_every_kind_is_tried() -> None:
    assert {*CASES} == {*WIDGETS}


def test_every_control_is_seen_and_changes_the_address_and_the_figure(site: Site) -> None:
    window: Window = site.window(plot_with_all(site))
    window.drawn()
    for name, case in CASES.items():
        field = window.page.locator(f'.control[data-param="{name}"]')
        expect(field).to_have_attribute("data-widget", name)
        expect(field.locator("input, select, textarea").first).to_be_visible()
        case.act(field)
        window.page.wait_for_function(CHOSEN, arg=[name, json.dumps(case.value, separators=(",", ":"))])
    window.page.wait_for_function(SHOWN, arg={name: repr(case.value) for name, case in CASES.items()})
    window.page.get_by_role("button", name="Back to the saved values").click()
    window.page.wait_for_function(SHOWN, arg={name: repr(case.default) for name, case in CASES.items()})
    window.assert_proper()
    window.close()


def test_a_control_shows_what_is_drawn_where_its_choice_is_gone(site: Site) -> None:
    """What can be chosen of one param follows from another: the server draws the first where a choice is gone."""
    steps = {
        "cells": {"op": "list", "source": "instances", "fields": ["id", "name"]},
        "cell": {"op": "list", "source": "instances", "fields": ["id"], "where": {"name": "$cell"}},
        "tests": {
            "op": "list",
            "source": "measurements",
            "fields": ["name"],
            "where": {"instanceIds": {"from": "cell", "column": "id"}},
        },
    }
    params = {
        name: {"kind": "data", "default": default, "control": {"optionsFrom": {"step": step, "value": "name"}}}
        for name, default, step in (("cell", "M50-A-01", "cells"), ("test", "M50-A-01_RPT0", "tests"))
    }
    config = {"plan": {"steps": steps}, "transform": SCRIPT, "params": params}
    _, _, project, board, *_ = site.plot("beside it", "go.Scatter()").split("/")
    with httpx.Client(base_url=site.address, headers={"X-API-Key": site.key}, timeout=60) as client:
        at = f"/projects/{project}/dashboards/{board}/plots"
        made = client.post(at, json={"name": "One follows from another", "config": config})
    assert made.status_code == 200, made.text
    window = site.window(f"/boards/{project}/{board}/plots/{made.json()['id']}")
    window.drawn()
    test = window.page.locator('.control[data-param="test"] select')
    test.select_option(label="M50-A-01_RPT1")
    window.page.wait_for_function(SHOWN, arg={"test": "'M50-A-01_RPT1'"})
    window.page.locator('.control[data-param="cell"] select').select_option(label="M50-A-02")
    window.page.wait_for_function(SHOWN, arg={"test": "'M50-A-02_RPT0'"})
    chosen = "select => select.selectedOptions[0].label"
    assert test.evaluate(chosen) == "M50-A-02_RPT0"
    window.page.go_back()
    window.page.wait_for_function(SHOWN, arg={"test": "'M50-A-01_RPT1'"})
    assert test.evaluate(chosen) == "M50-A-01_RPT1"
    window.assert_proper()
    window.close()


def test_a_shared_choice_goes_to_plots_that_are_not_drawn_yet_and_back_undoes_it(site: Site) -> None:
    plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
    _, _, project, *_ = site.plot("of the project", "go.Scatter()").split("/")
    with httpx.Client(
        base_url=f"{site.address}/projects/{project}", headers={"X-API-Key": site.key}, timeout=60
    ) as client:
        board = client.post("/dashboards", json={"name": "Letters", "layout": []}).json()["id"]
        for n in range(14):
            default: Any = ["alpha"] if n == 12 else "alpha"
            control = {"options": GREEK, "label": "Letter"}
            params = {"letter": {"kind": "view", "default": default, "control": control}}
            config = {"plan": plan, "transform": SCRIPT, "params": params}
            made = client.post(f"/dashboards/{board}/plots", json={"name": f"Plot {n}", "config": config})
            assert made.status_code == 200, made.text
    window = site.window(f"/boards/{project}/{board}")
    window.drawn()
    last = window.page.locator(".tile").last
    expect(last).to_have_attribute("data-state", "waiting")
    window.page.get_by_role("button", name="Shared").click()
    shared = window.page.get_by_role("dialog", name="Shared controls")
    expect(shared).to_contain_text("and 4 more plots")
    shared.get_by_role("combobox", name="Letter").select_option(label="gamma")
    window.page.wait_for_function(SHOWN, arg={"letter": "'gamma'"})
    window.page.keyboard.press("Escape")
    assert window.page.url.count("gamma") == 13  # not where the param is a list
    expect(last).to_have_attribute("data-state", "waiting")
    last.scroll_into_view_if_needed()
    word = "one => one.querySelector('.wb-figure')?.data?.[0]?.text[0] ?? ''"
    expect(last.locator("[data-drawn]")).to_be_visible()
    assert last.evaluate(word) == "'gamma'"
    window.page.go_back()
    window.page.wait_for_url(lambda url: "values" not in url)
    window.assert_proper()
    window.close()
