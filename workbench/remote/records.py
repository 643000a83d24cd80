"""Records on a server, and their tables; fields have our own names."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import orjson

from ..backend import Backend, Fields, Ref, Where
from ..cycling.sign_check import discharge_positive
from ..errors import BadRequest, NotFound, instead
from ..messages import as_given, with_article
from ..operations.operation import Sent
from ..records import SOURCES, Measurement, Project, Record, Study
from ..records.exclusion import EXCLUSION
from ..records.record_table import named, tabulated
from ..records.values import is_same_name, is_whole
from ..table import Column, Table
from . import wire
from .client import Client, Params

R = TypeVar("R", bound=Record)
_EXCLUSIONS_SINCE = "0.1.1"
"""The first version of a server that leaves out what is excluded: an older one has no exclusions."""


class Records(Backend):
    """The part of a remote backend that is about records and their tables."""

    client: Client

    def path(self, *parts: str) -> str:
        """A path under the project."""
        return "/".join([f"/projects/{self.project.id}", *parts])

    def _kind(self, kind: type[Record], *more: str) -> str:
        return self.path("records", kind.table, *more)

    def get(self, kind: type[R], ref: Ref) -> R:
        wanted = ref.id if isinstance(ref, Record) else ref
        if not isinstance(wanted, str):
            label = with_article(kind.label).capitalize()
            raise BadRequest(f"{label} is named by its id, its name or the record, not by {as_given(wanted)}.")
        if not is_whole(wanted):  # such a text cannot be sent
            raise NotFound(f"There is no {kind.label} '{wanted}'.")
        if issubclass(kind, Project):
            return self._project_of(kind, wanted)
        (found,) = self.client.get(self._kind(kind), {"ref": wanted}).json()["items"]
        return wire.record(kind, found)

    def _project_of(self, kind: type[R], wanted: str) -> R:
        projects = self._projects(kind)
        found = [one for one in projects if one.id == wanted] or [
            one for one in projects if is_same_name(one.name, wanted)
        ]
        if not found:
            names = sorted(one.name for one in projects)  # in the order in which a local bench says them
            raise NotFound(f"There is no project '{wanted}'. {instead(wanted, names)}")
        return found[0]

    def _projects(self, kind: type[R]) -> list[R]:
        return [wire.project(kind, one) for one in wire.pages(self.client.get, "/projects", size=100)]

    def create(self, kind: type[R], fields: Fields) -> R:
        if issubclass(kind, Project):
            return wire.project(kind, self._changed("POST", "/projects", fields))
        return wire.record(kind, self._changed("POST", self._kind(kind), fields))

    def update(self, kind: type[R], ref: Ref, changes: Fields) -> R:
        id = self.get(kind, ref).id
        if issubclass(kind, Project):
            return wire.project(kind, self._changed("PATCH", f"/projects/{id}", changes))
        return wire.record(kind, self._changed("PATCH", self._kind(kind, id), changes))

    def delete(self, kind: type[R], ref: Ref) -> None:
        id = self.get(kind, ref).id
        path = f"/projects/{id}" if issubclass(kind, Project) else self._kind(kind, id)
        self.client.ask("DELETE", path, changes=True)

    def _changed(self, method: str, path: str, fields: Fields) -> Sent:
        return self.client.ask(method, path, json=wire.fields(fields), changes=True).json()

    def count(self, kind: type[Record]) -> int:
        path = "/projects" if issubclass(kind, Project) else self._kind(kind)
        total: int = self.client.get(path, {"limit": 1}).json()["total"]
        return total

    def listing(self, source: str, where: Where, fields: list[str] | None, limit: int | None) -> Table:
        if where.get("analysisType") == EXCLUSION and self.client.is_before(_EXCLUSIONS_SINCE):
            return Table({name: Column.nulls(0) for name in fields or ()}, 0)
        return self._list(SOURCES[source], where, fields, limit)

    def table(self, kind: type[Record], filters: Where, fields: list[str] | None, limit: int | None) -> Table:
        conditions = named(filters).get("name", {})
        if not issubclass(kind, Project):
            return self._list(kind, filters, fields, limit)
        part = conditions.get("contains", "").casefold()
        items = [
            one
            for one in self._projects(kind)
            if part in one.name.casefold() and one.name in conditions.get("in", [one.name])
        ]
        return tabulated(kind, items[:limit], fields)

    def _list(self, kind: type[Record], where: Where, fields: list[str] | None, limit: int | None) -> Table:
        body = {"where": wire.plain(where), "fields": fields, "limit": limit}
        return wire.table(self.client.ask("POST", self._kind(kind, "list"), json=body).content)

    # Sampled data

    def samples(self, record: Record, dataset: str, columns: list[str] | None = None) -> Table:
        if columns is not None and not columns:
            return self.samples(record, dataset).select([])
        path = self._kind(type(record), record.id, "table")
        asked: Params = {"dataset": dataset, **({} if columns is None else {"columns": columns})}
        reply = self.client.ask("GET", path, params=asked, headers={"Accept": self.client.accept})
        return wire.table(reply.content)

    def batches(self, measurement: Measurement) -> Iterator[Table]:
        yield self.samples(measurement, "series")

    def over_life(self, measurement: Measurement, dataset: str) -> Table:
        path = self._kind(Measurement, measurement.id, "table")
        asked = {"dataset": dataset, "life": "true"}
        return wire.table(self.client.get(path, asked).content)

    def add_time_series(
        self, fields: Fields, samples: Table, steps: Table | None, sign: str | None = None
    ) -> Measurement:
        tables = {"series": discharge_positive(samples, sign)}
        if steps is not None:
            tables["steps"] = steps
        settled = {} if sign is None else {"sign": "discharge"}
        return self._sent(Measurement, "with-tables", {"fields": _text(fields), **settled}, tables)

    def extend(self, measurement: str, samples: Table) -> Measurement:
        return self._sent(Measurement, f"{measurement}/extend", {}, {"series": samples})

    def create_with_tables(self, kind: type[R], fields: Fields, tables: Mapping[str, Table]) -> R:
        if not tables:
            return self.create(kind, fields)
        return self._sent(kind, "with-tables", {"fields": _text(fields)}, tables)

    def _sent(self, kind: type[R], where: str, fields: Mapping[str, str], tables: Mapping[str, Table]) -> R:
        with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
            files = wire.write_parquet(tables, Path(folder))
            named = {**fields, "columns": wire.columns(tables)}
            return wire.record(kind, self.client.form(self._kind(kind, where), named, files).json())

    def assign(self, study: Ref, kind: type[Record], ref: Ref) -> None:
        self.client.ask("POST", self._assignment(study, kind, ref), json={}, changes=True)

    def unassign(self, study: Ref, kind: type[Record], ref: Ref) -> None:
        self.client.ask("DELETE", self._assignment(study, kind, ref), changes=True)

    def _assignment(self, study: Ref, kind: type[Record], ref: Ref) -> str:
        return self.path("studies", self.get(Study, study).id, kind.table, self.get(kind, ref).id)


def _text(fields: Fields) -> str:
    return orjson.dumps(wire.fields(fields)).decode()
