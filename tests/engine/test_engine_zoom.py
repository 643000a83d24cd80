"""Zoom: which traces can be traced to a source, and finer detail of what is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.engine_store import CURRENT, TIME, VOLTAGE, Lab

from workbench.dataset import Samples
from workbench.engine.answer import Answered, dataset
from workbench.engine.zoom import detail, traceable, visible_ranges
from workbench.recipe.check import sound
from workbench.recipe.plot import PlotConfig
from workbench.store.scope import EVERYTHING
from workbench.table import Table

N = 50_000


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Two long tests of one cell: time rises, voltage goes up and down."""
    lab = Lab(tmp_path)
    cell = lab.make("instances", name="cell", specification_id=lab.specification("M50").id)
    for seed in range(2):
        noise = np.random.default_rng(seed)
        times = np.arange(N) * 2.0
        voltage = 3.6 + 0.5 * np.sin(times / 4000) + 0.01 * noise.standard_normal(N)
        lab.measurement(
            cell, f"Test {seed}", series=Table.of({TIME: times, VOLTAGE: voltage, CURRENT: np.arange(N) % 7})
        )
    return lab


CONFIG = {
    "plan": {
        "steps": {
            "tests": {"op": "list", "source": "measurements", "fields": ["id"]},
            "curves": {
                "op": "series",
                "source": "measurements",
                "ids": {"from": "tests", "column": "id"},
                "x": TIME,
                "columns": [VOLTAGE, CURRENT],
                "max_points": 400,
            },
        }
    }
}


def asked(lab: Lab) -> tuple[PlotConfig, Answered, list[Samples]]:
    config = sound(CONFIG, transform=False)
    answered = dataset(config, {}, lab.store, lab.scope)
    series = answered.dataset.steps["curves"]
    assert isinstance(series, dict)
    return config, answered, list(series.values())


def trace(samples: Samples, x: str = TIME, y: str = VOLTAGE, **more: Any) -> dict[str, Any]:
    return {"type": "scatter", "x": samples.table[x].values.copy(), "y": samples.table[y].values.copy(), **more}


def test_a_trace_of_two_columns_of_one_source_is_traceable(lab: Lab) -> None:
    _, answered, (first, second) = asked(lab)
    keys = list(answered.dataset.steps["curves"])
    computed = trace(first)
    computed["y"] = computed["y"] ** 2
    crossed = trace(first) | {"y": second.table[VOLTAGE].values}
    figure = {"data": [trace(first), trace(second, VOLTAGE, CURRENT), computed, crossed, {"type": "bar"}]}
    found = traceable(figure, answered.dataset)
    assert {n: (t.step, t.id, t.x, t.y) for n, t in found.items()} == {
        0: ("curves", keys[0], TIME, VOLTAGE),
        1: ("curves", keys[1], VOLTAGE, CURRENT),
    }


def test_what_comes_from_the_same_rows_follows_and_what_does_not_leaves_the_trace_alone(lab: Lab) -> None:
    config, answered, (first, _) = asked(lab)
    followed = trace(first, marker={"color": first.table[CURRENT].values.tolist()}, mode="markers")
    foreign = trace(first, text=[str(n) for n in range(first.table.n)])
    figure = {"data": [followed, foreign]}
    assert list(traceable(figure, answered.dataset)) == [0]
    finer = detail(figure, answered.dataset, config, lab.store, lab.scope, traces=[0, 1], x=[100.0, 300.0])
    assert list(finer) == [0]
    at = dict(zip(finer[0].x, finer[0].others["marker.color"], strict=True))
    assert all(current == int(time / 2) % 7 for time, current in at.items())


def test_sources_that_agree_in_all_that_is_shown_need_the_script_to_say_which(lab: Lab) -> None:
    _, answered, (first, _) = asked(lab)
    (cell,) = lab.store.rows.page("instances", lab.scope).items
    key = next(iter(answered.dataset.steps["curves"]))
    lab.measurement(cell, "Twin", series=lab.store.series.read(key, scope=EVERYTHING))
    _, answered, _ = asked(lab)
    meta = {"step": "curves", "id": key}
    figure = {"data": [trace(first), trace(first, meta=meta)]}
    assert {n: found.id for n, found in traceable(figure, answered.dataset).items()} == {1: key}


