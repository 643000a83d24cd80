"""Whole random plans on random stores against the row-by-row reference."""

from __future__ import annotations

import functools
from typing import Any

import hypothesis.strategies as st
import pytest
from engine.test_engine_ops import examples
from hypothesis import assume, event, given
from support.engine_store import CURRENT, FIELDS, TIME, VOLTAGE, Lab, random_lab
from support.plain_rows import assert_same, plain_rows
from support.reference_plans import Outcome, Refused, Rows, Sampled
from support.reference_plans import run as run_reference

from workbench.dataset import Samples
from workbench.engine.run import run
from workbench.errors import Invalid
from workbench.recipe.bind import bind
from workbench.recipe.check import sound
from workbench.recipe.values import effective

PARAMS = {
    "cells": ["Cell 0", None, "Cell 1"],
    "one": "Cell 1",
    "nothing": None,
    "share": 0.5,
    "low": 1,
    "text": "Rest",
}
SUMMARY = ["Step count", "Cycle count", "Duration [s]", "Discharge capacity [A.h]", "Step type", "Checked"]
REFS = ["$one", "$nothing", "$$one", "$text"]


def _known(steps: dict[str, list[str]], name: str) -> st.SearchStrategy[str]:
    """A column of a step, seldom one that it lacks."""
    return st.sampled_from([*steps[name], *steps[name], *steps[name], "Missing"])


@st.composite
def lists(draw: st.DrawFn, ids: dict[str, list[str]], steps: dict[str, list[str]]) -> dict[str, Any]:
    source = draw(st.sampled_from([*FIELDS, "measurements"]))
    others = [name for name in FIELDS[source] if name != "id"]
    fields = ["id", *draw(st.lists(st.sampled_from(others), max_size=5))]
    step: dict[str, Any] = {"op": "list", "source": source, "fields": fields}
    if draw(st.integers(0, 5)) == 0:
        fields.append("protocol.name" if source == "measurements" else "id")
    where: dict[str, Any] = {}
    if draw(st.booleans()):
        wanted = st.sampled_from([*ids[source], "nobody", 5, True, None, "$one", "$cells"])
        value = draw(st.lists(wanted, max_size=4) | st.sampled_from(["$cells", "$nothing", ids[source][0]]))
        refer = [name for name, columns in steps.items() if "id" in columns]
        if refer and draw(st.booleans()):
            value = {"from": draw(st.sampled_from(refer)), "column": "id"}
        where["ids"] = value
    if draw(st.integers(0, 2)) == 0:
        where["nameContains"] = draw(st.sampled_from(["ELL", "t", "1", "", "%", 5, *REFS]))
    if source != "cellSpecifications" and draw(st.integers(0, 2)) == 0:
        where["batch"] = draw(st.sampled_from(["a", "Ä", "b%", "B", True, "$nothing"]))
    if source == "measurements" and draw(st.integers(0, 2)) == 0:
        where["measurementType"] = draw(st.sampled_from(["time_series", "properties", "$nothing"]))
    if draw(st.booleans()):
        step["where"] = where
    if draw(st.booleans()):
        step["limit"] = draw(st.integers(1, 5))
    return step


def _ids(ids: list[str], steps: dict[str, list[str]]) -> st.SearchStrategy[Any]:
    refer = [(name, c) for name, columns in steps.items() for c in columns if c in ("id", "measurement_id")]
    found: st.SearchStrategy[Any] = st.lists(st.sampled_from([*ids, *ids, None, ids[0]]), max_size=6)
    for name, column in refer:
        found = found | st.just({"from": name, "column": column})
    return found | st.just("$nothing") | st.just([*ids[:1], "nobody"])


@st.composite
def series_steps(draw: st.DrawFn, ids: list[str], steps: dict[str, list[str]]) -> dict[str, Any]:
    columns = st.sampled_from([TIME, VOLTAGE, CURRENT, "Label", "On"])
    step = {
        "op": "series",
        "source": "measurements",
        "ids": draw(_ids(ids, steps)),
        "x": draw(st.sampled_from([TIME, TIME, VOLTAGE, "Label", "Missing"])),
        "columns": draw(st.lists(columns, min_size=1, max_size=4)),
    }
    if draw(st.booleans()):
        bound = st.none() | st.integers(-1, 100) | st.sampled_from([0.25, "$low", "$nothing", "2026-01-31"])
        step["window"] = {key: draw(bound) for key in draw(st.sets(st.sampled_from(["min", "max"])))}
    if draw(st.booleans()):
        step["max_points"] = draw(st.integers(1, 60))
    return step


