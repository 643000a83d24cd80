"""Makes the JSON of a recipe from drafts: steps get their names, params get their kind, mistakes are reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from pydantic import JsonValue

from ..errors import BadRequest, Invalid, Loc, Problem
from .drafts import ColumnDraft, ParamDraft, StepDraft
from .marks import Position
from .parse import read_model
from .shapes import fields_of, only_object
from .steps import STEPS, Step, earlier_fields
from .strict import Raw, Strict

Params: TypeAlias = Mapping[str, Raw] | Iterable[ParamDraft]
_BINDS = "ids, conditions of a list or join, ends of a window, the value of a comparison, a factor"


class PlanDraft(Mapping[str, Raw]):
    """A plan, which reads as its JSON. ``params`` are those that are in it, in the order of their appearance.

    Raises
    ------
    Invalid
        With every reference that leads nowhere and every param that stands where none binds.
    """

    def __init__(self, steps: Mapping[str, Raw], caps: Mapping[str, Raw] | None = None) -> None:
        self.params: dict[str, ParamDraft] = {}
        self._drafts = dict(steps)
        self._names: dict[int, str] = {}
        self._problems: list[Problem] = []
        made: dict[str, Raw] = {}
        for name, step in self._drafts.items():
            made[name] = self._step(name, step) if isinstance(step, StepDraft) else step
            self._names.setdefault(id(step), name)
        if self._problems:
            raise Invalid(self._problems)
        self._json: dict[str, Raw] = {"steps": made, **({"caps": dict(caps)} if caps is not None else {})}

    def __getitem__(self, key: str) -> Raw:
        return self._json[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._json)

    def __len__(self) -> int:
        return len(self._json)

    def __repr__(self) -> str:
        asked = f", params {', '.join(self.params)}" if self.params else ""
        return f"<plan: {', '.join(self._drafts)}{asked}>"

    def name_of(self, step: StepDraft, at: Loc) -> str:
        """The name of an earlier step.

        Raises
        ------
        Invalid
            If it has none yet, at ``at``.
        """
        if id(step) in self._names:
            return self._names[id(step)]
        name = next((name for name, other in self._drafts.items() if other is step), None)
        message = (
            f"This refers to {step!r}, which is not a step of the plan; give it a name there, before this one."
        )
        if name is not None:
            message = f"Step '{name}' does not stand before this one; move it up, since steps run in their order."
        raise Invalid(Problem(at, message, "bad_reference"))

    def config(self) -> dict[str, Raw]:
        """The plan with the params that are in it: a recipe without transform."""
        return parts_of(self, None)

    def _step(self, name: str, step: StepDraft) -> dict[str, Raw]:
        at: Loc = ("config", "plan", "steps", name)
        if id(step) in self._names:
            message = f"'{name}' is the same step as '{self._names[id(step)]}'; build a second one."
            self._problems.append(Problem(at, message, "same_step"))
        writer = _StepWriter(self, STEPS[step.op], at)
        made = writer.step(step)
        self._problems += [*writer.problems, *writer.stray(made)]
        return made


class _StepWriter:
    """One step as JSON, and the places at which params may be in it."""

    def __init__(self, plan: PlanDraft, model: type[Step], at: Loc) -> None:
        self.plan, self.model, self.at = plan, model, at
        self.places: dict[Loc, str] = {}
        self.problems: list[Problem] = []

    def step(self, step: StepDraft) -> dict[str, Raw]:
        made = {name: self._field(name, value) for name, value in step.fields.items()}
        return {"op": step.op, **made}

    def _field(self, name: str, value: Raw) -> Raw:
        if isinstance(value, StepDraft) and name in earlier_fields(self.model):
            return self._named(value, (name,))
        return self._plain(by_place(self.model, name, value), (name,))

    def _plain(self, value: Raw, at: Loc) -> Raw:
        if isinstance(value, ParamDraft):
            self.places[at] = value.name
            if self.plan.params.setdefault(value.name, value) is not value:
                self._wrong(at, f"Two params are called '{value.name}'; rename one.")
            return f"${value.name}"
        if isinstance(value, StepDraft):
            return {"from": self._named(value, at), "column": self._key(value, at)}
        if isinstance(value, ColumnDraft):
            return {"from": self._named(value.step, at), "column": value.name}
        if isinstance(value, Mapping):
            return {key: self._plain(item, (*at, key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(item, (*at, place)) for place, item in enumerate(value)]
        return value

    def _named(self, step: StepDraft, at: Loc) -> str:
        try:
            return self.plan.name_of(step, (*self.at, *at))
        except Invalid as error:
            self.problems += error.problems
            return "_"

    def _key(self, step: StepDraft, at: Loc) -> str:
        """The column that names the rows of a whole step where ids are wanted."""
        model = STEPS[step.op]
        while model.rows_from is not None and isinstance(inner := step.fields.get(model.rows_from), StepDraft):
            step, model = inner, STEPS[inner.op]
        if model.row_key is None:
            self._wrong(at, f"Say which column of the {step.op} step is meant, as in step['name'].")
        return model.row_key or "id"

    def _wrong(self, at: Loc, message: str) -> None:
        self.problems.append(Problem((*self.at, *at), message, "bad_reference"))

    def stray(self, made: Mapping[str, Raw]) -> list[Problem]:
        """Params that stand where none binds: ``$name`` would be ordinary text there."""
        binding = value_places(self.model, made) if self.places else set()
        if binding is None:
            return []
        return [
            Problem(
                (*self.at, *at),
                f"The param '{name}' does not bind here; params may be in {_BINDS}. Use it in the transform instead.",
                "param_not_bound",
            )
            for at, name in self.places.items()
            if at not in binding
        ]


def value_places(model: type[Step], raw: Mapping[str, Raw]) -> set[Loc] | None:
    """The places in a step's JSON at which a param binds; None where the step is of wrong shape."""
    try:
        step = read_model(model, raw, at=())
    except Invalid:
        return None
    found: set[Loc] = set()

    def visit(value: JsonValue, position: Position, at: Loc) -> JsonValue:
        found.update([at, *((*at, place) for place in range(len(value) if isinstance(value, list) else 0))])
        return value

    step.rebuilt(visit)
    return found


