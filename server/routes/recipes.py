"""Recipes that are not saved: their schema, data, figures and detail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeGuard

import orjson

from workbench.engine import arrow, wire
from workbench.errors import Invalid, Problem, instead
from workbench.recipe.check import sound
from workbench.recipe.plot import PlotConfig
from workbench.recipe.schema import schema
from workbench.work import FigureAnswer

from .. import schemas as s
from ..answers import JSON, Bytes
from ..call import Call
from ..operation import Body, Need, Operation

MOST_TRACES = 1000
WIDEST = 20_000
_DETAIL = ("traces", "x", "y", "width")


def published(call: Call) -> dict[str, Any]:
    return schema()


def parts(body: Mapping[str, Any], *further: str, config: bool = True) -> tuple[Any, dict[str, Any]]:
    """The recipe and the values of a body, and nothing else but ``further``.

    Raises
    ------
    Invalid
        With ``loc`` at the property that is unknown, missing or no object.
    """
    known = (*(("config",) if config else ()), "values", *further)
    problems = [
        Problem(
            (name,), f"There is no '{name[:80]}' here. {instead(name, known, 'properties')}", "extra_forbidden"
        )
        for name in body
        if name not in known
    ]
    if config and "config" not in body:
        problems.append(Problem(("config",), "'config' is missing.", "missing"))
    values = body.get("values", {})
    if not isinstance(values, dict):
        problems.append(Problem(("values",), "'values' is an object: param name to value.", "dict_type"))
    if problems:
        raise Invalid(problems)
    return body.get("config"), values


def dataset(call: Call) -> Bytes:
    config, values = parts(call.body)
    return data(call, config, values)


def data(call: Call, config: Any, values: Mapping[str, Any]) -> Bytes:
    """The data of a recipe as JSON or as Arrow; as Arrow without the steps for who says to have them already."""
    checked = config if isinstance(config, PlotConfig) else sound(config, transform=False)
    answered = call.work.answered(checked, values, cancel=call.cancel)
    told = {arrow.CONTENT: answered.content}
    accept = call.headers.get("accept", "")
    if arrow.MEDIA_TYPE not in accept:
        return Bytes(wire.to_json(answered.dataset), JSON, told)
    found = answered.dataset
    if answered.content in call.headers.get(arrow.HAVE, ""):
        found = replace(found, steps={})
    return Bytes(arrow.to_arrow(found, (), arrow.compression_of(accept)), arrow.MEDIA_TYPE, told)


def checked(call: Call) -> dict[str, Any]:
    """Everything wrong with a recipe, in this project; none if it is sound."""
    config, values = parts(call.body)
    return {"problems": [problem.as_detail() for problem in call.work.check(config, values)]}


def options(call: Call) -> dict[str, Any]:
    """The live choices of the params that take them from a step."""
    config, values = parts(call.body)
    return {"options": call.work.live_choices(sound(config, transform=False), values)}


def figure(call: Call) -> Bytes:
    config, values = parts(call.body)
    return shown(call.work.figure(config, values, cancel=call.cancel))


def shown(answer: FigureAnswer) -> Bytes:
    """A figure answer on the wire; the figure's own bytes go in as they are."""
    content = {
        "figure": orjson.Fragment(answer.figure),
        "values": answer.values,
        "options": answer.options,
        "warnings": answer.warnings,
        "cache": answer.cache,
        "reads": answer.reads,
        "timings": answer.timings,
        "log": answer.log,
    }
    return Bytes(orjson.dumps(content), JSON)


def detail(call: Call) -> dict[str, Any]:
    config, values = parts(call.body, *_DETAIL)
    return detailed(call, config, values)


