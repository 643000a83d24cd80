"""The OpenAPI document: FastAPI derives it from the routes; keys and error bodies are added here."""

from __future__ import annotations

import re
from functools import cache

from fastapi.openapi.utils import get_openapi
from pydantic import JsonValue

from .routes import ROUTERS
from .schemas import Json
from .settings import VERSION

TITLE = "Battery Workbench"
INTERFACE_VERSION = "0.1.0"
_ERROR = {
    "type": "object",
    "properties": {
        "error_code": {"type": "string"},
        "message": {"type": "string"},
        "detail": {},
        "log": {"type": "string"},
    },
    "required": ["error_code", "message"],
}
_PROBLEM = {
    "type": "object",
    "properties": {
        "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
        "msg": {"type": "string"},
        "type": {"type": "string"},
        "ctx": {"type": "object"},
        "input": {},
    },
    "required": ["loc", "msg", "type"],
}
_INVALID = {
    "type": "object",
    "properties": {
        "error_code": {"type": "string"},
        "message": {"type": "string"},
        "detail": {"type": "array", "items": {"$ref": "#/components/schemas/ValidationError"}},
        "log": {"type": "string"},
    },
    "required": ["error_code", "message"],
}


_PAGE = re.compile(r"Page_(?:Shown)?(\w+?)_+")
_OWN_NAMES = {"PlotConfig": "Recipe", "dict_str__Any": "AnyRecord"}
"""A generator calls the config of a Plot PlotConfig too."""


@cache
def document() -> Json:
    """The OpenAPI document of all routes."""
    routes = [route for router in ROUTERS for route in router.routes]
    made = get_openapi(title=TITLE, version=INTERFACE_VERSION, routes=routes)
    made["info"]["x-workbench"] = VERSION
    components = made.setdefault("components", {})
    components["securitySchemes"] = {
        "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        "token": {"type": "http", "scheme": "bearer"},
    }
    components.setdefault("schemas", {}).update(
        {"Error": _ERROR, "ValidationError": _PROBLEM, "HTTPValidationError": _INVALID}
    )
    for path in made["paths"].values():
        for operation in path.values():
            _name_errors(operation)
            if "requestBody" in operation:
                operation["requestBody"].setdefault("required", False)
            _name_parameters(operation)
    return _with_own_names(made)


def _with_own_names(made: Json) -> Json:
    """The document with names that a generator of clients can use: FastAPI calls a page of analyses
    ``Page_ShownAnalysis_``, with the same title as all other pages."""
    names = {name: _own_name(name) for name in made["components"]["schemas"]}
    refs = {f"#/components/schemas/{name}": f"#/components/schemas/{own}" for name, own in names.items()}

    def renamed(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {key: renamed(one) for key, one in value.items()}
        if isinstance(value, list):
            return [renamed(one) for one in value]
        return refs.get(value, value) if isinstance(value, str) else value

    own: Json = {key: renamed(part) for key, part in made.items()}
    schemas = own["components"]["schemas"]
    own["components"]["schemas"] = {
        names[name]: {**schema, "title": names[name]} for name, schema in schemas.items()
    }
    return own


def _own_name(name: str) -> str:
    of = _PAGE.fullmatch(name)
    return f"PageOf{_OWN_NAMES.get(of[1], of[1])}" if of else _OWN_NAMES.get(name, name)


def _name_parameters(operation: Json) -> None:
    """List every parameter once: FastAPI and the route both list the positions of the path. Move the kind of record of
    an id from the schema to the parameter."""
    found = {(one["in"], one["name"]): one for one in operation.get("parameters", ())}
    for one in found.values():
        if "x-record" in one["schema"]:
            one["x-record"] = one["schema"].pop("x-record")
    operation["parameters"] = list(found.values())


def _name_errors(operation: Json) -> None:
    """Describe the body of each answer that is an error."""
    for status, answer in operation["responses"].items():
        if int(status) >= 400:
            name = "HTTPValidationError" if status == "422" else "Error"
            answer["content"] = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
