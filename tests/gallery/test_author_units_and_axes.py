"""Units, parts of axes and exchanged axes that a wish asks for, and one value of each cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

import workbench as wb
from workbench.authoring import CheckedAnswer
from workbench.gallery.author.looks import Reader, dressed, look_of
from workbench.gallery.author.recipes.look import with_look


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[wb.Bench]:
    with wb.open(demo_store) as made:
        yield made


def talked(bench: wb.Bench, *wishes: str) -> CheckedAnswer:
    draft, checked = None, None
    for wish in wishes:
        checked = bench.backend.propose(wish, draft)
        draft = checked.draft or draft
    assert checked is not None
    assert not checked.problems
    return checked


def axes(checked: CheckedAnswer) -> dict[str, str]:
    assert checked.numbers is not None, checked.say
    return checked.numbers.axes


@pytest.mark.parametrize(
    ("wishes", "axis", "title", "least"),
    [
        (["capacity of batch C", "now in mAh"], "yaxis", "Discharge capacity / mA h", 2000),
        (["voltage in mV during the HPPC of M50-A-01"], "yaxis", "Voltage / mV", 2400),
        (["temperature in Kelvin during the highway drive cycle"], "yaxis", "Temperature / K", 290),
        (["charge time per cycle in minutes"], "yaxis", "Charge duration / min", 40),
        (["initial capacity of each cell in mAh"], "yaxis", "Initial capacity / mA h", 50),
    ],
)
def test_a_unit_of_a_wish_is_that_of_the_axis_and_of_its_values(
    bench: wb.Bench, wishes: list[str], axis: str, title: str, least: float
) -> None:
    """The plot was in the unit of the column, and only for some units that was said."""
    checked = talked(bench, *wishes)
    assert axes(checked)[axis] == title
    assert checked.numbers is not None
    assert all(one.y is None or one.y[1] > least for one in checked.numbers.traces)
    assert "Not as you asked" not in checked.say


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (["capacity of batch C", "in Wh"], "This plot cannot have that: the unit."),
        (["dQ/dV of cycles 10 to 50"], "Not as you asked: the cycles."),
        (["capacity fade in Wh"], "Not as you asked: the unit."),
        (["histogram of the initial resistance from 2 to 5 h"], "Not as you asked: the part of an axis."),
    ],
)
def test_what_no_axis_has_is_said(bench: wb.Bench, wishes: list[str], said: str) -> None:
    assert said in talked(bench, *wishes).say


def test_axes_are_exchanged_with_all_that_is_on_them(bench: wb.Bench) -> None:
    checked = talked(bench, "capacity fade", "swap the axes")
    assert axes(checked) == {"xaxis": "Capacity retention / %", "yaxis": "Cycle count"}
    assert axes(talked(bench, "end of life", "swap axes")) == {"xaxis": "Cell", "yaxis": "Cycles to 80 %"}


def test_exchanged_axes_take_their_lines_and_marks_along() -> None:
    made = go.Figure(go.Bar(x=["a", "b"], y=[1, 2], error_y={"array": [0.1, 0.2]}, hovertemplate="%{x}: %{y:.2f}"))
    made.add_hline(1.5).add_annotation(text="note", xref="paper", yref="paper", x=0, y=1)
    drawn = with_look(made.update_yaxes(title_text="Y", range=[0, 3]), {"swap": True})
    bar = drawn.data[0]
    assert (bar.orientation, list(bar.x), list(bar.y)) == ("h", [1, 2], ["a", "b"])
    assert list(bar.error_x.array) == [0.1, 0.2]
    assert bar.hovertemplate == "%{y}: %{x:.2f}"
    assert (drawn.layout.xaxis.title.text, drawn.layout.xaxis.range) == ("Y", (0, 3))
    line, note = drawn.layout.shapes[0], drawn.layout.annotations[0]
    assert (line.x0, line.x1, line.yref) == (1.5, 1.5, "y domain")
    assert (note.x, note.y, note.xref) == (0, 1, "paper")


def test_a_look_goes_with_its_axis_where_the_axes_are_exchanged_and_twice_is_as_before() -> None:
    script = "def transform(data, params):\n    return go.Figure()\n"
    once = dressed(dressed(script, {"y_scale": "log", "lines": [["y", 80.0]]}), {"swap": True})
    assert look_of(once) == {"x_scale": "log", "lines": [["x", 80.0]], "swap": True}
    assert look_of(dressed(once, {"swap": True}))["swap"] is False


def test_a_part_of_an_axis_is_converted_with_its_unit() -> None:
    made = go.Figure(go.Scatter(x=[0, 1, 2, 3], y=[3.0, 3.2, 3.4, 3.6]))
    made.update_xaxes(title_text="Cycle count").update_yaxes(title_text="Voltage / V")
    drawn = with_look(made, {"units": ["mV"], "of_unit": ["V", [3.1, 3.5]]})
    assert drawn.layout.yaxis.range == pytest.approx((3100, 3500))
    drawn = with_look(made, {"cycles": [2, 3]})
    assert drawn.layout.xaxis.range == (1, 2)
    assert drawn.layout.yaxis.range == pytest.approx((3.19, 3.41))


@pytest.mark.parametrize(
    ("text", "look"),
    [
        ("make the lines thicker", {"width": 3}),
        ("thinner lines", {"width": 1}),
        ("markers only, no lines", {"mode": "markers"}),
        ("put the legend underneath the plot", {"legend": "bottom"}),
        ("move the legend to the left", {"legend": "left"}),
        ("y from 70 to 100", {"y_range": [70.0, 100.0]}),
        ("start the y axis at zero", {"y_zero": True}),
        ("reverse the x axis", {"x_reverse": True}),
        ("call the y axis SOH / %", {"y_title": "SOH / %"}),
        ("rename it to Fade overview", {"title": "Fade overview"}),
        ("remove the grid", {"grid": False}),
        ("efficiency between 99 and 100 %", {"of_unit": ["%", [99.0, 100.0]]}),
        ("resistance between 20 and 80 % SOC", {}),
        ("skip the first 5 cycles", {"cycles": [6, None]}),
        ("only the first 20 cycles", {"cycles": [None, 20]}),
        ("show only cycles after 50", {"cycles": [50, None]}),
        ("specific capacity in mAh/g", {}),
        ("all cells in A", {}),
    ],
)
def test_words_for_a_look(text: str, look: dict[str, Any]) -> None:
    assert Reader(text).look == look


@pytest.mark.parametrize(
    ("wish", "bars", "title"),
    [
        ("highest temperature of each cell", 14, "Highest temperature / °C"),
        ("mean of the maxima of the temperature", 1, "Highest temperature / °C"),
        ("lowest voltage of the cells in batch C", 4, "Lowest voltage / V"),
    ],
)
def test_one_value_of_each_cell_is_drawn_as_bars(bench: wb.Bench, wish: str, bars: int, title: str) -> None:
    checked = talked(bench, wish)
    assert checked.numbers is not None, checked.say
    assert checked.numbers.axes["yaxis"] == title
    assert {one.type for one in checked.numbers.traces} == {"bar"}
    assert sum(one.points for one in checked.numbers.traces) == bars


def test_a_plot_of_cells_can_have_another_look(bench: wb.Bench) -> None:
    """A function of the look had the name of one of the script: TypeError: scaled() missing 3 arguments."""
    assert talked(bench, "initial capacity of each cell, title 'Capacities'").is_sound


def test_a_script_that_was_dressed_before_gets_what_the_new_look_needs(bench: wb.Bench) -> None:
    draft: Any = talked(bench, "capacity of batch C", "thicker lines").draft
    old = draft["config"]["transform"].replace("        look_in_unit(figure, unit)", "        pass")
    draft["config"]["transform"] = old
    assert axes(bench.backend.propose("in mAh", draft))["yaxis"] == "Discharge capacity / mA h"


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("capacity of cell 3", "There is no 'cell 3'"),
        ("current against voltage for M50-A-01_HPPC_fresh", "another measured quantity"),
        ("charge capacity minus discharge capacity", "a difference or a ratio"),
        ("surface plot of dQ/dV", "three dimensions"),
        ("save the plot as png", "use Export beside the plot"),
        ("how many hours did each test last", "do not know what to draw"),
    ],
)
def test_what_is_not_drawn_is_said(bench: wb.Bench, wish: str, said: str) -> None:
    checked = talked(bench, wish)
    assert checked.draft is None
    assert said in checked.say


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("capacity fade in red", "Not as you asked: the colours."),
        ("initial capacity vs electrolyte", "Not as you asked: the values against another property."),
        ("capacity of every tenth cycle", "Not as you asked: the cycles."),
        ("capacity of the 3rd check-up", "Not as you asked: which of the tests, by its number."),
        ("export capacity fade as csv", "use Export beside the plot"),
    ],
)
def test_a_part_that_is_not_drawn_is_named(bench: wb.Bench, wish: str, said: str) -> None:
    checked = talked(bench, wish)
    assert checked.draft is not None
    assert said in checked.say


def test_words_that_only_narrow_name_nothing(bench: wb.Bench) -> None:
    assert "Nothing here is called" not in talked(bench, "only cells of batch A at 45 °C: capacity retention").say


def test_cycles_and_equivalent_cycles_are_different_axes(bench: wb.Bench) -> None:
    checked = talked(bench, "capacity vs equivalent full cycles for batch B")
    assert axes(checked)["xaxis"] == "Equivalent full cycles"
    assert json.dumps(checked.draft).count("throughput")
