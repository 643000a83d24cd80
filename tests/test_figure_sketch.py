"""Sketches of figures: what is recognised, where it is, and how little it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from workbench.figure_sketch import MOST_LINES, MOST_POINTS, SIDE, sketch
from workbench.typed_arrays import to_spec


def figure(*traces: dict[str, Any], **layout: Any) -> bytes:
    return orjson.dumps({"data": traces, "layout": layout})


def test_lines_points_and_bars_are_where_they_are_in_the_figure() -> None:
    line = {"x": [0, 5, 10], "y": [0, 1, 2], "mode": "lines"}
    dots = {"x": [10], "y": [0], "mode": "markers"}
    assert sketch(figure(line, dots)) == [
        {"dots": False, "points": [[0, SIDE], [50, 50], [SIDE, 0]]},
        {"dots": True, "points": [[SIDE, SIDE]]},
    ]
    lone = sketch(figure({"type": "scatter", "mode": "lines", "x": [1], "y": [2]}))
    assert [line["dots"] for line in lone] == [True], "a line of one point shows nothing"


def test_bars_are_bars_and_no_line_over_their_ends() -> None:
    upright = {"type": "bar", "x": ["a", "b"], "y": [5, 10]}
    assert sketch(figure(upright)) == [
        {"dots": False, "points": [[0, SIDE], [0, 50], [SIDE, SIDE], [SIDE, 0]], "bars": True}
    ]
    assert sketch(figure({**upright, "base": 5}))[0]["points"] == [[0, SIDE], [0, 50], [SIDE, SIDE], [SIDE, 0]]
    lying = {"type": "bar", "orientation": "h", "x": [5, 10], "y": ["a", "b"]}
    order = {"categoryarray": ["b", "a"], "autorange": "reversed"}
    assert sketch(figure(lying, yaxis=order))[0]["points"] == [[0, SIDE], [50, SIDE], [0, 0], [SIDE, 0]]
    stacked = sketch(figure(upright, {**upright, "y": [5, 0]}, barmode="stack"))
    assert [one["points"][:2] for one in stacked] == [[[0, SIDE], [0, 50]], [[0, 50], [0, 0]]]
    beside = sketch(figure(upright, upright, barmode="group"))
    assert beside[0]["points"][0][0] < beside[1]["points"][0][0], "side by side"
    (log,) = sketch(figure({"type": "bar", "x": ["a", "b"], "y": [10, 100]}, yaxis={"type": "log"}))
    assert [y for _, y in log["points"]] == [SIDE, 50, SIDE, 0], "a logarithmic axis has no 0"
    assert len(sketch(figure({"type": "bar", "x": ["a"], "y": [5]}))[0]["points"]) == 2


def test_bars_between_times_are_as_long_as_they_last() -> None:
    day = 24 * 3600 * 1000
    calendar = {"type": "bar", "orientation": "h", "base": ["2026-03-01", "2026-03-03T00:00:00"], "y": ["a", "b"]}
    (bars,) = sketch(figure({**calendar, "x": [day, 2 * day]}, xaxis={"type": "date"}))
    assert bars["points"] == [[0, SIDE], [25, SIDE], [50, 0], [SIDE, 0]]


def test_traces_share_axes_and_panels_keep_their_part() -> None:
    left = {"x": [0, 1], "y": ["cell 1", "cell 1"]}
    right = {"x": [0, 1], "y": ["cell 2", "cell 2"]}
    first, second = sketch(figure(left, right))
    assert {y for _, y in first["points"]} == {SIDE}
    assert {y for _, y in second["points"]} == {0}
    panel = {"x": [0, 1], "y": [1, 1], "xaxis": "x2", "yaxis": "y2"}
    (drawn,) = sketch(figure(panel, xaxis2={"domain": [0.5, 1]}, yaxis2={"domain": [0, 0.5]}))
    assert drawn["points"] == [[50, 75], [SIDE, 75]]


def test_logarithms_times_and_gaps_are_understood() -> None:
    (log,) = sketch(figure({"x": [1, 10, 100], "y": [0, 1, 2]}, xaxis={"type": "log"}))
    assert [x for x, _ in log["points"]] == [0, 50, SIDE]
    (times,) = sketch(figure({"x": ["2024-01-01", "2024-01-02", "2024-01-05"], "y": [0, 0, 0]}))
    assert [x for x, _ in times["points"]] == [0, 25, SIDE]
    (gaps,) = sketch(figure({"x": [0, 1, 2], "y": [1, None, 3]}))
    assert len(gaps["points"]) == 2
    assert sketch(figure({"x": [1], "y": [None]}, {"type": "pie", "values": [1]})) == []


def test_a_large_figure_has_a_small_sketch() -> None:
    many = [
        {"x": to_spec(np.arange(100_000.0)), "y": to_spec(np.full(100_000, float(n))), "name": str(n)}
        for n in range(40)
    ]
    made = sketch(figure(*many))
    assert len(made) == MOST_LINES
    assert {len(one["points"]) for one in made} == {MOST_POINTS}
    assert made[0]["points"][0][1] == SIDE
    assert made[-1]["points"][0][1] == 0, "the lines are spread over all traces"
    assert len(orjson.dumps(made)) < 3000
