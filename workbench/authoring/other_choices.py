"""Draws a draft with each other value of its small params: one that fails there would fail when somebody chooses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from ..errors import Invalid
from ..recipe.jsontext import show
from ..recipe.params import Param
from ..recipe.plot import PlotConfig
from ..recipe.values import same_key
from .checked_answer import NOTHING, Draws

MOST_CHOICES = 6
"""A param with more fixed options than this is not small."""
MOST_TRIED = 24
"""Values that are tried of one draft at most."""


def small_choices(config: PlotConfig) -> list[tuple[str, JsonValue]]:
    """Each other value of the params with few fixed options, and of checkboxes."""
    found = [(name, value) for name, param in config.params.items() for value in _others(param)]
    return found[:MOST_TRIED]


def _others(param: Param) -> Iterator[JsonValue]:
    default = param.default
    if isinstance(default, bool):
        yield not default
        return
    values = [value for value, _ in param.option_pairs()]
    if param.multiple or len(values) > MOST_CHOICES:
        return
    yield from (value for value in values if same_key(value) != same_key(default))


def failing_choices(
    config: PlotConfig,
    on: Draws,
    values: Mapping[str, JsonValue] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[str]:
    """What goes wrong with another value of a small param, in a sentence for each; empty if nothing does.

    Parameters
    ----------
    on : the store that draws, in a locked process.
    values : the values that the draft is shown with.
    stopped : asked before each drawing; what was found until then is returned.
    """
    found: list[str] = []
    for name, value in small_choices(config):
        if stopped():
            break
        chosen = f"With {name} = {show(value)}"
        try:
            drawn = on.figure(config, {**(values or {}), name: value}, protected=True)
        except Invalid as error:
            found.append(f"{chosen} it fails: {error.problems[0].msg}")
            continue
        if any(one.code == NOTHING for one in drawn.lint):
            found.append(f"{chosen} the figure has no points.")
    return found
