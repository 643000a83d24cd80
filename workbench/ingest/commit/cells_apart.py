"""Cells that share the one "Unspecified" of 0.1.0: each gets a specification of its own, rated from its own tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from ...records import Batch, Instance, Measurement, Project, Specification
from ...records.specification import ESTIMATED
from ...store.scope import EVERYTHING, Scope
from ...store.store import Store
from ...table import Table
from ..limits import RecordFields
from ..plan.ratings import ratings
from ..read.prepare import largest_capacity
from .cell_places import COMMON, OWN
from .cells import names
from .estimates import is_estimated


def shared_cells(store: Store, measurements: Collection[str] | None = None) -> list[tuple[Scope, Instance]]:
    """The cells that share the common specification, whose ratings are those of the first file of them; with
    ``measurements`` only the cells of these."""
    found = []
    for scope in _projects(store):
        common = store.rows.existing(Specification, COMMON, scope, {})
        if common is None or common.source.get(OWN) or not is_estimated(common):
            continue
        cells = store.rows.page(Instance, scope, where={"specification_id": common.id}, limit=None).items
        found += [
            (scope, cell)
            for cell in cells
            if measurements is None or any(test.id in measurements for test in _tests(store, scope, cell))
        ]
    return found


def set_apart(store: Store, scope: Scope, cell: Instance) -> str:
    """Give a cell a specification of its own; its name. The batch of the cell comes along by name."""
    name = f"{COMMON} {cell.name}"
    name = next(one for one in names(name) if store.rows.existing(Specification, one, scope, {}) is None)
    rated = _rated(store, scope, cell)
    source: RecordFields = {
        "ratings": ESTIMATED,
        "capacity": rated["capacity"]["value"],
        "at_least": True,
        OWN: True,
    }
    with store.transaction() as db:
        made = store.rows.create(
            Specification,
            {"name": name, "ratings": rated, "source": source},
            scope=scope,
            connection=db,
        )
        batch = None
        if cell.batch_name is not None:
            data = {"name": cell.batch_name, "specification_id": made.id}
            batch = store.rows.create(Batch, data, scope=scope, connection=db).id
        changes: RecordFields = {"specification_id": made.id, "batch_id": batch}
        store.rows.update(Instance, cell.id, changes, scope, connection=db)
    return name


def _projects(store: Store) -> Iterator[Scope]:
    for owner in store.rows.organizations():
        for project in store.rows.page(Project, Scope(owner.id, None), limit=None).items:
            yield Scope(owner.id, project.id)


def _tests(store: Store, scope: Scope, cell: Instance) -> list[Measurement]:
    found: list[Measurement] = store.rows.page(
        Measurement, scope, where={"instance_id": cell.id}, limit=None
    ).items
    return found


def _rated(store: Store, scope: Scope, cell: Instance) -> RecordFields:
    """Ratings of a cell from its stored tests: the most charge of a cycle, the lowest and the highest voltage."""
    charges, lows, highs = [0.0], [], []
    for test in _tests(store, scope, cell):
        if any(store.series.info(test.id, name, scope=EVERYTHING) is None for name in ("steps", "cycles")):
            continue
        steps, cycles = (
            store.series.read(test.id, dataset=name, scope=EVERYTHING) for name in ("steps", "cycles")
        )
        charges.append(largest_capacity(steps, cycles) or 0.0)
        lows += [value for value in _known(cycles, "Min voltage [V]") if value > 0]
        highs += [value for value in _known(cycles, "Max voltage [V]") if value > 0]
    return ratings(
        float(f"{max(charges):.3g}"), round(min(lows, default=0.0), 2), round(max(highs, default=0.0), 2)
    )


def _known(table: Table, name: str) -> list[float]:
    if name not in table:
        return []
    values = table[name].floats()
    kept: list[float] = values[np.isfinite(values)].tolist()
    return kept
