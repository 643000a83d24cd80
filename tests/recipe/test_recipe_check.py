"""All that needs no store: references, filters, metrics, choices, defaults; and how the sentences read."""

from __future__ import annotations

from typing import Any

import pytest
from support.recipe_examples import found, problems_of, put, small, whole

from workbench.errors import Invalid
from workbench.recipe.check import check, sound
from workbench.recipe.circles import circle
from workbench.recipe.filters import ALL, APPLIES
from workbench.recipe.parse import parse
from workbench.recipe.references import ancestors, params_of, references

STEPS = ("config", "plan", "steps")


def changed(loc: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    raw = whole()
    put(raw, loc, value)
    return raw


def aggregate(**metrics: Any) -> dict[str, Any]:
    step = {"op": "aggregate", "input": "cells", "group_by": ["batch_name"], "metrics": metrics}
    return small(steps={"fade": step})


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("tests", "where", "instanceIds", "from"), "nothing"),
        (("tests", "where", "instanceIds", "from"), "tests"),
        (("tests", "where", "instanceIds", "from"), "cycles"),
        (("curves", "ids", "from"), "fade"),
        (("cycles", "ids", "from"), "curves"),
        (("fade", "input"), "curves"),
        (("fade", "input"), "named"),
        (("named", "left"), "curves"),
        (("named", "right"), "named"),
    ],
    ids=str,
)
def test_references_name_an_earlier_row_shaped_step(place: Any, value: str) -> None:
    raw = changed(("plan", "steps", *place), value)
    assert found(sound, raw) == {((*STEPS, *place), "bad_reference")}


def test_options_name_any_row_shaped_step() -> None:
    loc = ("params", "chosen", "control", "optionsFrom", "step")
    assert found(sound, changed(loc, "curves")) == {(("config", *loc), "bad_reference")}
    assert found(sound, changed(loc, "nothing")) == {(("config", *loc), "bad_reference")}
    value = ("params", "chosen", "control", "optionsFrom")
    raw = changed(value, {"step": "named", "value": "instance_id", "label": "nothing"})
    raw["plan"]["steps"]["cells"]["where"] = {"ids": ["i-2"]}
    raw["plan"]["steps"]["named"]["where"] = None
    assert found(sound, raw) == {(("config", *value, "label"), "unknown_column")}


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("key", APPLIES)
@pytest.mark.parametrize("value", [None, "x"])
def test_filters_apply_to_their_sources(source: str, key: str, value: Any) -> None:
    value = "file" if key == "measurementType" and value else value
    raw = small()
    raw["plan"]["steps"]["cells"] = {"op": "list", "source": source, "where": {key: value}}
    wanted = {((*STEPS, "cells", "where", key), "filter_not_applicable")}
    assert found(sound, raw) == (set() if source in APPLIES[key] else wanted)


def test_a_filter_that_does_not_apply_names_the_sources_that_do() -> None:
    raw = small()
    raw["plan"]["steps"]["cells"]["where"] = {"studyId": "s"}
    [problem] = problems_of(sound, raw)
    assert str(problem) == (
        "config.plan.steps.cells.where.studyId: 'studyId' does not apply to instances; "
        "it applies to measurements, simulations."
    )


@pytest.mark.parametrize("value", ["voltage", 5, True, "$kind"])
def test_a_value_outside_a_closed_set_lists_the_set(value: Any) -> None:
    raw = small(params={"kind": {"kind": "data", "default": "time series"}})
    raw["plan"]["steps"]["cells"] = {
        "op": "list",
        "source": "measurements",
        "where": {"measurementType": value},
    }
    [problem] = problems_of(sound, raw)
    assert problem.loc == (*STEPS, "cells", "where", "measurementType")
    assert "time_series, file, properties" in problem.msg


REFERENCE_PLACES: list[tuple[str | int, ...]] = [
    ("cells", "where", "ids", 1),
    ("cells", "where", "specificationIds"),
    ("cells", "where", "batch"),
    ("curves", "window", "min"),
    ("fade", "metrics", "end", "where", "value", "factor"),
    ("fade", "metrics", "end", "where", "value"),
    ("named", "where", "instance_id", 2),
    ("named", "where", "n"),
    ("curves", "ids"),
]


