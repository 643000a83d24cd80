"""The choices of params, fixed or taken live from a step, and what becomes of values that are none of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from pydantic import JsonValue

from ..dataset import Warn
from ..errors import Invalid, Problem
from ..messages import counted
from ..recipe.bind import Binder, Bound
from ..recipe.jsontext import show
from ..recipe.params import Choice, OptionsFrom, Param
from ..recipe.plot import Caps, PlotConfig
from ..recipe.references import ancestors, params_of
from ..recipe.values import effective, fixed_options, same_key
from ..table import Table
from .columns import column_of
from .equality import first_rows, plain
from .warnings import once

MOST_OFFERED = 500
RunOptions = Callable[[Bound, str], tuple[Table, list[Warn]]]
"""Runs some steps of a plan and gives the rows of the named one, with the warnings of all."""


@dataclass(frozen=True)
class Chosen:
    """All effective values, data and view; the choices of every param that has some; warnings.

    ``options`` are the choices that are offered, ``live`` every live one, however many.
    """

    values: dict[str, JsonValue]
    options: dict[str, list[Choice]] = field(default_factory=dict)
    live: dict[str, list[Choice]] = field(default_factory=dict)
    warnings: list[Warn] = field(default_factory=list)


def resolve(config: PlotConfig, given: Mapping[str, JsonValue] | None, run_options: RunOptions) -> Chosen:
    """Settle the values of all params, the choices of each before those that depend on it.

    A value that is not among the live choices is dropped with a warning; with nothing left the default stands
    if it is among them (null always is), else the first choice, and no choice for a multiple one.

    Raises
    ------
    Invalid
        Values that their controls refuse (at ``values``), a choice column that is missing (at the control),
        or what is wrong with an options step (at that step).
    """
    values = effective(config, given)
    options: dict[str, list[Choice]] = {}
    all_live: dict[str, list[Choice]] = {}
    warnings: list[Warn] = []
    for name in order(config):
        param = config.params[name]
        live = options_from(param)
        if live is None:
            fixed = fixed_options(param)
            if fixed is not None:
                options[name] = fixed
            continue
        table, found = run_options(bound_for(config, values, live.step), live.step)
        every = live_options(name, live, table)
        values[name], dropped = settled(param, values[name], every)
        options[name], all_live[name] = every[:MOST_OFFERED], every
        warnings += [*found, *_warnings(name, len(every), dropped, values[name])]
    ordered = {name: options[name] for name in config.params if name in options}
    return Chosen(values, ordered, all_live, once(warnings))


def options_from(param: Param) -> OptionsFrom | None:
    """Where a param takes its choices from, None where they are fixed or absent."""
    return param.control.options_from if param.control else None


def bound_for(config: PlotConfig, values: Mapping[str, JsonValue], step: str) -> Bound:
    """The bound plan of one step and its ancestors alone."""
    binder = Binder(config.params, values)
    names = [*ancestors(config.plan, step), step]
    steps = {name: binder.step(name, config.plan.steps[name]) for name in config.plan.steps if name in names}
    if binder.problems:
        raise Invalid(binder.problems)
    return Bound(config, dict(values), steps, config.plan.caps or Caps())


def live_options(name: str, live: OptionsFrom, table: Table) -> list[Choice]:
    """Every distinct non-null value in row order, with the label of the first row that has it."""
    at = ("config", "params", name, "control", "optionsFrom")
    values = column_of(table, live.value, (*at, "value"))
    labels = None if live.label is None else column_of(table, live.label, (*at, "label"))
    rows = first_rows(values)
    found = plain(values.take(rows))
    shown = [None] * len(found) if labels is None else [_label(label) for label in plain(labels.take(rows))]
    return [{"value": value, "label": label} for value, label in zip(found, shown, strict=True)]


def settled(param: Param, value: JsonValue, options: list[Choice]) -> tuple[JsonValue, list[JsonValue]]:
    """The value as it stands among the choices, and what was dropped of it."""
    keys = {same_key(option["value"]) for option in options}
    if value is None:
        return None, []
    if isinstance(value, list):
        kept, dropped = _parted(value, keys)
        if kept or not value:
            return kept, dropped
        return (_parted(param.default, keys)[0] if isinstance(param.default, list) else None), dropped
    if same_key(value) in keys:
        return value, []
    if param.default is None or same_key(param.default) in keys:
        return param.default, [value]
    return (options[0]["value"] if options else None), [value]


def _parted(values: list[JsonValue], keys: set[Hashable]) -> tuple[list[JsonValue], list[JsonValue]]:
    kept = [value for value in values if value is None or same_key(value) in keys]
    return kept, [value for value in values if value is not None and same_key(value) not in keys]


def _label(value: JsonValue) -> str | None:
    return value if value is None or isinstance(value, str) else show(value)


def _warnings(name: str, total: int, dropped: list[JsonValue], value: JsonValue) -> list[Warn]:
    made = []
    if dropped:
        gone = ", ".join(show(item) for item in dropped[:5]) + (" ..." if len(dropped) > 5 else "")
        now = "Nothing is chosen now" if value is None or value == [] else f"It is now {show(value)}"
        message = f"Not among the choices of '{name}': {gone}. {now}."
        made.append(Warn("value_dropped", message, param=name))
    if total > MOST_OFFERED:
        first = f"'{name}' has {counted(total, 'choice')}; the first {MOST_OFFERED} are offered."
        message = f"{first} Narrow the step they come from."
        made.append(Warn("options_truncated", message, param=name, shown=MOST_OFFERED, total=total))
    return made


def order(config: PlotConfig) -> list[str]:
    """Param names, each after those that its choices depend on."""
    needs: dict[str, set[str]] = {}
    for name, param in config.params.items():
        live = options_from(param)
        steps = [*ancestors(config.plan, live.step), live.step] if live else []
        needs[name] = {used for step in steps for used in params_of(config.plan.steps[step])} & set(config.params)
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle: list[str] = error.args[1]
        at = ("config", "params", circle[0], "control", "optionsFrom")
        raise Invalid(Problem(at, f"These choices depend on themselves: {' -> '.join(circle)}.")) from None
