"""Each recipe of the gallery on the demo, on an empty store and on a store of one bare file: a figure or a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.local_and_remote import sides

import workbench as wb
from workbench.analyses.registry import ANALYSES
from workbench.battery.capacity.reference import came_part_charged
from workbench.figure_sketch import sketch
from workbench.gallery import catalog, script_parts
from workbench.gallery.catalog import entries
from workbench.gallery.entry import script_of
from workbench.records import Measurement
from workbench.transform.script import check_script

COMPUTED = {"knee": "M50-A-04_ageing", "ic_peaks": "M50-A-01_RPT0", "power_capability": "M50-A-01_HPPC_fresh"}
COMPUTED |= {"pseudo_ocv": "M50-A-01_RPT0", "ocv_from_rests": "M50-A-01_HPPC_fresh", "delta_q": "M50-A-04_ageing"}
COMPUTED |= {"kk": "M50-A-01_EIS_fresh", "drt": "M50-A-01_EIS_fresh", "gitt": "PCH-01_GITT"}
SIMULATIONS = ("simulation", "simulation-residual", "simulation-error")
LACKING = {"formation", "self-discharge", *SIMULATIONS}
"""What the demo has no data for."""
UNNAMED = {"outliers": {"x"}, "test-timeline": {"y"}}
"""Axes that only place things, and so have no name in the numbers of a figure."""
SLOW = {
    "circuit": (["M50-A-01_EIS_fresh", "M50-A-01_EIS_aged"], {"starts": 2}),
    "degradation_modes": (["M50-A-01_RPT0", "M50-A-01_RPT3", "M50-A-03_RPT0", "M50-A-03_RPT3"], {"starts": 4}),
}
"""Their analyses take long: they are computed of few tests, with few starts."""


@pytest.fixture(scope="module")
def demo(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    """A copy of the demo with stored results."""
    copy = tmp_path_factory.mktemp("gallery") / "demo.db"
    with wb.open(demo_store) as bench:
        bench.backup(copy)
    with wb.open(copy) as bench:
        for type, test in COMPUTED.items():
            bench.analyse(type, test)
        for type, (tests, values) in SLOW.items():
            bench.analyse(type, tests, **values)
        yield bench


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    with wb.open(tmp_path_factory.mktemp("gallery") / "empty.db") as bench:
        yield bench


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    """A store of one file without ratings, tags or temperature."""
    folder = tmp_path_factory.mktemp("gallery")
    lines = ["Time [s],Current [A],Voltage [V],Cycle,Step"]
    time = 0.0
    for cycle in range(12):
        for step, (current, steps) in enumerate(((1.0, 60), (0.0, 10), (-0.5, 120), (0.0, 10))):
            for place in range(steps):
                share = place / steps
                volts = {1.0: 4.1 - 1.1 * share, -0.5: 3.0 + 1.2 * share, 0.0: 3.6}[current]
                lines.append(f"{time},{current * (1 - 0.002 * cycle)},{volts:.4f},{cycle},{step}")
                time += 60.0
    (folder / "test.csv").write_text("\n".join(lines) + "\n")
    with wb.open(folder / "bare.db") as bench:
        assert bench.ingest([folder / "test.csv"], sign="discharge").ok
        yield bench


def unmet(figure: wb.Figure) -> list[str]:
    return [one["message"] for one in figure.workbench.warnings if one["code"] == "needs_unmet"]


@pytest.mark.parametrize("name", entries())
def test_on_the_demo_each_draws_its_question(demo: wb.Bench, name: str) -> None:
    figure = demo.figure(name)
    said = unmet(figure)
    if name in LACKING:
        assert len(said) == 1
        assert not figure.data
        return
    assert said == []
    assert figure.data
    # So few starts of a fit as these tests make end alike, and have no spread.
    alike = "group_of_one" if name == "degradation-modes" else None
    assert [one.message for one in figure.workbench.lint if one.code != alike] == []
    unnamed = {column for column in figure.tidy() if column in ("x", "y") or "Hover value" in column}
    assert unnamed <= UNNAMED.get(name, set())
    assert demo.check(name) == []


@pytest.mark.parametrize("name", entries())
def test_with_nothing_chosen_each_says_so(demo: wb.Bench, name: str) -> None:
    params = demo.gallery().recipe(name).raw().get("params", {})
    for param in ({"tests", "cells", "simulations"} & set(params)) if name not in LACKING else ():
        if not isinstance(params[param]["default"], list):
            continue
        figure = demo.figure(name, **{param: []})
        assert not figure.data
        assert figure.layout.annotations


def test_values_of_cells_without_a_mass_or_an_area_are_a_sentence(
    demo: wb.Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One cell without tests has both, so that recipes offer them."""
    copy = tmp_path_factory.mktemp("gallery") / "bare_cells.db"
    demo.backup(copy)
    with wb.open(copy) as bench:
        for id in bench.specifications.list(fields=["id"])["id"]:
            bench.specifications.update(id, properties={})
        known = {"mass": {"value": 45.0, "unit": "g"}, "electrode_area": {"value": 1000.0, "unit": "cm2"}}
        bench.instances.create(name="weighed", specification="SIM M50 21700", properties=known)
        asked: list[tuple[str, dict[str, object], str]] = [
            ("ragone", {"per": "g"}, "mass"),
            ("dq-dv", {"per": "cm2"}, "area"),
            ("bode", {"per": "cm2", "show": "bode"}, "area"),
            ("capacity-by-step", {"per": "g", "share": False}, "mass"),
            ("rate-capability", {"per": "g", "relative": "value"}, "mass"),
        ]
        for name, values, what in asked:
            figure = bench.figure(name, **values)
            assert not figure.data
            assert [f"No {what} of the chosen cells is known" in one for one in unmet(figure)] == [True]
        bench.instances.update("M50-A-01", properties=known)  # the others are named, and the rest is drawn
        figure = bench.figure("dq-dv", per="g", tests=["M50-A-01_RPT0", "M50-A-03_RPT0", "LFP-C-01_RPT0"])
        assert {trace.name for trace in figure.data} == {"M50-A-01_RPT0"}
        assert "without LFP-C-01, M50-A-03: mass or area unknown" in " ".join(
            one.text.replace("<br>", " ") for one in figure.layout.annotations
        )


