"""The plotted numbers as a table below a plot: what each kind of trace shows there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, open_site

FIGURES = {
    "grid": (
        "go.Heatmap(z=np.arange(6).reshape(2, 3) / 4, x=['a', 'b', 'c'], colorbar_title_text='Loss / %')",
        [["Trace", "x", "y", "Loss / %"], ["trace 1", "a", "0", "0"], ["trace 1", "b", "0", "0.25"]],
        6,
    ),
    "shares": (
        "go.Pie(labels=['rest', 'charge'], values=[3, 1])",
        [["Trace", "x", "y"], ["trace 1", "rest", "3"], ["trace 1", "charge", "1"]],
        2,
    ),
    "cells": (
        "go.Table(header_values=['Cell', '<b>Q</b> / A.h'], cells_values=[['A1', 'A2'], [2.5, 2.25]])",
        [["Cell", "Q / A.h"], ["A1", "2.5"], ["A2", "2.25"]],
        2,
    ),
    "places that are implied": (
        "go.Scatter(y=[4, 5], x0=10, dx=5, name='curve')",
        [["Trace", "x", "y"], ["curve", "10", "4"], ["curve", "15", "5"]],
        2,
    ),
    "angles": (
        "go.Scatterpolar(r=[0.5, 0.25], theta=[0, 90], name='turn'), "
        "{'polar': {'radialaxis': {'title': {'text': 'Loss / %'}}}}",
        [["Trace", "Angle", "Loss / %"], ["turn", "0", "0.5"], ["turn", "90", "0.25"]],
        2,
    ),
    "shares of three": (
        "go.Scatterternary(a=[1, 2], b=[3, 4], c=[6, 4], subplot='ternary2'), "
        "{'ternary2': {'aaxis': {'title': {'text': 'EC'}}}}",
        [["Trace", "EC", "b", "c"], ["trace 1", "1", "3", "6"], ["trace 1", "2", "4", "4"]],
        2,
    ),
    "impedances": (
        "go.Scattersmith(real=[0.5, 1], imag=[-1, 0])",
        [["Trace", "Real part", "Imaginary part"], ["trace 1", "0.5", "-1"], ["trace 1", "1", "0"]],
        2,
    ),
    "lists side by side": (
        "go.Parcats(dimensions=[{'label': 'Mass / g', 'values': [45, 46]}, {'values': np.array([2.5, 2.25])}])",
        [["Trace", "Mass / g", "Dimension 2"], ["trace 1", "45", "2.5"], ["trace 1", "46", "2.25"]],
        2,
    ),
    "angles beside places": (
        "[go.Scatter(x=[1], y=[4]), go.Scatterpolar(r=[0.5], theta=[90], subplot='polar2')], "
        "{'xaxis': {'domain': [0, 0.4], 'title': {'text': 'Time / h'}}, "
        "'polar2': {'domain': {'x': [0.6, 1]}, 'radialaxis': {'title': {'text': 'Gain / W'}}}}",
        [
            ["Trace", "Time / h", "y", "Angle", "Gain / W"],
            ["trace 1", "1", "4", "", ""],
            ["trace 2", "", "", "90", "0.5"],
        ],
        2,
    ),
    "values that are counted": (
        "go.Histogram(x=[7, 8], name='all')",
        [["Trace", "x", "y"], ["all", "7", ""], ["all", "8", ""]],
        2,
    ),
}


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


@pytest.mark.parametrize("name", FIGURES)
def test_the_numbers_of_each_kind_of_figure_are_a_table(site: Site, name: str) -> None:
    trace, first, number = FIGURES[name]
    window = site.window(site.plot(name, trace))
    lines = window.page.get_by_role("region", name="The plotted numbers").get_by_role("row")
    expect(lines).to_have_count(number + 1)
    found = [lines.nth(n).locator("th, td").all_inner_texts() for n in range(len(first))]
    assert found == first
    window.assert_proper()
    window.close()


def test_a_table_that_ends_says_how_many_rows_are_elsewhere(site: Site) -> None:
    window = site.window(site.plot("many", "go.Scatter(y=np.arange(21_500.0))"))
    expect(window.page.get_by_text("1 500 more are in the csv of the menu Export")).to_be_visible()
    window.assert_proper()
    window.close()


@pytest.mark.long
def test_a_number_is_found_as_it_is_typed_and_what_is_empty_comes_last(site: Site) -> None:
    trace = "go.Scatter(x=[None, *range(1_000_000, 1_000_020)], y=[7, *range(20)], name='all')"
    window = site.window(site.plot("large", trace))
    page = window.page
    lines = page.get_by_role("region", name="The plotted numbers").get_by_role("row")
    expect(lines).to_have_count(22)
    for _ in range(2):
        page.get_by_role("button", name="x", exact=True).click()
    assert lines.nth(1).locator("td").all_inner_texts()[1] == "1\u202f000\u202f019"
    assert lines.nth(21).locator("td").all_inner_texts()[1] == ""
    page.get_by_role("searchbox", name="Filter The plotted numbers").fill("1000007")
    expect(lines).to_have_count(2)
    assert lines.nth(1).locator("td").all_inner_texts() == ["all", "1\u202f000\u202f007", "7"]
    window.close()


TABLES = Path(__file__).parents[2] / "server" / "page" / "plot" / "numbers.js"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("traces", "layout", "headings", "rows"),
    [
        ([{"type": "parcoords", "dimensions": [None]}], {}, ["Dimension 1"], []),
        ([{"type": "parcoords"}, {"type": "splom", "dimensions": [{"label": "a", "values": []}]}], {}, ["a"], []),
        (
            [{"type": "parcats", "dimensions": [{"label": "Q", "values": [1]}, {"label": "Q", "values": [2]}]}],
            {},
            ["Q", "Q, 2"],
            [[1, 2]],
        ),
        (
            [{"type": "scatterpolar", "r": [1]}, {"type": "scatterpolar", "r": [7], "subplot": "polar2"}],
            {
                "polar": {"radialaxis": {"title": "Loss / %"}},
                "polar2": {"radialaxis": {"title": {"text": "Gain / W"}}},
            },
            ["Loss / %", "Gain / W"],
            [[1, None], [None, 7]],
        ),
        ([{"type": "choropleth", "locations": ["DE"], "z": [3]}], {}, ["Location", "z"], [["DE", 3]]),
    ],
)
def test_values_stand_under_their_own_headings(
    traces: list[Any], layout: dict[str, Any], headings: list[str], rows: list[list[Any]]
) -> None:
    figure = json.dumps({"data": traces, "layout": layout})
    script = f"import {{ tracesTable }} from {json.dumps(TABLES.as_uri())};"
    script += f"console.log(JSON.stringify(tracesTable({figure})));"
    said = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True, timeout=60
    )
    table = json.loads(said.stdout)
    assert [column["label"] for column in table["columns"]] == ["Trace", *headings]
    keys = [column["key"] for column in table["columns"][1:]]
    assert [[row.get(key) for key in keys] for row in table["rows"]] == rows


WORDS = TABLES.parents[1] / "core" / "words.js"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1234567", "1 234 567"),
        ("-1234568.0", "-1 234 568"),
        ("86400", "86 400"),
        ("1234567.25", "1 234 567.3"),
        ("-100000.5", "-100 000.5"),
        ("3.14159265", "3.14159"),
        ("1e-7", "1e-7"),
        ("1.5e22", "1.5e+22"),
        ("12", "12"),
    ],
)
def test_a_number_of_a_record_is_not_shortened(value: str, shown: str) -> None:
    script = f"import {{ cell }} from {json.dumps(WORDS.as_uri())};"
    script += f"console.log(cell({value}));"
    said = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout.strip().replace("\u202f", " ") == shown


LIBRARY = TABLES.parent / "library.js"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("traces", "layout", "drawn", "note"),
    [
        ([{}] * 300, {}, {}, None),
        ([{}] * 1200, {}, {"showlegend": False}, "The legend is left out: it would have 1 200 names."),
        ([{}] * 1200, {"showlegend": False}, {"showlegend": False}, None),
        ([{"showlegend": False}] * 1200 + [{}] * 9, {}, {}, None),
    ],
)
def test_a_legend_of_hundreds_of_names_is_left_out(
    traces: list[Any], layout: dict[str, Any], drawn: dict[str, Any], note: str | None
) -> None:
    made = drawable({"data": traces, "layout": layout})
    assert made["figure"]["layout"] == drawn
    said = [one.replace("\u202f", " ") for one in made["notes"]]
    assert said == [] if note is None else said[0].startswith(note)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_what_needs_webgl_is_a_sentence_and_no_false_word_about_the_browser() -> None:
    made = drawable({"data": [{"type": "splom"}], "layout": {}})
    assert [one["visible"] for one in made["figure"]["data"]] == [False]
    (text,) = made["figure"]["layout"]["annotations"]
    assert text["text"] == made["notes"][0]
    beside = drawable({"data": [{"type": "splom"}, {"y": [1]}], "layout": {}})
    assert [one.get("visible", True) for one in beside["figure"]["data"]] == [False, True]
    assert "annotations" not in beside["figure"]["layout"]


def drawable(figure: dict[str, Any]) -> Any:
    """A figure as the page draws it, and its notes."""
    script = f"import {{ drawable }} from {json.dumps(LIBRARY.as_uri())};"
    script += f"console.log(JSON.stringify(drawable({json.dumps(figure)})));"
    said = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(said.stdout)


@pytest.mark.long
def test_the_editor_shows_the_samples_of_a_step_for_the_values_that_are_drawn(site: Site) -> None:
    window = site.window()
    window.open_board("Electrochemistry")
    window.tile("Voltage curves").get_by_role("link", name="Voltage curves").click()
    window.page.get_by_role("link", name="Edit").click()
    window.page.get_by_role("tab", name="Tables of the steps").click()
    lines = window.page.get_by_role("region", name="Rows of late").get_by_role("row")
    expect(lines.first).to_have_text(re.compile("^sourceCycle countTime"))
    expect(lines.nth(1)).to_contain_text("119")
    window.page.get_by_label("Late cycle count").fill("60")
    window.page.keyboard.press("Enter")
    expect(lines.nth(1)).not_to_contain_text("119")
    number = window.page.get_by_label("Early cycle count").bounding_box()  # beside a longer control
    assert number is not None
    assert number["height"] < 45
    window.assert_proper()
    window.close()
