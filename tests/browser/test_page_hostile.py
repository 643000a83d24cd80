"""Hostile names and texts everywhere the page shows them: nothing runs, nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, open_site

from workbench.records import Dashboard, Measurement, Plot, Project
from workbench.store.scope import Scope

BAD = '"><img src=x onerror=window.ran=1><svg onload=window.ran=1>\u202ejavascript:window.ran=1'
PLAN = {"steps": {"t": {"op": "list", "source": "measurements", "fields": ["id"], "limit": 1}}}
SCRIPT = """def transform(data, params):
    print("<img src=x onerror=window.ran=1>")
    fig = go.Figure(go.Scatter(x=[1, 2], y=[1, 2], name="<a href='https://evil.example/x'>name</a>"))
    fig.update_layout(title="<b>t</b> javascript:window.ran=1")
    return fig
"""

LINK = """def transform(data, params):
    fig = go.Figure(go.Scatter(x=[1, 2], y=[1, 2]))
    fig.update_layout(title="<a href='https://evil.example/in'>leave</a>")
    return fig
"""


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


def test_no_name_note_tag_or_figure_runs_or_fetches(site: Site) -> None:
    headers = {"X-API-Key": site.key}
    rows = site.store.rows
    project = rows.page(Project, Scope(site.organization, None)).items[0]
    scope = Scope(site.organization, project.id)
    test = rows.page(Measurement, scope).items[0]
    board = rows.page(Dashboard, scope).items[0]
    plot = next(one for one in rows.page(Plot, scope).items if one.dashboard_id == board.id)
    with httpx.Client(base_url=site.address, headers=headers, timeout=60) as client:
        at = f"/projects/{project.id}/dashboards/{board.id}"
        param = {
            "kind": "view",
            "default": "a",
            "control": {"label": BAD, "description": BAD, "options": ["a", BAD]},
        }
        config = {"plan": PLAN, "transform": SCRIPT, "params": {"p": param}}
        answers = [
            client.patch(f"/cell_measurements/{test.id}", json={"name": BAD, "notes": BAD, "tags": [BAD[:40]]}),
            client.patch(at, json={"name": BAD, "description": BAD + "x" * 2000}),
            client.patch(f"{at}/plots/{plot.id}", json={"revision": 1, "name": BAD, "config": config}),
        ]
        assert [one.status_code for one in answers] == [200, 200, 200], [one.text for one in answers]
    window = site.window()
    page = window.page
    window.go(f"/boards/{project.id}/{board.id}/plots/{plot.id}")
    window.drawn()
    page.get_by_role("tab", name="Log").click()
    expect(page.get_by_role("tabpanel", name="Log")).to_contain_text("<img src=x")
    for path in ("/", f"/boards/{project.id}/{board.id}", "/explore", f"/explore/tests/{test.id}"):
        window.go(path)
        expect(page.get_by_text("<img src=x onerror=window.ran=1>").first).to_be_visible()
    window.go(f"/boards/{project.id}/{board.id}/plots/{plot.id}/edit")
    expect(page.get_by_text("No problems")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search everything").fill("img src")
    page.locator("#found [role=option]").first.wait_for()
    assert page.evaluate("() => window.ran") is None
    window.assert_proper()
    window.close()


@pytest.mark.long
def test_a_link_of_a_figure_says_where_it_leads_and_does_not_take_the_page_away(site: Site) -> None:
    rows = site.store.rows
    project = rows.page(Project, Scope(site.organization, None)).items[0]
    board = rows.page(Dashboard, Scope(site.organization, project.id)).items[0]
    config = {
        "plan": PLAN,
        "transform": LINK,
        "params": {},
    }
    with httpx.Client(base_url=site.address, headers={"X-API-Key": site.key}, timeout=60) as client:
        made = client.post(
            f"/projects/{project.id}/dashboards/{board.id}/plots", json={"name": "Leads away", "config": config}
        ).json()
    window = site.window(f"/boards/{project.id}/{board.id}/plots/{made['id']}")
    window.drawn()
    before = window.page.url
    window.page.locator(".wb-figure a", has_text="leave").dispatch_event("click")
    dialog = window.page.get_by_role("dialog", name="Leave this page?")
    expect(dialog).to_contain_text("evil.example")
    dialog.get_by_role("button", name="Stay").click()
    assert window.page.url == before
    window.assert_proper()
    window.close()
