"""Values of params: which are allowed, and when two are the same."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Mapping, Sequence

from pydantic import JsonValue

from ..errors import Invalid, Loc, Problem, instead, listed, near
from .jsontext import canonical, plain, show
from .params import Choice, Control, Param
from .plot import PlotConfig
from .sentence import sentence_of
from .strict import is_number

MOST_GUESSES = 20
"""Most refused elements of one list whose message names the nearest options: finding them takes time."""


def same_key(value: JsonValue) -> Hashable:
    """Equal for equal values: numbers by value (``1`` and ``1.0``), booleans, texts, null only to their like."""
    if isinstance(value, bool):
        return ("boolean", value)
    if is_number(value):
        return ("number", value)
    if isinstance(value, list | dict):
        return ("json", canonical(value))
    return ("text", value) if value is not None else ("null",)


def fixed_options(param: Param) -> list[Choice] | None:
    """The fixed choices as ``{"value", "label"}``, each value once; None where the param has no fixed options."""
    if param.control is None or param.control.options is None:
        return None
    seen: dict[Hashable, Choice] = {}
    for value, label in param.option_pairs():
        seen.setdefault(same_key(value), {"value": value, "label": label})
    return list(seen.values())


def undeclared(name: str, params: Iterable[str], script: str = "") -> Problem:
    """The problem of a value for a name that is not a param; a script that only says a sentence says why."""
    said = sentence_of(script)
    if said is None:
        message = f"The recipe has no param '{name}'. {instead(name, params, 'params')}"
    else:
        message = f"'{name}' cannot be given, since the recipe has nothing to draw here. {said}"
    return Problem(("values", name), message, "unknown_param")


def effective(config: PlotConfig, values: Mapping[str, JsonValue] | None = None) -> dict[str, JsonValue]:
    """All params with their values, given or default, in the order of the recipe.

    Live choices are not looked at here: they need a store. A recipe that only says what it lacks takes any values: its
    params are those of the data that are missing, and the sentence is the answer.

    Raises
    ------
    Invalid
        With every undeclared name and every value that its control refuses, at ``values``.
    """
    given, problems = plain({} if values is None else values, ("values",))
    if not isinstance(given, dict):
        raise Invalid(
            Problem(
                ("values",), "'values' must be an object with the name of each param and its value.", "wrong_type"
            )
        )
    if sentence_of(config.transform) is None:
        problems += [undeclared(name, config.params) for name in given if name not in config.params]
    made: dict[str, JsonValue] = {}
    refused = {problem.loc[1] for problem in problems if len(problem.loc) > 1}
    for name, param in config.params.items():
        if name not in given:
            made[name] = copy.deepcopy(param.default)
        elif name not in refused:
            made[name], found = check_value(name, param, given[name])
            problems += found
    if problems:
        raise Invalid(problems)
    return made


def check_value(
    name: str, param: Param, value: JsonValue, at: Loc | None = None
) -> tuple[JsonValue, list[Problem]]:
    """The value as it takes effect (a single value of a multiple choice as a list of one) and what is wrong.

    ``at`` is where the value stands, ``("values", name)`` by default. Null is always allowed.
    """
    at = ("values", name) if at is None else at
    if value is None:
        return None, []
    if isinstance(value, list) and not param.multiple and param.default is not None:
        message = f"'{name}' is a single choice and takes one value, not a list; a list default makes it multiple."
        return value, [Problem(at, message, "single_choice")]
    many = isinstance(value, list)
    items: list[JsonValue] = value if isinstance(value, list) else [value]
    taken: JsonValue = items if param.multiple else value
    if param.control is None:
        return taken, []
    problems: list[Problem] = []
    options = fixed_options(param)
    known = {same_key(option["value"]) for option in options or ()}
    for place, item in enumerate(items):
        here = (*at, place) if many else at
        if item is not None:
            problems += _outside(name, param.control, item, here)
        if item is not None and options is not None and same_key(item) not in known:
            closing = _among(item, options) if len(problems) < MOST_GUESSES else ""
            message = f"{show(item)} is not among the options of '{name}'. {closing}".rstrip()
            problems.append(Problem(here, message, "not_an_option"))
    return taken, problems


def _outside(name: str, control: Control, value: JsonValue, at: Loc) -> list[Problem]:
    if control.min is None and control.max is None:
        return []
    bounds = _range(control)
    if not is_number(value):
        return [Problem(at, f"'{name}' needs a number {bounds}, not {show(value)}.", "wrong_type")]
    low = control.min is not None and value < control.min
    high = control.max is not None and value > control.max
    if low or high:
        return [
            Problem(at, f"{show(value)} is outside the range of '{name}': use a number {bounds}.", "out_of_range")
        ]
    return []


def _range(control: Control) -> str:
    if control.min is None:
        return f"of at most {show(control.max)}"
    if control.max is None:
        return f"of at least {show(control.min)}"
    return f"from {show(control.min)} to {show(control.max)}"


def _among(value: JsonValue, options: Sequence[Choice]) -> str:
    """The end of a message: the nearest options, or all of them, as JSON."""
    written = [show(option["value"]) for option in options]
    close = near(show(value), written)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    if not written:
        return "There are no options."
    return f"The options are {listed(written)}."
