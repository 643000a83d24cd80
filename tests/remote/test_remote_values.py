"""Values out of numpy and pandas mean the same on a local and a remote bench."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.full_organization import RATINGS
from support.local_and_remote import Sides

import workbench as wb

RECIPE = {
    "plan": {"steps": {"a": {"op": "list", "source": "instances"}}},
    "params": {"v": {"kind": "data", "default": 1.5}},
    "transform": "def transform(data, params):\n    return {'data': [], 'layout': {}}\n",
}


def said(call: Callable[[], Any]) -> Any:
    """The answer, or the class and the words of the error."""
    try:
        return call()
    except wb.WorkbenchError as error:
        return type(error), str(error)


def kept(bench: wb.Bench, name: str, value: Any) -> Any:
    """The properties of a new cell with this value."""
    return said(lambda: bench.instances.create(name=name, specification="S", properties={"v": value}).properties)


def test_filters_take_what_frames_give(lab: Sides) -> None:
    lab.near.specifications.create(name="S", ratings=RATINGS)
    first = lab.near.instances.create(name="I", specification="S").id
    lab.near.instances.create(name="J", specification="S")
    one = {"an id": first}
    for bench in (lab.near, lab.far):
        for ids in (
            *(np.array([first]), np.array([first], dtype=object), pd.Series([first]), pd.Categorical([first])),
            *(pd.array([first], dtype="string"), pd.Series([first, None]), [first, float("nan")], [first, pd.NA]),
            *({first}, one.values(), {first: 1}.keys(), (first,), first, np.array([first])[0]),
        ):
            assert bench.instances.list(ids=ids)["name"].tolist() == ["I"], ids
        assert bench.instances.list(ids=np.array([]))["name"].tolist() == []
        for odd in (float("nan"), 10**30, iter([first]), b"x", 1j, pd.NA):
            with pytest.raises(wb.Invalid, match=r"where\.ids: "):
                bench.instances.list(ids=odd)
        with pytest.raises(wb.Invalid, match="'name' takes one value, not a list"):
            bench.instances.list(name=np.array(["I"]))


def test_names_are_filters_of_every_kind(lab: Sides) -> None:
    """No plan lists projects and dashboards, yet their filters mean the same."""
    for name in ("Ageing", "Rate", "Rates of ageing"):
        lab.near.dashboards.create(name=name)
    for bench in (lab.near, lab.far):
        for filters, found in (
            ({"name": None, "name_contains": None}, ["Ageing", "Rate", "Rates of ageing"]),
            ({"name": "Rate", "name_contains": "AGE"}, []),
            ({"name": "Ageing", "name_contains": "AGE"}, ["Ageing"]),
            ({"name_contains": "ageing"}, ["Ageing", "Rates of ageing"]),
            ({"name_contains": 5}, []),
        ):
            assert bench.dashboards.list(**filters)["name"].tolist() == found, filters
        assert bench.projects.list(name=None)["name"].tolist() == ["Default"]
        assert bench.projects.list(name="Default", name_contains="x")["name"].tolist() == []
        for collection in (bench.projects, bench.dashboards):
            with pytest.raises(wb.Invalid, match="'name' takes one value, not a list"):
                collection.list(name=["Default"])


def test_a_record_far_keeps_and_refuses_what_a_record_near_does(lab: Sides) -> None:
    cell = lab.near.specifications.create(name="S", ratings=RATINGS)
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    for number, value in enumerate(
        (
            *({1: 2}, {None: 1}, {1, 2}, np.array([1.0]), float("nan"), {"a": [float("inf")]}, 10**30, -(2**63)),
            *(
                datetime(2026, 1, 1),
                datetime(2026, 1, 1, 2, 0, 0, 5, UTC),
                pd.Timestamp("2026-01-01"),
                pd.NaT,
                pd.NA,
            ),
            *(np.float32(0.1), np.int64(5), np.bool_(True), (1, 2), b"x", 1j, "a\0b", "\ud800", deep, 2**53 + 1),
        )
    ):
        near, far = (
            kept(bench, f"{number} {side}", value) for side, bench in (("near", lab.near), ("far", lab.far))
        )
        assert repr(near) == repr(far), value
    odd = [
        said(lambda bench=bench: bench.specifications.update(cell, notes=10**30)) for bench in (lab.near, lab.far)
    ]
    assert [one[0] for one in odd] == [wb.Invalid, wb.Invalid]


def test_arguments_out_of_frames_are_numbers_near_and_far(lab: Sides) -> None:
    board = lab.near.dashboards.create(name="B")
    board.save("P", RECIPE)
    cell = lab.near.instances.create(
        name="I", specification=lab.near.specifications.create(name="S", ratings=RATINGS)
    )
    samples = {name: [0.0, 1.0] for name in ("Time [s]", "Current [A]", "Voltage [V]")}
    lab.near.measurements.create(instance=cell, name="M", time_series={**samples, "Step count": [0, 0]})
    for bench in (lab.near, lab.far):
        assert list(bench.measurements.time_series("M", columns="Voltage [V]")) == ["Voltage [V]"]
        plot = bench.dashboards.get("B").plot("P")
        newest = plot.history()["revision"].max()
        assert plot.recipe(newest).transform == RECIPE["transform"]
        assert plot.session(newest) is None
        assert plot.restore(newest).revision == newest + 1
        with pytest.raises(wb.BadRequest, match="named by its number"):
            plot.restore(1.5)
        for least in (np.float64(10), np.int64(10)):
            assert bench.analyse("dcir", least=least).computed == []
        assert bench.analyse("dcir", at=pd.Series([0.0, 10.0])).computed == []
        for call in (
            lambda bench=bench: bench.analyse("dcir", least=float("nan")),
            lambda bench=bench, plot=plot: bench.alerts.create(
                plot, name="x", step="a", values={"v": float("nan")}
            ),
            lambda bench=bench: bench.analyse("dcir", measurements={"ids": [10**30]}),
        ):
            with pytest.raises(wb.Invalid, match=r"NaN|64 bits"):
                call()


def test_columns_of_several_types_keep_infinities_and_show_times_as_all_others(lab: Sides) -> None:
    lab.near.specifications.create(name="S", ratings=RATINGS)
    lab.near.instances.create(name="I", specification="S")
    t = np.arange(20.0)
    half = t < 10
    series = {
        "Time [s]": t,
        "Step count": (t // 10).astype(int),
        "Current [A]": np.where(half, 1.0, -1.0),
        "Voltage [V]": np.where(half, 3.9 - t / 100, 3.5 + t / 100),
    }
    given: dict[str, list[Any]] = {
        "numbers": [float("inf"), -float("inf")],
        "texts": ["x", None],
        "times": [datetime(2026, 1, 31, 12, tzinfo=UTC), None],
    }
    for name, extra in given.items():
        steps = {"Step count": [0, 1], "Start index": [0, 10], "End index": [9, 19], "Extra": extra}
        lab.near.measurements.create(instance="I", name=name, time_series=series, steps=steps)
    moment = "2026-01-31T12:00:00.000000Z"
    at = {"column": "Extra", "op": "eq", "value": moment}
    plan = {
        "tests": {"op": "list", "source": "measurements", "fields": ["id"]},
        "rows": {
            "op": "summary", "dataset": "steps", "ids": {"from": "tests", "column": "id"},
            "columns": ["Step count", "Extra"],
        },
        "made": {
            "op": "aggregate", "input": "rows", "group_by": ["Extra"],
            "metrics": {"n": {"fn": "count"}, "at": {"fn": "first_where", "column": "Step count", "where": at}},
        },
    }  # fmt: skip
    config = {"plan": {"steps": plan}}
    wanted = {"Extra": [float("inf"), -float("inf"), "x", None, moment], "n": [1, 1, 1, 2, 1]}
    for bench in (lab.near, lab.far):
        made = bench.dataset(config)["made"]
        assert {name: made[name].tolist() for name in wanted} == wanted
        assert made["at"].isna().tolist() == [True, True, True, True, False]
    answer = lab.post("datasets", {"config": config}).json()
    assert [row["Extra"] for row in answer["steps"]["made"]] == [None, None, "x", None, moment]
    assert {one["step"] for one in answer["warnings"] if one["code"] == "infinity_as_null"} == {"rows", "made"}
