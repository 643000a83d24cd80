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


def fitted(layout: dict[str, Any], width: int = 340, height: int = 400) -> dict[str, Any]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    asked = f"console.log(JSON.stringify(fitted({json.dumps(layout)}, [], {width}, {height})))"
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


def test_other_markup_stays_as_it_is() -> None:
    text = "Capacity of the cells <i>at the beginning</i> of the test, before it was stored in the cold room"
    assert fitted({"xaxis": {"title": {"text": text}}})["xaxis"]["title"]["text"] == text
