"""Long bodies: who may not send one is refused before it is read, and one that is read holds nobody up for long."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.full_organization import World, make
from support.request_rows import ROWS
from support.server_in_process import Lab, Person, lab

from server import Settings
from server import requests as bodies
from server.routes import ROUTERS
from server.routing import Route
from workbench.errors import TooLarge
from workbench.store.records.people import Right

SMALL = 4096
LONG = [
    route.operation
    for router in ROUTERS
    for route in router.routes
    if isinstance(route, Route) and route.size != "small" and route.operation.startswith(("POST", "PATCH", "PUT"))
    if (route.body_field is not None or route.size == "upload") and route.access.credential == "key"
]
BY_NAME = {route.operation: route for router in ROUTERS for route in router.routes if isinstance(route, Route)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, World]]:
    chosen = Settings(small_body=SMALL, large_body=1 << 20, upload=1 << 20, readers=0)
    with lab(tmp_path_factory.mktemp("long")) as first:
        ours = make(first, first.admin, "OURS")
        first.app.state.workbench.settings = chosen
        yield first, ours


class Sent:
    """A body that counts what is read of it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.read = 0

    def __iter__(self) -> Iterator[bytes]:
        while self.read < self.size:
            self.read += 1024
            yield b"x" * 1024


def status_of(made: Lab, ours: World, name: str, who: Person | None, content: Any) -> int:
    method, _, path = name.partition(" ")
    ids = {**ours.ids, "record_id": ours.ids["measurement_id"], "kind": "measurements"}
    headers = {"Content-Type": "application/json", **({} if who is None else who.headers)}
    params = {"name": "a.csv"} if path.endswith("/ingests/files") else {}
    answer = made.client.request(method, path.format_map(ids), headers=headers, content=content, params=params)
    return int(answer.status_code)


def kept(made: Lab) -> list[Path]:
    return list((made.app.state.workbench.files / "incoming").glob("[!o]*"))


def test_there_are_many_operations_with_long_bodies() -> None:
    assert len(LONG) >= 30
    assert set(LONG) <= set(ROWS)


@pytest.mark.parametrize("name", LONG)
def test_a_long_body_is_not_read_without_the_right_to_send_it(
    world: tuple[Lab, World], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, ours = world
    people = made.__dict__.setdefault("people_of_test", {})
    if not people:
        people["viewer"] = made.person("viewer@lab", everywhere="project-viewer")
        people["nobody"] = made.person("nobody@lab")
    read = []
    stream = bodies.BoundedRequest.stream

    async def watched(self: bodies.BoundedRequest) -> Any:
        async for part in stream(self):
            read.append(len(part))
            yield part

    monkeypatch.setattr(bodies.BoundedRequest, "stream", watched)
    for content in (b"x" * 2 * SMALL, Sent(2 * SMALL)):
        assert status_of(made, ours, name, None, content) == 401, name
    if BY_NAME[name].access.right in (Right.WRITE, Right.MANAGE):
        for content in (b"x" * 2 * SMALL, Sent(2 * SMALL)):
            assert status_of(made, ours, name, people["viewer"], content) == 403, name
            assert status_of(made, ours, name, people["nobody"], content) in (403, 404), name
    assert read == []
    assert kept(made) == []


def test_who_may_send_a_long_body_sends_it(world: tuple[Lab, World]) -> None:
    made, ours = world
    writer = made.person("writer@lab", everywhere="project-contributor")
    body = {"name": "Long", "data": [[n, 1] for n in range(SMALL)]}
    assert made.json("POST", "/drive-cycles", writer, json=body)["data"][1] == [1.0, 1.0]
    path = f"/projects/{ours.ids['project_id']}/ingests/files"
    assert made.json("POST", path, writer, params={"name": "a.csv"}, content=b"x" * 3 * SMALL)["size"] == 3 * SMALL
    study = {"name": "A study", "description": "x" * 3 * SMALL}
    assert (
        made.json("POST", f"/projects/{ours.ids['project_id']}/studies", writer, json=study)["name"] == "A study"
    )


def test_the_lists_and_objects_of_a_body_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_CONTAINERS", 100)
    assert bodies.strict_json(b"[" + b",".join([b"[]"] * 99) + b"]") == [[]] * 99
    for item in (b"[]", b"{}"):
        with pytest.raises(TooLarge, match="100 lists and objects"):
            bodies.strict_json(b"[" + b",".join([item] * 100) + b"]")


def test_a_drive_cycle_that_fills_a_body_is_not_refused_for_its_rows() -> None:
    row = len("[1000000,1],")
    assert Settings().large_body / row < bodies.MOST_CONTAINERS


def test_the_garbage_collector_does_not_run_while_a_long_body_is_parsed() -> None:
    looked: list[str] = []

    def look(phase: str, info: dict[str, int]) -> None:
        looked.append(phase)

    def parsed(data: bytes) -> int:
        before = len(looked)
        value = bodies.strict_json(data)
        found = len(looked) - before
        assert value
        return found

    gc.callbacks.append(look)
    try:
        assert parsed(json.dumps([[n] for n in range(200_000)]).encode()) <= 2
        assert gc.isenabled()
    finally:
        gc.callbacks.remove(look)
