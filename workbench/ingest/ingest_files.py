"""An ingest from its paths to its report: planned, read, stored."""

from __future__ import annotations

from collections.abc import Callable, Set
from contextlib import ExitStack, nullcontext
from pathlib import Path

from ..fan_out import FanOut
from ..store.db.trial_copy import rehearsal
from ..store.store import Scope, Store
from .commit.commit import Committer
from .commit.non_series import NonSeries
from .commit.read_again import from_kept_copies
from .limits import Limits
from .options import FileProgress, IngestOptions
from .plan.jobs import Job
from .plan.paths import Paths, are_none
from .plan.plan import destination, plan, reading_of
from .plan.read_options import ReadOptions
from .plan.watched import Growing
from .report.report import FileReport, Report
from .run import Run


def ingest(
    store: Store,
    scope: Scope,
    paths: Paths,
    options: IngestOptions | None = None,
    *,
    growing: Growing | None = None,
    limits: Limits | None = None,
    progress: FileProgress | None = None,
    actor: str | None = None,
    isolated: bool = False,
    locked: bool = False,
    tests: Callable[[ReadOptions], list[Job]] | None = None,
    loose: Set[Path] = frozenset(),
    whole_lines: bool = False,
    fan_out: FanOut | None = None,
) -> Report:
    """Read cycler files into the store: each becomes a measurement with its steps and cycles.

    What does not exist yet is created and reported. Files are committed in the order of their paths, however many
    are read at once; one that cannot be read is reported and the others go on. Samples that the project has
    already, bit for bit, are not stored again; a file that continues a measurement extends it. Each file is
    stored whole or not at all.

    Parameters
    ----------
    paths : files, patterns (``data/*.csv``), folders (all files below them that are of a known format). With the option
        ``again`` none means the kept copies of the files that a fixed rule concerns.
    options : what is said of all the files; see `IngestOptions`.
    growing : the files may be written to meanwhile: which of them to take now. Each is read as it was at one
        moment, without a last line that has no end.
    limits : bounds on the rows, columns and reading time of one file.
    progress : called with (files done, files in all, the current file).
    isolated : read every file in another process, so that none can bring this one down.
    locked : refuse files where that process cannot be locked in.
    tests : gives the jobs where the caller has found the files and knows what they are; ``paths``, the sheet and the
        name rule are not looked at then. ``loose`` are those of their files that need not be of any format, and
        ``whole_lines`` says that they may have been written to, as with ``growing``.
    fan_out : where files are read; by default in processes of this machine. This process alone writes.

    Raises
    ------
    BadRequest
        For a sheet, a name rule or an option that cannot be understood. What is wrong with a file is in the report.
    StoreError
        If the store itself fails. Where only the samples of one stored test are damaged, or in a place that does not
        answer, its file is refused.
    ExecutorAway
        If the executor cannot be reached, or a worker of it the files. What was read before is stored.
    """
    options = options or IngestOptions()
    with ExitStack() as stack:
        lacking: list[FileReport] = []
        if options.again and tests is None and are_none(paths):
            reading = reading_of(options, limits or Limits(), whole_lines=False)
            kept, lacking = stack.enter_context(from_kept_copies(store, scope, reading))
            tests = lambda _: kept  # noqa: E731
        planned = plan(paths, options, growing=growing, limits=limits, whole_lines=whole_lines, tests=tests)
        to = destination(options).rated_by(job.labels for job in planned.jobs)
        into = stack.enter_context(rehearsal(store) if options.dry_run else nullcontext(store))
        rehearses = store if options.dry_run else None
        committer = Committer(into, scope, to, actor=actor, keep=options.keep_file, rehearses=rehearses)
        non_series = NonSeries(into, scope, to, actor)
        run = Run(
            into,
            scope,
            committer,
            non_series,
            planned.jobs,
            planned.loose | loose,
            progress,
            planned.one_of,
            again=options.again,
            fan_out=fan_out,
        )
        report = planned.report
        report.files += [*run.all(options.jobs, isolated=isolated, locked=locked), *lacking]
        report.skipped, report.unmapped = run.skipped, run.unmapped
        report.store_errors, report.later = run.store_errors, run.later
    store.move_log()
    return planned.close()
