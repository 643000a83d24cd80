"""A local and a remote bench give the same answer: figures byte for byte, data and records value for value."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.handwritten import HANDWRITTEN
from support.local_and_remote import Sides

import workbench as wb
from workbench.backend import FigureAnswer
from workbench.errors import Invalid, Problem
from workbench.remote.errors import problems_of
from workbench.store.scope import EVERYTHING
from workbench.transform.frames import SeriesFrames

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"
GOLDEN: dict[str, Any] = {path.stem: json.loads(path.read_text()) for path in sorted(RECIPES.glob("*.json"))}
GOLDEN |= HANDWRITTEN


RATINGS = {
    "capacity": {"value": 5.0, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}


def through(sides: Sides, where: str) -> Callable[[Any, dict[str, Any]], FigureAnswer]:
    """Who draws: the store at hand, the bench on a server, or that server's own endpoint."""
    if where == "http":
        return lambda config, values: _posted(sides, config, values)
    return (sides.near if where == "near" else sides.far).backend.figure


def _posted(sides: Sides, config: Any, values: dict[str, Any]) -> FigureAnswer:
    answer = sides.post("figures", {"config": config, "values": values})
    told = answer.json()
    if answer.status_code == 422:
        raise Invalid(problems_of(told["detail"]))
    assert answer.status_code == 200, answer.text
    start = len(b'{"figure":')
    figure = answer.content[start : answer.content.index(b',"values":{', start)]
    for name in ("figure", "controls", "content"):
        del told[name]
    return FigureAnswer(figure=figure, **told)


def outcome(
    draw: Callable[..., FigureAnswer], config: Any, values: dict[str, Any]
) -> FigureAnswer | list[Problem]:
    """The answer, or what is wrong."""
    try:
        return draw(config, values)
    except Invalid as error:
        return error.problems


def other(sides: Sides, config: Any) -> dict[str, Any]:
    """Other values than the defaults, where a param has choices."""
    options = sides.near.backend.figure(config, {}).options
    chosen: dict[str, Any] = {}
    for name, param in config.get("params", {}).items():
        several = isinstance(param["default"], list)
        found = [one["value"] for one in options.get(name, []) if one["value"] != param["default"]]
        if found:
            chosen[name] = [found[0]] if several else found[0]
    return chosen


@pytest.mark.parametrize("where", ["near", "far", "http"])
@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_recipe_gives_the_same_bytes(demo: Sides, name: str, where: str) -> None:
    config = GOLDEN[name]
    draw = through(demo, where)
    for values in ({}, other(demo, config)):
        expected, drawn = (outcome(one, config, values) for one in (demo.near.backend.figure, draw))
        if isinstance(expected, list) or isinstance(drawn, list):
            assert drawn == expected
            continue
        assert drawn.figure == expected.figure
        assert drawn.values == expected.values
        assert drawn.options == expected.options
        assert drawn.warnings == expected.warnings
        assert drawn.log == expected.log


@pytest.mark.parametrize("where", ["near", "far"])
def test_every_saved_plot_is_drawn_from_its_dashboard(demo: Sides, where: str) -> None:
    bench = demo.near if where == "near" else demo.far
    drawn = {
        (board, plot.name): plot.figure().to_json()
        for board in bench.dashboards.list()["name"]
        for plot in bench.dashboards.get(board).plots()
    }
    assert len(drawn) >= 10
    expected = {
        (board, plot.name): plot.figure().to_json()
        for board in demo.near.dashboards.list()["name"]
        for plot in demo.near.dashboards.get(board).plots()
    }
    assert drawn == expected


@pytest.mark.parametrize("name", GOLDEN)
def test_data_are_the_same_frame_by_frame(demo: Sides, name: str) -> None:
    here, there = demo.near.dataset(GOLDEN[name]), demo.far.dataset(GOLDEN[name])
    assert list(here) == list(there)
    assert here.warnings == there.warnings
    assert here.params == there.params
    for step in here:
        if isinstance(here[step], SeriesFrames):
            assert list(here[step]) == list(there[step])
            for key in here[step]:
                pd.testing.assert_frame_equal(here[step][key], there[step][key], check_exact=True)
                assert here[step].complete[key] == there[step].complete[key]
        else:
            pd.testing.assert_frame_equal(here[step], there[step], check_exact=True)


