"""A live view without a page: what is changed is drawn, what is wrong is said, zoom reads detail, undo goes back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np
import orjson
import pytest

import workbench as wb
from workbench.engine.zoom import Detail
from workbench.errors import Invalid, ScriptError
from workbench.local import LocalBackend
from workbench.notebook.background_worker import Step
from workbench.notebook.figure_buffers import Kept, Packer, split
from workbench.notebook.figure_widget import FigureSurface
from workbench.notebook.plot_view import PlotView, packed_library, steady, worded
from workbench.notebook.surface import Looked, Reason, Shown
from workbench.notebook.view import View
from workbench.transform.figure import encode
from workbench.typed_arrays import decode

SCRIPT = """
def transform(data, params):
    if params["color"] == "broken":
        print("as far as here")
        return undefined
    fig = go.Figure()
    for key, frame in data["samples"].items():
        fig.add_scatter(x=frame["Time [s]"], y=frame["Voltage [V]"], line_color=params["color"], name="measured")
        fig.add_scatter(x=frame["Time [s]"], y=frame["Voltage [V]"] ** 2, name="squared")
    return fig
"""


class Paper(widgets.Box):
    """A surface that keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.figures: list[tuple[dict[str, Any], Reason, str]] = []
        self.details: list[Mapping[int, Detail]] = []
        self.problems: list[Mapping[str, Any]] = []
        self.shown = Shown()
        self.busy: list[Step | None] = []

    def prepare(self, figure: bytes, keep: str) -> tuple[dict[str, Any], str]:
        return decode(figure), keep

    def apply(self, prepared: tuple[dict[str, Any], str], reason: Reason) -> None:
        self.figures.append((prepared[0], reason, prepared[1]))

    def detail(self, traces: Mapping[int, Detail], asked: Mapping[str, Any]) -> None:
        self.details.append(traces)

    def on_range(self, call: Any) -> None:
        self.look = call

    def set_busy(self, progress: Step | None) -> None:
        self.busy.append(progress)

    def set_error(self, problems: Sequence[Mapping[str, Any]]) -> None:
        self.problems = list(problems)

    def show(self, shown: Shown) -> None:
        self.shown = shown


