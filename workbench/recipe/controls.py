"""The kinds of controls: when a param gets each, what it is drawn with, and how its value is read from text.

Each kind is declared once, in ``KINDS``; the first that fits a param is its control. Notebooks and the web page only
draw what is decided here: ``workbench/notebook/fields.py`` has a class for each widget.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import EllipsisType
from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from ..messages import counted
from .jsontext import read_json, show
from .params import Control, Param
from .strict import is_number
from .values import fixed_options, same_key

MOST_SLIDER_STEPS = 1000
WAIT_MS = 150
"""How long a control that is typed into waits for the next letter."""
HIDDEN = "hidden"
"""The widget of a param without a control."""


class Shown(TypedDict):
    """A choice as it is shown; one that is chosen and no longer there is not ``available``."""

    value: JsonValue
    label: str
    available: bool


class Drawing(TypedDict):
    """What a kind says of a param: its ``widget``, and what that is drawn with."""

    widget: str
    options: NotRequired[list[Shown]]
    disabled: NotRequired[bool]
    note: NotRequired[str | None]
    placeholder: NotRequired[str]
    rows: NotRequired[int]
    all_none: NotRequired[bool]
    integer: NotRequired[bool]
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    step: NotRequired[float]
    format: NotRequired[str]


class Scale(TypedDict):
    """Bounds, step and format of a number."""

    integer: bool
    min: float | None
    max: float | None
    step: float
    format: str


class Decided(Drawing):
    """All that draws the control of a param. Numbers also have ``min``, ``max``, ``step``, ``format`` and ``integer``;
    choices have ``options``, ``disabled`` and ``note``. The widget ``hidden`` is not drawn."""

    name: str
    kind: str
    label: str
    description: str
    value: JsonValue
    multiple: bool
    nullable: bool
    debounce_ms: int


@dataclass(frozen=True)
class Asked:
    """A param as the kinds see it; ``choices`` is None where anything may be given."""

    default: JsonValue
    value: JsonValue
    control: Control
    choices: Sequence[Mapping[str, JsonValue]] | None = None


def _as_it_is(text: str, default: JsonValue) -> JsonValue:
    return text


@dataclass(frozen=True)
class Kind:
    """A kind of control.

    Parameters
    ----------
    widgets : the widgets that ``draw`` may name.
    draw : what draws the control of a param, None if it is not for this one.
    read : the value that a text stands for, from the text and the default; ValueError says what is wanted.
    waits : the widgets that wait for the next letter before they give a value.
    """

    widgets: tuple[str, ...]
    draw: Callable[[Asked], Drawing | None]
    read: Callable[[str, JsonValue], JsonValue] = _as_it_is
    waits: tuple[str, ...] = ()


def decide(
    name: str,
    param: Param,
    options: Sequence[Mapping[str, JsonValue]] | None = None,
    value: JsonValue | EllipsisType = ...,
) -> Decided:
    """What draws the control of a param.

    Parameters
    ----------
    name, param : the param.
    options : its choices as ``{"value", "label"}``; needed for live ones, else the fixed options are taken.
    value : the present value, the default if not given.

    Returns
    -------
    dict
        ``widget`` (one of ``WIDGETS``), ``name``, ``kind`` (data or view), ``label``, ``description`` (never
        empty), ``value``, ``multiple``, ``nullable`` (null can be chosen) and ``debounce_ms``. With choices:
        ``options`` (``{"value", "label", "available"}`` with labels that differ), ``disabled`` and ``note``.
        With numbers: ``min``, ``max``, ``step`` and ``format``; a bound that is absent is null.
    """
    control = param.control or Control()
    asked = Asked(
        param.default,
        param.default if isinstance(value, EllipsisType) else value,
        control,
        _choices_of(param, options),
    )
    drawing: Drawing = {"widget": HIDDEN}
    waits = 0
    if param.control is not None:
        kind, drawing = _fitting(asked)
        waits = WAIT_MS if drawing["widget"] in kind.waits else 0
    label = control.label or name
    return {
        "name": name,
        "kind": param.kind,
        "label": label,
        "description": control.description or label,
        "value": asked.value,
        "multiple": param.multiple,
        "nullable": param.default is None,
        "debounce_ms": waits,
        **drawing,
    }


def table(
    params: Mapping[str, Param],
    values: Mapping[str, JsonValue],
    options: Mapping[str, Iterable[Mapping[str, JsonValue]]],
) -> list[Decided]:
    """What draws the controls of all params, in their order, with their present values and choices. A param without a
    control has the widget ``hidden``."""
    live = {name: [*choices] for name, choices in options.items()}
    return [decide(name, one, live.get(name), values.get(name, one.default)) for name, one in params.items()]


def read_text(param: Param, text: str) -> JsonValue:
    """The value that a text stands for, by the control of the param; of several values, of one of them.

    Raises
    ------
    ValueError, Invalid
        If the text does not stand for one; says what is wanted.
    """
    default = param.default
    if isinstance(default, list):
        default = next((item for item in default if item is not None), None)
    kind, _ = _fitting(Asked(default, default, param.control or Control()))
    return kind.read(text, default)


def _fitting(asked: Asked) -> tuple[Kind, Drawing]:
    for kind in KINDS:
        drawing = kind.draw(asked)
        if drawing is not None:
            return kind, drawing
    raise TypeError(f"no control fits the default {asked.default!r}")


def _choices_of(
    param: Param, options: Sequence[Mapping[str, JsonValue]] | None
) -> Sequence[Mapping[str, JsonValue]] | None:
    choices = list(options) if options is not None else fixed_options(param)
    live = param.control is not None and param.control.options_from is not None
    return [] if choices is None and live else choices


# Choices


def _choices(asked: Asked) -> Drawing | None:
    choices = asked.choices
    if choices is None:
        return None
    known = {same_key(choice["value"]) for choice in choices}
    chosen = asked.value if isinstance(asked.value, list) else [asked.value]
    absent = [item for item in chosen if item is not None and same_key(item) not in known]
    shown: list[Shown] = [
        {"value": item, "label": f"{text_of(item)} (not available)", "available": False} for item in absent
    ]
    for choice, label in zip(choices, _labels(choices), strict=True):
        shown.append({"value": choice["value"], "label": label, "available": True})
    live, multiple = asked.control.options_from, isinstance(asked.default, list)
    why = "" if live is None else f": there are no rows in {live.step}"
    made: Drawing = {
        "widget": _choice_widget(multiple, shown),
        "options": shown,
        "disabled": not choices,
        "note": None if choices else f"Nothing to choose from{why}.",
    }
    if made["widget"] == "combobox":
        made["placeholder"] = f"{counted(len(choices), 'choice')}, type to search"
    if multiple:
        made["rows"] = min(max(len(shown), 1), 8)
        made["all_none"] = len(shown) >= 4
    return made


def _choice_widget(multiple: bool, shown: Sequence[Shown]) -> str:
    lengths = [len(choice["label"]) for choice in shown]
    short = max(lengths, default=0) <= 14 and sum(lengths) <= 48
    if multiple:
        if short and 1 <= len(shown) <= 6:
            return "toggle_multiple"
        return "select_multiple" if len(shown) <= 8 else "filtered_select_multiple"
    if short and 2 <= len(shown) <= 4:
        return "toggle_buttons"
    return "dropdown" if len(shown) <= 40 else "combobox"


def _labels(choices: Sequence[Mapping[str, JsonValue]]) -> list[str]:
    """The label of each choice; where several share one, the value stands behind it."""
    labels = [text_of(c["value"]) if c.get("label") is None else str(c["label"]) for c in choices]
    made: list[str] = []
    for choice, label in zip(choices, labels, strict=True):
        text = f"{label} ({text_of(choice['value'])})" if labels.count(label) > 1 else label
        number = 2
        unique = text
        while unique in made:
            unique = f"{text} [{number}]"
            number += 1
        made.append(unique)
    return made


def text_of(value: JsonValue) -> str:
    """A value as a label: texts as they are, others as in JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Switches and numbers


