"""What an ingest is to read: the files that are found, with what is said of each, before anything is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...messages import place
from ..limits import Limits
from ..options import IngestOptions
from ..report.report import FileReport, Report
from .destination import Destination
from .jobs import Job, jobs_of
from .name_rule import NameRule
from .paths import Paths, find, shown
from .ratings import ratings_of
from .read_options import ReadOptions
from .sheet import Sheet, read_sheet
from .watched import Growing


@dataclass
class Plan:
    """The jobs of an ingest, and the report as far as it is known. ``loose`` are files of folders that count only if
    a format knows them."""

    jobs: list[Job]
    loose: set[Path]
    report: Report
    sheet: Sheet | None

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
    found = find(paths, any_format=options.format is not None, but=None if sheet is None else sheet.path)
    report = Report(dry_run=options.dry_run)
    for name in map(shown, found.missing):
        report.files.append(FileReport(name, why=f"No file matches '{name}'."))
    jobs = jobs_of(found.files, reading, sheet, rule) if tests is None else tests(reading)
    if growing is not None:
        jobs, report.left = growing.of(jobs)
        found.loose |= growing.ready if options.format is None else set()
    return Plan(jobs, found.loose, report, sheet)


def reading_of(options: IngestOptions, limits: Limits, *, whole_lines: bool) -> ReadOptions:
    """How the files are read, as far as the options say it for all of them."""
    return ReadOptions(
        format=options.format,
        column_map=None if options.column_map is None else dict(options.column_map),
        sign=options.sign,
        repair=options.repair,
        zone=options.zone,
        limits=limits,
        typed_in=place(),
        whole_lines=whole_lines,
    )


def destination(options: IngestOptions) -> Destination:
    """The cells that the options name for all files."""
    ratings = None if options.rating is None else ratings_of(options.rating)
    return Destination(options.specification, ratings, options.instance, options.batch)
