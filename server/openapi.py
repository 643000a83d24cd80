"""The OpenAPI document, made from the table of operations and the records' declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.recipe.plot import AuthoringRequest
from workbench.recipe.schema import schema_of
from workbench.records import KINDS

from . import schemas
from .operation import PLACES, Body, Need, Operation, Parameter
from .settings import VERSION

TITLE = "Battery Workbench"
INTERFACE_VERSION = "0.1.0"
_ERROR = schemas.record(
    {"error_code": schemas.TEXT, "message": schemas.TEXT}, {"detail": schemas.ANY, "log": schemas.TEXT}
)
_PROBLEM = schemas.record(
    {
        "loc": schemas.array({"type": ["string", "integer"]}),
        "msg": schemas.TEXT,
        "type": schemas.TEXT,
    },
    {"ctx": schemas.FREE, "input": schemas.ANY},
)
_INVALID = schemas.record(
    {"error_code": schemas.TEXT, "message": schemas.TEXT, "detail": schemas.array(schemas.ref("ValidationError"))},
    {"log": schemas.TEXT},
)
_STATUSES = {
    "400": "A reference of the wrong kind, a body that cannot be unpacked.",
    "401": "No credential, or one that is not in force.",
    "403": "It may be read, but not what is asked.",
    "404": "It does not exist, or is out of the caller's reach.",
    "409": "A name is taken, or the action does not fit the state.",
    "413": "The body is too large.",
    "429": "Too many requests with this key.",
    "500": "The server failed.",
    "503": "The server has more to do than it can.",
}


def document(operations: Sequence[Operation], more: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {}
    for operation in operations:
        path = operation.path.replace(":path}", "}")
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": INTERFACE_VERSION, "x-workbench": VERSION},
        "paths": paths,
        "components": {
            "schemas": {
                **schemas.of_kinds(KINDS.values(), more),
                **recipes(),
                "Error": _ERROR,
                "ValidationError": _PROBLEM,
                "HTTPValidationError": _INVALID,
            },
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "token": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def recipes() -> dict[str, Any]:
    """The schema of a recipe and of the request to write one, their definitions as components of their own."""
    whole = schema_of(AuthoringRequest)
    found = {name: _moved(item) for name, item in whole.pop("$defs", {}).items()}
    return {**found, "AuthoringRequest": _moved(whole)}


def _moved(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: item.replace("#/$defs/", "#/components/schemas/") if key == "$ref" else _moved(item)
            for key, item in value.items()
        }
    return [_moved(item) for item in value] if isinstance(value, list) else value


def _operation(operation: Operation) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": _identifier(operation),
        "summary": operation.summary,
        "parameters": [_in_path(name) for name in operation.path_names] + [_in_query(p) for p in operation.query],
        "responses": _responses(operation),
    }
    if operation.need not in (Need.NOTHING, Need.SIGNED):
        made["security"] = [{"key": []}, {"token": []}]
    if operation.body is not None:
        made["requestBody"] = _body(operation.body)
    return made


def _identifier(operation: Operation) -> str:
    words = operation.path.replace("{", "").replace("}", "").replace(":path", "")
    return f"{operation.method.lower()}{words.replace('/', '_').replace('-', '_')}"


def _in_path(name: str) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    if name in PLACES:
        made["x-record"] = PLACES[name].table
    return made


def _in_query(parameter: Parameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    if parameter.many:
        schema = {"type": "array", "items": schema}
    elif parameter.default is not None:
        schema["default"] = parameter.default
    made = {"name": parameter.name, "in": "query", "required": parameter.required, "schema": schema}
    if parameter.meaning:
        made["description"] = parameter.meaning
    if parameter.kind is not None:
        made["x-record"] = parameter.kind.table
    return made


def _body(body: Body) -> dict[str, Any]:
    media = {"json": "application/json", "multipart": "multipart/form-data", "raw": "application/octet-stream"}
    made: dict[str, Any] = {
        "required": not body.optional,
        "content": {media[body.form]: {"schema": body.schema}},
    }
    if body.ids:
        made["x-records"] = {name: kind.table for name, kind in body.ids.items()}
    return made


def _responses(operation: Operation) -> dict[str, Any]:
    done: dict[str, Any] = {"description": "Done."}
    if operation.answer is not None:
        done["content"] = {"application/json": {"schema": operation.answer}}
    for media in operation.media:
        done.setdefault("content", {})[media] = {"schema": {"type": "string", "format": "binary"}}
    made = {str(operation.status): done}
    error = {"application/json": {"schema": schemas.ref("Error")}}
    made |= {status: {"description": words, "content": error} for status, words in _STATUSES.items()}
    invalid = {"application/json": {"schema": schemas.ref("HTTPValidationError")}}
    made["422"] = {
        "description": "Something in the request is wrong; detail says what and where.",
        "content": invalid,
    }
    return made