def _switch(asked: Asked) -> Drawing | None:
    return {"widget": "checkbox"} if isinstance(asked.default, bool) else None


def _true_or_false(text: str, default: JsonValue) -> bool:
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    raise ValueError(f"is true or false, not {show(text)}.")


def _number(asked: Asked) -> Drawing | None:
    if not is_number(asked.default):
        return None
    scale = _scale(asked.default, asked.control)
    which = "int" if scale["integer"] else "float"
    low, high = scale["min"], scale["max"]
    if low is None or high is None:
        return _scaled(which, scale)
    slides = high > low and (high - low) / scale["step"] <= MOST_SLIDER_STEPS
    return _scaled(f"{which}_slider" if slides else f"bounded_{which}", scale)


def _read_number(text: str, default: JsonValue) -> int | float:
    for read in (float,) if isinstance(default, float) else (int, float):
        try:
            number = read(text)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    raise ValueError(f"needs a number, not {show(text)}.")


def _optional(asked: Asked) -> Drawing | None:
    control = asked.control
    if asked.default is not None or (control.min, control.max, control.step) == (None, None, None):
        return None
    # Without a default nothing says that it is a whole number, save a whole step.
    return _scaled("optional_number", _scale(0.0 if control.step is None else 0, control))


def _range(asked: Asked) -> Drawing | None:
    control = asked.control
    ends = _ends(asked.default)
    if ends is None or control.min is None or control.max is None:
        return None
    if asked.value and _ends(asked.value) is None:
        return None  # a list takes other numbers too, and two ends cannot show them
    low, high = ends
    scale = _scale(low if isinstance(low, float) else high, control)
    return _scaled("int_range_slider" if scale["integer"] else "float_range_slider", scale)


