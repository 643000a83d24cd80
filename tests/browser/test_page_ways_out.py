"""What leaves the page: paper, links for outsiders, frames of other sites, files that work without a server."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import nbformat
import pytest
from playwright.sync_api import Browser, expect
from support.notebook_page import PATIENCE, Overheard
from support.web_page import Site, open_site

import workbench as wb

READY = "() => document.body.dataset.ready"
LOOKED = "([id, place]) => document.getElementById(id)?.dataset.shown === place"


class Wiki(BaseHTTPRequestHandler):
    """Another site: a page with a frame of the address in its query."""

    def do_GET(self) -> None:
        body = f'<iframe src="{unquote(urlsplit(self.path).query)}" width="1200" height="800"></iframe>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def other_site() -> Iterator[str]:
    """The origin of a site of its own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Wiki) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def framer() -> Iterator[str]:
    """The site that may frame links."""
    with other_site() as origin:
        yield origin


@pytest.fixture(scope="module")
def site(
    demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser, framer: str
) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with open_site(demo_store, folder, browser, embed_origins=(framer,)) as site:
        yield site


@pytest.mark.long
def test_controls_of_an_exported_page_work_without_a_server(
    demo_store: Path, tmp_path: Path, browser: Browser
) -> None:
    out = tmp_path / "ageing.html"
    with wb.open(demo_store) as bench:
        bench.dashboards.get("Ageing").plot("Cycle life")
        bench.export("Cycle life", out, controls=True)
    context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    heard = Overheard()
    heard.listen(page)
    page.goto(out.as_uri())
    page.wait_for_function(READY)
    first = page.locator(".figure .legendtext").all_text_contents()
    page.get_by_label("Colour").select_option(label="temperature")
    page.wait_for_function(LOOKED, arg=["plot-0", "3"])
    assert page.locator(".figure .legendtext").all_text_contents() != first
    expect(page.locator(".figure .legendtext").last).to_contain_text("°C")
    page.get_by_label("Longest life first").select_option(label="off")
    page.wait_for_function(LOOKED, arg=["plot-0", "2"])
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert heard.errors == []
    assert [url for url in heard.strangers if not url.startswith("file:")] == []
    context.close()


NOTED = wb.Recipe(
    plan={"steps": {"cells": {"op": "list", "source": "instances"}}},
    params={"last": {"kind": "view", "default": 3, "control": {"options": [2, 3]}}},
    transform="""
from workbench import battery

def transform(data, params):
    figure = go.Figure(go.Scatter(x=[0, 1], y=[1, params["last"]]))
    figure.update_layout(template=battery.template(), margin_t=44, height=400)
    figure.add_annotation(
        text="12 of 13 cells; of the first capacity; extrapolated with its 90 % band; left<br>"
        "out: 1 of 1441 cycles, which are not complete",
        x=0, y=1, xref="paper", yref="paper", xanchor="left", yanchor="bottom", showarrow=False, font_size=11,
    )
    return figure
""",
)


@pytest.mark.long
@pytest.mark.parametrize("controls", [False, True])
def test_a_note_of_an_exported_page_is_whole_in_a_narrow_window(
    controls: bool, tmp_path: Path, browser: Browser
) -> None:
    out = tmp_path / "page.html"
    with wb.open(tmp_path / "lab.db") as bench:
        bench.export(NOTED, out, controls=controls)
    for width in (1200, 390):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(out.as_uri())
        note = page.locator(".annotation-text").first
        note.wait_for()
        lines = expect(note.locator("tspan.line"))
        if width == 1200:
            lines.to_have_count(2)
        else:
            lines.not_to_have_count(2)
        box = note.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= width
        page.close()


@pytest.mark.long
def test_a_figure_that_the_browser_cannot_draw_keeps_nothing_else_from_it(
    demo_store: Path, tmp_path: Path, browser: Browser
) -> None:
    out = tmp_path / "life.html"
    with wb.open(demo_store) as bench:
        bench.export("Cycle life", out, controls=True)
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(out.as_uri())
    page.wait_for_function(READY)
    page.evaluate(
        "() => { const react = Plotly.react; Plotly.react = () => { Plotly.react = react; throw new Error('no'); }; }"
    )
    page.get_by_label("Colour").select_option(label="temperature")
    expect(page.locator(".problem")).to_have_text("The browser cannot draw this figure: no")
    page.get_by_label("Longest life first").select_option(label="off")
    page.wait_for_function(LOOKED, arg=["plot-0", "2"])
    expect(page.locator(".problem")).to_have_count(0)
    context.close()


