"""The saved plots: sound, complete in what they use, repeatable, cheap to change in view, and right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from support.handwritten import HANDWRITTEN

from workbench.bench import Bench
from workbench.demo.saved import saved_plots
from workbench.gallery.catalog import entry
from workbench.local import FigureAnswer, LocalBackend
from workbench.recipe.controls import decide
from workbench.recipe.recipe import Recipe
from workbench.store.cache.cache import Cache
from workbench.transform.figure import decode

Recipes: TypeAlias = dict[str, dict[str, Any]]
SLUGS = [plot.slug for plot in saved_plots()]
every_plot = pytest.mark.parametrize("slug", SLUGS)
BESIDE = {("fade-by-batch", "per"): {"relative": "value"}, ("rate-capability", "per"): {"relative": "value"}}
"""What is chosen beside another value of a param, which would change nothing alone: a share is the same per gram."""


def draw(bench: Bench, recipe: dict[str, Any], **values: Any) -> dict[str, Any]:
    return decode(bench.backend.figure(Recipe(recipe).config, values).figure)


def test_most_plots_are_the_gallerys_and_begin_with_values_that_it_has(
    demo_bench: Bench, recipes: Recipes
) -> None:
    of_gallery = [plot for plot in saved_plots() if plot.entry]
    assert len(of_gallery) > len(saved_plots()) / 2
    for plot in of_gallery:
        made = demo_bench.gallery().recipe(plot.entry).raw()
        assert set(plot.values) <= set(made["params"]), plot.slug
        for name, value in plot.values.items():
            made["params"][name]["default"] = value
        assert recipes[plot.slug] == made
        assert plot.description == entry(plot.entry).question


@every_plot
def test_a_plot_is_sound_and_draws_without_warnings(demo_bench: Bench, recipes: Recipes, slug: str) -> None:
    assert demo_bench.check(recipes[slug]) == []
    answer = demo_bench.backend.figure(Recipe(recipes[slug]).config, {})
    assert answer.warnings == []
    assert answer.log == ""
    assert decode(answer.figure)["data"]


@every_plot
def test_a_plot_drawn_anew_has_the_same_bytes(demo_bench: Bench, recipes: Recipes, slug: str) -> None:
    work, config = demo_bench.backend, Recipe(recipes[slug]).config
    assert isinstance(work, LocalBackend)
    fresh = LocalBackend(work.store, Cache(None), work.organization, work.project, work.actor)
    again = fresh.figure(config, {})
    assert again.cache == {"dataset": "miss", "figure": "miss"}
    assert again.figure == work.figure(config, {}).figure


def other_value(name: str, recipe: Recipe, answer: FigureAnswer) -> Any:
    """Another allowed value of a param."""
    param = recipe.config.params[name]
    control = decide(name, param, answer.options.get(name))
    value = param.default
    if "options" in control:
        return next(option["value"] for option in control["options"] if option["value"] != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return [value[0], (value[0] + value[1]) / 2] if isinstance(value[0], float) else [value[0], value[1] - 5]
    if isinstance(value, int | float):
        step = control["step"]
        return value - step if control["max"] is not None and value + step > control["max"] else value + step
    return {"date": "2024-04-01", "json": {"additive": "#009E73"}, "optional_number": 5}.get(
        control["widget"], "other"
    )


@every_plot
def test_a_view_change_reads_nothing(demo_bench: Bench, recipes: Recipes, slug: str) -> None:
    recipe = Recipe(recipes[slug])
    first = demo_bench.backend.figure(recipe.config, {})
    for name, param in recipe.config.params.items():
        if param.kind == "view":
            beside = BESIDE.get((slug, name), {})
            before = demo_bench.backend.figure(recipe.config, beside)
            changed = demo_bench.backend.figure(recipe.config, {**beside, name: other_value(name, recipe, first)})
            assert changed.reads == {"steps": 0, "sources": 0}, name
            assert changed.cache["dataset"] == "hit"
            assert changed.figure != before.figure, f"'{name}' changes nothing in {slug}"


STANDARD = HANDWRITTEN | {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((Path(__file__).parents[2] / "docs" / "recipes").glob("*.json"))
}
"""Recipes that were written by hand, and those of the docs."""


@pytest.mark.parametrize("slug", STANDARD)
def test_a_plot_of_cycles_leaves_out_those_that_are_not_complete(slug: str) -> None:
    steps = STANDARD[slug]["plan"]["steps"]
    read = [name for name, step in steps.items() if step.get("dataset") == "cycles"]
    assert not [name for name, step in steps.items() if step.get("input") in read]
    joined = [step for step in steps.values() if step["op"] == "join" and {step["left"], step["right"]} & {*read}]
    assert len(joined) >= len(read)
    assert all(step["where"]["Complete"] == [True, None] for step in joined)


def test_the_handwritten_ones_use_every_operation_control_and_kind(demo_bench: Bench) -> None:
    recipes = [Recipe(one) for one in HANDWRITTEN.values()]
    steps = [step for recipe in recipes for step in recipe.plan["steps"].values()]
    assert {step["op"] for step in steps} == {"list", "series", "summary", "aggregate", "join"}
    sources = {step["source"] for step in steps if step["op"] == "series"}
    assert sources == {"measurements", "analyses", "materialProperties", "simulations"}
    assert {step["dataset"] for step in steps if step["op"] == "summary"} == {"steps", "cycles"}
    assert any("window" in step for step in steps)
    metrics = [metric for step in steps if step["op"] == "aggregate" for metric in step["metrics"].values()]
    assert {"first", "last", "count", "first_where"} <= {metric["fn"] for metric in metrics}
    assert any("ratio_of" in str(metric.get("where")) for metric in metrics)
    params = [param for recipe in recipes for param in recipe.config.params.values()]
    assert {param.kind for param in params} == {"data", "view"}
    assert widgets(demo_bench, HANDWRITTEN) >= WIDGETS


WIDGETS = {
    *("toggle_buttons", "dropdown", "combobox", "select_multiple", "filtered_select_multiple", "checkbox"),
    *("int_slider", "float_slider", "bounded_int", "bounded_float", "int", "float", "optional_number"),
    *("int_range_slider", "float_range_slider", "text", "textarea", "date", "json"),
}


def widgets(bench: Bench, recipes: Recipes) -> set[str]:
    """The controls of these recipes."""
    found = set()
    for raw in recipes.values():
        config = Recipe(raw).config
        options = bench.backend.figure(config, {}).options
        found |= {decide(name, param, options.get(name))["widget"] for name, param in config.params.items()}
    return found


def test_the_dashboards_use_all_controls_but_four(demo_bench: Bench, recipes: Recipes) -> None:
    assert WIDGETS - widgets(demo_bench, recipes) == {"bounded_float", "float_slider", "int", "int_range_slider"}


def test_choices_cascade_from_batch_to_cell(demo_bench: Bench) -> None:
    def cells(**values: Any) -> tuple[list[str], list[str]]:
        answer = demo_bench.backend.figure(Recipe(HANDWRITTEN["dqdv"]).config, values)
        return [option["value"] for option in answer.options["cell"]], [w["code"] for w in answer.warnings]

    assert cells()[0] == ["M50-A-01", "M50-A-02", "M50-A-03", "M50-A-04"]
    assert cells(batch="C", cell="LFP-C-02") == (["LFP-C-01", "LFP-C-02", "LFP-C-03", "LFP-C-04"], [])
    assert cells(batch="C")[1] == ["value_dropped"]


def test_every_axis_is_titled_with_its_unit(recipes: Recipes) -> None:
    """Titles are looked for in the script: they may depend on params."""
    for slug, recipe in recipes.items():
        script = recipe["transform"]
        assert " / " in script or "axis_title" in script or slug in ("cycle-life", "test-calendar"), slug
        assert "battery.template()" in script
    assert all(len(one["transform"].splitlines()) < 75 for one in HANDWRITTEN.values())


def test_cycles_count_from_0_in_every_figure_and_control(demo_bench: Bench, recipes: Recipes) -> None:
    """A number read off an axis is the one in the tables, and the one to type into a control."""
    for slug, recipe in recipes.items():
        script = recipe["transform"]
        assert "Cycle number" not in script, slug
        assert 'Cycle count"] +' not in script, slug
    rows = demo_bench.measurements.cycles("M50-A-01_ageing")
    figure = draw(demo_bench, recipes["fade-by-batch"], cells=["M50-A-01"], group="cells", relative="value")
    (trace,) = figure["data"]
    assert list(trace["x"][:3]) == [0, 1, 2]
    assert trace["y"][17] == rows["Discharge capacity [A.h]"].iloc[17]
    curves = draw(demo_bench, recipes["voltage-curves"], early=3)
    assert {trace["name"].split(",")[0] for trace in curves["data"]} == {"cycle 3", "cycle 60", "cycle 119"}
    title = draw(demo_bench, recipes["loss-against-metadata"], cycle=100)["layout"]["yaxis"]["title"]["text"]
    assert title == "Capacity loss at cycle count 100 / %"


def test_legends_lie_below_and_cover_nothing(demo_bench: Bench, recipes: Recipes) -> None:
    for slug, recipe in recipes.items():
        legend = draw(demo_bench, recipe)["layout"]["legend"]
        assert (legend["yref"], legend["y"], legend["orientation"]) == ("container", 0, "h"), slug


def test_cells_of_one_temperature_do_not_hide_each_other(demo_bench: Bench, recipes: Recipes) -> None:
    figure = draw(demo_bench, recipes["loss-against-metadata"])
    places = [x for trace in figure["data"] if "markers" in trace["mode"] for x in trace["x"] if x is not None]
    assert len(places) == 12
    assert np.diff(np.sort(places)).min() > 0.3


def test_cycle_life_is_what_the_cycles_say(demo_bench: Bench, recipes: Recipes) -> None:
    figure = draw(demo_bench, recipes["cycle-life"], threshold=93)
    drawn = {
        cell: (trace["name"], text)
        for trace in figure["data"]
        if trace["type"] == "bar"
        for cell, text in zip(trace["y"], trace["text"], strict=True)
    }
    assert len(drawn) == 12
    assert figure["layout"]["xaxis"]["title"]["text"] == "Cycles to 93 %"
    for cell, (how, text) in drawn.items():
        cycles = demo_bench.measurements.cycles(f"{cell}_ageing")
        capacity = cycles[cycles["Cycle count"] < 120]["Discharge capacity [A.h]"]
        below = np.flatnonzero(capacity < 0.93 * capacity.iloc[0])
        assert (how == "reached") == bool(len(below)), cell
        if len(below):
            assert float(text) == pytest.approx(below[0], abs=2), cell


def test_cycle_life_is_sorted_and_coloured_as_chosen(demo_bench: Bench, recipes: Recipes) -> None:
    figure = draw(demo_bench, recipes["cycle-life"], threshold=93, sort=True, color="temperature")
    assert {trace["name"] for trace in figure["data"] if trace["type"] == "scatter"} >= {"25 °C", "45 °C"}
    ended = next(trace for trace in figure["data"] if trace["name"] == "reached")
    lives = dict(zip(ended["y"], map(float, ended["text"]), strict=True))
    order = [cell for cell in figure["layout"]["yaxis"]["categoryarray"] if cell in lives]
    assert [lives[cell] for cell in order] == sorted(lives.values(), reverse=True)


def test_no_partial_cycle_is_drawn_as_a_cliff(demo_bench: Bench, recipes: Recipes) -> None:
    cycles = demo_bench.measurements.cycles("LFP-C-03_ageing")
    assert len(cycles) == 121
    assert cycles["Capacity retention"].iloc[-1] < 0.6
    figure = draw(demo_bench, recipes["fade-by-batch"], cells=["LFP-C-03"], group="cells")
    for trace in figure["data"]:
        assert max(trace["x"]) == 119
        assert min(trace["y"]) > 90
    efficiency = draw(demo_bench, recipes["coulombic-efficiency"], cells=["LFP-C-03"])
    assert all(min(trace["y"]) > 99 for trace in efficiency["data"])


def test_fade_shows_mean_spread_and_number(demo_bench: Bench, recipes: Recipes) -> None:
    two = ["M50-B-01", "M50-B-02"]
    figure = draw(demo_bench, recipes["fade-by-batch"], cells=two)
    line = next(trace for trace in figure["data"] if trace.get("showlegend", True))
    assert line["name"] == "B, 25 °C (n = 2)"
    last = [100 * demo_bench.measurements.cycles(f"{cell}_ageing")["Capacity retention"].iloc[119] for cell in two]
    assert line["y"][-1] == pytest.approx(np.mean(last), rel=1e-12)
    assert np.asarray(line["customdata"])[-1] == pytest.approx([np.std(last, ddof=1), 2])
    shade = next(
        t for t in draw(demo_bench, recipes["fade-by-batch"], cells=two, group="range")["data"] if t.get("fill")
    )
    assert max(last) == pytest.approx(max(y for x, y in zip(shade["x"], shade["y"], strict=True) if x == 119))
    assert min(last) == pytest.approx(min(y for x, y in zip(shade["x"], shade["y"], strict=True) if x == 119))


def test_pulse_resistance_agrees_with_the_stored_analysis(demo_bench: Bench, recipes: Recipes) -> None:
    figure = draw(demo_bench, recipes["pulse-resistance"], tests=["M50-A-01_HPPC_fresh"], direction="discharge")
    (trace,) = figure["data"]
    stored = demo_bench.analyses.table("M50-A-01_HPPC_fresh_dcir").sort_values("SOC")
    expected = stored["Discharge resistance 10 s [mOhm]"].to_numpy()
    drawn = np.interp(100 * stored["SOC"].to_numpy()[1:], trace["x"], trace["y"])
    assert drawn == pytest.approx(expected[1:], rel=0.1)


def test_impedance_is_drawn_to_one_scale(demo_bench: Bench, recipes: Recipes) -> None:
    layout = draw(demo_bench, recipes["nyquist"])["layout"]
    assert layout["yaxis"]["scaleanchor"] == "x"
    assert layout["yaxis"]["scaleratio"] == 1


def test_the_model_lies_near_the_measurement(demo_bench: Bench, recipes: Recipes) -> None:
    figure = draw(demo_bench, recipes["model-and-measurement"])
    residual = next(trace for trace in figure["data"] if trace.get("yaxis") == "y2")
    assert np.median(np.abs(residual["y"])) < 30
    drive = draw(demo_bench, recipes["drive-cycle"], minutes=[0.0, 20.0])
    (told,) = (trace["name"] for trace in drive["data"] if trace["name"].startswith("model"))
    assert 1 < float(told.removeprefix("model, rms difference ").removesuffix(" mV")) < 20
    shifted = draw(demo_bench, recipes["drive-cycle"], offset=1e6)
    assert shifted["layout"]["annotations"][0]["text"].startswith("No samples to draw in these minutes.")


@every_plot
def test_colours_that_run_out_leave_nothing_out(recipes: Recipes, slug: str) -> None:
    assert "zip(battery.PALETTE" not in recipes[slug]["transform"]
    assert "PALETTE *" not in recipes[slug]["transform"]
