"""The cell a file is about: its specification, batch and instance, found, made or brought up to what is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import JsonValue

from ...errors import BadRequest, Conflict, NotFound
from ...messages import option_name
from ...records import Batch, Instance, Measurement, Record, Specification
from ...store import Transaction
from ...store.store import Scope, Store
from ..limits import RecordFields
from ..plan.destination import Destination, Ref
from ..plan.jobs import Job
from ..plan.labels import Labels, Ratings
from ..plan.ratings import rated_ah
from ..read.prepare import Prepared
from ..report.report import FileReport
from .cell_places import COMMON, OWN, CellPlace, CellPlaces
from .estimates import (
    compared,
    estimated,
    grown,
    is_estimated,
    said_ratings,
    source_of,
    words_of_estimate,
)

R = TypeVar("R", bound=Record)
MOST_NAMES = 10_000


class Cells:
    """Finds the records above a measurement, and makes those that are missing, inside the caller's transaction."""

    def __init__(self, store: Store, scope: Scope, actor: str | None) -> None:
        self.store = store
        self.scope = scope
        self.actor = actor
        self._places = CellPlaces(store, scope)
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

    def place(self, to: Destination, job: Job) -> CellPlace:
        """The cell that a file is about, or what it is to be called; see `CellPlaces.of`."""
        return self._places.of(to, job)

    def place_called(self, name: str, folder: str, to: Destination) -> CellPlace:
        """The cell that a file gives a name of its own; see `CellPlaces.called`."""
        return self._places.called(name, folder, to)

    def place_labelled(self, name: str, batch: str | None) -> CellPlace:
        """The cell of this name in whatever specification; see `CellPlaces.of`."""
        return self._places.called(name, "", Destination(instance=name, batch=batch))

    def place_in(self, name: str, batch: str | None, specification: Specification) -> CellPlace:
        """The cell of this name in a specification, or what it is to be called there."""
        return self._places.in_specification(name, batch, specification)

    def said_ratings(self, to: Destination, job: Job) -> Mapping[str, JsonValue]:
        """The ratings of the cells to come that somebody said before their files are read.

        What was estimated from another file is not among them: what a file becomes must not hang on what came before.
        """
        specification = self._specification_of(to, job)
        of_all = (to.ratings or {}) if specification is None else said_ratings(specification)
        return {**of_all, **job.labels.ratings}

    def _specification_of(self, to: Destination, job: Job) -> Specification | None:
        """The specification of the cells to come, if it is there before their files are read."""
        try:
            return self.place(to, job).specification
        except (NotFound, BadRequest):
            return None  # said again, in words, when the file is committed

    def specification(
        self,
        connection: Transaction,
        to: Destination,
        place: CellPlace,
        labels: Labels,
        report: FileReport,
        prepared: Prepared | None,
        like: Specification | None = None,
    ) -> Specification:
        """The specification, made if it is missing: rated as is said, else as ``like``, else as the data suggest.

        Where none is said, it is one of the cell's own, and its estimate grows with the files of the cell.
        """
        found = place.specification
        if found is None and isinstance(to.specification, str):
            found = self.existing(Specification, to.specification, {})
            name = to.specification
        elif found is None:
            name = self.own_name(place.name)
        if found is None:
            known: RecordFields = {**to.known.get("specification", {})}
            data = self._design(name, to, report, prepared, like)
            data = {**known, **data, "properties": labels.design}
            data["source"] = {**known.get("source", {}), **data.get("source", {})}
            if to.specification is None:
                data["source"][OWN] = True
            found = self.make(connection, Specification, data, report)
        elif prepared is not None and not labels.ratings:
            found = self._checked(connection, prepared, found, report)
        changes: RecordFields = {}
        if labels.ratings:
            changes["ratings"] = _ratings_of(found) | labels.ratings
        if labels.design:
            changes["properties"] = {**found.properties, **labels.design}
        return self.change(connection, found, changes, report)

    def _checked(
        self, connection: Transaction, prepared: Prepared, rated: Specification, report: FileReport
    ) -> Specification:
        """Compare a file with the ratings of its cell; an estimate that is the cell's own grows with the file."""
        if rated.source.get(OWN) and is_estimated(rated):
            return self._rated_anew(connection, rated, grown(prepared, rated), report)
        warned = rated.id in self._warned_of
        findings = compared(prepared, rated, warned=warned)
        report.take(findings)
        if findings:
            self._warned_of.add(rated.id)
        return rated

    def follow(
        self, connection: Transaction, record: Measurement, prepared: Prepared, report: FileReport, *, anew: bool
    ) -> None:
        """Let estimated ratings follow a test whose samples changed, where they are the cell's own or from its file.

        ``anew``: the samples were read otherwise, so what the earlier reading showed counts no more. The estimate of a
        cell with other tests keeps what it has, since these may have shown it.
        """
        rated = self.find(Specification, self.find(Instance, record.instance_id).specification_id)
        of_file = rated.source.get("file") == prepared.files[0]["name"]
        if not is_estimated(rated) or not (of_file or rated.source.get(OWN)):
            return
        if anew and of_file and self._is_only_test(rated, record):
            kept = {key: value for key, value in rated.source.items() if key != "at_least"}
            made = {**_ratings_of(rated), **estimated(prepared)}, {**kept, **source_of(prepared)}
        else:
            made = grown(prepared, rated)
        self._rated_anew(connection, rated, made, report)

    def _is_only_test(self, rated: Specification, record: Measurement) -> bool:
        """Whether a specification has one cell, and that cell one test."""
        cells = self.store.rows.page(Instance, self.scope, where={"specification_id": rated.id}, limit=2).items
        where = {"instance_id": record.instance_id}
        return (
            len(cells) == 1 and len(self.store.rows.page(Measurement, self.scope, where=where, limit=2).items) == 1
        )

    def _rated_anew(
        self,
        connection: Transaction,
        rated: Specification,
        made: tuple[Ratings, RecordFields],
        report: FileReport,
    ) -> Specification:
        """A specification with other estimated ratings and their source; the report says what changed."""
        ratings, source = made
        if ratings == _ratings_of(rated):
            return rated
        report.changed.append(
            f"{rated.label} '{rated.name}', whose ratings are estimated: {said('ratings', rated.ratings, ratings)}"
        )
        changes: RecordFields = {"ratings": ratings, "source": source}
        return self.store.rows.update(
            Specification, rated.id, changes, self.scope, self.actor, connection=connection
        )

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
            if not to.estimate:
                return {"name": name, "ratings": given}
            report.assume("rating", f"The ratings of '{name}' were estimated from the data where it was exported.")
            return {"name": name, "ratings": given, "source": dict(to.estimate)}
        if like is not None:
            source = {key: value for key, value in like.source.items() if key != OWN}
            return {"name": name, "ratings": {**_ratings_of(like), **given}, "source": source}
        if prepared is None:
            raise NotFound(f"There is no cell specification '{name}' yet.")
        guessed = estimated(prepared)
        if "capacity" not in given and not rated_ah(guessed):
            report.odd.append(
                f"No charge flows in this file, so the capacity of '{name}' is unknown and was set to 0. "
                f"Give {option_name('rating')}, or correct the specification."
            )
        missing = {key: value for key, value in guessed.items() if key not in given}
        report.assume("rating", words_of_estimate(name, missing, prepared))
        return {"name": name, "ratings": {**guessed, **given}, "source": source_of(prepared)}

    def own_name(self, cell: str) -> str:
        """What the specification of a cell is called of which none is said."""
        name = f"{COMMON} {cell}"
        return next(one for one in names(name) if self.existing(Specification, one, {}) is None)

    def batch(
        self, connection: Transaction, to: Destination, specification: Specification, report: FileReport
    ) -> Batch | None:
        ref = to.batch
        if ref is None or isinstance(ref, Record):
            return None if ref is None else self.find(Batch, ref)
        within = {"specification_id": specification.id}
        data = {**to.known.get("batch", {}), "name": ref, **within}
        return self.existing(Batch, ref, within) or self.make(connection, Batch, data, report)

    def instance(
        self,
        connection: Transaction,
        to: Destination,
        job: Job,
        labels: Labels,
        report: FileReport,
        prepared: Prepared,
    ) -> Instance:
        """The cell of a new measurement, with the batch and the properties that are said of it."""
        place = self.place(to, job)
        specification = self.specification(connection, to, place, labels, report, prepared)
        batch = self.batch(connection, to, specification, report)
        if place.cell is not None:
            return self.described(connection, place.cell, batch, labels, report)
        if place.why:
            report.assume("cell", place.why)
        data: RecordFields = {
            **to.known.get("instance", {}),
            "name": place.name,
            "specification_id": specification.id,
        }
        data |= {"batch_id": None if batch is None else batch.id, "properties": labels.cell}
        return self.make(connection, Instance, data, report)

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

    def drop(self, connection: Transaction, cell: Instance, report: FileReport) -> bool:
        """Delete a cell without tests that was made for a file of which nothing was said, and its specification."""
        specification = self.find(Specification, cell.specification_id)
        if not specification.source.get(OWN) or cell.properties or cell.notes:
            return False
        self.store.rows.delete(Instance, cell.id, self.scope, connection=connection)
        report.changed.append(f"{cell.label} '{cell.name}', which has no tests any more, is removed")
        self.drop_specification(connection, specification, report)
        return True

    def is_own(self, specification: Specification) -> bool:
        """Whether a specification was made for cells of which none was said."""
        return bool(specification.source.get(OWN)) or specification.name == COMMON

    def rename_own(self, connection: Transaction, one: Specification, cell: str, report: FileReport) -> None:
        """Let the specification that was made for one cell go by the new name of that cell."""
        if one.source.get(OWN) and one.name.startswith(f"{COMMON} "):
            self.change(connection, one, {"name": self.own_name(cell)}, report)

    def drop_specification(self, connection: Transaction, one: Specification, report: FileReport) -> None:
        """Delete a specification that was made for one cell, once that cell is in another."""
        cells = self.store.rows.page(Instance, self.scope, where={"specification_id": one.id}, limit=1).items
        if cells or not one.source.get(OWN) or not is_estimated(one) or one.properties or one.notes:
            return
        self.store.rows.delete(Specification, one.id, self.scope, connection=connection)
        report.changed.append(f"{one.label} '{one.name}', which has no cells any more, is removed")

    def measurements_of(self, cell: Instance) -> list[Measurement]:
        """All measurements of a cell."""
        found: list[Measurement] = self.store.rows.page(
            Measurement, self.scope, where={"instance_id": cell.id}, limit=None
        ).items
        return found


def names(stem: str) -> Iterator[str]:
    """``stem``, ``stem (2)`` ..."""
    yield stem
    for number in range(2, MOST_NAMES):
        yield f"{stem} ({number})"


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
