"""Checks a recipe without a store: finds every problem, each with its place and the fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import Invalid, Loc, Problem, instead
from .bind import Binder
from .circles import circle
from .columns import column_problems, known_columns, lacking
from .jsontext import plain
from .params import OptionsFrom, Param
from .parse import parse
from .plot import Plan, PlotConfig
from .references import ancestors, params_of
from .shapes import without
from .steps import Known, Step
from .strict import Raw, is_number
from .values import check_value


def sound(raw: Raw, *, at: Loc = ("config",), transform: bool = True) -> PlotConfig:
    """A recipe from raw values that has been checked too.

    Raises
    ------
    Invalid
        With every problem of shape and, as far as the rest can be read, every problem of meaning.
    """
    try:
        config = raw if isinstance(raw, PlotConfig) else parse(raw, at=at, transform=transform)
    except Invalid as error:
        raise Invalid([*error.problems, *_beyond(raw, error.problems, at, transform)]) from None
    problems = check(config, at=at)
    if problems:
        raise Invalid(problems)
    return config


def _beyond(raw: Raw, found: list[Problem], at: Loc, transform: bool) -> list[Problem]:
    """Problems of meaning in a recipe of wrong shape: those that stand without the fields of wrong shape."""
    rest = without(PlotConfig, plain(raw)[0], [problem.loc[len(at) :] for problem in found])
    if rest is None:
        return []
    try:
        more = check(parse(rest, at=at, transform=transform), at=at)
    except Invalid:
        return []
    return [problem for problem in more if not _follows(problem, found)]


def _follows(problem: Problem, found: list[Problem]) -> bool:
    """Whether a problem is already reported, or only says that a part which was removed as wrong is missing."""
    places = [other.loc for other in found]
    cut = problem.type == "missing" and any(place[: len(problem.loc)] == problem.loc for place in places)
    return cut or problem.loc in places


def check(config: PlotConfig, *, at: Loc = ("config",)) -> list[Problem]:
    """Everything wrong with a recipe that needs no store; empty when sound. The script is checked elsewhere."""
    steps = config.plan.steps
    known = known_columns(steps)
    problems: list[Problem] = []
    earlier: dict[str, Known] = {}
    for name, step in steps.items():
        own = {name: known[name]} if name in known else {}
        found = [
            *_references(steps, name),
            *step.problems(earlier),
            *column_problems(name, step, earlier | own),
        ]
        problems += [problem.below(("plan", "steps", name)) for problem in found]
        earlier |= own
    for name, param in config.params.items():
        problems += [problem.below(("params", name)) for problem in _param(name, param, config.plan, known)]
    problems += _option_circles(config)
    lenient = frozenset(name for name, param in config.params.items() if _options_from(param) is not None)
    binder = Binder(config.params, {name: param.default for name, param in config.params.items()}, lenient)
    for name, step in steps.items():
        binder.step(name, step)
    bound = [_above(problem) for problem in binder.problems]
    return [problem.below(at) for problem in problems + bound]


def _above(problem: Problem) -> Problem:
    """A problem of binding, its place without the leading ``config``."""
    return Problem(problem.loc[1:], problem.msg, problem.type, problem.ctx)


def _references(steps: Mapping[str, Step], name: str) -> Iterator[Problem]:
    earlier = list(steps)[: list(steps).index(name)]
    for found in steps[name].references():
        at = (*found.at, "from") if found.column is not None else found.at
        wrong = _not_rows(found.step, steps, earlier)
        if wrong:
            yield Problem(at, wrong, "bad_reference")


def _not_rows(name: str, steps: Mapping[str, Step], allowed: list[str]) -> str | None:
    """Why ``name`` cannot be referred to, None where it can."""
    rows = [step for step in allowed if steps[step].has_rows]
    if name not in steps:
        return f"There is no step '{name}'. {instead(name, rows, 'row-shaped steps before this one')}"
    if name not in allowed:
        return f"Step '{name}' does not stand before this one; move it up, since steps run in their order."
    if name not in rows:
        return f"Step '{name}' is a {steps[name].op} step, which has no rows. {instead(name, rows, 'row-shaped steps')}"
    return None


def _options_from(param: Param) -> OptionsFrom | None:
    return param.control.options_from if param.control else None


def _param(name: str, param: Param, plan: Plan, known: Mapping[str, Known]) -> Iterator[Problem]:
    control = param.control
    if control is None:
        return
    live = control.options_from
    if live is not None:
        at: Loc = ("control", "optionsFrom")
        if control.options is not None:
            message = f"'{name}' has both options and optionsFrom; keep one of them."
            yield Problem(at, message, "two_sources_of_options")
        wrong = _not_rows(live.step, plan.steps, list(plan.steps))
        if wrong:
            yield Problem((*at, "step"), wrong, "bad_reference")
        for field, column in (("value", live.value), ("label", live.label)):
            lacks = lacking(live.step, column, (*at, field), known) if column is not None else None
            if lacks is not None:
                yield lacks
    if is_number(control.min) and is_number(control.max) and control.min > control.max:
        message = f"The min {control.min} is above the max {control.max}, so that no value is allowed; swap them."
        yield Problem(("control", "min"), message, "out_of_range")
        return
    yield from check_value(name, param, param.default, ("default",))[1]


def _option_circles(config: PlotConfig) -> Iterator[Problem]:
    """Params whose choices depend on themselves, through steps, their ancestors and other params' choices."""
    depends = _choice_dependencies(config)
    for name in depends:
        path = circle(name, depends.__getitem__)
        if path:
            message = (
                f"The choices of '{name}' depend on itself: {' -> '.join(path)}. Take them from a step without it."
            )
            yield Problem(("params", name, "control", "optionsFrom"), message, "circle")


def _choice_dependencies(config: PlotConfig) -> dict[str, list[str]]:
    """Param -> the params in the steps that give its choices; empty without live choices."""
    steps = config.plan.steps
    found: dict[str, list[str]] = {}
    for name, param in config.params.items():
        live = _options_from(param)
        if live is None or live.step not in steps or not steps[live.step].has_rows:
            found[name] = []
            continue
        used = {p for step in (*ancestors(config.plan, live.step), live.step) for p in params_of(steps[step])}
        found[name] = [other for other in config.params if other in used]
    return found
