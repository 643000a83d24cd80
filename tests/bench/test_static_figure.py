"""A static figure in a notebook: what is shown with it, and when it follows the page."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from workbench.battery import template
from workbench.bench import display
from workbench.bench.figure import Figure


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    shown: list[Any] = []
    monkeypatch.setattr(display.pio, "show", lambda content, **how: shown.append((content, how)))
    monkeypatch.setattr("IPython.display.display", lambda html: shown.append(html.data))
    monkeypatch.setattr(type(display.pio.renderers), "default", "plotly_mimetype+notebook")
    return shown


def test_a_figure_without_a_height_gets_one_and_keeps_its_own(outputs: list[Any]) -> None:
    figure = Figure(data=[go.Scatter(x=[1], y=[2])])
    figure._ipython_display_()
    content, how = outputs[0]
    assert content["layout"]["height"] == display.HEIGHT
    assert figure.layout.height is None, "the figure itself is not changed"
    assert how["config"]["showSendToCloud"] is False
    figure.update_layout(height=777)
    figure._ipython_display_()
    assert outputs[2][0]["layout"]["height"] == 777


@pytest.mark.parametrize(
    ("layout", "follows"),
    [
        ({}, True),
        ({"template": template()}, True),
        ({"template": "plotly_white"}, True),
        ({"template": "plotly_dark"}, False),
        ({"paper_bgcolor": "white"}, False),
        ({"plot_bgcolor": "#eee"}, False),
        ({"template": {"layout": {"paper_bgcolor": "rgba(20, 20, 20, 1)"}}}, False),
        ({"template": {"layout": {"paper_bgcolor": "rgb(10%, 10%, 12%)"}}}, False),
        ({"template": {"layout": {"paper_bgcolor": "rgb(98%, 98%, 98%)"}}}, True),
        ({"template": {"layout": {"paper_bgcolor": "#fff"}}}, True),
    ],
)
def test_the_page_decides_where_the_script_did_not(
    outputs: list[Any], layout: dict[str, Any], follows: bool
) -> None:
    Figure(layout=layout)._ipython_display_()
    assert ("filter: invert" in outputs[1]) is follows


def test_a_figure_is_told_in_words(outputs: list[Any]) -> None:
    names = [go.Scatter(x=[1], y=[2], name=f"<b>cell</b> {n}") for n in range(10)]
    figure = Figure(data=names, layout={"title": {"text": "A <i>&</i> B"}, "xaxis": {"title": {"text": "t / h"}}})
    figure._ipython_display_()
    assert "Figure: A &amp; B. axes t / h. 10 traces: cell 0, cell 1, " in outputs[1]
    assert "and 2 more." in outputs[1]
    assert display.in_words(go.Figure()) == "Figure: without a title. 0 traces."


def test_nothing_is_added_where_no_notebook_shows_it(outputs: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(display.pio.renderers), "default", "browser")
    Figure()._ipython_display_()
    assert len(outputs) == 1