@pytest.mark.parametrize("name", entries())
def test_on_an_empty_store_each_says_what_it_needs(empty: wb.Bench, name: str) -> None:
    figure = empty.figure(name)
    (said,) = unmet(figure)
    (words,) = figure.layout.annotations
    assert words.text.replace("<br>", " ").startswith(said[:20])
    assert not figure.data
    assert said.endswith(".")


@pytest.mark.parametrize("name", entries())
def test_on_one_bare_file_each_is_a_figure_or_a_sentence(bare: wb.Bench, name: str) -> None:
    figure = bare.figure(name)
    assert bool(figure.data) != bool(unmet(figure))


def test_a_bare_file_has_its_own_figures(bare: wb.Bench) -> None:
    ready = {item["name"] for item in bare.gallery().items if item["ready"]}
    assert {"fade", "test-timeline", "voltage-curves", "capacity-by-step", "efficiency"} <= ready
    assert "dcir" not in ready


@pytest.mark.parametrize("name", entries())
def test_each_entry_is_whole(name: str) -> None:
    entry = entries()[name]
    assert entry.question.endswith("?")
    assert entry.title
    assert entry.needs.endswith(".")
    assert check_script(entry.script) == []
    assert set(entry.analyses) <= set(ANALYSES)
    assert script_of(entry.module) == entry.script


def test_every_param_of_every_recipe_can_be_chosen(demo: wb.Bench, long: bool) -> None:
    """Each fixed option of each param draws, alone."""
    for name in ("fade", "outliers", "rate-capability")[: 3 if long else 1]:
        recipe = demo.gallery().recipe(name)
        for param, one in recipe.config.params.items():
            for option in (one.control.options or []) if one.control is not None else []:
                value = option if isinstance(option, str | int | float) else option.value
                assert demo.figure(name, {param: value}).data, (name, param, value)


