"""The reference page of the HTTP interface, generated from the routes of the server."""

from __future__ import annotations

from typing import Any

from server.auth import Access
from server.openapi import document
from server.page_files import PLACES, VERSION_MARK
from server.routes import ROUTERS
from server.routing import Route
from workbench.store.records.people import Right

from .prose import MADE

_RIGHTS = {Right.READ: "viewer", Right.WRITE: "contributor", Right.MANAGE: "admin of the project"}
_HEAD = """Every operation of `workbench serve`. `GET /openapi.json` has their parameters, bodies and answers.
[The server](../explanation/server.md) explains the rights.

- Credential: `X-API-Key: <key>` or `Authorization: Bearer <key>`. The web page has
  [its own](#the-web-page-and-its-sign-in).
- Lists answer `{"items": [...], "count": rows of the page, "total": rows that match}` and take `limit`, `offset`,
  `order_by`, `order`, and filters such as `name=eq.<text>`, `name=ilike.%<text>%`, `created_at_gt=<time>`,
  `created_at=gte.<time>`.
- Errors are one object: `error_code`, `message` and, for 409 and 422, `detail`.
- A parameter or a field that is not known is refused with the nearest known name, never ignored.

## The web page and its sign-in

The page is at `GET /` and below {places}. All of these give one HTML, whose modules read the rest of the address; what
does not exist is said by the page. Files are at `/static/<version>/<name>`, `immutable`: in the HTML `{mark}` becomes
the version, which changes with any file; with another version the answer is 404. Beside the files of `server/page`,
`plot_view.js` is the notebook's plot view and `plotly.js` the full plotly.js of the plotly package.

1. `POST /session` with `X-Workbench: 1` and `{"key": "<key>"}`, or `{"code": "<one-time code>"}`, answers
   `{"user": <as GET /users/me>, "expires_at": <time>, "token": <text>}` and sets the cookie `wb_session`, over TLS
   `__Host-wb_session`: `HttpOnly`, `SameSite=Strict`, `Path=/`.
2. Every further request sends the cookie and `X-Workbench: <token>`, and then may do what the key may do. The cookie
   alone opens nothing, since a browser sends it to every port of the host name. A request that also has a key counts as
   that key.
3. `GET /session` answers who that is; `{"user": null, "expires_at": null}` with 200 if nobody is signed in.
4. `DELETE /session`, with the header, ends it and removes the cookie.

It ends after 12 hours without use, after 7 days, and at once when its key is revoked or expires. Then requests answer
401. `Sec-Fetch-Site`, where a browser sends it, must be `same-origin`, else 403. A failed sign-in is 401; after five
failed ones in a minute an address gets 429 with `Retry-After`. A one-time code is valid once, for 60 s."""


def page() -> str:
    """The page as Markdown."""
    groups: dict[str, list[Route]] = {}
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, Route):
                groups.setdefault(str(route.tags[0]), []).append(route)
    places = ", ".join(f"`/{place}`" for place in PLACES)
    head = _HEAD.replace("{places}", places).replace("{mark}", VERSION_MARK)
    lines = ["# HTTP", "", f"<!-- {MADE} -->", "", head, ""]
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
        return {"none": "no credential", "signed": "a signed address", "shared": "a link"}[access.credential]
    if access.whole_store:
        return "Admin of every organization"
    if access.admin:
        return "Admin"
    return "any key" if access.right is None else _RIGHTS[access.right]
