"""Gaps between the panels of a printed figure have the size that ticks and titles need on paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plotly.subplots import make_subplots

from workbench import battery
from workbench.battery.paper_size import MARGIN, paper_in
from workbench.pictures import PaperOptions, fitted
from workbench.transform.figure import decode, encode

SINGLE: PaperOptions = {"paper": "nature"}
DOUBLE: PaperOptions = {"paper": "nature", "columns": 2}


def fit(figure: Any, options: PaperOptions) -> dict[str, Any]:
    figure.update_layout(template=battery.template())
    layout: dict[str, Any] = decode(fitted(encode(figure.to_plotly_json()), options)[0])["layout"]
    return layout


def drawn(figure: Any, rows: int, cols: int = 1) -> Any:
    for row in range(1, rows + 1):
        for col in range(1, cols + 1):
            figure.add_scatter(x=np.arange(3.0), y=np.arange(3.0), showlegend=False, row=row, col=col)
    return figure


def rows_px(layout: dict[str, Any], upper: str = "yaxis", lower: str = "yaxis2") -> float:
    """Pixels between two rows."""
    made = paper_in(layout)
    assert made is not None
    margin = layout.get("margin") or MARGIN
    share: float = layout[upper]["domain"][0] - layout[lower]["domain"][1]
    height: int = made.pixels[1] - margin["t"] - margin["b"]
    return share * height


@pytest.mark.parametrize("spacing", [0.01, 0.06, 0.2])
@pytest.mark.parametrize("options", [SINGLE, DOUBLE])
def test_rows_on_one_axis_are_close_at_every_size(spacing: float, options: PaperOptions) -> None:
    figure = drawn(make_subplots(rows=2, shared_xaxes=True, vertical_spacing=spacing), 2)
    assert rows_px(fit(figure, options)) == pytest.approx(10, abs=0.5)


@pytest.mark.parametrize("spacing", [0.05, 0.19])
def test_ticks_and_a_title_between_rows_have_their_room_and_no_more(spacing: float) -> None:
    # Ticks of 6 pt, a title of 7 pt and a little air are 9 mm; 0.19 of a double column were 23 mm.
    for options in (SINGLE, DOUBLE):
        figure = drawn(make_subplots(rows=2, vertical_spacing=spacing), 2)
        bare = rows_px(fit(figure, options))
        assert 18 < bare < 24, "ticks"
        titled = rows_px(fit(figure.update_xaxes(title_text="Z′ / Ω", row=1), options))
        assert 30 < titled < 40, "ticks and a title"
        two = rows_px(fit(figure.update_xaxes(title_text="Frequency<br>f / Hz", row=1), options))
        assert two == pytest.approx(titled + 1.3 * 7 / 0.75, abs=0.5)


def test_titles_of_panels_have_room_and_move_along() -> None:
    figure = drawn(make_subplots(rows=2, shared_xaxes=True, subplot_titles=["A", "B"], vertical_spacing=0.3), 2)
    layout = fit(figure, SINGLE)
    assert 18 < rows_px(layout) < 24
    below = next(note for note in layout["annotations"] if note["text"] == "B")
    assert below["y"] == pytest.approx(layout["yaxis2"]["domain"][1])


def test_panels_keep_their_proportions_and_a_wide_one_stays_wide() -> None:
    specs = [[{"colspan": 2}, None], [{}, {}]]
    figure = make_subplots(rows=2, cols=2, specs=specs, row_heights=[0.7, 0.3], horizontal_spacing=0.2)
    for place in ((1, 1), (2, 1), (2, 2)):
        figure.add_scatter(x=np.arange(3.0), y=np.arange(3.0), row=place[0], col=place[1])
    layout = fit(figure, DOUBLE)
    size = [np.ptp(layout[name]["domain"]) for name in ("yaxis", "yaxis2")]
    assert size[0] / size[1] == pytest.approx(7 / 3)
    assert layout["xaxis"]["domain"] == pytest.approx([0, 1])
    between = layout["xaxis3"]["domain"][0] - layout["xaxis2"]["domain"][1]
    assert 0.03 < between < 0.12, "the gap of a screen is too wide here"
    assert layout["xaxis2"]["domain"][1] == pytest.approx(1 - layout["xaxis3"]["domain"][0])


def test_a_bar_of_colours_and_a_line_go_with_their_panel() -> None:
    figure = drawn(make_subplots(rows=2, vertical_spacing=0.4), 2)
    bar = {"y": 0.15, "len": 0.3}  # beside the lower panel
    figure.update_layout(coloraxis={"colorbar": bar})
    figure.add_shape(type="line", xref="paper", yref="paper", x0=0, x1=1, y0=0.7, y1=0.7)
    layout = fit(figure, SINGLE)
    low, high = layout["yaxis2"]["domain"]
    bar = layout["coloraxis"]["colorbar"]
    assert [bar["y"] - bar["len"] / 2, bar["y"] + bar["len"] / 2] == pytest.approx([low, high])
    assert layout["shapes"][0]["y0"] == pytest.approx(layout["yaxis"]["domain"][0])


def test_gaps_stay_where_their_size_is_not_known() -> None:
    def gap(change: Any) -> float:
        figure = make_subplots(rows=2, vertical_spacing=0.3)
        for row in (1, 2):
            figure.add_scatter(x=["a long name", "another"], y=[1, 2], row=row, col=1)
        change(figure)
        layout = fit(figure, SINGLE)
        return float(layout["yaxis"]["domain"][0] - layout["yaxis2"]["domain"][1])

    assert gap(lambda figure: None) == pytest.approx(0.3), "words at ticks may be turned"
    text = {"text": "between", "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
    assert gap(lambda figure: figure.add_annotation(text)) == pytest.approx(0.3)
    numbers = {"x": [1, 2]}
    assert gap(lambda figure: figure.update_traces(numbers)) < 0.2
    assert gap(lambda figure: figure.update_traces(numbers).add_annotation(text)) == pytest.approx(0.3)
    apart = {"yaxis3": {"domain": [0.3, 0.6], "anchor": "x3"}, "xaxis3": {"anchor": "y3"}}
    assert gap(lambda figure: figure.update_traces(numbers).update_layout(apart)) == pytest.approx(0.3), (
        "panels in no rows"
    )
