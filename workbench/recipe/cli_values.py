"""Values of params from the words of a command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from ..errors import BadRequest, Invalid, Problem
from .controls import read_text
from .jsontext import read_json, show
from .params import Choice, Param
from .plot import PlotConfig
from .values import fixed_options, undeclared

_PAIR = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<sign>:?=)(?P<text>.*)", re.DOTALL)


def read_cli_values(
    config: PlotConfig,
    pairs: Iterable[str],
    options: Mapping[str, Sequence[Choice]] | None = None,
) -> dict[str, JsonValue]:
    """Param values from the words of a command line.

    ``name=text`` is read by the control: the option whose value (then whose label) is exactly the text, else
    by the type of the default. ``name:=JSON`` is literal. A name given more than once makes a list.

    Parameters
    ----------
    config : the recipe.
    pairs : the words.
    options : live choices by param name, where the caller has looked them up.

    Raises
    ------
    BadRequest
        If a word is neither form.
    Invalid
        With every unknown param and every text that cannot be read.
    """
    read: dict[str, list[JsonValue]] = {}
    problems: list[Problem] = []
    for pair in pairs:
        match = _PAIR.fullmatch(pair)
        if match is None:
            raise BadRequest(f"'{pair}' is not a value: write name=text, or name:=JSON for a literal value.")
        name, text = match["name"], match["text"]
        if name not in config.params:
            problems.append(undeclared(name, config.params))
            continue
        try:
            if match["sign"] == ":=":
                value = read_json(text, ("values", name))
            else:
                value = _read_text(name, config.params[name], text, (options or {}).get(name))
            read.setdefault(name, []).append(value)
        except Invalid as error:
            problems += error.problems
    if problems:
        raise Invalid(problems)
    return {name: found if len(found) > 1 else found[0] for name, found in read.items()}


def _read_text(name: str, param: Param, text: str, live: Sequence[Choice] | None) -> JsonValue:
    options = list(live or fixed_options(param) or ())
    for option in options:
        if option["value"] == text:
            return text
    for option in options:
        if not isinstance(option["value"], str) and show(option["value"]) == text:
            return option["value"]
    labelled = [option["value"] for option in options if option.get("label") == text]
    if len(labelled) == 1:
        return labelled[0]
    try:
        return read_text(param, text)
    except ValueError as error:
        raise Invalid(Problem(("values", name), f"'{name}' {error}", "wrong_type")) from None
    except Invalid as error:
        raise Invalid([problem.below(("values", name)) for problem in error.problems]) from None
