"""Figure lint of places: what is too small beside others, and texts that are on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from workbench import battery
from workbench.lint import Lint, lint
from workbench.transform.figure import encode

TITLES = {"xaxis_title": "Cycle number", "yaxis_title": "Capacity / A h"}


def codes(figure: go.Figure) -> list[str]:
    return [odd.code for odd in lint(encode(figure))]


def found(figure: go.Figure, code: str) -> list[Lint]:
    return [odd for odd in lint(encode(figure)) if odd.code == code]


def line(x: Any, y: Any, *, titles: Any = TITLES, **more: Any) -> go.Figure:
    return go.Figure(go.Scatter(x=x, y=y, mode="lines", **more)).update_layout(**titles)


def courses(lengths: list[int]) -> go.Figure:
    """The band of cells that lose capacity at different rates and end at different cycles."""
    frames = [
        pd.DataFrame({"x": np.arange(n), "y": 0.01 * (number + 1) * np.arange(n)})
        for number, n in enumerate(lengths)
    ]
    mean = battery.mean_and_spread(pd.concat(frames), "x", "y")
    return go.Figure(battery.band(mean, "x", "A", battery.PALETTE[0])).update_layout(**TITLES)


def test_a_mean_that_jumps_where_a_cell_ends_is_told() -> None:
    assert codes(courses([40, 40, 40])) == []
    (odd,) = found(courses([40, 40, 30]), "mean_jumps")
    assert (odd.trace, "at x = 30: its cells change from 3 to 2" in odd.message) == (1, True)


def test_a_curve_that_is_a_dot_beside_another_is_told() -> None:
    small, large = np.linspace(10, 20, 30), np.linspace(500, 1500, 30)
    titles = {"xaxis_title": "Z', mOhm", "yaxis_title": "-Z'', mOhm"}
    beside = line(small, small / 3, name="M50", titles=titles).add_scatter(x=large, y=large / 3, name="coin")
    (odd,) = found(beside, "curve_is_a_dot")
    assert "'M50' (data[0]) is a dot beside 'coin' (data[1])" in odd.message
    apart = beside.update_traces(xaxis="x2", yaxis="y2", selector={"name": "coin"})
    assert found(apart, "curve_is_a_dot") == []
    pulses = line(
        [0, 1, 2, 3, 4, 5], [1.0, 1.001, 1.0, 1.001, 1.0, 1.0], name="pulse", legendgroup="A", titles=titles
    )
    pulses.add_scatter(x=[0, 50, 100, 150, 200, 250], y=[1, 2, 3, 4, 3, 1], name="whole", legendgroup="A")
    assert codes(pulses) == [], "The parts of a group are seen together."


def rows_of(height: int, spacing: float, titled: bool = True, heading: bool = True) -> go.Figure:
    names = ["A", "B", "C"] if heading else None
    figure = make_subplots(rows=3, cols=1, vertical_spacing=spacing, subplot_titles=names)
    for row in (1, 2, 3):
        figure.add_scatter(x=[1, 2], y=[row, 5], row=row, col=1, showlegend=False)
    figure.update_yaxes(title="Voltage / V").update_xaxes(title="Time / h", row=3, col=1)
    if titled:
        figure.update_xaxes(title="Time / h")
    return figure.update_layout(template=battery.template(), height=height)


@pytest.mark.parametrize(
    ("figure", "axes"),
    [
        (rows_of(900, 0.1), []),
        (rows_of(600, 0.05), ["xaxis", "xaxis2"]),
        (rows_of(600, 0.05, heading=False), ["xaxis", "xaxis2"]),
        (rows_of(600, 0.1, heading=False), []),
        (rows_of(600, 0.02, titled=False), [None, None]),
        (rows_of(600, 0.02, titled=False, heading=False), []),
    ],
)
def test_a_title_that_is_on_the_next_panel_is_told(figure: go.Figure, axes: list[str | None]) -> None:
    assert [odd.axis for odd in found(figure, "title_on_panel")] == axes
    assert set(codes(figure)) <= {"title_on_panel"}


def test_a_title_of_several_lines_over_the_plot_is_told() -> None:
    def titled(text: str, **more: Any) -> list[str]:
        line = go.Figure(go.Scatter(x=[1, 2], y=[1, 2])).update_layout(template=battery.template(), **TITLES)
        return [odd.message for odd in found(line.update_layout(title_text=text, **more), "title_over_plot")]

    (message,) = titled("Capacity of all cells<br>(two have none)")
    assert message.startswith("The title has 2 lines and is over the plot; margin={'t': 62} has room.")
    assert titled("Capacity of all cells") == []
    assert titled("Capacity of all cells<br>(two have none)", margin_t=62) == []
    assert titled("Capacity<br>of all cells", title_y=0.98, title_yanchor="top", margin_t=70) == []
    assert titled("Capacity<br>of all cells", template=None) == [], "plotly's own margin has room for two lines"


def named(x: list[float], y: list[float], **more: Any) -> go.Figure:
    texts = [f"LFP-C-0{n}" for n in range(len(x))]
    points = go.Scatter(x=x, y=y, text=texts, mode="markers+text", textposition="middle right", **more)
    return go.Figure(points).update_layout(template=battery.template(), **TITLES)


def test_names_that_cover_each_other_are_told() -> None:
    assert codes(named([0, 1, 2, 3], [1, 2, 3, 4])) == []
    (odd,) = found(named([0, 0.01, 2, 3], [1, 1.01, 3, 4]), "texts_overlap")
    assert "Of the texts 'LFP-C-00' and 'LFP-C-01' one covers" in odd.message
    assert found(named([0, 0.1, 2, 3], [1, 1, 3, 4]), "texts_overlap"), "a name over the point of another"
    log = named([1, 10, 100, 1000], [1, 1, 1, 2]).update_xaxes(type="log")
    assert codes(log) == [], "Decades are apart."
    notes = [{"text": word, "x": 1, "y": 2, "showarrow": False} for word in ("knee", "limit")]
    both = line([0, 1, 2], [1, 2, 3]).update_layout(annotations=notes)
    assert codes(both) == ["texts_overlap"]
    assert codes(both.update_layout(annotations=[notes[0], {**notes[1], "yshift": 20}])) == []
    ends = go.Figure([go.Scatter(x=[0, 1], y=[0, 1 + n / 99], name=f"M50-A-0{n}", mode="lines") for n in range(4)])
    ends.update_layout(template=battery.template(), **TITLES, showlegend=False)
    assert codes(ends.update_layout(annotations=battery.end_labels(ends.data))) == []


def test_names_that_the_edge_cuts_are_told() -> None:
    def named(**more: Any) -> go.Figure:
        texts = {
            "mode": "markers+text",
            "text": ["a name", "the last name"],
            "textposition": "middle right",
            **more,
        }
        return go.Figure(go.Scatter(x=[1, 2], y=[1, 2], **texts)).update_layout(**TITLES)

    (odd,) = found(named(), "text_cut")
    assert odd.message.startswith("The edge of the panel cuts 'the last name'.")
    assert found(named(textposition=["middle right", "middle left"]), "text_cut") == []
    assert found(named(cliponaxis=False), "text_cut") == []
    shared, at = battery.panels(["A", "B"], "Cycle number", "Capacity / A h", columns=1)
    for place in at:
        shared.add_trace(named().data[0], **place)
    assert len(found(shared, "text_cut")) == 2, "axes that match have one range"
    assert found(named().update_xaxes(range=[0, 4]), "text_cut") == []


def test_curves_that_lie_on_each_other_beside_a_far_larger_one_are_told() -> None:
    def resistances(*values: float) -> go.Figure:
        lines = [go.Scatter(x=[0, 1, 2], y=[y, 1.02 * y, y], mode="lines", name=f"cell {y:g}") for y in values]
        return go.Figure(lines).update_layout(**TITLES)

    (odd,) = found(resistances(4, 12, 490), "curves_on_the_floor")
    assert odd.message.startswith("'cell 4' (data[0]), 'cell 12' (data[1]) lie at the foot of the panel")
    assert found(resistances(4, 4.1, 490), "curves_on_the_floor") == [], "what is alike may lie on each other"
    assert found(resistances(4, 60, 490), "curves_on_the_floor") == []
    assert found(resistances(4, 12, 490).update_yaxes(type="log"), "curves_on_the_floor") == []


def test_bars_beside_a_far_longer_one_are_told() -> None:
    def hours(*values: float, **more: Any) -> go.Figure:
        names = [f"test {n}" for n in range(len(values))]
        halves = [go.Bar(y=names, x=[value / 2 for value in values], orientation="h", name=part) for part in "ab"]
        return go.Figure(halves).update_layout(barmode="stack", **TITLES, **more)

    (odd,) = found(hours(100, 90, 80, 70, 4000), "bars_on_the_floor")
    assert odd.message.startswith("The longest bar is 40 times the next.")
    assert found(hours(100, 90, 80, 70, 400), "bars_on_the_floor") == []
    assert found(hours(100, 90, 4000), "bars_on_the_floor") == [], "three bars can be read by their numbers"
    assert found(hours(100, 90, 80, 70, 4000).update_xaxes(type="log"), "bars_on_the_floor") == []
    bins = go.Figure(go.Bar(x=[0, 1, 2, 3, 4], y=[9000, 3, 4, 5, 6])).update_layout(**TITLES)
    assert found(bins, "bars_on_the_floor") == [], "most of a histogram may be in one bin"
    assert len(found(go.Figure(bins).update_traces(x=list("abcde")), "bars_on_the_floor")) == 1
