"""A measurement that is there, brought up to what a sheet or a name rule says now."""

from __future__ import annotations

from dataclasses import replace

from ...errors import Conflict
from ...records import Batch, Instance, Measurement, Specification
from ...store import Transaction
from ..limits import RecordFields
from ..plan.destination import Destination
from ..plan.labels import Labels
from ..report.report import FileReport
from .cell_places import CellPlace
from .cells import MOST_NAMES, Cells, names


def fields_of(labels: Labels, before: Labels, present: Measurement | None) -> RecordFields:
    """What labels set of a measurement. What the labels ``before`` gave and these no longer say goes again; what a
    person put there stays."""
    made: RecordFields = {}
    properties = dict(present.properties) if present else {}
    for name, value in before.test.items():
        if name not in labels.test and properties.get(name) == value:
            del properties[name]
    properties |= labels.test
    if present is None or properties != present.properties:
        made["properties"] = properties
    if labels.protocol is not None and (present is None or present.protocol.get("name") != labels.protocol):
        made["protocol"] = {**(present.protocol if present else {}), "name": labels.protocol}
    if labels.tags is not None or before.tags:
        own = [tag for tag in (present.tags if present else []) if tag not in _folded(before.tags, present)]
        tags = sorted({*own, *(labels.tags or ())})
        if present is None or tags != sorted(present.tags):
            made["tags"] = tags
    return made


def _folded(tags: tuple[str, ...] | None, present: Measurement | None) -> set[str]:
    """Those tags of a measurement that labels once gave, in whatever spelling the project has for them."""
    wanted = {tag.casefold() for tag in tags or ()}
    return {tag for tag in (present.tags if present else []) if tag.casefold() in wanted}


def is_new(labels: Labels, record: Measurement) -> bool:
    """Whether labels say anything that they did not say of a measurement before."""
    said = labels.said()
    return bool(said) and said != record.source.get("labels", {})


def relabel(
    cells: Cells, connection: Transaction, record: Measurement, labels: Labels, report: FileReport
) -> Measurement:
    """Bring a measurement, its cell, batch and specification up to the labels; the report says what changed.

    Nothing is touched if the labels are those it has already, so what a person changed since stays.
    """
    before = record.source.get("labels", {})
    said = labels.said()
    if not is_new(labels, record):
        return record
    cell = cells.find(Instance, record.instance_id)
    target = _cell(cells, connection, record, cell, labels, report)
    if target.id != cell.id:
        record = _moved(cells, connection, record, target, report)
        if not cells.measurements_of(cell) and not cells.drop(connection, cell, report):
            report.odd.append(
                f"The cell '{cell.name}' has no measurements any more. Delete it if its name was a mistake."
            )
    changes = fields_of(labels, Labels.of(before), record)
    if labels.measurement is not None and Labels.of(before).measurement != labels.measurement:
        record = _renamed(cells, connection, record, labels.measurement, report)
    record = cells.change(connection, record, changes, report)
    source = {**record.source, "labels": said}
    updated: Measurement = cells.store.rows.update(
        Measurement, record.id, {"source": source}, cells.scope, cells.actor, connection=connection
    )
    return updated


def _cell(
    cells: Cells,
    connection: Transaction,
    record: Measurement,
    cell: Instance,
    labels: Labels,
    report: FileReport,
) -> Instance:
    """The cell as it is said now: the same one, another one that is there, or a new one."""
    own = cells.find(Specification, cell.specification_id)
    present = cells.existing(Specification, labels.specification, {}) if labels.specification else own
    to = Destination(labels.specification or own, labels.ratings or None, labels.instance, labels.batch)
    at = CellPlace(cell, cell.name, present)
    specification = cells.specification(connection, to, at, labels, report, None, like=own)
    before = Labels.of(record.source.get("labels", {}))
    name = cell.name if labels.instance in (None, before.instance) else labels.instance or cell.name
    moves = specification.id != cell.specification_id
    to = replace(to, batch=labels.batch or (cell.batch_name if moves else None))
    target = cell
    if moves or name != cell.name:
        if labels.specification is None and cells.is_own(own):
            place = cells.place_labelled(name, labels.batch)
        else:
            place = cells.place_in(name, labels.batch, specification)
        if place.cell is not None and place.specification is not None:
            specification = place.specification
        if place.why and place.name != cell.name:
            report.assume("cell", place.why)
        target = place.cell or _renamed_or_new(cells, connection, cell, specification, place.name, report)
    batch: Batch | None = cells.batch(connection, to, specification, report)
    described = cells.described(connection, target, batch, labels, report)
    if moves and target.id == cell.id:
        cells.drop_specification(connection, own, report)
    elif target.id == cell.id and described.name != cell.name:
        cells.rename_own(connection, own, described.name, report)
    return described


def _renamed_or_new(
    cells: Cells,
    connection: Transaction,
    cell: Instance,
    specification: Specification,
    name: str,
    report: FileReport,
) -> Instance:
    if name == cell.name or len(cells.measurements_of(cell)) == 1:
        moves = specification.id != cell.specification_id
        changes: dict[str, str | None] = {"name": name, "specification_id": specification.id}
        if name != cell.name:
            report.changed.append(f"{cell.label} '{cell.name}' is now called '{name}'")
        if moves:
            report.changed.append(
                f"{cell.label} '{name}' moved from '{cell.specification_name}' to '{specification.name}'"
            )
            changes["batch_id"] = None
        moved: Instance = cells.store.rows.update(
            Instance, cell.id, changes, cells.scope, cells.actor, connection=connection
        )
        return moved
    data = {"name": name, "specification_id": specification.id, "batch_id": None}
    return cells.make(connection, Instance, data, report)


def _moved(
    cells: Cells, connection: Transaction, record: Measurement, cell: Instance, report: FileReport
) -> Measurement:
    report.changed.append(f"moved from '{record.instance_name}' to '{cell.name}'")
    return _under_a_free_name(cells, connection, record, {"instance_id": cell.id}, record.name)


def _renamed(
    cells: Cells, connection: Transaction, record: Measurement, name: str, report: FileReport
) -> Measurement:
    if record.name == name:
        return record
    renamed = _under_a_free_name(cells, connection, record, {}, name)
    if renamed.name != record.name:
        report.changed.append(f"measurement '{record.name}' is now called '{renamed.name}'")
    return renamed


def _under_a_free_name(
    cells: Cells, connection: Transaction, record: Measurement, changes: RecordFields, name: str
) -> Measurement:
    for free in names(name):
        try:
            changed: Measurement = cells.store.rows.update(
                Measurement,
                record.id,
                {**changes, "name": free},
                cells.scope,
                cells.actor,
                connection=connection,
            )
        except Conflict as taken:
            if taken.existing_id is None:
                raise
            continue
        return changed
    raise Conflict(f"There are {MOST_NAMES} measurements called '{name}'.")