@pytest.mark.parametrize("place", REFERENCE_PLACES, ids=str)
def test_undeclared_and_view_params_are_found_where_they_stand(place: Any) -> None:
    for name, code in (("nobody", "unknown_param"), ("smooth", "view_param")):
        raw = changed(("plan", "steps", *place), f"${name}")
        assert found(sound, raw) == {((*STEPS, *place), code)}
    assert found(sound, changed(("plan", "steps", *place), "$spec")) == set()


@pytest.mark.parametrize("place", [p for p in REFERENCE_PLACES if p[-1] != "factor"], ids=str)
@pytest.mark.parametrize("text", ["$$nobody", "$", "$ 5", "$5", "$nobody.x", "cost in $nobody", "$nobody\n", "$$"])
def test_text_that_is_no_reference_stands_for_itself(place: Any, text: str) -> None:
    assert found(sound, changed(("plan", "steps", *place), text)) == set()


def test_names_and_other_positions_are_never_bound() -> None:
    raw = whole()
    raw["plan"]["steps"]["curves"]["x"] = "$nobody"
    raw["plan"]["steps"]["curves"]["columns"] = ["$nobody"]
    raw["plan"]["steps"]["fade"]["metrics"]["$nobody"] = {"fn": "count"}
    assert found(sound, raw) == set()
    raw["plan"]["steps"]["cells"]["limit"] = "$spec"
    assert found(sound, raw) == {((*STEPS, "cells", "limit"), "int_type")}


@pytest.mark.parametrize("fn", ["first", "last", "min", "max", "mean", "sum", "count"])
def test_only_the_searching_functions_take_where(fn: str) -> None:
    where = {"column": "c", "op": "eq", "value": 1}
    loc = (*STEPS, "fade", "metrics", "m")
    assert found(sound, aggregate(m={"fn": fn, "column": "c", "where": where})) == {
        ((*loc, "where"), "where_not_allowed")
    }
    assert found(sound, aggregate(m={"fn": fn, "column": "c", "where": None})) == set()
    lacking = set() if fn == "count" else {((*loc, "column"), "missing")}
    assert found(sound, aggregate(m={"fn": fn})) == lacking
    assert found(sound, aggregate(m={"fn": fn, "column": None})) == lacking


@pytest.mark.parametrize("fn", ["first_where", "last_where"])
def test_the_searching_functions_need_column_and_where(fn: str) -> None:
    loc = (*STEPS, "fade", "metrics", "m")
    assert found(sound, aggregate(m={"fn": fn})) == {
        ((*loc, "column"), "missing"),
        ((*loc, "where"), "missing"),
    }


def ratio(of: str) -> dict[str, Any]:
    value = {"ratio_of": of, "factor": 0.8}
    return {"fn": "first_where", "column": "c", "where": {"column": "c", "op": "lt", "value": value}}


def test_a_ratio_names_a_metric_before_or_after_it_and_makes_no_circle() -> None:
    assert found(sound, aggregate(a=ratio("b"), b={"fn": "count"}, c=ratio("b"))) == set()
    place = ("where", "value", "ratio_of")
    at = (*STEPS, "fade", "metrics")
    assert found(sound, aggregate(a=ratio("x"))) == {((*at, "a", *place), "unknown_metric")}
    assert found(sound, aggregate(a=ratio("a"))) == {((*at, "a", *place), "circle")}
    three = aggregate(a=ratio("b"), b=ratio("c"), c=ratio("b"))
    assert found(sound, three) == {((*at, "b", *place), "circle"), ((*at, "c", *place), "circle")}
    assert "b -> c -> b" in problems_of(sound, three)[0].msg


def test_a_metric_is_not_named_like_a_group_column() -> None:
    assert found(sound, aggregate(batch_name={"fn": "count"})) == {
        ((*STEPS, "fade", "metrics", "batch_name"), "name_taken")
    }