def by_place(model: type[Strict], field: str, value: Raw) -> Raw:
    """A tuple in the place of an object as that object: its fields in their order; other values as they are."""
    part = only_object(model, field)
    if part is None or not isinstance(value, tuple):
        return value
    names = list(fields_of(part))
    if len(value) > len(names):
        raise BadRequest(
            f"'{field}' takes at most {len(names)} values, {', '.join(names)}; {len(value)} are given."
        )
    return {name: item for name, item in zip(names, value, strict=False) if item is not None}


def parts_of(plan: Raw, params: Params | None) -> dict[str, Raw]:
    """``plan`` and ``params`` of a recipe as JSON, drafts among them resolved; other values as they are.

    Raises
    ------
    Invalid
        With every param that is given twice, has the wrong kind, or whose kind cannot be found.
    """
    made: dict[str, Raw] = {"plan": dict(plan) if isinstance(plan, PlanDraft) else plan}
    if not _may_be_drafts(plan, params):
        return {**made, "params": params}
    named = _named(plan, params)
    problems: list[Problem] = []
    resolved: dict[str, Raw] = {}
    for name, param in named.items():
        try:
            resolved[name] = _param(param, plan) if isinstance(param, ParamDraft) else param
        except Invalid as error:
            problems += error.problems
    if problems:
        raise Invalid(problems)
    if params is not None or resolved:
        made["params"] = resolved
    return made


def _may_be_drafts(plan: Raw, params: Params | None) -> bool:
    """Whether there is something to resolve. If ``params`` are not a JSON object, the check refuses them later."""
    if params is None or isinstance(params, Mapping):
        return True
    if not isinstance(params, list | tuple):
        return False
    return isinstance(plan, PlanDraft) or any(isinstance(param, ParamDraft) for param in params)


