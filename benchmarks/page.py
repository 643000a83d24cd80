"""How soon the web page shows figures, beside the exported page of one: ``python benchmarks/page.py [--full]``.

Chromium opens each in a profile of its own, with nothing in its cache, in turns. The server runs as a team starts it,
in a process of its own; its answers are in the cache after a round that does not count.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import Browser, Page, sync_playwright

import workbench as wb
from server import serving
from workbench.demo import make_demo

if TYPE_CHECKING:
    from playwright.sync_api import StorageState

RESULT = Path(__file__).parent / "results" / "page.md"
BOARD, PLOT, CONTROL = "Ageing", "Cycle life", "Colour"
PLOTS = 6
MOST = {"first": 0.75, "six": 1.1, "control": 0.1}
PATIENCE_MS = 60_000
SIZE = {"width": 1400, "height": 2600}
"""Of the window: all plots of the dashboard are in sight."""
# The frame in which as many figures as this first have their traces, in ms since the page was asked for.
WATCH = """(wanted) => {
  const look = () => {
    const drawn = new Set();
    for (const one of document.querySelectorAll(".cartesianlayer .trace")) drawn.add(one.closest(".js-plotly-plot"));
    if (drawn.size >= wanted) requestAnimationFrame(() => { window.shown = performance.now(); });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
# From the change of a control to the frame after its picture.
CHANGE = """(place) => new Promise((done) => {
  const drawn = document.querySelector("[data-drawn]");
  const seen = new MutationObserver(() => {
    seen.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  seen.observe(drawn, { attributes: true, attributeFilter: ["data-drawn"] });
  const began = performance.now();
  place.click();
})"""


def opened(browser: Browser, address: str, figures: int, signed_in: StorageState | None) -> float:
    """Milliseconds until an address shows its figures, in a profile of its own."""
    context = browser.new_context(viewport=SIZE, storage_state=signed_in)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(f"({WATCH})({figures})")
    page.goto(address)
    took: float = page.wait_for_function("() => window.shown").json_value()
    context.close()
    return took


def changes(page: Page, rounds: int) -> list[float]:
    """Milliseconds of each change of a control between values that were shown before."""
    places = page.get_by_role("radiogroup", name=CONTROL).get_by_role("radio")
    found = []
    for number in range(rounds + 4):
        place = places.nth((number + 1) % 2)
        found.append(place.evaluate(CHANGE))
        page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
        page.wait_for_timeout(300)
    return found[4:]


def measured(
    browser: Browser, url: str, key: str, paths: dict[str, str], file: Path, rounds: int
) -> dict[str, float]:
    """Medians in ms."""
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    page.get_by_label("Your key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("navigation", name="Main").wait_for()
    signed_in = context.storage_state()
    work: dict[str, Callable[[], float]] = {
        "file": lambda: opened(browser, file.as_uri(), 1, None),
        "first": lambda: opened(browser, url + paths["plot"], 1, signed_in),
        "six": lambda: opened(browser, url + paths["board"], PLOTS, signed_in),
    }
    took: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds + 1):
        for name, one in work.items():
            took[name].append(one())
        print({name: round(spent[-1]) for name, spent in took.items()}, flush=True)
    page.goto(url + paths["plot"])
    page.locator("[data-drawn]").wait_for()
    found = {name: statistics.median(spent[1:]) for name, spent in took.items()}
    found["control"] = statistics.median(changes(page, 2 * rounds))
    context.close()
    return found


def page_of(found: dict[str, float]) -> tuple[list[str], list[str]]:
    """The lines of the page, and the gates that were missed."""
    words = {
        "first": "the first figure of a plot",
        "six": f"the {PLOTS} figures of a dashboard",
        "control": "a change of a control to a picture that is in the cache",
    }
    ratios = {name: found[name] / found["file"] for name in words}
    missed = [words[name] for name, ratio in ratios.items() if ratio > MOST[name]]
    lines = [
        "# The web page",
        "",
        "Headless Chromium, a new profile for each opening; medians of interleaved rounds, from the navigation to the",
        "frame with the traces. The unit is the opening of the exported `.html` of the same plot from a file. Server",
        "and browser share the processors. `python -m benchmarks page` makes this page.",
        "",
        "| until it is seen | beside the exported page of one figure | at most |",
        "|---|---|---|",
        *(f"| {words[name]} | {ratio:.2f} | {MOST[name]:g} |" for name, ratio in ratios.items()),
        "",
        *(f"- {'MISSED' if words[name] in missed else 'met'}: {words[name]}" for name in words),
        "",
    ]
    return lines, missed


def main(full: bool) -> int:
    """Run everything and write the page; 1 if a gate was missed."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("Chromium is not installed.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        store = make_demo(Path(name) / "demo").store
        file = Path(name) / "figure.html"
        with wb.open(store) as bench:
            board = bench.dashboards.get(BOARD)
            plot = board.plot(PLOT)
            bench.export(plot, file)
            at = f"/boards/{board.record.project_id}/{board.id}"
            paths = {"board": at, "plot": f"{at}/plots/{plot.id}"}
            work = bench.backend
            key = work.store.people.issue(work.organization.id, work.actor).key
        with serving(["--store", str(store)]) as (url, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            found = measured(browser, url, key, paths, file, 11 if full else 5)
            browser.close()
    lines, missed = page_of(found)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("\n".join(lines), "utf-8")
    print("\n".join(lines))
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="more rounds")
    sys.exit(main(parser.parse_args().full))