def test_a_capacity_is_given_per_cell_gram_or_area(demo: wb.Bench) -> None:
    of = {per: demo.figure("fade", relative="value", per=per, group="cells") for per in ("cell", "g", "cm2")}
    cells = {per: {trace.name: trace.y[0] for trace in figure.data} for per, figure in of.items()}
    name = "M50-A-01, 25 °C"
    assert cells["g"][name] == pytest.approx(1000 * cells["cell"][name] / 69.0)
    assert cells["cm2"][name] == pytest.approx(1000 * cells["cell"][name] / 1027.0)
    assert "mA h g⁻¹" in of["g"].layout.yaxis.title.text


PER_CELL = re.compile(r"/ (A h|m?A|m?Ω)( V⁻¹)?$")
"""Titles of axes with a capacity, a current or a resistance of a whole cell."""
ITS_VALUE = {"relative": "value", "quantity": "capacity"}
"""What shows the value itself instead of a share."""


def per_cell(figure: wb.Figure) -> set[str]:
    """The titles of axes with what is of a whole cell."""
    titles = (axis.title.text or "" for axis in [*figure.select_xaxes(), *figure.select_yaxes()])
    return {title for title in titles if PER_CELL.search(title)}


@pytest.mark.parametrize("name", sorted(set(entries()) - LACKING))
def test_each_capacity_current_and_resistance_can_be_given_per_gram_or_area(demo: wb.Bench, name: str) -> None:
    params = demo.gallery().recipe(name).config.params
    fixed = {key: [one.value for one in of.control.options] for key, of in params.items() if of.control.options}
    values = {key: value for key, value in ITS_VALUE.items() if value in fixed.get(key, ())}
    if not per_cell(demo.figure(name, values)):
        return
    assert set(fixed["per"]) >= {"cell", "cm2"}
    for per in set(fixed["per"]) - {"cell"}:
        assert per_cell(demo.figure(name, values, per=per)) == set()


EXCLUDED = ("M50-A-01_ageing", "M50-A-01_RPT0", "M50-A-01_HPPC_fresh", "M50-A-01_EIS_fresh", "M50-A-04_ageing")