@pytest.mark.long
def test_five_plots_and_a_dashboard_work_in_their_files(
    demo_store: Path, tmp_path: Path, browser: Browser
) -> None:
    """Every choice of every control draws; the sizes are those that were said, or less."""
    plots = ("Fade by batch", "Cycle life", "Coulombic efficiency", "Degradation modes", "Open-circuit curves")
    files = {name: tmp_path / f"{n}.html" for n, name in enumerate(plots)}
    sizes = {}
    with wb.open(demo_store) as bench:
        for name, out in files.items():
            sizes[name] = bench.export_size(name)
            bench.export(name, out, controls=True)
        board = bench.dashboards.get("Ageing")
        files["Ageing"], sizes["Ageing"] = tmp_path / "board.html", board.export_size()
        board.export(files["Ageing"], controls=True)
    for name, out in files.items():
        assert out.stat().st_size <= 1.02 * sizes[name]["bytes"], name
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        heard = Overheard()
        heard.listen(page)
        page.goto(out.as_uri())
        page.wait_for_function(READY)
        turned = 0
        for section in page.locator("section").all():
            for field in section.locator("select, input[type=range]").all():
                choices = field.locator("option").count() or int(field.get_attribute("max") or 0) + 1
                for place in range(choices):
                    if field.evaluate("(node) => node.tagName") == "SELECT":
                        field.select_option(index=place)
                    else:
                        field.fill(str(place))
                    turned += 1
        assert turned >= 2, name
        page.wait_for_function(
            "() => ![...document.querySelectorAll('section')].some((one) => !one.dataset.shown)"
        )
        assert page.locator("[data-problem=yes]").count() == 0, name
        fetched = [url for url in heard.strangers if not url.startswith("file:")]
        assert (heard.errors, fetched) == ([], []), name
        page.close()


@pytest.mark.long
def test_live_views_of_a_converted_notebook_work_without_a_kernel(
    demo_store: Path, tmp_path: Path, browser: Browser
) -> None:
    """Each view is in a frame as high as its content, also below what is in sight, and asks nothing of anybody."""
    with wb.open(demo_store) as bench:
        board = bench.dashboards.get("Ageing")
        views = [
            {"name": name, "recipe": json.dumps(board.plot(name).recipe().config.dump()), "values": {}}
            for name in ("Cycle life", "Fade by batch")
        ]
    cells = []
    for shown in (views[:1], views):
        metadata = {"battery_workbench_view": {"views": shown}}
        output = nbformat.v4.new_output("display_data", {"text/html": ""}, metadata=metadata)
        cells.append(nbformat.v4.new_code_cell("bench.show(plot)", outputs=[output]))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "analysis.ipynb")
    words = ["--to", "workbench.bench.notebook_page.LivePage", f"--LivePage.store={demo_store}"]
    subprocess.run([sys.executable, "-m", "nbconvert", *words, str(tmp_path / "analysis.ipynb")], check=True)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    heard = Overheard()
    heard.listen(page)
    page.goto((tmp_path / "analysis.html").as_uri())
    for number, plots in ((0, 1), (1, 2)):
        frame = page.frame_locator("iframe").nth(number)
        frame.locator("[data-ready=yes]").wait_for()
        assert frame.locator("section").count() == plots
        inside = frame.locator("body").evaluate("(body) => body.getBoundingClientRect().height")
        expect(page.locator("iframe").nth(number)).to_have_css("height", f"{math.ceil(inside + 48)}px")
    frame = page.frame_locator("iframe").first
    first = frame.locator(".legendtext").all_text_contents()
    frame.get_by_label("Colour").select_option(label="temperature")
    expect(frame.locator(".legendtext").last).to_contain_text("°C")
    assert frame.locator(".legendtext").all_text_contents() != first
    assert heard.errors == []
    assert [url for url in heard.strangers if not url.startswith("file:")] == []
    page.close()


@pytest.mark.long
def test_a_dashboard_is_printed_whole(site: Site, tmp_path: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (poppler-utils)")
    window = site.window()
    window.open_board("Ageing")
    window.page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    window.page.get_by_role("button", name="Export").click()
    window.page.get_by_role("button", name="Print").click()
    window.page.wait_for_function("() => window.printed")
    assert window.page.locator('.tile:not([data-state="drawn"])').count() == 0
    window.page.pdf(path=tmp_path / "board.pdf", prefer_css_page_size=True)
    done = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "board.pdf"), "-"], capture_output=True, text=True, check=True
    )
    pages = done.stdout.rstrip("\f").split("\f")
    assert len(pages) == 2, "four plots on the first page with its head, two on the next"
    for word in ("Ageing", "Fade by batch", "Coulombic efficiency", "Cycle count"):
        assert word in pages[0]
    assert "Test calendar" in pages[1]
    assert "Controls" not in done.stdout
    window.assert_proper()
    window.close()


