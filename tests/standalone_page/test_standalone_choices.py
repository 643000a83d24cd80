"""Which params turn in a page without a kernel, with which values, and what is said of the others."""

from __future__ import annotations

from typing import Any

from workbench.recipe.plot import PlotConfig
from workbench.standalone_page.choices import MOST_STEPS, Choices, choices_of

PLAN = {"steps": {"cells": {"op": "list", "source": "instances"}}}


def chosen(most: int = 200, values: dict[str, Any] | None = None, **params: Any) -> Choices:
    made = {
        name: {"kind": "view", "control": {}, **one} if "default" in one else one for name, one in params.items()
    }
    config = PlotConfig.model_validate({"plan": PLAN, "transform": "x", "params": made})
    defaults = {name: one["default"] for name, one in made.items()}
    return choices_of(config, {**defaults, **(values or {})}, {}, most)


def values(found: Choices) -> dict[str, list[Any]]:
    return {one.name: [*one.values] for one in found.turning}


def why(found: Choices) -> dict[str, str]:
    return {one.label: one.why for one in found.fixed}


def test_switches_choices_and_short_sliders_turn() -> None:
    found = chosen(
        on={"default": True},
        color={"default": "b", "control": {"options": ["a", "b", "c"]}},
        n={"default": 4, "control": {"min": 1, "max": 9, "step": 2}},
        share={"default": 0.2, "control": {"min": 0.0, "max": 0.3, "step": 0.1}},
    )
    assert values(found) == {
        "on": [False, True],
        "color": ["a", "b", "c"],
        "n": [1, 3, 4, 5, 7, 9],
        "share": [0, 0.1, 0.2, 0.3],
    }
    assert found.figures == 2 * 3 * 6 * 4
    combinations = list(found.combinations())
    assert len(combinations) == found.figures
    assert combinations[found.first] == {"on": True, "color": "b", "n": 4, "share": 0.2}
    assert found.fixed == ()


def test_several_of_few_choices_turn_and_several_of_many_do_not() -> None:
    letters = ["a", "b", "c"]
    found = chosen(few={"default": ["c"], "control": {"options": letters}})
    assert values(found)["few"] == [[], ["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], letters]
    (few,) = found.turning
    assert few.labels[few.first] == "c"
    assert few.labels[0] == "none"
    many = chosen(many={"default": ["a"], "control": {"options": [*letters, "d", "e"]}})
    assert why(many) == {"many": "any of 5 choices may be combined"}


def test_what_stays_fixed_says_why() -> None:
    found = chosen(
        cells={"kind": "data", "default": "a", "control": {"options": ["a", "b"]}},
        free={"default": 1.5, "control": {"label": "Factor"}},
        long={"default": 5, "control": {"min": 0, "max": 100}},
        only={"default": "x", "control": {"options": ["x"]}},
    )
    hidden = {"kind": "view", "default": True}
    config = PlotConfig.model_validate({"plan": PLAN, "transform": "x", "params": {"hidden": hidden}})
    assert choices_of(config, {"hidden": True}, {}, 200) == Choices()
    assert found.turning == ()
    assert found.figures == 1
    assert why(found) == {
        "cells": "it chooses data",
        "Factor": "any value may be given",
        "long": f"it has 101 positions, and at most {MOST_STEPS} are computed",
    }


def test_params_with_few_values_come_first_where_figures_are_short() -> None:
    params = {
        "long": {"default": 1, "control": {"min": 1, "max": 20}},
        "on": {"default": False},
        "color": {"default": "a", "control": {"options": ["a", "b", "c"]}},
    }
    found = chosen(10, **params)
    assert [*values(found)] == ["on", "color"]
    assert why(found) == {"long": "with its 20 values there would be more than 10 figures"}
    assert why(chosen(1, **params)) == {"long": "", "on": "", "color": ""}


def test_a_value_that_is_not_among_the_choices_is_shown_first() -> None:
    found = chosen(values={"color": "z"}, color={"default": "a", "control": {"options": ["a", "b"]}})
    assert values(found)["color"][found.first] == "z"
