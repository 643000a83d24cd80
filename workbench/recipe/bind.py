"""Values in, bound plan out: after this no ``$name`` is left, and nothing is bound or unescaped again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from ..errors import Invalid, Loc, Problem, instead
from .filters import CLOSED
from .jsontext import canonical, show
from .marks import Position
from .names import literal, reference
from .params import Param
from .plot import Caps, PlotConfig
from .references import params_of
from .steps import Step
from .strict import is_number, kind
from .values import effective


@dataclass(frozen=True)
class Bound:
    """A plan with every param bound.

    ``values`` are all effective ones, data and view. ``steps`` are the steps of the plan, in order: ids are
    a list or a StepRef; Filters and a join's ``where`` hold only the conditions in force (a list filter is
    a list or a StepRef); a comparison with None holds for no row, nor does one whose factor is None.
    """

    config: PlotConfig
    values: dict[str, JsonValue]
    steps: dict[str, Step]
    caps: Caps

    def only(self, names: Iterable[str]) -> Bound:
        """The same with these steps alone, in the order of the plan."""
        wanted = set(names)
        return replace(self, steps={name: step for name, step in self.steps.items() if name in wanted})

    def canonical(self) -> bytes:
        """JSON of the bound steps, the caps and, for a whole plan, the data params that bind nowhere."""
        steps = {
            name: step.model_dump(mode="json", by_alias=True, warnings=False) for name, step in self.steps.items()
        }
        caps = self.caps.model_dump(mode="json")
        return canonical({"steps": steps, "caps": caps, "data": self._unplaced()})

    def _unplaced(self) -> dict[str, JsonValue]:
        if len(self.steps) < len(self.config.plan.steps):
            return {}
        placed = {name for step in self.config.plan.steps.values() for name in params_of(step)}
        params = self.config.params.items()
        return {name: self.values[name] for name, param in params if param.kind == "data" and name not in placed}


def bind(config: PlotConfig, values: Mapping[str, JsonValue] | None = None, *, checked: bool = False) -> Bound:
    """The plan with the given values, or the defaults, in place of every ``$name``.

    Parameters
    ----------
    config : a recipe.
    values : chosen values by param name; what is missing takes its default.
    checked : True if ``values`` are all effective ones already and need no look at their controls.

    Raises
    ------
    Invalid
        With every value that its control refuses (at ``values``), and every reference to no data param and every
        value whose type its position does not take (at the position, naming the param).
    """
    taken = dict(values or {}) if checked else effective(config, values)
    binder = Binder(config.params, taken)
    steps = {name: binder.step(name, step) for name, step in config.plan.steps.items()}
    if binder.problems:
        raise Invalid(binder.problems)
    return Bound(config, taken, steps, config.plan.caps or Caps())


class Binder:
    """Binds step by step and keeps every problem; ``lenient`` names params whose scalars are not yet certain."""

    def __init__(
        self, params: Mapping[str, Param], values: Mapping[str, JsonValue], lenient: frozenset[str] = frozenset()
    ) -> None:
        self.params, self.values, self.lenient = params, values, lenient
        self.problems: list[Problem] = []

    def step(self, name: str, step: Step) -> Step:
        """The step with its value positions bound."""

        def visit(value: JsonValue, position: Position, at: Loc) -> JsonValue:
            return self._bound(value, position, ("config", "plan", "steps", name, *at))

        return step.rebuilt(visit)

    def _bound(self, value: JsonValue, position: Position, at: Loc) -> JsonValue:
        if position in ("ids", "filter list"):
            return self._list(value, position, at)
        if isinstance(value, list):
            return self._elements(value, at)
        name = reference(value)
        if name is None:
            return self._literal(value, position, at)
        known, bound = self._value(name, at)
        if not known:
            return None
        if position == "join" and isinstance(bound, list):
            return self._spliced(name, bound, at)
        if bound is not None and (wanted := _mismatch(bound, position)):
            self._refuse(name, bound, wanted, at)
            return None
        return self._closed(bound, at, name) if position == "filter" else bound

    def _literal(self, value: JsonValue, position: Position, at: Loc) -> JsonValue:
        if position == "factor" and isinstance(value, str):
            message = f"The factor {show(value)} is a text; write a number, or $name for a data param that is one."
            self.problems.append(Problem(at, message, "wrong_type"))
            return None
        plain = literal(value) if isinstance(value, str) else value
        return self._closed(plain, at, None) if position == "filter" else plain

    def _closed(self, value: JsonValue, at: Loc, param: str | None) -> JsonValue:
        """The value, after a look at the closed set of its filter key, if it has one."""
        allowed = CLOSED.get(str(at[-1]))
        if allowed is None or value is None or value in allowed or param in self.lenient:
            return value
        whose = f"The value {show(value)} of param '{param}'" if param else show(value)
        message = f"{whose} is not a value of '{at[-1]}'; use one of {', '.join(allowed)}."
        self.problems.append(Problem(at, message, "not_in_set"))
        return None

    def _list(self, value: JsonValue, position: Position, at: Loc) -> list[JsonValue] | None:
        """A list of ids without nulls, which do not name a record. A null in place of the list means no condition or no
        source."""
        if isinstance(value, list):
            return [item for item in self._elements(value, at) if item is not None]
        if value is None:
            return None
        name = reference(value)
        if name is None:
            return [literal(value) if isinstance(value, str) else value]
        known, bound = self._value(name, at)
        if not known:
            return []
        if bound is None:
            return [] if position == "ids" else None
        found = self._spliced(name, bound if isinstance(bound, list) else [bound], at)
        return [item for item in found if item is not None]

    def _elements(self, values: list[JsonValue], at: Loc) -> list[JsonValue]:
        if not any(isinstance(item, str) and item.startswith("$") for item in values):
            return [*values]
        made: list[JsonValue] = []
        for place, item in enumerate(values):
            name = reference(item)
            if name is None:
                made.append(literal(item) if isinstance(item, str) else item)
                continue
            known, bound = self._value(name, (*at, place))
            if known:
                made += self._spliced(name, bound if isinstance(bound, list) else [bound], (*at, place))
        return made

    def _spliced(self, name: str, values: list[JsonValue], at: Loc) -> list[JsonValue]:
        for value in values:
            if isinstance(value, list | dict):
                self._refuse(name, value, "texts, numbers, booleans or null", at)
                return []
        return values

    def _value(self, name: str, at: Loc) -> tuple[bool, JsonValue]:
        param = self.params.get(name)
        if param is None:
            data = [known for known, other in self.params.items() if other.kind == "data"]
            message = (
                f"There is no param '{name}'. {instead(name, data, 'data params')} '$${name}' is the plain text."
            )
            self.problems.append(Problem(at, message, "unknown_param"))
        elif param.kind == "view":
            message = (
                f"'{name}' is a view param, which reaches only the transform; make its kind 'data' to bind it."
            )
            self.problems.append(Problem(at, message, "view_param"))
        else:
            return True, self.values.get(name)
        return False, None

    def _refuse(self, name: str, value: JsonValue, wanted: str, at: Loc) -> None:
        if name in self.lenient and not isinstance(value, list | dict):
            return
        message = f"Param '{name}' is {kind(value)} ({show(value)}), but this place takes {wanted}."
        self.problems.append(Problem(at, message, "bound_type", {"param": name}))


def _mismatch(value: JsonValue, position: Position) -> str | None:
    """What the position takes, if the value is not of that type; None if it is."""
    scalar = isinstance(value, str | int | float)
    if position == "filter":
        return None if scalar else "one text, number or boolean"
    if position == "join":
        return None if scalar else "a value or a list of values"
    if position == "factor":
        return None if is_number(value) else "a number"
    return None if isinstance(value, str) or is_number(value) else "a number or a text"