@pytest.mark.parametrize(
    ("x", "y"),
    [("t", "v"), ("t / 3600", "1000 * v"), ("-t / 86400 + 2", "-v"), ("t", "v ** 2")],
    ids=["as they are", "hours and mV", "days and negative", "squared"],
)
def test_zoom_reads_the_same_detail(demo: Sides, x: str, y: str) -> None:
    listed = demo.near.measurements.list()
    longest = listed.loc[listed["sample_count"].idxmax(), "id"]
    step = {
        "op": "series",
        "source": "measurements",
        "ids": [longest],
        "x": "Time [s]",
        "columns": ["Voltage [V]"],
    }
    config = {
        "plan": {"steps": {"s": {**step, "max_points": 200}}},
        "transform": "def transform(data, params):\n"
        "    frame = next(iter(data['s'].values()))\n"
        "    t, v = frame['Time [s]'], frame['Voltage [V]']\n"
        f"    return {{'data': [{{'x': {x}, 'y': {y}}}], 'layout': {{}}}}\n",
    }
    asked: dict[str, Any] = {"traces": [0, 7], "x": [-1e9, 1e9], "width": 700}
    here = demo.near.backend.detail(config, {}, **asked)
    there = demo.far.backend.detail(config, {}, **asked)
    assert {n: one.as_dict() for n, one in here.items()} == {n: one.as_dict() for n, one in there.items()}
    (said,) = demo.near.figure(config).workbench.traces
    assert demo.far.figure(config).workbench.traces == [said]
    for _ in range(2):  # the second answer is from the cache
        assert _posted(demo, config, {}).traces == [said]
    if y == "v ** 2":
        assert here == {}
        assert (said["detail"], said["shown"]) == ("none", 200)
        assert "computed by the script" in said["why"]
    else:
        assert here[0].shown > 200
        assert said == {"detail": "finer", "shown": 200, "of": listed["sample_count"].max()}


@pytest.mark.parametrize(
    "kind",
    [
        *(
            "specifications",
            "batches",
            "instances",
            "measurements",
            "analyses",
            "materials",
            "material_properties",
        ),
        *("models", "simulations", "studies", "drive_cycles", "dashboards", "projects"),
    ],
)
def test_records_are_the_same_listed_and_got(demo: Sides, kind: str) -> None:
    here, there = getattr(demo.near, kind), getattr(demo.far, kind)
    listed = here.list()
    pd.testing.assert_frame_equal(listed, there.list(), check_exact=True)
    assert len(listed)
    for ref in (listed["id"].iloc[0], listed["name"].iloc[-1]):
        one, two = here.get(ref), there.get(ref)
        assert getattr(one, "record", one) == getattr(two, "record", two)
    with pytest.raises(wb.NotFound) as near:
        here.get("no such name")
    with pytest.raises(wb.NotFound) as far:
        there.get("no such name")
    assert str(near.value) == str(far.value)


def test_lists_take_the_same_filters(demo: Sides) -> None:
    for filters in ({"name_contains": "RPT"}, {"batch": "A"}, {"measurement_type": "time_series", "limit": 3}):
        pd.testing.assert_frame_equal(
            demo.near.measurements.list(**filters), demo.far.measurements.list(**filters), check_exact=True
        )
    fields = ["name", "protocol.name", "specification_name"]
    pd.testing.assert_frame_equal(
        demo.near.measurements.list(fields=fields), demo.far.measurements.list(fields=fields), check_exact=True
    )


def test_tables_of_every_kind_come_back_exact(demo: Sides) -> None:
    for kind, tables in {
        "measurements": ("time_series", "steps", "cycles"),
        "simulations": ("time_series",),
        "analyses": ("table",),
        "material_properties": ("table",),
    }.items():
        here, there = getattr(demo.near, kind), getattr(demo.far, kind)
        for id in here.list()["id"][:6]:
            for table in tables:
                one, two = getattr(here, table)(id), getattr(there, table)(id)
                pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_catalog_search_and_words_are_the_same(demo: Sides) -> None:
    assert demo.near.catalog().as_dict() == demo.far.catalog().as_dict()
    assert repr(demo.near.catalog()) == repr(demo.far.catalog())
    pd.testing.assert_frame_equal(demo.near.search("m50"), demo.far.search("m50"))
    config = GOLDEN["fade-by-batch"]
    words = ["batches=A", "temperature=45"]
    assert demo.near.values(config, words) == demo.far.values(config, words)


