"""Binding: lists, escapes, nulls by position, types after binding, values never bound again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.recipe_examples import found, problems_of, small, whole

from workbench.recipe.bind import Bound, bind
from workbench.recipe.check import sound
from workbench.recipe.names import StepRef
from workbench.recipe.parse import parse
from workbench.recipe.steps import AggregateStep, JoinStep, ListStep, SeriesStep

STEPS = ("config", "plan", "steps")


def one(position: str, literal: Any, value: Any = None) -> dict[str, Any]:
    """A recipe with ``literal`` in one value position and a param ``p`` that has no control."""
    raw = small(params={"p": {"kind": "data", "default": None}, "q": {"kind": "data", "default": "Q"}})
    steps = raw["plan"]["steps"]
    if position in ("filter", "filter list"):
        key = "batch" if position == "filter" else "ids"
        steps["s"] = {"op": "list", "source": "instances", "where": {key: literal}}
    elif position in ("ids", "window"):
        steps["s"] = {"op": "series", "source": "measurements", "ids": ["m"], "x": "t", "columns": ["v"]}
        steps["s"] |= {"ids": literal} if position == "ids" else {"window": {"min": literal}}
    elif position == "join":
        steps["s"] = {"op": "join", "left": "cells", "right": "cells", "on": {"left": "id", "right": "id"}}
        steps["s"]["where"] = {"name": literal}
    else:
        compared = literal if position == "comparison" else {"ratio_of": "n", "factor": literal}
        where = {"column": "name", "op": "lt", "value": compared}
        metrics = {"n": {"fn": "count"}, "m": {"fn": "first_where", "column": "name", "where": where}}
        steps["s"] = {"op": "aggregate", "input": "cells", "group_by": ["name"], "metrics": metrics}
    return raw


ABSENT = "<no such key>"


def result(position: str, bound: Bound) -> Any:
    """The value at the position of ``one`` after binding."""
    step = bound.steps["s"]
    if isinstance(step, ListStep):
        return step.where.get("batch" if position == "filter" else "ids", ABSENT)  # type: ignore[union-attr]
    if isinstance(step, SeriesStep):
        return step.ids if position == "ids" else step.window.min  # type: ignore[union-attr]
    if isinstance(step, JoinStep):
        return (step.where or {}).get("name", ABSENT)
    assert isinstance(step, AggregateStep)
    value: Any = step.metrics["m"].where.value  # type: ignore[union-attr]
    return value if position == "comparison" else value.factor


def bound_to(position: str, literal: Any, value: Any) -> Any:
    raw = one(position, literal)
    values = {"p": value}
    if isinstance(value, list):
        raw["params"]["p"]["default"] = None
    return result(position, bind(parse(raw), values))


@pytest.mark.parametrize(
    ("position", "literal", "value", "wanted"),
    [
        ("filter", "$p", "A", "A"),
        ("filter", "$p", 5, 5),
        ("filter", "$p", True, True),
        ("filter", "$p", None, ABSENT),
        ("filter", None, "A", ABSENT),
        ("filter", "$$p", "A", "$p"),
        ("filter", "$$", "A", "$"),
        ("filter", "$$$p", "A", "$$p"),
        ("filter", "$ p", "A", "$ p"),
        ("filter", "$p", "$q", "$q"),
        ("filter", "$p", "$$q", "$$q"),
        ("filter list", "$p", ["a", "b"], ["a", "b"]),
        ("filter list", "$p", "a", ["a"]),
        ("filter list", "$p", 5, [5]),
        ("filter list", "$p", [], []),
        ("filter list", "$p", [None], []),
        ("filter list", "$p", None, ABSENT),
        ("filter list", None, "a", ABSENT),
        ("filter list", [], "a", []),
        ("filter list", [None], "a", []),
        ("filter list", "x", "a", ["x"]),
        ("filter list", "$$p", "a", ["$p"]),
        ("filter list", ["x", "$p", "$$p", "$q", 1], ["a", "b"], ["x", "a", "b", "$p", "Q", 1]),
        ("filter list", ["x", "$p"], None, ["x"]),
        ("filter list", ["$p"], None, []),
        ("filter list", ["$p"], ["$q", "$$q"], ["$q", "$$q"]),
        ("ids", "$p", None, []),
        ("ids", "$p", "m-1", ["m-1"]),
        ("ids", "$p", ["m-1", None, "m-1"], ["m-1", "m-1"]),
        ("ids", ["$p", None, "z"], None, ["z"]),
        ("ids", "m", None, ["m"]),
        ("window", "$p", None, None),
        ("window", "$p", 5, 5),
        ("window", "$p", "2026-01-31", "2026-01-31"),
        ("window", "$$p", None, "$p"),
        ("comparison", "$p", None, None),
        ("comparison", "$p", "ok", "ok"),
        ("comparison", "$p", 2.5, 2.5),
        ("factor", "$p", None, None),
        ("factor", "$p", 0.8, 0.8),
        ("join", "$p", None, ABSENT),
        ("join", None, 1, ABSENT),
        ("join", "$p", True, True),
        ("join", "$p", ["a", None], ["a", None]),
        ("join", "$p", [], []),
        ("join", ["x", "$p", None], None, ["x", None, None]),
        ("join", ["x", "$p"], ["a", 1], ["x", "a", 1]),
        ("join", "$$p", None, "$p"),
    ],
    ids=str,
)
def test_binding_by_position(position: str, literal: Any, value: Any, wanted: Any) -> None:
    bound = bound_to(position, literal, value)
    assert bound == wanted
    assert type(bound) is type(wanted)


OBJECT = {"a": 1}


@pytest.mark.parametrize(
    ("position", "literal", "value", "inside"),
    [
        ("filter", "$p", ["A"], ()),
        ("filter", "$p", [], ()),
        ("filter", "$p", OBJECT, ()),
        ("filter list", "$p", OBJECT, ()),
        ("filter list", "$p", [["a"]], ()),
        ("filter list", ["x", "$p"], OBJECT, (1,)),
        ("filter list", ["x", "$p"], [OBJECT], (1,)),
        ("ids", "$p", OBJECT, ()),
        ("window", "$p", True, ("min",)),
        ("window", "$p", [1], ("min",)),
        ("comparison", "$p", False, ("value",)),
        ("comparison", "$p", [1], ("value",)),
        ("comparison", "$p", OBJECT, ("value",)),
        ("factor", "$p", "0.8", ("value", "factor")),
        ("factor", "$p", True, ("value", "factor")),
        ("join", "$p", OBJECT, ()),
        ("join", ["$p"], [["a"]], (0,)),
    ],
    ids=str,
)
def test_a_value_of_the_wrong_type_is_refused_at_its_position(
    position: str, literal: Any, value: Any, inside: Any
) -> None:
    places = {
        "filter": ("where", "batch"),
        "filter list": ("where", "ids"),
        "ids": ("ids",),
        "window": ("window",),
    }
    place = places.get(position, ("metrics", "m", "where") if position != "join" else ("where", "name"))
    [problem] = problems_of(bind, parse(one(position, literal)), {"p": value})
    assert problem.loc == (*STEPS, "s", *place, *inside)
    assert "'p'" in problem.msg
    assert problem.type == "bound_type"


def test_values_are_checked_before_binding() -> None:
    config = sound(whole())
    values = {"fraction": 2, "batch": "D", "cels": 1, "smooth": [True], "chosen": "c-1"}
    assert found(bind, config, values) == {
        (("values", "fraction"), "out_of_range"),
        (("values", "batch"), "not_an_option"),
        (("values", "cels"), "unknown_param"),
        (("values", "smooth"), "single_choice"),
    }


def test_missing_values_take_their_default_and_single_ones_become_lists() -> None:
    bound = bind(sound(whole()), {"chosen": "c-1"})
    assert bound.values == {
        "chosen": ["c-1"],
        "spec": None,
        "batch": "A",
        "fraction": 0.8,
        "from": 0,
        "smooth": True,
    }
    cells = bound.steps["cells"]
    assert isinstance(cells, ListStep)
    assert dict(cells.where) == {"ids": ["c-1", "i-2"], "nameContains": "nmc", "batch": "A"}  # type: ignore[arg-type]
    assert isinstance(bound.steps["tests"].where["instanceIds"], StepRef)  # type: ignore[union-attr,index]
    assert bound.caps.max_sources == 50
    assert bind(parse(small())).caps.max_sources == 500


def test_defaults_are_not_shared_with_the_recipe() -> None:
    config = parse(whole())
    bind(config).values["chosen"].append("x")
    assert config.params["chosen"].default == []


def test_the_canonical_form_knows_what_matters() -> None:
    config = sound(whole())
    base = bind(config).canonical()
    assert bind(config, {"smooth": False}).canonical() == base
    assert bind(config, {"batch": "A"}).canonical() == base
    for values in ({"batch": "B"}, {"chosen": ["x"]}, {"from": 1}, {"from": 0.0}, {"fraction": 0.9}):
        assert bind(config, values).canonical() != base
    assert b"$chosen" not in base
    assert b'"$odd"' in base


def test_a_data_param_in_no_place_still_counts_for_a_whole_plan() -> None:
    config = parse(
        small(params={"p": {"kind": "data", "default": 1}}, steps={"b": {"op": "list", "source": "materials"}})
    )
    assert bind(config).canonical() != bind(config, {"p": 2}).canonical()
    assert bind(config).only(["b"]).canonical() == bind(config, {"p": 2}).only(["b"]).canonical()
    assert list(bind(config).only(["b"]).steps) == ["b"]


def test_a_default_written_out_is_no_other_plan() -> None:
    raw = small()
    raw["plan"]["steps"]["cells"]["limit"] = 100.0
    raw["plan"]["caps"] = {"max_sources": 500}
    assert bind(parse(raw)).canonical() == bind(parse(small())).canonical()


def test_effective_values_can_be_taken_as_they_are() -> None:
    config = sound(whole())
    values = bind(config).values | {"fraction": 2}
    assert bind(config, values, checked=True).values["fraction"] == 2


def test_python_values_become_json() -> None:
    import numpy as np

    config = parse(small(params={"p": {"kind": "view", "default": [0]}}))
    values = bind(config, {"p": np.array([1, 2])}).values["p"]
    assert json.dumps(values) == "[1, 2]"
    assert bind(config, {"p": (np.float32(0.5), np.int8(3))}).values["p"] == [0.5, 3]
