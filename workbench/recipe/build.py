"""The builders of plans and params: their arguments, defaults and words are those of the models of a recipe."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar, get_args

from pydantic.fields import FieldInfo

from ..errors import BadRequest, instead
from .assemble import PlanDraft, by_place
from .drafts import Compared, MetricDraft, ParamDraft, StepDraft
from .filters import APPLIES, Filters
from .params import Control, Param
from .shapes import fields_of, only_object
from .steps import STEPS, Function, Metric
from .strict import Raw

T = TypeVar("T")
_Kind = inspect._ParameterKind
_MEANING = {
    "first": "The first non-null value of a column in each group.",
    "last": "The last non-null value of a column in each group.",
    "min": "The smallest number of a column in each group; nulls do not count.",
    "max": "The largest number of a column in each group; nulls do not count.",
    "mean": "The mean of the numbers of a column in each group; nulls do not count.",
    "sum": "The sum of the numbers of a column in each group; of none, null.",
    "count": "How many rows each group has; with a column, how many of them are not null there.",
    "first_where": "The value of a column in the first row of each group for which a comparison holds.",
    "last_where": "The value of a column in the last row of each group for which a comparison holds.",
}
_SHORT = {
    "ids": "A step stands for its ids, step['name'] for that column.",
    "on": "A pair is (left, right).",
    "window": "A pair is (min, max).",
    "options": "A mapping is value -> label.",
    "options_from": "step['name'] is that column; (step, 'id', 'name') shows another column as label.",
}
"""What a builder takes besides the JSON of a field."""


def step_builder(op: str) -> Callable[..., StepDraft]:
    """The builder of one operation: its required fields by place or name, the others by name."""
    model = STEPS[op]
    fields = {name: field for name, field in fields_of(model).items() if name != "op"}
    filters = _filters() if only_object(model, "where") is Filters else {}

    def build(given: dict[str, Raw]) -> StepDraft:
        conditions = {filters[name]: value for name, value in given.items() if name in filters}
        made = {name: value for name, value in given.items() if name not in filters}
        if conditions:
            where = made.get("where")
            made["where"] = {**(where if isinstance(where, Mapping) else {}), **conditions}
        return StepDraft(op, made)

    words = {name: _told(name, field) for name, field in fields.items()}
    words |= {name: _condition(key) for name, key in filters.items()}
    parameters = [*_parameters(fields), *(_named(name, None) for name in filters)]
    about = inspect.cleandoc(model.__doc__ or "")
    return _function(op, about, parameters, words, build)


def metric_builder(fn: str) -> Callable[..., dict[str, Raw]]:
    """The builder of a metric of an aggregate step."""
    fields = fields_of(Metric)
    column = inspect.Parameter("column", _Kind.POSITIONAL_OR_KEYWORD)
    parameters = [column.replace(default=None) if fn == "count" else column]
    if fn.endswith("_where"):
        parameters.append(inspect.Parameter("where", _Kind.POSITIONAL_OR_KEYWORD))
    words = {"column": fields["column"].description or "", "where": "A comparison, as column('Voltage [V]') < 3."}
    words = {parameter.name: words[parameter.name] for parameter in parameters}
    return _function(fn, _MEANING[fn], parameters, words, lambda given: {"fn": fn, **given})


def _param_builder() -> Callable[..., ParamDraft]:
    control = dict(Control.model_fields)
    required = [inspect.Parameter(name, _Kind.POSITIONAL_OR_KEYWORD) for name in ("name", "default")]
    parameters = [*required, _named("kind", None), *(_named(name, None) for name in control)]
    words = {
        "name": "What the transform and the caller call it: ``params[name]``, ``bench.figure(recipe, name=...)``.",
        "default": Param.model_fields["default"].description or "",
        "kind": (Param.model_fields["kind"].description or "")
        + " Left out: data if it is in the plan, else view.",
        **{name: _told(name, field) for name, field in control.items()},
    }

    def build(given: dict[str, Raw]) -> ParamDraft:
        name = given.pop("name")
        if not isinstance(name, str):
            raise BadRequest(f"A param has a name, as in wb.param('cells', {name!r}); its default comes second.")
        made: dict[str, Raw] = {key: given.pop(key) for key in ("default", "kind") if key in given}
        if given:
            made["control"] = {control[key].alias or key: _choices(key, value) for key, value in given.items()}
        return ParamDraft(name, made)

    return _function("param", "An input of a recipe, and the control that chooses it.", parameters, words, build)


def _choices(name: str, value: Raw) -> Raw:
    if name == "options" and isinstance(value, Mapping):
        return [{"value": key, "label": label} for key, label in value.items()]
    return by_place(Control, fields_alias(name), value)


def fields_alias(name: str) -> str:
    """The JSON name of a field of a control."""
    return Control.model_fields[name].alias or name


def plan(
    steps: Mapping[str, Raw] | None = None, /, *, caps: Mapping[str, Raw] | None = None, **named: Raw
) -> PlanDraft:
    """A plan of named steps, which run in the order in which they are given.

    Parameters
    ----------
    steps, named : step name -> step, one of ``steps.list(...)``, ``steps.series(...)`` ... or its JSON. The names are
        those of ``data`` in the transform. A step called ``caps`` goes into the mapping.
    caps : ceilings of the plan, as ``{"max_sources": 20}``.

    Raises
    ------
    Invalid
        With every reference to a step that does not stand before, and every param where none binds.

    >>> import workbench as wb
    >>> from workbench import steps
    >>> tests = steps.list("measurements", name_contains="_ageing", fields=["id", "batch_name"])
    >>> cycles = steps.summary("cycles", tests, ["Cycle count", "Discharge capacity [A.h]"])
    >>> wb.plan(tests=tests, cycles=cycles)["steps"]["cycles"]["ids"]
    {'from': 'tests', 'column': 'id'}
    """
    if isinstance(caps, StepDraft):
        raise BadRequest("'caps' are the ceilings of a plan; give a step of that name as wb.plan({'caps': step}).")
    return PlanDraft({**(steps or {}), **named}, caps)


def column(name: str) -> Compared:
    """A column of an aggregate step's input, to be compared: ``column("Voltage [V]") < 3`` is a ``where``."""
    return Compared(name)