def test_what_is_wrong_is_told_in_the_same_words(demo: Sides) -> None:
    wrong = json.loads(json.dumps(GOLDEN["fade-by-batch"]))
    step = next(name for name, one in wrong["plan"]["steps"].items() if one["op"] == "summary")
    wrong["plan"]["steps"][step]["columns"].append("No such column")
    wrong["transform"] += "\nimport os\n"
    here = demo.near.check(wrong)
    assert here
    assert demo.far.check(wrong) == here
    for raw in (wrong, {"plan": {"steps": {}}, "transform": "x"}, {"plan": 3}):
        told = []
        for bench in (demo.near, demo.far):
            with pytest.raises(Invalid) as error:
                bench.figure(raw)
            told.append(error.value.problems)
        assert told[0] == told[1]
    broken = {**GOLDEN["fade-by-batch"], "transform": "def transform(data, params):\n    return 1 / 0\n"}
    failed = []
    for bench in (demo.near, demo.far):
        with pytest.raises(wb.ScriptError) as error:
            bench.figure(broken)
        failed.append(error.value.problems)
    assert failed[0] == failed[1]


def frame(n: int) -> pd.DataFrame:
    """Samples with all that a column may hold: a NaN of other bits, a negative zero, nulls, texts, times."""
    step = np.repeat(np.arange(n // 100 + 1), 100)[:n]
    current = np.where(step % 2 == 0, 1.0, -1.0)
    odd = np.zeros(n)
    odd[:4] = [-0.0, np.nan, np.inf, 5e-324]
    odd[1:2].view(np.uint64)[:] = 0x7FF8DEADBEEF0001
    return pd.DataFrame(
        {
            "Time [s]": np.arange(n, dtype=float),
            "Step count": step,
            "Current [A]": current,
            "Voltage [V]": 3.7 - 0.1 * current,
            "odd": odd,
            "small": np.arange(n, dtype=np.int16),
            "single": np.arange(n, dtype=np.float32) / 3,
            "remark": pd.array([None, "a"] * (n // 2), dtype="object"),
            "when": pd.date_range("2024-01-01", periods=n, freq="s", tz="UTC"),
            "yes": pd.array([True, None] * (n // 2), dtype="boolean"),
            "none": pd.array([None] * n, dtype="object"),
        }
    )


@pytest.mark.parametrize("rows", [400, 140_000])
def test_samples_given_far_are_stored_as_given_near(lab: Sides, rows: int) -> None:
    given = frame(rows)
    lab.far.specifications.create(name="S", ratings=RATINGS)
    cell = lab.far.instances.create(name="cell", specification="S")
    made = [
        bench.measurements.create(instance=cell, name=name, time_series=given, tags=["a"])
        for bench, name in ((lab.near, "near"), (lab.far, "far"))
    ]
    store = lab.near.backend.store
    one, two = (store.series.read(record.id, scope=EVERYTHING) for record in made)
    assert one.names == two.names
    for name in one:
        assert one[name].kind == two[name].kind
        assert one[name].values.dtype == two[name].values.dtype
        assert one[name].null_mask().tobytes() == two[name].null_mask().tobytes()
        present = ~one[name].null_mask()
        assert one[name].take(present).tolist() == two[name].take(present).tolist() or name == "odd"
    assert one["odd"].values.tobytes() == two["odd"].values.tobytes()
    assert (
        store.series.info(made[0].id, scope=EVERYTHING).content_hash
        == store.series.info(made[1].id, scope=EVERYTHING).content_hash
    )
    for table in ("time_series", "steps", "cycles"):
        here, there = (getattr(bench.measurements, table)(made[1].id) for bench in (lab.near, lab.far))
        pd.testing.assert_frame_equal(here, there, check_exact=True)
    read = lab.far.backend.samples(made[1], "series", ["odd", "when"])
    assert read["odd"].values.tobytes() == one["odd"].values.tobytes()
