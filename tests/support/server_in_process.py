"""A server on a store of its own, and clients with keys of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from server import Settings, create_app
from workbench.records import Organization, Project
from workbench.store.scope import Scope
from workbench.store.store import Store


@dataclass
class Person:
    """A user's key, and a client that sends it."""

    key: str
    key_id: str
    user_id: str
    organization_id: str
    headers: dict[str, str]


class Lab:
    """One server; ``as_`` gives a client of a person."""

    def __init__(self, app: FastAPI, client: TestClient) -> None:
        self.app = app
        self.client = client
        self.store: Store = app.state.workbench.store
        self.organization = self.store.rows.organizations()[0]
        self.project = self.store.rows.page(Project, Scope(self.organization.id, None)).items[0]
        self.admin = self.person("local@localhost")

    def person(
        self, email: str, organization: Organization | None = None, *, days: float | None = None, **standing: Any
    ) -> Person:
        where = organization or self.organization
        if email != "local@localhost":
            self.store.people.enrol(where.id, email, **standing)
        issued = self.store.people.issue(where.id, self.store.rows.user(email).id, days=days)
        return Person(issued.key, issued.id, issued.user_id, where.id, {"X-API-Key": issued.key})

    def other_organization(self) -> tuple[Organization, Project, Person]:
        """A second organization with a project and an Admin."""
        made = self.store.rows.create(Organization, {"name": "Other"}, scope=Scope("", None))
        stranger = self.person("stranger@elsewhere", made, role="Admin")
        project = self.store.rows.create(
            Project, {"name": "Theirs"}, scope=Scope(made.id, None), actor=stranger.user_id
        )
        return made, project, stranger

    def call(self, method: str, path: str, who: Person | None = None, **more: Any) -> Any:
        headers = {**(who or self.admin).headers, **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def json(self, method: str, path: str, who: Person | None = None, **more: Any) -> Any:
        """The body of an answer that must be one of success, with the exact content type."""
        answer = self.call(method, path, who, **more)
        assert answer.status_code == 200, (method, path, answer.status_code, answer.text)
        assert answer.headers["content-type"] == "application/json"
        return answer.json()


@contextmanager
def lab(path: Path, settings: Settings | None = None) -> Iterator[Lab]:
    """A running server on a new store in a folder."""
    app = create_app(path / "lab.db", settings or Settings(readers=0))
    with TestClient(app, base_url="http://localhost", follow_redirects=False) as client:
        yield Lab(app, client)
