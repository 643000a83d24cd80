"""Lines above a plot are wrapped to the width of the paper, stand above each other, and have room."""

from __future__ import annotations

import orjson

from workbench.pictures.fitting import fitted

NOTE = {
    "xref": "paper",
    "yref": "paper",
    "x": 0,
    "y": 1,
    "xanchor": "left",
    "yanchor": "bottom",
    "showarrow": False,
}


def test_lines_above_a_plot_are_wrapped_and_have_room() -> None:
    notes = [{**NOTE, "text": "several words " * 9, "yshift": 2}, {**NOTE, "text": "and others", "yshift": 20}]
    figure = {"data": [{"type": "scatter", "x": [0, 1], "y": [0, 1]}], "layout": {"annotations": notes}}
    made, _ = fitted(orjson.dumps(figure), {"width": "8.5 cm"})
    layout = orjson.loads(made)["layout"]
    first, second = layout["annotations"]
    lines = first["text"].split("<br>")
    assert len(lines) >= 2
    assert " ".join(lines) == ("several words " * 9).strip()
    letters = layout["template"]["layout"]["font"]["size"]
    assert second["yshift"] >= first["yshift"] + len(lines) * letters
    assert layout["margin"]["t"] >= second["yshift"] + letters
