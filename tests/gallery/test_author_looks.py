"""The look that a wish asks for: which words give which look, and that the figure has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

import workbench as wb
from workbench.gallery.author import written
from workbench.gallery.author.looks import MARKER, Reader, dressed
from workbench.gallery.author.recipes.look import with_look
from workbench.transform.script import check_script

WORDS: list[tuple[str, dict[str, Any], str]] = [
    ("log y axis", {"y_scale": "log"}, ""),
    ("Plot fade, titled 'Cell 3 ages'", {"title": "Cell 3 ages"}, "Plot fade,"),
    ("title: Fade of A", {"title": "Fade of A"}, ""),
    ("Titel „Alterung“ und y-Achse von 80 bis 100", {"title": "Alterung", "y_range": [80.0, 100.0]}, "und"),
    ("échelle logarithmique en abscisse", {"x_scale": "log"}, "échelle"),
    ("y轴用对数坐标", {"y_scale": "log"}, ""),
    ("标题改为 “老化”", {"title": "老化"}, ""),
    ("voltage vs log time", {"x_scale": "log"}, "voltage vs time"),
    ("mit einer Linie bei 90 %", {"lines": [["y", 90.0]]}, "mit einer"),
    ("vertical line at cycle 50", {"lines": [["x", 50.0]]}, ""),
    ("dQ/dV between 3.3 and 4.1 V", {"of_unit": ["V", [3.3, 4.1]]}, "dQ/dV"),
    ("ohne Legende", {"legend": "none"}, ""),
    ("legend at the bottom", {"legend": "bottom"}, ""),
    ("voltage over time, as points", {"mode": "markers"}, "voltage over time,"),
    ("as lines", {"mode": "lines"}, ""),
    ("set the y axis label to 'Q / Ah'", {"y_title": "Q / Ah"}, "set"),
    ("What is the title of this?", {}, "What is the title of this?"),
    ("mark where each cell falls below 80 %", {}, "mark where each cell falls below 80 %"),
]


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[wb.Bench]:
    with wb.open(demo_store) as made:
        yield made


@pytest.mark.parametrize(("text", "look", "rest"), WORDS, ids=[text for text, _, _ in WORDS])
def test_the_words_of_a_look_are_taken_out_of_a_wish(text: str, look: dict[str, Any], rest: str) -> None:
    reader = Reader(text)
    assert reader.look == look
    assert " ".join(reader.rest.split()) == rest


def figure() -> go.Figure:
    made = go.Figure(go.Scatter(x=[0, 1, 2], y=[-1.0, 10.0, 100.0], mode="lines"))
    return made.update_xaxes(title_text="Time / s").update_yaxes(title_text="Voltage / V", range=[0, 5])


def test_a_logarithmic_axis_loses_the_range_of_the_linear_one_and_says_what_it_cannot_show() -> None:
    drawn = with_look(figure(), {"y_scale": "log"})
    assert drawn.layout.yaxis.type == "log"
    assert drawn.layout.yaxis.range is None
    assert drawn.layout.yaxis.title.text == "Voltage / V (those above 0)"
    assert drawn.layout.xaxis.type is None


def test_an_axis_without_a_value_above_zero_stays_linear() -> None:
    drawn = with_look(go.Figure(go.Scatter(x=[1, 2], y=[-1, -2])).update_yaxes(title_text="Y"), {"y_scale": "log"})
    assert drawn.layout.yaxis.type is None


def test_a_range_is_in_the_numbers_of_the_axis_whatever_its_scale() -> None:
    drawn = with_look(figure(), {"y_scale": "log", "y_range": [1.0, 100.0]})
    assert drawn.layout.yaxis.range == (0.0, 2.0)
    drawn = with_look(figure(), {"of_unit": ["V", [3.0, 4.0]]})
    assert drawn.layout.yaxis.range == (3.0, 4.0)
    assert drawn.layout.xaxis.range is None


def test_a_look_is_added_to_the_look_before_and_each_script_is_sound(bench: wb.Bench) -> None:
    first = written("energy efficiency by cycle at 45 °C", bench.backend)["draft"]
    titled = written("title 'Hot cells'", bench.backend, first)
    both = written("log y axis and a line at 95 %", bench.backend, titled["draft"])
    script = both["draft"]["config"]["transform"]
    assert check_script(script) == []
    assert script.count(MARKER) == 1
    assert both["draft"]["config"]["params"] == first["config"]["params"]
    assert "line at y = 95" in both["say"]
    drawn = bench.figure(both["draft"]["config"])
    assert drawn.layout.title.text == "Hot cells"
    assert drawn.layout.yaxis.type == "log"
    assert [one.y0 for one in drawn.layout.shapes] == [95]


def test_a_look_that_a_control_has_is_chosen_by_the_control(bench: wb.Bench) -> None:
    first = written("voltage of M50-A-01_RPT0 over time, as points", bench.backend)
    assert first["draft"]["config"]["params"]["lines"]["default"] == "markers"
    assert "Draw: points" in first["say"]
    again = written("as lines", bench.backend, first["draft"])
    made = again["draft"]["config"]
    assert made["params"]["lines"]["default"] == "lines"
    assert MARKER not in made["transform"]
    assert {one.mode for one in bench.figure(made, lines="markers").data} == {"markers"}


def test_a_script_keeps_its_arguments() -> None:
    made = dressed("def transform(data, params):\n    return 1\n", {"title": "T"})
    assert check_script(made) == []
    assert "def transform(data, params):\n    return with_look(drawn_before(data, params), LOOK)" in made
