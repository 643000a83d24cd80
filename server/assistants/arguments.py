"""The arguments of a tool, from the route that it asks: their JSON Schema, and the request that they make."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote

from pydantic import JsonValue

from workbench.errors import BadRequest, NotFound, instead

from ..openapi import document
from ..schemas import Json
from .asking import Asking

PROJECT = "project"
"""The argument of tools that names the project, by its name or id."""
_MOST_PAGES = 50
_NAMED: Json = {
    "type": "string",
    "description": "Name or id of the project. Not needed if the key opens only one.",
}
RECIPE: Json = {
    "type": "object",
    "description": "A recipe: plan, transform, params. The resource workbench://recipe/schema has its JSON Schema, "
    "and the tool authoring_context says how to write one for this project.",
}
DRAFT: Json = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "config": RECIPE},
    "required": ["name", "config"],
    "description": "A named recipe that is not saved yet.",
}
BY_MODEL = {"Recipe": RECIPE, "PlanConfig": RECIPE, "AuthoringDraft": DRAFT}
"""What a large model of a body is called in the schema of a tool, which a language model reads with every wish."""


@dataclass(frozen=True)
class Part:
    """An argument: where it goes in the request, under which name, and its schema."""

    place: str
    name: str
    schema: Json
    required: bool


@dataclass(frozen=True)
class Shape:
    """The arguments of a route by their names in a tool."""

    method: str
    path: str
    parts: Mapping[str, Part]
    words: str
    """What the route does, in the words of its own documentation."""


@dataclass
class Request:
    """A request that a tool makes."""

    method: str
    path: str
    query: Json = field(default_factory=dict)
    body: Json | None = None


@cache
def shape(route: str) -> Shape:
    """The arguments of a route such as ``GET /search``, as the document of the HTTP interface has them."""
    method, _, path = route.partition(" ")
    described = document()["paths"][path][method.lower()]
    parts: dict[str, Part] = {}
    for one in described.get("parameters", ()):
        if one["in"] in ("path", "query"):
            schema = {
                **_plain(one["schema"]),
                **({"description": one["description"]} if "description" in one else {}),
            }
            _add(parts, Part(one["in"], one["name"], schema, bool(one.get("required")) or one["in"] == "path"))
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body is not None:
        model = _object_of(body)
        for name, schema in model.get("properties", {}).items():
            _add(parts, Part("body", name, _plain(schema), name in model.get("required", ())))
    return Shape(method, path, parts, described.get("summary", "") + ".")


def _add(parts: dict[str, Part], part: Part) -> None:
    if part.name == "project_id":
        # The only project may be left out, but where the route asks for one it gets it.
        parts[PROJECT] = Part(part.place, part.name, _NAMED, part.required)
    else:
        parts[part.name] = part


def _object_of(schema: Json) -> Json:
    """The model of a body, which may be optional."""
    if "$ref" in schema:
        found: Json = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return found
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null":
            return _object_of(choice)
    return schema


def _plain(schema: Json) -> Json:
    """A schema without references: large models are described in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return BY_MODEL.get(name) or {"type": "object", **_about(schema)}
    made = {key: value for key, value in schema.items() if key not in ("title", "anyOf", "items", "properties")}
    made = {key: value for key, value in made.items() if not key.startswith("x-")}
    if "items" in schema:
        made["items"] = _plain(schema["items"])
    choices = [_plain(one) for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(choices) == 1:
        made = {**choices[0], **made}
    elif choices:
        made["anyOf"] = choices
    made.pop("default", None) if made.get("default", 0) is None else None
    return made


def _about(schema: Json) -> Json:
    return {"description": schema["description"]} if "description" in schema else {}


async def request(asking: Asking, of: Shape, given: Mapping[str, JsonValue]) -> Request:
    """The request of a route with these arguments.

    Raises
    ------
    BadRequest, NotFound, Refused
        If there is no such project.
    """
    made = Request(of.method, of.path)
    for name, part in of.parts.items():
        value = given.get(name)
        if name == PROJECT and (part.required or value is not None or asking.project is not None):
            value = await project(asking, value if value is not None else asking.project)
        elif name not in given:
            continue
        _place(made, part, value)
    if of.method in ("POST", "PUT", "PATCH") and made.body is None:
        made.body = {}
    return made


def _place(made: Request, part: Part, value: JsonValue) -> None:
    if part.place == "path":
        made.path = made.path.replace(f"{{{part.name}}}", quote(str(value), safe=""), 1)
    elif part.place == "query":
        made.query[part.name] = value
    else:
        made.body = {**(made.body or {}), part.name: value}


def refuse_wrong(
    tool: str, given: Mapping[str, JsonValue], known: Mapping[str, Json], required: Sequence[str]
) -> None:
    """Refuse arguments that a tool does not have, and calls without those that it needs."""
    for name in given:
        if name not in known:
            raise BadRequest(
                f"The tool '{tool}' has no argument '{name[:80]}'. {instead(name, known, 'arguments')}"
            )
    missing = [f"'{name}'" for name in required if name not in given]
    if missing:
        raise BadRequest(f"The tool '{tool}' also needs {' and '.join(missing)}.")


async def project(asking: Asking, named: JsonValue) -> str:
    """The id of the project of this name or id; without one, of the only project that the key opens."""
    if isinstance(named, str) and _is_id(named):
        return named
    there = await _projects(asking)
    if named is None:
        if len(there) == 1:
            return next(iter(there.values()))
        raise BadRequest(
            f"The key opens {len(there)} projects: {', '.join(list(there)[:20])}. Name one as '{PROJECT}'."
            if there
            else "The key opens no project. Ask an admin of a project to make its user a member."
        )
    if str(named) not in there:
        raise NotFound(f"There is no project '{str(named)[:80]}' here. {instead(str(named), there, 'projects')}")
    return there[str(named)]


def _is_id(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


async def _projects(asking: Asking) -> dict[str, str]:
    """The projects that the key opens: name -> id."""
    found: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        reply = await asking.ask("GET", "/projects", {"limit": 100, "offset": len(found)})
        if not reply.ok:
            raise Refused(reply.status, reply.json())
        page = reply.json()
        found |= {one["name"]: one["id"] for one in page["items"]}
        if len(found) >= page["total"] or not page["items"]:
            break
    return found


class Refused(Exception):
    """The HTTP interface refused a request; holds its error body."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(str(body.get("message", status)))
        self.status = status
        self.body = body