@pytest.mark.long
def test_a_link_shows_a_plot_to_an_outsider_until_it_is_revoked(site: Site, browser: Browser) -> None:
    window = site.window()
    window.open_board("Ageing")
    window.tile("Cycle life").get_by_role("link", name="Cycle life").click()
    window.drawn()
    window.page.get_by_role("button", name="Share").click()
    dialog = window.page.get_by_role("dialog", name="Share “Cycle life”")
    dialog.get_by_role("button", name="Make a link").click()
    link = dialog.get_by_role("textbox", name="The link").input_value()
    outside = site.window(link.removeprefix(site.address), key=None)
    outside.drawn()
    tile = outside.tile("Cycle life")
    tile.get_by_role("button", name="Controls of Cycle life").click()
    controls = outside.page.get_by_role("dialog", name="Controls of Cycle life")
    expect(controls.get_by_role("slider")).to_have_count(0)
    before = outside.picture_number(tile)
    controls.get_by_role("radio", name="temperature").check()
    outside.redrawn(tile, before)
    outside.assert_proper()
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog).to_contain_text("revoked")
    outside.allow_error("404")
    outside.page.reload()
    expect(outside.page.get_by_role("heading", name="This link shows nothing any more")).to_be_visible()
    window.assert_proper()
    outside.close()
    window.close()


@pytest.mark.long
def test_only_named_sites_frame_a_link(site: Site, browser: Browser, framer: str) -> None:
    import httpx2 as httpx

    from workbench.records import Dashboard, Project
    from workbench.store.scope import Scope

    rows = site.store.rows
    project = rows.page(Project, Scope(site.organization, None)).items[0]
    board = next(
        one for one in rows.page(Dashboard, Scope(site.organization, project.id)).items if one.name == "Models"
    )
    with httpx.Client(base_url=site.address, headers={"X-API-Key": site.key}, timeout=60) as client:
        made = client.post(f"/projects/{project.id}/shares", json={"dashboard_id": board.id, "embed": True})
    link = f"{site.address}/embed/{made.json()['token']}"
    context = browser.new_context()
    with other_site() as stranger:
        for origin in (framer, stranger):
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(f"{origin}/wiki?{quote(link, safe='')}")
            frame = page.frame_locator("iframe")
            if origin == framer:
                frame.locator("[data-drawn]").first.wait_for()
                expect(frame.get_by_role("navigation")).to_have_count(0)
            else:
                expect(frame.locator("body")).to_contain_text("refused to connect")
            page.close()
    context.close()


@pytest.mark.long
def test_a_server_that_is_away_is_said_and_what_is_shown_stays(site: Site) -> None:
    window = site.window()
    window.open_board("Ageing")
    window.allow_error("ERR_INTERNET_DISCONNECTED")
    window.page.context.set_offline(True)
    tile = window.tile("Cycle life")
    tile.get_by_role("button", name="More about Cycle life").click()
    tile.get_by_role("button", name="Read the data again").click()
    banner = window.page.get_by_text(re.compile("has not been reachable since"))
    expect(banner).to_be_visible()
    expect(tile.locator(".main-svg").first).to_be_visible()
    before = window.picture_number(tile)
    window.page.context.set_offline(False)
    expect(banner).to_have_count(0)
    window.redrawn(tile, before)
    window.assert_proper()
    window.close()


@pytest.mark.long
def test_a_page_that_is_opened_while_the_server_is_away_comes_when_it_is_back(site: Site) -> None:
    window = site.window()
    window.allow_error("ERR_INTERNET_DISCONNECTED")
    window.page.context.set_offline(True)
    window.page.get_by_role("link", name="Explore").click()
    banner = window.page.get_by_text(re.compile("has not been reachable since"))
    expect(banner).to_be_visible()
    expect(window.page.get_by_text("dynamically imported")).to_have_count(0)
    window.page.context.set_offline(False)
    heading = window.page.get_by_role("columnheader", name="Samples")
    expect(heading).to_be_visible()
    assert heading.evaluate("(one) => getComputedStyle(one).position") == "sticky"  # its style came too
    window.assert_proper()
    window.close()
