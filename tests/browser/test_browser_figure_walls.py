"""Hostile texts in every text attribute, drawn in a real browser before a server that hears every fetch.

What passes the check is drawn where there is no other wall; what does not pass it is drawn behind each other wall
alone. That the server hears fetches is proven by figures that fetch where all walls are off.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, get_args

import orjson
import pytest
from support.hostile_texts import PAYLOADS, figure_of, text_attributes
from support.needs import chromium

from workbench import export
from workbench.errors import ExportUnavailable
from workbench.inert_page import POLICY_TAG, InertPage, browser_without_network, inert_script
from workbench.notebook.plot_view import PlotView, packed_library
from workbench.plotly_files import Name, plotly_source
from workbench.transform.figure_check import Unsafe, checked

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PACKED = 200
"""Attributes in a figure."""
LONGEST_MS = 15_000
"""Time for a figure that other ones need half a second to two seconds for."""
RENEWED = 25
"""Figures that a window of the browser draws: its process keeps memory of each, 2 GB after some hundred."""
LEAST = 6
"""Attributes in a figure that plotly cannot draw and that is not drawn in halves any more."""
EVERY_DAY = (19, 32)
"""Payloads of the everyday suite: a whole tag and a beginning."""
VIEW = """<!DOCTYPE html><meta charset="utf-8"><body><div id="view" style="width:800px"></div><script type="module">
import view from "/view.js";
const fetched = async (name) => (await fetch(`/${name}`)).arrayBuffer();
const [shown, kept, buffer] = await Promise.all(["shown", "kept", "buffer"].map(fetched));
const heard = {};
const values = { spec: new TextDecoder().decode(shown), kept: new DataView(kept), buffer: new DataView(buffer),
  status: {}, acts: [], height: 0, still: "" };
