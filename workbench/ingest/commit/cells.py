"""The cell a file is about: its specification, batch and instance, found, made or brought up to what is said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from ...errors import Conflict, NotFound
from ...messages import option_name
from ...records import Batch, Instance, Measurement, Record, Specification
from ...store import Transaction
from ...store.store import Scope, Store
from ..limits import RecordFields
from ..plan.destination import Destination, Ref
from ..plan.labels import Labels
from ..plan.ratings import rated_ah
from ..read.prepare import Prepared
from ..report.report import FileReport
from .estimates import ESTIMATED, compared, estimated, is_estimated, of_header

R = TypeVar("R", bound=Record)
UNSPECIFIED = "Unspecified"


class Cells:
    """Finds the records above a measurement, and makes those that are missing, inside the caller's transaction."""

    def __init__(self, store: Store, scope: Scope, actor: str | None) -> None:
        self.store = store
        self.scope = scope
        self.actor = actor
        self._warned_of: set[str] = set()
        """Specifications of which it was said in this run that their estimated capacity does not fit a file."""

    def find(self, kind: type[R], ref: Ref) -> R:
        return self.store.rows.find(kind, ref, self.scope)

    def existing(self, kind: type[R], ref: Ref, where: RecordFields) -> R | None:
        if not isinstance(ref, str):
            return self.find(kind, ref)
        return self.store.rows.existing(kind, ref, self.scope, where)

    def make(self, connection: Transaction, kind: type[R], data: RecordFields, report: FileReport) -> R:
        rows = self.store.rows
        try:
            made = rows.create(kind, data, scope=self.scope, actor=self.actor, connection=connection)
        except Conflict as taken:
            if taken.existing_id is None:
                raise
            return rows.get(kind, taken.existing_id, self.scope)
        report.created.append(f"{kind.label} '{made.name}'")
        return made

    def change(self, connection: Transaction, record: R, changes: RecordFields, report: FileReport) -> R:
        """Change what differs, and say so."""
        differing = {name: value for name, value in changes.items() if _plain(getattr(record, name)) != value}
        if not differing:
            return record
        changed: R = self.store.rows.update(
            type(record), record.id, differing, self.scope, self.actor, connection=connection
        )
        for name, value in differing.items():
            report.changed.append(f"{record.label} '{changed.name}': {said(name, getattr(record, name), value)}")
        return changed

    def known_specification(self, to: Destination) -> Specification | None:
        """The specification that was named, or that of the cell that was named; NotFound if it is to be made."""
        if to.specification is not None:
            return self.find(Specification, to.specification)
        if to.instance is not None:
            instance = self.find(Instance, to.instance)
            if to.by_batch and _elsewhere(instance, str(to.batch)):
                return None
            return self.find(Specification, instance.specification_id)
        return None

    def rated_capacity(self, to: Destination, labels: Labels) -> float | None:
        """The rated capacity of the cells to come, A.h, where somebody said so before their files are read.

        One that was estimated from another file is none: what a file becomes must not hang on what came before it.
        """
        if "capacity" in labels.ratings:
            return rated_ah(labels.ratings)
        try:
            specification = self.known_specification(to)
        except NotFound:
            specification = None
        if specification is not None:
            ratings = specification.ratings.model_dump()
            return None if is_estimated(specification.source, ratings) else rated_ah(ratings)
        return None if to.ratings is None else rated_ah(to.ratings)

    def cell_at(self, to: Destination, labels: Labels, stem: str) -> Instance | None:
        """The cell that a file is about, if it is there."""
        try:
            specification = self.known_specification(to) or self.existing(Specification, UNSPECIFIED, {})
        except NotFound:
            return None
        if specification is None:
            return None
        return self._named(to, labels, stem, specification)[0]

    def _named(
        self, to: Destination, labels: Labels, stem: str, specification: Specification
    ) -> tuple[Instance | None, str]:
        """The cell of this name and what it is called: numbers of cells begin anew in each batch in many places, so
        one that is in another batch than is said is another cell."""
        within = {"specification_id": specification.id}
        found = self.existing(Instance, to.instance or stem, within)
        name = to.instance.name if isinstance(to.instance, Record) else to.instance or stem
        batch = labels.batch
        if found is None or batch is None or isinstance(to.instance, Record) or not _elsewhere(found, batch):
            return found, name
        name = f"{batch} {name}"
        return self.existing(Instance, name, within), name

    def specification(
        self,
        connection: Transaction,
        to: Destination,
        labels: Labels,
        report: FileReport,
        prepared: Prepared | None,
        like: Specification | None = None,
    ) -> Specification:
        """The specification, made if it is missing: rated as is said, else as ``like``, else as the data suggest."""
        try:
            found = self.known_specification(to)
        except NotFound:
            found = None
        name = to.specification if isinstance(to.specification, str) else UNSPECIFIED
        if found is None:
            found = self.existing(Specification, name, {})
        if found is None:
            found = self.make(connection, Specification, self._design(name, to, report, prepared, like), report)
        elif prepared is not None and not labels.ratings:
            self._compare(prepared, found, report)
        changes: RecordFields = {}
        if labels.ratings:
            changes["ratings"] = _ratings_of(found) | labels.ratings
        if labels.design:
            changes["properties"] = {**found.properties, **labels.design}
        return self.change(connection, found, changes, report)

    def _compare(self, prepared: Prepared, rated: Specification, report: FileReport) -> None:
        warned = rated.id in self._warned_of
        findings = compared(prepared, rated.ratings.model_dump(), rated.name, rated.source, warned=warned)
        report.take(findings)
        if findings:
            self._warned_of.add(rated.id)

    def _design(
        self,
        name: str,
        to: Destination,
        report: FileReport,
        prepared: Prepared | None,
        like: Specification | None,
    ) -> RecordFields:
        given = to.ratings or {}
        if {"capacity", "voltage_min", "voltage_max"} <= given.keys():
            return {"name": name, "ratings": given}
        if like is not None:
            return {"name": name, "ratings": {**_ratings_of(like), **given}, "source": like.source}
        if prepared is None:
            raise NotFound(f"There is no cell specification '{name}' yet.")
        guessed = estimated(prepared)
        capacity = rated_ah(guessed)
        source = {"ratings": ESTIMATED, "file": Path(report.path).name, "capacity": capacity}
        if "capacity" not in given and not capacity:
            report.odd.append(
                f"No charge flows in this file, so the capacity of '{name}' is unknown and was set to 0. "
                f"Give {option_name('rating')}, or correct the specification."
            )
        missing = {key: value for key, value in guessed.items() if key not in given}
        report.assume(
            "rating",
            f"Ratings of '{name}' were estimated from the data: "
            + ", ".join(f"{key} {_shown(value)}" for key, value in missing.items())
            + ("; the capacity is from the header of the file." if of_header(prepared) else "."),
        )
        return {"name": name, "ratings": {**guessed, **given}, "source": source}

    def batch(
        self, connection: Transaction, to: Destination, specification: Specification, report: FileReport
    ) -> Batch | None:
        ref = to.batch
        if ref is None or isinstance(ref, Record):
            return None if ref is None else self.find(Batch, ref)
        within = {"specification_id": specification.id}
        return self.existing(Batch, ref, within) or self.make(connection, Batch, {"name": ref, **within}, report)

    def instance(
        self,
        connection: Transaction,
        to: Destination,
        labels: Labels,
        stem: str,
        report: FileReport,
        prepared: Prepared,
    ) -> Instance:
        """The cell of a new measurement, with the batch and the properties that are said of it."""
        specification = self.specification(connection, to, labels, report, prepared)
        within = {"specification_id": specification.id}
        batch = self.batch(connection, to, specification, report)
        found, name = self._named(to, labels, stem, specification)
        if name != (to.instance or stem) and found is None:
            report.assume(
                "cell", f"There is a cell '{labels.instance}' in another batch, so this cell is called '{name}'."
            )
        if found is None:
            data = {"name": name, **within, "batch_id": None if batch is None else batch.id}
            return self.make(connection, Instance, {**data, "properties": labels.cell}, report)
        return self.described(connection, found, batch, labels, report)

    def described(
        self,
        connection: Transaction,
        cell: Instance,
        batch: Batch | None,
        labels: Labels,
        report: FileReport,
    ) -> Instance:
        """A cell that is there, with its batch and properties as they are said now."""
        changes: RecordFields = {}
        if labels.cell:
            changes["properties"] = {**cell.properties, **labels.cell}
        if batch is not None and batch.id != cell.batch_id:
            if cell.batch_id is None or labels.batch is not None:
                self._into(connection, cell, batch, report)
            else:
                report.odd.append(
                    f"The cell '{cell.name}' is in the batch '{cell.batch_name}' and "
                    f"was not moved. A sheet can move it."
                )
        return self.change(connection, cell, changes, report)

    def _into(self, connection: Transaction, cell: Instance, batch: Batch, report: FileReport) -> None:
        changes = {"batch_id": batch.id}
        self.store.rows.update(Instance, cell.id, changes, self.scope, self.actor, connection=connection)
        report.changed.append(f"{cell.label} '{cell.name}': {said('batch', cell.batch_name, batch.name)}")

    def measurements_of(self, cell: Instance) -> list[Measurement]:
        """All measurements of a cell."""
        found: list[Measurement] = self.store.rows.page(
            Measurement, self.scope, where={"instance_id": cell.id}, limit=None
        ).items
        return found


def _elsewhere(cell: Instance, batch: str) -> bool:
    return cell.batch_name is not None and cell.batch_name.casefold() != batch.casefold()


def _ratings_of(specification: Specification) -> RecordFields:
    return specification.ratings.model_dump(exclude_none=True)


def _plain(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


def said(name: str, before: Any, after: Any) -> str:
    """What changed, in words; of an object only the members that did."""
    before = _plain(before)
    if not isinstance(after, Mapping):
        return f"{name} from {_shown(before)} to {_shown(after)}"
    old = before if isinstance(before, Mapping) else {}
    keys = [key for key in dict.fromkeys([*old, *after]) if old.get(key) != after.get(key)]
    return ", ".join(f"{key} from {_shown(old.get(key))} to {_shown(after.get(key))}" for key in keys)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping) and value.keys() == {"value", "unit"}:
        return f"{value['value']:g} {value['unit']}"
    if isinstance(value, list | tuple):
        return "'" + ", ".join(map(str, value)) + "'" if value else "none"
    return "none" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
