"""A dashboard whose plots fail before they were ever drawn, and whose words are long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, at, open_site

pytestmark = pytest.mark.long

WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


def config(script: str) -> dict[str, object]:
    plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
    return {"plan": plan, "transform": f"def transform(data, params):\n    {script}\n"}


def test_all_of_what_is_wrong_is_shown_and_the_picture_comes_when_it_is_fixed(site: Site) -> None:
    with httpx.Client(base_url=site.address, headers={"X-API-Key": site.key}, timeout=60) as client:
        project = client.get("/projects").json()["items"][0]["id"]
        boards = f"/projects/{project}/dashboards"
        link = "https://lab.example/" + "protocol/" * 40
        board = client.post(boards, json={"name": "Failing", "description": link}).json()["id"]
        plots = f"{boards}/{board}/plots"
        wrong = config("raise ValueError('It is ' + 'very ' * 60 + 'wrong')")
        plot = client.post(plots, json={"name": "Wrong", "config": wrong}).json()
        window = site.window(at("boards", project, board), width=400)
        tile = window.tile("Wrong")
        again = tile.get_by_role("button", name="Try again")
        again.scroll_into_view_if_needed()
        expect(again).to_be_in_viewport()
        assert window.page.evaluate(WIDER) <= 0
        whole, picture, trouble = (
            one.bounding_box() for one in (tile, tile.locator(".picture"), tile.locator(".trouble"))
        )
        assert whole is not None
        assert picture is not None
        assert trouble is not None
        assert picture["height"] < 1
        assert trouble["height"] > 0.6 * whole["height"]
        sound = config("return go.Figure(go.Bar(x=data['cells']['name'], y=data['cells'].index))")
        changed = client.patch(f"{plots}/{plot['id']}", json={"config": sound, "revision": plot["revision"]})
        assert changed.status_code == 200, changed.text
        again.click()
        window.drawn()
        expect(tile.locator(".trouble")).to_have_count(0)
        drawn = tile.locator(".picture .plot-container .main-svg").first.bounding_box()
        assert drawn is not None
        assert drawn["height"] > 0.6 * whole["height"]
        window.close()


def test_values_that_fail_go_along_into_the_editor_and_what_is_wrong_is_said_once(site: Site) -> None:
    script = "return go.Figure(go.Bar(y=[1 / (3 - params['k'])]))"
    params = {"k": {"kind": "view", "default": 1, "control": {"label": "K", "min": 0, "max": 9, "step": 1}}}
    with httpx.Client(base_url=site.address, headers={"X-API-Key": site.key}, timeout=60) as client:
        project = client.get("/projects").json()["items"][0]["id"]
        boards = f"/projects/{project}/dashboards"
        board = client.post(boards, json={"name": "Values that fail"}).json()["id"]
        recipe = {**config(script), "params": params}
        plot = client.post(f"{boards}/{board}/plots", json={"name": "Divided", "config": recipe}).json()["id"]
    address = at("boards", project, board)
    window = site.window(f'{address}?values={{"{plot}":{{"k":3}}}}')
    tile = window.tile("Divided")
    expect(tile.get_by_role("alert")).to_contain_text("ZeroDivisionError")
    tile.get_by_role("link", name="Open in the editor").click()
    draft = window.page.get_by_role("article", name="Draft")
    expect(draft.get_by_role("alert")).to_contain_text("ZeroDivisionError")
    draft.get_by_role("button", name="Back to the saved values").click()
    expect(draft.locator("[data-drawn]")).to_be_attached()
    window.go(f'{address}?values={{"{plot}":{{"gone":3}}}}')
    expect(tile.get_by_role("alert")).to_contain_text("The recipe has no param 'gone'")
    assert (tile.get_by_role("alert").text_content() or "").count("has no param") == 1
    window.close()


def test_the_page_of_a_plot_that_was_never_drawn_waits_for_nothing(site: Site) -> None:
    address = site.plot("Never drawn", "1 / 0")
    window = site.window(address)
    window.allow_error("422")
    expect(window.page.get_by_role("alert")).to_contain_text("ZeroDivisionError")
    for tab in ("Data", "Notes", "Log", "About"):
        window.page.get_by_role("tab", name=tab).click()
        expect(window.page.get_by_role("tabpanel")).to_have_text(
            "There is no figure yet: what is wrong is said above."
        )
    expect(window.page.locator(".ghost")).to_have_count(0)
    window.assert_proper()
    window.close()