const model = {
  get: (name) => values[name], on: (event, call) => { (heard[event] ??= []).push(call); }, off: () => {},
  send: async ({ kind, name }) => {
    if (kind !== "plotly") return;
    const library = new DataView(await fetched(name));
    for (const call of heard["msg:custom"]) call({ kind, name }, [library]);
  },
};
view.render({ model, el: document.getElementById("view") });
</script>"""
TOUCH = """async (kinds) => {
  const gd = document.querySelector(".js-plotly-plot");
  const plotly = globalThis.Plotly;
  for (let n = 0; plotly && n < (gd?.data?.length ?? 0); n++) {
    try { plotly.Fx.hover(gd, [{ curveNumber: n, pointNumber: 0 }]); } catch { /* it has no hover */ }
  }
  const texts = document.querySelectorAll("#figure text, #figure a, .slice, .wb-figure text, .wb-figure a");
  for (const one of [...texts].slice(0, 300)) {
    for (const kind of kinds) {
      one.dispatchEvent(new MouseEvent(kind, { bubbles: true, cancelable: true }));
    }
  }
  await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 60)));
}"""
CANARY = """window.ran = 0; window.open = () => { window.ran = 1; };
for (const kind of ["error", "unhandledrejection"]) {
  addEventListener(kind, () => { document.documentElement.dataset.failed = "yes"; });
}
"""
LINKS = """() => [...document.querySelectorAll("#figure a, .wb-figure a")].filter(
  (a) => a.getAttribute("xlink:href") || a.getAttribute("href") || a.href?.baseVal).map(
  (a) => [a.href.baseVal, a.getAttribute("target"), a.getAttribute("rel"), a.getAttribute("onclick")])"""


class Listener:
    """A server of pages on this machine. ``heard`` are the paths that no page of the test asks for."""

    def __init__(self) -> None:
        listener = self
        self.pages: dict[str, tuple[bytes, str]] = {}
        self.heard: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body, kind = listener.pages.get(self.path, (b"", ""))
                if not kind and self.path != "/favicon.ico":
                    listener.heard.append(self.path)
                self.send_response(200 if kind else 404)
                self.send_header("content-type", kind or "text/plain")
                self.send_header("cache-control", "no-store")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def put(self, path: str, body: bytes | str, kind: str = "application/octet-stream") -> None:
        self.pages[path] = (body.encode() if isinstance(body, str) else body, kind)


class Shown:
    """A page that draws figures behind a chosen wall."""

    def __init__(self, browser: Browser, listener: Listener) -> None:
        self.listener = listener
        self.browser = browser
        self.drawn = 0
        self.page: Page
        self.open()
        listener.put("/plotly.min.js", plotly_source(), "text/javascript")
        listener.put("/view.js", str(PlotView._esm), "text/javascript")
        for name in get_args(Name):
            listener.put(f"/{name}", packed_library(name))
        listener.put("/view", VIEW, "text/html; charset=utf-8")

    def open(self) -> None:
        self.page = self.browser.new_page(viewport={"width": 900, "height": 700})
        self.page.set_default_timeout(LONGEST_MS)
        self.page.add_init_script(CANARY)

    def show(self, figure: bytes, wall: str) -> list[str]:
        """Draw a figure behind ``wall`` (policy, script, view, none); returns what it fetched."""
        self.listener.heard.clear()
        self.drawn += 1
        if self.drawn % RENEWED == 0:
            self.page.close()
            self.open()
        if wall == "view":
            prepared = PlotView().prepare(figure, "")
            self.listener.put("/shown", prepared.spec)
            self.listener.put("/kept", prepared.kept.buffer)
            self.listener.put("/buffer", prepared.buffer)
            path = "/view"
        else:
            made = export.html(figure, plotlyjs="plotly.min.js").decode()
            if wall != "policy":
                assert POLICY_TAG in made
                made = made.replace(POLICY_TAG, "", 1)
            if wall != "script":
                assert inert_script() in made
                made = made.replace(inert_script(), "", 1)
            self.listener.put("/page", made, "text/html; charset=utf-8")
            path = "/page"
        self.page.goto(self.listener.address + path)
        drawn = (
            ".wb-figure .main-svg, .wb-message, [data-failed]"
            if wall == "view"
            else "#figure .main-svg, [data-failed]"
        )
        self.page.locator(drawn).first.wait_for(state="attached")
        # A policy stops no link that somebody clicks. The scripts do: they let links open in a new tab alone.
        self.page.evaluate(TOUCH, ["mouseover"] if wall == "policy" else ["mouseover", "click"])
        assert self.page.url == self.listener.address + path
        return list(self.listener.heard)

    def drew(self) -> bool:
        return bool(self.page.locator(".main-svg").count())

    def ran(self) -> bool:
        return bool(self.page.evaluate("window.ran"))


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def shown(browser: Browser, listener: Listener) -> Iterator[Shown]:
    made = Shown(browser, listener)
    yield made
    made.page.close()


def fitting(payload: int, address: str, attributes: Sequence[str]) -> tuple[list[str], list[str]]:
    """The attributes where the check lets a payload in, and those where it does not."""
    passing, refused = [], []
    for attribute in attributes:
        try:
            checked(figure_of([attribute], payload, address))
        except Unsafe:
            refused.append(attribute)
        else:
            passing.append(attribute)
    return passing, refused


UNDRAWN: set[str] = set()
"""Attributes that kept plotly from drawing. Figures of them alone are drawn last, so that each keeps few others."""

ENDLESS: set[tuple[int, frozenset[str]]] = set()
"""Payloads and attributes of figures that keep the browser busy for longer than that. Behind the other walls only
their halves are drawn."""


def packed(attributes: Sequence[str]) -> Iterator[Sequence[str]]:
    """The attributes in figures of some 200; those that are known to keep plotly from drawing in small ones."""
    together = [one for one in attributes if one not in UNDRAWN]
    apart = [one for one in attributes if one in UNDRAWN]
    for chosen, size in ((together, PACKED), (apart, LEAST)):
        for start in range(0, len(chosen), size):
            yield chosen[start : start + size]


def assert_inert(shown: Shown, payload: int, attributes: Sequence[str], wall: str) -> None:
    """Draw figures with a payload in the attributes; those that plotly cannot draw are drawn in halves.

    So are those of attributes that pass the check one by one and not together. A browser that is busy without end
    with a small figure has fetched nothing either: that it is busy is not this test's matter.
    """
    from playwright.sync_api import TimeoutError as TooLong

    figures = list(packed(attributes))
    while figures:
        part = figures.pop(0)
        raw = figure_of(part, payload, f"{shown.listener.address}/stolen")
        drew = passed = False
        if wall == "none":
            with contextlib.suppress(Unsafe):
                raw, passed = checked(raw), True
        if (payload, frozenset(part)) not in ENDLESS and (wall != "none" or passed):
            try:
                fetched = shown.show(raw, wall)
            except TooLong:
                ENDLESS.add((payload, frozenset(part)))
                fetched = list(shown.listener.heard)
                shown.page.close()
                shown.open()
            else:
                drew = shown.drew()
                assert wall == "policy" or not shown.ran()
            assert fetched == [], (wall, PAYLOADS[payload])
        if drew or UNDRAWN.issuperset(part):
            continue
        if len(part) <= LEAST:
            UNDRAWN.update(part)
        else:
            figures[:0] = [part[: len(part) // 2], part[len(part) // 2 :]]


LIKELY = [
    *("layout.title.text", "layout.xaxis.tickformat", "layout.yaxis.tickformat", "layout.yaxis.tickprefix"),
    *("layout.separators", "layout.annotation.text", "layout.annotation.hovertext", "scatter.texttemplate"),
    *("scatter.hovertemplate", "scatter.name", "scatter.text", "bar.texttemplate", "table.cells.suffix"),
    *("layout.slider.currentvalue.prefix", "layout.updatemenu.button.label", "layout.shape.label.text"),
    *(
        "layout.shape.label.texttemplate",
        "indicator.number.valueformat",
        "indicator.number.prefix",
        "pie.texttemplate",
    ),
    *("layout.xaxis.title.text", "layout.legend.title.text", "layout.image.source", "heatmap.texttemplate"),
]


def composed() -> dict[str, tuple[dict[str, object], list[dict[str, object]]]]:
    """Figures whose texts plotly makes of several parts. Each fetches where no wall is."""
    tail = "b style='background-image:url({u})'>x</b>"
    xy: dict[str, object] = {"type": "scatter", "y": [1, 2, 3], "mode": "markers+text"}
    dates = {**xy, "x": ["2024-01-01", "2024-02-01", "2024-03-01"]}
    return {
        "fill of ticks": ({"yaxis": {"tickformat": "<^9", "ticksuffix": tail}}, [xy]),
        "template": ({}, [{**xy, "texttemplate": "%{y:<^9}%{customdata}", "customdata": [tail] * 3}]),
        "time": ({}, [{**dates, "texttemplate": "%{x|%%<}%{customdata}", "customdata": [tail] * 3}]),
        "two styles": ({"title": {"text": "<b style=x\"style='background-image: url({u})'>x</b>"}}, [xy]),
        "picture": ({"images": [{"source": "{u}", "sizex": 1, "sizey": 1}]}, [xy]),
        "outline of a map": (
            {},
            [{"type": "choropleth", "geojson": "{u}", "locations": ["a"], "z": [1]}],
        ),
        "style of a map": ({"map": {"style": "{u}"}}, [{"type": "scattermap", "lat": [1], "lon": [1]}]),
        "number": (
            {},
            [
                {
                    "type": "indicator",
                    "mode": "number",
                    "value": 5,
                    "number": {"valueformat": "<^9", "suffix": tail},
                }
            ],
        ),
    }


def composed_figure(name: str, address: str) -> bytes:
    layout, data = composed()[name]
    return orjson.dumps({"data": data, "layout": layout}).replace(b"{u}", address.encode())


@pytest.mark.parametrize(
    "name",
    [name if name == "fill of ticks" else pytest.param(name, marks=pytest.mark.long) for name in composed()],
)
def test_each_wall_alone_stops_what_plotly_makes_of_parts(shown: Shown, listener: Listener, name: str) -> None:
    raw = composed_figure(name, f"{listener.address}/stolen")
    with pytest.raises(Unsafe):
        checked(raw)
    assert "/stolen" in shown.show(raw, "none"), "the listener hears nothing"
    for wall in ("policy", "script", "view"):
        assert shown.show(raw, wall) == [], wall


def test_links_open_https_and_mail_only_in_a_new_tab_without_opener(shown: Shown) -> None:
    links = ["https://a.example", "mailto:a@a.example", "http://a.example", "page.html", "#top"]
    texts = [f"<a href='{link}' target='_self' popup='width=1'>x</a>" for link in links]
    raw = orjson.dumps(
        {
            "data": [{"type": "scatter", "y": [1] * len(texts), "text": texts, "mode": "text"}],
            "layout": {"annotations": [{"text": "<a href='https://b.example'>all</a>", "showarrow": False}]},
        }
    )
    for wall in ("script", "view"):
        shown.show(raw, wall)
        found = shown.page.evaluate(LINKS)
        assert {link for link, *_ in found} == {"https://a.example", "mailto:a@a.example", "https://b.example"}
        assert {(target, rel, click) for _, target, rel, click in found} == {
            ("_blank", "noopener noreferrer", None)
        }
        assert not shown.ran()


@pytest.mark.parametrize(
    "number",
    [n if n in EVERY_DAY else pytest.param(n, marks=pytest.mark.long) for n in range(len(PAYLOADS))],
)
def test_texts_in_every_attribute_neither_fetch_nor_run(
    shown: Shown, listener: Listener, long: bool, number: int
) -> None:
    address = f"{listener.address}/stolen"
    attributes = text_attributes() if long else LIKELY
    passing, refused = fitting(number, address, attributes)
    assert_inert(shown, number, passing, "none")
    for wall in ("policy", "script", "view") if long else ("view",):
        assert_inert(shown, number, refused, wall)


@pytest.mark.long
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_exports_of_pictures_fetch_nothing(listener: Listener, ending: str) -> None:
    kaleido = pytest.importorskip("kaleido")
    chromium()
    address = f"{listener.address}/stolen"
    raw = composed_figure("fill of ticks", address)
    listener.heard.clear()
    options = {"format": ending, "width": 700, "height": 500, "scale": 1}
    walls = {
        "none": {"mathjax": False},
        "page": {"page_generator": InertPage()},
        "browser": {"mathjax": False, "browser_cls": browser_without_network()},
    }
    for wall, given in walls.items():
        listener.heard.clear()
        kaleido.calc_fig_sync(orjson.loads(raw), opts=options, kopts=given)
        assert bool(listener.heard) == (wall == "none"), wall
    for name in composed():
        listener.heard.clear()
        made = b""
        with contextlib.nullcontext() if "map" not in name else contextlib.suppress(ExportUnavailable):
            made = export.picture(composed_figure(name, address), ending)
        assert listener.heard == []
        assert ending != "svg" or not re.search(rb"url\(.?http|href=.http:", made)


def test_an_svg_that_could_run_or_fetch_is_refused() -> None:
    from workbench.inert_page import check_svg

    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    for inside in (
        "<g onload='x()'/>",
        "<script/>",
        "<a xlink:href='javascript:x()'/>",
        "<image href='http://a.example/b.png'/>",
        "<text style='background:url(http://a.example)'/>",
        "<text",
    ):
        with pytest.raises(ExportUnavailable):
            check_svg(f"{head}{inside}</svg>".encode())
    honest = (
        f"{head}<a xlink:href='https://a.b'/><g clip-path='url(#c)' style='fill: url(\"#g\")'/></svg>".encode()
    )
    assert check_svg(honest) == honest
