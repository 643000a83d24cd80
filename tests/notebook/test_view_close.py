"""A view that is closed keeps no widget and no connection to the page."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anywidget import AnyWidget
from ipywidgets import Widget
from ipywidgets.widgets import widget as ipywidgets_widget
from support.waiting import until

import workbench as wb


@pytest.fixture(scope="module")
def bench(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    copy = tmp_path_factory.mktemp("close") / "demo.db"
    with wb.open(demo_store) as demo:
        demo.backup(copy)
    with wb.open(copy) as bench:
        yield bench


def widgets() -> set[str]:
    return set(ipywidgets_widget._instances)


def connections() -> set[str]:
    return set(pytest.importorskip("comm").get_comm_manager().comms)


OPTIONS = [*"abcdefgh"]
KINDS = {
    "buttons": ("a", {"options": ["a", "b"]}),
    "list": ("a", {"options": OPTIONS}),
    "search": (1, {"options": [*range(60)]}),
    "few": (["a"], {"options": ["a", "b"]}),
    "several": (["a"], {"options": OPTIONS}),
    "many": ([1], {"options": [*range(40)]}),
    "switch": (True, {}),
    "slider": (3, {"min": 0, "max": 9}),
    "number": (3, {}),
    "range": ([2, 4], {"min": 0, "max": 9}),
    "optional": (None, {"min": 0}),
    "day": ("2026-02-03", {}),
    "moment": ("2026-02-03T10:30:00Z", {}),
    "text": ("words", {}),
    "texts": ("two\nlines", {}),
    "json": ({"a": 1}, {}),
}
RECIPE = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}},
    "transform": "def transform(data, params):\n    return go.Figure()",
    "params": {
        name: {"kind": "view", "default": default, "control": control}
        for name, (default, control) in KINDS.items()
    },
}


def used(view: Any) -> None:
    view._act("recipe")
    view._act("controls")
    view._act("controls")
    view._act("controls")


MADE: dict[str, Callable[[wb.Bench], Any]] = {
    "a view": lambda bench: bench.show(wb.Recipe(RECIPE)),
    "a used view": lambda bench: (view := bench.show(wb.Recipe(RECIPE)), used(view))[0],
    "a figure widget": lambda bench: bench.show(wb.Recipe(RECIPE), figure_widget=True),
    "a saved plot": lambda bench: bench.dashboards.get("Ageing").plot("Fade by batch").show().set(group="range"),
    "a dashboard": lambda bench: bench.dashboards.get("Ageing").show(),
    "a dashboard that shares": lambda bench: bench.dashboards.get("Ageing").show(share=True),
}


@pytest.mark.parametrize("name", MADE)
def test_nothing_is_left_of_a_closed_view(bench: wb.Bench, name: str) -> None:
    before, connected = widgets(), connections()
    made = MADE[name](bench)
    assert len(widgets() - before) > 10
    made.close()
    left = [type(Widget.widgets[one]).__name__ for one in widgets() - before]
    assert left == []
    assert connections() - connected == set()


def test_controls_that_are_replaced_are_freed(bench: wb.Bench) -> None:
    view = bench.show(wb.Recipe(RECIPE))
    shown = widgets()
    for value in ("b", "a"):
        view.set(buttons=value)
    view._run_recipe(wb.Recipe({**RECIPE, "params": {"few": RECIPE["params"]["few"]}}).config)
    assert len(widgets()) < len(shown) - 40
    view.close()


def test_a_closed_view_makes_nothing_new(bench: wb.Bench) -> None:
    view = bench.show(wb.Recipe(RECIPE))
    before, spec = None, view.surface.spec
    view.close()
    before = widgets()
    view.set(buttons="b")
    view.refresh(wait=True)
    view.undo()
    assert widgets() <= before
    assert view.figure() is not None, "values and figures can still be had"
    assert spec
    view.close()


@pytest.mark.parametrize("name", MADE)
def test_a_closed_view_leaves_the_memory(bench: wb.Bench, name: str) -> None:
    def closed() -> weakref.ref[Any]:
        made = MADE[name](bench)
        made.close()
        return weakref.ref(made)

    views = [closed() for _ in range(2)]

    def gone() -> bool:
        gc.collect()
        return all(view() is None for view in views)

    until(gone, "the memory of a closed view", seconds=20)


def test_no_widget_is_held_by_its_class() -> None:
    classes: list[type] = [AnyWidget]
    for one in classes:
        classes += one.__subclasses__()
    ours = [one for one in classes if one.__module__.startswith("workbench")]
    assert len(ours) > 5
    for one in ours:
        for part in ("_esm", "_css"):
            # What anywidget makes of a path keeps each widget that reads it.
            assert not hasattr(getattr(one, part, ""), "changed"), (one, part)
