"""A live dashboard: each plot for itself, params of one name shared on request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ipywidgets import HTMLMath, Label, ToggleButton
from ipywidgets.widgets.widget_description import DescriptionWidget

import workbench as wb
from workbench.errors import Invalid
from workbench.notebook.plot_view import ControlNames

SCRIPT = """
def transform(data, params):
    if params.get("wrong"):
        raise ValueError("as asked")
    return go.Figure(go.Bar(x=data["cells"]["name"], y=[params["size"]] * len(data["cells"])))
"""


def recipe(**params: Any) -> dict[str, Any]:
    plan = {"steps": {"cells": {"op": "list", "source": "instances", "where": {"batch": "$batch"}},
                      "all": {"op": "list", "source": "instances"}}}  # fmt: skip
    batch = {"kind": "data", "default": "A", "control": {"optionsFrom": {"step": "all", "value": "batch_name"}}}
    size = {"kind": "view", "default": 1, "control": {"min": 0, "max": 9}}
    return {"plan": plan, "transform": SCRIPT, "params": {"batch": batch, "size": size, **params}}


@pytest.fixture
def board(demo_copy: Path) -> Any:
    with wb.open(demo_copy) as bench:
        board = bench.dashboards.create("Mine")
        board.save("one", recipe())
        board.save("two", recipe(own={"kind": "view", "default": "x", "control": {}}))
        board.save("fails", recipe(wrong={"kind": "view", "default": True, "control": {}}))
        yield board


def test_one_that_fails_leaves_the_others_alone(board: Any) -> None:
    shown = board.show()
    assert list(shown.views) == ["one", "two", "fails"]
    told = {name: view.surface.status for name, view in shown.views.items()}
    assert [bool(status["problems"]) for status in told.values()] == [False, False, True]
    assert "as asked" in told["fails"]["problems"][0]["message"]
    shown.refresh(wait=True)
    shown.views["fails"].set(wrong=False)
    assert shown.views["fails"].surface.status["problems"] == []


def test_nothing_makes_the_page_load_mathjax_before_controls_are_open(board: Any) -> None:
    """Each label of a control of ipywidgets loads it, which takes a page some 0.2 s before the plots are drawn."""
    shown = board.show()
    waiting, seen = [shown.widget], []
    while waiting:
        seen.append(waiting.pop())
        waiting.extend(getattr(seen[-1], "children", ()))
    # A toggle button writes its description as it is.
    labels = [one for one in seen if isinstance(one, DescriptionWidget) and not isinstance(one, ToggleButton)]
    assert len(seen) > 10
    assert [one for one in labels if one.description] == []
    assert not any(isinstance(one, Label | HTMLMath) for one in seen)


def test_params_of_one_name_are_shared_on_request(board: Any) -> None:
    shown = board.show()
    shown.views["two"].set(size=5)
    assert shown.values["one"]["size"] == 1
    shared = board.show(share=True)
    assert list(shared._shared.fields) == ["batch", "size"]
    shared._shared.fields["size"].main.value = 7
    assert [values["size"] for values in shared.values.values()] == [7, 7, 7]
    shared._shared.fields["batch"].main.index = 1
    assert len({values["batch"] for values in shared.values.values()}) == 1
    assert shared.values["one"]["batch"] != "A"
    shared._share.value = False
    assert shared._shared.widget not in shared.widget.children


def test_a_shared_control_says_which_plots_have_another_value(board: Any) -> None:
    """After an undo in one tile it showed the value of the first plot, as if all had it."""
    shown = board.show(share=True)
    shown._shared.fields["size"].main.value = 7
    size = shown._shared.fields["size"]
    assert size.note.value == ""
    shown.views["two"].undo()
    assert size.note.value == "<span>Other values in 'two'.</span>"
    shown.views["one"].undo()
    assert (size.value, size.note.value) == (1, "<span>Other values in 'fails'.</span>")
    size.main.value = 3
    assert size.note.value == ""


def test_set_reaches_every_plot_that_has_the_param(board: Any) -> None:
    shown = board.show()
    shown.set(size=3, own="y")
    assert [values["size"] for values in shown.values.values()] == [3, 3, 3]
    assert shown.values["two"]["own"] == "y"
    with pytest.raises(Invalid, match="Did you mean 'size'"):
        shown.set(sise=1)


def test_tiles_stand_where_the_layout_says(board: Any) -> None:
    plots = {plot.name: plot.id for plot in board.plots()}
    layout = [
        {"plot_id": plots["fails"], "x": 0, "y": 0, "w": 12, "h": 4},
        {"plot_id": plots["one"], "x": 6, "y": 4, "w": 6, "h": 8},
    ]
    board._bench.dashboards.update(board.id, layout=layout)
    shown = board.show()
    assert list(shown.views) == ["fails", "one", "two"]
    wide, right, free = shown._tiles.children
    assert {"wb-x0", "wb-w12"} <= set(wide._dom_classes)
    assert {"wb-x6", "wb-w6"} <= set(right._dom_classes)
    assert "wb-w6" in free._dom_classes
    assert shown.views["one"].surface.height > shown.views["fails"].surface.height


def test_controls_of_a_tile_are_built_when_they_are_opened(board: Any) -> None:
    shown = board.show()
    view = shown.views["one"]
    assert view._panel.fields == {}
    assert not view._panel._boxes, "the page gets a model for each box"
    assert len(view.widget.children) == 1
    for _ in range(2):
        view._act("controls")
        assert list(view._panel.fields) == ["batch", "size"]
        assert [child is view._panel.widget for child in view.widget.children] == [False, True, False]
        assert isinstance(view.widget.children[2], ControlNames)
        view._act("controls")
        assert view._panel.widget not in view.widget.children


def test_a_plot_whose_recipe_is_not_sound_says_so_in_its_tile(board: Any) -> None:
    plots = board._bench.backend.plots(board.record)
    broken = [plots[0].model_copy(update={"config": {"plan": {}}}), plots[1]]
    from workbench.bench.figure import figure_of
    from workbench.notebook.board_view import BoardView

    shown = BoardView(board._bench.backend, board.record, broken, figure=figure_of)
    assert list(shown.views) == ["two"]
    (surface,) = shown._tiles.children[0].children
    assert surface.status["problems"]


def test_every_plot_gives_its_picture_to_the_saved_notebook(board: Any) -> None:
    shown = board.show()
    places = {view.surface.still for view in shown.views.values()}
    assert places == {shown._still.id}
