"""The reference page of the HTTP interface, generated from the table of operations."""

from __future__ import annotations

from server.operation import Need, Operation

from server.openapi import recipes
from server.routes import GROUPS

from .prose import MADE

_NEEDS = {
    Need.NOTHING: "no credential",
    Need.SIGNED: "a signed address",
    Need.MEMBER: "any key",
    Need.READ: "viewer",
    Need.WRITE: "contributor",
    Need.MANAGE: "admin of the project",
    Need.ADMIN: "Admin",
}
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
    lines = ["# HTTP", "", f"<!-- {MADE} -->", "", _HEAD, ""]
    for title, operations in GROUPS.items():
        lines += [f"## {title}", "", "| | takes | needs | |", "|---|---|---|---|"]
        lines += [_row(operation) for operation in operations]
        lines.append("")
    return "\n".join(lines)


def _row(operation: Operation) -> str:
    taken = [parameter.name for parameter in operation.query]
    if operation.body is not None:
        schema = operation.body.schema
        if "$ref" in schema:
            schema = recipes()[schema["$ref"].rpartition("/")[2]]
        taken = [*schema.get("properties", {"the bytes": {}}), *taken]
    shown = ", ".join(f"`{name}`" for name in taken)
    return f"| `{operation.method} {operation.path}` | {shown} | {_NEEDS[operation.need]} | {operation.summary} |"
