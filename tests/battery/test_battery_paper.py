"""Figures for print: what journals ask for, in the template; titles in both styles; names at the ends of curves."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import plotly.graph_objects as go
import pytest

from workbench import battery
from workbench.battery.paper_size import JOURNALS, paper_in, paper_of
from workbench.battery.titles import column_of, restyled
from workbench.cycling import columns as canonical
from workbench.transform.figure import decode, encode

# Widths in mm of one and two columns, most height, points of ticks and titles, style of titles, grid: the guides of
# the journals (research-figure-guide.nature.com; rsc.org and pubs.acs.org, illustrations).
ASKED = {
    "nature": (89, 183, 170, 6, 7, "parentheses", False),
    "rsc": (83, 171, 233, 7, 7, "solidus", True),
    "acs": (82.55, 177.8, 241.3, 7, 8, "solidus", True),
    "elsevier": (90, 190, 240, 7, 8, "solidus", True),
    "ecs": (82.55, 177.8, 241.3, 7, 8, "solidus", True),
}


@pytest.mark.parametrize("journal", ASKED)
def test_the_template_has_the_size_and_letters_of_the_journal(journal: str) -> None:
    one, two, highest, letters, titles, style, grid = ASKED[journal]
    made = battery.paper(journal).layout
    assert abs(made.width - one / 25.4 * 96) <= 0.5
    assert abs(made.height - 0.75 * one / 25.4 * 96) <= 0.5
    assert made.font.size * 0.75 == pytest.approx(letters)
    # Without sizes of their own, titles of axes would have 1.2 times that of the layout.
    for title in (made.xaxis.title, made.yaxis.title, made.coloraxis.colorbar.title):
        assert title.font.size * 0.75 == pytest.approx(titles)
    assert (made.xaxis.linewidth * 0.75, made.xaxis.ticklen * 0.75) == pytest.approx((0.5, 2.5))
    line = battery.paper(journal).data.scatter[0]
    assert (line.line.width * 0.75, line.marker.size * 0.75) == pytest.approx((1, 4))
    assert made.xaxis.showgrid is grid
    assert paper_of(journal).title_style == style
    wide = paper_of(journal, columns=2)
    assert (wide.width, wide.height) == pytest.approx((two, two / 2))
    assert paper_of(journal, panels=(9, 1)).height == pytest.approx(highest)
    assert JOURNALS[journal].confirmed == (journal in ("nature", "rsc", "acs"))


def test_lengths_are_read_with_their_unit() -> None:
    widths = {paper_of(width=width).width for width in ("8.5 cm", "85mm", 85, "240.945 pt", "3.3464567 in")}
    assert {round(width, 2) for width in widths} == {85}
    made = battery.paper(width="8.5 cm", font="8 pt", height="5 cm")
    assert (made.layout.font.size * 0.75, made.layout.xaxis.title.font.size * 0.75) == pytest.approx((8, 8))
    assert made.layout.height == round(50 / 25.4 * 96)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"journal": "natur"}, "There is no journal 'natur'. Journals: nature, rsc"),
        ({"width": "wide"}, "width cannot be read: 'wide'. Write it as '8.5 cm'"),
        ({"width": "8.5 miles"}, "units: mm, cm, in, pt, px"),
        ({"width": "1 mm"}, "width is 1 mm; a printed figure has 20 to 1500 mm"),
        ({"font": "200 pt"}, "letters have 3 to 72 pt"),
        ({"journal": "nature", "height": "18 cm"}, "'nature' takes at most 170 mm"),
        ({"journal": "nature", "columns": 1.5}, "columns must be one of 1, 2 here"),
        ({"panels": (0, 1)}, "rows and columns of at least 1"),
        ({"font": True}, "font cannot be read"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        battery.paper(**options)  # type: ignore[arg-type]


def test_a_figure_knows_its_paper_and_loses_nothing_on_the_way() -> None:
    figure = go.Figure(layout={"template": battery.paper("rsc", panels=(1, 2))})
    found = paper_in(decode(encode(figure))["layout"])
    assert found is not None
    assert asdict(found) == asdict(paper_of("rsc", panels=(1, 2)))
    assert paper_in({"template": {"layout": {"meta": {"paper": {"of": "somebody else"}}}}}) is None
    assert paper_in({"template": battery.template().to_plotly_json()}) is None


def test_panels_have_letters_and_grey_prints_have_dashes() -> None:
    letters = battery.paper(panels=(2, 2)).layout.annotations
    assert [note.text for note in letters] == ["<b>a</b>", "<b>b</b>", "<b>c</b>", "<b>d</b>"]
    assert [note.xref for note in letters] == ["x domain", "x2 domain", "x3 domain", "x4 domain"]
    assert battery.paper().layout.annotations == ()
    lines = battery.paper(grey=True).data.scatter
    assert len({line.line.dash for line in lines}) == len({line.marker.symbol for line in lines}) == 6


def test_titles_in_both_styles() -> None:
    assert battery.axis_title("Voltage [V]", style="parentheses") == "Voltage (V)"
    assert battery.axis_title("Cycle count", style="parentheses") == "Cycle count"
    both = battery.axis_titles("Time [s]", "Capacity [mA.h/g]", style="parentheses")
    assert [axis["title"]["text"] for axis in both.values()] == ["Time (s)", "Capacity (mA h g⁻¹)"]
    with pytest.raises(ValueError, match="'solidus' or 'parentheses', not 'brackets'"):
        battery.axis_title("Voltage [V]", style="brackets")  # type: ignore[arg-type]


CANONICAL = {name for name in vars(canonical).values() if isinstance(name, str) and name.endswith("]")}
OTHERS = {"Resistance [mOhm.cm2]", "dQ/dV [A.h/V]", "x [1/V]", "Current [uA]", "Rate [mA.h/g/s]", "Share [%]"}


@pytest.mark.parametrize("column", sorted(CANONICAL | OTHERS))
def test_a_title_leads_back_to_its_column(column: str) -> None:
    solidus, parentheses = (battery.axis_title(column, style=style) for style in ("solidus", "parentheses"))
    assert column_of(solidus) == column_of(parentheses) == column
    assert restyled(solidus, "parentheses") == parentheses
    assert restyled(parentheses, "solidus") == solidus


@pytest.mark.parametrize("title", ["Capacity (batch A)", "Cell / design", "n", "", "Q (C/10 charge)"])
def test_what_is_not_a_unit_stays(title: str) -> None:
    assert restyled(title, "solidus") == restyled(title, "parentheses") == title
    assert column_of(title) == title


def curves(n: int, **more: object) -> list[dict[str, object]]:
    x = np.arange(50.0)
    return [{"name": f"Cell {k}", "x": x, "y": 100 - x * (1 + 0.01 * k), **more} for k in range(n)]


def test_names_at_the_ends_of_curves_do_not_overlap() -> None:
    labels = battery.end_labels(curves(12), height=200, size=10)
    assert {label["text"] for label in labels} == {f"Cell {k}" for k in range(12)}
    low, high = min(curves(12)[11]["y"]), 100.0
    places = [(label["y"] - low) / (high - low) * 200 - label["ay"] for label in labels]
    assert min(np.diff(places)) >= 12 - 1e-9
    assert min(places) >= -1e-9
    assert max(places) <= 200 + 1e-9
    assert {label["x"] for label in labels} == {49.0}


def test_names_that_do_not_fit_are_left_out_evenly() -> None:
    labels = battery.end_labels(curves(60), height=120, size=10)
    assert len(labels) == 10
    assert {"Cell 0", "Cell 59"} <= {label["text"] for label in labels}


def test_names_stand_at_the_last_point_that_is_drawn() -> None:
    traces = [
        {"name": "A", "x": ["u", "v", "w"], "y": [1, 10, None]},
        {"name": "B", "y": [0.0, -1.0, np.nan], "line": {"color": "red"}},
        {"name": "", "y": [1.0]},
        {"name": "no numbers", "y": []},
    ]
    found = {label["text"]: label for label in battery.end_labels(traces)}
    assert (found["A"]["x"], found["A"]["y"]) == ("v", 10)
    assert (found["B"]["x"], found["B"]["y"], found["B"]["arrowcolor"]) == (1, -1, "red")
    assert set(found) == {"A", "B"}
    on_log = {label["text"]: label for label in battery.end_labels(traces, log_y=True)}
    assert on_log["A"]["y"] == pytest.approx(1)
    assert "B" not in on_log, "an axis of logarithms has no place for it"


def test_names_of_curves_that_end_far_apart_are_side_by_side() -> None:
    """One column of names was spread over the whole plot, with lines across it."""
    short = [{**trace, "name": f"Short {k}", "x": np.arange(5.0)} for k, trace in enumerate(curves(8))]
    for trace in short:
        trace["y"] = np.asarray(trace["y"])[:5]
    both = [*short, *curves(8)]
    apart = battery.end_labels(both, height=120, size=10, width=400)
    assert len(apart) == 16
    assert len(battery.end_labels(both, height=120, size=10)) == 10


def test_a_curve_that_leaves_the_range_has_its_name_where_it_does() -> None:
    traces = [{"name": "A", "x": [0, 1, 2], "y": [5.0, 4.0, -90.0]}, {"name": "B", "x": [0], "y": [-80.0]}]
    (label,) = battery.end_labels(traces, y_range=(0, 6))
    assert (label["text"], label["x"], label["y"]) == ("A", 1, 4.0)


def test_names_of_curves_that_end_at_one_place_are_on_both_sides_of_it() -> None:
    """They were all above it."""
    x = np.arange(10.0)
    middle = [{"name": f"Cell {k}", "x": x, "y": 50 + 1e-3 * k * x} for k in range(5)]
    labels = battery.end_labels([*middle, {"name": "", "y": []}], height=200, size=10, y_range=(0, 100))
    assert sum(label["ay"] for label in labels) == pytest.approx(0, abs=0.1)
    assert min(label["ay"] for label in labels) < -20
