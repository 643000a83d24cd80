"""A page that shows the API and tries it out: Swagger UI, from files that are installed, never from elsewhere.

The page holds no data. It reads ``/openapi.json``, and asks for the key itself.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PATH = "/docs"
_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Battery Workbench: the API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
_START = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "none",
  validatorUrl: null,
});
"""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_MEDIA = {"js": "text/javascript", "css": "text/css"}


def routes() -> list[Route]:
    """The page and its files."""
    names = ("swagger-ui-bundle.js", "swagger-ui.css")
    return [
        Route(PATH, _page, methods=["GET"], include_in_schema=False),
        Route(f"{PATH}/start.js", _start, methods=["GET"], include_in_schema=False),
        *(Route(f"{PATH}/{name}", _installed, methods=["GET"], include_in_schema=False) for name in names),
    ]


async def _page(request: Request) -> Response:
    return Response(_HTML, media_type="text/html", headers={"content-security-policy": _POLICY})


async def _start(request: Request) -> Response:
    return Response(_START, media_type=_MEDIA["js"])


async def _installed(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    return Response(
        _file(name), media_type=_MEDIA[name.rpartition(".")[2]], headers={"cache-control": "max-age=3600"}
    )


@cache
def _file(name: str) -> bytes:
    """A file of Swagger UI, as the package ``fastapi-swagger`` brings it."""
    return files("fastapi_swagger.resources").joinpath(name).read_bytes()
