"""The FastAPI application: its routers, its middleware, and the answer to unknown paths."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.quick_import import import_all
from workbench.store.store import Store
from workbench.transform import protected as protection

from . import docs_page, errors, log, page_files, provider_sign_in
from .assistants.at_http import Assistants
from .context import RequestContext
from .metrics import OTHER
from .openapi import INTERFACE_VERSION, TITLE, document
from .route_index import RouteIndex
from .routes import ROUTERS
from .settings import Settings
from .state import State

REQUEST_ID = b"x-request-id"
"""The header in which a proxy or a client gives a request an id."""
_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")
_CODES = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}


def create_app(
    store: str | Path, settings: Settings | None = None, *, protected: bool = True, create: bool = True
) -> FastAPI:
    """The server on a store, as an ASGI application.

    Parameters
    ----------
    store : path of the store, or its address on PostgreSQL, which is made if it is absent and ``create`` is true.
    settings : what the operator chose.
    protected : scripts run in locked processes. Without it they run in this process: for those who trust every author.

    Raises
    ------
    StoreError, NotFound
        As ``Store.open``.
    NotProtected
        If scripts must run in locked processes, and this machine cannot lock them.
    """
    import_all()  # nobody's first request waits for an import
    chosen = settings or Settings()
    if protected:
        protection.required()
    state = State(Store.open(store, create=create), chosen, protected=protected)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=state.apart.start, daemon=True).start()
        state.intake.resume()
        state.ingests.sweep()
        state.alerts.start()
        try:
            yield
        finally:
            await assistants.close()
            state.close()

    app = FastAPI(
        title=TITLE,
        version=INTERFACE_VERSION,
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
        exception_handlers={HTTPException: _no_such_path},
        # A redirect would make the client send its key again, perhaps to the address of a proxy.
        redirect_slashes=False,
    )
    for router in ROUTERS:
        # include_router would match every route twice per request.
        app.router.routes.extend(router.routes)
    app.router.routes.extend(page_files.routes())
    if chosen.provider is not None:
        app.router.routes.extend(provider_sign_in.routes())
    assistants = Assistants(app, chosen.small_body)
    app.router.routes.append(assistants.route())
    if chosen.docs:
        app.router.routes.extend(docs_page.routes())
    app.router.middleware_stack = RouteIndex(app.router.middleware_stack, app.router.routes)
    app.state.workbench = state
    # FastAPI's own way to replace the document.
    app.openapi = document  # type: ignore[method-assign]
    app.add_middleware(_Entrance, hosts=chosen.hosts, public_url=chosen.public_url, state=state)
    if chosen.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(chosen.origins),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["x-correlation-id"],
        )
    return app


async def _no_such_path(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    path = request.url.path
    person = page_files.absent(request) if status == 404 and request.method == "GET" else None
    if person is not None:
        return person
    message = f"There is no '{request.method} {path[:200]}' on this server."
    if status == 404 and path.endswith("/") and _methods(request.app, path.rstrip("/")):
        message = f"{message} Leave out the slash at its end."
    headers = {"allow": ", ".join(_methods(request.app, request.scope["path"]))} if status == 405 else {}
    if headers:
        message = f"'{path[:200]}' takes {headers['allow']}, not {request.method}."
    return errors.plain(status, _CODES.get(status, "BAD_REQUEST"), message, request.state.request_id, headers)


def _methods(app: FastAPI, path: str) -> list[str]:
    """The methods that a path has, also one of the web page."""
    routes = [route for route in app.router.routes if isinstance(route, Route) and route.path_regex.match(path)]
    return list(dict.fromkeys(method for route in routes for method in sorted(route.methods or ())))


class _Entrance:
    """Gives each request an id, or keeps that of its header, counts it, and refuses requests for another host name than
    those of the settings."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] | None, public_url: str | None, state: State) -> None:
        self.app = app
        self.state = state
        self.hosts = None if hosts is None else {host.lower() for host in hosts}
        if self.hosts is not None and public_url:
            self.hosts.add(_host_of(re.sub(r"^\w+://|/.*$", "", public_url)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = next((value.decode("latin-1") for name, value in scope["headers"] if name == REQUEST_ID), "")
        id = given if _SANE.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = id
        log.REQUEST.set(id)
        started = time.perf_counter()
        status = 500
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        if self.hosts is not None and _host_of(host) not in self.hosts:
            message = (
                "This server does not answer under this host name. Its operator can allow it with --allow-host."
            )
            await errors.plain(400, "BAD_REQUEST", message, id)(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers: list[tuple[bytes, bytes]] = message.setdefault("headers", [])
                names = {name.lower() for name, _ in headers}
                if b"x-correlation-id" not in names:
                    headers.append((b"x-correlation-id", id.encode()))
                if id == given:
                    headers.append((REQUEST_ID, id.encode()))
                headers.append((b"x-content-type-options", b"nosniff"))
            await send(message)

        try:
            await self.app(scope, receive, marked)
        finally:
            metrics = self.state.metrics
            if metrics is not None:
                context: RequestContext | None = scope.get("workbench")
                operation = OTHER if context is None else context.operation
                metrics.request(operation, status, time.perf_counter() - started)


def _host_of(header: str) -> str:
    """The name in a Host header, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()
