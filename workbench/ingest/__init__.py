"""How files come in: reader, checks, steps and cycles, store; and how samples given by hand pass the same door."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..errors import BadRequest, instead
from ..phrases import place
from ..readers import FORMATS
from ..records import Record
from ..store.rehearsal import rehearsal
from ..store.store import Scope, Store
from . import paths as places
from .extending import extend
from .given import register
from .growth import Growing
from .intake import Intake
from .jobs import Job, jobs_of
from .limits import Limits
from .making import Destination
from .name_rule import NameRule
from .others import Others
from .prepare import Options
from .ratings import ratings_of
from .report import FileReport, Report
from .run import Run
from .sheet import read_sheet
from .watch import watch
from .zones import checked_zone

__all__ = ["FileReport", "Growing", "Limits", "Report", "extend", "ingest", "register", "watch"]


def ingest(
    store: Store,
    scope: Scope,
    paths: places.Paths,
    *,
    specification: str | Record | None = None,
    rating: str | Mapping[str, Any] | None = None,
    instance: str | Record | None = None,
    batch: str | Record | None = None,
    format: str | None = None,
    column_map: Mapping[str, str] | None = None,
    sign: str | None = None,
    repair: str | Iterable[str] = (),
    jobs: int = 1,
    keep_file: bool = False,
    sheet: Any = None,
    name_rule: str | None = None,
    dry_run: bool = False,
    growing: Growing | None = None,
    zone: str | None = None,
    limits: Limits | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    actor: str | None = None,
    apart: bool = False,
    tests: Callable[[Options], list[Job]] | None = None,
    loose: Set[Path] = frozenset(),
    whole_lines: bool = False,
) -> Report:
    """Read cycler files into the store, each becoming a measurement with its steps and cycles.

    What does not exist yet is made and reported. Files are committed in the order of their paths, however many
    are read at once; one that cannot be read is reported and the others go on. Samples that the project has
    already, bit for bit, are not stored again; a file that goes on from a measurement extends it. Each file is
    stored whole or not at all.

    Parameters
    ----------
    paths : files, patterns (``data/*.csv``), folders (all files below them that are of a known format).
    specification, instance, batch : name, id or record. Without a specification cells go to "Unspecified";
        without an instance the cell is called after the file, as the measurement always is.
    rating : ``"5Ah,2.5V,4.2V"`` or a mapping of ratings, for a specification that is made; without it they are
        estimated from the data, and marked so in its ``source``.
    format, column_map, sign : as `workbench.readers.read` takes them.
    repair : what may be mended, and is recorded then: ``"time"`` makes a clock that falls stand still.
    jobs : how many processes read at the same time.
    keep_file : keep the bytes of the files too.
    sheet : what is known of each file: a csv or workbook, a DataFrame or rows (see `sheet.read_sheet`). It goes
        before ``name_rule``, that before the options. For files that are there it changes what it says now.
    name_rule : what the names say, as ``"{batch}_{cell}_{test}"`` (see `name_rule.NameRule`).
    dry_run : say what would happen and change nothing.
    growing : the files may be written to meanwhile: which of them to take in now. Each is read as it was at one
        moment, without a last line that has no end.
    zone : the time zone of clock times that name none, as ``"Europe/Berlin"``; without it they are taken as UTC.
    limits : bounds on the rows, columns and reading time of one file.
    progress : called with (files done, files in all, the file at hand).
    apart : read every file in another process, so that none can bring this one down.
    tests : gives the jobs for the options that hold for all, where somebody else has found the files and said what they
        are; ``paths``, ``sheet`` and ``name_rule`` are then not looked at. ``loose`` are those of their files that need
        be of no format, and ``whole_lines`` says that they may have been written to, as with ``growing``.

    Raises
    ------
    BadRequest
        For an option that cannot be meant so. What is wrong with a file stands in the report instead.
    StoreError
        If the store itself fails.
    """
    if format is not None and format not in FORMATS:
        raise BadRequest(f"There is no format '{format}'. {instead(format, FORMATS, 'formats')}")
    ratings = None if rating is None else ratings_of(rating)
    listed = None if sheet is None else read_sheet(sheet)
    rule = None if name_rule is None else NameRule(name_rule)
    to = Destination(specification, ratings, instance, batch)
    options = Options(
        format=format,
        column_map=None if column_map is None else dict(column_map),
        sign=sign,
        repair=(repair,) if isinstance(repair, str) else tuple(repair),
        limits=limits or Limits(),
        typed_in=place(),
        whole_lines=whole_lines or growing is not None,
        zone=None if zone is None else checked_zone(zone),
    )
    found = places.find(paths, any_format=format is not None, but=None if listed is None else listed.path)
    report = Report(dry_run=dry_run)
    for pattern in found.missing:
        name = places.shown(pattern)
        report.files.append(FileReport(name, why=f"No file matches '{name}'."))
    wanted = jobs_of(found.files, options, listed, rule) if tests is None else tests(options)
    if growing is not None:
        wanted, report.left = growing.of(wanted)
        found.loose |= growing.ready if format is None else set()
    with rehearsal(store) if dry_run else nullcontext(store) as into:
        rehearses = store if dry_run else None
        intake = Intake(into, scope, to, actor=actor, keep=keep_file, rehearses=rehearses)
        others = Others(into, scope, to, actor)
        run = Run(into, scope, intake, others, wanted, found.loose | loose, progress)
        report.files += run.all(jobs, apart=apart)
        report.skipped, report.unmapped = run.skipped, run.unmapped
    report.unused = [] if listed is None else listed.unused()
    return report
