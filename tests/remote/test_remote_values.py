"""Values out of numpy and pandas mean the same on a local and a remote bench."""

from __future__ import annotations

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


def test_arguments_out_of_frames_are_numbers_near_and_far(lab: Sides) -> None:
    board = lab.near.dashboards.create(name="B")
    board.save("P", RECIPE)
    for bench in (lab.near, lab.far):
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
