"""The schema, the reference page and the Recipe that people hold."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from support.recipe_examples import problems_of, small, whole

import workbench
from workbench.errors import BadRequest, Invalid
from workbench.recipe.filters import ALL, APPLIES, CLOSED, Filters
from workbench.recipe.plot import AuthoringRequest, PlotConfig
from workbench.recipe.recipe import Recipe
from workbench.recipe.schema import schema
from workbench.recipe.shapes import fields_of, models_under
from workbench.records.measurement import Measurement


def test_the_schema_is_one_and_names_its_version() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$id"].endswith(":0.1.0")
    assert workbench.__version__


@pytest.mark.parametrize("model", models_under(AuthoringRequest), ids=lambda model: model.__name__)
def test_every_field_has_one_sentence(model: type) -> None:
    assert model.__doc__
    for name, field in fields_of(model).items():
        assert field.description, f"{model.__name__}.{name} has no description"
        assert field.description.endswith("."), f"{model.__name__}.{name}"
        assert len(field.description) < 160


def test_every_object_of_the_schema_is_closed_and_described() -> None:
    book = schema()
    objects = [book, *(part for part in book["$defs"].values() if "properties" in part)]
    assert {part["title"] for part in objects} == {model.__name__ for model in models_under(PlotConfig)}
    for part in objects:
        assert part["additionalProperties"] is False
        assert all("description" in field for field in part["properties"].values())


def test_every_filter_says_where_it_applies() -> None:
    assert list(APPLIES) == list(fields_of(Filters))
    assert all(set(sources) <= set(ALL) for sources in APPLIES.values())
    assert set(CLOSED) <= set(APPLIES)


def test_closed_sets_are_those_of_the_records() -> None:
    assert {"measurementType": get_args(Measurement.model_fields["measurement_type"].annotation)} == CLOSED


def test_a_recipe_travels_through_a_file(tmp_path: Path) -> None:
    recipe = Recipe(whole())
    path = recipe.save(tmp_path / "fade.json")
    again = Recipe.load(path)
    assert again == recipe
    assert hash(again) == hash(recipe)
    assert again.raw() == whole()
    assert (again.plan, again.transform, again.params) == (
        whole()["plan"],
        whole()["transform"],
        whole()["params"],
    )
    jsonschema.validate(json.loads(path.read_text()), Recipe.schema())


def test_a_recipe_is_made_of_its_parts() -> None:
    parts = small()
    recipe = Recipe(plan=parts["plan"], transform=parts["transform"])
    assert recipe == Recipe(parts) == Recipe(recipe) == Recipe(recipe.config)
    assert repr(recipe) == "<Recipe: 1 step (cells), no params>"
    changed = Recipe(recipe, params={"p": {"kind": "view", "default": 1}})
    assert repr(changed) == "<Recipe: 1 step (cells), params p>"
    assert recipe != changed
    assert changed.check() == []


def test_an_unsound_recipe_is_refused_with_all_its_problems() -> None:
    with pytest.raises(Invalid) as caught:
        Recipe(plan={"steps": {"cells": {"op": "list", "source": "cells", "limt": 1}}})
    assert {problem.loc[-1] for problem in caught.value.problems} == {"source", "limt", "transform"}
    assert problems_of(Recipe, [1])[0].loc == ("config",)
    assert problems_of(Recipe)[0].loc == ("config", "plan")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"plan": {}, "plan": {}}', "'plan' stands twice"),
        ('{"plan": ', "line 1, column"),
        ('{"plan": "a\nb"}', "Invalid control character in line 1, column 12"),
        ("[" * 100_000, "deep"),
        ('{"plan": NaN}', "NaN"),
        (b"\xff\xfe\x00", "not JSON"),
    ],
    ids=lambda part: str(part)[:20],
)
def test_a_file_that_is_no_recipe(tmp_path: Path, text: str | bytes, words: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(Invalid, match=words):
        Recipe.load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"fade\.json"):
        Recipe.load(tmp_path / "fade.json")


def test_a_failed_save_leaves_the_old_file_and_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {"steps": {"cells": {"op": "list", "source": "instances"}}}
    recipe = Recipe(plan=plan, transform="def transform(data, params):\n    return go.Figure()\n")
    path = tmp_path / "fade.json"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*fade\.json'"):
        recipe.save(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["fade.json"]
