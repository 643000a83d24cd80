"""Every limit at its bound and one beyond, unknown properties and nulls in every object, from the models."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from support.recipe_examples import at, found, places, put, request, small, stands, whole

from workbench.recipe.parse import parse, parse_request
from workbench.recipe.plot import AuthoringRequest
from workbench.recipe.schema import schema
from workbench.recipe.shapes import fields_of, model_at, models_under

OBJECTS = [
    loc
    for loc in places(request())
    if isinstance(at(request(), *loc), dict) and model_at(AuthoringRequest, request(), loc)
]
FIELDS = [(loc, name) for loc in OBJECTS for name in fields_of(model_at(AuthoringRequest, request(), loc))]  # type: ignore[arg-type]


def name_of(loc: Any) -> str:
    return ".".join(map(str, loc)) or "request"


def test_the_example_holds_every_model() -> None:
    seen = {model_at(AuthoringRequest, request(), loc) for loc in OBJECTS}
    assert seen == set(models_under(AuthoringRequest))
    given = {
        (model_at(AuthoringRequest, request(), loc), name) for loc, name in FIELDS if name in at(request(), *loc)
    }
    assert given == {(model, name) for model in models_under(AuthoringRequest) for name in fields_of(model)}


def test_the_example_is_accepted() -> None:
    assert parse_request(request()).draft is not None


@pytest.mark.parametrize("loc", OBJECTS, ids=name_of)
@pytest.mark.parametrize("name", ["colour", "from_", "options_from", "max_pionts"])
def test_an_unknown_property_is_refused_in_every_object(loc: Any, name: str) -> None:
    raw = request()
    put(raw, (*loc, name), None)
    assert found(parse_request, raw) == {((*loc, name), "extra_forbidden")}


@pytest.mark.parametrize(
    ("loc", "name"), FIELDS, ids=lambda part: name_of(part) if isinstance(part, tuple) else part
)
def test_required_fields_are_missed_and_others_are_not(loc: Any, name: str) -> None:
    raw = request()
    owner = at(raw, *loc)
    owner.pop(name, None)
    field = fields_of(model_at(AuthoringRequest, request(), loc))[name]  # type: ignore[arg-type]
    wanted = {((*loc, name), "missing")} if field.is_required() else set()
    assert found(parse_request, raw) == wanted


NULLABLE = {
    *(
        "AuthoringRequest.plot_id",
        "AuthoringRequest.draft",
        "AggregateStep.sort_by",
        "JoinStep.where",
        "Param.default",
    ),
    *("Metric.column", "Metric.where", "Window.min", "Window.max", "ControlOption.label", "OptionsFrom.label"),
    *(f"Control.{name}" for name in ("label", "description", "options", "optionsFrom", "min", "max", "step")),
    *(f"Filters.{name}" for name in ("ids", "instanceIds", "measurementIds", "specificationIds", "name", "batch")),
    *(f"Filters.{name}" for name in ("nameContains", "measurementType", "analysisType", "materialId", "studyId")),
}
"""The fields whose type in the interface allows null."""


@pytest.mark.parametrize(
    ("loc", "name"), FIELDS, ids=lambda part: name_of(part) if isinstance(part, tuple) else part
)
def test_null_stands_only_where_the_interface_allows_it(loc: Any, name: str) -> None:
    raw = request()
    model = model_at(AuthoringRequest, raw, loc)
    put(raw, (*loc, name), None)
    problems = found(parse_request, raw)
    if f"{model.__name__}.{name}" in NULLABLE:  # type: ignore[union-attr]
        assert problems == set()
    else:
        assert {loc for loc, _ in problems} == {(*loc, name)}


BOUNDS: list[tuple[tuple[str | int, ...], Any, Any]] = [
    (("prompt",), ("x", "x" * 10_000), ("", "x" * 10_001)),
    (("draft", "name"), ("x", "x" * 200), ("", "x" * 201)),
    (("draft", "config", "transform"), ("x", "x" * 100_000), ("", "x" * 100_001)),
    (
        ("draft", "config", "params"),
        ({}, {f"p{n}": {"kind": "data", "default": n} for n in range(30)}),
        ({f"p{n}": {"kind": "data", "default": n} for n in range(31)},),
    ),
    (
        ("draft", "config", "plan", "steps"),
        ({f"s{n}": {"op": "list", "source": "instances"} for n in range(20)},),
        ({}, {f"s{n}": {"op": "list", "source": "instances"} for n in range(21)}),
    ),
]
STEPS = ("draft", "config", "plan", "steps")
CONTROL = ("draft", "config", "params", "batch", "control")
BOUNDS += [
    ((*STEPS, "cells", "limit"), (1, 1000, 5.0), (0, 1001, 1.5, -1)),
    ((*STEPS, "cells", "fields"), ([], ["a"] * 30, ["x" * 200]), (["a"] * 31,)),
    ((*STEPS, "named", "fields"), ([], ["a"] * 30), (["a"] * 31,)),
    ((*STEPS, "curves", "columns"), (["a"], ["a"] * 12), ([], ["a"] * 13)),
    ((*STEPS, "cycles", "columns"), (["a"], ["a"] * 12), ([], ["a"] * 13)),
    ((*STEPS, "curves", "max_points"), (1, 10_000, 2.0), (0, 10_001)),
    ((*STEPS, "curves", "x"), ("x" * 200,), ("x" * 201,)),
    ((*STEPS, "curves", "ids"), ([], ["a"] * 10_000, "a"), (["a"] * 10_001, 5, True, None)),
    ((*STEPS, "cells", "where", "ids"), ([], [1] * 10_000), ([1] * 10_001, 5, True)),
    ((*STEPS, "named", "where", "instance_id"), ([], [1] * 10_000), ([1] * 10_001,)),
    ((*STEPS, "tests", "where", "instanceIds", "column"), ("x" * 200,), ("x" * 201,)),
    ((*STEPS, "tests", "where", "instanceIds", "from"), ("x" * 200,), ("x" * 201, "1a", "a-b", "", "ä", "a\n")),
    ((*STEPS, "fade", "group_by"), (["a"], ["a"] * 4), ([], ["a"] * 5)),
    ((*STEPS, "fade", "sort_by"), ("x" * 200,), ("x" * 201,)),
    ((*STEPS, "fade", "input"), ("x" * 200,), ("x" * 201, "a b")),
    ((*STEPS, "fade", "metrics"), ({f"m {n}": {"fn": "count"} for n in range(20)},), ({},)),
    (
        (*STEPS, "fade", "metrics"),
        ({"x" * 200: {"fn": "count"}},),
        ({str(n): {"fn": "count"} for n in range(21)},),
    ),
    ((*STEPS, "fade", "metrics", "n", "column"), ("x" * 200,), ("x" * 201,)),
    ((*STEPS, "fade", "metrics", "end", "where", "column"), ("x" * 200,), ("x" * 201,)),
    (
        (*STEPS, "fade", "metrics", "end", "where", "value", "ratio_of"),
        ("x" * 200,),
        ("x" * 201, "first capacity"),
    ),
    ((*STEPS, "fade", "metrics", "end", "where", "value"), (1, 1.5, "a"), (True, [1])),
    ((*CONTROL, "label"), ("", "x" * 200), ("x" * 201,)),
    ((*CONTROL, "description"), ("", "x" * 500), ("x" * 501,)),
    ((*CONTROL, "options"), ([], list(range(500))), (list(range(501)),)),
    ((*CONTROL, "options", 2, "label"), ("x" * 200,), ("x" * 201,)),
    ((*CONTROL, "optionsFrom"), ({"step": "a", "value": "x" * 200, "label": "x" * 200},), ()),
]
CAPS = {"max_sources": 500, "max_summary_rows": 200_000, "max_series_points": 200_000, "max_list_rows": 5000}
BOUNDS += [(("draft", "config", "plan", "caps", cap), (1, most), (0, most + 1)) for cap, most in CAPS.items()]


@pytest.mark.parametrize(("loc", "accepted", "refused"), BOUNDS, ids=lambda part: name_of(part)[-60:])
def test_every_limit_of_the_table(loc: Any, accepted: Any, refused: Any) -> None:
    for value in accepted:
        raw = request()
        put(raw, loc, value)
        assert found(parse_request, raw) == set()
    for value in refused:
        raw = request()
        put(raw, loc, value)
        assert {place[: len(loc)] for place, _ in found(parse_request, raw)} == {loc}


def _constraints(node: dict[str, Any]) -> dict[str, Any]:
    return {
        key: node[key]
        for key in ("maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems")
        if key in node
    }


def _bounded() -> list[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """(place in the whole recipe, constraints) of every node of the schema that has some."""
    book = schema()
    found_nodes = []

    def visit(node: dict[str, Any], raw: Any, loc: tuple[str | int, ...]) -> None:
        if "$ref" in node:
            node = book["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        for branch in node.get("anyOf", []) + node.get("oneOf", []):
            if jsonschema.Draft202012Validator({**branch, "$defs": book["$defs"]}).is_valid(raw):
                visit(branch, raw, loc)
        if _constraints(node):
            found_nodes.append((loc, _constraints(node)))
        if isinstance(raw, dict):
            for key, item in raw.items():
                inner = node.get("properties", {}).get(key, node.get("additionalProperties"))
                if isinstance(inner, dict):
                    visit(inner, item, (*loc, key))
        if isinstance(raw, list) and "items" in node:
            visit(node["items"], raw[0] if raw else None, (*loc, 0)) if raw else None

    visit(book, whole(), ())
    return found_nodes


def _values(raw: Any, bounds: dict[str, Any]) -> list[tuple[Any, bool]]:
    """(value, accepted) at and beyond each bound."""
    made: list[tuple[Any, bool]] = []
    for key, bound in bounds.items():
        step = 1 if key.startswith("max") else -1
        for value, accepted in ((bound, True), (bound + step, False)):
            if key in ("maximum", "minimum"):
                made.append((value, accepted))
            elif value >= 0:
                made.append(("x" * value if "Length" in key else (raw[:1] or ["x"]) * value, accepted))
    return made


@pytest.mark.parametrize(
    ("loc", "bounds"), _bounded(), ids=lambda part: name_of(part) if isinstance(part, tuple) else ""
)
def test_every_bound_in_the_schema_is_kept_by_the_models(loc: Any, bounds: dict[str, Any]) -> None:
    for value, accepted in _values(at(whole(), *loc), bounds):
        raw = whole()
        put(raw, loc, value)
        problems = found(parse, raw)
        assert (problems == set()) is accepted
        assert all(place == ("config", *loc) for place, _ in problems)


def test_most_of_the_recipe_is_bounded() -> None:
    assert len({loc for loc, _ in _bounded()}) > 40


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 2**63, "\ud800", {1: 2}, {1, 2}])
def test_what_json_cannot_say_is_refused_at_its_place(value: Any) -> None:
    raw = whole()
    raw["params"]["spec"]["default"] = [0, value]
    assert {loc for loc, _ in found(parse, raw)} == {("config", "params", "spec", "default", 1)}


def test_nesting_is_bounded() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    raw = small(params={"p": {"kind": "view", "default": deep}})
    [(loc, code)] = found(parse, raw)
    assert code == "json_depth"
    assert stands(raw, loc[1:])


@pytest.mark.parametrize("name", ["1a", "a b", "", "a-b", "ä", "a\n", "$a", "x" * 201])
def test_names_match_the_pattern(name: str) -> None:
    step = {"op": "list", "source": "instances"}
    assert {loc for loc, _ in found(parse, small(steps={name: step}))} == {("config", "plan", "steps", name)}
    param = {"kind": "data", "default": 1}
    assert {loc for loc, _ in found(parse, small(params={name: param}))} == {("config", "params", name)}


@pytest.mark.parametrize(
    ("loc", "value"),
    [
        (("plan", "steps", "cells", "limit"), "5"),
        (("plan", "steps", "cells", "limit"), True),
        (("plan", "steps", "cells", "fields", 0), 5),
        (("plan", "steps", "cells", "where", "batch"), ["A"]),
        (("plan", "steps", "cells", "where", "batch"), {"from": "a", "column": "b"}),
        (("plan", "steps", "curves", "window", "min"), False),
        (("plan", "steps", "curves", "ids"), [["m"]]),
        (("plan", "steps", "fade", "metrics", "end", "where", "value", "factor"), None),
        (("params", "fraction", "control", "min"), "0"),
        (("params", "fraction", "control", "max"), True),
        (("params", "batch", "control", "options", 0), True),
        (("params", "batch", "control", "options", 2, "value"), None),
        (("transform",), 5),
        (("plan", "steps", "cells", "op"), "listing"),
        (("plan", "steps", "cells", "op"), ["list"]),
        (("plan", "steps", "cells", "op"), None),
        (("plan", "steps", "cells"), "list"),
        (("plan", "steps"), []),
        (("plan",), None),
    ],
    ids=str,
)
def test_types_are_never_converted(loc: Any, value: Any) -> None:
    raw = whole()
    put(raw, loc, value)
    assert {place[: len(loc) + 1] for place, _ in found(parse, raw)} <= {("config", *loc), ("config", *loc, 0)}
    assert found(parse, raw)


def test_a_tag_of_a_union_never_stands_in_a_place() -> None:
    raw = whole()
    raw["plan"]["steps"]["cells"] |= {"list": 1, "limt": 2}
    raw["plan"]["steps"]["curves"]["ids"] = {"form": "tests"}
    loc = ("config", "plan", "steps")
    assert {place for place, _ in found(parse, raw)} == {
        (*loc, "cells", "list"),
        (*loc, "cells", "limt"),
        (*loc, "curves", "ids", "form"),
        (*loc, "curves", "ids", "from"),
        (*loc, "curves", "ids", "column"),
    }


def test_a_plan_alone_needs_no_transform() -> None:
    raw = whole()
    del raw["transform"]
    assert parse(raw, transform=False).plan.steps
    assert parse(raw | {"transform": 5}, transform=False).plan.steps
    assert found(parse, raw) == {(("config", "transform"), "missing")}
