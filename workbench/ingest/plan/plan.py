"""What an ingest is to read: the files that are found, with what is said of each, before anything is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ...messages import place
from ..limits import Limits
from ..options import IngestOptions
from ..report.report import FileReport, Report
from .destination import Destination, Ref
from .documents import Documents
from .jobs import Job, jobs_of, one_of
from .labels import Labels
from .name_rule import NameRule
from .paths import Paths, find, shown
from .ratings import ratings_of
from .read_options import ReadOptions
from .sheet import Sheet, read_sheet
from .unpack import Unpacked
from .watched import Growing

_EMPTY = (
    "The folder '{}' holds no file to read. Files of cyclers in it and in the folders below are read, whatever their "
    "names; hidden files and stores of the workbench are not."
)


@dataclass
class Plan:
    """The jobs of an ingest, and the report as far as it is known. ``loose`` are files of folders that count only if
    a format knows them."""

    jobs: list[Job]
    loose: set[Path]
    report: Report
    sheet: Sheet | None
    unpacked: Unpacked = field(default_factory=Unpacked)
    """The files of archives, which are there as long as this plan."""

    def one_of(self, job: Job, test: str, of: int) -> Job:
        """The job of one test of a file that holds several."""
        return one_of(job, test, of, self.sheet)

    def close(self) -> Report:
        """The report, with the rows of the sheet that fitted no file."""
        self.report.unused = [] if self.sheet is None else self.sheet.unused()
        return self.report


def plan(
    paths: Paths,
    options: IngestOptions,
    *,
    growing: Growing | None = None,
    limits: Limits | None = None,
    whole_lines: bool = False,
    tests: Callable[[ReadOptions], list[Job]] | None = None,
) -> Plan:
    """Find the files and put together what the sheet, the name rule and the options say of each.

    Parameters
    ----------
    growing : the files may be written to meanwhile: which of them to take now. Each is read as it was at one moment,
        without a last line that has no end.
    tests : gives the jobs where the caller has found the files himself; ``paths``, the sheet and the name rule are
        not looked at then, and ``whole_lines`` says that the files may be written to.

    Raises
    ------
    BadRequest
        If the sheet, the name rule or an option cannot be understood.
    """
    if options.rating is not None:
        ratings_of(options.rating)
    sheet = None if options.sheet is None else read_sheet(options.sheet)
    rule = None if options.name_rule is None else NameRule(options.name_rule)
    reading = reading_of(options, limits or Limits(), whole_lines=whole_lines or growing is not None)
    found = find(
        paths,
        any_format=options.format is not None,
        but=None if sheet is None else sheet.path,
        unpack=None if growing is None else growing.ready,
    )
    said = sheet is not None or options.instance is not None
    report = Report(dry_run=options.dry_run, name_rule=options.name_rule or "", labelled=said)
    for name in map(shown, found.missing):
        report.files.append(FileReport(name, why=f"No file matches '{name}'."))
    report.files += [FileReport(name, why=_EMPTY.format(name)) for name in map(shown, found.empty)]
    report.files += [FileReport(name, why=shown(why)) for name, why in found.refused.items()]
    if growing is not None and growing.root is not None:
        found.roots = dict.fromkeys([*found.files, *found.unpacked.of.values()], growing.root)
    folders = found.folders()
    found.roots |= found.unpacked.roots
    if tests is not None:
        jobs = tests(reading)
    else:
        documents = Documents(found.files)
        jobs = jobs_of(found.files, reading, sheet, rule, documents, _meant(options), found.roots, folders)
        jobs = [job for job in jobs if not documents.used & set(job.paths)]
    for job in jobs:
        job.called = job.called or found.unpacked.called.get(job.paths[0])
    if growing is not None:
        growing = growing.with_unpacked(found.unpacked.of)
        jobs, report.left = growing.of(jobs)
        found.loose |= growing.ready if options.format is None else set()
    return Plan(jobs, found.loose, report, sheet, found.unpacked)


def _meant(options: IngestOptions) -> Labels:
    """What the options say of all files, as labels."""
    return Labels(
        specification=_name_of(options.specification),
        instance=_name_of(options.instance),
        batch=_name_of(options.batch),
        ratings={} if options.rating is None else ratings_of(options.rating),
    )


def _name_of(ref: Ref | None) -> str | None:
    return ref if ref is None or isinstance(ref, str) else str(ref.id)


def reading_of(options: IngestOptions, limits: Limits, *, whole_lines: bool) -> ReadOptions:
    """How the files are read, as far as the options say it for all of them."""
    return ReadOptions(
        format=options.format,
        column_map=None if options.column_map is None else dict(options.column_map),
        sign=options.sign,
        repair=options.repair,
        zone=options.zone,
        cycles=options.cycles,
        limits=limits,
        typed_in=place(),
        whole_lines=whole_lines,
    )


def destination(options: IngestOptions) -> Destination:
    """The cells that the options name for all files."""
    ratings = None if options.rating is None else ratings_of(options.rating)
    return Destination(options.specification, ratings, options.instance, options.batch)
