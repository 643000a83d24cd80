"""The router of the operations in ``workbench.operations``: one FastAPI route for each declaration."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Annotated, cast, get_args, get_origin

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, BeforeValidator, JsonValue
from starlette.responses import Response

from workbench.operations import GROUPS, AnyOperation
from workbench.operations import operation as operation_pages
from workbench.operations.arguments import number_of, whole
from workbench.operations.operation import Argument
from workbench.records import Project, Record

from . import parameters
from .auth import Access, Named
from .context import RequestContext
from .responses import JSON, dumps
from .routing import Function, Route, heavy, takes
from .schemas import Annotation, Json, Page, Shown, Unchecked

router = APIRouter(route_class=Route)


def _endpoint(operation: AnyOperation) -> Function:
    """The endpoint of an operation: takes its arguments from the request, and gives its answer as JSON values."""

    def endpoint(context: RequestContext, **given: Argument) -> JsonValue | Response:
        body: BaseModel | Json | None = given.pop("body", None)
        given.pop("project_id", None)
        arguments = {**given, **_of_body(operation, body), **_of_path(operation, context)}
        if "cancel" in operation.signature.parameters:
            arguments["cancel"] = context.cancel
        answer = operation.encoded(operation.function(context.backend, **arguments))
        return answer if operation.status == 200 else Response(dumps(answer), operation.status, media_type=JSON)

    endpoint.__name__ = operation.name
    endpoint.__doc__ = operation.function.__doc__
    endpoint.__dict__["__signature__"] = inspect.Signature(
        [_parameter("context", Annotated[RequestContext, Depends(_access(operation))]), *_sent(operation)]
    )
    return takes("small")(heavy(endpoint) if operation.heavy else endpoint)


def _access(operation: AnyOperation) -> Access:
    if operation.project == "none":
        return Access(admin=True, whole_store=True)
    # "none" was handled above; mypy does not narrow the Literal of a field.
    return Access(operation.right, cast(Named, operation.project))


def _sent(operation: AnyOperation) -> list[inspect.Parameter]:
    """The parameters of the query, and the body."""
    if operation.whole_body is not None:
        return [_parameter("body", Unchecked.made(operation.whole_body[1]))]
    if operation.body is not None:
        fields = operation.body.model_fields.values()
        optional = not any(field.is_required() for field in fields)
        return [
            _parameter("body", operation.body | None if optional else operation.body, None if optional else ...)
        ]
    found = [
        _parameter(name, _strictly(operation.types[name]), one.default if one.default is not one.empty else ...)
        for name, one in operation.sent.items()
    ]
    if operation.project == "query":
        found.append(
            _parameter("project_id", Annotated[str | None, parameters.ids_of(Project, "The project.")], None)
        )
    return found


def _strictly(annotation: Annotation) -> Annotation:
    """The type of a query parameter; a number is written in digits alone."""
    bare = getattr(annotation, "__origin__", annotation)
    return Annotated[annotation, BeforeValidator(whole), Query()] if bare is int else annotation


def _parameter(name: str, annotation: Annotation, default: Argument = ...) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=given)


def _of_body(operation: AnyOperation, body: BaseModel | Json | None) -> dict[str, Argument]:
    if operation.whole_body is not None:
        return {operation.whole_body[0]: body}
    if not isinstance(body, BaseModel):
        return {}
    return {name: getattr(body, name) for name in operation.sent}


def _of_path(operation: AnyOperation, context: RequestContext) -> dict[str, Argument]:
    """The arguments from the path: records that the caller can reach, texts and numbers."""
    made: dict[str, Argument] = {}
    for name in operation.signature.parameters:
        kind = operation.types.get(name)
        if name in operation.positions:
            made[name] = number_of(context.path[name]) if kind is int else context.path[name]
        elif f"{name}_id" in operation.positions and isinstance(kind, type) and issubclass(kind, Record):
            made[name] = context.record(kind)
    return made


_CONTAINERS: Mapping[Annotation, Annotation] = {list: list, operation_pages.Page: Page}


def _answer(kind: Annotation) -> Annotation:
    """The type of an answer as the wire shows it: records, and lists and pages of them, by their wire names."""
    if isinstance(kind, type) and issubclass(kind, Record):
        return Shown.made(kind)
    container = _CONTAINERS.get(get_origin(kind))
    return kind if container is None else container[_answer(get_args(kind)[0])]


for _group, _operations in GROUPS.items():
    for _operation in _operations:
        router.add_api_route(
            _operation.path,
            _endpoint(_operation),
            methods=[_operation.method],
            response_model=_answer(_operation.types["return"]),
            status_code=_operation.status,
            tags=[_group],
        )