def _ends(value: JsonValue) -> tuple[int | float, int | float] | None:
    """The lower and the higher end, if the value is a range."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    low, high = value
    return (low, high) if is_number(low) and is_number(high) and low <= high else None


def _scaled(widget: str, scale: Scale) -> Drawing:
    return {
        "widget": widget,
        "integer": scale["integer"],
        "min": scale["min"],
        "max": scale["max"],
        "step": scale["step"],
        "format": scale["format"],
    }


def _scale(default: int | float, control: Control) -> Scale:
    """Bounds, step and format; whole numbers only if default, bounds and step all are."""
    given = [number for number in (control.min, control.max, control.step) if number is not None]
    integer = isinstance(default, int) and all(float(number).is_integer() for number in given)
    step = control.step if control.step is not None and control.step > 0 else None
    if integer:
        low, high = (None if bound is None else int(bound) for bound in (control.min, control.max))
        return {"integer": True, "min": low, "max": high, "step": int(step or 1), "format": "d"}
    if step is None:
        step = _nice_step(control.min, control.max)
    return {
        "integer": False,
        "min": control.min,
        "max": control.max,
        "step": step,
        "format": f".{_decimals(step)}f",
    }


def _nice_step(low: float | None, high: float | None) -> float:
    """About a hundredth of the range, rounded to 1, 2 or 5 times a power of ten; 0.1 without a range."""
    if low is None or high is None or not 0 < high - low < math.inf:
        return 0.1
    rough = (high - low) / 100
    power = 10.0 ** math.floor(math.log10(rough))
    if power == 0:
        return rough
    leading = min((1, 2, 5, 10), key=lambda digit: abs(digit - rough / power))
    return float(f"{leading * power:.6g}")


def _decimals(step: float) -> int:
    return next((n for n in range(10) if abs(round(step, n) - step) <= 1e-9 * abs(step)), 10)


# Texts, times and JSON


def _json(asked: Asked) -> Drawing | None:
    return {"widget": "json"} if isinstance(asked.default, list | dict) else None


def _read_json(text: str, default: JsonValue) -> JsonValue:
    return read_json(text, ())


def _time(asked: Asked) -> Drawing | None:
    widget = _time_widget(asked.default) if isinstance(asked.default, str) else None
    return None if widget is None else {"widget": widget}


def _time_widget(text: str) -> str | None:
    """``date`` or ``datetime`` for an ISO text that is a real one; an impossible date stays text."""
    try:
        if len(text) == 10:
            date.fromisoformat(text)
            return "date" if text[4:5] == "-" and text[7:8] == "-" else None
        if len(text) >= 16 and text[4] == "-" and text[10] in "T ":
            datetime.fromisoformat(text)
            return "datetime"
    except ValueError:
        return None
    return None


def _text(asked: Asked) -> Drawing | None:
    default = asked.default
    long = isinstance(default, str) and (len(default) > 80 or "\n" in default)
    return {"widget": "textarea" if long else "text"}


_SEARCHED = ("combobox", "toggle_multiple", "select_multiple", "filtered_select_multiple")
KINDS: tuple[Kind, ...] = (
    Kind(("toggle_buttons", "dropdown", *_SEARCHED), _choices, waits=_SEARCHED),
    Kind(("checkbox",), _switch, _true_or_false),
    Kind(
        ("int_slider", "float_slider", "bounded_int", "bounded_float", "int", "float"),
        _number,
        _read_number,
        waits=("int", "float", "bounded_int", "bounded_float"),
    ),
    Kind(("optional_number",), _optional, _read_number, waits=("optional_number",)),
    Kind(("int_range_slider", "float_range_slider"), _range),
    Kind(("json",), _json, _read_json, waits=("json",)),
    Kind(("date", "datetime"), _time),
    Kind(("text", "textarea"), _text, waits=("text", "textarea")),
)
"""The kinds of controls, in the order in which they are asked; the last fits every param."""
WIDGETS: tuple[str, ...] = tuple(widget for kind in KINDS for widget in kind.widgets)
"""The name of every widget that can be decided for a param with a control."""
