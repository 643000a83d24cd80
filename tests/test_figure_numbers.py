"""The numbers of a figure as a tidy table: the same numbers, under what the axes say."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

import workbench as wb
from workbench import battery, figure_numbers
from workbench.bench.figure import Figure
from workbench.errors import BadRequest
from workbench.export import table_csv
from workbench.figure_traces import traces
from workbench.transform.figure import encode


def columns(figure: Any) -> list[str]:
    return figure_numbers.tidy(encode(figure)).names


def curves(**layout: Any) -> dict[str, Any]:
    x = np.array([0.1, 0.2, 1 / 3])
    held = [{"type": "scatter", "name": name, "x": x, "y": x * k / 7} for k, name in enumerate(("A", "B"), 1)]
    return {"data": held, "layout": layout}


def test_columns_are_called_by_the_axes_and_the_numbers_are_the_same() -> None:
    figure = curves(**battery.axis_titles("Voltage [V]", "Discharge capacity [mA.h/g]"))
    made = figure_numbers.tidy(encode(figure))
    assert made.names == ["Curve", "Series", "Voltage [V]", "Discharge capacity [mA.h/g]"]
    read = pd.read_csv(io.BytesIO(table_csv(made)))
    plain = traces(encode(figure))
    assert read["Curve"].tolist() == plain["trace"].tolist()
    assert read["Voltage [V]"].tolist() == plain["x"].tolist(), "exactly"
    assert read["Discharge capacity [mA.h/g]"].tolist() == plain["y"].tolist()
    for number, trace in enumerate(figure["data"]):
        part = read[read["Curve"] == number]
        assert part["Series"].unique().tolist() == [trace["name"]]
        assert part["Discharge capacity [mA.h/g]"].tolist() == trace["y"].tolist()


@pytest.mark.parametrize(
    ("trace", "names", "first"),
    [
        (go.Scatterpolar(r=[0.5], theta=[90]), ["Radius", "Angle [deg]"], [0.5, 90]),
        (go.Scatterternary(a=[1], b=[3], c=[6]), ["a", "b", "c"], [1, 3, 6]),
        (go.Scattersmith(real=[0.5], imag=[-1]), ["Real part", "Imaginary part"], [0.5, -1]),
        (
            go.Parcoords(dimensions=[{"label": "Mass / g", "values": [45, 46]}, {"values": [2.5, 2.25]}]),
            ["Mass [g]", "Dimension 2"],
            [45, 2.5],
        ),
        (
            go.Splom(
                dimensions=[{"label": "Mass / g", "values": [n]} for n in (1, 2)]
                + [{"label": "name", "values": [3]}, {"label": "Mass / g, 2", "values": [4]}],
                hovertext=["A-1"],
                customdata=[[25]],
                hovertemplate="T = %{customdata[0]} °C",
            ),
            ["Mass [g]", "Mass, 2 [g]", "name", "Mass / g, 2", "Hover text", "T [degC]"],
            [1, 2, 3, 4, "A-1", 25],
        ),
        (
            go.Box(y=["A"], q1=[1], median=[2], q3=[3], orientation="h"),
            ["y", "x q1", "x median", "x q3"],
            ["A", 1, 2, 3],
        ),
        (go.Sankey(link={"source": [0], "target": [1], "value": [2]}), ["Source", "Target", "Value"], [0, 1, 2]),
        (go.Indicator(value=80, title={"text": "SOH / %"}), ["SOH [%]"], [80]),
        (
            go.Scatter3d(x=[1], y=[2], z=[3], line={"color": [25.0], "colorbar": {"title": {"text": "T / °C"}}}),
            ["x", "y", "z", "T [degC]"],
            [1, 2, 3, 25.0],
        ),
        (
            go.Choropleth(locations=["DE"], z=[2.5], colorbar_title_text="Loss / %"),
            ["Loss [%]", "Location"],
            [2.5, "DE"],
        ),
    ],
)
def test_each_kind_of_place_has_its_columns(trace: Any, names: list[str], first: list[float]) -> None:
    made = figure_numbers.tidy_frame(encode(go.Figure(trace)))
    assert list(made) == ["Curve", "Series", *names]
    assert made.iloc[0].tolist()[2:] == first


def test_all_lists_of_a_figure_with_very_many_are_there() -> None:
    shown = [{"label": "Q", "values": [n]} for n in range(3000)] + [None]
    made = figure_numbers.tidy(encode({"data": [{"type": "parcoords", "dimensions": shown}], "layout": {}}))
    assert len(made.names) == 2 + 3001
    assert made["Q, 3000"].tolist() == [2999]


def test_panels_have_columns_of_their_own_quantities() -> None:
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True)
    figure.add_scatter(x=[1, 2], y=[3, 4], row=1, col=1)
    figure.add_scatter(x=[1, 2], y=[5, 6], row=2, col=1)
    figure.update_yaxes(title_text="Voltage / V", row=1)
    figure.update_yaxes(title_text="Current / A", row=2)
    figure.update_xaxes(title_text="Time / h", row=2)
    made = figure_numbers.tidy_frame(encode(figure))
    assert list(made) == ["Curve", "Series", "Panel", "Time [h]", "Voltage [V]", "Current [A]"]
    assert made["Panel"].tolist() == [1, 1, 2, 2]
    assert made["Time [h]"].tolist() == [1, 2, 1, 2], "the panels share one title"
    assert made["Voltage [V]"].isna().tolist() == [False, False, True, True]


def test_two_axes_over_each_other_are_one_panel() -> None:
    both = curves(yaxis={"title": {"text": "U (V)"}}, yaxis2={"title": {"text": "I (A)"}, "overlaying": "y"})
    both["data"][1]["yaxis"] = "y2"
    assert columns(both) == ["Curve", "Series", "x", "U [V]", "I [A]"]


def test_errors_colours_and_hover_values_have_names() -> None:
    trace = {
        "type": "scatter",
        "x": [1, 2],
        "y": [3, 4],
        "error_y": {"array": [0.1, 0.2], "arrayminus": [0.3, 0.4]},
        "marker": {"color": np.array([25.0, 45.0]), "colorbar": {"title": {"text": "T / °C"}}},
        "customdata": [[5, 6, "c", 8], [5, 6, "c", 8]],
        "hovertemplate": "%{y} ± %{customdata[0]:.2g} (n = %{customdata[1]}), %{customdata[2]}<br>%{customdata[3]} mV",
    }
    titles = battery.axis_titles("Cycle count", "Resistance [mOhm]")
    assert columns({"data": [trace], "layout": titles}) == [
        *("Curve", "Series", "Cycle count", "Resistance [mOhm]"),
        *("Resistance error [mOhm]", "Resistance error below [mOhm]", "Resistance ± [mOhm]", "n"),
        *("Hover value 3", "Hover value 4 [mV]", "T [degC]"),
    ]


def test_an_axis_without_a_title_is_called_as_its_hover_text_calls_it() -> None:
    bar = {"type": "bar", "x": ["A1"], "y": [7], "text": ["> 7"]}
    bar["hovertemplate"] = "Cell: %{x}<br>Cycles: %{text}"
    titles = battery.axis_titles("Cell name", "Cycle count")
    assert columns({"data": [bar], "layout": {}}) == ["Curve", "Series", "Cell", "y", "Cycles"]
    assert columns({"data": [bar], "layout": titles}) == ["Curve", "Series", "Cell name", "Cycle count", "Cycles"]


def test_other_figures() -> None:
    grid = {"type": "heatmap", "z": np.eye(2), "colorbar": {"title": {"text": "Loss / %"}}}
    assert columns({"data": [grid], "layout": {}}) == ["Curve", "Series", "x", "y", "Loss [%]"]
    same = curves(**battery.axis_titles("Voltage [V]", "Voltage [V]"))
    assert columns(same) == ["Curve", "Series", "Voltage [V]", "Voltage, y [V]"]
    solid = go.Figure(go.Scatter3d(x=[1], y=[2], z=[3]), layout={"scene": {"zaxis": {"title": {"text": "R / Ω"}}}})
    assert columns(solid) == ["Curve", "Series", "x", "y", "R [Ohm]"]
    table = {"type": "table", "header": {"values": ["Cell", "Series"]}, "cells": {"values": [["a"], [1]]}}
    assert columns({"data": [table], "layout": {}}) == ["Curve", "Series", "Cell", "Series, Series"]
    assert columns({"data": [], "layout": {}}) == []
    coloured = battery.coloring(list(range(9)), "Cycle")
    assert figure_numbers.tidy(encode({"data": [*curves()["data"], *coloured.bar], "layout": {}})).n == 6
    named = px.scatter(pd.DataFrame({"a": [1], "b": [2], "c": [3]}), x="a", y="b", hover_data=["c"])
    assert columns(named) == ["Curve", "Series", "a", "b", "c"]


def test_a_figure_gives_its_numbers_to_pandas_and_polars() -> None:
    polars = pytest.importorskip("polars")
    figure = Figure(curves(**battery.axis_titles("Voltage [V]", "Current [A]")))
    frame, other = figure.tidy(), figure.to_polars()
    assert isinstance(other, polars.DataFrame)
    assert other.columns == list(frame)
    assert other["Current [A]"].to_list() == frame["Current [A]"].tolist()


def test_whole_numbers_can_be_calculated_with(tmp_path: Path) -> None:
    """A figure holds the numbers of 120 cycles in a byte each: twice 119 was -18 in polars and in a parquet export."""
    polars = pytest.importorskip("polars")
    cycle = np.arange(120)
    figure = Figure(go.Figure(go.Scatter(x=cycle, y=cycle / 2, name="A")))
    figure.update_layout(**battery.axis_titles("Cycle count", "Voltage [V]"))
    assert (2 * figure.to_polars()["Cycle count"])[-1] == 238
    figure.save(tmp_path / "tidy.parquet", tidy=True)
    figure.save(tmp_path / "plain.parquet")
    for name, column in (("tidy", "Cycle count"), ("plain", "x")):
        assert (2 * polars.read_parquet(tmp_path / f"{name}.parquet")[column])[-1] == 238


def test_a_series_of_no_source_has_its_columns(tmp_path: Path) -> None:
    """In pandas it had; in polars and in an export it had only the id and the number of the sample."""
    polars = pytest.importorskip("polars")
    tests = {"op": "list", "source": "measurements", "fields": ["id"]}
    curves = {"op": "series", "source": "measurements", "ids": {"from": "tests", "column": "id"}}
    curves |= {"x": "Time [s]", "columns": ["Voltage [V]"]}
    plan = {"steps": {"tests": tests, "curves": curves}}
    recipe = {"plan": plan, "transform": "def transform(data, params):\n    return go.Figure()\n", "params": {}}
    with wb.open(tmp_path / "empty.db") as bench:
        data = bench.dataset(plan)
        bench.export(recipe, tmp_path / "curves.csv", step="curves")
    made = data.to_polars()["curves"]
    assert made.schema == {
        "id": polars.String, "sample": polars.Int64, "Time [s]": polars.Float64, "Voltage [V]": polars.Float64
    }  # fmt: skip
    assert list(data["curves"].long()) == ["id", "Time [s]", "Voltage [V]"]
    assert list(pd.read_csv(tmp_path / "curves.csv")) == ["id", "sample", "Time [s]", "Voltage [V]"]


def test_export_writes_tidy_tables_only_where_asked(demo_store: Path, demo_folder: Path, tmp_path: Path) -> None:
    recipe = demo_folder / "recipes" / "fade-by-batch.json"
    with wb.open(demo_store) as bench:
        bench.export(recipe, tmp_path / "plain.csv")
        bench.export(recipe, tmp_path / "tidy.csv", tidy=True)
        bench.export(recipe, tmp_path / "printed.csv", paper="nature")
        with pytest.raises(BadRequest, match=r"Tidy numbers go to .csv or .parquet"):
            bench.export(recipe, tmp_path / "a.html", tidy=True)
        with pytest.raises(BadRequest, match="There is no journal 'natur'"):
            bench.export(recipe, tmp_path / "a.html", paper="natur")
        page = bench.export(recipe, tmp_path / "a.html", paper="nature", width="8.5 cm", font="8 pt")
        steps = bench.dataset(recipe).to_polars()
        frames = bench.dataset(recipe)
    assert page["warnings"] == []
    assert '"width":321' in (tmp_path / "a.html").read_text()[-3_000_000:].replace(" ", "")
    plain, tidy = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("plain", "tidy"))
    assert list(plain)[:4] == ["trace", "name", "x", "y"], "as it was before"
    assert list(tidy)[:4] == ["Curve", "Series", "Cycle count", "Capacity retention [%]"]
    assert (tmp_path / "printed.csv").read_bytes() == (tmp_path / "tidy.csv").read_bytes()
    pd.testing.assert_series_equal(plain["y"], tidy["Capacity retention [%]"], check_names=False)
    assert {name: len(frame) for name, frame in steps.items()} == {
        name: len(step) for name, step in frames.items()
    }


def test_categories_in_groups_keep_both_levels() -> None:
    """As the cycles of two tests on one axis: both levels are columns, and no number is made up."""
    figure = go.Figure(go.Bar(x=[["a", "a", "b"], [0, 1, 0]], y=[1.0, 2.0, 3.0]))
    figure.update_xaxes(title_text="Cycle count")
    drawn = figure_numbers.tidy_frame(encode(figure))
    assert drawn["Cycle count"].tolist() == [0, 1, 0]
    assert drawn["Cycle count group"].tolist() == ["a", "a", "b"]


@pytest.mark.parametrize("title", ["Time / 10³ s", "Time / 10<sup>3</sup> s", "Current (100 mA)"])
def test_a_factor_before_a_unit_is_not_lost(title: str) -> None:
    """The column was ``Time [s]``, a thousand times too small."""
    shown = {
        "data": [{"type": "scatter", "x": [1, 2], "y": [3, 4]}],
        "layout": {"xaxis": {"title": {"text": title}}},
    }
    (name,) = set(figure_numbers.tidy(encode(shown))) - {"Curve", "Series", "y"}
    assert name == title.replace("<sup>3</sup>", "³")


@pytest.mark.parametrize(
    ("visible", "layout", "there"),
    [
        (False, {}, False),
        ("legendonly", {}, True),
        (False, {"updatemenus": [{"buttons": [{"method": "restyle", "args": ["visible", True]}]}]}, True),
        (False, {"sliders": [{"steps": [{"method": "restyle", "args": ["visible", True]}]}]}, True),
    ],
)
def test_a_trace_that_nothing_can_show_is_not_listed(visible: Any, layout: dict[str, Any], there: bool) -> None:
    figure = curves(**layout)
    figure["data"][1]["visible"] = visible
    series = figure_numbers.tidy_frame(encode(figure))["Series"].unique().tolist()
    assert series == (["A", "B"] if there else ["A"])


def test_one_hover_text_of_a_whole_curve_is_a_column() -> None:
    """Curves of the cells of a batch have its name: the table did not say which cell each was of."""
    traces = [
        {"type": "scatter", "x": [0, 1], "y": [1.0, 2.0], "name": "A", "hovertext": f"Cell: C{k}"} for k in (1, 2)
    ]
    more = [
        {"type": "scatter", "x": [0], "y": [1.0], "hovertext": "alone"},
        {"type": "scatter", "x": [0], "y": [1.0]},
    ]
    made = figure_numbers.tidy_frame(encode({"data": [*traces, *more], "layout": {}}))
    assert made["Cell"].tolist()[:4] == ["C1", "C1", "C2", "C2"]
    assert made["Hover text"].tolist()[4] == "alone"
    assert made["Cell"].isna().tolist()[4:] == [True, True]
