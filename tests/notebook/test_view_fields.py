"""Each control: the widget that is built for what was decided, and values that keep their types both ways."""

from __future__ import annotations

import re
from typing import Any

import ipywidgets as widgets
import pytest

from workbench.notebook.fields import FIELDS, NONE, Field, field
from workbench.notebook.number_text import NotANumber, NumberText, read_number, stepped
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
    ("bounded_int", 3, {"min": 0, "max": 10**6}, NumberText),
    ("bounded_float", 3.5, {"min": 0.0, "max": 1e6, "step": 0.5}, NumberText),
    ("int", 3, {}, NumberText),
    ("float", 3.5, {"min": 0.0}, NumberText),
    ("int_range_slider", [2, 4], {"min": 0, "max": 9}, widgets.IntRangeSlider),
    ("float_range_slider", [0.25, 0.5], {"min": 0.0, "max": 1.0}, widgets.FloatRangeSlider),
    ("optional_number", None, {"min": 0.0}, NumberText),
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
    assert isinstance(held.field.main, made)
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
    held.field.main.text = "-2"
    assert held.field.value == 0.0
    assert "the least is 0.0" in held.field.note.value
    assert held.told == 1


def test_an_optional_number_is_null_until_it_is_wanted() -> None:
    held = Held(None, min=1.0, max=5.0)
    assert held.field.main.disabled
    held.field.auto.value = False
    assert held.field.value == 1.0
    held.field.main.text = "9"
    assert held.told == 1, "a value that would be refused is not sent"
    assert "from 1.0 to 5.0" in held.field.note.value
    held.field.main.text = "2"
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
    assert held.field.main.text == ""
    held.field.auto.value = False
    assert held.field.main.text == "1.0"
    held.field.main.text = "2.5"
    held.field.auto.value = True
    assert held.field.main.text == ""
    assert held.field.value is None
    held.field.auto.value = False
    assert held.field.value == 2.5, "the last number comes back"
    held.field.main.text = " "
    assert (held.field.value, held.field.auto.value) == (None, True), "an emptied field is auto"


# What is typed


@pytest.mark.parametrize(
    ("text", "whole", "number"),
    [
        ("7", True, 7),
        ("1e3", True, 1000),
        ("7.0", True, 7),
        (" +12 ", True, 12),
        ("\u22125", True, -5),
        ("1 000", True, 1000),
        ("1\u00a0234\u00a0567", True, 1_234_567),
        ("9007199254740993", True, 9007199254740993),
        ("7.5", False, 7.5),
        ("7,5", False, 7.5),
        ("0,125", False, 0.125),
        ("1234,567", False, 1234.567),
        ("2,5e-3", False, 0.0025),
        (".5", False, 0.5),
        ("5.", False, 5.0),
        ("3", False, 3.0),
    ],
)
def test_a_typed_number_is_read_as_it_was_meant(text: str, whole: bool, number: float) -> None:
    found = read_number(text, whole=whole)
    assert (found, type(found)) == (number, type(number))


@pytest.mark.parametrize(
    ("text", "whole", "why"),
    [
        ("7.5", True, "'7.5' is not a whole number"),
        ("7,5", True, "'7,5' is not a whole number"),
        ("1e-3", True, "not a whole number"),
        ("1,500", False, "can mean 1.500 or 1500. Type one of them"),
        ("-12,000", True, "can mean -12.000 or -12000"),
        ("1,234,567", False, "is not a number"),
        ("1.234,5", False, "is not a number"),
        ("5 mA", False, "'5 mA' is not a number"),
        ("1 2", False, "is not a number"),
        ("1_000", False, "is not a number"),
        ("nan", False, "is not a number"),
        ("inf", False, "is not a number"),
        ("1e999", False, "too large"),
        ("\u0663", True, "is not a number"),
        ("", False, "empty"),
        (" ", True, "empty"),
        (".", False, "is not a number"),
        ("e5", False, "is not a number"),
    ],
)
def test_a_text_that_is_not_the_number_is_refused(text: str, whole: bool, why: str) -> None:
    with pytest.raises(NotANumber, match=re.escape(why)):
        read_number(text, whole=whole)


