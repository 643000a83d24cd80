"""A store with a little of everything in it, for the tests of records, lists, search and catalog."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.records import Project
from workbench.store import Scope, Store


def quantity(value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "unit": unit}


RATINGS = {
    "capacity": quantity(5, "A.h"),
    "voltage_min": quantity(2.5, "V"),
    "voltage_max": quantity(4.2, "V"),
}


@dataclass
class Lab:
    store: Store
    scope: Scope
    user: str
    count: int = field(default=0)

    @classmethod
    def at(cls, folder: Path) -> Lab:
        return cls.of(Store.open(folder / "lab.wb"))

    @classmethod
    def of(cls, store: Store) -> Lab:
        (organization,) = store.rows.organizations()
        nowhere = Scope(organization.id, None)
        (project,) = store.rows.page(Project, nowhere).items
        return cls(store, Scope(organization.id, project.id), store.rows.user("local@localhost").id)

    @property
    def rows(self) -> Any:
        return self.store.rows

    def make(self, kind: str, scope: Scope | None = None, **values: Any) -> Any:
        self.count += 1
        values.setdefault("name", f"{kind} {self.count}")
        return self.rows.create(kind, values, scope=scope or self.scope, actor=self.user)

    def specification(self, **values: Any) -> Any:
        return self.make("specifications", **{"ratings": RATINGS, **values})

    def instance(self, specification: Any = None, **values: Any) -> Any:
        specification = specification or self.specification(scope=values.get("scope"))
        return self.make("instances", specification_id=specification.id, **values)

    def measurement(self, instance: Any = None, **values: Any) -> Any:
        instance = instance or self.instance(scope=values.get("scope"))
        return self.make("measurements", instance_id=instance.id, **{"measurement_type": "properties", **values})

    def list(
        self,
        source: str,
        where: dict[str, Any] | None = None,
        fields: list[str] | None = None,
        limit: int = 1000,
        scope: Scope | None = None,
    ) -> Any:
        return self.rows.plan_list(source, scope or self.scope, where or {}, fields, limit)

    def names(self, source: str, where: dict[str, Any], scope: Scope | None = None) -> list[str]:
        names: list[str] = self.list(source, where, ["name"], scope=scope).table["name"].tolist()
        return names

    def another_project(self) -> Scope:
        self.count += 1
        project = self.rows.create("projects", {"name": f"project {self.count}"}, scope=self.scope)
        return Scope(self.scope.organization_id, project.id)

    def another_organization(self) -> Scope:
        self.count += 1
        organization = self.rows.create("organizations", {"name": f"org {self.count}"}, scope=self.scope)
        inside = Scope(organization.id, None)
        project = self.rows.create("projects", {"name": "Default"}, scope=inside)
        return Scope(organization.id, project.id)
