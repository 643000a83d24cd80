"""A figure in a small room: what its layout becomes before it is drawn, as the script of the view computes it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "workbench" / "notebook" / "figure_layout.js"
PANEL = {"showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 1.0, "yanchor": "bottom"}


def fitted(layout: dict[str, Any], width: int = 340, height: int = 400, traces: int = 0) -> dict[str, Any]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    data = [{"name": f"cell {n}"} for n in range(traces)]
    asked = f"console.log(JSON.stringify(fitted({json.dumps(layout)}, {json.dumps(data)}, {width}, {height})))"
    text = SCRIPT.read_text("utf-8") + asked
    done = subprocess.run([node, "-e", text], capture_output=True, text=True, timeout=60, check=True)
    made: dict[str, Any] = json.loads(done.stdout)
    return made


@pytest.mark.parametrize(
    ("text", "least"), [("Loss", 28), ("Lithium<br>inventory", 42), ("Loss of<br>the<br>anode", 60)]
)
def test_titles_of_panels_in_several_lines_have_room(text: str, least: int) -> None:
    note = {**PANEL, "text": text, "xanchor": "center", "font": {"size": 14}}
    assert least <= fitted({"annotations": [note]})["margin"]["t"] < least + 20


def test_a_title_of_an_axis_that_has_lines_of_its_own_is_not_wider_than_the_figure() -> None:
    long = "Bars are wall-clock time from first to last sample; the long tests pause<br>while a check runs."
    lines = fitted({"xaxis": {"title": {"text": long}}})["xaxis"]["title"]["text"].split("<br>")
    assert " ".join(lines) == long.replace("<br>", " ")
    assert max(len(line) for line in lines) < 45


def test_a_legend_below_leaves_the_plot_most_of_the_height() -> None:
    below = {"orientation": "h", "y": -0.2}
    assert fitted({"legend": below}, traces=12)["legend"] == {**below, "maxheight": 0.3}
    assert fitted({"legend": {**below, "maxheight": 0.4}}, traces=12)["legend"]["maxheight"] == 0.4
    assert fitted({"legend": below}, traces=1)["legend"] == below


def test_other_markup_stays_as_it_is() -> None:
    text = "Capacity of the cells <i>at the beginning</i> of the test, before it was stored in the cold room"
    assert fitted({"xaxis": {"title": {"text": text}}})["xaxis"]["title"]["text"] == text


@pytest.mark.parametrize(("width", "height"), [(340, 361), (580, 365)])
@pytest.mark.parametrize("cells", [23, 60])
def test_names_of_many_cells_do_not_lie_over_each_other(width: int, height: int, cells: int) -> None:
    names = [f"B{n}T25" for n in range(cells)]
    note = {"text": "of the first", "xref": "paper", "x": 0, "xshift": -120}
    layout = {"yaxis": {"tickvals": names, "ticktext": names, "tickfont": {"size": 14}}, "annotations": [note]}
    made = fitted(layout, width, height)
    axis = made["yaxis"]
    assert -120 < made["annotations"][0]["xshift"] < 0
    room = 0.7 * height / len(axis["ticktext"])
    assert 7 <= axis["tickfont"]["size"] <= room
    assert axis["ticktext"] == axis["tickvals"] == names[:: -(-cells // len(axis["ticktext"]))]


def test_names_that_have_room_stay_as_they_are() -> None:
    names = [f"B{n}T25" for n in range(23)]
    axis = {"tickvals": names, "ticktext": names, "tickfont": {"size": 14}}
    assert fitted({"yaxis": axis}, 900, 584)["yaxis"] == axis
    assert fitted({"yaxis": {"tickvals": [1, 2, 3]}}, 900, 330)["yaxis"] == {"tickvals": [1, 2, 3]}
