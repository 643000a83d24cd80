"""Recipes without strings: the builders give the JSON of the recipe, byte for byte; what cannot be built is refused."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from support.handwritten import HANDWRITTEN

import workbench as wb
from workbench import steps
from workbench.recipe.build import FUNCTIONS
from workbench.recipe.drafts import ParamDraft, StepDraft
from workbench.recipe.filters import Filters
from workbench.recipe.names import reference
from workbench.recipe.params import Control
from workbench.recipe.shapes import fields_of
from workbench.recipe.steps import STEPS, Function

ROOT = Path(__file__).parents[2]
SAVED = HANDWRITTEN | {
    path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "docs" / "recipes").glob("*.json")
}


def text(recipe: wb.Recipe) -> str:
    return json.dumps(recipe.raw(), ensure_ascii=False, indent=2)


def fade_by_batch() -> Any:
    temperature, electrolyte = "properties.ageing_temperature.value", "properties.electrolyte"
    cells = steps.list("instances", fields=["id", "name", "batch_name", temperature, electrolyte], limit=1000)
    names = ["id", "name", "instance_id", "instance_name", "batch_name", "specification_id", "specification_name"]
    tests = steps.list("measurements", name_contains="_ageing", fields=names, limit=1000)
    batches = wb.param("batches", ["A", "B", "C"], label="Batches", options_from=cells["batch_name"])
    chosen = steps.join(
        tests, cells, ("instance_id", "id"), fields=[temperature, electrolyte], where={"batch_name": batches}
    )
    cycles = steps.summary("cycles", chosen, ["Cycle count", "Discharge capacity [A.h]", "Complete"])
    fade = steps.join(
        cycles,
        chosen,
        ("measurement_id", "id"),
        fields=["instance_name", "batch_name", temperature, electrolyte],
        where={"Complete": [True, None]},
    )
    degrees = wb.param(
        "temperature", "all", label="Ageing temperature", options={"all": "all", 25: "25 °C", 45: "45 °C"}
    )
    spread = wb.param(
        "spread",
        "sd",
        label="Spread",
        description="What is drawn around the mean of the cells of a batch.",
        options={"sd": "mean ± s.d.", "range": "min to max", "cells": "each cell"},
    )
    relative = wb.param("relative", True, label="Relative to the first cycle")
    plan = wb.plan(cells=cells, tests=tests, chosen=chosen, cycles=cycles, fade=fade)
    return plan, [batches, degrees, spread, relative]


def cycle_life() -> Any:
    capacity, cycle, complete = "Discharge capacity [A.h]", "Cycle count", "Complete"
    extra = ["properties.ageing_temperature.value", "properties.electrolyte"]
    fraction = wb.param(
        "fraction",
        0.95,
        label="End of life at",
        description="Fraction of the first cycle's discharge capacity.",
        min=0.6,
        max=0.98,
        step=0.01,
    )
    cells = steps.list("instances", fields=["id", "name", "batch_name", *extra], limit=1000)
    names = ["id", "name", "instance_id", "instance_name", "batch_name", "specification_id", "specification_name"]
    tests = steps.list("measurements", name_contains="_ageing", fields=names, limit=1000)
    cycles = steps.summary("cycles", tests["id"], [cycle, capacity, complete])
    whole = steps.join(tests, cycles, ("id", "measurement_id"), where={complete: [True, None]})
    life = steps.aggregate(
        whole,
        ["id"],
        {
            "reference": steps.first(capacity),
            "end_of_life": steps.first_where(cycle, steps.column(capacity) < fraction * steps.metric("reference")),
            "last_cycle": steps.last(cycle),
        },
        sort_by=cycle,
    )
    named = steps.join(life, tests, ("id", "id"), fields=["instance_id", "instance_name", "batch_name"])
    cell_life = steps.join(named, cells, ("instance_id", "id"), fields=extra)
    color = wb.param(
        "color_by",
        "batch_name",
        label="Colour",
        options={"batch_name": "batch", extra[0]: "temperature", extra[1]: "electrolyte"},
    )
    sort = wb.param("sort", True, label="Longest life on top")
    plan = wb.plan(
        cells=cells, tests=tests, cycles=cycles, whole=whole, life=life, named=named, cell_life=cell_life
    )
    return plan, [fraction, color, sort]


@pytest.mark.parametrize(("slug", "written"), [("fade-by-batch", fade_by_batch), ("cycle-life", cycle_life)])
def test_a_recipe_written_with_builders_is_the_same_json(slug: str, written: Any) -> None:
    plan, params = written()
    recipe = wb.Recipe(plan=plan, transform=SAVED[slug]["transform"], params=params)
    assert text(recipe) == text(wb.Recipe(SAVED[slug]))


class Rebuilt:
    """A recipe's JSON written anew with builders: every reference an object, every object field by name."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.steps: dict[str, Any] = {}
        self.params: dict[str, Any] = {}
        self.raw = config.get("params", {})
        for name, step in config["plan"]["steps"].items():
            self.steps[name] = self.step(dict(step))
        for name in self.raw:
            self.param(name)
        self.plan = wb.plan(self.steps, caps=config["plan"].get("caps"))
        self.recipe = wb.Recipe(
            plan=self.plan,
            transform=config["transform"],
            params=[self.params[name] for name in self.raw],
        )

    def step(self, step: dict[str, Any]) -> StepDraft:
        op = step.pop("op")
        for key in ("input", "left", "right"):
            if key in step:
                step[key] = self.steps[step[key]]
        names = {field.alias: name for name, field in Filters.model_fields.items()}
        where = step.pop("where", {}) if op == "list" else {}
        return getattr(steps, op)(**self.value(step), **{names[key]: self.value(v) for key, v in where.items()})

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {"from", "column"}:
                return self.steps[value["from"]][value["column"]]
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        name = reference(value)
        return value if name is None else self.param(name)

    def param(self, name: str) -> ParamDraft:
        if name not in self.params:
            control = dict(self.raw[name].get("control", {}))
            if live := control.pop("optionsFrom", None):
                source = self.steps[live["step"]]
                plain = live.get("label") is None
                control["options_from"] = (
                    source[live["value"]] if plain else (source, live["value"], live["label"])
                )
            self.params[name] = wb.param(name, self.raw[name]["default"], **control)
        return self.params[name]


