"""Values against their controls, and from the words of a command line."""

from __future__ import annotations

from typing import Any

import pytest
from support.recipe_examples import found, problems_of, small

from workbench.errors import BadRequest
from workbench.recipe.cli_values import read_cli_values
from workbench.recipe.parse import parse
from workbench.recipe.plot import PlotConfig
from workbench.recipe.values import check_value, effective, fixed_options, same_key


def config(default: Any, **control: Any) -> PlotConfig:
    param: dict[str, Any] = {"kind": "data", "default": default}
    if control:
        param["control"] = control
    return parse(small(params={"p": param}))


def taken(default: Any, value: Any, **control: Any) -> Any:
    return effective(config(default, **control), {"p": value})["p"]


OPTIONS: dict[str, Any] = {"options": ["1", 1, {"value": False}, 2.5]}


@pytest.mark.parametrize("value", ["1", 1, 1.0, False, 2.5, None])
def test_options_are_equal_by_type_and_value(value: Any) -> None:
    assert taken(None, value, **OPTIONS) == value


@pytest.mark.parametrize("value", [True, 0, "2.5", 2, "", "False", {}])
def test_what_is_no_option_is_refused(value: Any) -> None:
    assert found(effective, config(None, **OPTIONS), {"p": value}) == {(("values", "p"), "not_an_option")}


def test_each_element_of_a_multiple_choice_is_checked() -> None:
    assert found(effective, config([], **OPTIONS), {"p": [1, 3, "1", True]}) == {
        (("values", "p", 1), "not_an_option"),
        (("values", "p", 3), "not_an_option"),
    }
    assert found(effective, config([1], min=0, max=5), {"p": [0, 5.1, None]}) == {
        (("values", "p", 1), "out_of_range")
    }


@pytest.mark.parametrize(
    ("value", "ok"), [(0, True), (1.0, True), (-0.1, False), (1.1, False), (True, False), ("0", False)]
)
def test_ranges(value: Any, ok: bool) -> None:
    assert (not problems_of(effective, config(0, min=0, max=1), {"p": value})) is ok


def test_a_long_list_is_checked_whole() -> None:
    options = [f"cell {n}" for n in range(500)]
    values = [f"cell {n}" for n in range(400, 2400)]
    problems = problems_of(effective, config([], options=options), {"p": values})
    assert [problem.loc[-1] for problem in problems] == list(range(100, 2000))
    assert "Did you mean" in problems[0].msg


def test_single_and_multiple() -> None:
    assert taken([], "a") == ["a"]
    assert taken([], None) is None
    assert taken(["a"], {"free": 1}) == [{"free": 1}]
    assert taken(None, ["a"]) == ["a"]
    assert taken(None, "a") == "a"
    for default in ("a", 0, False, {}):
        assert found(effective, config(default), {"p": ["a"]}) == {(("values", "p"), "single_choice")}
        assert taken(default, None) is None


def test_what_is_no_json_is_refused_where_it_stands() -> None:
    assert found(effective, config([]), {"p": [1, float("nan")]}) == {(("values", "p", 1), "json_value")}
    assert found(effective, config([]), [1]) == {(("values",), "wrong_type")}


def test_an_unknown_name_is_told_the_near_one() -> None:
    [problem] = problems_of(effective, parse(small(params={"cells": {"kind": "view", "default": 1}})), {"cels": 1})
    assert (problem.loc, problem.msg) == (
        ("values", "cels"),
        "The recipe has no param 'cels'. Did you mean 'cells'?",
    )


def test_fixed_options_stand_once_each() -> None:
    options = [1, {"value": 1.0, "label": "again"}, {"value": True, "label": "yes"}, "1"]
    assert fixed_options(config(None, options=options).params["p"]) == [
        {"value": 1, "label": None},
        {"value": True, "label": "yes"},
        {"value": "1", "label": None},
    ]
    assert fixed_options(config(None).params["p"]) is None


def test_equality() -> None:
    assert same_key(1) == same_key(1.0)
    assert same_key(0.0) == same_key(-0.0)
    assert len({same_key(v) for v in (1, True, "1", None, "null", [1], ["1"], 2**60, 2.0**60)}) == 8


def test_check_value_gives_the_value_that_takes_effect() -> None:
    assert check_value("p", config([1], min=0).params["p"], 3) == ([3], [])


def read(default: Any, *words: str, live: Any = None, **control: Any) -> Any:
    return read_cli_values(config(default, **control), words, live)["p"]


@pytest.mark.parametrize(
    ("default", "control", "words", "wanted"),
    [
        ("x", {}, ["p=5"], "5"),
        ("x", {}, ["p=a=b"], "a=b"),
        ("x", {}, ["p="], ""),
        (1, {}, ["p=5"], 5),
        (1, {}, ["p=2.5"], 2.5),
        (1.0, {}, ["p=5"], 5.0),
        (True, {}, ["p=false"], False),
        (None, {}, ["p=5"], "5"),
        (None, {"min": 0}, ["p=5"], 5),
        ([], {}, ["p=5"], "5"),
        ([1], {}, ["p=5", "p=6"], [5, 6]),
        ([1], {}, ["p=5"], 5),
        ("x", {}, ["p:=5"], 5),
        ("x", {}, ["p:=null"], None),
        ("x", {}, ['p:=["a", 1]'], ["a", 1]),
        ([1], {}, ["p:=5", "p=6"], [5, 6]),
        ({"a": 1}, {}, ['p={"b": 2}'], {"b": 2}),
        (None, {"options": [1, "1"]}, ["p=1"], "1"),
        (None, {"options": [1, "2"]}, ["p=1"], 1),
        (None, {"options": [{"value": True}]}, ["p=true"], True),
        (None, {"options": [{"value": 7, "label": "Seven"}]}, ["p=Seven"], 7),
        (1, {"options": [1, 2]}, ["p=3"], 3),
    ],
    ids=str,
)
def test_words_of_a_command_line(default: Any, control: Any, words: Any, wanted: Any) -> None:
    value = read(default, *words, **control)
    assert value == wanted
    assert type(value) is type(wanted)


def test_live_choices_can_be_given() -> None:
    live = {"p": [{"value": "id-1", "label": "Cell 1"}, {"value": "id-2", "label": "Cell 1"}]}
    control = {"optionsFrom": {"step": "cells", "value": "id"}}
    assert read(None, "p=id-2", live=live, **control) == "id-2"
    assert read(None, "p=Cell 1", live=live, **control) == "Cell 1"


@pytest.mark.parametrize(
    ("default", "word"),
    [(1, "p=abc"), (1.0, "p=nan"), (True, "p=yes!"), ("x", "p:={"), ("x", "q=1"), (1, "p=inf")],
)
def test_words_that_cannot_be_read(default: Any, word: str) -> None:
    [problem] = problems_of(read_cli_values, config(default), [word])
    assert problem.loc == ("values", word[0])


@pytest.mark.parametrize("word", ["p", "=5", "1p=5", "", "p:5"])
def test_words_of_neither_form(word: str) -> None:
    with pytest.raises(BadRequest, match="name=text"):
        read_cli_values(config(1), [word])