def detailed(call: Call, config: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Finer detail of some traces of a recipe's figure."""
    found = call.work.detail(config, values, cancel=call.cancel, **_asked(call.body))
    return {"traces": {str(number): one.as_dict() for number, one in found.items()}}


def _asked(body: Mapping[str, Any]) -> dict[str, Any]:
    """What part of the figure is asked for, checked."""
    problems = []
    traces, width = body.get("traces"), body.get("width")
    if not isinstance(traces, list) or not all(_whole(n) and 0 <= n < MOST_TRACES for n in traces):
        problems.append(Problem(("traces",), "'traces' is a list of trace numbers, from 0.", "list_type"))
    if not (_whole(width) and 1 <= width <= WIDEST):
        problems.append(Problem(("width",), f"'width' is a number of pixels from 1 to {WIDEST}.", "out_of_range"))
    for axis in ("x", "y"):
        span = body.get(axis)
        if not (span is None and axis == "y") and not _is_span(span):
            words = f"'{axis}' is the visible range: two numbers or two times."
            problems.append(Problem((axis,), words, "list_type"))
    if problems:
        raise Invalid(problems)
    return {"traces": traces, "x": body["x"], "y": body.get("y"), "width": width}


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_span(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in value)
    return numbers or all(isinstance(end, str) for end in value)


SPAN = {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["number", "string"]}}
DETAIL: dict[str, s.Schema] = {
    "traces": s.array({"type": "integer", "minimum": 0, "maximum": MOST_TRACES - 1}),
    "x": SPAN,
    "width": {"type": "integer", "minimum": 1, "maximum": WIDEST},
}
MORE_DETAIL: dict[str, s.Schema] = {"y": {**SPAN, "type": ["array", "null"]}}
ACCOUNT: dict[str, s.Schema] = {
    "values": s.FREE,
    "options": {
        "type": "object",
        "additionalProperties": s.array(s.record({"value": s.ANY, "label": s.TEXT_OR_NULL})),
    },
    "warnings": s.array(s.record({"code": s.TEXT, "message": s.TEXT}, {"step": s.TEXT, "param": s.TEXT})),
    "cache": s.record({"dataset": {"enum": ["hit", "miss"]}}, {"figure": {"enum": ["hit", "miss"]}}),
    "reads": s.record({"steps": s.NUMBER, "sources": s.NUMBER}),
    "timings": {"type": "object", "additionalProperties": {"type": "number"}},
}
FIGURE = s.record({"figure": s.FREE, **ACCOUNT, "log": s.TEXT})
TRACES = s.record({"traces": {"type": "object", "additionalProperties": s.FREE}})
DATASET = s.record({"steps": s.FREE, "columns": s.FREE, **ACCOUNT})
_PLAN = s.record({"plan": s.ref("Plan")}, {"params": s.FREE, "transform": s.ANY})

OPERATIONS = (
    Operation(
        "GET",
        "/recipe/schema",
        published,
        Need.MEMBER,
        "JSON Schema of a recipe, with a sentence for each field",
        answer=s.FREE,
    ),
    Operation(
        "POST",
        "/projects/{project_id}/datasets",
        dataset,
        Need.WRITE,
        "The data of a recipe; its transform may be missing and is not looked at",
        project="path",
        body=Body(s.body({"config": _PLAN}, {"values": s.FREE}), "small"),
        answer=DATASET,
        media=(arrow.MEDIA_TYPE,),
        heavy=True,
    ),
    Operation(
        "POST",
        "/projects/{project_id}/recipes/check",
        checked,
        Need.WRITE,
        "Everything wrong with a recipe, also against the store; its transform may be missing",
        project="path",
        body=Body(s.body({"config": s.ANY}, {"values": s.FREE}), "small"),
        answer=s.record({"problems": s.array(s.ref("ValidationError"))}),
        heavy=True,
    ),
    Operation(
        "POST",
        "/projects/{project_id}/recipes/options",
        options,
        Need.WRITE,
        "The present choices of the params that take them from a step",
        project="path",
        body=Body(s.body({"config": _PLAN}, {"values": s.FREE}), "small"),
        answer=s.record({"options": ACCOUNT["options"]}),
        heavy=True,
    ),
    Operation(
        "POST",
        "/projects/{project_id}/figures",
        figure,
        Need.WRITE,
        "The figure of a recipe that is not saved",
        project="path",
        body=Body(s.body({"config": s.ref("PlotConfig")}, {"values": s.FREE}), "small"),
        answer=FIGURE,
        heavy=True,
    ),
    Operation(
        "POST",
        "/projects/{project_id}/figures/detail",
        detail,
        Need.WRITE,
        "Finer detail of a part of the figure of a recipe that is not saved",
        project="path",
        body=Body(s.body({"config": s.ref("PlotConfig"), **DETAIL}, {"values": s.FREE, **MORE_DETAIL}), "small"),
        answer=TRACES,
        heavy=True,
    ),
)
