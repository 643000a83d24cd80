"""Recipes that are not saved: their schema, data, figures and detail; the routes of saved plots use this module too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Literal, NotRequired, TypeGuard

import orjson
from fastapi import APIRouter
from pydantic import BeforeValidator, Field, JsonValue, WithJsonSchema
from pydantic_core import PydanticCustomError
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench import export
from workbench.backend import FigureAnswer
from workbench.drawing import HintShown
from workbench.engine import arrow, wire
from workbench.engine.traces import MOST_TRACES, TraceShown, as_micros
from workbench.recipe import controls
from workbench.recipe.check import sound
from workbench.recipe.plot import Plan, PlotConfig
from workbench.recipe.schema import schema
from workbench.recipe.strict import Raw, Strict

from ..auth import Member, ProjectWriter
from ..context import RequestContext, Slow
from ..parameters import AsOf
from ..responses import JSON
from ..routing import Route, heavy, takes
from ..schemas import Body, DescribedAs, FromJson, Json

router = APIRouter(route_class=Route, tags=["Recipes"])

PNG = "image/png"
WIDEST = 20_000
Values = Annotated[Json, Field(description="Chosen values by param name; what is missing takes its default.")]


class PlanConfig(Strict):
    """A recipe of which only the plan and the params matter."""

    plan: Plan
    params: Json = Field(default_factory=dict)
    transform: FromJson = None


# The checker of recipes gets what was sent: it explains problems better than a type can.
RawPlan = Annotated[FromJson, DescribedAs(PlanConfig)]
RawRecipe = Annotated[FromJson, DescribedAs(PlotConfig)]


def _is_whole(value: JsonValue) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _traces(value: JsonValue) -> JsonValue:
    if not isinstance(value, list) or not all(_is_whole(n) and 0 <= n < MOST_TRACES for n in value):
        raise PydanticCustomError("list_type", "'traces' is a list of trace numbers, from 0.")
    return value


def _width(value: JsonValue) -> JsonValue:
    if not (_is_whole(value) and 1 <= value <= WIDEST):
        raise PydanticCustomError(
            "out_of_range", "'width' is a number of pixels from 1 to {most}.", {"most": WIDEST}
        )
    return value


def _span(value: JsonValue) -> JsonValue:
    ends = value if isinstance(value, list) and len(value) == 2 else []
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
    texts = [end for end in ends if isinstance(end, str)]
    if not ends or not (numbers or (len(texts) == 2 and as_micros(texts) is not None)):
        raise PydanticCustomError("list_type", "This is the visible range of an axis: two numbers or two times.")
    return value


_SPAN = {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["number", "string"]}}
_TRACE = {"type": "integer", "minimum": 0, "maximum": MOST_TRACES - 1}
Traces = Annotated[list[int], BeforeValidator(_traces), WithJsonSchema({"type": "array", "items": _TRACE})]
Width = Annotated[
    int, BeforeValidator(_width), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": WIDEST})
]
Span = Annotated[FromJson, BeforeValidator(_span), WithJsonSchema(_SPAN)]
SpanOrNull = Annotated[
    FromJson,
    BeforeValidator(lambda value: None if value is None else _span(value)),
    WithJsonSchema({**_SPAN, "type": ["array", "null"]}),
]


class OfPlan(Body):
    """A recipe whose transform may be missing, and chosen values."""

    config: RawPlan
    values: Values = Field(default_factory=dict)


class OfRecipe(Body):
    """A recipe and chosen values."""

    config: RawRecipe
    values: Values = Field(default_factory=dict)


class Part(Body):
    """The part of a figure that is wanted in detail."""

    traces: Traces
    x: Span
    width: Width
    y: SpanOrNull = None


class DetailOfRecipe(Part, OfRecipe):
    """A recipe, chosen values, and the part of its figure that is wanted in detail."""


class Choice(TypedDict):
    value: JsonValue
    label: str | None


class WarningShown(TypedDict):
    code: str
    message: str
    step: NotRequired[str]
    param: NotRequired[str]


class Cached(TypedDict):
    dataset: Literal["hit", "miss"]
    figure: NotRequired[Literal["hit", "miss"]]


class Reads(TypedDict):
    steps: int
    sources: int


class Run(TypedDict):
    """How an answer came about."""

    values: Json
    options: dict[str, list[Choice]]
    warnings: list[WarningShown]
    cache: Cached
    reads: Reads
    timings: dict[str, float]


class DatasetShown(Run):
    """The data of a recipe: of each step its records, or its series by id."""

    steps: Json
    columns: Json


class FigureShown(Run):
    """A figure of plotly, and how it came about. ``content`` is a hash of what is seen: the figure, values, choices and
    warnings. ``hints`` are what lint finds in it, for its author."""

    figure: Json
    log: str
    traces: list[TraceShown]
    hints: list[HintShown]
    controls: list[controls.Decided]
    content: str


class TracesShown(TypedDict):
    """Finer detail of traces, by their number."""

    traces: dict[str, Json]


ARROW: dict[int | str, Json] = {
    200: {"content": {arrow.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get("/recipe/schema")
def recipe_schema(context: Member) -> Json:
    """JSON Schema of a recipe, with a sentence for each field."""
    return schema()


@router.post("/projects/{project_id}/datasets", response_model=DatasetShown, responses=ARROW)
@heavy
@takes("small")
def dataset(context: ProjectWriter, body: OfPlan, as_of: AsOf = None) -> Response:
    """The data of a recipe; its transform may be missing and is not checked."""
    context.show_as_of(as_of)
    return data(context, sound(body.config, transform=False), body.values)


def data(context: RequestContext, config: PlotConfig, values: Json) -> Response:
    """The data of a recipe as JSON or Arrow. Arrow leaves out the steps that the client says it has."""
    answered = context.backend.answered(config, values, cancel=context.cancel)
    headers = {arrow.CONTENT: answered.content}
    if answered.data_at is not None:
        headers[arrow.DATA_AT] = str(answered.data_at)
    accept = context.request.headers.get("accept", "")
    if arrow.MEDIA_TYPE not in accept:
        return Response(wire.to_json(answered.dataset), 200, headers, JSON)
    found = answered.dataset
    if answered.content in context.request.headers.get(arrow.HAVE, ""):
        found = replace(found, steps={})
    return Response(arrow.to_arrow(found, (), arrow.compression_of(accept)), 200, headers, arrow.MEDIA_TYPE)


@router.post("/projects/{project_id}/figures", response_model=FigureShown)
@takes("small")
def figure(context: ProjectWriter, body: OfRecipe, as_of: AsOf = None) -> Response | Slow:
    """The figure of a recipe that is not saved."""
    context.show_as_of(as_of)
    return drawn(context, sound(body.config), body.values)


def drawn(
    context: RequestContext,
    config: PlotConfig,
    values: Json,
    respond: Callable[[PlotConfig, FigureAnswer], Response] | None = None,
) -> Response | Slow:
    """The response with the figure of a recipe: at once if it is in the cache, else when a thread is free to draw it.
    ``respond`` makes the response."""
    respond = respond or figure_response
    found = context.backend.cached_figure(config, values)
    if found is not None:
        return respond(config, found)
    return Slow(lambda: respond(config, context.backend.figure(config, values, cancel=context.cancel)))


def figure_response(
    config: PlotConfig,
    answer: FigureAnswer,
    headers: Mapping[str, str] | None = None,
    *,
    only: frozenset[str] | None = None,
) -> Response:
    """A figure answer; the bytes of the figure are used as they are. With ``only``, it says nothing of other params,
    nor what the script printed, nor what lint finds."""
    table = controls.table(config.params, answer.values, answer.options)
    options, values, log, warnings = answer.options, answer.values, answer.log, answer.warnings
    if only is not None:
        warnings = [said for one in warnings if (said := _said_outside(one, only)) is not None]
        table = [one for one in table if one["name"] in only]
        options = {name: one for name, one in options.items() if name in only}
        values = {name: one for name, one in values.items() if name in only}
        log = ""
    content = {
        "figure": orjson.Fragment(answer.figure),
        "values": values,
        "options": options,
        "warnings": warnings,
        "cache": answer.cache,
        "reads": answer.reads,
        "timings": answer.timings,
        "log": log,
        "traces": answer.traced,
        "hints": answer.hinted if only is None else [],
        "controls": table,
        "content": answer.content,
    }
    return Response(orjson.dumps(content), 200, headers, JSON)


def _said_outside(warning: Json, only: frozenset[str]) -> Json | None:
    """A warning for who may know of the params of ``only`` alone."""
    if warning.get("param") is None or warning["param"] in only:
        return warning
    if warning["code"] != "value_dropped":
        return None
    message = "Some of what this plot was made to show does not exist any more, and is left out."
    return {"code": warning["code"], "message": message}


@router.post(
    "/projects/{project_id}/figures/picture",
    response_class=Response,
    responses={
        200: {"content": {PNG: {}}},
        501: {"description": "Pictures cannot be drawn: the server lacks kaleido or a browser."},
    },
)
@heavy
@takes("small")
def figure_picture(context: ProjectWriter, body: OfRecipe) -> Response:
    """The figure of a recipe that is not saved, as a png with its passport."""
    config = sound(body.config)
    answer = context.backend.figure(config, body.values, cancel=context.cancel)
    said = context.backend.passport(config, answer)
    return Response(export.file(answer.figure, "png", passport=said), 200, None, PNG)


@router.post("/projects/{project_id}/figures/detail")
@heavy
@takes("small")
def figure_detail(context: ProjectWriter, body: DetailOfRecipe, as_of: AsOf = None) -> TracesShown:
    """Finer detail of a part of the figure of a recipe that is not saved."""
    context.show_as_of(as_of)
    return detail(context, body.config, body.values, body)


def detail(context: RequestContext, config: Raw, values: Json, part: Part) -> TracesShown:
    """Finer detail of some traces of a recipe's figure."""
    found = context.backend.detail(
        config, values, cancel=context.cancel, traces=part.traces, x=part.x, y=part.y, width=part.width
    )
    return {"traces": {str(number): one.as_dict() for number, one in found.items()}}
