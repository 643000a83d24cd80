"""The author in a notebook: wish, draft, difference, undo, acceptance, pasting; as the page asks for it by messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.authoring.difference import difference
from workbench.errors import BadRequest, ServerAway
from workbench.notebook.author_view import AuthorView

SCRIPT = "def transform(data, params):\n    return px.bar(data['cells'], x='name', y='mass')\n"


@pytest.fixture
def bench(demo_copy: Path) -> Iterator[wb.Bench]:
    with wb.open(demo_copy) as made:
        yield made


def pressed(view: AuthorView, kind: str, **more: Any) -> None:
    """What the page sends when a person presses something."""
    view._panel._handle_custom_msg({"kind": kind, **more}, [])


def test_from_a_wish_to_a_saved_plot_and_its_revision(bench: wb.Bench) -> None:
    board = bench.dashboards.create("Wished")
    view = bench.author("How does capacity fade by batch?", board)
    panel = view._panel
    assert [one["who"] for one in panel.said] == ["you", "author"]
    assert view.checked.is_sound
    assert view.view.figure().data
    assert panel.draft["accept"]
    assert "traces" in panel.draft["numbers"]
    assert panel.draft["parts"] == []
    pressed(view, "ask", text="only batch A, each cell")
    parts = {one["part"]: one["lines"] for one in panel.draft["parts"]}
    assert set(parts) == {"params"}
    assert any(line["sign"] == "-" and "LFP-C-01" in line["text"] for line in parts["params"])
    assert panel.state["beside"]
    pressed(view, "beside")
    assert [len(place.children) for place in view._places] == [1, 1]
    pressed(view, "accept", name="Fade of A")
    assert [plot.name for plot in board.plots()] == ["Fade of A"]
    assert board.plot("Fade of A").session() is not None
    assert not panel.draft["accept"]
    pressed(view, "ask", text="all of batch B")
    assert view.view.values["cells"][0] == "M50-B-01"
    pressed(view, "accept", name="Fade of A")
    assert board.plot("Fade of A").revision == 2
    view.close()


def test_undo_goes_back_to_the_draft_before(bench: wb.Bench) -> None:
    view = bench.author("How does capacity fade by batch?", bench.dashboards.create("Wished"))
    first = view.draft
    view.ask("only batch A")
    assert view.draft != first
    pressed(view, "undo")
    assert view.draft == first
    assert view.view.values["cells"] == first["config"]["params"]["cells"]["default"]
    pressed(view, "undo")
    assert view.draft is None
    assert view.view is None
    pressed(view, "undo")
    assert "no draft to undo" in view._panel.told


def test_the_context_is_copied_and_an_answer_is_pasted(bench: wb.Bench) -> None:
    view = bench.author(board=bench.dashboards.create("Wished"))
    pressed(view, "context", text="")
    assert "Write what the plot should show first" in view._panel.told
    pressed(view, "context", text="Mass of each cell")
    assert view._panel.context.endswith("Mass of each cell")
    plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
    wrong = {"say": "Masses.", "draft": {"name": "M", "config": {"plan": plan, "transform": SCRIPT}}}
    pressed(view, "paste", text=f"```json\n{json.dumps(wrong)}\n```")
    assert any("mass" in one for one in view._panel.draft["problems"])
    assert "Repair all of this" in view._panel.draft["words"]
    assert not view._panel.draft["accept"]
    wrong["draft"]["config"]["transform"] = SCRIPT.replace(", y='mass'", "")
    pressed(view, "paste", text=json.dumps(wrong))
    assert view._panel.draft["accept"]
    assert view.view.figure().data


def test_other_choices_of_small_params_are_tried_after_the_picture_is_shown(bench: wb.Bench) -> None:
    script = (
        "def transform(data, params):\n"
        "    rows = data['cells'] if params['what'] != 'none' else data['cells'].iloc[:0]\n"
        "    if params['log']:\n        rows['nothing']\n"
        "    figure = go.Figure(go.Bar(x=rows['name'], y=rows.index, name='cells'))\n"
        "    return figure.update_xaxes(title='Cell').update_yaxes(title='Number')\n"
    )
    plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
    params = {
        "what": {"kind": "view", "default": "all", "control": {"options": ["all", "none"]}},
        "log": {"kind": "view", "default": False},
        "width": {"kind": "view", "default": 2, "control": {"min": 1, "max": 9}},
    }
    draft = {"name": "Cells", "config": {"plan": plan, "transform": script, "params": params}}
    view = bench.author(board=bench.dashboards.create("Wished"))
    assert view.paste(json.dumps({"say": "Cells.", "draft": draft})).is_sound
    hints = view._panel.draft["hints"]
    assert any(one.startswith('With what = "none" the figure has no points') for one in hints)
    assert any(one.startswith("With log = true it fails: Line 4") for one in hints)
    assert not any("width" in one for one in hints)


def test_what_goes_wrong_is_said_and_nothing_is_lost(bench: wb.Bench) -> None:
    board = bench.dashboards.create("Wished")
    board.save("Taken", {"plan": {"steps": {"a": {"op": "list", "source": "instances"}}}, "transform": SCRIPT})

    def broken(turns: Any) -> str:
        raise ServerAway("The model cannot be reached.")

    view = bench.author("A plot", board, respond=broken)
    assert view._panel.told == "The model cannot be reached."
    assert view._panel.state["busy"] == ""
    view = bench.author("How many cells are there in each batch?", board)
    pressed(view, "accept", name="Taken")
    assert "Taken" in view._panel.told
    assert view._panel.draft["accept"]
    words = view.ask("Plot the pressure over time")
    assert words.draft is None
    assert view._panel.said[-1]["text"] == words.say
    assert view._panel.draft["accept"]


def test_several_dashboards_must_be_told_apart(bench: wb.Bench) -> None:
    with pytest.raises(BadRequest, match="Give board="):
        bench.author("A plot")


def test_a_difference_names_the_parts_and_their_lines() -> None:
    before = {"name": "a", "config": {"plan": {"steps": {}}, "transform": "one\ntwo\nthree", "params": {}}}
    after = {"name": "a", "config": {"plan": {"steps": {}}, "transform": "one\n2\nthree", "params": {"p": 1}}}
    found = {part["part"]: part["lines"] for part in difference(before, after)}
    assert set(found) == {"params", "script"}
    assert [(line["sign"], line["text"]) for line in found["script"]] == [
        ("@", "…"),
        (" ", "one"),
        ("-", "two"),
        ("+", "2"),
        (" ", "three"),
    ]
    assert difference(before, before) == []
    assert {part["part"] for part in difference(None, after)} == {"name", "plan", "params", "script"}