def test_advice_in_a_refusal_can_be_followed() -> None:
    with pytest.raises(NotANumber) as refused:
        read_number("1,500", whole=False)
    point, plain = re.findall(r"mean (\S+) or (\d+)", str(refused.value))[0]
    assert (read_number(point, whole=False), read_number(plain, whole=False)) == (1.5, 1500.0)


def test_steps_have_no_binary_rounding() -> None:
    assert stepped(0.1, 0.2, 1) == 0.3
    assert stepped(3, 2, -10) == -17
    assert type(stepped(3, 1, 1)) is int


NUMBERS = [
    (7, {}),
    (7, {"min": 0, "max": 10**6}),
    (7, {"min": 0, "max": 9}),
    (None, {"min": 0, "step": 1}),
]


@pytest.mark.parametrize(("default", "control"), NUMBERS, ids=["number", "bounded", "slider", "optional"])
def test_a_field_of_a_whole_number_drops_no_character(default: Any, control: dict[str, Any]) -> None:
    held = Held(default, value=7, **control)
    for text in ("7.5", "7,5", "7 5"):
        held.field.typed.widget.text = text
        assert (held.field.value, held.told) == (7, 0)
        assert f"'{text}' is not a" in held.field.note.value
        assert "7 stays in use" in held.field.note.value
        assert "wb-wrong" in held.field.widget._dom_classes
    held.field.typed.widget.text = "8e0"
    assert (held.field.value, held.field.typed.widget.text, held.told) == (8, "8", 1)
    assert type(held.field.value) is int
    assert held.field.note.value == ""


def test_what_the_control_did_stays_until_the_value_changes() -> None:
    heard: list[Any] = []
    panel = ControlPanel(lambda *told: heard.append(told))
    params = {"a": param(1, min=0), "b": param("x")}
    panel.show(params, {"a": 1, "b": "x"}, {})
    panel.fields["a"].main.text = "-3"
    assert heard == [("a", 0, 0.15)]
    panel.mark({})
    panel.show(params, {"a": 0, "b": "x"}, {})
    assert "-3 is outside the range; the least is 0" in panel.fields["a"].note.value
    panel.fields["a"].main.text = "2.5"
    panel.mark({})
    panel.show(params, {"a": 0, "b": "y"}, {})
    assert panel.fields["a"].main.text == "2.5", "a refused text stays, with the reason"
    assert "not a whole number" in panel.fields["a"].note.value
    panel.show(params, {"a": 4, "b": "y"}, {})
    assert (panel.fields["a"].main.text, panel.fields["a"].note.value) == ("4", "")


def test_a_slider_shows_every_digit_and_takes_a_typed_number() -> None:
    held = Held(0.333, min=0.0, max=1.0, step=0.05)
    assert held.field.typed.widget.text == "0.333"
    assert held.field.value == 0.333
    held.field.typed.widget.text = "0,4"
    assert (held.field.value, held.field.main.value, held.told) == (0.4, 0.4, 1)
    held.field.main.value = 0.65
    assert (held.field.value, held.field.typed.widget.text, held.told) == (0.65, "0.65", 2)
    held.field.typed.widget.text = "3"
    assert (held.field.value, held.field.main.value) == (1.0, 1.0)
    assert "3.0 is outside the range; the most is 1.0" in held.field.note.value


def test_the_ends_of_a_range_can_be_typed() -> None:
    held = Held([2, 8], min=0, max=10)
    low, high = (end.widget for end in held.field.ends)
    low.text = "2.5"
    assert (held.field.value, held.told) == ([2, 8], 0)
    assert "not a whole number" in held.field.note.value
    low.text = "5"
    assert (held.field.value, held.field.main.value, held.told) == ([5, 8], (5, 8), 1)
    high.text = "4"
    assert (held.field.value, held.told) == ([5, 8], 1)
    assert "5 is more than 4. 5 to 8 stays in use" in held.field.note.value
    low.text = "1"
    assert (held.field.value, held.told) == ([1, 4], 2), "the other end is still as it was typed"
    held.field.main.value = (3, 9)
    assert (held.field.value, low.text, high.text) == ([3, 9], "3", "9")


def test_a_view_shows_a_list_that_is_not_a_range_and_the_next_range_again() -> None:
    panel = ControlPanel(lambda *_: None)
    params = {"p": param([1, 5], min=0, max=10)}
    for value, kind in (
        ([1, 5], widgets.IntRangeSlider),
        ([5, 1], widgets.Text),
        ([2, 3], widgets.IntRangeSlider),
    ):
        panel.show(params, {"p": value}, {})
        held = panel.fields["p"]
        assert (type(held.main), held.value) == (kind, value)