@st.composite
def summaries(draw: st.DrawFn, ids: list[str], steps: dict[str, list[str]]) -> dict[str, Any]:
    columns = draw(st.lists(st.sampled_from([*SUMMARY, "measurement_id"]), min_size=1, max_size=5))
    dataset = draw(st.sampled_from(["steps", "cycles"]))
    return {"op": "summary", "dataset": dataset, "ids": draw(_ids(ids, steps)), "columns": columns}


@st.composite
def aggregates(draw: st.DrawFn, steps: dict[str, list[str]]) -> dict[str, Any]:
    name = draw(st.sampled_from(list(steps)))
    column = _known(steps, name)
    metrics: dict[str, Any] = {}
    for metric in draw(st.lists(st.sampled_from("mnop"), min_size=1, max_size=4, unique=True)):
        fn = draw(
            st.sampled_from(["first", "last", "min", "max", "mean", "sum", "count", "first_where", "last_where"])
        )
        metrics[metric] = {"fn": fn, "column": draw(column)}
        if fn.endswith("where"):
            value: Any = draw(st.sampled_from(["$text", "$low", "$nothing", 0.5, 1, "Rest", "$$low"]))
            if draw(st.booleans()):
                of = draw(st.sampled_from([*metrics]))
                value = {"ratio_of": of, "factor": draw(st.sampled_from(["$share", "$nothing", 2, 0.5]))}
            op = draw(st.sampled_from(["lt", "gte", "eq", "neq"]))
            metrics[metric]["where"] = {"column": draw(column), "op": op, "value": value}
    step = {"op": "aggregate", "input": name, "group_by": draw(st.lists(column, min_size=1, max_size=2))}
    if draw(st.booleans()):
        step["sort_by"] = draw(column)
    return {**step, "metrics": metrics}


@st.composite
def joins(draw: st.DrawFn, steps: dict[str, list[str]]) -> dict[str, Any]:
    left, right = draw(st.sampled_from(list(steps))), draw(st.sampled_from(list(steps)))
    keys = [c for c in ("measurement_id", "id", "specification_id", "instance_id") if c in steps[left]]
    others = [c for c in ("measurement_id", "id", "specification_id", "instance_id") if c in steps[right]]
    on = {"left": draw(st.sampled_from(keys) if keys else _known(steps, left))}
    on["right"] = draw(st.sampled_from(others) if others else _known(steps, right))
    step: dict[str, Any] = {"op": "join", "left": left, "right": right, "on": on}
    step["how"] = draw(st.sampled_from(["inner", "left"]))
    if draw(st.booleans()):
        step["fields"] = draw(st.lists(_known(steps, right), max_size=3))
    if draw(st.integers(0, 2)) == 0:
        value = st.sampled_from(["$text", "$nothing", "$cells", 1, True, "Cell 1", [None], [1, None, "$low"], []])
        step["where"] = {draw(_known(steps, left)): draw(value)}
    return step