@pytest.fixture(scope="module")
def bench(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    """One bench for all; the tests that write make records that no other test counts."""
    copy = tmp_path_factory.mktemp("live") / "demo.db"
    with wb.open(demo_store) as demo:
        demo.backup(copy)
    with wb.open(copy) as bench:
        yield bench


def recipe(bench: wb.Bench, **more: Any) -> wb.Recipe:
    tests = bench.measurements.list(name_contains="M50-A-01_ageing")
    steps = {
        "cells": {"op": "list", "source": "instances", "where": {"batch": "$batch"}},
        "all": {"op": "list", "source": "instances"},
        "samples": {
            "op": "series",
            "source": "measurements",
            "ids": [tests["id"][0]],
            "x": "Time [s]",
            "columns": ["Voltage [V]"],
            "max_points": 500,
        },
    }
    params = {
        "batch": {
            "kind": "data",
            "default": "A",
            "control": {"optionsFrom": {"step": "all", "value": "batch_name"}},
        },
        "cell": {
            "kind": "data",
            "default": None,
            "control": {"optionsFrom": {"step": "cells", "value": "id", "label": "name"}},
        },
        "color": {"kind": "view", "default": "red", "control": {"options": ["red", "blue", "broken"]}},
        "width": {"kind": "view", "default": 2, "control": {"min": 1, "max": 5}},
    }
    return wb.Recipe(plan={"steps": steps}, transform=SCRIPT, params=params, **more)


@pytest.fixture
def view(bench: wb.Bench) -> View:
    return View(bench.backend, recipe(bench).config, figure=lambda answer: answer, surface=Paper())


def test_the_first_picture_says_what_is_shown_and_what_it_cost(view: View) -> None:
    (figure, reason, _), *rest = view.surface.figures
    assert reason == "first"
    assert rest == []
    assert len(figure["data"][0]["x"]) == 500
    assert view.surface.shown.badge["samples"] == "500 of 11\xa0974 samples"
    assert view.surface.shown.badge["cost"].startswith("1 source read, ")


def test_a_view_change_reads_nothing_not_even_a_revision(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("asked the store")

    monkeypatch.setattr(LocalBackend, "figure", refuse)
    view.set(color="blue")
    figure, reason, keep = view.surface.figures[-1]
    assert figure["data"][0]["line"]["color"] == "blue"
    assert reason == "view"
    assert keep == view.surface.figures[0][2], "the zoom stays"
    assert view.surface.shown.badge["cost"].startswith("0 sources read, ")


def test_other_data_lets_the_zoom_go(view: View) -> None:
    view.set(batch="B")
    assert view.surface.figures[-1][1] == "data"
    assert view.surface.figures[-1][2] != view.surface.figures[0][2]


def test_a_value_set_in_vain_changes_nothing(view: View) -> None:
    with pytest.raises(Invalid, match="Did you mean 'color'"):
        view.set(colour="red")
    with pytest.raises(Invalid, match="not among the options"):
        view.set(color="green")
    view.set(color="red")
    assert len(view.surface.figures) == 1
    assert not view.surface.shown.undo


def test_choices_cascade_and_a_stale_value_is_dropped_and_said(view: View, bench: wb.Bench) -> None:
    of_a = [choice["value"] for choice in view.options["cell"]]
    view.set(cell=of_a[1])
    view.set(batch="B")
    of_b = [choice["value"] for choice in view.options["cell"]]
    assert of_b
    assert not set(of_a) & set(of_b)
    assert view.values["cell"] is None
    assert any("Not among the choices of 'cell'" in note for note in view.surface.shown.notes)
    assert view._panel.fields["cell"].value is None
    view.undo()
    assert view.values["batch"] == "A"
    assert view.values["cell"] == of_a[1]


def test_undo_and_redo_draw_again_and_move_the_controls(view: View) -> None:
    view.set(color="blue")
    view.set(width=4)
    assert view.undo()
    assert view.undo()
    assert not view.undo()
    assert view.values == {"batch": "A", "cell": None, "color": "red", "width": 2}
    assert view._panel.fields["color"].value == "red"
    assert view.surface.figures[-1][0]["data"][0]["line"]["color"] == "red"
    assert view.redo()
    assert view.surface.figures[-1][0]["data"][0]["line"]["color"] == "blue"
    assert view.surface.shown.redo


def test_a_control_that_is_moved_is_drawn(view: View) -> None:
    view._panel.fields["color"].main.index = 1
    view._panel.fields["width"].main.value = 5
    assert view.values["color"] == "blue"
    assert view.values["width"] == 5
    assert view.surface.figures[-1][0]["data"][0]["line"]["color"] == "blue"


def test_an_error_shows_its_line_while_the_old_picture_stays(view: View) -> None:
    view.set(color="broken")
    (problem,) = view.surface.problems
    assert problem["line"] == 5
    assert problem["text"] == "return undefined"
    assert "NameError" in problem["message"]
    assert view.surface.shown.log == "as far as here\n"
    assert len(view.surface.figures) == 1
    assert view.values["color"] == "broken", "the control keeps what was chosen"
    with pytest.raises(ScriptError):
        view.refresh(wait=True)
    view.set(color="blue")
    assert view.surface.problems == []
    assert view.surface.shown.log == ""


def test_a_new_record_is_among_the_choices_after_refresh(view: View, bench: wb.Bench) -> None:
    before = len(view.options["cell"])
    bench.instances.create(name="brand new", batch="A", specification=bench.specifications.list()["id"][0])
    view.set(color="blue")
    assert len(view.options["cell"]) == before
    view.refresh(wait=True)
    assert len(view.options["cell"]) == before + 1
    assert "brand new" in view._panel.fields["cell"].main.options


def test_a_change_in_the_store_is_seen_by_the_check(view: View, bench: wb.Bench) -> None:
    view._check()
    assert len(view.surface.figures) == 1
    bench.instances.create(name="newer still", batch="A", specification=bench.specifications.list()["id"][0])
    view._check()
    assert len(view.surface.figures) == 2


def test_zoom_reads_detail_and_says_for_which_trace_there_is_none(view: View) -> None:
    x = view.surface.figures[0][0]["data"][0]["x"]
    span = [float(x[200]), float(x[240])]
    view.surface.look([Looked([0, 1], span, None, 800)], {})
    (found,) = view.surface.details
    assert set(found) == {0}
    inside = sum(span[0] <= value <= span[1] for value in found[0].x)
    assert inside > 40
    assert found[0].x[0] == x[0], "the overview stands around it"
    assert found[0].x[-1] == x[-1]
    told = view.surface.shown.badge["zoom"]
    assert told.startswith("in view: all ")
    assert told.endswith("no finer detail for 'squared'")
    view.surface.look([], {})
    assert view.surface.shown.badge["zoom"] == ""


def test_a_view_says_where_zoom_has_more_and_where_not_and_why(view: View) -> None:
    assert view.surface.shown.badge["detail"] == "more on zoom"
    (note,) = view.surface.shown.notes
    assert note.startswith("Zoom reads no more samples of 'squared': its y is computed by the script")


def test_the_demos_own_long_plot_reads_all_its_samples_on_zoom(bench: wb.Bench) -> None:
    """It draws the time in hours: a column that the script has divided."""
    listed = bench.measurements.list()
    longest = str(listed.loc[listed["sample_count"].idxmax(), "name"])
    config = bench.config_of("Test record")
    view = View(bench.backend, config, {"tests": longest}, figure=lambda answer: answer, surface=Paper())
    traced = view._drawing.answer.traced
    assert [one["detail"] for one in traced[:2]] == ["finer", "finer"]
    assert traced[0]["shown"] < traced[0]["of"]
    assert view.surface.shown.notes == []
    view.surface.look([Looked([0, 1], [0.0, 1e6], None, 20_000)], {})
    (found,) = view.surface.details
    assert {n: len(one.x) for n, one in found.items()} == dict.fromkeys([0, 1], traced[0]["of"])


def test_on_a_figure_widget_colours_follow_and_go_back(bench: wb.Bench) -> None:
    surface = FigureSurface()
    surface.apply(surface.prepare(drawn([0.1, 0.2, 0.3]), "k"), "first")
    surface.figure.data[0].marker.color = [1, 2, 3]
    overview = list(surface.figure.data[0].y)
    finer = Detail([0.0, 0.5, 1.0, 2.0], [0.1, 0.15, 0.2, 0.3], 4, 4, {"marker.color": [1, 1, 2, 3]})
    surface.detail({0: finer}, {})
    assert len(surface.figure.data[0].marker.color) == len(surface.figure.data[0].x) == 4
    surface.detail({}, {})
    assert list(surface.figure.data[0].y) == overview
    assert list(surface.figure.data[0].marker.color) == [1, 2, 3]


def test_the_present_state_is_a_recipe(view: View) -> None:
    view.set(color="blue", batch="B")
    kept = view.recipe()
    assert {name: param["default"] for name, param in kept.params.items()} == view.values
    assert kept.plan == wb.Recipe(view.recipe()).plan
    assert json.loads(view._act("copy")) == kept.raw()


def test_a_view_draws_on_a_figure_widget_too(bench: wb.Bench) -> None:
    view = View(bench.backend, recipe(bench).config, figure=lambda answer: answer, surface=FigureSurface())
    figure = view.surface.figure
    assert figure._config["showSendToCloud"] is False
    traces = [trace.uid for trace in figure.data]
    view.set(color="blue")
    assert figure.data[0].line.color == "blue"
    assert [trace.uid for trace in figure.data] == traces, "changed in place"
    view.set(color="broken")
    assert "NameError" in view.surface._text.value
    assert "return undefined" in view.surface._text.value


def test_a_plain_figure_widget_offers_no_upload(bench: wb.Bench) -> None:
    made = bench.figure_widget(recipe(bench))
    assert made._config["showSendToCloud"] is False
    assert made._config["plotlyServerURL"] == ""
    assert len(made.data) == 2


def test_show_takes_a_saved_plot_and_values(bench: wb.Bench) -> None:
    plot = bench.dashboards.get("Ageing").plot("Fade by batch")
    assert bench.show(plot, relative="value").values["relative"] == "value"
    assert plot.show(group="cells").values["group"] == "cells"
    with pytest.raises(Invalid):
        bench.show(plot, groop="cells")


# What goes to the page


def test_arrays_travel_in_a_buffer(view: View) -> None:
    figure = view._backend.figure(recipe_config(view), view.values).figure
    content, kept, buffer = split(figure, Kept())
    assert buffer == b""
    for trace, shown in zip(decode(figure)["data"], content["data"], strict=True):
        offset, size, dtype = shown["x"]["$kept"]
        assert dtype == "f8"
        assert offset % 8 == 0
        assert kept.buffer[offset : offset + size] == trace["x"].tobytes()
    assert "bdata" not in orjson.dumps(content).decode()


def drawn(*arrays: list[float]) -> bytes:
    """A figure with a trace for each array, all over the same x."""
    x = np.arange(3.0)
    return encode({"data": [{"type": "scatter", "x": x, "y": np.array(y)} for y in arrays], "layout": {}})


def test_what_the_page_has_is_not_sent_again() -> None:
    first, kept, none = split(drawn([0.1, 0.2, 0.3], [0.4, 0.5, 0.6]), Kept())
    assert none == b""
    assert len(kept.buffer) == 3 * 24, "the same x is sent once"
    assert first["data"][0]["x"] == first["data"][1]["x"]
    second, same, buffer = split(drawn([0.1, 0.2, 0.3], [0.7, 0.8, 0.9]), kept)
    assert same is kept
    assert second["data"][0] == first["data"][0]
    assert second["data"][1]["y"] == {"$at": [0, 24, "f8"]}
    assert buffer == np.array([0.7, 0.8, 0.9]).tobytes()
    many = [[0.1 * n, 0.3, 0.7] for n in range(20, 24)]
    other, anew, none = split(drawn(*many), kept)
    assert none == b""
    assert anew.buffer != kept.buffer, "little of it is there: all of it is kept anew"
    assert "$at" not in orjson.dumps(other).decode()


def recipe_config(view: View) -> Any:
    return view._history.present.config


def test_numbers_of_any_type_and_shape_keep_their_place() -> None:
    packer = Packer()
    assert packer.numbers([1, None, 2.5]) == {"$at": [0, 24, "f8"]}
    assert packer.numbers(["a", 1]) == ["a", 1]
    assert packer.numbers([True, 1]) == [True, 1]
    assert packer.numbers([[1.5, None], [2.5, "a"]]) == [[1.5, None], [2.5, "a"]]
    assert packer.add(b"abc", "u1", "1, 3") == {"$at": [24, 3, "u1"], "shape": "1, 3"}
    assert packer.add(b"\0" * 8, "f8")["$at"][0] == 32
    assert len(packer.buffer()) == packer.size == 40


def test_a_plot_view_is_told_by_its_traits_and_one_message(view: View) -> None:
    plot = PlotView()
    sent: list[set[str]] = []
    plot.send_state = lambda key=None: sent.append(set(key))  # type: ignore[method-assign]
    plot.apply(plot.prepare(view._backend.figure(recipe_config(view), view.values).figure, "k"), "first")
    assert sent == [{"spec", "kept"}]
    assert json.loads(plot.spec)["layout"]["uirevision"] == "k"


def test_plotly_is_sent_on_request_and_packed_once() -> None:
    plot = PlotView()
    sent: list[Any] = []
    plot.send = lambda content, buffers=None: sent.append((content, buffers))  # type: ignore[method-assign]
    for name in ("small", "whole"):
        plot._heard(plot, {"kind": "plotly", "name": name}, [])
    (small, (packed_small,)), (whole, (packed_whole,)) = sent
    assert (small, whole) == ({"kind": "plotly", "name": "small"}, {"kind": "plotly", "name": "whole"})
    assert packed_small is packed_library("small")
    assert packed_whole is packed_library("whole")
    assert packed_small[:2] == packed_whole[:2] == b"\x1f\x8b"
    assert len(packed_small) < 600_000 < len(packed_whole) < 2_000_000


@pytest.mark.parametrize(
    ("figure", "library"),
    [
        ({"data": [{"y": [1, 2]}], "layout": {}}, "small"),
        ({"data": [{"type": "heatmap", "z": [[1, 2]]}], "layout": {"xaxis2": {}}}, "small"),
        ({"data": [{"y": [1]}, {"type": "scattergl", "y": [1, 2]}], "layout": {}}, "whole"),
        ({"data": [], "layout": {"scene2": {}}}, "whole"),
    ],
)
def test_a_figure_names_the_file_that_draws_it(figure: dict[str, Any], library: str) -> None:
    prepared = PlotView().prepare(orjson.dumps(figure), "k")
    assert orjson.loads(prepared.spec)["library"] == library


def test_the_zoom_of_an_axis_goes_with_its_title() -> None:
    volts = steady({"xaxis": {"title": {"text": "Time / s"}}, "yaxis": {}}, "k")
    hours = steady({"xaxis": {"title": {"text": "Time / h"}}, "yaxis": {}}, "k")
    assert volts["uirevision"] == hours["uirevision"] == "k"
    assert volts["xaxis"]["uirevision"] != hours["xaxis"]["uirevision"]
    assert volts["yaxis"]["uirevision"] == hours["yaxis"]["uirevision"]
    assert steady({"uirevision": "own"}, "k")["uirevision"] == "own"
    assert "xaxis" not in steady({}, "k")


def test_progress_in_words() -> None:
    assert worded(Step()) == {"text": "working …", "share": None}
    assert worded(Step("cycles", 1, 4, "120 of 300")) == {"text": "step 2/4 cycles: 120 of 300", "share": 0.25}