def test_arrow_keys_go_on_by_steps() -> None:
    held = Held(0.1, min=0.0, step=0.2)
    held.field.typed._keyed(None, {"kind": "step", "by": 1, "text": "0.1"}, [])
    assert (held.field.value, held.told) == (0.3, 1)
    held.field.typed._keyed(None, {"kind": "step", "by": -10, "text": "0.3"}, [])
    assert held.field.value == 0.0


@pytest.mark.parametrize("default", ["2026-02-03", "2026-02-03T10:30:00+02:00"])
def test_a_cleared_date_keeps_the_value(default: str) -> None:
    held = Held(default)
    held.field.main.value = None
    assert (held.field.value, held.told) == (default, 0)
    assert f"no whole date in the field. {default} stays in use" in held.field.note.value
    held.field.show(held.decided(None, default))
    assert held.field.main.value is None, "a half typed date is left alone"


def test_a_cleared_date_keeps_the_last_one_that_was_chosen() -> None:
    from datetime import date

    held = Held("2026-02-03")
    held.field.main.value = date(2026, 3, 1)
    held.field.main.value = None
    assert (held.field.value, held.told) == ("2026-03-01", 1)


@pytest.mark.parametrize(
    ("default", "control"),
    [
        (True, {}),
        (3, {}),
        (3, {"min": 0, "max": 9}),
        (0.5, {"min": 0.0, "max": 1.0}),
        ([2, 4], {"min": 0, "max": 9}),
        ("2026-02-03", {}),
    ],
)
def test_null_is_not_shown_as_a_value(default: Any, control: dict[str, Any]) -> None:
    held = Held(default, **control)
    held.field.show(held.decided(None, None))
    assert "No value is chosen." in held.field.note.value
    assert held.told == 0


def test_blanks_are_no_text_where_nothing_can_be_chosen() -> None:
    held = Held(None)
    held.field.main.value = "  "
    assert (held.field.value, held.field.main.value) == (None, "")
    kept = Held("a")
    kept.field.main.value = "  "
    assert kept.field.value == "  "
    assert "only blanks" in kept.field.note.value


def test_a_number_in_a_text_field_stays_a_number_until_it_is_changed() -> None:
    held = Held(None, value=5)
    assert held.field.value == 5
    held.field.main.value = "6"
    assert held.field.value == "6"


def test_an_emptied_search_chooses_nothing_where_that_is_a_choice() -> None:
    names = [f"cell {n}" for n in range(60)]
    held = Held(None, options=names, value="cell 4")
    held.field.main.value = ""
    assert (held.field.value, held.told) == (None, 1)
    strict = Held("cell 4", options=names)
    strict.field.main.value = ""
    assert (strict.field.value, strict.told) == ("cell 4", 0)
    assert "The field is empty; 'cell 4' stays chosen." in strict.field.note.value


def test_names_that_differ_in_case_can_both_be_chosen() -> None:
    names = [*(f"cell {n}" for n in range(60)), "Cell 7"]
    held = Held("cell 1", options=names)
    held.field.main.value = "Cell 7"
    assert held.field.value == "Cell 7"
    held.field.main.value = "cell 7"
    assert held.field.value == "cell 7"


def test_an_emptied_choice_of_several_is_an_empty_list() -> None:
    for options in (["a", "b"], [*"abcdefgh"], [f"a long name {n}" for n in range(30)]):
        held = Held(options[:1], options=options)
        if held.field.decided["widget"] == "toggle_multiple":
            held.field.main.children[0].value = False
        else:
            held.field.main.index = ()
        assert (held.field.value, held.told) == ([], 1)


def test_json_that_would_lose_something_is_refused() -> None:
    held = Held({"a": 1})
    for text, why in (('{"a": 1, "a": 2}', "stands twice"), ('{"a": 1e999}', ""), ("", "not JSON")):
        held.field.main.value = text
        assert (held.field.value, held.told) == ({"a": 1}, 0)
        assert why in held.field.note.value
        assert "wb-wrong" in held.field.widget._dom_classes
