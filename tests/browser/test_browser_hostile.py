"""Figures of hostile scripts that may be shown, in a real page: nothing is fetched and nothing runs.

Each is looked at twice: in the page that an export writes, and in the same page without its policy, as a notebook has
none. What may not be shown is drawn too, so that it is known that a fetch would be noticed.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from workbench import export
from workbench.dataset import pack
from workbench.inert_page import inert_script
from workbench.plotly_files import plotly_source
from workbench.transform import inprocess
from workbench.transform.figure_check import Unsafe, checked

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

SCRIPTS = Path(__file__).parents[1] / "transform" / "hostile"
PAGE, PLOTLY = "http://page.example/", f"http://page.example/{export.PLOTLY_FILE}"
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
CANARY = "window.ran = 0; window.open = () => { window.ran = 1; };"
FETCHES = "style='background-image:url(http://a.example/b)'>"


def scripts() -> dict[str, str]:
    """The hostile scripts that ask for a page that does nothing."""
    found = {}
    for path in sorted(SCRIPTS.glob("*.py")):
        text = path.read_text("utf-8")
        told = json.loads(re.search(r"^# expect: (.*)$", text, re.MULTILINE).group(1))  # type: ignore[union-attr]
        if "page_inert" in told["checks"]:
            found[told["name"]] = text.replace("{{PORT}}", "9")
    return found


def figure(layout: dict[str, Any], *traces: dict[str, Any]) -> bytes:
    return orjson.dumps({"data": traces or [{"type": "scatter", "y": [1, 2]}], "layout": layout})


UNSAFE = {
    "style": figure({"title": {"text": f"<b {FETCHES}x</b>"}}),
    "affixes": figure({"yaxis": {"tickprefix": f"<b {FETCHES[:-3]}", "ticksuffix": ")'>x</b>"}}),
    "times": figure(
        {"xaxis": {"type": "date", "tickformat": f"<b sty%{FETCHES[3:]}%Y"}}, {"x": ["2024-01-01"], "y": [1]}
    ),
    "meta": figure({"title": {"text": "%{meta.a}%{meta.b}x"}, "meta": {"a": "<b st", "b": FETCHES[2:]}}),
    "odd space": figure({"title": {"text": f"<b {FETCHES.replace('=', chr(0xFEFF) + '=')}x"}}),
    "picture": figure({"images": [{"source": "http://a.example/b.png", "sizex": 1, "sizey": 1}]}),
}


class Shown:
    """One page of a figure: what it asked for, what it complained of, and whether a script ran."""

    def __init__(self, browser: Browser) -> None:
        self.page: Page = browser.new_page(viewport={"width": 800, "height": 600})
        self.asked: list[str] = []
        self.refused: list[str] = []
        self.source = plotly_source()
        self.html = ""
        self.page.add_init_script(CANARY)
        self.page.context.route("**/*", self._answer)
        self.page.on("console", lambda said: self.refused.append(said.text) if "Policy" in said.text else None)
        self.page.on("dialog", lambda dialog: (self.asked.append("a dialog"), dialog.dismiss()))

    def _answer(self, route: Route) -> None:
        address = route.request.url
        if address == PAGE:
            route.fulfill(body=self.html, content_type="text/html")
        elif address == PLOTLY:
            route.fulfill(body=self.source, content_type="text/javascript")
        else:
            self.asked.append(address)
            route.abort()

    def show(self, raw: bytes, *, policy: bool) -> None:
        self.asked.clear()
        self.refused.clear()
        # The script that keeps figures from fetching has tests of its own; here is what holds without it.
        made = export.html(raw, plotlyjs=export.PLOTLY_FILE).decode().replace(inert_script(), "", 1)
        self.html = made if policy else POLICY.sub("", made, count=1)
        assert (self.html == made) == policy
        self.page.goto(PAGE)
        self.page.locator("#figure .main-svg").first.wait_for(state="attached")
        self._touch()

    def _touch(self) -> None:
        """What a reader does: move over all of it, and click what is a link or has something to say."""
        for x in range(50, 800, 150):
            for y in (100, 300, 500):
                self.page.mouse.move(x, y)
        self.page.evaluate(
            "() => document.querySelectorAll('#figure a, #figure tspan, #figure text').forEach(one => {"
            " for (const kind of ['mouseover', 'click'])"
            "  one.dispatchEvent(new MouseEvent(kind, {bubbles: true, cancelable: true})) })"
        )
        self.page.wait_for_timeout(100)

    def assert_inert(self) -> None:
        assert self.asked == []
        assert self.refused == []
        assert self.page.url == PAGE
        assert self.page.evaluate("window.ran") == 0
        assert self.page.evaluate("window.pwned") is None
        links = self.page.evaluate(
            "() => [...document.querySelectorAll('#figure a')].map(a => a.getAttribute('xlink:href') || '')"
        )
        assert not [link for link in links if not re.match(r"(https?://|mailto:|$)", link)], links


@pytest.fixture(scope="module")
def shown(browser: Browser) -> Iterator[Shown]:
    made = Shown(browser)
    yield made
    made.page.close()


@pytest.mark.parametrize("name", scripts())
@pytest.mark.parametrize("policy", [True, False], ids=["export", "no policy"])
def test_a_figure_of_a_script_that_may_be_drawn_does_nothing(shown: Shown, name: str, policy: bool) -> None:
    """Also what the check refuses and a script may try: plotly drops it, whatever the check says."""
    figure = inprocess.draw(scripts()[name], pack({}), {}).figure
    with contextlib.suppress(Unsafe):
        figure = checked(figure)
    shown.show(figure, policy=policy)
    shown.assert_inert()


@pytest.mark.parametrize("name", UNSAFE)
def test_what_may_not_be_shown_would_fetch(shown: Shown, name: str) -> None:
    with pytest.raises(Unsafe):
        checked(UNSAFE[name])
    shown.show(UNSAFE[name], policy=False)
    assert any(address.startswith("http://a.example/") for address in shown.asked)


@pytest.mark.parametrize("name", UNSAFE)
def test_the_policy_of_an_export_stops_what_a_figure_would_fetch(shown: Shown, name: str) -> None:
    shown.show(UNSAFE[name], policy=True)
    assert shown.asked == []
    assert shown.refused != []