@pytest.mark.parametrize("config", SAVED.values(), ids=SAVED)
def test_every_saved_recipe_comes_back_from_builders_with_its_kinds(config: dict[str, Any]) -> None:
    assert text(Rebuilt(config).recipe) == text(wb.Recipe(config))


def test_builders_have_the_fields_and_words_of_the_models() -> None:
    for op, model in STEPS.items():
        builder = getattr(steps, op)
        parameters = inspect.signature(builder).parameters
        fields = {name: field for name, field in fields_of(model).items() if name != "op"}
        assert set(parameters) == set(fields) | (set(Filters.model_fields) if op == "list" else set())
        for name, field in fields.items():
            assert (parameters[name].default is inspect.Parameter.empty) == field.is_required(), (op, name)
            told = " ".join(builder.__doc__.split())
            assert f"{name} : {field.description}" in told, (op, name)
    assert set(inspect.signature(wb.param).parameters) == {"name", "default", "kind", *Control.model_fields}
    assert set(FUNCTIONS) == set(get_args(Function))
    assert set(FUNCTIONS) | set(STEPS) | {"column", "metric"} == set(steps.__all__)


def listed(**more: Any) -> StepDraft:
    return steps.list("measurements", fields=["id", "name"], **more)


def problem(make: Any) -> wb.Problem:
    with pytest.raises(wb.Invalid) as caught:
        make()
    (found,) = caught.value.problems
    return found


