"""Files that hold no series become records of their own: specifications, drive cycles, measurements of cycles."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import orjson

from ...cycling.cycles import cycles_of_capacities
from ...errors import Conflict, NotFound
from ...phrases import option_name
from ...records import Batch, DriveCycle, Instance, Measurement, Record, Specification
from ...records.drive_cycle import content_hash
from ...store import Transaction
from ...store.rows import new_id
from ...store.store import Scope, Store
from ...table import Column, Table
from ..plan.destination import Destination, Ref
from ..plan.jobs import Job
from ..plan.paths import shown, stem_of
from ..report.report import FileReport

R = TypeVar("R", bound=Record)
_UNSPECIFIED = "Unspecified"


@dataclass(frozen=True)
class NonSeries:
    """Makes the records of files that hold no series; each file in one transaction.

    ``to`` is what is said of the cells, as for any file.
    """

    store: Store
    scope: Scope
    to: Destination
    actor: str | None = None

    def take(self, job: Job, holding: Mapping[str, Any], report: FileReport) -> None:
        """Store what `readers.holdings.holding` found in a file; ``report`` is filled in.

        Raises
        ------
        Conflict
            If a specification of that name has other content.
        """
        replace(self, to=self.to.of(job.labels))._take(job.paths[0], holding, report)

    def _take(self, path: Path, holding: Mapping[str, Any], report: FileReport) -> None:
        report.format = holding["format"]
        for note in holding["notes"]:
            if note["level"] == "assumed":
                report.assume(note["code"], note["message"])
            else:
                getattr(report, note["level"]).append(note["message"])
        makers = {"specification": self._design, "drive_cycle": self._drive_cycle, "cycles": self._cycles}
        with self.store.transaction() as connection:
            made = [makers[holding["kind"]](path, record, report, connection) for record in holding["records"]]
        report.status = "stored" if any(made) else "duplicate"
        if not any(made):
            report.why = "The same content is there already."

    def _design(self, path: Path, record: Mapping[str, Any], report: FileReport, connection: Transaction) -> bool:
        name = self.to.specification if isinstance(self.to.specification, str) else record["name"]
        source = {"file": shown(path.name), **record["source"]}
        present = self._existing(Specification, name, {})
        if present is not None:
            if present.properties.get("bpx") == record["properties"]["bpx"]:
                return False
            raise Conflict(
                f"There is a specification '{present.name}' of other content: give this set another name with "
                f"{option_name('specification')}, or delete the one that is there."
            )
        self._make(Specification, {**record, "name": name, "source": source}, report, connection)
        report.measurement = str(name)
        return True

    def _drive_cycle(
        self, path: Path, record: Mapping[str, Any], report: FileReport, connection: Transaction
    ) -> bool:
        data = {"name": stem_of(path), "data": record["data"]}
        report.rows = len(record["data"])
        where = {"content_hash": content_hash(data["name"], record["data"])}
        if self.store.rows.page(DriveCycle, self.scope, where=where, limit=1).items:
            return False
        self._make(DriveCycle, data, report, connection)
        return True

    def _cycles(self, path: Path, record: Mapping[str, Any], report: FileReport, connection: Transaction) -> bool:
        columns: dict[str, Any] = record["columns"]
        hashed = hashlib.sha256(orjson.dumps([record["cell"], columns], option=orjson.OPT_SORT_KEYS)).hexdigest()
        if self.store.rows.of_content(hashed, self.scope) is not None:
            return False
        table = cycles_of_capacities({name: Column.from_python(values) for name, values in columns.items()})
        cell = self._cell(path, record["cell"], table, report, connection)
        id = new_id(self.store.clock(connection))
        data = {
            "name": stem_of(path),
            "instance_id": cell.id,
            "measurement_type": "properties",
            "properties": _properties(table),
            "file_name": shown(path.name),
            "content_hash": hashed,
            "source": {"file": shown(path.name), "format": "capacity-table"},
        }
        made = self.store.rows.create(
            Measurement, data, scope=self.scope, actor=self.actor, id=id, connection=connection
        )
        with self.store.series.writer(id, "cycles") as writer:
            writer.add(table)
            writer.publish(connection)
        report.rows, report.cycles = report.rows + table.n, report.cycles + table.n
        report.measurement, report.measurement_id = made.name, made.id
        return True

    def _cell(
        self, path: Path, name: str | None, table: Table, report: FileReport, connection: Transaction
    ) -> Instance:
        if isinstance(self.to.instance, Record):
            return self.store.rows.find(Instance, self.to.instance, self.scope)
        design = self._design_of(table, path, report, connection)
        called = name or self.to.instance or stem_of(path)
        within = {"specification_id": design.id}
        present = self._existing(Instance, called, within)
        if present is not None:
            return present
        batch = None
        if self.to.batch is not None:
            batch = self._existing(Batch, self.to.batch, within)
            batch = batch or self._make(Batch, {"name": self.to.batch, **within}, report, connection)
        data = {"name": called, **within, "batch_id": None if batch is None else batch.id}
        return self._make(Instance, data, report, connection)

    def _design_of(self, table: Table, path: Path, report: FileReport, connection: Transaction) -> Specification:
        name = self.to.specification or _UNSPECIFIED
        present = self._existing(Specification, name, {})
        if present is not None:
            return present
        passed = table["Discharge capacity [A.h]"].floats()
        capacity = float(f"{np.nanmax(passed, initial=0.0):.3g}")
        ratings = self.to.ratings or {
            "capacity": {"value": capacity, "unit": "A.h"},
            "voltage_min": {"value": 0.0, "unit": "V"},
            "voltage_max": {"value": 0.0, "unit": "V"},
        }
        source: dict[str, Any] = {}
        if self.to.ratings is None:
            source = {"ratings": "estimated from the data", "file": path.name, "capacity": capacity}
            report.assume(
                "rating",
                f"The capacity of '{name}' was estimated from the data ({capacity:g} A.h), its voltages are unknown: "
                f"give {option_name('rating')}, or correct the specification.",
            )
        return self._make(Specification, {"name": name, "ratings": ratings, "source": source}, report, connection)

    def _existing(self, kind: type[R], ref: Ref, where: Mapping[str, Any]) -> R | None:
        try:
            if isinstance(ref, Record):
                return self.store.rows.find(kind, ref, self.scope)
            return self.store.rows.find(kind, ref, self.scope, where=where)
        except NotFound:
            return None

    def _make(self, kind: type[R], data: dict[str, Any], report: FileReport, connection: Transaction) -> R:
        made = self.store.rows.create(kind, data, scope=self.scope, actor=self.actor, connection=connection)
        report.created.append(f"{kind.label} '{made.name}'")
        return made


def _properties(table: Table) -> dict[str, Any]:
    """What is worth knowing of a table of cycles at a glance."""
    passed = table["Discharge capacity [A.h]"].floats()
    present = passed[~np.isnan(passed)]
    made: dict[str, Any] = {"cycles": table.n}
    if len(present):
        made["first_discharge_capacity"] = {"value": float(present[0]), "unit": "A.h"}
        made["last_discharge_capacity"] = {"value": float(present[-1]), "unit": "A.h"}
    return made
