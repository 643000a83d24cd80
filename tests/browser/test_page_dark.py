"""Figures on a dark page: texts in boxes that a script chose are read as well as on a light one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from support.waiting import until
from support.web_page import Site, open_site

from browser.test_browser_still import luminance

BOXES = {
    "white": {"bgcolor": "white"},
    "white that is seen through": {"bgcolor": "rgba(255,255,255,0.8)"},
    "black on white": {"bgcolor": "#fff", "font": {"color": "black"}},
    "yellow": {"bgcolor": "#fff3b0"},
    "blue on yellow": {"bgcolor": "#fff3b0", "font": {"color": "#003366"}},
    "black": {"bgcolor": "#111", "font": {"color": "#eee"}},
}
DRAWN = """() => [...document.querySelectorAll(".wb-figure .annotation-text-g")].map((one) => [
  one.textContent, ...["rect.bg", "text"].map((part) => getComputedStyle(one.querySelector(part)).fill),
])"""


def contrast(one: float, other: float) -> float:
    """How well one luminance is seen beside the other, 1 to 21; texts need 4.5 (WCAG 2.2, 1.4.3)."""
    low, high = sorted((one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


@pytest.mark.parametrize("dark", [False, True])
def test_texts_in_boxes_are_read_on_a_dark_page(site: Site, dark: bool) -> None:
    texts = [
        {"text": name, "x": 1, "y": n, "showarrow": False, **box} for n, (name, box) in enumerate(BOXES.items())
    ]
    window = site.window(
        site.plot(f"boxes {dark}", "go.Scatter(x=[0, 2], y=[0, 6])", f"{{'annotations': {texts}}}"), dark=dark
    )
    window.page.locator(".wb-figure .annotation-text-g").nth(len(BOXES) - 1).wait_for()
    drawn = window.page.evaluate(DRAWN)
    assert {name for name, _, _ in drawn} == {*BOXES}
    for name, box, ink in drawn:
        assert contrast(luminance(box), luminance(ink)) > 4.5, (name, box, ink)
    window.assert_proper()
    window.close()


@pytest.mark.parametrize(
    ("trace", "ground", "text"),
    [
        (
            "go.Scatterpolar(r=[1, 2, 3], theta=[0, 120, 240])",
            ".polarsublayer.plotbg path",
            ".angularaxistick text",
        ),
        ("go.Scatterternary(a=[1, 2], b=[2, 1], c=[1, 1])", ".plotbg path", ".aaxis .ytick text"),
    ],
)
def test_the_ground_of_other_axes_is_dark_too(site: Site, trace: str, ground: str, text: str) -> None:
    window = site.window(site.plot(f"round {ground}", trace, "{}"), dark=True)
    window.page.locator(f".wb-figure {text}").first.wait_for()
    fill, ink = (
        window.page.locator(f".wb-figure {part}").first.evaluate("one => getComputedStyle(one).fill")
        for part in (ground, text)
    )
    assert luminance(fill) < 0.05
    assert luminance(ink) > 0.5
    window.assert_proper()
    window.close()


def test_a_narrow_figure_keeps_its_small_fonts_though_its_room_was_wide_for_a_moment(site: Site) -> None:
    window = site.window(site.plot("narrow", "go.Scatter(y=[1, 2])", "{'font': {'size': 18}}"), width=420)
    tick = window.page.locator(".wb-figure .xtick text").first
    tick.wait_for()

    def size() -> str:
        return tick.evaluate("one => getComputedStyle(one).fontSize")

    assert size() == "12px"
    # The room is wide when the figure is composed for the new theme, and narrow again when that is drawn.
    window.page.evaluate("""() => {
      const stage = document.querySelector(".wb-stage");
      let asked = 0;
      Object.defineProperty(stage, "clientWidth", {
        configurable: true, get: () => { asked += 1; return asked === 1 ? 900 : stage.getBoundingClientRect().width; },
      });
      document.body.dataset.wbTheme = "dark";
    }""")
    until(lambda: luminance(tick.evaluate("one => getComputedStyle(one).fill")) > 0.5, "the dark theme")
    until(lambda: size() == "12px", "the small fonts")
    window.assert_proper()
    window.close()


@pytest.mark.parametrize(
    ("layout", "white", "parts"),
    [
        ("{'polar': {'radialaxis': {'tickfont': {'color': 'black'}}}}", False, ("number", "line")),
        ("{'polar': {'bgcolor': 'white'}}", True, ("line",)),
        ("{'paper_bgcolor': 'white'}", True, ("number", "line")),
    ],
)
def test_what_a_script_chose_for_a_polar_figure_is_read_on_a_dark_page(
    site: Site, layout: str, white: bool, parts: tuple[str, ...]
) -> None:
    trace = "go.Scatterpolar(r=[1, 2, 3], theta=[0, 120, 240], mode='lines', line={'color': 'black'})"
    window = site.window(site.plot(f"polar {layout}", trace, layout), dark=True)
    window.page.locator(".wb-figure .radial-axis text").first.wait_for()

    def color(part: str, what: str) -> float:
        found = window.page.locator(f".wb-figure {part}").first
        return luminance(found.evaluate("(one, what) => getComputedStyle(one)[what]", what))

    disc = color(".plotbg path", "fill")
    assert (disc > 0.7) == white
    for part in parts:
        ink = color(".radial-axis text", "fill") if part == "number" else color(".js-line", "stroke")
        assert contrast(disc, ink) > 4.5, (part, ink, disc)
    window.assert_proper()
    window.close()


def test_a_figure_on_white_paper_is_as_on_a_light_page(site: Site) -> None:
    layout = "{'paper_bgcolor': 'white'}"
    window = site.window(
        site.plot("white paper", "go.Scatter(y=[0, 1], line={'color': 'black'})", layout), dark=True
    )
    window.page.locator(".wb-figure .xtick text").first.wait_for()
    ground, font = window.page.evaluate(
        """() => {
          const full = document.querySelector(".wb-figure")._fullLayout;
          return [full.plot_bgcolor, full.font.color];
        }"""
    )
    assert luminance(ground) > 0.7
    assert luminance(font) < 0.2
    window.assert_proper()
    window.close()


def test_a_figure_that_is_drawn_out_of_sight_has_the_fonts_of_its_room(site: Site) -> None:
    window = site.window(site.plot("unseen", "go.Scatter(y=[1, 2])", "{'font': {'size': 18}}"), width=420)
    tick = window.page.locator(".wb-figure .xtick text").first
    tick.wait_for()
    window.page.evaluate("() => { document.querySelector('#app, main, body > *').style.display = 'none'; }")
    window.page.evaluate("() => { document.body.dataset.wbTheme = 'dark'; }")
    until(lambda: "rgb(216, 219, 224)" in tick.evaluate("one => one.getAttribute('style')"), "the dark theme")
    window.page.evaluate("() => { document.querySelector('#app, main, body > *').style.display = ''; }")
    until(lambda: tick.evaluate("one => getComputedStyle(one).fontSize") == "12px", "the small fonts")
    window.assert_proper()
    window.close()


def test_a_picture_of_a_dark_page_is_light_and_shows_the_same(site: Site) -> None:
    trace = "go.Scatter(x=[0, 1, 2], y=[0, 1, 4], line={'color': '#222'})"
    address = site.plot("for paper", trace, "{'title': {'text': 'T'}}")
    window = site.window(address, dark=True)
    window.drawn()
    window.page.locator(".wb-figure").evaluate("one => Plotly.relayout(one, { 'xaxis.range': [0.5, 1.5] })")
    made = {}
    for dark in (True, False):
        window.page.get_by_role("button", name="Export").click()
        with window.page.expect_download() as saved:
            window.page.get_by_role("button", name="Drawing (svg)").click()
        made[dark] = saved.value.path().read_text("utf-8")
        if dark:
            window.page.get_by_role("button", name="Light or dark").first.click()
            window.page.wait_for_function(
                "() => getComputedStyle(document.querySelector('.wb-figure .main-svg')).backgroundColor"
                " === 'rgb(255, 255, 255)'"
            )
    for svg in made.values():
        assert "fill: rgb(255, 255, 255); fill-opacity: 1" in svg
        assert "stroke: rgb(34, 34, 34)" in svg
        assert re.findall(r'class="xtick"><text[^>]*>([^<]*)', svg) == ["0.6", "0.8", "1", "1.2", "1.4"]
    window.assert_proper()
    window.close()