@pytest.fixture(scope="module")
def without(demo: wb.Bench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    """The demo with stored results, and then with a test of each kind and some cycles excluded."""
    copy = tmp_path_factory.mktemp("gallery") / "without.db"
    demo.backup(copy)
    with wb.open(copy) as bench:
        for test in EXCLUDED:
            bench.exclude(test, reason="channel failed")
        bench.exclude("PCH-02_rates", cycles=[8, 9], reason="too fast")
        bench.exclude("M50-A-03_ageing", cycles=[50], reason="power cut")
        yield bench


@pytest.mark.parametrize("name", sorted(set(entries()) - set(SIMULATIONS)))
def test_each_leaves_out_what_is_excluded_and_says_why(without: wb.Bench, name: str) -> None:
    figure = without.figure(name)
    drawn = json.dumps(figure.to_plotly_json()["data"], default=str)
    assert not [test for test in EXCLUDED if test in drawn]
    if figure.data:
        words = " ".join(str(one.text).replace("<br>", " ") for one in figure.layout.annotations)
        assert "channel failed" in words


def test_excluded_cycles_are_left_out_of_steps_and_samples_too(demo: wb.Bench, without: wb.Bench) -> None:
    def drawn(bench: wb.Bench, name: str, **values: Any) -> list[Any]:
        return list(bench.figure(name, **values).data)

    rates = [drawn(bench, "rate-capability")[0].x for bench in (demo, without)]
    assert len(rates[1]) == len(rates[0]) - 1
    assert max(rates[1]) < max(rates[0])
    curves = [drawn(one, "voltage-curves", tests=["M50-A-03_ageing"], middle=50) for one in (demo, without)]
    cycles = [{trace.name for trace in traces} for traces in curves]
    assert cycles[0] - cycles[1] == {"cycle 50"}
    steps = [drawn(bench, "capacity-by-step", tests=["M50-A-03_ageing"])[0].x for bench in (demo, without)]
    assert set(steps[0]) - set(steps[1]) == {50}


def test_tests_of_one_name_are_told_apart_by_their_cells(tmp_path: Path) -> None:
    with wb.open(tmp_path / "same.db") as bench:
        bench.specifications.create(name="cell", ratings=RATINGS)
        for cell in ("c1", "c2"):
            bench.instances.create(name=cell, specification="cell")
            for test in ("before", "after"):
                frame = ageing(0)
                bench.measurements.create(
                    name=test, instance=cell, time_series=frame, sign="discharge", tags=["rpt"]
                )
        recipe = bench.gallery().recipe("dq-dv").config
        assert recipe.params["cells"].default == ["c1"]
        one, both = bench.figure("dq-dv"), bench.figure("dq-dv", cells=["c1", "c2"])
        assert [trace.name for trace in one.data] == ["before", "after"]
        assert {trace.name for trace in both.data} == {
            f"{c}, {t}" for c in ("c1", "c2") for t in ("before", "after")
        }
        assert "; c2, before" in bench.figure("test-timeline", cells="c2").layout.annotations[0].text


def test_a_cell_that_came_part_charged_is_not_compared_with_its_first_discharge(tmp_path: Path) -> None:
    with wb.open(tmp_path / "part.db") as bench:
        bench.specifications.create(name="cell", ratings=RATINGS)
        bench.instances.create(name="c1", specification="cell")
        frame = ageing(0).iloc[60 + 20 :].reset_index(drop=True)  # its first discharge begins at a third
        for name in ("Time [s]", "Step count"):
            frame[name] -= frame[name].iloc[0]
        bench.measurements.create(name="t", instance="c1", time_series=frame, sign="discharge", tags=["ageing"])
        cycles = bench.measurements.cycles("t")
        assert cycles["Complete"].tolist()[:2] == [False, True]
        largest = cycles["Discharge capacity [A.h]"].max()
        figure = bench.figure("fade", group="cells")
        assert max(figure.data[0].y) == pytest.approx(100)
        assert min(figure.data[0].x) == 1
        kept = {}
        for type, values in (("retention", {}), ("end_of_life", {"threshold": 0.985})):
            bench.analyse(type, "t", **values)
            (id,) = bench.analyses.list(analysis_type=type)["id"]
            kept |= bench.analyses.get(id).metadata["results"]
        assert kept["reference"] == pytest.approx(largest)
        assert 0.9 < kept["retention"] < 1
        assert 1 < kept["cycle"] < 11


@pytest.mark.parametrize("complete", [None, True, False])
@pytest.mark.parametrize("first", [0.3, 0.79, 0.81, 1.0])
def test_scripts_and_analyses_agree_on_what_began_part_charged(first: float, complete: bool | None) -> None:
    rows = pd.DataFrame({"Cycle count": range(4), "Discharge capacity [A.h]": [first, 1.0, 0.9, 0.8]})
    rows = rows.assign(measurement_id="t", Complete=pd.array([complete, True, True, True], "boolean"))
    kept, said = script_parts.from_full(rows)
    found = came_part_charged(rows["Discharge capacity [A.h]"].to_numpy(), [complete, True, True, True])
    assert (len(kept) == 3) == bool(said) == found
    assert found == (complete is None and first < 0.8)


def test_what_is_excluded_is_left_out_and_said(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        before = bench.figure("fade", group="cells")
        made = bench.exclude("M50-A-04_ageing", cycles=range(60, 121), reason="plated")
        bench.exclude("M50-B-01_ageing", reason="wrong electrolyte", name="electrolyte")
        figure = bench.figure("fade", group="cells")
        lengths = {trace.hovertemplate.split(",")[0]: len(trace.x) for trace in figure.data}
        assert lengths["M50-A-04"] < 61
        assert "M50-B-01" not in lengths
        words = " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)
        assert "cycles 60-120 (plated)" in words
        assert "wrong electrolyte" in words
        assert list(bench.exclusions()["cycles"]) == ["60-120", "all"]
        bench.include(made.name)
        bench.include("electrolyte")
        after = bench.figure("fade", group="cells")
        assert [len(trace.x) for trace in after.data] == [len(trace.x) for trace in before.data]


def test_kept_kinds_make_a_plan_that_finds_later_tests(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        literal = bench.gallery().recipe("fade").config.dump()["plan"]["steps"]
        assert "kinds" not in literal
        bench.analyse("kinds")
        steps = bench.gallery().recipe("fade").config.dump()["plan"]["steps"]
        assert steps["kinds"]["where"] == {"analysisType": "kind:ageing"}
        assert bench.figure("fade").data


def test_a_plan_of_all_tests_finds_later_ones(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        recipe = bench.gallery().recipe("test-timeline")
        bench.measurements.create(
            name="later", instance="M50-A-01", time_series=ageing(0), sign="discharge", tags=["ageing"]
        )
        assert "later" in [one["value"] for one in bench.figure(recipe).workbench.options["tests"]]
        bench.exclude("later", reason="wrong cell")
        assert "ids" in bench.gallery().recipe("test-timeline").config.dump()["plan"]["steps"]["tests"]["where"]


def test_names_are_files_then_plots_then_the_gallery(demo_copy: Path, tmp_path: Path) -> None:
    with wb.open(demo_copy) as bench:
        board = bench.dashboards.create("Own")
        board.save("fade", bench.gallery().recipe("efficiency"))
        assert "efficiency" in bench.figure("fade").layout.yaxis.title.text
        assert "retention" in bench.figure("gallery:fade").layout.yaxis.title.text
        with pytest.raises(wb.errors.BadRequest, match="'fade'"):
            bench.figure("fadee")
        with pytest.raises(wb.errors.NotFound, match=r"The gallery has no 'fadee'.*'fade'"):
            bench.figure("gallery:fadee")


def test_who_may_only_read_draws_the_gallery_over_http(demo_copy: Path) -> None:
    with sides(demo_copy) as both:
        viewer = both.connect(both.person("eye@lab", role="Member", everywhere="project-viewer"))
        figure = viewer.figure("fade", group="cells")
        assert figure.to_plotly_json() == both.near.figure("fade", group="cells").to_plotly_json()
        assert [item["name"] for item in viewer.gallery().items] == [
            item["name"] for item in both.near.gallery().items
        ]
        view = viewer.show("test-timeline").refresh(wait=True)
        assert view.figure().data
        view.close()
        timeline, full = viewer.gallery().recipe("test-timeline").config, both.near.figure("test-timeline")
        end = float(max(full.data[0].x))
        assert len(viewer.backend.detail(timeline, {}, traces=[0], x=(0.0, end / 50), width=100)) <= 1
        own = viewer.gallery().recipe("fade").config
        changed = {
            **own.dump(),
            "plan": {"steps": {"tests": {"op": "list", "source": "measurements"}}},
            "params": {},
        }
        with pytest.raises(wb.errors.Forbidden):
            viewer.figure(changed)


RATINGS = {
    name: {"value": value, "unit": unit}
    for name, value, unit in (("capacity", 1.0, "A.h"), ("voltage_min", 3.0, "V"), ("voltage_max", 4.2, "V"))
}
COLUMNS = ["Time [s]", "Current [A]", "Voltage [V]", "Temperature [degC]"]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    """Three ageing tests: one with a temperature, one without, and one whose steps and cycles lack their charge."""
    with wb.open(tmp_path_factory.mktemp("gallery") / "mixed.db") as bench:
        bench.specifications.create(name="cell", ratings=RATINGS)
        cell = bench.instances.create(name="cell", specification="cell")
        for number, name in enumerate(("warm", "bare", "no current")):
            frame = ageing(number)
            if name == "bare":
                frame = frame.drop(columns=COLUMNS[3])
            if name == "no current":
                frame = open_circuit(frame)
            bench.measurements.create(
                name=name, instance=cell, time_series=frame, sign="discharge", tags=["ageing", "rpt", "rate"]
            )
        yield bench


def open_circuit(frame: pd.DataFrame) -> pd.DataFrame:
    """The voltage over the state of charge alone, as open-circuit tables have it: no time and no current."""
    return pd.DataFrame({"SOC": np.linspace(0, 1, len(frame)), "Voltage [V]": frame["Voltage [V]"]})


def ageing(number: int) -> pd.DataFrame:
    """Twelve full cycles, each with its number."""
    legs = [(leg, cycle) for cycle in range(12) for leg in ((-1.0, 3.0, 4.2), (0.0, 4.1, 4.1), (1.0, 4.1, 3.0))]
    shares, at = np.linspace(0, 1, 30, endpoint=False), np.arange(30) * 120.0
    return pd.DataFrame(
        {
            "Time [s]": np.concatenate([place * 3600.0 + at for place in range(len(legs))]),
            "Current [A]": np.repeat([(1 - 0.002 * (number + 1) * cycle) * leg[0] for leg, cycle in legs], 30),
            "Voltage [V]": np.concatenate([leg[1] + (leg[2] - leg[1]) * shares for leg, _ in legs]),
            "Temperature [degC]": 25.0,
            "Cycle count": np.repeat([float(cycle) for _, cycle in legs], 30),
            "Step count": np.repeat(np.arange(len(legs), dtype=float), 30),
        }
    )


@pytest.mark.parametrize("name", entries())
def test_a_test_that_lacks_a_column_is_named_and_the_others_are_drawn(mixed: wb.Bench, name: str) -> None:
    config = mixed.gallery().recipe(name).config
    figure = mixed.figure(name)
    assert bool(figure.data) != bool(unmet(figure))
    param = next((one for one in ("tests", "cells") if one in config.params), None)
    if param is None:
        return
    for test in ("warm", "bare"):
        chosen = test if isinstance(config.params[param].default, str) else [test if param == "tests" else "cell"]
        alone = mixed.figure(name, {param: chosen})
        assert alone.layout.annotations or alone.data


def test_what_is_left_out_is_said_in_the_figure(mixed: wb.Bench) -> None:
    figure = mixed.figure("dq-dv")
    words = " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)
    assert "left out: no current (no column 'Time [s]')" in words
    assert {trace.name for trace in figure.data if trace.name}
    assert all("no current" not in str(trace.name) for trace in figure.data)
    listed = mixed.gallery().recipe("arrhenius").config.plan.steps["tests"].where["ids"]
    assert [mixed.measurements.get(id).name for id in listed] == ["warm"]


def test_a_store_whose_tests_all_lack_a_column_says_which(tmp_path: Path) -> None:
    with wb.open(tmp_path / "poor.db") as bench:
        bench.specifications.create(name="cell", ratings=RATINGS)
        cell = bench.instances.create(name="cell", specification="cell")
        frame = open_circuit(ageing(0))
        bench.measurements.create(name="poor", instance=cell, time_series=frame, tags=["eis"], sign="discharge")
        (said,) = unmet(bench.figure("bode"))
        assert said == "The test 'poor' cannot be drawn: it has no column 'Frequency [Hz]'."
        (said,) = unmet(bench.figure("test-timeline"))
        assert "The test 'poor' cannot be drawn: it has no column 'Time [s]'." in said


def test_a_simulation_beside_a_test_is_drawn_with_its_error_by_step(demo_copy: Path) -> None:
    time = np.arange(0.0, 1200.0, 10.0)
    step, measured = (time >= 600).astype(int), 3.7 - 1e-4 * time
    error = np.where(step == 0, 5.0, -20.0)
    with wb.open(demo_copy) as bench:
        for name, factor in (("one", 1.0), ("two", 2.0)):
            frame = pd.DataFrame(
                {
                    "Time [s]": time,
                    "Step count": step,
                    "Current [A]": np.where(step == 0, 1.0, 0.0),
                    "Voltage [V]": measured + factor * error / 1000,
                    "Measured voltage [V]": measured,
                    "Voltage error [mV]": factor * error,
                }
            )
            bench.simulations.create(name=name, time_series=frame)
        bench.simulations.create(name="alone", time_series=frame.drop(columns="Voltage error [mV]"))
        bars = {trace.name: trace for trace in bench.figure("simulation-error").data}
        assert {name: list(trace.x) for name, trace in bars.items()} == {"one": ["0", "1"], "two": ["0", "1"]}
        assert bars["one"].y == pytest.approx([5.0, 20.0])
        assert bars["two"].y == pytest.approx([10.0, 40.0])
        mean = bench.figure("simulation-error", quantity="mean").data[0].y
        assert mean == pytest.approx([5.0, -20.0])
        over = bench.figure("simulation")
        assert [trace.name for trace in over.data] == ["measured", "two", "two"]
        assert "at most 40 mV" in over.layout.annotations[-1].text
        assert {trace.type for trace in bench.figure("simulation-residual").data} == {"scatter", "histogram"}
        for name in SIMULATIONS:
            assert bench.check(name) == []


def test_near_far_and_http_draw_the_same(demo_copy: Path) -> None:
    with sides(demo_copy) as both:
        near, far = both.near.figure("fade"), both.far.figure("fade")
        assert near.to_plotly_json() == far.to_plotly_json()
        answer = both.post("gallery/fade/figure", {"values": {"group": "cells"}})
        assert answer.status_code == 200
        assert len(answer.json()["figure"]["data"]) == 13
        assert both.post("gallery/none/figure", {}).status_code == 404
        assert [one["name"] for one in both.far.backend.gallery_items()] == [
            one["name"] for one in both.near.backend.gallery_items()
        ]


def test_a_server_makes_a_recipe_once_for_all_that_ask(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    whole = catalog.config_of

    def counted(name, store, measurements=None):
        made.append(name)
        return whole(name, store, measurements)

    with sides(demo_copy) as both:
        monkeypatch.setattr(catalog, "config_of", counted)
        ids = [both.near.backend.get(Measurement, "M50-A-01_ageing").id]
        for body in ({}, {"measurements": ids}):
            for part in ("sketch", "figure", "dataset", "sketch"):
                assert both.post(f"gallery/fade/{part}", body).status_code == 200
        assert made == ["fade", "fade"]


def test_a_card_shows_the_figure_of_its_recipe_as_lines(demo_copy: Path) -> None:
    with sides(demo_copy) as both:
        recipe = both.near.backend.gallery_recipe("fade")
        near = sketch(both.near.backend.figure(recipe, {}).figure)
        assert near
        assert both.post("gallery/fade/sketch", {}).json() == near
        ids = [both.near.backend.get(Measurement, "M50-A-01_ageing").id]
        of_one = both.post("gallery/fade/sketch", {"measurements": ids}).json()
        assert of_one
        assert of_one != near
        assert both.post("gallery/none/sketch", {}).status_code == 404
        assert both.post("gallery/fade/sketch", {"values": {}}).status_code == 422, (
            "it is that of the first values"
        )


def test_a_recipe_is_made_for_chosen_tests_alone(demo_copy: Path) -> None:
    two = ["M50-A-01_ageing", "M50-B-01_ageing"]
    with sides(demo_copy) as both:
        ids = [both.near.backend.get(Measurement, name).id for name in two]
        made = [bench.gallery(two).recipe("fade") for bench in (both.near, both.far)]
        assert made[0].raw() == made[1].raw()
        assert made[0].raw()["params"]["cells"]["default"] == ["M50-A-01", "M50-B-01"]
        assert sorted(made[0].raw()["plan"]["steps"]["tests"]["where"]["ids"]) == sorted(ids)
        lacking = {one["name"]: one["lacking"] for one in both.far.gallery(two).items}
        assert lacking["fade"] == ""
        assert "No test has an impedance spectrum" in lacking["bode"], "the store has one, the chosen tests do not"
        assert [dict(one) for one in both.near.gallery(two).items] == [
            dict(one) for one in both.far.gallery(two).items
        ]
        drawn = both.post("gallery/fade/figure", {"measurements": ids, "values": {"group": "cells"}})
        assert len(both.post("gallery/fade/figure", {"values": {"group": "cells"}}).json()["figure"]["data"]) == 13
        assert len(drawn.json()["figure"]["data"]) == 2
        assert both.post("gallery/fade", {"measurements": "M50"}).status_code == 422


def test_stored_results_of_other_tests_do_not_count(demo: wb.Bench) -> None:
    analysed, other = COMPUTED["pseudo_ocv"], "M50-A-01_RPT1"
    recipe = demo.gallery(analysed).recipe("pseudo-ocv").raw()
    test = demo.backend.get(Measurement, analysed).id
    assert recipe["plan"]["steps"]["records"]["where"]["measurementIds"] == [test]
    lacking = {one["name"]: one["lacking"] for one in demo.gallery(other)}
    assert len(lacking) == len(demo.gallery(other).items)
    command = "Run bench.analyse('pseudo_ocv') in Python, or workbench analyse pseudo_ocv"
    assert lacking["pseudo-ocv"] == f"The results of 'pseudo_ocv' are not computed yet. {command}"
