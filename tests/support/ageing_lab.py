"""Assistants of the SDK's own client, on a server of a small laboratory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio

from support.server_in_process import Lab, Person, lab

T = TypeVar("T")
RATINGS = {
    "capacity": {"value": 5, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}


@dataclass
class Answered:
    """What a tool answered: its JSON, whether it is an error, and the kinds of its parts."""

    value: dict[str, Any]
    refused: bool
    kinds: list[str]


@dataclass
class Ageing:
    """A server whose project 'Ageing' has three cells and a dashboard, and people of every role."""

    server: Lab
    project: str
    board: str
    contributor: Person
    viewer: Person
    stranger: Person

    def tools(self, who: Person | None, *calls: tuple[str, dict[str, Any]]) -> list[Answered]:
        """The answers to calls of tools, one after the other, in one session of one assistant."""

        async def use(client: Any) -> list[Answered]:
            made = []
            for name, arguments in calls:
                found = await client.call_tool(name, arguments)
                made.append(
                    Answered(found.structured_content, found.is_error, [one.type for one in found.content])
                )
            return made

        return self.assistant(who, use)

    def assistant(self, who: Person | None, use: Callable[[Any], Awaitable[T]]) -> T:
        """What ``use`` gives with a client of the SDK, in memory."""
        from mcp import Client
        from mcp_types import Implementation

        from server.assistants.asking import InProcess
        from server.assistants.protocol import Entrance, server

        door = InProcess(self.server.app)
        entrance = Entrance(lambda _: door, {} if who is None else who.headers, session="a-session")

        async def run() -> T:
            named = Implementation(name="scripted", version="1")
            async with Client(server(entrance), client_info=named) as client:
                return await use(client)

        return anyio.run(run)

    def audit(self) -> list[dict[str, Any]]:
        """The audit log of the organization, the oldest first."""
        return self.server.store.people.audit_log(self.server.organization.id, limit=1000)[::-1]


@contextmanager
def ageing_lab(path: Path) -> Iterator[Ageing]:
    """A running server on a new store in a folder."""
    with lab(path) as made:
        project = made.project.id
        kinds = f"/projects/{project}/records"
        specification = made.json(
            "POST", f"{kinds}/specifications", json={"name": "M50", "ratings": RATINGS, "project_id": project}
        )
        for number in (1, 2, 3):
            cell = {"name": f"Cell {number}", "specification_id": specification["id"]}
            made.json("POST", f"{kinds}/instances", json=cell)
        board = made.json("POST", f"/projects/{project}/dashboards", json={"name": "Ageing board"})
        _, _, stranger = made.other_organization()
        yield Ageing(
            made,
            project,
            board["id"],
            made.person("writes@lab", everywhere="project-contributor"),
            made.person("reads@lab", everywhere="project-viewer"),
            stranger,
        )
