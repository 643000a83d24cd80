"""Both sides of a server: the store at hand, and benches that reach it over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx

import workbench as wb


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
        work = self.near.work
        work.store.people.enrol(work.organization.id, email, **standing)
        return work.store.people.issue(work.organization.id, work.store.rows.user(email).id).key

    def connect(self, key: str, project: str | None = None) -> wb.Bench:
        """Another bench on the server."""
        self.opened.append(wb.connect(self.url, key, project))
        return self.opened[-1]

    def post(self, path: str, body: Any) -> Any:
        """The raw answer to a request below the project."""
        place = f"{self.url}/projects/{self.near.work.project.id}/{path}"
        return httpx.post(place, json=body, headers={"X-API-Key": self.key}, timeout=120, trust_env=False)


@contextmanager
def sides(path: Path) -> Iterator[Sides]:
    """Both sides of the store at a path, which is made if it is absent."""
    with wb.open(path) as near, near.serve() as served, wb.connect(served.url, served.api_key) as far:
        made = Sides(near, far, served.url, served.api_key)
        try:
            yield made
        finally:
            for bench in made.opened:
                bench.close()