def test_detail_is_real_samples_denser_where_one_looks(lab: Lab) -> None:
    config, answered, (first, _) = asked(lab)
    key = next(iter(answered.dataset.steps["curves"]))
    exact = lab.store.series.read(key, scope=EVERYTHING)
    low, high = 40_000.0, 40_400.0
    figure = {"data": [trace(first)]}
    finer = detail(figure, answered.dataset, config, lab.store, lab.scope, traces=[0], x=[low, high], width=2000)[
        0
    ]
    stored = dict(zip(exact[TIME].tolist(), exact[VOLTAGE].tolist(), strict=True))
    assert all(stored[x] == y for x, y in zip(finer.x, finer.y, strict=True))
    assert finer.x == sorted(set(finer.x))
    assert [x for x in finer.x if low <= x <= high] == [x for x in exact[TIME].tolist() if low <= x <= high]
    assert finer.shown == finer.of
    shown = set(finer.x)
    assert all(x in shown for x in first.table[TIME].tolist() if not low <= x <= high)


def test_a_wide_view_is_bounded_by_two_samples_a_pixel(lab: Lab) -> None:
    config, answered, (first, _) = asked(lab)
    figure = {"data": [trace(first)]}
    finer = detail(
        figure, answered.dataset, config, lab.store, lab.scope, traces=[0], x=[0.0, 2.0 * N], width=600
    )[0]
    assert finer.of == N
    assert finer.shown <= 1200
    assert len(finer.x) == finer.shown


def test_against_an_x_that_goes_back_and_forth_each_visible_stretch_is_read(lab: Lab) -> None:
    config, answered, (first, _) = asked(lab)
    key = next(iter(answered.dataset.steps["curves"]))
    figure = {"data": [trace(first, VOLTAGE, TIME)]}
    args: dict[str, Any] = {"traces": [0], "x": [3.55, 3.65], "y": [20_000.0, 60_000.0]}
    finer = detail(figure, answered.dataset, config, lab.store, lab.scope, width=4000, **args)[0]
    exact = lab.store.series.read(key, scope=EVERYTHING)
    inside = {
        (v, t)
        for v, t in zip(exact[VOLTAGE].tolist(), exact[TIME].tolist(), strict=True)
        if 3.56 <= v <= 3.64 and 20_100 <= t <= 59_900
    }
    shown = set(zip(finer.x, finer.y, strict=True))
    assert len(inside & shown) > 0.9 * len(inside)
    assert finer.of < N / 2


def test_between_two_shown_samples_there_is_detail_too(lab: Lab) -> None:
    config, answered, (first, _) = asked(lab)
    times = first.table[TIME].tolist()
    gap = max(range(len(times) - 1), key=lambda n: times[n + 1] - times[n])
    low, high = times[gap] + 2, times[gap + 1] - 2
    finer = detail(
        {"data": [trace(first)]},
        answered.dataset,
        config,
        lab.store,
        lab.scope,
        traces=[0],
        x=[low, high],
        width=500,
    )[0]
    assert [x for x in finer.x if low <= x <= high] == list(np.arange(low, high + 1, 2.0))


def test_a_curve_that_is_shown_whole_has_no_finer_detail(lab: Lab) -> None:
    (cell,) = lab.store.rows.page("instances", lab.scope).items
    lab.measurement(cell, "Short", series=Table.of({TIME: [0.0, 1.0], VOLTAGE: [3.0, 4.0], CURRENT: [1, 2]}))
    config, answered, samples = asked(lab)
    figure = {"data": [trace(samples[-1])]}
    assert list(traceable(figure, answered.dataset)) == [0]
    assert detail(figure, answered.dataset, config, lab.store, lab.scope, traces=[0], x=[0, 1]) == {}


def test_times_are_traced_and_bounded_as_times(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    cell = lab.make("instances", name="cell", specification_id=lab.specification("M50").id)
    times = np.datetime64("2026-01-31T00:00:00") + np.arange(N).astype("m8[s]")
    lab.measurement(
        cell, "T", series=Table.of({TIME: times, VOLTAGE: np.sin(np.arange(N)), CURRENT: np.arange(N)})
    )
    config, answered, (samples,) = asked(lab)
    texts = [f"{text}" for text in samples.table[TIME].values.view("M8[us]").astype("M8[s]")]
    figure = {"data": [{"x": texts, "y": samples.table[VOLTAGE].values}]}
    span = ["2026-01-31T01:00:00", "2026-01-31 01:01:00"]
    finer = detail(figure, answered.dataset, config, lab.store, lab.scope, traces=[0], x=span, width=500)[0]
    assert "2026-01-31T01:00:30.000000" in finer.x


def test_a_gap_in_x_keeps_its_stretch_visible() -> None:
    table = Table.of({"x": [0.0, 1.0, float("nan"), 3.0, 4.0], "y": [0.0] * 5})
    samples = Samples(np.array([0, 10, 20, 30, 40]), table, False, 50)
    assert visible_ranges(samples, "x", "y", (3.5, 3.6), None) == [(10, 41)]
