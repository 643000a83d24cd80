"""From a prepared file to records: what does not exist yet is made, and all becomes visible at once."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from ..errors import Conflict, NotFound
from ..phrases import option_name
from ..records import Batch, Instance, Measurement, Record, Specification
from ..store.rows import new_id
from ..store.store import Scope, Store
from ..table import Table
from .paths import shown, stem_of
from .prepare import Prepared
from .ratings import ESTIMATED, Ratings, compared, estimated, is_estimated, of_header, rated_ah
from .report import FileReport

R = TypeVar("R", bound=Record)
Ref = str | Record
UNSPECIFIED = "Unspecified"
_CHUNK = 1 << 20
_FILE_NAME = re.compile(r"[/\\?#%\x00-\x1f]")
_MOST_NAMES = 10_000


@dataclass(frozen=True)
class Destination:
    """Where measurements go: which cell, of which specification and batch. What has no name yet follows the file."""

    specification: Ref | None = None
    ratings: Ratings | None = None
    instance: Ref | None = None
    batch: Ref | None = None


class _Same(Exception):
    """A measurement of the project holds the same content. Never leaves the module."""

    def __init__(self, measurement: Measurement) -> None:
        super().__init__()
        self.measurement = measurement


class Intake:
    """Writes prepared files into one project, one transaction each.

    Chunks go in first, unseen; the last transaction makes the records that are missing and publishes samples,
    steps and cycles together. Whoever looks sees the measurement whole or not at all.
    """

    def __init__(self, store: Store, scope: Scope, destination: Destination, *, actor: str | None = None) -> None:
        self._store = store
        self._scope = scope
        self._to = destination
        self._actor = actor

    def rated_capacity(self) -> float | None:
        """The rated capacity of the cells to come, A.h, where somebody said so before their files are read.

        One that was estimated from another file is none: what a file becomes must not hang on what came before it.
        """
        try:
            specification = self._known_specification()
        except NotFound:
            specification = None
        if specification is not None:
            ratings = specification.ratings.model_dump()
            return None if is_estimated(specification.source, ratings) else rated_ah(ratings)
        return None if self._to.ratings is None else rated_ah(self._to.ratings)

    def same(self, prepared: Prepared) -> Measurement | None:
        """The measurement of this project that has the same samples, bit for bit."""
        return self._store.rows.of_content(prepared.content_hash, self._scope)

    def commit(
        self,
        path: Path,
        prepared: Prepared,
        tables: Iterable[tuple[str, Table]],
        report: FileReport,
        *,
        keep: bool,
    ) -> None:
        """Store one file; ``report`` is filled in.

        Parameters
        ----------
        tables : batches of ``series``, and ``steps`` and ``cycles``, as they were spooled.
        keep : keep the bytes of the file too.
        """
        same = self.same(prepared)
        if same is None:
            try:
                self._write(path, prepared, tables, report, keep=keep)
                return
            except _Same as found:
                same = found.measurement
        report.status, report.measurement, report.measurement_id = "duplicate", same.name, same.id
        report.why = f"The same content is there already, as '{same.name}' of '{same.instance_name}'."
        report.created = []

    def _write(
        self,
        path: Path,
        prepared: Prepared,
        tables: Iterable[tuple[str, Table]],
        report: FileReport,
        *,
        keep: bool,
    ) -> None:
        with self._store.transaction() as connection:
            id = new_id(self._store.clock(connection))
        with ExitStack() as stack:
            writers = {
                dataset: stack.enter_context(self._store.series.writer(id, dataset))
                for dataset in ("series", "steps", "cycles")
            }
            for dataset, table in tables:
                writers[dataset].add(table)
            files = [self._keep(path, prepared.size)] if keep else []
            with self._store.transaction() as connection:
                same = self.same(prepared)
                if same is not None:
                    raise _Same(same)
                instance = self._instance(connection, path, prepared, report)
                measurement = self._measurement(connection, id, instance, path, prepared, report, files)
                for writer in writers.values():
                    writer.publish(connection)
        report.status, report.measurement, report.measurement_id = "stored", measurement.name, measurement.id

    def _keep(self, path: Path, size: int) -> dict[str, Any]:
        piece = self._store.pieces.put(_bytes_of(path))
        return {"filename": _FILE_NAME.sub("_", shown(path.name))[-255:], "piece": piece, "size": size}

    def _known_specification(self) -> Specification | None:
        """The specification that was named, or that of the cell that was named; NotFound if it is to be made."""
        if self._to.specification is not None:
            return self._find(Specification, self._to.specification)
        if self._to.instance is not None:
            instance = self._find(Instance, self._to.instance)
            return self._find(Specification, instance.specification_id)
        return None

    def _specification(
        self, connection: sqlite3.Connection, prepared: Prepared, report: FileReport
    ) -> Specification:
        try:
            found = self._known_specification()
        except NotFound:
            found = None
        name = self._to.specification if isinstance(self._to.specification, str) else UNSPECIFIED
        if found is None:
            found = self._existing(Specification, name, {})
        if found is not None:
            report.take(compared(prepared, found.ratings.model_dump(), found.name, found.source))
            return found
        data: dict[str, Any] = {"name": name, "ratings": self._to.ratings}
        if self._to.ratings is None:
            data["ratings"] = estimated(prepared)
            capacity = rated_ah(data["ratings"])
            data["source"] = {"ratings": ESTIMATED, "file": Path(report.path).name, "capacity": capacity}
            if not capacity:
                report.odd.append(
                    f"No charge passes in this file, so the capacity of '{name}' is unknown and was set to 0: "
                    f"give {option_name('rating')}, or correct the specification."
                )
            report.assumed.append(
                f"Ratings of '{name}' were estimated from the data: "
                + ", ".join(f"{key} {value['value']:g} {value['unit']}" for key, value in data["ratings"].items())
                + ("; the capacity is that of the file's header." if of_header(prepared) else ".")
            )
        return self._make(connection, Specification, data, report)

    def _instance(
        self, connection: sqlite3.Connection, path: Path, prepared: Prepared, report: FileReport
    ) -> Instance:
        specification = self._specification(connection, prepared, report)
        within = {"specification_id": specification.id}
        batch = self._batch(connection, specification, report)
        ref = self._to.instance
        name = stem_of(path) if ref is None else ref
        found = self._find(Instance, name) if isinstance(name, Record) else self._existing(Instance, name, within)
        if found is None:
            data = {"name": name, **within, "batch_id": None if batch is None else batch.id}
            return self._make(connection, Instance, data, report)
        if batch is not None and found.batch_id is None:
            changed: Instance = self._store.rows.update(
                Instance, found.id, {"batch_id": batch.id}, self._scope, self._actor, connection=connection
            )
            return changed
        if batch is not None and found.batch_id != batch.id:
            report.odd.append(f"'{found.name}' is in the batch '{found.batch_name}' and stays there.")
        return found

    def _batch(
        self, connection: sqlite3.Connection, specification: Specification, report: FileReport
    ) -> Batch | None:
        ref = self._to.batch
        if ref is None or isinstance(ref, Record):
            return None if ref is None else self._find(Batch, ref)
        within = {"specification_id": specification.id}
        found = self._existing(Batch, ref, within)
        return found or self._make(connection, Batch, {"name": ref, **within}, report)

    def _measurement(
        self,
        connection: sqlite3.Connection,
        id: str,
        instance: Instance,
        path: Path,
        prepared: Prepared,
        report: FileReport,
        files: list[dict[str, Any]],
    ) -> Measurement:
        start = None if prepared.start_time is None else datetime.fromisoformat(prepared.start_time)
        data = {
            "instance_id": instance.id,
            "measurement_type": "time_series",
            "start_time": start,
            "end_time": _end(start, prepared.duration),
            "test_setup": prepared.metadata,
            "file_name": shown(path.name),
            "content_hash": prepared.content_hash,
            "source": _source(path, prepared),
            "files": files,
        }
        for name in _names(stem_of(path)):
            try:
                made = self._store.rows.create(
                    Measurement,
                    {**data, "name": name},
                    scope=self._scope,
                    actor=self._actor,
                    id=id,
                    connection=connection,
                )
            except Conflict:
                continue
            return made
        raise Conflict(f"'{instance.name}' has {_MOST_NAMES} measurements called '{stem_of(path)}'.")

    def _find(self, kind: type[R], ref: Ref) -> R:
        return self._store.rows.find(kind, ref, self._scope)

    def _existing(self, kind: type[R], ref: str, where: Mapping[str, Any]) -> R | None:
        try:
            return self._store.rows.find(kind, ref, self._scope, where=where)
        except NotFound:
            return None

    def _make(self, connection: sqlite3.Connection, kind: type[R], data: dict[str, Any], report: FileReport) -> R:
        rows = self._store.rows
        try:
            made = rows.create(kind, data, scope=self._scope, actor=self._actor, connection=connection)
        except Conflict as taken:
            if taken.existing_id is None:
                raise
            return rows.get(kind, taken.existing_id, self._scope)
        report.created.append(f"{kind.label} '{made.name}'")
        return made


def _names(stem: str) -> Iterator[str]:
    yield stem
    for number in range(2, _MOST_NAMES):
        yield f"{stem} ({number})"


def _end(start: datetime | None, duration: float | None) -> datetime | None:
    if start is None or duration is None or not 0 <= duration < 1e10:
        return None
    return start + timedelta(seconds=duration)


def _source(path: Path, prepared: Prepared) -> dict[str, Any]:
    """Where the samples come from and what was done to them, as kept with the measurement."""
    told = [
        {"level": finding.level, "code": finding.code, "message": finding.message} for finding in prepared.findings
    ]
    return {"file": shown(path.name), "sha256": prepared.file_hash, "format": prepared.format, "findings": told}


def _bytes_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
