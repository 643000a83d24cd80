"""Hypothesis: recipes round trip; a broken one never crashes, and every place in its problems exists."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.recipe_examples import places, problems_of, put, stands, whole

from workbench.errors import Problem
from workbench.recipe.bind import bind
from workbench.recipe.check import check, sound
from workbench.recipe.parse import parse
from workbench.recipe.schema import schema

PLACES = [loc for loc in places(whole()) if loc]
VALIDATOR = jsonschema.Draft202012Validator(schema())
texts = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8)
scalars = st.none() | st.booleans() | st.integers(-3, 11_000) | st.floats(-2, 2000, width=32) | texts
references = st.sampled_from(
    ["$chosen", "$spec", "$smooth", "$nobody", "$$x", "$", "cells", "curves", "fade", "id"]
)
words = st.sampled_from(
    ["op", "from", "column", "list", "ids", "where", "min", "value", "fn", "steps", "a b", "limit"]
)
values = st.recursive(
    scalars | references,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | texts, inner, max_size=4),
    max_leaves=8,
)


@st.composite
def broken(draw: st.DrawFn) -> dict[str, Any]:
    """The whole recipe with one to three places replaced, removed, renamed or copied from elsewhere."""
    raw = whole()
    for _ in range(draw(st.integers(1, 3))):
        loc = draw(st.sampled_from(PLACES))
        if not stands(raw, loc):
            continue
        change = draw(st.sampled_from(["replace", "remove", "add", "copy"]))
        owner: Any = raw
        for key in loc[:-1]:
            owner = owner[key]
        if change == "replace":
            put(raw, loc, draw(values))
        elif change == "remove":
            del owner[loc[-1]]
        elif change == "add" and isinstance(owner, dict):
            owner[draw(words | texts)] = draw(values)
        else:
            other = draw(st.sampled_from(PLACES))
            if stands(raw, other):
                source: Any = raw
                for key in other:
                    source = source[key]
                put(raw, loc, copy.deepcopy(source))
    return raw


def leads(raw: Any, problem: Problem) -> bool:
    """The place exists in the request, or ends with the name of a missing field."""
    loc = problem.loc
    assert loc[0] in ("config", "values")
    ends_missing = problem.type == "missing" and isinstance(loc[-1], str) and stands(raw, loc[1:-1])
    return stands(raw, loc[1:]) or ends_missing


def a_broken_recipe_never_crashes_and_every_problem_has_its_place(raw: dict[str, Any]) -> None:
    before = json.dumps(raw)
    problems = problems_of(sound, raw)
    assert all(leads(raw, problem) and problem.msg.strip() for problem in problems)
    assert json.dumps(raw) == before
    if not problems:
        bound = bind(parse(raw))
        assert list(bound.steps) == list(raw["plan"]["steps"])


def the_schema_accepts_what_the_models_accept(raw: dict[str, Any]) -> None:
    assert VALIDATOR.is_valid(raw) is (not problems_of(parse, raw))


def a_readable_recipe_round_trips(raw: dict[str, Any]) -> None:
    if problems_of(parse, raw):
        return
    config = parse(raw)
    dumped = config.dump()
    assert parse(dumped) == config
    assert parse(json.loads(json.dumps(dumped))).dump() == dumped
    assert list(dumped["plan"]["steps"]) == list(raw["plan"]["steps"])


PROPERTIES = [
    a_broken_recipe_never_crashes_and_every_problem_has_its_place,
    the_schema_accepts_what_the_models_accept,
    a_readable_recipe_round_trips,
]


@pytest.mark.parametrize("check_one", PROPERTIES, ids=lambda check_one: check_one.__name__)
def test_of_broken_recipes(check_one: Callable[[dict[str, Any]], None], long: bool) -> None:
    cases = settings(
        max_examples=5000 if long else 300, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    cases(given(broken())(check_one))()


def test_the_whole_recipe_is_sound_and_kept_letter_by_letter() -> None:
    config = sound(whole())
    assert config.dump() == whole()
    assert json.dumps(config.dump()["plan"]["steps"]["cells"]) == json.dumps(whole()["plan"]["steps"]["cells"])
    assert check(config) == []


chosen = st.dictionaries(st.sampled_from([*whole()["params"], "nobody"]), values, max_size=4)


@settings(max_examples=300, deadline=None)
@given(chosen)
def test_any_values_bind_or_are_laid_at_their_place(given_values: dict[str, Any]) -> None:
    config = sound(whole())
    problems = problems_of(bind, config, given_values)
    for problem in problems:
        root = given_values if problem.loc[0] == "values" else whole()
        assert stands(root, problem.loc[1:])
    if not problems:
        bound = bind(config, given_values)
        assert set(bound.values) == set(config.params)
        assert bound.canonical() == bind(config, given_values).canonical()
        if "$" not in json.dumps(given_values):
            assert b"$chosen" not in bound.canonical()
