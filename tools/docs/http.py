"""The reference page of the HTTP interface, generated from the routes of the server."""

from __future__ import annotations

from typing import Any

from server.auth import Access
from server.openapi import document
from server.routes import ROUTERS
from server.routing import Route
from workbench.store.records.people import Right

from .prose import MADE

_RIGHTS = {Right.READ: "viewer", Right.WRITE: "contributor", Right.MANAGE: "admin of the project"}
_HEAD = """Every operation of `workbench serve`. `GET /openapi.json` has their parameters, bodies and answers.
[The server](../explanation/server.md) explains the rights.

- Credential: `X-API-Key: <key>` or `Authorization: Bearer <key>`.
- Lists answer `{"items": [...], "count": rows of the page, "total": rows that match}` and take `limit`, `offset`,
  `order_by`, `order`, and filters such as `name=eq.<text>`, `name=ilike.%<text>%`, `created_at_gt=<time>`,
  `created_at=gte.<time>`.
- Errors are one object: `error_code`, `message` and, for 409 and 422, `detail`.
- A parameter or a field that is not known is refused with the nearest known name, never ignored."""


def page() -> str:
    """The page as Markdown."""
    groups: dict[str, list[Route]] = {}
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, Route):
                groups.setdefault(str(route.tags[0]), []).append(route)
    lines = ["# HTTP", "", f"<!-- {MADE} -->", "", _HEAD, ""]
    for title, routes in groups.items():
        lines += [f"## {title}", "", "| | takes | needs | |", "|---|---|---|---|"]
        lines += [_row(route) for route in routes]
        lines.append("")
    return "\n".join(lines)


def _row(route: Route) -> str:
    method, _, path = route.operation.partition(" ")
    about: dict[str, Any] = document()["paths"][path.replace(":path", "")][method.lower()]
    taken = [one["name"] for one in about.get("parameters", ()) if one["in"] == "query"]
    for media in about.get("requestBody", {}).get("content", {}).values():
        taken = [*_fields(media["schema"]), *taken]
    shown = ", ".join(f"`{name}`" for name in taken)
    return f"| `{route.operation}` | {shown} | {_need(route.access)} | {about['summary']} |"


def _fields(schema: dict[str, Any]) -> list[str]:
    while "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null":
            return _fields(choice)
    return list(schema.get("properties", ["the bytes"] if schema.get("format") == "binary" else []))


def _need(access: Access) -> str:
    if access.credential != "key":
        return {"none": "no credential", "signed": "a signed address"}[access.credential]
    if access.whole_store:
        return "Admin of every organization"
    if access.admin:
        return "Admin"
    return "any key" if access.right is None else _RIGHTS[access.right]
