"""A local bench and the same store through a server in this process: one test body for both, or both at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx

import workbench as wb

WHERE = ("near", "far")


@dataclass
class Sides:
    """One store: ``near`` opened here, ``far`` through the server at ``url`` with the administrator's key."""

    near: wb.Bench
    far: wb.Bench
    url: str
    key: str
    opened: list[wb.Bench] = field(default_factory=list)

    def person(self, email: str, **standing: Any) -> str:
        """A new user's key."""
        work = self.near.backend
        work.store.people.enrol(work.organization.id, email, **standing)
        return work.store.people.issue(work.organization.id, work.store.rows.user(email).id).key

    def connect(self, key: str, project: str | None = None) -> wb.Bench:
        """Another bench on the server."""
        self.opened.append(wb.connect(self.url, key, project))
        return self.opened[-1]

    def post(self, path: str, body: Any) -> Any:
        """The raw answer to a request below the project."""
        place = f"{self.url}/projects/{self.near.backend.project.id}/{path}"
        return httpx.post(place, json=body, headers={"X-API-Key": self.key}, timeout=120, trust_env=False)


@contextmanager
def sides(path: Path) -> Iterator[Sides]:
    """Both sides of the store at a path, which is made if it is absent.

    No process that reads files is started for each server: what locks them in has tests of its own.
    """
    with (
        wb.open(path) as near,
        near.serve(trust_files=True) as served,
        wb.connect(served.url, served.api_key) as far,
    ):
        made = Sides(near, far, served.url, served.api_key)
        try:
            yield made
        finally:
            for bench in made.opened:
                bench.close()


@contextmanager
def opened(path: Path, where: str) -> Iterator[wb.Bench]:
    """A bench on the store at ``path``, which is made if it is absent; ``far`` goes through HTTP on a socket.

    Scripts and files are trusted, so that no process is started for each server: what locks them in has tests of its
    own.
    """
    with wb.open(path) as near:
        if where == "near":
            yield near
            return
        with (
            near.serve(trust_transforms=True, trust_files=True) as served,
            wb.connect(served.url, served.api_key) as far,
        ):
            yield far
