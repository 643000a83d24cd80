"""The address ``/mcp`` of the server: assistants over HTTP, with the keys of the HTTP interface."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .. import errors
from ..responses import JSON
from .asking import KEYS, Asking, InProcess

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
NOT_INSTALLED = (
    "This server does not speak to assistants: its operator can install the extra, "
    "pip install 'battery-workbench[mcp]'."
)


class Assistants:
    """Answers at ``/mcp``. The SDK is imported with the first request of an assistant.

    Nothing is kept between requests, so that any process of a server can answer any of them.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._manager: StreamableHTTPSessionManager | None = None
        self._serving: asyncio.Task[None] | None = None
        self._ready = asyncio.Lock()
        self._stop = asyncio.Event()

    def route(self) -> Route:
        """The route of the application."""
        return Route(PATH, self, include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        answer = await self._refusal(request)
        if answer is not None:
            await answer(scope, receive, send)
            return
        manager = await self._started()
        await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """Stop answering."""
        self._stop.set()
        if self._serving is not None:
            await self._serving

    async def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that is not one of an assistant with a key in force; None for the others."""
        id = request.state.request_id
        if request.method != "POST":
            words = "Assistants send POST to /mcp, with a key: the how-to page 'Assistants' says how."
            return errors.plain(405, "METHOD_NOT_ALLOWED", words, id, {"allow": "POST"})
        credentials = {name: request.headers[name] for name in KEYS if name in request.headers}
        known = await Asking(_door(self._app, request), credentials, tool="connect").ask("GET", "/users/me")
        if not known.ok:
            headers = {"www-authenticate": "Bearer"} if known.status == 401 else {}
            return Response(known.content, known.status, {**headers, "x-correlation-id": id}, JSON)
        if find_spec("mcp") is None:
            return errors.plain(501, "NOT_INSTALLED", NOT_INSTALLED, id)
        return None

    async def _started(self) -> StreamableHTTPSessionManager:
        async with self._ready:
            if self._manager is None:
                from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

                from .protocol import Entrance, server

                entrance = Entrance(lambda request: _door(self._app, request))
                manager = StreamableHTTPSessionManager(
                    server(entrance), json_response=True, stateless=True, max_request_body_size=self._most
                )
                up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._serving = asyncio.create_task(self._serve(manager, up))
                await up
                self._manager = manager
            return self._manager

    async def _serve(self, manager: StreamableHTTPSessionManager, up: asyncio.Future[None]) -> None:
        """Hold the task group of the manager: the same task must open and close it."""
        async with manager.run():
            up.set_result(None)
            await self._stop.wait()


def _door(app: ASGIApp, request: Request | None) -> InProcess:
    """Asks the application under the same host name and for the same client as the request of the assistant."""
    if request is None:
        return InProcess(app)
    client = request.client
    here = ("127.0.0.1", 0) if client is None else (client.host, client.port)
    return InProcess(app, request.headers.get("host", "localhost"), here, request.url.scheme)
