"""Each control: the widget that is built for what was decided, and values that keep their types both ways."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import pytest

from workbench.notebook.fields import FIELDS, NONE, Field, field
from workbench.notebook.panel import ControlPanel
from workbench.recipe.controls import WIDGETS, decide
from workbench.recipe.params import Param


def param(default: Any, kind: str = "view", **control: Any) -> Param:
    return Param.model_validate({"kind": kind, "default": default, "control": control})


class Held:
    """A field of a param, and what it reported."""

    def __init__(self, default: Any, options: list[Any] | None = None, value: Any = None, **control: Any) -> None:
        self.param = param(default, **control)
        choices = None if options is None else [{"value": one, "label": None} for one in options]
        self.told = 0
        self.field: Field = field(self.decided(choices, default if value is None else value), self.heard)

    def decided(self, choices: list[dict[str, Any]] | None, value: Any) -> dict[str, Any]:
        return decide("p", self.param, choices, value)

    def heard(self) -> None:
        self.told += 1


LIVE = {"optionsFrom": {"step": "cells", "value": "id"}}
TABLE = [
    ("toggle_buttons", "b", {"options": ["a", "b"]}, widgets.ToggleButtons),
    ("dropdown", 3, {"options": [1, 2, 3, 4, 5]}, widgets.Dropdown),
    ("combobox", 7, {"options": list(range(60))}, widgets.Combobox),
    ("toggle_multiple", ["a"], {"options": ["a", "b"]}, widgets.Box),
    ("select_multiple", ["a"], {"options": [*"abcdefg"]}, widgets.SelectMultiple),
    ("filtered_select_multiple", [1], {"options": list(range(20))}, widgets.SelectMultiple),
    ("checkbox", True, {}, widgets.Checkbox),
    ("int_slider", 3, {"min": 0, "max": 9}, widgets.IntSlider),
    ("float_slider", 0.5, {"min": 0.0, "max": 1.0}, widgets.FloatSlider),
    ("bounded_int", 3, {"min": 0, "max": 10**6}, widgets.BoundedIntText),
    ("bounded_float", 3.5, {"min": 0.0, "max": 1e6, "step": 0.5}, widgets.BoundedFloatText),
    ("int", 3, {}, widgets.IntText),
    ("float", 3.5, {"min": 0.0}, widgets.FloatText),
    ("int_range_slider", [2, 4], {"min": 0, "max": 9}, widgets.IntRangeSlider),
    ("float_range_slider", [0.25, 0.5], {"min": 0.0, "max": 1.0}, widgets.FloatRangeSlider),
    ("optional_number", None, {"min": 0.0}, widgets.FloatText),
    ("date", "2026-02-03", {}, widgets.DatePicker),
    ("datetime", "2026-02-03T10:30:00Z", {}, widgets.NaiveDatetimePicker),
    ("text", "words", {}, widgets.Text),
    ("textarea", "two\nlines", {}, widgets.Textarea),
    ("json", {"a": [1, None]}, {}, widgets.Text),
]


@pytest.mark.parametrize(("kind", "default", "control", "made"), TABLE, ids=[row[0] for row in TABLE])
def test_every_kind_is_built_and_gives_its_value_back(
    kind: str, default: Any, control: dict[str, Any], made: type
) -> None:
    held = Held(default, **control)
    assert held.field.decided["widget"] == kind
    assert type(held.field.main) is made
    assert held.field.value == default
    assert type(held.field.value) is type(default)
    shown = getattr(held.field.main, "children", [held.field.main])
    assert all(one.tooltip for one in shown), "without a text the page shows 'null'"
    assert held.told == 0


def test_every_kind_that_can_be_decided_has_a_field() -> None:
    assert set(FIELDS) == set(WIDGETS)
    assert {row[0] for row in TABLE} == set(FIELDS)


def test_equal_choices_of_different_types_are_told_apart() -> None:
    held = Held("1", options=["1", 1, True, 1.5])
    assert held.field.value == "1"
    seen = []
    for place in (1, 2, 3, 0):
        held.field.main.index = place
        seen.append(held.field.value)
    assert [type(value) for value in seen] == [int, bool, float, str]
    assert seen == [1, True, 1.5, "1"]
    assert held.told == 4


def test_new_choices_keep_the_value_and_tell_nobody() -> None:
    for default in ("c", ["c"]):
        held = Held(default, options=["a", "b", "c"], **LIVE)
        held.field.show(held.decided([{"value": one, "label": None} for one in "xc"], default))
        assert held.field.value == default
        assert held.told == 0


def test_a_value_that_is_no_choice_stays_and_says_so() -> None:
    held = Held("gone", options=["a", "b", "c", "d", "e"], **LIVE)
    assert held.field.value == "gone"
    assert held.field.main.label == "gone (not available)"


def test_no_choices_say_which_step_gave_no_rows() -> None:
    for default in ("a", ["a"]):
        held = Held(default, options=[], **LIVE)
        assert held.field.main.disabled
        assert "there are no rows in cells" in held.field.note.value


def test_nothing_chosen_is_a_choice_where_it_is_allowed() -> None:
    held = Held(None, options=["a", "b", "c", "d", "e"], **LIVE)
    assert held.field.value is None
    assert held.field.main.label == NONE
    held.field.main.index = 2
    assert held.field.value == "b"
    held.field.main.index = 0
    assert held.field.value is None


def test_the_search_field_keeps_the_last_choice_for_unknown_text() -> None:
    held = Held(7, options=[*range(60)])
    held.field.main.value = "no such"
    assert held.told == 0
    assert held.field.value == 7
    assert "&#x27;" not in held.field.note.value
    assert "'no such' is not among the choices; '7' stays chosen." in held.field.note.value
    held.field.main.value = "42"
    assert held.told == 1
    assert held.field.value == 42
    assert held.field.note.value == ""


def test_a_filter_hides_choices_and_keeps_what_is_chosen() -> None:
    held = Held([3, 4], options=[*range(40)])
    held.field.filter.value = "1"
    assert held.told == 0
    assert held.field.value == [3, 4]
    assert held.field.main.options == tuple(str(n) for n in range(40) if "1" in str(n))
    held.field.main.index = (0,)
    assert held.field.value == [1, 3, 4]
    held.field.all.click()
    assert held.field.value == sorted({3, 4} | {n for n in range(40) if "1" in str(n)})
    held.field.none.click()
    assert held.field.value == [3, 4]
    held.field.filter.value = ""
    assert held.field.main.index == (3, 4)
    assert held.told == 3
    assert held.field.count.value == "2 of 40 chosen"


def test_a_number_beyond_its_only_bound_is_brought_back_and_said() -> None:
    held = Held(1.5, min=0.0)
    held.field.main.value = -2.0
    assert held.field.value == 0.0
    assert "the least is 0.0" in held.field.note.value
    assert held.told == 1


def test_an_optional_number_is_null_until_it_is_wanted() -> None:
    held = Held(None, min=1.0, max=5.0)
    assert held.field.main.disabled
    held.field.auto.value = False
    assert held.field.value == 1.0
    held.field.main.value = 9.0
    assert held.told == 1, "a value that would be refused is not sent"
    assert "from 1.0 to 5.0" in held.field.note.value
    held.field.main.value = 2.0
    assert held.field.value == 2.0
    held.field.auto.value = True
    assert held.field.value is None


def test_times_keep_how_they_were_written() -> None:
    from datetime import date, datetime

    held = Held("2026-02-03T10:30:00+02:00")
    assert held.field.main.value == datetime(2026, 2, 3, 8, 30)
    assert held.field.value == "2026-02-03T10:30:00+02:00"
    held.field.main.value = datetime(2026, 2, 3, 9, 0)
    assert held.field.value == "2026-02-03T09:00:00Z"
    local = Held("2026-02-03T10:30:00")
    local.field.main.value = datetime(2026, 2, 3, 9, 0)
    assert local.field.value == "2026-02-03T09:00:00"
    day = Held("2026-02-03")
    day.field.main.value = date(2026, 3, 1)
    assert day.field.value == "2026-03-01"
    assert Held("2026-02-31").field.decided["widget"] == "text"


def test_json_is_read_when_it_is_json() -> None:
    held = Held({"a": 1})
    held.field.main.value = "{a: 1}"
    assert held.told == 0
    assert held.field.value == {"a": 1}
    assert "This is not JSON" in held.field.note.value
    held.field.main.value = "[1, NaN]"
    assert held.told == 0
    held.field.main.value = "[1, null]"
    assert held.field.value == [1, None]


def test_a_hint_is_text_and_never_markup() -> None:
    held = Held("a")
    held.field.hint("<img src=x> & more", wrong=True)
    assert held.field.note.value == "<span>&lt;img src=x&gt; &amp; more</span>"


# The panel


def test_data_and_view_params_stand_apart_and_hidden_ones_nowhere() -> None:
    heard: list[tuple[str, Any, float]] = []
    panel = ControlPanel(lambda *told: heard.append(told))
    params = {
        "batch": param("A", "data", options=["A", "B"]),
        "title": param("words"),
        "inner": Param.model_validate({"kind": "view", "default": 1}),
    }
    panel.show(params, {"batch": "B", "title": "x", "inner": 1}, {})
    data, look = panel.widget.children
    assert "wb-data" in data._dom_classes
    assert "wb-look" in look._dom_classes
    assert list(panel.fields) == ["batch", "title"]
    panel.fields["batch"].main.index = 0
    panel.fields["title"].main.value = "y"
    assert heard == [("batch", "A", 0.0), ("title", "y", 0.15)]


def test_a_param_keeps_its_widget_unless_another_kind_is_needed() -> None:
    panel = ControlPanel(lambda *told: None)
    live = {"cell": param("a", "data", **LIVE)}

    def show(options: list[str]) -> Field:
        panel.show(live, {"cell": "a"}, {"cell": [{"value": one, "label": None} for one in options]})
        return panel.fields["cell"]

    few = show(["a", "b"])
    assert show(["a", "c"]) is few
    many = show([f"cell {n}" for n in range(30)] + ["a"])
    assert many is not few
    assert many.decided["widget"] == "dropdown"
    assert many.value == "a"


def test_what_is_wrong_with_a_value_stands_below_its_control() -> None:
    panel = ControlPanel(lambda *told: None)
    panel.show({"a": param(1, min=0), "b": param("x")}, {"a": 1, "b": "x"}, {})
    panel.mark({"a": "Too small."})
    assert "Too small." in panel.fields["a"].note.value
    assert "wb-wrong" in panel.fields["a"].widget._dom_classes
    panel.mark({})
    assert panel.fields["a"].note.value == ""
    assert "wb-wrong" not in panel.fields["a"].widget._dom_classes


def test_a_press_lets_one_of_a_few_go_and_leaves_the_others() -> None:
    held = Held([1, True], options=["1", 1, True])
    assert [button.value for button in held.field.main.children] == [False, True, True]
    held.field.main.children[1].value = False
    assert (held.field.value, held.told) == ([True], 1)
    assert held.field.value[0] is True
    held.field.main.children[2].value = False
    assert held.field.value == []
    held.field.show(held.decided([{"value": "1", "label": "one"}, {"value": 2, "label": None}], ["1"]))
    assert [button.description for button in held.field.main.children] == ["one", "2"]
    assert (held.field.value, held.told) == (["1"], 2)


def test_a_part_of_a_name_chooses_the_only_one_that_has_it_else_names_some() -> None:
    names = [f"cell {n}_{kind}" for n in range(30) for kind in ("ageing", "RPT")]
    held = Held(names[0], options=names)
    held.field.main.value = "rpt 17"
    assert (held.field.value, held.field.main.value, held.told) == ("cell 17_RPT", "cell 17_RPT", 1)
    held.field.main.value = "_RPT"
    assert (held.field.value, held.told) == ("cell 17_RPT", 1)
    assert "fits 30 choices: cell 0_RPT, cell 1_RPT, cell 2_RPT and 27 more" in held.field.note.value
    held.field.main.value = "pouch"
    assert "not among the choices" in held.field.note.value
    assert (held.field.value, held.told) == ("cell 17_RPT", 1)


def test_no_number_is_shown_where_the_script_decides() -> None:
    held = Held(None, min=1.0)
    assert "wb-auto" in held.field.widget._dom_classes
    held.field.auto.value = False
    assert "wb-auto" not in held.field.widget._dom_classes
    held.field.auto.value = True
    assert "wb-auto" in held.field.widget._dom_classes
    assert held.field.value is None