SCRIPT = "def transform(data, params): return {'data': []}"


def test_the_kind_of_a_param_follows_from_its_use() -> None:
    name, color = wb.param("name", "x"), wb.param("color", "red")
    recipe = wb.Recipe(plan=wb.plan(t=listed(name_contains=name)), transform=SCRIPT, params=[color])
    assert {key: param["kind"] for key, param in recipe.params.items()} == {"name": "data", "color": "view"}
    assert list(recipe.params) == ["name", "color"]
    raw = {"steps": {"t": {"op": "list", "source": "measurements", "where": {"nameContains": "$name"}}}}
    assert wb.Recipe(plan=raw, transform=SCRIPT, params=[color, name]).params["name"]["kind"] == "data"
    unused = wb.param("unused", 1, kind="data")
    assert wb.Recipe(plan=raw, transform=SCRIPT, params={"name": name, "unused": unused}).params["unused"] == {
        "kind": "data",
        "default": 1,
    }


def test_a_kind_that_is_wrong_or_cannot_be_told_is_refused() -> None:
    view = wb.param("name", "x", kind="view")
    found = problem(lambda: wb.Recipe(plan=wb.plan(t=listed(name=view)), transform=SCRIPT))
    assert (found.loc, found.type) == (("config", "params", "name", "kind"), "wrong_kind")
    raw = {"steps": {"t": {"op": "list", "source": "measurements", "fields": ["$name"]}}}
    unclear = problem(lambda: wb.Recipe(plan=raw, transform=SCRIPT, params=[wb.param("name", "x")]))
    assert (unclear.loc, unclear.type) == (("config", "params", "name", "kind"), "kind_unclear")
    sure = wb.Recipe(plan=raw, transform=SCRIPT, params=[wb.param("name", "x", kind="view")])
    assert sure.params["name"]["kind"] == "view"


def test_a_param_where_none_binds_is_refused_at_its_place() -> None:
    column = wb.param("column", "Voltage [V]")
    stray = problem(lambda: wb.plan(s=steps.series("measurements", ["a"], "Time [s]", [column])))
    assert (stray.loc, stray.type) == (("config", "plan", "steps", "s", "columns", 0), "param_not_bound")
    assert "Use it in the transform instead" in stray.msg


def test_steps_are_referred_to_only_after_they_have_a_name() -> None:
    tests = listed()
    cycles = steps.summary("cycles", tests, ["Cycle count"])
    late = problem(lambda: wb.plan(cycles=cycles, tests=tests))
    assert late.loc == ("config", "plan", "steps", "cycles", "ids")
    assert "'tests' does not stand before this one" in late.msg
    absent = problem(lambda: wb.plan(cycles=cycles))
    assert "not a step of the plan" in absent.msg
    assert "same step as 'a'" in problem(lambda: wb.plan(a=tests, b=tests)).msg
    param = wb.param("p", None, options_from=tests["id"])
    assert (
        "not a step of the plan"
        in problem(lambda: wb.Recipe(plan=wb.plan(other=listed()), transform=SCRIPT, params=[param])).msg
    )
    assert (
        "build the plan too"
        in problem(lambda: wb.Recipe(plan={"steps": {}}, transform=SCRIPT, params=[param])).msg
    )


def test_a_whole_step_stands_for_its_ids() -> None:
    tests = listed()
    cycles = steps.summary("cycles", tests, ["Cycle count"])
    joined = steps.join(cycles, tests, ("measurement_id", "id"))
    life = steps.aggregate(joined, ["name"], {"n": steps.count()})
    curves = steps.series("measurements", joined, "Time [s]", ["Voltage [V]"], window=(0, None))
    plan = wb.plan(tests=tests, cycles=cycles, joined=joined, life=life, curves=curves)
    assert plan["steps"]["curves"]["ids"] == {"from": "joined", "column": "measurement_id"}
    assert plan["steps"]["curves"]["window"] == {"min": 0}
    assert plan["steps"]["life"] == {
        "op": "aggregate",
        "input": "joined",
        "group_by": ["name"],
        "metrics": {"n": {"fn": "count"}},
    }
    unclear = problem(lambda: wb.plan(dict(plan_of(tests, cycles, joined, life), more=listed(ids=life))))
    assert "Say which column of the aggregate step is meant" in unclear.msg


