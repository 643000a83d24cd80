"""A script that never ends: the kernel's loop goes on, a stop and a limit end it, and the picture stays."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

import workbench as wb
from workbench.errors import BadRequest, ScriptError
from workbench.notebook.figure_widget import FigureSurface
from workbench.notebook.plot_view import PlotView
from workbench.notebook.time_limit import SECONDS
from workbench.notebook.view import View

SCRIPT = """
import re

def transform(data, params):
    if params["how"] == "loop":
        while True:
            pass
    if params["how"] == "call":
        re.match("(a+)+$", "a" * 60 + "b")
    return go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name=params["how"]))
"""
RECIPE = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}},
    "transform": SCRIPT,
    "params": {
        "how": {"kind": "view", "default": "well", "control": {"options": ["well", "loop", "call", "again"]}}
    },
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    with wb.open(tmp_path_factory.mktemp("stop") / "lab.db") as bench:
        yield bench


def in_a_kernel(work: Callable[[], Awaitable[None]]) -> None:
    """Run as in a kernel, whose loop runs all along."""
    asyncio.run(asyncio.wait_for(work(), 90))


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def problems(view: View) -> list[dict[str, Any]]:
    return list(view.surface.status.get("problems", []))


@pytest.mark.parametrize("how", ["loop", "call"])
def test_a_stop_ends_the_script_and_the_kernel_is_free_meanwhile(bench: wb.Bench, how: str) -> None:
    async def work() -> None:
        view = bench.show(wb.Recipe(RECIPE), time_limit=None)
        await until(lambda: view.surface.spec != "")
        picture = view.surface.spec
        view.set(how=how)
        await until(lambda: view.surface.status.get("busy") is not None)
        longest = 0.0
        for _ in range(20):
            started = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - started)
        assert longest < 2
        assert bench.figure(wb.Recipe(RECIPE)).data[0].name == "well", "a cell may draw meanwhile"
        view.surface._heard(view.surface, {"kind": "stop"}, [])
        await until(lambda: problems(view) != [])
        (problem,) = problems(view)
        assert "You stopped the script. It was at this line." in problem["message"]
        assert problem["text"] in ("while True:", "pass", 're.match("(a+)+$", "a" * 60 + "b")')
        assert view.surface.spec == picture
        assert view.values == {"how": how}
        view.set(how="again")
        await until(lambda: view.surface.spec != picture)
        assert problems(view) == []
        view.close()

    in_a_kernel(work)


def test_a_limit_ends_the_script(bench: wb.Bench) -> None:
    async def work() -> None:
        view = bench.show(wb.Recipe(RECIPE), how="again", time_limit=30)
        await until(lambda: view.surface.spec != "")
        view.time_limit = 0.4
        view.set(how="call")
        await until(lambda: problems(view) != [])
        assert "took more than 0.4 s" in problems(view)[0]["message"]
        view.close()

    in_a_kernel(work)


def test_a_cell_that_waits_for_the_figure_can_be_stopped(bench: wb.Bench) -> None:
    view = bench.show(wb.Recipe(RECIPE), time_limit=0.4)
    with pytest.raises(ScriptError, match=r"took more than 0\.4 s"):
        view.set(how="call").refresh(wait=True)
    assert "took more than 0.4 s" in problems(view)[0]["message"]
    with pytest.raises(ScriptError, match=r"took more than 0\.4 s"):
        view.figure()
    view.close()


def test_the_limit_is_a_setting(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = wb.Recipe(RECIPE)
    assert bench.show(recipe).time_limit == SECONDS
    assert bench.show(recipe, time_limit=5).time_limit == 5
    assert bench.show(recipe, time_limit=None).time_limit is None
    monkeypatch.setenv("WORKBENCH_SCRIPT_SECONDS", "7.5")
    view = bench.show(recipe)
    assert view.time_limit == 7.5
    monkeypatch.setenv("WORKBENCH_SCRIPT_SECONDS", "none")
    assert bench.show(recipe).time_limit is None
    for wrong in (0, -1, True, "5", float("nan"), float("inf")):
        with pytest.raises(BadRequest, match="time_limit is a number of seconds above 0, or None"):
            view.time_limit = wrong
    monkeypatch.setenv("WORKBENCH_SCRIPT_SECONDS", "soon")
    with pytest.raises(BadRequest, match=r"\$WORKBENCH_SCRIPT_SECONDS is a number of seconds above 0, or none"):
        bench.show(recipe)


def test_a_dashboard_has_the_setting_too(bench: wb.Bench) -> None:
    board = bench.dashboards.create("Default", "Limits")
    board.save("one", wb.Recipe(RECIPE))
    shown = board.show(time_limit=9)
    assert shown.views["one"].time_limit == 9
    assert board.plot("one").show(time_limit=8).time_limit == 8


def test_a_figure_widget_can_be_stopped_too(bench: wb.Bench) -> None:
    async def work() -> None:
        view = bench.show(wb.Recipe(RECIPE), figure_widget=True, time_limit=None)
        surface = view.surface
        assert isinstance(surface, FigureSurface)
        await until(lambda: len(surface.figure.data) == 1)
        assert surface._stop.layout.display == "none"
        view.set(how="loop")
        await until(lambda: surface._stop.layout.display is None)
        surface._stop.click()
        await until(lambda: "You stopped the script" in surface._text.value)
        assert surface._stop.layout.display == "none"
        view.close()

    in_a_kernel(work)


def test_a_view_that_is_closed_stops_its_script(bench: wb.Bench) -> None:
    async def work() -> None:
        view = bench.show(wb.Recipe(RECIPE), time_limit=None)
        assert isinstance(view.surface, PlotView)
        await until(lambda: view.surface.spec != "")
        view.set(how="loop")
        await until(lambda: view.surface.status.get("busy") is not None)
        view.close()
        await until(lambda: view._runner.idle)
        assert problems(view) == []

    in_a_kernel(work)
