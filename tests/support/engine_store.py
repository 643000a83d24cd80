"""Stores for tests of the engine, each also as plain rows for the reference."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from support.plain_rows import plain_rows
from support.reference_plans import Record, Records, Rows
from workbench.records import Project
from workbench.store import Scope, Store
from workbench.store.scope import EVERYTHING
from workbench.table import Column, Table, time_text, to_micros

TIME, VOLTAGE, CURRENT = "Time [s]", "Voltage [V]", "Current [A]"
NUMBERS = [-1.5, -0.5, 0.0, -0.0, 0.25, 0.5, 1.0, 2.0, 3.75, float("nan"), None]
FIELDS = {
    "cellSpecifications": [
        "id",
        "name",
        "form_factor",
        "ratings.capacity.value",
        "ratings.capacity.unit",
        "created_at",
    ],
    "instances": [
        "id",
        "name",
        "specification_id",
        "specification_name",
        "batch_id",
        "batch_name",
        "properties.grade",
    ],
    "measurements": [
        *("id", "name", "instance_id", "instance_name", "specification_id", "batch_id", "batch_name"),
        *("measurement_type", "sample_count", "created_at", "protocol.name"),
    ],
}


class Lab:
    """One store with records and data, and the same for the reference."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(folder / "lab.wb")
        (organization,) = self.store.rows.organizations()
        (project,) = self.store.rows.page(Project, Scope(organization.id, None)).items
        self.scope = Scope(organization.id, project.id)
        kinds: dict[str, dict[str, str]] = {source: {} for source in FIELDS}
        self.records = Records({source: [] for source in FIELDS}, kinds, {})

    def make(self, kind: str, **values: Any) -> Any:
        return self.store.rows.create(kind, values, scope=self.scope)

    def specification(self, name: str, capacity: float = 5.0, unit: str = "A.h", **values: Any) -> Any:
        quantity = {"value": capacity, "unit": unit}
        ratings = {"capacity": quantity, "voltage_min": quantity, "voltage_max": quantity}
        return self.make("specifications", name=name, ratings=ratings, **values)

    def measurement(self, instance: Any, name: str, **data: Table) -> Any:
        """A measurement with ``series``, ``steps`` and ``cycles`` as given."""
        kind = "time_series" if data else "properties"
        made = self.make("measurements", name=name, instance_id=instance.id, measurement_type=kind)
        for dataset, table in data.items():
            self.write(made.id, table, dataset)
        return made

    def write(self, owner: str, table: Table, dataset: str = "series") -> None:
        with self.store.series.writer(owner, dataset) as writer:
            writer.add(table)
            writer.publish()


def random_lab(folder: Path, seed: int) -> Lab:
    """A small random store: every type of column, nulls, mixed open values, sources without data."""
    draw = random.Random(seed)
    lab = Lab(folder)
    with lab.store.transaction():
        for s in range(draw.randint(1, 2)):
            form = draw.choice([None, "pouch", "21700"])
            specification = lab.specification(f"Spec {s}", draw.choice([1.0, 2.5]), form_factor=form)
            batches = [
                lab.make("batches", name=name, specification_id=specification.id)
                for name in draw.sample(["A", "ä", "B%"], draw.randint(0, 2))
            ]
            for n in range(draw.randint(1, 3)):
                batch = draw.choice([None, *batches])
                grade = draw.choice([{}, {"grade": 1}, {"grade": 1.5}, {"grade": "A"}, {"grade": True}])
                instance = lab.make(
                    "instances",
                    name=f"Cell {n}",
                    specification_id=specification.id,
                    batch_id=None if batch is None else batch.id,
                    properties=grade,
                )
                for m in range(draw.randint(0, 2)):
                    lab.measurement(instance, f"Test {m}", **_data(draw))
    _describe(lab)
    return lab


def _data(draw: random.Random) -> dict[str, Table]:
    if draw.random() < 0.15:
        return {}
    n = draw.choice([0, 1, 5, 40, 300])
    steps = draw.choice([0, 1, 4, 9])
    return {"series": _series(draw, n), "steps": _rows(draw, steps), "cycles": _rows(draw, steps // 2)}


def _series(draw: random.Random, n: int) -> Table:
    times: list[Any] = [float(i // 2) for i in range(n)]
    if draw.random() < 0.3:
        draw.shuffle(times)
    if draw.random() < 0.3:
        times = [None if draw.random() < 0.2 else int(t) for t in times]
    columns = {
        TIME: Column.from_python(times, "number" if any(isinstance(t, float) for t in times) else "integer"),
        VOLTAGE: Column.from_python([draw.choice(NUMBERS) for _ in range(n)], "number"),
        CURRENT: Column.from_python([draw.randint(-5, 5) for _ in range(n)], "integer"),
        "Label": Column.from_python([draw.choice(["a", "b", None]) for _ in range(n)], "text"),
        "On": Column.from_python([draw.random() < 0.5 for _ in range(n)], "boolean"),
    }
    kept = [name for name in columns if draw.random() < 0.85] or [TIME]
    return Table({name: columns[name] for name in kept}, n)


def _rows(draw: random.Random, n: int) -> Table:
    columns = {
        "Step count": Column.from_python(list(range(n)), "integer"),
        "Cycle count": Column.from_python([i // 3 for i in range(n)], "integer"),
        "Duration [s]": Column.from_python([draw.choice(NUMBERS) for _ in range(n)], "number"),
        "Discharge capacity [A.h]": Column.from_python([draw.choice(NUMBERS) for _ in range(n)], "number"),
        "Step type": Column.from_python([draw.choice(["Rest", "EIS", None]) for _ in range(n)], "text"),
        "Checked": Column.from_python([draw.choice([True, False, None]) for _ in range(n)], "boolean"),
    }
    optional = [name for name in ("Checked", "Duration [s]") if draw.random() < 0.3]
    return Table({name: column for name, column in columns.items() if name not in optional}, n)


def _describe(lab: Lab) -> None:
    """The records for the reference; what a list answers is tested with the store, so it is taken from there."""
    for source, fields in FIELDS.items():
        table = lab.store.rows.plan_list(source, lab.scope, {}, fields, None).table
        lab.records.kinds[source] = {name: column.kind for name, column in table.items()}
        for row in table.records():
            plain = {k: time_text(to_micros(v)) if k == "created_at" else v for k, v in row.items()}
            record = Record(plain)
            if source == "measurements":
                for dataset in ("series", "steps", "cycles"):
                    info = lab.store.series.info(row["id"], dataset, scope=EVERYTHING)
                    if info is not None:
                        stored = lab.store.series.read(row["id"], dataset=dataset, scope=EVERYTHING)
                        kinds = {name: column.kind for name, column in stored.items()}
                        record.data[dataset] = Rows(kinds, plain_rows(stored))
            lab.records.records[source].append(record)