@pytest.mark.parametrize("factor", ["0.8", "$$f", "", "$ f"])
def test_a_factor_is_a_number_or_a_reference(factor: str) -> None:
    loc = ("plan", "steps", "fade", "metrics", "end", "where", "value", "factor")
    assert found(sound, changed(loc, factor)) == {(("config", *loc), "wrong_type")}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("fade", "group_by", 0), "measurement"),
        (("fade", "sort_by"), "Cycle"),
        (("fade", "metrics", "end", "column"), "Cycles"),
        (("fade", "metrics", "end", "where", "column"), "Discharge capacity [Ah]"),
        (("named", "on", "left"), "id"),
        (("named", "on", "right"), "measurement_id"),
        (("named", "fields", 0), "instance_name"),
        (("curves", "ids", "column"), "measurement_id"),
        (("tests", "where", "instanceIds", "column"), "instance_id"),
    ],
    ids=str,
)
def test_columns_that_the_recipe_itself_tells_are_checked(place: Any, value: str) -> None:
    raw = changed(("plan", "steps", *place), value)
    assert ((*STEPS, *place), "unknown_column") in found(sound, raw)


def test_the_columns_of_a_join_are_followed() -> None:
    raw = whole()
    raw["plan"]["steps"]["named"]["where"] = {"instance": "x"}
    assert found(sound, raw) == {((*STEPS, "named", "where", "instance"), "unknown_column")}
    twin = {"op": "join", "left": "fade", "right": "fade", "on": {"left": "n", "right": "n"}}
    last = {"op": "aggregate", "input": "twin", "group_by": ["end_right"], "metrics": {"k": {"fn": "count"}}}
    assert (
        found(
            sound, small(steps=whole()["plan"]["steps"] | {"twin": twin, "last": last}, params=whole()["params"])
        )
        == set()
    )
    again = {"op": "join", "left": "twin", "right": "fade", "on": {"left": "n", "right": "n"}, "fields": ["end"]}
    steps = whole()["plan"]["steps"] | {"twin": twin, "again": again}
    assert found(sound, small(steps=steps, params=whole()["params"])) == {
        ((*STEPS, "again", "fields"), "name_taken")
    }


def test_a_column_that_a_join_only_might_make_is_taken_and_not_suggested() -> None:
    """A test that is listed with fields may lack them, so a cycle's column may keep its name or get the suffix."""
    listed = {"op": "list", "source": "measurements", "fields": ["id", "name"]}
    cycles = {
        "op": "summary",
        "dataset": "cycles",
        "ids": {"from": "cells", "column": "id"},
        "columns": ["Complete"],
    }
    join = {"op": "join", "left": "cells", "right": "cycles", "on": {"left": "id", "right": "measurement_id"}}

    def problems(column: str) -> list[str]:
        steps = {"cells": listed, "cycles": cycles, "named": {**join, "where": {column: True}}}
        return [problem.msg for problem in check(parse(small(steps=steps)))]

    assert problems("Complete") == problems("Complete_right") == []
    assert problems("Complet") == ["Step 'named' has no column 'Complet'. Did you mean 'Complete'?"]


def test_columns_that_only_the_store_knows_are_left_to_it() -> None:
    assert found(sound, aggregate(m={"fn": "max", "column": "anything at all"})) == set()


def params(**controls: Any) -> dict[str, Any]:
    return small(params=controls)


def control(default: Any, **fields: Any) -> dict[str, Any]:
    return {"kind": "data", "default": default, "control": fields}


@pytest.mark.parametrize(
    ("param", "place"),
    [
        (control(0, min=1), ("default",)),
        (control(2, max=1), ("default",)),
        (control("2", max=3), ("default",)),
        (control(True, max=3), ("default",)),
        (control([1, 5], max=3), ("default", 1)),
        (control(1, options=["1"]), ("default",)),
        (control(True, options=[1]), ("default",)),
        (control(1, options=[{"value": True}]), ("default",)),
        (control(["a", "c"], options=["a", "b"]), ("default", 1)),
        (control("a", options=[]), ("default",)),
        (control("a", options=["a"], optionsFrom={"step": "cells", "value": "id"}), ("control", "optionsFrom")),
        (control(2, min=3, max=1), ("control", "min")),
    ],
    ids=str,
)
def test_a_default_its_control_refuses(param: Any, place: Any) -> None:
    problems = problems_of(sound, params(p=param))
    assert [problem.loc for problem in problems] == [("config", "params", "p", *place)]


