"""Files that hold no series become records of their own: specifications, drive cycles, measurements of cycles."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import orjson

from ...cycling.cycles import cycles_of_capacities
from ...errors import Conflict
from ...messages import option_name
from ...readers.non_series.recognise import Holding
from ...records import DriveCycle, Instance, Measurement, Record, Specification
from ...records.drive_cycle import content_hash
from ...records.specification import ESTIMATED
from ...store import Transaction
from ...store.records.rows import new_id
from ...store.store import Scope, Store
from ...table import Column, Table
from ..limits import RecordFields
from ..plan.destination import Destination
from ..plan.jobs import Job
from ..plan.paths import shown, stem_of
from ..plan.ratings import ratings
from ..report.report import FileReport
from .cell_places import OWN
from .cells import Cells


class NonSeries:
    """Creates the records of files that hold no series; each file in one transaction.

    ``to`` is what is said of the cells, as for any file.
    """

    def __init__(self, store: Store, scope: Scope, to: Destination, actor: str | None = None) -> None:
        self._store = store
        self._scope = scope
        self._to = to
        self._cells = Cells(store, scope, actor)

    def take(self, job: Job, holding: Holding, report: FileReport) -> None:
        """Store what `readers.non_series.recognise.holding` found in a file; ``report`` is filled in.

        Raises
        ------
        Conflict
            If a specification of that name has other content.
        """
        to = self._to.of(job.labels)
        one = NonSeriesFile(self._store, self._scope, self._cells, to, job.paths[0], job.folder, report)
        one.take(holding)


@dataclass(frozen=True)
class NonSeriesFile:
    """One file without a series on its way to the store."""

    store: Store
    scope: Scope
    cells: Cells
    to: Destination
    path: Path
    folder: str
    report: FileReport

    def take(self, holding: Holding) -> None:
        """Store what the file holds, all or nothing."""
        report = self.report
        report.format = holding.format
        report.take(holding.notes)
        makers = {"specification": self._specification, "drive_cycle": self._drive_cycle, "cycles": self._cycles}
        with self.store.transaction() as connection:
            made = [makers[holding.kind](record, connection) for record in holding.records]
        report.status = "stored" if any(made) else "duplicate"
        if not any(made):
            report.why = "The same content is already stored."

    def _specification(self, record: RecordFields, connection: Transaction) -> bool:
        name = self.to.specification if isinstance(self.to.specification, str) else record["name"]
        source = {"file": shown(self.path.name), **record["source"]}
        present = self.cells.existing(Specification, name, {})
        if present is not None:
            if present.properties.get("bpx") == record["properties"]["bpx"]:
                return False
            raise Conflict(
                f"There is already a specification '{present.name}' with other content. Give this one another name "
                f"with {option_name('specification')}, or delete the one that is there."
            )
        self.cells.make(connection, Specification, {**record, "name": name, "source": source}, self.report)
        self.report.measurement = str(name)
        return True

    def _drive_cycle(self, record: RecordFields, connection: Transaction) -> bool:
        data = {"name": self._named(record), "data": record["data"]}
        self.report.rows += len(record["data"])
        where = {"content_hash": content_hash(data["name"], record["data"])}
        if self.store.rows.page(DriveCycle, self.scope, where=where, limit=1).items:
            return False
        self.cells.make(connection, DriveCycle, data, self.report)
        return True

    def _named(self, record: RecordFields) -> str:
        """What a record is called after its file, and after its sheet where several sheets hold one."""
        return " ".join(filter(None, (stem_of(self.path), record.get("sheet"))))[:200]

    def _cycles(self, record: RecordFields, connection: Transaction) -> bool:
        columns: dict[str, list[float | None]] = record["columns"]
        hashed = hashlib.sha256(orjson.dumps([record["cell"], columns], option=orjson.OPT_SORT_KEYS)).hexdigest()
        if self.store.rows.of_content(hashed, self.scope) is not None:
            return False
        table = cycles_of_capacities({name: Column.from_python(values) for name, values in columns.items()})
        cell = self._cell(record["cell"] or record.get("sheet"), table, connection)
        id = new_id(self.store.clock(connection))
        data = {
            "name": stem_of(self.path),
            "instance_id": cell.id,
            "measurement_type": "properties",
            "properties": _properties(table),
            "file_name": shown(self.path.name),
            "content_hash": hashed,
            "source": {
                "file": shown(self.path.name),
                **({"folder": self.folder} if self.folder else {}),
                "format": "capacity-table",
            },
        }
        made = self.store.rows.create(
            Measurement, data, scope=self.scope, actor=self.cells.actor, id=id, connection=connection
        )
        with self.store.series.writer(id, "cycles") as writer:
            writer.add(table)
            writer.publish(connection)
        self.report.rows, self.report.cycles = self.report.rows + table.n, self.report.cycles + table.n
        self.report.measurement, self.report.measurement_id = made.name, made.id
        return True

    def _cell(self, name: str | None, table: Table, connection: Transaction) -> Instance:
        if isinstance(self.to.instance, Record):
            return self.cells.find(Instance, self.to.instance)
        to = self.to if name is None else replace(self.to, instance=None)
        place = self.cells.place_called(name or stem_of(self.path), self.folder, to)
        if place.cell is not None:
            return place.cell
        specification = place.specification or self._specification_for(place.name, table, connection)
        batch = self.cells.batch(connection, self.to, specification, self.report)
        data = {
            "name": place.name,
            "specification_id": specification.id,
            "batch_id": None if batch is None else batch.id,
        }
        if place.why:
            self.report.assume("cell", place.why)
        return self.cells.make(connection, Instance, data, self.report)

    def _specification_for(self, cell: str, table: Table, connection: Transaction) -> Specification:
        """The specification of a new cell: the one that is said, or one of its own."""
        said = self.to.specification
        if said is not None and (present := self.cells.existing(Specification, said, {})) is not None:
            return present
        name = said if isinstance(said, str) else self.cells.own_name(cell)
        capacity = float(f"{np.nanmax(table['Discharge capacity [A.h]'].floats(), initial=0.0):.3g}")
        given = self.to.ratings
        source: RecordFields = {} if said is not None else {OWN: True}
        if given is None:
            source |= {"ratings": ESTIMATED, "file": self.path.name, "capacity": capacity}
            self.report.assume(
                "rating",
                f"The capacity of '{name}' was estimated from the data ({capacity:g} A.h) and its voltages are "
                f"unknown. Give {option_name('rating')}, or correct the specification.",
            )
        data = {"name": name, "ratings": given or ratings(capacity, 0.0, 0.0), "source": source}
        return self.cells.make(connection, Specification, data, self.report)


def _properties(table: Table) -> RecordFields:
    """What is worth knowing of a table of cycles at a glance."""
    passed = table["Discharge capacity [A.h]"].floats()
    present = passed[~np.isnan(passed)]
    made: RecordFields = {"cycles": table.n}
    if len(present):
        made["first_discharge_capacity"] = {"value": float(present[0]), "unit": "A.h"}
        made["last_discharge_capacity"] = {"value": float(present[-1]), "unit": "A.h"}
    return made
