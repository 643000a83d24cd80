"""Requests that nobody thought of: generated from the OpenAPI document, and mutations of recipes that are sound.

No answer is a 5xx, and each is as the document says. ``schemathesis`` makes the requests and all of its checks look at
the answers; that a request which fits its schema is accepted is asked of no body whose parts must also fit together.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import uvicorn
from hypothesis import HealthCheck, Phase, given, seed, settings
from lab import lab
from world import World, make

from server import Settings
from server.openapi import document
from server.routes import MORE, OPERATIONS

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.generation import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

DOCUMENT = document(OPERATIONS, MORE)
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
NAMED = [
    (method, path)
    for path, item in DOCUMENT["paths"].items()
    for method in item
    if "/storage/" not in path and path != "/healthz"
]
CASES, LONG_CASES = 1000, 5000
# What these operations change is what the others work with: they are called with ids that nobody has.
_OWN = ("DELETE", "/organizations/")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, str, requests.Session]]:
    chosen = Settings(requests_per_second=1e6, burst=10**6, readers=0)
    with lab(tmp_path_factory.mktemp("fuzz"), chosen) as made, requests.Session() as session:
        ours = make(made, made.admin, "OURS")
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(made.app, log_config=None, access_log=False, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield ours, f"http://127.0.0.1:{bound.getsockname()[1]}", session
        server.should_exit = True
        thread.join(20)


def ids_for(method: str, path: str, world: World, case: Any, chance: random.Random) -> None:
    """Give most requests ids that lead somewhere."""
    if method.upper() == "DELETE" or path.startswith("/organizations/") or chance.random() < 0.2:
        return
    for name in case.path_parameters or {}:
        if name in world.ids:
            case.path_parameters[name] = world.ids[name]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), NAMED, ids=lambda value: value)
def test_no_request_breaks_the_server(
    world: tuple[World, str, requests.Session], method: str, path: str, mode: Any, long: bool
) -> None:
    ours, address, session = world
    operation = SCHEMA[path][method.upper()]
    chance = random.Random(f"{method} {path}")

    @seed(20)
    @settings(
        max_examples=max(1, round((LONG_CASES if long else CASES) / len(NAMED) / 2)),
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def generated(case: Any) -> None:
        ids_for(method, path, ours, case, chance)
        case.call_and_validate(
            base_url=address,
            session=session,
            headers=ours.who.headers,
            allow_redirects=False,
            excluded_checks=[positive_data_acceptance],
        )

    generated()
