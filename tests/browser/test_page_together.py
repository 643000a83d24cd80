"""Several people at one dashboard, and a slow network: nobody's work is lost, and what is shown is what is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, at, open_site

from workbench.records import Dashboard, Project
from workbench.store.scope import Scope

LOOK = "() => document.dispatchEvent(new Event('visibilitychange'))"
SLOW = """() => {
  const fetched = window.fetch;
  window.fetch = async (path, how) => {
    if (how?.method === "PATCH") await new Promise((go) => { window.letGo = go; });
    return fetched(path, how);
  };
}"""


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


@pytest.fixture(scope="module")
def other(site: Site) -> Iterator[httpx.Client]:
    """Somebody else, in the project of the demo."""
    project = site.store.rows.page(Project, Scope(site.organization, None)).items[0]
    base = f"{site.address}/projects/{project.id}"
    key = site.key_of("bob@lab.org", everywhere="project-contributor")
    with httpx.Client(base_url=base, headers={"X-API-Key": key}, timeout=60) as client:
        yield client


def board_of(site: Site, other: httpx.Client, name: str, plots: int) -> tuple[str, str, list[dict[str, Any]]]:
    """A new dashboard: its address on the page, its path in the interface, and its plots."""
    rows = site.store.rows
    project = rows.page(Project, Scope(site.organization, None)).items[0]
    ageing = next(
        one for one in rows.page(Dashboard, Scope(site.organization, project.id)).items if one.name == "Ageing"
    )
    config = other.get(f"/dashboards/{ageing.id}/plots").json()["items"][0]["config"]
    made = other.post("/dashboards", json={"name": name, "layout": []})
    assert made.status_code == 200, made.text
    path = f"/dashboards/{made.json()['id']}"
    saved = [
        other.post(f"{path}/plots", json={"name": f"{name} {n}", "config": config}).json() for n in range(plots)
    ]
    return at("boards", project.id, made.json()["id"]), path, saved


def test_what_is_typed_while_it_is_saved_stays(site: Site, other: httpx.Client) -> None:
    address, path, (plot,) = board_of(site, other, "Typed", 1)
    window = site.window(f"{address}/plots/{plot['id']}/edit")
    page = window.page
    expect(page.get_by_text("No problems")).to_be_visible()
    page.evaluate(SLOW)
    text = page.locator(".cm-content")
    text.click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("# before\n")
    expect(page.get_by_text("No problems · not saved")).to_be_visible()
    page.keyboard.press("Control+s")
    page.wait_for_function("() => window.letGo")
    page.keyboard.type("# meanwhile\n")
    page.evaluate("() => window.letGo()")
    expect(page.get_by_text("Saved as revision 2.")).to_be_visible()
    expect(text).to_contain_text("# meanwhile")
    expect(page.get_by_text("No problems · not saved")).to_be_visible()
    saved = other.get(f"{path}/plots/{plot['id']}").json()["config"]["transform"]
    assert "# before" in saved
    assert "# meanwhile" not in saved
    page.evaluate("() => { window.letGo = null; }")
    page.get_by_role("button", name="Save as revision 3").click()
    page.wait_for_function("() => window.letGo")
    page.evaluate("() => window.letGo()")
    expect(page.get_by_text("Saved as revision 3.")).to_be_visible()
    assert "# meanwhile" in other.get(f"{path}/plots/{plot['id']}").json()["config"]["transform"]
    window.assert_proper()
    window.close()


def test_a_plot_that_somebody_else_changed_is_new_once(site: Site, other: httpx.Client) -> None:
    address, path, (first, second) = board_of(site, other, "Changed", 2)
    window = site.window(address)
    window.allow_error("404")
    window.drawn()
    config = {**first["config"], "transform": "# theirs\n" + first["config"]["transform"]}
    changed = {"revision": 1, "config": config, "name": "By bob"}
    assert other.patch(f"{path}/plots/{first['id']}", json=changed).status_code == 200
    page = window.page
    page.evaluate(LOOK)
    page.get_by_role("button", name="New data").click()
    expect(window.tile("By bob")).to_be_visible()
    window.drawn()
    with page.expect_response(lambda answer: answer.url.endswith("/figures/current")) as looked:
        page.evaluate(LOOK)
    assert looked.value.json() == {"stale": []}
    expect(page.get_by_role("button", name="New data")).to_have_count(0)
    assert other.delete(f"{path}/plots/{second['id']}").status_code == 204
    page.evaluate(LOOK)
    page.get_by_role("button", name="New data").click()
    expect(window.tile("Changed 1")).to_have_count(0)
    expect(window.tile("By bob")).to_be_visible()
    window.assert_proper()
    window.close()


def test_the_page_of_a_plot_names_the_revision_that_it_shows(site: Site, other: httpx.Client) -> None:
    address, path, (plot,) = board_of(site, other, "Revised", 1)
    window = site.window(f"{address}/plots/{plot['id']}")
    window.drawn()
    config = {**plot["config"], "transform": "# theirs\n" + plot["config"]["transform"]}
    changed = {"revision": 1, "config": config}
    assert other.patch(f"{path}/plots/{plot['id']}", json=changed).status_code == 200
    window.page.get_by_role("button", name="Read again").click()
    expect(window.page.get_by_text("Revision 2, changed just now by bob")).to_be_visible()
    window.assert_proper()
    window.close()


def test_an_arrangement_is_saved_though_others_changed_the_dashboard(site: Site, other: httpx.Client) -> None:
    address, path, (first, gone, third) = board_of(site, other, "Arranged", 3)
    window = site.window(address)
    window.drawn()
    page = window.page
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("button", name="Arrange", exact=True).click()
    page.get_by_role("button", name="Move Arranged 0").focus()
    page.keyboard.press("ArrowRight")
    assert other.delete(f"{path}/plots/{gone['id']}").status_code == 204
    theirs = [
        {"plot_id": one["id"], "x": 0, "y": 10 * n, "w": 12, "h": 10} for n, one in enumerate((third, first))
    ]
    assert other.patch(path, json={"layout": theirs}).status_code == 200
    asked: list[str] = []

    def save(accept: bool) -> None:
        page.once("dialog", lambda one: (asked.append(one.message), one.accept() if accept else one.dismiss()))
        page.get_by_role("button", name="Save").click()

    save(accept=False)
    page.wait_for_timeout(500)
    assert other.get(path).json()["layout"] == theirs
    save(accept=True)
    expect(page.get_by_text("The arrangement is saved.")).to_be_visible()
    assert ["somebody else has arranged" in one.lower() for one in asked] == [True, True]
    assert [one["plot_id"] for one in other.get(path).json()["layout"]] == [first["id"], third["id"]]
    window.assert_proper()
    window.close()


def test_a_new_name_keeps_the_description_of_somebody_else(site: Site, other: httpx.Client) -> None:
    address, path, _ = board_of(site, other, "Named", 0)
    window = site.window(address)
    page = window.page
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("button", name="Name and description").click()
    assert other.patch(path, json={"description": "theirs"}).status_code == 200
    page.get_by_label("Name", exact=True).fill("Named by me")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Named by me")).to_be_visible()
    found = other.get(path).json()
    assert (found["name"], found["description"]) == ("Named by me", "theirs")
    window.assert_proper()
    window.close()


def test_who_signs_in_for_somebody_else_sees_their_own_page(site: Site) -> None:
    issued = site.key_of("viewer@lab.org", everywhere="project-viewer")
    window = site.window(key=issued)
    window.allow_error("401")
    window.open_board("Models")
    page = window.page
    expect(page.get_by_role("link", name="Bring in")).to_have_count(0)
    page.context.clear_cookies()
    page.get_by_role("link", name="Boards").first.click()
    dialog = page.get_by_role("dialog", name="Your session is over")
    dialog.get_by_label("Your key").fill(site.key)
    dialog.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Bring in")).to_be_visible()
    expect(page.get_by_role("article", name="Ageing", exact=True)).to_be_visible()
    window.assert_proper()
    window.close()


def test_what_was_cancelled_while_the_server_was_away_is_not_made_later(site: Site, other: httpx.Client) -> None:
    window = site.window()
    page = window.page
    for away in ("ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_CHANGED"):
        window.allow_error(away)
    page.get_by_role("button", name="New dashboard").first.click()
    page.get_by_label("Name", exact=True).fill("Made while away")
    page.context.set_offline(True)
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("The server cannot be reached. Nothing was changed.")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    page.context.set_offline(False)
    page.get_by_role("link", name="Explore").click()
    expect(page.get_by_role("heading", name="Explore")).to_be_visible()
    page.wait_for_timeout(4000)
    assert page.url.endswith("/explore")
    names = [one["name"] for one in other.get("/dashboards", params={"limit": 100}).json()["items"]]
    assert "Made while away" not in names
    window.assert_proper()
    window.close()
