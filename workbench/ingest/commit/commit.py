"""From a prepared file to records: what does not exist yet is made, and all becomes visible at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import JsonValue

from ...cycling.findings import Finding
from ...errors import Conflict, NotFound
from ...messages import spaced
from ...records import Analysis, Instance, Measurement
from ...records.exclusion import ALL, exclusion_of
from ...store import Transaction
from ...store.store import Scope, Store
from ..limits import RecordFields
from ..plan.destination import Destination
from ..plan.jobs import Job
from ..plan.labels import Labels
from ..plan.paths import shown
from ..plan.ratings import known_ah, rated_volts
from ..read.exported import MEASURED, estimate_of, exclusions_of, known_of, labels_of
from ..read.prepare import Prepared
from ..report.report import FileReport
from .ahead import Begun
from .cells import MOST_NAMES, Cells, names
from .continued import (
    Grown,
    Samples,
    also_holds,
    elsewhere,
    grown_from,
    made_by,
    publish,
    read_otherwise,
    tests_of,
)
from .read_again import refuse_extended
from .register import said_of
from .relabel import fields_of, is_new, relabel

_CHUNK = 1 << 20
_FILE_NAME = re.compile(r"[/\\?#%\x00-\x1f]")
_ATTEMPTS = 5


class _Same(Exception):
    """A measurement of the project holds the same content. Never leaves the module."""

    def __init__(self, measurement: Measurement) -> None:
        super().__init__()
        self.measurement = measurement


class OtherRatings(Exception):
    """A file has to be read with other ratings: those of the cell whose test it continues, or none."""

    def __init__(self, ratings: Mapping[str, JsonValue]) -> None:
        super().__init__()
        self.ratings = ratings


class Committer:
    """Writes prepared files into one project, one transaction each.

    Chunks go in first, unseen; the last transaction makes the records that are missing and publishes samples,
    steps and cycles together. Whoever looks sees the measurement whole or not at all. One that ``rehearses`` for
    another store writes records alone, and reads samples there.
    """

    def __init__(
        self,
        store: Store,
        scope: Scope,
        destination: Destination,
        *,
        actor: str | None = None,
        keep: bool = False,
        rehearses: Store | None = None,
    ) -> None:
        self._store = store
        self._scope = scope
        self._to = destination
        self._keep_files = keep
        self._held = rehearses
        self.dry = rehearses is not None
        self._cells = Cells(store, scope, actor)
        self._labelled: dict[str, tuple[str, RecordFields]] = {}
        """Measurement -> the file of this run that has its samples, and what is said of that file."""
        self.named: Mapping[str, Sequence[str]] = {}
        """Name of a file -> the measurements that were read from one of this name."""

    def said_ratings(self, job: Job) -> Mapping[str, JsonValue]:
        """The ratings of the cell of a file that somebody said before it is read.

        Where nothing says the cell, they are those of the test that the file is likely to continue, since limits and
        counted cycles hang on them. ``commit`` asks for others if it continues another one.
        """
        said = self._cells.said_ratings(self._to.of(job.labels), job)
        return said or self._ratings_of(self._likely(job))

    def _likely(self, job: Job) -> Measurement | None:
        """The measurement that was read from this file, or from one of its name, as far as that is known unread."""
        ids = [job.before] if job.before is not None else self.named.get(shown(job.paths[0].name), [])
        for id in ids:
            with suppress(NotFound):  # deleted meanwhile
                record = self._store.rows.get(Measurement, id, self._scope)
                if record.source.get("options", {}).get("test") == job.options.test:
                    return record
        return None

    def _ratings_of(self, record: Measurement | None) -> Mapping[str, JsonValue]:
        return {} if record is None else said_of(self._store, self._scope, record.instance_id)

    def _check_ratings(self, job: Job, grown: Grown | None) -> None:
        """Raise OtherRatings if a file, of whose cell nothing is said, was read with those of another cell."""
        if self._cells.said_ratings(self._to.of(job.labels), job):
            return
        ratings = self._ratings_of(None if grown is None else grown.record)
        if (
            known_ah(ratings) != job.options.rated_capacity_ah
            or rated_volts(ratings) != job.options.rated_voltage_v
        ):
            raise OtherRatings(ratings)

    def same(self, prepared: Prepared) -> Measurement | None:
        """The measurement of this project that has the same samples, bit for bit."""
        return self._store.rows.of_content(prepared.content_hash, self._scope)

    def is_likely_new(self, job: Job) -> bool:
        """Whether a file will probably become a new measurement, as far as that is known unread."""
        return not self.dry and job.before is None and self._likely(job) is None

    def commit(
        self, job: Job, prepared: Prepared, samples: Samples, report: FileReport, begun: Begun | None = None
    ) -> None:
        """Store one file; ``report`` is filled in.

        Parameters
        ----------
        samples : opens its batches of ``series``, and ``steps`` and ``cycles``, as they were spooled.
        begun : what of it is written by now. It is used for a new measurement, else it is of no use afterwards.

        Raises
        ------
        OtherRatings
            If it has to be read again, with the ratings of the cell whose test it continues.
        """
        with nullcontext() if begun is None else begun.writer:
            self._commit(job, prepared, samples, report, begun)

    def _commit(
        self, job: Job, prepared: Prepared, samples: Samples, report: FileReport, begun: Begun | None
    ) -> None:
        for attempt in range(_ATTEMPTS):
            same = self.same(prepared)
            if same is not None and same.id != job.before:
                self.known(job, same, report)
                return
            to = self._destination(job, prepared)
            cell = self._cells.place(to, job).cell
            of_cell = tests_of(self._store, self._scope, cell)
            name = job.labels.measurement or job.stem
            named = self.named.get(prepared.files[0]["name"], [])
            grown = read_otherwise(self._store, self._scope, job.before) or grown_from(
                self._store,
                self._scope,
                job.paths[0],
                prepared,
                samples,
                cell,
                of_cell,
                name,
                named,
                self._held,
                job.folder,
            )
            if grown is not None and grown.how == "within":
                self.known(job, grown.record, report, within=True)
                return
            self._check_ratings(job, grown)
            if grown is not None and grown.how == "otherwise":
                refuse_extended(grown.record, grown.info.rows, prepared.rows)
            try:
                if grown is not None:
                    self._extend(job, prepared, samples, grown, report)
                else:
                    overlap = self._overlap(prepared, samples, of_cell)
                    found = replace(prepared, findings=[*prepared.findings, *overlap])
                    self._write(job, found, samples, report, begun if attempt == 0 else None)
                    report.take(overlap)
                return
            except _Same:
                continue
            except Conflict:
                if grown is None or attempt == _ATTEMPTS - 1:
                    raise

    def _overlap(self, prepared: Prepared, samples: Samples, of_cell: Sequence[Measurement]) -> list[Finding]:
        """The warning that a test of the same cell has samples of a file that becomes another test."""
        found = also_holds(self._store, self._scope, prepared, samples, of_cell, self._held)
        if found is None:
            return []
        record, shared = found
        test = f"'{record.name}'"
        if prepared.rows > shared:
            text, shorter = f"The first {spaced(shared)} samples are all those of the test {test}", test
        else:
            text, shorter = f"All {spaced(shared)} samples are in the test {test}, from its first on", "this one"
        text += (
            " of the same cell. They are kept as two tests, since it is not known whether both began at the same "
            f"time. If they are exports of one test, delete {shorter}: else the life of the cell counts it twice. "
            "A longer export extends a test if a sheet or a name rule gives both the same 'test'."
        )
        return [Finding("odd", "samples_of_another_test", text)]

    def _destination(self, job: Job, prepared: Prepared) -> Destination:
        """Where a file goes: as is said of it, else as is meant for all, else as it says itself."""
        to = self._to.of(job.labels)
        if prepared.brought is None:
            return to
        own = labels_of(prepared.brought)
        return Destination(
            to.specification or own.specification,
            to.ratings or own.ratings,
            to.instance or own.instance,
            to.batch or own.batch,
            to.by_batch,
            estimate={} if to.ratings else estimate_of(prepared.brought),
            known=known_of(prepared.brought, to),
        )

    def _labels(self, job: Job, prepared: Prepared) -> Labels:
        """What is said of a cell that is to be made, also by the file itself."""
        if prepared.brought is None:
            return job.labels
        own = labels_of(prepared.brought)
        return job.labels.over(Labels(cell=own.cell, design=own.design))

    def known(self, job: Job, record: Measurement, report: FileReport, *, within: bool = False) -> None:
        """A file whose samples are there: only what is said of it may change."""
        report.created, report.changed = [], []
        path, said = self._labelled.setdefault(record.id, (report.path, job.labels.said()))
        if path != report.path and said and is_new(job.labels, record):
            report.odd.append(
                f"'{path}' of this run has the same samples, and other labels. They are stored once, with the labels "
                "of that file; those of this one were not used. If one of the files is a copy, remove it; else its "
                "samples were exported twice."
            )
        elif is_new(job.labels, record):
            with self._store.transaction() as connection:
                record = relabel(self._cells, connection, record, job.labels, report)
            self._labelled[record.id] = (report.path, job.labels.said())
        self._unused(job, record, report)
        report.status = "updated" if report.changed or report.created else "duplicate"
        what = "All rows of this file are" if within else "The same content is"
        report.why = (
            f"{what} already stored, in the measurement '{record.name}' of the cell '{record.instance_name}'."
        )
        _place(report, record)

    def _unused(self, job: Job, record: Measurement, report: FileReport) -> None:
        """Warn of a place that was meant for all files, where a test that is there has another one and stays there."""
        places = (
            ("specification", self._to.specification, record.specification_id, record.specification_name),
            ("batch", self._to.batch, record.batch_id, record.batch_name),
            ("cell", self._to.instance, record.instance_id, record.instance_name),
        )
        labels = job.labels
        said = {"specification": labels.specification, "batch": labels.batch, "cell": labels.instance}
        for word, meant, id, name in places:
            if meant is None or said[word] is not None:
                continue
            wanted = meant if isinstance(meant, str) else meant.id
            # A cell may be called 'A c1', since there is a 'c1' in another batch.
            if id == wanted or f" {name or ''}".casefold().endswith(f" {wanted}".casefold()):
                continue
            stays = f"it is of the {word} '{name}'" if name else f"it has no {word}"
            report.odd.append(
                f"The {word} '{wanted}' was not used: the test is stored already, and {stays}. A sheet or a name "
                "rule moves it."
            )

    def _write(
        self, job: Job, prepared: Prepared, samples: Samples, report: FileReport, begun: Begun | None
    ) -> None:
        id = self._store.rows.reserved_ids()[0] if begun is None else begun.id
        with ExitStack() as stack:
            writers = {
                dataset: stack.enter_context(
                    begun.goes_on(rule)
                    if begun is not None and dataset == "series"
                    else self._store.series.writer(id, dataset, rule=rule)
                )
                for dataset, rule in ({} if self.dry else made_by(prepared)).items()
            }
            for dataset, table in () if self.dry else (samples if begun is None else begun.rest)():
                writers[dataset].add(table)
            files = self._kept(job.paths, prepared)
            with self._store.transaction() as connection:
                same = self.same(prepared)
                if same is not None:
                    raise _Same(same)
                to, labels = self._destination(job, prepared), self._labels(job, prepared)
                instance = self._cells.instance(connection, to, job, labels, report, prepared)
                record = self._measurement(connection, id, instance, job, prepared, files, report)
                for writer in writers.values():
                    writer.publish(connection)
        self._store.series.tidy()
        self._labelled[record.id] = (report.path, job.labels.said())
        report.status, report.added = "stored", prepared.rows
        _place(report, record)

    def _extend(self, job: Job, prepared: Prepared, samples: Samples, grown: Grown, report: FileReport) -> None:
        """Let a measurement go on with what the file has more."""
        files = self._kept(job.paths, prepared)
        with self._store.transaction() as connection:
            same = self.same(prepared)
            if same is not None and same.id != grown.record.id:
                raise _Same(same)
            if not self.dry:
                publish(self._store, self._scope, connection, grown, prepared, samples)
            record = self._store.rows.get(Measurement, grown.record.id, self._scope)
            start = record.start_time
            if prepared.start_time is not None and (grown.how == "otherwise" or _dates_shown(grown, prepared)):
                start = datetime.fromisoformat(prepared.start_time)
            changes: RecordFields = {
                "start_time": start,
                "end_time": _end(start, prepared.duration),
                "content_hash": prepared.content_hash,
                "file_name": prepared.files[0]["name"],
                "source": {**record.source, **_source(prepared, job)},
                **({"files": files} if files else {}),
            }
            record = self._store.rows.update(
                Measurement,
                record.id,
                changes,
                self._scope,
                self._cells.actor,
                connection=connection,
                grew=grown.how == "more",
            )
            record = relabel(self._cells, connection, record, job.labels, report)
            if not job.labels.ratings:
                self._cells.follow(connection, record, prepared, report, anew=grown.how == "otherwise")
        self._store.series.tidy()
        _place(report, record)
        if grown.how == "otherwise":
            again = prepared.said == grown.record.source.get("options")
            how = "again" if again else "with other options"
            report.status = "updated"
            report.changed = [*report.changed, f"its samples, because the file was read {how}"]
            was = "was read again" if again else "was read with other options before"
            report.why = f"'{record.name}' of '{record.instance_name}' {was}."
            return
        other = elsewhere(grown.record, job.folder)
        if other is not None:
            report.assume("folder", f"It goes on with a test that was read from another folder ('{other}').")
        self._unused(job, record, report)
        report.status, report.added = "extended", prepared.rows - grown.info.rows
        counts = f"had {spaced(grown.info.rows)} rows and now has {spaced(prepared.rows)}"
        report.why = f"'{record.name}' of '{record.instance_name}' {counts}."

    def _kept(self, paths: Sequence[Path], prepared: Prepared) -> list[RecordFields]:
        if not self._keep_files or self.dry:
            return []
        return [
            {
                "filename": _FILE_NAME.sub("_", shown(path.name))[-255:],
                "piece": self._store.blobs.put(_bytes_of(path)),
                "size": file["size"],
            }
            for path, file in zip(paths, prepared.files, strict=True)
        ]

    def _measurement(
        self,
        connection: Transaction,
        id: str,
        instance: Instance,
        job: Job,
        prepared: Prepared,
        files: list[RecordFields],
        report: FileReport,
    ) -> Measurement:
        start = None if prepared.start_time is None else datetime.fromisoformat(prepared.start_time)
        said = job.labels.said()
        data = {
            "instance_id": instance.id,
            "measurement_type": "time_series",
            "start_time": start,
            "end_time": _end(start, prepared.duration),
            "test_setup": prepared.metadata,
            "file_name": prepared.files[0]["name"],
            "content_hash": prepared.content_hash,
            "source": {**_source(prepared, job), **({"labels": said} if said else {})},
            "files": files,
            **_brought(prepared, job),
        }
        for name, value in fields_of(job.labels, Labels(), None).items():
            data[name] = {**data.get(name, {}), **value} if isinstance(value, dict) else value
        own = None if prepared.brought is None else prepared.brought["measurement"].get("name")
        wanted = job.labels.measurement or own or job.stem
        taken: str | None = None
        for name in names(wanted):
            try:
                made = self._store.rows.create(
                    Measurement,
                    {**data, "name": name},
                    scope=self._scope,
                    actor=self._cells.actor,
                    id=id,
                    connection=connection,
                )
            except Conflict as error:
                taken = taken or error.existing_id
                continue
            if taken is not None:
                report.assume("test", self._same_name(taken, job, wanted, name))
            self._exclude(connection, made, prepared, report)
            return made
        raise Conflict(
            f"'{instance.name}' has {MOST_NAMES} measurements called '{wanted}'. Give this one another name."
        )

    def _exclude(self, connection: Transaction, made: Measurement, prepared: Prepared, report: FileReport) -> None:
        """Leave out of a measurement what was left out of it where it was exported."""
        for one in exclusions_of(prepared.brought):
            self._store.rows.create(
                Analysis,
                exclusion_of(made.id, one["name"], one["cycles"], one["reason"]),
                scope=self._scope,
                actor=self._cells.actor,
                connection=connection,
            )
            what = "the whole test" if one["cycles"] == ALL else f"cycles {one['cycles']}"
            report.assume("excluded", f"Excluded, as where it was exported: {what} ({one['reason']}).")

    def _same_name(self, taken: str, job: Job, wanted: str, name: str) -> str:
        """The sentence about a test of a cell that has one of this name already."""
        other = elsewhere(self._store.rows.get(Measurement, taken, self._scope), job.folder)
        if other is not None:
            return (
                f"The cell has a test '{wanted}' from another folder ('{other}'). This one, from '{job.folder}', is "
                f"called '{name}'."
            )
        return f"The cell has another test '{wanted}' already. This one is called '{name}'."


def _place(report: FileReport, record: Measurement) -> None:
    """Say in the report where the measurement stands."""
    report.measurement, report.measurement_id = record.name, record.id
    report.instance, report.batch = record.instance_name or "", record.batch_name or ""
    report.specification = record.specification_name or ""


def _brought(prepared: Prepared, job: Job) -> RecordFields:
    """What an exported file brings along for its measurement."""
    if prepared.brought is None:
        return {}
    measurement = prepared.brought["measurement"]
    source = {**_source(prepared, job), "exported_from": measurement.get("source") or {}}
    if prepared.brought["given_steps"]:
        source["steps"] = "given"
    return {
        **{name: measurement[name] for name in MEASURED if name in measurement},
        "source": source,
    }


def _end(start: datetime | None, duration: float | None) -> datetime | None:
    if start is None or duration is None or not 0 <= duration < 1e10:
        return None
    return start + timedelta(seconds=duration)


def _dates_shown(grown: Grown, prepared: Prepared) -> bool:
    """Whether the further rows showed the order of day and month, which was assumed, and it is the other one."""
    before = {finding["code"] for finding in grown.record.source.get("findings", ())}
    return not grown.exact and "dates" in before - {finding.code for finding in prepared.findings}


def _source(prepared: Prepared, job: Job) -> RecordFields:
    """Where the samples come from and what was done to them, as kept with the measurement."""
    findings = [
        {"level": finding.level, "code": finding.code, "message": finding.message} for finding in prepared.findings
    ]
    parts: RecordFields = {"files": prepared.files} if len(prepared.files) > 1 else {}
    return {
        "file": prepared.files[0]["name"],
        **({"folder": job.folder} if job.folder else {}),
        "sha256": prepared.file_hash,
        "size": prepared.size,
        "format": prepared.format,
        "options": prepared.said,
        **parts,
        "findings": findings,
    }


def _bytes_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
