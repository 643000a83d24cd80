"""An ingest on its way: what was read before is brought up to date, the rest is read and stored."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import IO

from pydantic import JsonValue

from ..errors import Damaged, StoreError, WorkbenchError
from ..fan_out import FanOut
from ..messages import counted, quoted
from ..near_files import meant_file
from ..readers.non_series.recognise import Holding
from ..store.objects.place import PlaceAway
from ..store.store import Scope, Store
from ..table import Table
from .commit.ahead import Ahead
from .commit.commit import Committer, OtherRatings
from .commit.known_files import KnownFiles
from .commit.non_series import NonSeries
from .options import FileProgress
from .plan import paths as places
from .plan.jobs import Job
from .plan.ratings import known_ah, rated_volts
from .read import samples_file
from .read.fanned_out import outcomes_apart
from .read.prepare import Prepared
from .read.worker import Outcome
from .read.worker_pool import Done, outcomes
from .report.report import FileReport

_LEAST_ROOM = 1 << 20
_NO_ROOM = (
    " The disk of temporary files in '{folder}' has hardly any room left, which may be the reason: make room there, or "
    "name another folder in $TMPDIR, and ingest the file again."
)


class Run:
    """One ingest on its way: what was read before first, then what is new, reported in the order of the paths."""

    def __init__(
        self,
        store: Store,
        scope: Scope,
        committer: Committer,
        non_series: NonSeries,
        jobs: Sequence[Job],
        loose: Set[Path],
        progress: FileProgress | None,
        one_of: Callable[[Job, str, int], Job],
        *,
        again: bool = False,
        fan_out: FanOut | None = None,
    ) -> None:
        self._store = store
        self._committer = committer
        self._non_series = non_series
        self._jobs = jobs
        self._loose = loose
        self._again = again
        self._fan_out = fan_out
        self._isolated = self._locked = False
        self.skipped: list[str] = []
        self.unmapped: list[FileReport] = []
        self.store_errors: dict[str, StoreError] = {}
        self.later: set[Path] = set()
        self._known = KnownFiles(store, scope)
        committer.named = self._known.named
        self._progress = progress
        self._done = 0
        self._all = len(jobs)
        self._one_of = one_of
        self._tests: dict[int, list[Job]] = {}
        """Job of a file that holds several tests -> the job of each of them."""
        self._reports: dict[int, FileReport] = {}

    def all(self, processes: int, *, isolated: bool = False, locked: bool = False) -> list[FileReport]:
        """Read and store; ``isolated`` reads in other processes only, ``locked`` in locked ones only."""
        self._isolated, self._locked = isolated, locked
        try:
            self._read(self._jobs, processes)
        except (StoreError, KeyboardInterrupt) as error:
            self._say_what_is_stored(error)
            raise
        return self._ordered(self._jobs)

    def _read(self, jobs: Iterable[Job], processes: int) -> None:
        self._take(self._new(jobs), processes)

    def _take(self, jobs: Sequence[Job], processes: int) -> None:
        ahead = Ahead(self._store, self._committer.is_likely_new)
        try:
            for job, outcome, file in self._outcomes(jobs, processes, ahead):
                self._tell(job)
                if "prepared" not in outcome:
                    ahead.drop()
                if "tests" in outcome:
                    self._read(self._apart(job, outcome["tests"]), processes)
                elif not self._skips(job, outcome):
                    try:
                        self._reports[id(job)] = self._taken(job, outcome, file, ahead)
                    except OtherRatings as other:
                        self._all += 1
                        self._take([_with_ratings(job, other.ratings)], processes)
        finally:
            ahead.drop()

    def _outcomes(self, jobs: Sequence[Job], processes: int, ahead: Ahead) -> Iterator[Done]:
        if self._fan_out is not None and self._fan_out.leaves:
            # One at a time is what nobody said: the executor then takes what it can.
            return outcomes_apart(jobs, self._fan_out, processes if processes > 1 else None, locked=self._locked)
        return outcomes(jobs, processes, isolated=self._isolated, locked=self._locked, meanwhile=ahead.write)

    def _apart(self, job: Job, tests: Sequence[str]) -> list[Job]:
        """The jobs of the tests that a file holds. They take its place in the report."""
        made = self._tests[id(job)] = [self._one_of(job, test, len(tests)) for test in tests]
        self._all += len(made)
        for record in self._known.read_as_one(job) if "map" not in job.options.said() else ():
            made[0].odd.append(
                f"The measurement '{record.name}' of '{record.instance_name}' has all tests of this file as one. "
                "Delete it if you do not need it."
            )
        return made

    def _skips(self, job: Job, outcome: Outcome) -> bool:
        """Whether it is a file of a folder that no format knows; it is listed then."""
        strange = "refused" in outcome and outcome.get("format") == "" and self._loose >= set(job.paths)
        if strange and _lacks_room(job):
            self.later |= set(job.paths)
        if strange and outcome.get("unmapped"):
            self.unmapped.append(FileReport(job.name, "skipped", places.shown(outcome["refused"])))
        elif strange:
            self.skipped += [job.name] if len(job.paths) == 1 else map(places.shown, job.paths)
        return strange

    def _new(self, jobs: Iterable[Job]) -> list[Job]:
        """The jobs that must be read; of the others only the labels are brought up to date."""
        left = []
        for job in jobs:
            record = None if self._again else self._known.find(job)
            if record is None and job.options.test is None and (tests := self._known.tests_of(job)):
                self._tell(job)
                left += self._new(self._apart(job, tests))
                continue
            if record is None:
                left.append(self._rated(job))
                continue
            self._tell(job)
            report = self._reports[id(job)] = _report(job)
            report.format = str(record.source.get("format", ""))
            report.rows, report.steps, report.cycles = (
                count or 0 for count in (record.sample_count, record.step_count, record.cycle_count)
            )
            try:
                self._committer.known(job, record, report)
            except StoreError as error:
                self._refuse_alone(job, report, error)
            except WorkbenchError as error:
                report.status, report.why = "refused", places.shown(str(error))
        return left

    def _rated(self, job: Job) -> Job:
        """The job with what has to be known before it is read."""
        known = self._known.again(job) if self._again and job.before is None else None
        if known is not None:
            job.before, job.options = known.id, job.options.as_said(known.said, job.paths[1:])
        job.before = job.before or self._known.read_before(job)
        job.options = self._known.as_before(job)
        return _with_ratings(job, self._committer.said_ratings(job))

    def _taken(self, job: Job, outcome: Outcome, file: IO[bytes], ahead: Ahead) -> FileReport:
        """Commit one prepared file, or say why not."""
        started = time.monotonic()
        report = _report(job)
        if "refused" in outcome:
            report.why, report.format = places.shown(outcome["refused"]), outcome.get("format", "")
            report.why += _meant(job)
            if _lacks_room(job):
                report.why += _NO_ROOM.format(folder=places.shown(tempfile.gettempdir()))
                self.later |= set(job.paths)
            return report
        try:
            if "holding" in outcome:
                self._non_series.take(job, Holding.of(outcome["holding"]), report)
            else:
                self._store_samples(job, Prepared.of(outcome["prepared"]), file, report, ahead)
        except StoreError as error:
            self._refuse_alone(job, report, error)
        except (WorkbenchError, OSError) as error:
            report.status, report.why = "refused", places.shown(str(error))
            report.created, report.changed = [], []
        report.seconds = round(time.monotonic() - started, 3)
        return report

    def _refuse_alone(self, job: Job, report: FileReport, error: StoreError) -> None:
        """Refuse one file where the store fails for its test alone: its samples are damaged, or in a place that does
        not answer. Any other error of the store is raised again."""
        if not isinstance(error, Damaged | PlaceAway):
            raise error
        self.store_errors[job.name] = error
        if isinstance(error, PlaceAway):
            self.later |= set(job.paths)
        report.status, report.why = "refused", places.shown(str(error))
        report.created, report.changed = [], []

    def _store_samples(
        self, job: Job, prepared: Prepared, file: IO[bytes], report: FileReport, ahead: Ahead
    ) -> None:
        report.format, report.kept = prepared.format, prepared.kept
        report.rows, report.steps, report.cycles = prepared.rows, prepared.steps, prepared.cycles
        report.take(prepared.findings)

        def samples() -> Iterator[tuple[str, Table]]:
            file.seek(0)
            return samples_file.counted(samples_file.tables(file), prepared.cycle_starts)

        self._committer.commit(job, prepared, samples, report, ahead.taken(job, prepared, file))

    def _say_what_is_stored(self, error: StoreError | KeyboardInterrupt) -> None:
        """Add to what ends the ingest what came in before it: "nothing was stored" is true of one file."""
        stored = [report.path for report in self._reports.values() if report.status in ("stored", "extended")]
        if stored and not self._committer.dry:
            said = (
                f"{error} Stored before it: {counted(len(stored), 'file')}, {quoted(stored)}. The same ingest again "
                "leaves these as they are and goes on with the others."
            )
            error.args = (said.lstrip(),)  # an interrupt has no words of its own

    def _tell(self, job: Job) -> None:
        if self._progress is not None:
            self._progress(self._done, self._all, places.shown(job.paths[0].name))
        self._done += 1

    def _ordered(self, jobs: Iterable[Job]) -> list[FileReport]:
        if self._progress is not None:
            self._progress(self._all, self._all, "")
        return list(self._reported(jobs))

    def _reported(self, jobs: Iterable[Job]) -> Iterator[FileReport]:
        for job in jobs:
            if id(job) in self._tests:
                yield from self._reported(self._tests[id(job)])
            elif id(job) in self._reports:
                yield self._reports[id(job)]


def _meant(job: Job) -> str:
    """Which file was probably meant, if one is missing that the caller named: a locked reader sees no folder."""
    gone = (one for one in job.paths if not os.path.lexists(one))
    missing = None if job.called is not None else next(gone, None)
    return "" if missing is None else meant_file(missing, as_name=True)


def _lacks_room(job: Job) -> bool:
    """Whether the disk of temporary files has less room than the reading of some files takes."""
    try:
        needed = sum(path.stat().st_size for path in job.paths)
        return shutil.disk_usage(tempfile.gettempdir()).free < needed + _LEAST_ROOM
    except OSError:
        return False


def _with_ratings(job: Job, ratings: Mapping[str, JsonValue]) -> Job:
    job.options = replace(job.options, rated_capacity_ah=known_ah(ratings), rated_voltage_v=rated_volts(ratings))
    return job


def _report(job: Job) -> FileReport:
    report = FileReport(job.name)
    report.odd += job.odd
    for remark in job.assumed:
        report.assume("name", remark)
    return report