@pytest.mark.parametrize(
    "param",
    [
        control(None, min=1, max=2),
        control(None, options=["a"]),
        control([None, 1], min=1),
        control([], options=["a"]),
        control(1, options=[1.0]),
        control(1.0, options=[1], min=1, max=1),
        control(-0.0, min=0),
        control("a", optionsFrom={"step": "cells", "value": "id"}),
        control({"free": [1]}),
    ],
    ids=str,
)
def test_a_default_its_control_takes(param: Any) -> None:
    assert found(sound, params(p=param)) == set()


def test_a_default_that_no_position_takes_is_found() -> None:
    raw = small(params={"p": {"kind": "data", "default": ["A"]}})
    raw["plan"]["steps"]["cells"]["where"] = {"batch": "$p"}
    assert found(sound, raw) == {((*STEPS, "cells", "where", "batch"), "bound_type")}
    live = {"optionsFrom": {"step": "types", "value": "name"}}
    steps = {
        "types": {"op": "list", "source": "materials"},
        "low": {
            "op": "series",
            "source": "measurements",
            "ids": [],
            "x": "t",
            "columns": ["v"],
            "window": {"min": "$q"},
        },
    }
    later = {"q": {"kind": "data", "default": True, "control": live}}
    assert found(sound, small(steps=steps, params=later)) == set()
    later["q"]["default"] = [1]
    assert found(sound, small(steps=steps, params=later)) == {((*STEPS, "low", "window", "min"), "bound_type")}


def listed(**where: Any) -> dict[str, Any]:
    return {"op": "list", "source": "measurements", "where": where}


def live(step: str) -> dict[str, Any]:
    return {"kind": "data", "default": None, "control": {"optionsFrom": {"step": step, "value": "id"}}}


def test_choices_that_depend_on_themselves() -> None:
    steps = {
        "a": listed(name="$p"),
        "b": listed(ids={"from": "a", "column": "id"}),
        "c": listed(name="$q"),
        "d": listed(batch="$r"),
    }
    loc = ("control", "optionsFrom")
    itself = small(steps=steps, params={"p": live("b"), "q": live("d"), "r": live("cells")})
    assert found(sound, itself) == {(("config", "params", "p", *loc), "circle")}
    around = small(steps=steps, params={"p": live("c"), "q": live("b"), "r": live("a")})
    assert found(sound, around) == {(("config", "params", name, *loc), "circle") for name in "pq"}
    assert any("p -> q -> p" in problem.msg for problem in problems_of(sound, around))
    cascade = small(steps=steps, params={"p": live("c"), "q": live("d"), "r": live("cells")})
    assert found(sound, cascade) == set()