def _named(plan: Raw, params: Params | None) -> dict[str, Raw]:
    """Param name -> param: those of the plan that are not given come first."""
    given = dict(params) if isinstance(params, Mapping) else _by_name(params or ())
    found: dict[str, Raw] = {}
    for name, param in (plan.params if isinstance(plan, PlanDraft) else {}).items():
        if name not in given:
            found[name] = param
        elif isinstance(given[name], ParamDraft) and given[name] is not param:
            message = f"The param '{name}' of the plan is another than this one; use the same object in both."
            raise Invalid(Problem(("config", "params", name), message, "two_params"))
    for name, other in given.items():
        if isinstance(other, ParamDraft) and other.name != name:
            message = f"The param is called '{other.name}', not '{name}'; give params as a list, [param, ...]."
            raise Invalid(Problem(("config", "params", name), message, "two_names"))
    return found | given


def _by_name(params: Iterable[Raw]) -> dict[str, Raw]:
    made: dict[str, Raw] = {}
    for place, param in enumerate(params):
        if not isinstance(param, ParamDraft):
            kind = type(param).__name__
            message = f"Params are a mapping of names, or a list of wb.param(...); here stands a {kind}."
            raise Invalid(Problem(("config", "params"), message, "wrong_type", {"place": place}))
        if param.name in made:
            message = f"Two params are called '{param.name}'; rename one."
            raise Invalid(Problem(("config", "params", param.name), message, "two_params"))
        made[param.name] = param
    return made


def _param(param: ParamDraft, plan: Raw) -> dict[str, Raw]:
    at: Loc = ("config", "params", param.name)
    fields = dict(param.fields)
    made: dict[str, Raw] = {"kind": _kind(param, plan, at), "default": fields["default"]}
    if isinstance(given := fields.get("control"), Mapping):
        control = dict(given)
        if "optionsFrom" in control:
            control["optionsFrom"] = _options_from(control["optionsFrom"], plan, (*at, "control", "optionsFrom"))
        made["control"] = control
    return made


def _options_from(live: Raw, plan: Raw, at: Loc) -> Raw:
    if isinstance(live, ColumnDraft):
        live = {"step": live.step, "value": live.name}
    if isinstance(live, Mapping) and isinstance(live.get("step"), StepDraft):
        if not isinstance(plan, PlanDraft):
            message = "The choices come from a step that was built; build the plan too, with wb.plan(...)."
            raise Invalid(Problem((*at, "step"), message, "bad_reference"))
        return {**live, "step": plan.name_of(live["step"], (*at, "step"))}
    return live


def _kind(param: ParamDraft, plan: Raw, at: Loc) -> str:
    """data if the param is in the plan, else view. Refused if that is not clear."""
    given = param.fields.get("kind")
    bound, text = _uses(param.name, plan)
    if bound and given == "view":
        message = f"'{param.name}' is in the plan, so it is a data param; leave its kind out."
        raise Invalid(Problem((*at, "kind"), message, "wrong_kind"))
    if given is not None:
        return str(given)
    if text and not bound:
        message = (
            f"'${param.name}' is in the plan where params do not bind, so the kind of '{param.name}' is not clear; "
            "say kind='data' or kind='view'."
        )
        raise Invalid(Problem((*at, "kind"), message, "kind_unclear"))
    return "data" if bound else "view"


def _uses(name: str, plan: Raw) -> tuple[bool, bool]:
    """Whether a param binds in a plan, and whether the plan has its reference anywhere as text."""
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    bound = text = False
    for step in steps.values() if isinstance(steps, Mapping) else ():
        places = {at for at, item in _texts(step, ()) if item == f"${name}"}
        model = STEPS.get(step.get("op", "")) if isinstance(step, Mapping) else None
        binding = value_places(model, step) if places and model else None
        bound = bound or bool(places & (places if binding is None else binding))
        text = text or bool(places)
    return bound, text


def _texts(value: Raw, at: Loc) -> Iterator[tuple[Loc, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*at, key))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _texts(item, (*at, place))
