"""The index of routes finds what FastAPI finds by asking each route in turn."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Message, Receive, Scope, Send

from server.app import create_app
from server.route_index import RouteIndex
from server.settings import Settings


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    made = create_app(tmp_path / "lab.db", Settings(docs=True), protected=False)
    yield made
    made.state.workbench.close()


def asked(method: str, path: str) -> Scope:
    return {"type": "http", "method": method, "path": path, "headers": [], "query_string": b""}


def first_of_all(routes: list[BaseRoute], scope: Scope) -> BaseRoute | None:
    return next((route for route in routes if route.matches(scope)[0] is Match.FULL), None)


def found_by_index(index: RouteIndex, scope: Scope, monkeypatch: pytest.MonkeyPatch) -> BaseRoute | None:
    """The route that the index hands the request to; None if it leaves it to the router."""
    taken: list[BaseRoute] = []

    async def handle(route: BaseRoute, scope: Scope, receive: Receive, send: Send) -> None:
        taken.append(route)

    with monkeypatch.context() as patched:
        for kind in {type(route) for route in index.routes}:
            patched.setattr(kind, "handle", handle)
        asyncio.run(index(scope, _receive, _send))
    return taken[0] if taken else None


async def _router(scope: Scope, receive: Receive, send: Send) -> None: ...


async def _receive() -> Message:
    return {}


async def _send(message: Message) -> None: ...


def paths_of(app: FastAPI) -> list[str]:
    return [route.path for route in app.router.routes if isinstance(route, Route)]


def test_the_index_finds_the_same_route_for_every_path(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    routes = list(app.router.routes)
    index = RouteIndex(_router, routes)
    paths = {re.sub(r"\{[^}]*\}", filled, path) for path in paths_of(app) for filled in ("x", "records", "")}
    paths |= {f"{path}/" for path in paths} | {f"{path}/more" for path in paths} | {"", "/", "//", "/nowhere"}
    assert len(paths) > 400
    found = 0
    for path in sorted(paths):
        for method in ("GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"):
            expected = first_of_all(routes, asked(method, path))
            assert found_by_index(index, asked(method, path), monkeypatch) is expected, (method, path)
            found += expected is not None
    assert found > 200


def test_the_index_asks_few_routes(app: FastAPI) -> None:
    index = RouteIndex(_router, app.router.routes)
    assert max(len(index.candidates(path)) for path in paths_of(app)) < len(app.router.routes) / 3
