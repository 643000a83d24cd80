"""Figures as people hold them: the same as the bytes that a page is sent, whatever a script returned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.transform.figure import decode

PLAN = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as bench:
        yield bench


def recipe(returned: str) -> dict[str, Any]:
    return {"plan": PLAN, "transform": f"def transform(data, params):\n    return {returned}\n"}


@pytest.mark.parametrize(
    "returned",
    [
        "{'data': [{'type': 'scatter', 'y': [1, 2]}], 'layout': {'title': 'Plain'}}",
        "{'data': [], 'layout': {'template': 'plotly_white'}}",
        "go.Figure(go.Scatter(y=[1, 2]))",
        "go.Figure(go.Bar(y=[1]), layout={'template': None})",
    ],
)
def test_a_figure_looks_here_as_on_a_page(bench: wb.Bench, returned: str) -> None:
    sent = decode(bench.work.figure(recipe(returned), {}).figure)
    held = decode(bench.figure(recipe(returned)).to_json())
    assert held == {"data": sent["data"], "layout": sent["layout"]}


def test_what_plotly_does_not_know_is_left_out_as_a_page_leaves_it_out(bench: wb.Bench) -> None:
    figure = bench.figure(recipe("{'data': [{'y': [1], 'colour': 'red'}], 'layout': {'xaxs': {}}}"))
    assert figure.data[0].y == (1,)
    assert isinstance(figure, wb.Figure)
    assert figure.workbench.cache == {"dataset": "miss", "figure": "miss"}
