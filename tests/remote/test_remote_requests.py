"""What is asked of a server, and how often: data once, views never, checks little."""

from __future__ import annotations

import threading
import time
from typing import Any

import pandas as pd
import pytest
from support.handwritten import HANDWRITTEN
from support.local_and_remote import Sides

import workbench as wb
from workbench.backend import FigureAnswer
from workbench.errors import Cancelled
from workbench.remote import RemoteBackend


def work(bench: wb.Bench) -> RemoteBackend:
    assert isinstance(bench.backend, RemoteBackend)
    return bench.backend


def asked(bench: wb.Bench, what: Any) -> tuple[int, Any]:
    """How many requests a call made, and its answer."""
    before = work(bench).client.requests
    answer = what()
    return work(bench).client.requests - before, answer


def another(config: Any, name: str, options: Any) -> Any:
    """Another value than the default."""
    default = config["params"][name]["default"]
    if name in options:
        return next(one["value"] for one in options[name] if one["value"] != default)
    return not default if isinstance(default, bool) else default + 1


def test_a_view_change_costs_no_request(demo: Sides) -> None:
    far = demo.connect(demo.key)
    config = HANDWRITTEN["fade-by-batch"]
    count, first = asked(far, lambda: far.backend.figure(config, {}))
    assert count == 1
    views = [name for name, param in config["params"].items() if param["kind"] == "view"]
    assert views
    for name in views:
        other = another(config, name, first.options)
        count, drawn = asked(far, lambda name=name, other=other: far.backend.redraw(config, {name: other}, first))
        assert count == 0
        assert drawn.figure == demo.near.backend.figure(config, {name: other}).figure


def test_a_live_view_asks_for_data_once(demo: Sides) -> None:
    far = demo.connect(demo.key)
    config = wb.Recipe(HANDWRITTEN["fade-by-batch"]).config
    view = far.show(config)
    assert view.figure().to_json() == demo.near.show(config).figure().to_json()
    raw = config.dump()
    name = next(name for name, param in config.params.items() if param.kind == "view")
    other = another(raw, name, view.options)
    count, _ = asked(far, lambda: view.set(**{name: other}))
    assert count == 0
    assert view.values[name] == other
    data = next(name for name, param in config.params.items() if param.kind == "data")
    options = view.options.get(data) or [{"value": None}]
    count, _ = asked(far, lambda: view.set(**{data: [options[0]["value"]]}))
    assert count == 1
    view.close()


def test_steps_that_are_here_are_not_sent_again(demo: Sides) -> None:
    far = demo.connect(demo.key)
    sizes: list[int] = []
    ask = work(far).client.ask

    def counting(*args: Any, **more: Any) -> Any:
        reply = ask(*args, **more)
        sizes.append(len(reply.content))
        return reply

    work(far).client.ask = counting  # type: ignore[method-assign]
    config = HANDWRITTEN["voltage-curves"]
    first, second = far.backend.figure(config, {}), far.backend.figure(config, {})
    assert first.figure == second.figure
    assert second.cache == {"dataset": "hit", "figure": "hit"}
    assert sizes[1] < sizes[0] / 5


def test_a_figure_is_current_until_the_store_changes(lab: Sides) -> None:
    config = {
        "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
        "transform": "def transform(data, params):\n    return {'data': [], 'layout': {}}\n",
    }
    shown: FigureAnswer = lab.far.backend.figure(config, {})
    assert lab.far.backend.is_current(shown)
    ratings = {"capacity": {"value": 5.0, "unit": "A.h"}, "voltage_min": {"value": 2.5, "unit": "V"}}
    ratings |= {"voltage_max": {"value": 4.2, "unit": "V"}}
    lab.near.specifications.create(name="S", ratings=ratings)
    lab.near.instances.create(name="cell", specification="S")
    assert not lab.far.backend.is_current(shown)
    again = lab.far.backend.figure(config, {})
    assert again.at_hand is not None
    assert again.at_hand.dataset.steps["cells"].n == 1
    assert lab.far.backend.is_current(again)


def test_a_figure_is_not_current_where_only_its_warnings_changed(lab: Sides) -> None:
    config = {
        "plan": {
            "steps": {
                "tests": {"op": "list", "source": "measurements", "fields": ["id"]},
                "steps": {
                    "op": "summary",
                    "source": "measurements",
                    "dataset": "steps",
                    "ids": {"from": "tests", "column": "id"},
                    "columns": ["Step type"],
                },
            }
        },
        "transform": "def transform(data, params):\n    return {'data': [], 'layout': {}}\n",
    }
    ratings = {name: {"value": value, "unit": unit} for name, value, unit in (
        ("capacity", 5.0, "W.h"), ("voltage_min", 2.5, "V"), ("voltage_max", 4.2, "V"))}  # fmt: skip
    lab.near.specifications.create(name="S", ratings=ratings)
    lab.near.instances.create(name="cell", specification="S")
    series = pd.DataFrame({"Time [s]": [0.0, 10.0], "Voltage [V]": [3.0, 3.1], "Current [A]": [1.0, 1.0]})
    lab.near.measurements.create(name="test", instance="cell", time_series=series, sign="discharge")
    shown: FigureAnswer = lab.far.backend.figure(config, {})
    assert [one["code"] for one in shown.warnings] == ["unit_unknown"]
    assert lab.far.backend.is_current(shown)
    lab.near.specifications.update("S", ratings={**ratings, "capacity": {"value": 5.0, "unit": "A.h"}})
    again = lab.far.backend.figure(config, {})
    assert (again.figure, again.warnings) == (shown.figure, [])
    assert not lab.far.backend.is_current(shown)
    assert lab.far.backend.is_current(again)


def test_a_request_that_is_withdrawn_returns_at_once(demo: Sides) -> None:
    far = demo.connect(demo.key)
    slow = {
        "plan": HANDWRITTEN["voltage-curves"]["plan"],
        "params": HANDWRITTEN["voltage-curves"]["params"],
        "transform": "def transform(data, params):\n    return {'data': [], 'layout': {}}\n",
    }
    cancel = threading.Event()
    cancel.set()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        far.backend.figure(slow, {}, cancel=cancel)
    assert time.monotonic() - began < 5
    assert far.backend.figure(slow, {}).figure


def test_large_samples_come_in_blocks_and_only_the_columns_that_are_asked(lab: Sides) -> None:
    import numpy as np

    n = 300_000
    ratings = {name: {"value": value, "unit": unit} for name, value, unit in (
        ("capacity", 5.0, "A.h"), ("voltage_min", 2.5, "V"), ("voltage_max", 4.2, "V"))}  # fmt: skip
    lab.near.specifications.create(name="S", ratings=ratings)
    lab.near.instances.create(name="cell", specification="S")
    time_ = np.arange(n, dtype=float)
    made = lab.near.measurements.create(
        instance="cell",
        name="long",
        time_series={
            "Time [s]": time_,
            "Step count": np.zeros(n, int),
            "Current [A]": np.ones(n),
            "Voltage [V]": 4.0 - time_ / n,
        },
    )
    frame = lab.far.measurements.time_series(made.id, ["Voltage [V]"])
    assert list(frame) == ["Voltage [V]"]
    assert frame.equals(lab.near.measurements.time_series(made.id, ["Voltage [V]"]))
    with pytest.raises(wb.BadRequest, match=r"Voltage \[V\]"):
        lab.far.measurements.time_series(made.id, ["Voltag [V]"])
