"""How files come in: reader, checks, steps and cycles, store; and how samples given by hand pass the same door."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import BadRequest, StoreError, WorkbenchError, instead
from ..phrases import place
from ..readers import FORMATS
from ..records import Record
from ..store.store import Scope, Store
from . import paths as places
from . import spool
from .extending import extend
from .given import register
from .intake import Destination, Intake
from .prepare import Limits, Options, Prepared
from .ratings import ratings_of
from .report import FileReport, Report
from .workers import outcomes

__all__ = ["FileReport", "Limits", "Report", "extend", "ingest", "register"]

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def ingest(
    store: Store,
    scope: Scope,
    paths: Paths,
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
    limits: Limits | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    actor: str | None = None,
    apart: bool = False,
) -> Report:
    """Read cycler files into the store, each becoming a measurement with its steps and cycles.

    What does not exist yet is made and reported. Files are committed in the order of their paths, however many
    are read at once; one that cannot be read is reported and the others go on. Samples that the project has
    already, bit for bit, are not stored again. Each file is stored whole or not at all.

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
    limits : bounds on the rows, columns and reading time of one file.
    progress : called with (files done, files in all, the file at hand).
    apart : read every file in another process, so that none can bring this one down.

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
    intake = Intake(store, scope, Destination(specification, ratings, instance, batch), actor=actor)
    options = Options(
        format=format,
        column_map=None if column_map is None else dict(column_map),
        sign=sign,
        repair=(repair,) if isinstance(repair, str) else tuple(repair),
        rated_capacity_ah=intake.rated_capacity(),
        limits=limits or Limits(),
        typed_in=place(),
    )
    found = places.find(paths, any_format=format is not None)
    report = Report(skipped=[places.shown(path) for path in found.skipped])
    for pattern in found.missing:
        name = places.shown(pattern)
        report.files.append(FileReport(name, why=f"No file matches '{name}'."))
    for done, (path, outcome, file) in enumerate(outcomes(found.files, options, jobs, apart=apart)):
        if progress is not None:
            progress(done, len(found.files), places.shown(path.name))
        report.files.append(_taken(intake, path, outcome, file, keep=keep_file))
    if progress is not None:
        progress(len(found.files), len(found.files), "")
    return report


def _taken(intake: Intake, path: Path, outcome: Mapping[str, Any], file: Any, *, keep: bool) -> FileReport:
    """Commit one prepared file, or say why not."""
    started = time.monotonic()
    report = FileReport(places.shown(path))
    if "refused" in outcome:
        report.why, report.format = places.shown(outcome["refused"]), outcome.get("format", "")
        return report
    prepared = Prepared.of(outcome["prepared"])
    report.format, report.kept = prepared.format, prepared.kept
    report.rows, report.steps, report.cycles = prepared.rows, prepared.steps, prepared.cycles
    report.take(prepared.findings)
    try:
        intake.commit(path, prepared, spool.tables(file), report, keep=keep)
    except StoreError:
        raise
    except (WorkbenchError, OSError) as error:
        report.status, report.why, report.created = "refused", places.shown(str(error)), []
    report.seconds = round(time.monotonic() - started, 3)
    return report
