"""A look at every step of a plan: its result where it ran, what is wrong where it did not, and why others waited."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from ..dataset import Dataset, StepColumns, StepResult, Warn
from ..errors import Invalid, Loc, Problem
from ..recipe.check import sound
from ..recipe.names import StepRef
from ..recipe.plot import PlotConfig
from ..recipe.steps import STEPS, earlier_fields
from ..recipe.strict import Raw, Strict
from ..table import Table
from ..units import split_unit

Units = Callable[[Sequence[str]], Mapping[str, str]]
_STEPS: Loc = ("config", "plan", "steps")
_PARAMS: Loc = ("config", "params")
_NAMES_A_STEP = {*earlier_fields(StepRef), *(name for model in STEPS.values() for name in earlier_fields(model))}
"""Keys under which the name of another step is written."""


@dataclass(frozen=True)
class StepSeen:
    """One step of a plan as it was found.

    ``result`` is None where it did not run: ``problems`` say what is wrong with it, or ``waits`` names the steps
    and params whose problems it waits for. ``units`` are those of its columns that have one; ``spent`` is its time in
    ms, None where it was answered from the cache.
    """

    name: str
    op: str
    result: StepResult | None = None
    columns: StepColumns = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)
    warnings: list[Warn] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    spent: float | None = None


@dataclass(frozen=True)
class Seen:
    """All steps of a plan in order, and the ``problems`` that belong to no step; the rest as in a Dataset."""

    steps: dict[str, StepSeen]
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)
    values: dict[str, JsonValue] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=lambda: {"steps": 0, "sources": 0})
    cache: dict[str, str] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)


def look(
    raw: Raw,
    values: Mapping[str, JsonValue],
    run: Callable[[PlotConfig, Mapping[str, JsonValue]], Dataset],
    units: Units,
) -> Seen:
    """Run the steps of a recipe as far as they go.

    A step that is wrong keeps only those from running that read it.

    Parameters
    ----------
    raw : a recipe, or an unsound one as JSON, with or without a transform.
    run : gives the data of a checked recipe.
    units : gives the units of the stored columns of some records.

    Raises
    ------
    Invalid
        If there is no plan with steps at all.
    """
    config = raw.dump() if isinstance(raw, PlotConfig) else raw
    steps = _steps_of(config)
    if steps is None:
        sound(config, transform=False)
        raise Invalid(Problem(_STEPS, "There are no steps to look at.", "missing"))
    rest = _Rest(_mapping(config), dict(values))
    dataset: Dataset | None = None
    while rest.steps:
        try:
            checked = sound(rest.config(), transform=False)
            dataset = run(checked, rest.values)
            break
        except Invalid as error:
            if not rest.without(error.problems):
                break
    return _seen(steps, rest, dataset, units)


def wrong_steps(
    raw: Raw,
    values: Mapping[str, JsonValue],
    check: Callable[[PlotConfig, Mapping[str, JsonValue]], list[Problem]],
) -> list[Problem]:
    """Everything wrong with a recipe's plan and params, as far as it can be read, without reading a sample.

    Parameters
    ----------
    raw : a recipe that may be unsound, with or without a transform.
    check : what the store says of a checked recipe.
    """
    rest = _Rest(_mapping(raw), dict(values))
    while rest.steps:
        try:
            problems = check(sound(rest.config(), transform=False), rest.values)
        except Invalid as error:
            problems = error.problems
        if not problems or not rest.without(problems):
            break
    return rest.problems


class _Rest:
    """What is left of a recipe without what is wrong and what reads that."""

    def __init__(self, config: Mapping[str, Raw], values: dict[str, JsonValue]) -> None:
        self.whole = config
        self.steps: dict[str, Raw] = dict(_steps_of(config) or {})
        self.params: dict[str, Raw] = _mapping(config.get("params"))
        self.values = values
        self.problems: list[Problem] = []
        self.gone: set[str] = set()
        self.waiting: dict[str, list[str]] = {}
        self.loose: set[str] = set()

    def config(self) -> dict[str, Raw]:
        plan = {**_mapping(self.whole.get("plan")), "steps": self.steps}
        return {"plan": plan, "params": self.params}

    def without(self, problems: list[Problem]) -> bool:
        """Take out what the problems are about, and all that reads it; False where nothing can be taken out."""
        self.problems += [problem for problem in problems if problem not in self.problems]
        steps = {str(p.loc[3]) for p in problems if p.loc[:3] == _STEPS and len(p.loc) > 3} & set(self.steps)
        params = {str(p.loc[2]) for p in problems if p.loc[:2] == _PARAMS and len(p.loc) > 2} & set(self.params)
        params -= self._without_controls(problems)
        params |= {str(p.loc[1]) for p in problems if p.loc[:1] == ("values",) and len(p.loc) > 1} & set(
            self.params
        )
        unknown = {str(p.loc[1]) for p in problems if p.loc[:1] == ("values",) and len(p.loc) > 1} & set(
            self.values
        )
        if not (steps or params or unknown or self.loose):
            self.steps = {}
            return False
        self.loose = set()
        self.gone |= steps
        for name in params | unknown:
            self.params.pop(name, None)
            self.values.pop(name, None)
        self._drop(steps, params)
        return True

    def _without_controls(self, problems: list[Problem]) -> set[str]:
        """Params that were wrong in their control alone: they go on without it, as plain values."""
        wrong: dict[str, set[str | int]] = {}
        for problem in problems:
            if problem.loc[:2] == _PARAMS and len(problem.loc) > 3:
                wrong.setdefault(str(problem.loc[2]), set()).add(problem.loc[3])
        for name, parts in wrong.items():
            if parts == {"control"} and "control" in _mapping(self.params.get(name)):
                self._loosen(name)
                self.loose.add(name)
        return set(self.loose)

    def _loosen(self, name: str) -> None:
        """Take the control off a param."""
        self.params[name] = {key: value for key, value in _mapping(self.params[name]).items() if key != "control"}

    def _drop(self, gone: set[str], params: set[str]) -> None:
        """Steps that are gone, and those that wait for them or for params that are gone."""
        lost = {name: name for name in gone} | {f"${name}": f"${name}" for name in params}
        for name, step in list(self.steps.items()):
            named = _references(step)
            waits = [shown for text, shown in lost.items() if text in named]
            if name in gone:
                del self.steps[name]
            elif waits:
                self.waiting[name] = waits
                lost[name] = name
                del self.steps[name]
        for name, param in list(self.params.items()):
            live = _mapping(_mapping(_mapping(param).get("control")).get("optionsFrom"))
            if live.get("step") in lost:
                self._loosen(name)


def _references(step: Raw) -> set[str]:
    """What a step may refer to: names of steps in its references, ``$name`` of params."""
    if isinstance(step, Strict):
        step = step.model_dump(mode="json", by_alias=True)
    found: set[str] = set()
    if isinstance(step, Mapping):
        for key, value in step.items():
            if key in _NAMES_A_STEP and isinstance(value, str):
                found.add(value)
            found |= _references(value) if not isinstance(value, str) else _param_in(value)
    elif isinstance(step, list | tuple):
        for value in step:
            found |= _references(value) if not isinstance(value, str) else _param_in(value)
    return found


def _param_in(text: str) -> set[str]:
    return {text} if re.fullmatch(r"\$[A-Za-z_]\w*", text, re.ASCII) else set()


def _steps_of(config: Raw) -> Mapping[str, Raw] | None:
    plan = config.get("plan") if isinstance(config, Mapping) else None
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    return steps if isinstance(steps, Mapping) and steps else None


def _mapping(value: Raw) -> dict[str, Raw]:
    return dict(value) if isinstance(value, Mapping) else {}


def _seen(steps: Mapping[str, Raw], rest: _Rest, dataset: Dataset | None, units: Units) -> Seen:
    found = {name: _step(name, raw, rest, dataset, units) for name, raw in steps.items()}
    others = [p for p in rest.problems if not (p.loc[:3] == _STEPS and len(p.loc) > 3)]
    if dataset is None:
        return Seen(found, others)
    return Seen(
        steps=found,
        problems=others,
        warnings=[warning for warning in dataset.warnings if warning.step not in found],
        values=dataset.values,
        reads=dataset.reads,
        cache=dataset.cache,
        timings=dataset.timings,
    )


def _step(name: str, raw: Raw, rest: _Rest, dataset: Dataset | None, units: Units) -> StepSeen:
    op = str(_mapping(raw).get("op", "step"))
    problems = [p for p in rest.problems if p.loc[:4] == (*_STEPS, name)] if name in rest.gone else []
    if dataset is None or name not in dataset.steps:
        return StepSeen(name, op, problems=problems, waits=rest.waiting.get(name, []))
    result = dataset.steps[name]
    columns = dataset.columns[name]
    return StepSeen(
        name,
        op,
        result=result,
        columns=columns,
        units=_units(columns, result, units),
        warnings=[warning for warning in dataset.warnings if warning.step == name],
        spent=dataset.timings.get(f"step:{name}"),
    )


def _units(columns: StepColumns, result: StepResult, stored: Units) -> dict[str, str]:
    """The unit of each column, by its name or, for a stored column of another name, by what is stored."""
    units = {name: unit for name, _ in columns if (unit := split_unit(name)[1]) is not None}
    if isinstance(result, Table) or len(units) == len(columns):
        return units
    found = stored(list(result))
    return {**{name: found[name] for name, _ in columns if name in found}, **units}