@st.composite
def plans(draw: st.DrawFn, lab: Lab) -> dict[str, Any]:
    """A recipe without a script, of up to six steps."""
    ids = {
        source: [r.columns["id"] for r in records] or ["nobody"] for source, records in lab.records.records.items()
    }
    steps: dict[str, Any] = {}
    columns: dict[str, list[str]] = {}
    for n in range(draw(st.integers(1, 6))):
        name = f"s{n}"
        op = draw(st.sampled_from(["list", "summary", "series", "aggregate", "join", "aggregate", "join"]))
        if op in ("aggregate", "join") and not columns:
            op = "list"
        if op == "list":
            step = steps[name] = draw(lists(ids, columns))
            columns[name] = list(dict.fromkeys(step["fields"]))
        elif op == "series":
            steps[name] = draw(series_steps(ids["measurements"], columns))
        elif op == "summary":
            step = steps[name] = draw(summaries(ids["measurements"], columns))
            columns[name] = list(dict.fromkeys(["measurement_id", *step["columns"]]))
        elif op == "aggregate":
            step = steps[name] = draw(aggregates(columns))
            columns[name] = list(dict.fromkeys([*step["group_by"], *step["metrics"]]))
        else:
            step = steps[name] = draw(joins(columns))
            columns[name] = _joined(step, columns)
    plan: dict[str, Any] = {"steps": steps}
    if draw(st.booleans()):
        caps = {"max_sources": 4, "max_summary_rows": 12, "max_series_points": 90, "max_list_rows": 3}
        plan["caps"] = {key: caps[key] for key in draw(st.sets(st.sampled_from(list(caps))))}
    params = {name: {"kind": "data", "default": value} for name, value in PARAMS.items()}
    return {"plan": plan, "params": params}


def _joined(step: dict[str, Any], columns: dict[str, list[str]]) -> list[str]:
    left, right = columns[step["left"]], columns[step["right"]]
    attached = step.get("fields", [name for name in right if name != step["on"]["right"]])
    return list(dict.fromkeys([*left, *(f"{name}_right" if name in left else name for name in attached)]))


def assert_sampled(samples: Samples, wanted: Sampled) -> None:
    """The contract of a series step for one source."""
    numbers = [number for number, _ in wanted.window]
    rows = dict(wanted.window)
    found = samples.rows.tolist()
    assert samples.total == len(numbers)
    assert samples.complete == (len(numbers) <= wanted.most)
    assert found == sorted(set(found))
    assert plain_rows(samples.table) == [rows[number] for number in found]
    if samples.complete:
        assert found == numbers
        return
    assert wanted.most / 2 <= len(found) <= wanted.most
    assert found[0] == numbers[0]
    assert found[-1] == numbers[-1] or wanted.most == 1
    columns = list(dict.fromkeys(wanted.columns))
    if wanted.most >= 2 * len(columns) + 2:
        for column in columns:
            every = [v for row in rows.values() if (v := row[column]) is not None and isinstance(v, float | int)]
            if every and not isinstance(every[0], bool):
                kept = [rows[number][column] for number in found if rows[number][column] is not None]
                assert (min(kept), max(kept)) == (min(every), max(every))


def outcome(lab: Lab, recipe: dict[str, Any], values: dict[str, Any]) -> Outcome | Refused:
    try:
        return run_reference(lab.records, recipe, values)
    except Refused as refused:
        return refused


def test_random_plans_agree_with_the_reference(tmp_path_factory: pytest.TempPathFactory, long: bool) -> None:
    @functools.cache
    def lab_of(seed: int) -> Lab:
        return random_lab(tmp_path_factory.mktemp(f"lab{seed}"), seed)

    @examples(long, 250)
    @given(st.integers(0, 60 if long else 9), st.data())
    def agree(seed: int, data: st.DataObject) -> None:
        lab = lab_of(seed)
        recipe = data.draw(plans(lab))
        try:
            config = sound(recipe, transform=False)
        except Invalid:
            event("refused by the recipe's own check")
            assume(False)
        values = effective(config)
        wanted = outcome(lab, recipe, values)
        if isinstance(wanted, Refused):
            event("refused while running")
            with pytest.raises(Invalid) as caught:
                run(bind(config, values), lab.store, lab.scope)
            assert {problem.loc[3] for problem in caught.value.problems} == {wanted.place[0]}
            return
        event("runs")
        ran = run(bind(config, values), lab.store, lab.scope)
        assert {(warning.code, warning.step) for warning in ran.warnings} == wanted.warnings
        for name, result in wanted.steps.items():
            ours = ran.steps[name]
            if isinstance(result, Rows):
                assert_same(ours, result)  # type: ignore[arg-type]
                continue
            assert list(ours) == list(result)
            for key, sampled in result.items():
                assert_sampled(ours[key], sampled)  # type: ignore[arg-type]

    agree()