def test_a_circle_is_the_shortest_way_back() -> None:
    ways = {"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["a"]}
    assert circle("a", ways.__getitem__) == ["a", "c", "a"]
    assert circle("d", ways.__getitem__) == []


def test_everything_wrong_is_found_at_once_shape_and_meaning() -> None:
    raw = whole()
    raw["plan"]["steps"]["cells"]["limt"] = 5
    raw["plan"]["steps"]["cells"]["limit"] = 0
    raw["plan"]["steps"]["cells"]["where"]["studyId"] = "s"
    raw["plan"]["steps"]["fade"]["input"] = "cycle"
    raw["params"]["fraction"]["default"] = 2
    assert found(sound, raw) == {
        ((*STEPS, "cells", "limt"), "extra_forbidden"),
        ((*STEPS, "cells", "limit"), "greater_than_equal"),
        ((*STEPS, "cells", "where", "studyId"), "filter_not_applicable"),
        ((*STEPS, "fade", "input"), "bad_reference"),
        (("config", "params", "fraction", "default"), "out_of_range"),
    }
    raw["params"]["fraction"]["kind"] = "datum"
    assert (("config", "params", "fraction", "kind"), "literal_error") in found(sound, raw)


def test_a_step_that_cannot_be_read_brings_no_false_problems() -> None:
    raw = whole()
    raw["plan"]["steps"]["cycles"]["op"] = "sumary"
    assert found(sound, raw) == {((*STEPS, "cycles", "op"), "literal_error")}


@pytest.mark.parametrize("value", [None, True, {"ratio_of": "n", "factor": None}])
def test_a_comparison_that_cannot_be_read_is_not_called_missing(value: Any) -> None:
    where = {"column": "id", "op": "eq", "value": value}
    metrics = {"n": {"fn": "count"}, "one": {"fn": "first_where", "column": "id", "where": where}}
    steps = {
        "cells": {"op": "list", "source": "instances", "fields": ["id"]},
        "grouped": {"op": "aggregate", "input": "cells", "group_by": ["id"], "metrics": metrics},
    }
    with pytest.raises(Invalid) as caught:
        sound({"plan": {"steps": steps}}, transform=False)
    [problem] = caught.value.problems
    assert problem.loc[:8] == ("config", "plan", "steps", "grouped", "metrics", "one", "where", "value")


def test_references_ancestors_and_params_of_steps() -> None:
    plan = parse(whole()).plan
    assert references(plan.steps["named"]) == ["fade", "tests"]
    assert ancestors(plan, "named") == ["cells", "tests", "cycles", "fade"]
    assert ancestors(plan, "cells") == []
    assert params_of(plan.steps["cells"]) == {"chosen", "spec", "batch"}
    assert params_of(plan.steps["fade"]) == {"fraction"}
    assert params_of(plan.steps["fits"]) == set()


GOLDEN = [
    (
        ("plan", "steps", "cells", "limt"),
        5,
        "config.plan.steps.cells.limt: A list step has no field 'limt'. Did you mean 'limit'?",
    ),
    (
        ("plan", "steps", "curves", "max_points"),
        10_001,
        "config.plan.steps.curves.max_points: 'max_points' is 10001; it must be at most 10000.",
    ),
    (
        ("plan", "steps", "curves", "columns"),
        [],
        "config.plan.steps.curves.columns: 'columns' has 0 entries; at least 1 are allowed.",
    ),
    (
        ("plan", "steps", "cells", "where", "batch"),
        "$bach",
        "config.plan.steps.cells.where.batch: There is no param 'bach'. Did you mean 'batch'? "
        "'$$bach' is the plain text.",
    ),
    (
        ("plan", "steps", "fade", "input"),
        "cycle",
        "config.plan.steps.fade.input: There is no step 'cycle'. Did you mean 'cycles'?",
    ),
    (
        ("plan", "steps", "cells", "source"),
        "instance",
        "config.plan.steps.cells.source: 'instance' is not allowed for 'source'. Did you mean 'instances'?",
    ),
    (
        ("params", "batch", "default"),
        "D",
        'config.params.batch.default: "D" is not among the options of \'batch\'. Did you mean "A" or "B" or "C"?',
    ),
    (
        ("plan", "caps", "max_sources"),
        None,
        "config.plan.caps.max_sources: 'max_sources' needs an integer, not null. Leave it out instead.",
    ),
    (
        ("plan", "steps", "cycles", "columns"),
        None,
        "config.plan.steps.cycles.columns: 'columns' needs a list, not null.",
    ),
]


@pytest.mark.parametrize(("loc", "value", "text"), GOLDEN, ids=lambda part: str(part)[:40])
def test_the_sentences_read_well(loc: Any, value: Any, text: str) -> None:
    with pytest.raises(Invalid) as caught:
        sound(changed(loc, value))
    assert str(caught.value) == text


def test_check_takes_a_place() -> None:
    [problem] = check(parse(changed(("plan", "steps", "fade", "input"), "cycle")), at=("draft", "config"))
    assert problem.loc == ("draft", "config", "plan", "steps", "fade", "input")