def metric(name: str) -> MetricDraft:
    """Another metric of the same aggregate step, for thresholds: ``column("Q") < 0.8 * metric("first")``."""
    return MetricDraft(name)


def _filters() -> dict[str, str]:
    """Python name -> JSON key of each condition of a list step."""
    return {name: str(field.alias) for name, field in Filters.model_fields.items()}


def _condition(key: str) -> str:
    field = fields_of(Filters)[key]
    return f"{field.description} Of {', '.join(APPLIES[key])}."


def _told(name: str, field: FieldInfo) -> str:
    return " ".join(part for part in (field.description or "", _SHORT.get(name, "")) if part)


def _parameters(fields: Mapping[str, FieldInfo]) -> list[inspect.Parameter]:
    required = [
        inspect.Parameter(name, _Kind.POSITIONAL_OR_KEYWORD) for name, f in fields.items() if f.is_required()
    ]
    return [*required, *(_named(name, f.default) for name, f in fields.items() if not f.is_required())]


def _named(name: str, default: Raw) -> inspect.Parameter:
    return inspect.Parameter(name, _Kind.KEYWORD_ONLY, default=default)


def _function(
    name: str,
    about: str,
    parameters: Iterable[inspect.Parameter],
    words: Mapping[str, str],
    build: Callable[[dict[str, Raw]], T],
) -> Callable[..., T]:
    signature = inspect.Signature(list(parameters))

    def builder(*args: Raw, **kwargs: Raw) -> T:
        given = _bound(name, signature, args, kwargs)
        optional = {key for key, parameter in signature.parameters.items() if parameter.default is None}
        return build({key: value for key, value in given.items() if value is not None or key not in optional})

    builder.__name__ = builder.__qualname__ = name
    # inspect and editors read this attribute, which typeshed does not declare.
    builder.__signature__ = signature  # type: ignore[attr-defined]
    listed = [textwrap.fill(f"{key} : {text}", 110, subsequent_indent="    ") for key, text in words.items()]
    builder.__doc__ = "\n".join([about, "", "Parameters", "----------", *listed])
    return builder


def _bound(
    name: str, signature: inspect.Signature, args: Sequence[Raw], kwargs: Mapping[str, Raw]
) -> dict[str, Raw]:
    unknown = [key for key in kwargs if key not in signature.parameters]
    if unknown:
        raise BadRequest(
            f"{name} takes no '{unknown[0]}'. {instead(unknown[0], signature.parameters, 'arguments')}"
        )
    try:
        return dict(signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        needed = [key for key, parameter in signature.parameters.items() if parameter.default is parameter.empty]
        raise BadRequest(f"{name}: {error}; it needs {', '.join(needed)}, in this order.") from None


param = _param_builder()
FUNCTIONS: tuple[str, ...] = get_args(Function)
"""The functions of a metric."""
