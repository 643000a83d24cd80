"""The web page as a person has it in front of them: a server on a store, a signed-in window, and all that it said."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock
from urllib.parse import quote

import httpx2 as httpx
import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Locator, Page, expect

from server import Settings, create_app
from support.notebook_page import LOOPBACK, NO_ADDRESS, PATIENCE, Overheard
from support.server_on_socket import listening
from workbench.records import Dashboard, Project
from workbench.store.scope import Scope
from workbench.store.store import Store
from workbench.transform.protected import shared

AXE = Path(__file__).parents[2] / "tools" / "vendor" / "node_modules" / "axe-core" / "axe.min.js"
VIOLATIONS = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""
SERIOUS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`)"""
DRAWN = """() => {
  const seen = [...document.querySelectorAll(".tile")].filter((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  });
  return seen.length && seen.every((one) => one.dataset.state === "failed" || one.querySelector("[data-drawn]"));
}"""


@dataclass
class Site:
    """A running server with the page, on a store that tests may change."""

    app: FastAPI
    address: str
    key: str
    organization: str
    browser: Browser
    folder: Path
    windows: list[Window] = field(default_factory=list)

    @property
    def store(self) -> Store:
        found: Store = self.app.state.workbench.store
        return found

    def key_of(self, email: str, **standing: str) -> str:
        """The key of a member; one who is not there yet joins with this role."""
        user, *_ = self.store.people.enrol(self.organization, email, **standing)
        return self.store.people.issue(self.organization, user.id).key

    def window(
        self,
        path: str = "/",
        *,
        key: str | None = "",
        width: int = 1400,
        height: int = 900,
        dark: bool = False,
        zone: str | None = None,
    ) -> Window:
        """A window with its own cookies, signed in unless ``key`` is None; ``zone`` is the time zone of its browser."""
        made = Window(self, path, self.key if key == "" else key, width, height, dark, zone)
        self.windows.append(made)
        return made

    def plot(self, name: str, trace: str, layout: str = "") -> str:
        """The address of a new plot: a trace and a layout as a script has them."""
        rows = self.store.rows
        project = rows.page(Project, Scope(self.organization, None)).items[0]
        board = rows.page(Dashboard, Scope(self.organization, project.id)).items[0]
        plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
        script = f"def transform(data, params):\n    return go.Figure({trace}, {layout or 'None'})\n"
        path = f"/projects/{project.id}/dashboards/{board.id}/plots"
        with httpx.Client(base_url=self.address, headers={"X-API-Key": self.key}, timeout=60) as client:
            made = client.post(path, json={"name": name, "config": {"plan": plan, "transform": script}})
        assert made.status_code == 200, made.text
        return at("boards", project.id, board.id, "plots", made.json()["id"])

    def close_windows(self) -> None:
        for window in [*self.windows]:
            window.close()


def axe() -> None:
    """Skips the test where axe is not installed."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: run `npm ci` in tools/vendor")


class Window:
    """A window of the browser on the page."""

    def __init__(
        self, site: Site, path: str, key: str | None, width: int, height: int, dark: bool, zone: str | None
    ) -> None:
        expect.set_options(timeout=PATIENCE)
        self.site = site
        self._context = site.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            timezone_id=zone,
        )
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.add_init_script(VIOLATIONS)
        self.heard = Overheard()
        self.heard.listen(self.page)
        self.wanted: list[str] = []
        self.page.goto(site.address + path)
        if key is not None:
            self.sign_in(key)

    def sign_in(self, key: str) -> None:
        self.page.get_by_label("Your key").fill(key)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("navigation", name="Main").wait_for()

    def go(self, path: str) -> None:
        self.page.goto(self.site.address + path)

    def close(self) -> None:
        self.site.windows.remove(self)
        self._context.close()

    def open_board(self, name: str) -> None:
        """Open a dashboard by its card, and wait until what is in sight is drawn."""
        card = self.page.get_by_role("article", name=name, exact=True)
        card.get_by_role("link", name=name, exact=True).click()
        self.drawn()

    def tile(self, name: str) -> Locator:
        """The plot of this name."""
        return self.page.get_by_role("article", name=name, exact=True)

    def drawn(self) -> None:
        """Wait until all plots in sight are drawn."""
        self.page.wait_for_function(DRAWN)

    def picture_number(self, tile: Locator) -> int:
        return int(tile.locator("[data-drawn]").get_attribute("data-drawn") or 0)

    def redrawn(self, tile: Locator, after: int) -> None:
        """Wait until a plot shows a newer picture than this."""
        self.page.wait_for_function(
            "([node, after]) => Number(node.querySelector('[data-drawn]')?.dataset.drawn ?? 0) > after",
            arg=[tile.element_handle(), after],
        )

    def allow_error(self, part: str) -> None:
        """An error that this test causes on purpose: a text of its line in the console."""
        self.wanted.append(part)

    def assert_proper(self) -> None:
        """Nothing was asked of another machine, nothing complained, and the policy was kept."""
        strangers = [
            url for url in self.heard.strangers if not any(host in url for host in (*LOOPBACK, *NO_ADDRESS))
        ]
        assert not strangers, strangers
        complaints = [one for one in self.heard.errors if not any(part in one for part in self.wanted)]
        assert not complaints, complaints
        violations = self.page.evaluate("() => window.__violations")
        assert not violations, violations
        buttons = self.page.locator(".modebar-btn")
        titles = [buttons.nth(n).get_attribute("data-title") or "" for n in range(buttons.count())]
        assert not [title for title in titles if re.search("share|cloud|chart studio", title, re.IGNORECASE)]

    def assert_accessible(self) -> None:
        """axe finds nothing serious."""
        self.page.evaluate(AXE.read_text("utf-8") + "\n() => 0")  # as a debugger does, beside the policy
        found = self.page.evaluate(SERIOUS)
        assert found == [], found


def at(*parts: str) -> str:
    """An address of the page from ids and names."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


@contextmanager
def open_site(
    source: Path, folder: Path, browser: Browser, *, embed_origins: tuple[str, ...] = ()
) -> Iterator[Site]:
    """A server on a copy of a store, and windows on its page. ``embed_origins`` may frame links."""
    with Store.open(source, create=False) as store:
        store.backup(folder / "lab.db")
    app = create_app(folder / "lab.db", Settings(readers=0, embed_origins=embed_origins))
    with patient_scripts(), listening(app) as (_, address):
        people = app.state.workbench.store.people
        rows = app.state.workbench.store.rows
        organization = rows.organizations()[0].id
        key = people.issue(organization, rows.user("local@localhost").id).key
        site = Site(app, address, key, organization, browser, folder)
        yield site
        site.close_windows()


@contextmanager
def patient_scripts() -> Iterator[None]:
    """Scripts may take a minute: beside other tests a figure has taken more than the eight seconds of users."""
    pool = shared()
    with mock.patch.object(pool, "limits", replace(pool.limits, seconds=60.0)):
        yield


def pictures_folder() -> Path | None:
    """Where pictures of the page go, for people to look at: $WORKBENCH_PICTURES, else nowhere."""
    chosen = os.environ.get("WORKBENCH_PICTURES")
    return None if chosen is None else Path(chosen)
