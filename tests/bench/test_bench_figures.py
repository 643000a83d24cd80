"""Figures as people hold them: the same as the bytes that a page is sent, whatever a script returned."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import plotly.graph_objects as go
import pytest

import workbench as wb
from workbench.transform.figure import decode

RATINGS = {
    "capacity": {"value": 5.0, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
PLAN = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as bench:
        yield bench


def recipe(returned: str) -> dict[str, Any]:
    return {"plan": PLAN, "transform": f"def transform(data, params):\n    return {returned}\n"}


@pytest.mark.parametrize(
    "returned",
    [
        "{'data': [{'type': 'scatter', 'y': [1, 2]}], 'layout': {'title': 'Plain'}}",
        "{'data': [], 'layout': {'template': 'plotly_white'}}",
        "go.Figure(go.Scatter(y=[1, 2]))",
        "go.Figure(go.Bar(y=[1]), layout={'template': None})",
    ],
)
def test_a_figure_looks_here_as_on_a_page(bench: wb.Bench, returned: str) -> None:
    sent = decode(bench.backend.figure(recipe(returned), {}).figure)
    held = decode(bench.figure(recipe(returned)).to_json())
    assert held == {"data": sent["data"], "layout": sent["layout"]}


def test_a_step_that_reads_nothing_keeps_its_columns_here_and_in_a_script(bench: wb.Bench) -> None:
    bench.specifications.create(name="M50", ratings=RATINGS)
    bench.instances.create(name="A0", specification="M50")
    time = [0.0, 1.0, 2.0]
    samples = {"Time [s]": time, "Current [A]": [1.0] * 3, "Voltage [V]": [4.0, 3.9, 3.8]}
    bench.measurements.create(instance="A0", name="RPT", time_series=samples)
    read = {"ids": [], "x": "Time [s]", "columns": ["Voltage [V]", "Step count"]}
    plan = {"steps": {"curves": {"op": "series", "source": "measurements", **read}}}
    wanted = {"id": "str", "Time [s]": "float64", "Voltage [V]": "float64", "Step count": "int64"}
    types = {name: str(dtype) for name, dtype in bench.dataset(plan)["curves"].long().dtypes.items()}
    assert types == wanted
    said = "print(dict(data['curves'].long().dtypes.astype(str)))"
    script = f"def transform(data, params):\n    {said}\n    return go.Figure()\n"
    for _ in range(2):
        assert bench.figure({"plan": plan, "transform": script}).workbench.log == f"{wanted}\n"


def test_check_tells_all_that_is_wrong_with_a_file(bench: wb.Bench, tmp_path: Path) -> None:
    file = tmp_path / "plot.json"
    wrong = recipe("go.Figure()")
    wrong["plan"] = {"steps": {"cells": {**PLAN["steps"]["cells"], "limt": 5}}}
    file.write_text(json.dumps({**wrong, "transform": "import os"}))
    places = [problem.loc for problem in bench.check(file)]
    assert ("config", "plan", "steps", "cells", "limt") in places
    assert ("config", "transform") in places
    file.write_text('{"plan": ')
    [problem] = bench.check(str(file))
    assert "not JSON" in problem.msg
    with pytest.raises(wb.BadRequest, match="cannot be read"):
        bench.check(tmp_path / "absent.json")
    values: Any = [1]
    assert [problem.loc for problem in bench.check(recipe("go.Figure()"), values)] == [("values",)]


def test_what_plotly_does_not_know_is_left_out_as_a_page_leaves_it_out(bench: wb.Bench) -> None:
    figure = bench.figure(recipe("{'data': [{'y': [1], 'colour': 'red'}], 'layout': {'xaxs': {}}}"))
    assert figure.data[0].y == (1,)
    assert isinstance(figure, wb.Figure)
    assert figure.workbench.cache == {"dataset": "miss", "figure": "miss"}


TWO = (
    "{'data': [{'type': 'scatter', 'y': [1, 2]}, {'type': 'bar', 'y': [3]}], 'layout': {'title': {'text': 'Two'}}}"
)


def test_the_plotly_figure_is_made_when_something_of_it_is_asked_for(bench: wb.Bench) -> None:
    drawn = bench.figure(recipe(TWO))
    assert drawn.workbench.values == {}
    with pytest.raises(AttributeError, match="_wanted"):
        vars(drawn)["_wanted"] = drawn._wanted
    for asked in (
        lambda one: one.data[1].y,
        lambda one: one["data"][1]["y"],
        lambda one: one.to_dict()["data"][1]["y"],
    ):
        figure = bench.figure(recipe(TWO))
        assert "_data" not in vars(figure)
        assert list(asked(figure)) == [3]
        assert "_data" in vars(figure)


@pytest.mark.parametrize(
    "made", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), go.Figure]
)
def test_a_figure_that_nobody_looked_at_is_copied_and_compared_as_any(
    bench: wb.Bench, made: Callable[[wb.Figure], go.Figure]
) -> None:
    figure = bench.figure(recipe(TWO))
    same = made(figure)
    assert bench.figure(recipe(TWO)) == figure
    assert same.data == figure.data
    assert same.layout.title.text == "Two"


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_knows_how_the_figure_was_made(bench: wb.Bench, made: Callable[[wb.Figure], wb.Figure]) -> None:
    raw = {**recipe(TWO), "params": {"n": {"kind": "view", "default": 3}}}
    figure = bench.figure(
        {**raw, "transform": raw["transform"].replace("    return", "    print('said')\n    return")}
    )
    same = made(figure).workbench
    assert (same.values, same.log, same.cache) == ({"n": 3}, "said\n", figure.workbench.cache)
    assert [one.code for one in same.lint] == [one.code for one in figure.workbench.lint] != []
    assert same.traces == figure.workbench.traces != []


def test_a_copy_in_this_process_has_the_passport(bench: wb.Bench) -> None:
    figure = bench.figure(recipe(TWO))
    assert copy.deepcopy(figure).workbench.passport == figure.workbench.passport
    with pytest.raises(wb.BadRequest, match=r"not drawn by bench\.figure in this process"):
        _ = pickle.loads(pickle.dumps(figure)).workbench.passport


def test_a_figure_that_nobody_looked_at_is_changed_as_any(bench: wb.Bench) -> None:
    figure = bench.figure(recipe(TWO))
    figure.layout.title.text = "Changed"
    assert figure.layout.title.text == "Changed"
    figure = bench.figure(recipe(TWO)).update_layout(height=300)
    assert (figure.layout.height, len(figure.data)) == (300, 2)
    with pytest.raises(AttributeError):
        figure.colour = "red"


def test_threads_that_ask_at_once_get_the_same_figure(bench: wb.Bench) -> None:
    figure = bench.figure(recipe(TWO))
    begin = Barrier(4)

    def asked(_: int) -> int:
        begin.wait()
        return id(figure.layout)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(asked, range(4)))) == 1