def plan_of(tests: Any, cycles: Any, joined: Any, life: Any) -> dict[str, Any]:
    return {"tests": tests, "cycles": cycles, "joined": joined, "life": life}


def test_params_have_one_name_and_are_one_object() -> None:
    one, other = wb.param("name", "x"), wb.param("name", "y")
    plan = wb.plan(t=listed(name_contains=one))
    assert problem(lambda: wb.plan(a=listed(name=one), b=listed(name=other))).msg.startswith("Two params")
    assert problem(lambda: wb.Recipe(plan=plan, transform=SCRIPT, params=[other])).type == "two_params"
    assert problem(lambda: wb.Recipe(plan=plan, transform=SCRIPT, params=[one, one])).type == "two_params"
    assert problem(lambda: wb.Recipe(plan=plan, transform=SCRIPT, params={"nom": one})).type == "two_names"
    assert "here stands a str" in problem(lambda: wb.Recipe(plan=plan, transform=SCRIPT, params=["name"])).msg


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: steps.list("measurements", nameContains="x"), "no 'nameContains'. Did you mean 'name_contains'"),
        (lambda: steps.series("measurements"), "it needs source, ids, x, columns, in this order"),
        (lambda: wb.plan(a=listed(), b=steps.series("measurements", [], "x", ["y"], window=(1, 2, 3))), "at most 2"),
        (lambda: wb.param(["A"]), "param: missing a required argument: 'default'"),
        (lambda: wb.param(5, 5), "A param has a name"),
        (lambda: wb.plan(caps=listed()), "give a step of that name as"),
    ],
)  # fmt: skip
def test_a_wrong_call_says_what_is_right(call: Any, words: str) -> None:
    with pytest.raises(wb.BadRequest) as caught:
        call()
    assert words in str(caught.value)


def test_a_wrong_value_is_told_at_its_place_by_the_recipe() -> None:
    found = problem(lambda: wb.Recipe(plan=wb.plan(t=listed(limit=5000)), transform=SCRIPT))
    assert found.loc == ("config", "plan", "steps", "t", "limit")


@pytest.mark.parametrize("params", [5, "name", [], [{}], {"p": 3}])
def test_params_of_no_kind_are_refused_as_in_json(params: Any) -> None:
    raw = {"steps": {"t": {"op": "list", "source": "measurements"}}}
    found = problem(lambda: wb.Recipe(plan=raw, transform=SCRIPT, params=params))
    assert found.loc[:2] == ("config", "params")
    assert wb.Recipe(plan=wb.plan(t=listed()), transform=SCRIPT, params=[]).params == {}


def test_steps_are_there_without_an_import_of_their_own() -> None:
    assert wb.steps is steps


def test_comparisons_and_thresholds() -> None:
    column, first, share = steps.column("Q"), steps.metric("first"), wb.param("share", 0.8)
    assert [(column < 1)["op"], (column <= 1)["op"], (column > 1)["op"], (column >= 1)["op"]] == [
        *("lt", "lte", "gt", "gte"),
    ]
    assert (column == "CC")["op"] == "eq"
    assert (column != "CC") == {"column": "Q", "op": "neq", "value": "CC"}
    assert (column < first)["value"] == {"ratio_of": "first", "factor": 1}
    assert (column < share * first)["value"] == (column < first * share)["value"]
    with pytest.raises(TypeError):
        share * 2


def test_a_step_that_is_built_has_no_rows() -> None:
    with pytest.raises(TypeError, match=r"bench.look\(plan\) shows them"):
        list(listed())
