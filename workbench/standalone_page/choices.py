"""Which params can be turned in a page without a kernel: those of kind view with few values. The others stay fixed."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from ..recipe.controls import Decided, decide, text_of
from ..recipe.plot import PlotConfig
from ..recipe.values import same_key

MOST_STEPS = 25
"""A slider with more positions stays fixed."""
MOST_PARTS = 4
"""Several of more choices than this stay fixed: there are 2 ** n combinations of them."""
_NUMBER = ("int_slider", "float_slider")
_ONE = ("toggle_buttons", "dropdown", "combobox")
_SEVERAL = ("toggle_multiple", "select_multiple", "filtered_select_multiple")


@dataclass(frozen=True)
class Turning:
    """A param that works in the page: its values with their labels, and which of them is shown first."""

    name: str
    label: str
    slider: bool
    values: tuple[JsonValue, ...]
    labels: tuple[str, ...]
    first: int


@dataclass(frozen=True)
class Fixed:
    """A param that stays as it is in the page, and why."""

    label: str
    value: str
    why: str


@dataclass(frozen=True)
class Choices:
    """The params of a plot in a page, those that turn and those that do not, each in their order."""

    turning: tuple[Turning, ...] = ()
    fixed: tuple[Fixed, ...] = ()

    @property
    def figures(self) -> int:
        """How many combinations there are."""
        return math.prod(len(one.values) for one in self.turning)

    def combinations(self) -> Iterator[dict[str, JsonValue]]:
        """All combinations; the last param turns fastest."""
        names = [one.name for one in self.turning]
        for values in itertools.product(*(one.values for one in self.turning)):
            yield dict(zip(names, values, strict=True))

    @property
    def first(self) -> int:
        """The number of the combination that is shown first."""
        place = 0
        for one in self.turning:
            place = place * len(one.values) + one.first
        return place


def choices_of(
    config: PlotConfig,
    values: Mapping[str, JsonValue],
    options: Mapping[str, list[dict[str, JsonValue]]],
    most: int,
) -> Choices:
    """What can be turned with at most ``most`` figures.

    Parameters
    ----------
    values, options : of a drawn figure: the chosen values, and the choices of params that take them from data.
    most : of combinations. Params with few values come first; what would exceed ``most`` stays fixed. With 1 all do,
        and nothing is said of why.
    """
    found: dict[str, Turning] = {}
    why: dict[str, str] = {}
    decided: list[Decided] = []
    for name, param in config.params.items():
        control = decide(name, param, options.get(name), values.get(name, param.default))
        if control["widget"] == "hidden":
            continue
        decided.append(control)
        made = _turning(control) if control["kind"] == "view" else "it chooses data"
        if isinstance(made, str):
            why[name] = made if most > 1 else ""
        elif len(made.values) > 1:
            found[name] = made
    kept: set[str] = set()
    figures = 1
    for one in sorted(found.values(), key=lambda one: len(one.values)):
        if figures * len(one.values) <= most:
            kept.add(one.name)
            figures *= len(one.values)
        else:
            more = f"with its {len(one.values)} values there would be more than {most} figures"
            why[one.name] = more if most > 1 else ""
    return Choices(
        tuple(one for one in found.values() if one.name in kept),
        tuple(
            Fixed(control["label"], _in_words(control), why[control["name"]])
            for control in decided
            if control["name"] in why
        ),
    )


def _in_words(control: Decided) -> str:
    """The present value as its control shows it."""
    value = control["value"]
    if value is None or value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    labels = {same_key(one["value"]): one["label"] for one in control.get("options", [])}
    several = value if isinstance(value, list) else [value]
    return ", ".join(labels.get(same_key(one), text_of(one)) for one in several)


def _turning(control: Decided) -> Turning | str:
    """A param with its values, or why it has too many."""
    widget = control["widget"]
    if widget == "checkbox":
        return _made(control, [(False, "off"), (True, "on")])
    if widget in _ONE:
        return _made(control, _options(control))
    if widget in _SEVERAL:
        return _several(control)
    if widget in _NUMBER:
        return _steps(control)
    return "any value may be given"


def _made(control: Decided, choices: list[tuple[JsonValue, str]], *, slider: bool = False) -> Turning:
    present = same_key(control["value"])
    keys = [same_key(value) for value, _ in choices]
    if present not in keys:
        choices, keys = [(control["value"], text_of(control["value"])), *choices], [present, *keys]
    return Turning(
        control["name"],
        control["label"],
        slider,
        tuple(value for value, _ in choices),
        tuple(label for _, label in choices),
        keys.index(present),
    )


def _options(control: Decided) -> list[tuple[JsonValue, str]]:
    given = [(one["value"], one["label"]) for one in control.get("options", []) if one["available"]]
    if control["nullable"] and not control["multiple"] and all(value is not None for value, _ in given):
        return [(None, "none"), *given]
    return given


def _several(control: Decided) -> Turning | str:
    given = _options(control)
    if len(given) > MOST_PARTS:
        return f"any of {len(given)} choices may be combined"
    sets = [one for size in range(len(given) + 1) for one in itertools.combinations(given, size)]
    choices: list[tuple[JsonValue, str]] = [
        ([value for value, _ in one], ", ".join(label for _, label in one) or "none") for one in sets
    ]
    return _made(control, choices)


def _steps(control: Decided) -> Turning | str:
    least, most, step = control.get("min"), control.get("max"), control.get("step")
    if least is None or most is None or not step:
        return "any value may be given"
    count = math.floor((most - least) / step + 1e-9) + 1
    if count > MOST_STEPS:
        return f"it has {count} positions, and at most {MOST_STEPS} are computed"
    numbers: list[float] = [float(f"{least + place * step:.12g}") for place in range(count)]
    present = control["value"]
    if isinstance(present, int | float) and present not in numbers:
        numbers = sorted([*numbers, present])
    whole = bool(control.get("integer"))
    choices: list[tuple[JsonValue, str]] = [
        (int(number) if whole else number, json.dumps(int(number) if whole or number.is_integer() else number))
        for number in numbers
    ]
    return _made(control, choices, slider=True)
