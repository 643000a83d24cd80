"""Which control a param gets: the cases of the table, as data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.recipe_examples import small

from workbench.recipe.controls import WIDGETS, decide
from workbench.recipe.params import Param
from workbench.recipe.parse import parse

LIVE = {"optionsFrom": {"step": "cells", "value": "id"}}


def param(default: Any, **control: Any) -> Param:
    return parse(small(params={"p": {"kind": "data", "default": default, "control": control}})).params["p"]


def choices(n: int, length: int = 4) -> list[dict[str, Any]]:
    return [{"value": f"id-{i}", "label": f"{i:0{length}d}"} for i in range(n)]


@pytest.mark.parametrize(
    ("default", "control", "widget"),
    [
        ("a", {"options": ["a", "b"]}, "toggle_buttons"),
        ("a", {"options": ["a", "b" * 15]}, "dropdown"),
        ("a", {"options": ["a" * 13, "b" * 13, "c" * 13, "a"]}, "toggle_buttons"),
        ("a", {"options": ["a" * 14, "b" * 14, "c" * 14, "d" * 7, "a"]}, "dropdown"),
        ("a", {"options": ["a"]}, "dropdown"),
        (0, {"options": list(range(40))}, "dropdown"),
        (0, {"options": list(range(41))}, "combobox"),
        ([], {"options": list(range(6))}, "toggle_multiple"),
        (["a"], {"options": ["a", "b" * 15]}, "select_multiple"),
        ([], {"options": list(range(7))}, "select_multiple"),
        ([], {"options": list(range(8))}, "select_multiple"),
        ([], {"options": list(range(9))}, "filtered_select_multiple"),
        (True, {"options": [{"value": True}, {"value": False}]}, "toggle_buttons"),
        (True, {}, "checkbox"),
        (True, {"label": "Smooth"}, "checkbox"),
        (5, {"min": 0, "max": 10}, "int_slider"),
        (5, {"min": 0, "max": 1000}, "int_slider"),
        (5, {"min": 0, "max": 1001}, "bounded_int"),
        (5, {"min": 0, "max": 2000, "step": 2}, "int_slider"),
        (5, {"min": 0.5, "max": 10}, "float_slider"),
        (5, {"min": 0, "max": 10, "step": 0.5}, "float_slider"),
        (5.0, {"min": 0, "max": 10}, "float_slider"),
        (5.0, {"min": 0, "max": 10, "step": 0.001}, "bounded_float"),
        (5, {"min": 0}, "int"),
        (5.5, {"max": 10}, "float"),
        (5, {"label": "n"}, "int"),
        (5.5, {"label": "n"}, "float"),
        ([1, 5], {"min": 0, "max": 10}, "int_range_slider"),
        ([1.5, 5], {"min": 0, "max": 10}, "float_range_slider"),
        ([5, 1], {"min": 0, "max": 10}, "json"),
        ([1, 2, 3], {"min": 0, "max": 10}, "json"),
        (None, {"min": 0}, "optional_number"),
        (None, {"label": "x"}, "text"),
        ("short", {"label": "x"}, "text"),
        ("x" * 81, {"label": "x"}, "textarea"),
        ("two\nlines", {"label": "x"}, "textarea"),
        ("2026-01-31", {"label": "x"}, "date"),
        ("2026-02-31", {"label": "x"}, "text"),
        ("2026-01-31T12:00", {"label": "x"}, "datetime"),
        ("2026-01-31T12:00:00Z", {"label": "x"}, "datetime"),
        ("2026-01-31T25:00", {"label": "x"}, "text"),
        ("2026W01-31", {"label": "x"}, "text"),
        ([], {"label": "x"}, "json"),
        (["a"], {"label": "x"}, "json"),
        ({"a": 1}, {"label": "x"}, "json"),
    ],
    ids=str,
)
def test_the_table(default: Any, control: Any, widget: str) -> None:
    made = decide("p", param(default, **control))
    assert made["widget"] == widget
    assert widget in WIDGETS
    assert json.loads(json.dumps(made)) == made


@pytest.mark.parametrize("value", [[5, 1], [3], [1, 2, 3], [1, None]], ids=str)
def test_a_value_that_is_not_a_range_is_not_on_a_range_slider(value: Any) -> None:
    """A list takes any numbers within the bounds; a slider with two ends can show only two, the lower one first."""
    made = param([1, 5], min=0, max=10)
    assert decide("p", made, value=value)["widget"] == "json"
    assert [decide("p", made, value=one)["widget"] for one in ([2, 2], [], None)] == ["int_range_slider"] * 3


def test_a_param_without_control_is_not_shown() -> None:
    plain = parse(small(params={"p": {"kind": "view", "default": 1}})).params["p"]
    assert decide("p", plain)["widget"] == "hidden"


def test_label_and_description_are_never_empty() -> None:
    made = decide("p", param(1, label="Cells"))
    assert (made["label"], made["description"]) == ("Cells", "Cells")
    made = decide("p", param(1, description="Which cells."))
    assert (made["label"], made["description"]) == ("p", "Which cells.")


def test_a_value_that_is_no_choice_stands_first_and_says_so() -> None:
    made = decide("p", param("gone", **LIVE), choices(2))
    assert made["options"][0] == {"value": "gone", "label": "gone (not available)", "available": False}
    assert made["widget"] == "dropdown"
    many = decide("p", param([], **LIVE), choices(3), value=["id-1", "gone"])
    assert [option["available"] for option in many["options"]] == [False, True, True, True]


def test_values_are_compared_by_type() -> None:
    made = decide("p", param(None, **LIVE), [{"value": True, "label": "yes"}], value=1)
    assert [(type(o["value"]), o["available"]) for o in made["options"]] == [(int, False), (bool, True)]


def test_no_rows_disable_the_same_widget() -> None:
    made = decide("p", param(None, **LIVE), [])
    assert (made["disabled"], made["note"], made["options"]) == (
        True,
        "Nothing to choose from: there are no rows in cells.",
        [],
    )
    assert decide("p", param([], **LIVE))["disabled"]
    assert decide("p", param(None, options=[]))["note"] == "Nothing to choose from."


def test_labels_differ() -> None:
    rows = [{"value": "a", "label": "Cell"}, {"value": "b", "label": "Cell"}, {"value": 1, "label": None}]
    rows += [{"value": "1", "label": None}, {"value": "z", "label": "Cell (a)"}]
    labels = [option["label"] for option in decide("p", param(None, **LIVE), rows)["options"]]
    assert len(set(labels)) == 5
    assert labels[:2] == ["Cell (a)", "Cell (b)"]


def test_many_choices_say_how_many() -> None:
    assert decide("p", param(None, **LIVE), choices(120))["placeholder"] == "120 choices, type to search"
    made = decide("p", param([], **LIVE), choices(4))
    assert (made["rows"], made["all_none"]) == (4, True)


@pytest.mark.parametrize(
    ("default", "control", "step", "form"),
    [
        (0.8, {"min": 0, "max": 1}, 0.01, ".2f"),
        (0.8, {"min": 0, "max": 300}, 2.0, ".0f"),
        (3.6, {"min": 2.5, "max": 4.2}, 0.02, ".2f"),
        (0.8, {"min": 0, "max": 1, "step": 0.025}, 0.025, ".3f"),
        (1, {"min": 0, "max": 1, "step": 0}, 1, "d"),
        (1, {"min": 0, "max": 5.0}, 1, "d"),
        (1.0, {"min": 1, "max": 1}, 0.1, ".1f"),
    ],
    ids=str,
)
def test_steps_and_formats(default: Any, control: Any, step: float, form: str) -> None:
    made = decide("p", param(default, **control))
    assert (made["step"], made["format"]) == (pytest.approx(step), form)


def test_typing_waits_and_clicking_does_not() -> None:
    assert decide("p", param("text", label="x"))["debounce_ms"] == 150
    assert decide("p", param(True, label="x"))["debounce_ms"] == 0
