"""Which control a param gets, as data: notebooks and the web page only draw what is decided here.

``options`` first, then the type of the default, then min, max and step.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, Literal, TypeAlias

from ..phrases import counted
from .params import Control, Param
from .strict import is_number
from .values import fixed_options, same_key

Widget: TypeAlias = Literal[
    "hidden",
    "toggle_buttons",
    "dropdown",
    "combobox",
    "toggle_multiple",
    "select_multiple",
    "filtered_select_multiple",
    "checkbox",
    "int_slider",
    "float_slider",
    "bounded_int",
    "bounded_float",
    "int",
    "float",
    "int_range_slider",
    "float_range_slider",
    "optional_number",
    "date",
    "datetime",
    "text",
    "textarea",
    "json",
]
MOST_SLIDER_STEPS = 1000
DEFAULT: Final[Any] = object()


def decide(
    name: str,
    param: Param,
    options: Sequence[Mapping[str, Any]] | None = None,
    value: Any = DEFAULT,
) -> dict[str, Any]:
    """What draws the control of a param.

    Parameters
    ----------
    name, param : the param.
    options : its choices as ``{"value", "label"}``; needed for live ones, else the fixed options are taken.
    value : the present value, the default if not given.

    Returns
    -------
    dict
        ``widget`` (one of ``Widget``), ``name``, ``kind`` (data or view), ``label``, ``description`` (never
        empty), ``value``, ``multiple``, ``nullable`` (null can be chosen) and ``debounce_ms``. With choices:
        ``options`` (``{"value", "label", "available"}`` with labels that differ), ``disabled`` and ``note``.
        With numbers: ``min``, ``max``, ``step`` and ``format``; a bound that is absent is null.
    """
    control = param.control
    made = _common(name, param, param.default if value is DEFAULT else value)
    if control is None:
        return {**made, "widget": "hidden"}
    choices = list(options) if options is not None else fixed_options(param)
    if choices is None and control.options_from is not None:
        choices = []
    made |= _by_type(param.default, control) if choices is None else _choices(param, choices, made["value"])
    made["debounce_ms"] = 150 if made["widget"] in _TYPED else 0
    return made


_TYPED = frozenset(
    {"text", "textarea", "json", "int", "float", "bounded_int", "bounded_float", "optional_number"}
    | {"combobox", "toggle_multiple", "select_multiple", "filtered_select_multiple"}
)


def _common(name: str, param: Param, value: Any) -> dict[str, Any]:
    control = param.control or Control()
    label = control.label or name
    return {
        "name": name,
        "kind": param.kind,
        "label": label,
        "description": control.description or label,
        "value": value,
        "multiple": param.multiple,
        "nullable": param.default is None,
        "debounce_ms": 0,
    }


def _choices(param: Param, choices: Sequence[Mapping[str, Any]], value: Any) -> dict[str, Any]:
    known = {same_key(choice["value"]) for choice in choices}
    chosen = value if isinstance(value, list) else [value]
    absent = [item for item in chosen if item is not None and same_key(item) not in known]
    labels = _labels(choices)
    shown = [{"value": item, "label": f"{text_of(item)} (not available)", "available": False} for item in absent]
    for choice, label in zip(choices, labels, strict=True):
        shown.append({"value": choice["value"], "label": label, "available": True})
    live = param.control.options_from if param.control else None
    note = None
    made: dict[str, Any]
    if not choices:
        why = "" if live is None else f": there are no rows in {live.step}"
        note = f"Nothing to choose from{why}."
    made = {
        "widget": _choice_widget(param.multiple, shown),
        "options": shown,
        "disabled": not choices,
        "note": note,
    }
    if made["widget"] == "combobox":
        made["placeholder"] = f"{counted(len(choices), 'choice')}, type to search"
    if param.multiple:
        made["rows"] = min(max(len(shown), 1), 8)
        made["all_none"] = len(shown) >= 4
    return made


def _choice_widget(multiple: bool, shown: Sequence[Mapping[str, Any]]) -> Widget:
    lengths = [len(choice["label"]) for choice in shown]
    short = max(lengths, default=0) <= 14 and sum(lengths) <= 48
    if multiple:
        if short and 1 <= len(shown) <= 6:
            return "toggle_multiple"
        return "select_multiple" if len(shown) <= 8 else "filtered_select_multiple"
    if short and 2 <= len(shown) <= 4:
        return "toggle_buttons"
    return "dropdown" if len(shown) <= 40 else "combobox"


def _labels(choices: Sequence[Mapping[str, Any]]) -> list[str]:
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


def text_of(value: Any) -> str:
    """A value as a label: texts as they are, others as in JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _by_type(default: Any, control: Control) -> dict[str, Any]:
    if isinstance(default, bool):
        return {"widget": "checkbox"}
    if is_number(default):
        return _number(default, control)
    if default is None and (control.min, control.max, control.step) != (None, None, None):
        # Without a default nothing says that it is a whole number, save a whole step.
        return {"widget": "optional_number", **_scale(0.0 if control.step is None else 0, control)}
    if isinstance(default, list) and _is_range(default, control):
        scale = _scale(next((item for item in default if isinstance(item, float)), 0), control)
        return {"widget": "int_range_slider" if scale["integer"] else "float_range_slider", **scale}
    if isinstance(default, list | dict):
        return {"widget": "json"}
    if isinstance(default, str) and (time := _time_widget(default)) is not None:
        return {"widget": time}
    long = isinstance(default, str) and (len(default) > 80 or "\n" in default)
    return {"widget": "textarea" if long else "text"}


def _is_range(default: list[Any], control: Control) -> bool:
    both = control.min is not None and control.max is not None
    return both and len(default) == 2 and all(is_number(item) for item in default) and default[0] <= default[1]


def _number(default: int | float, control: Control) -> dict[str, Any]:
    scale = _scale(default, control)
    which = "int" if scale["integer"] else "float"
    if scale["min"] is None or scale["max"] is None:
        return {"widget": which, **scale}
    slides = scale["max"] > scale["min"] and (scale["max"] - scale["min"]) / scale["step"] <= MOST_SLIDER_STEPS
    return {"widget": f"{which}_slider" if slides else f"bounded_{which}", **scale}


def _scale(default: int | float, control: Control) -> dict[str, Any]:
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


def _time_widget(text: str) -> Widget | None:
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
