"""The commands that read files into a store, and write measurements to files: ingest, watch, export."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from ..environment import meant_store
from ..errors import BadRequest
from ..messages import counted
from ..quick_import import later
from ..temporary_folder import temporary_folder
from .alerts import row_in_words
from .console import err, out, print_json, progress_bar
from .help import Commands
from .options import (
    ExecutorOption,
    JsonOption,
    OrganizationOption,
    ProjectOption,
    StoreOption,
    at_the_start,
    existing,
    open_bench,
)

if TYPE_CHECKING:
    from ..bench import Bench
    from ..ingest import Report
    from ..ingest import options as declared
    from . import ingest_options
else:  # models of pydantic: the help of other commands does not wait for them
    declared = later("workbench.ingest.options")
    ingest_options = later("workbench.cli.ingest_options")

commands = Commands()


def _with_options_of_ingest(command: Callable[..., None]) -> Callable[..., None]:
    return ingest_options.with_ingest_options()(command)


def _with_options_of_watch(command: Callable[..., None]) -> Callable[..., None]:
    return ingest_options.with_ingest_options(watch=True)(command)


@commands.add(
    "workbench ingest data/ --sheet cells.csv --name-rule '{batch}_{cell}_{test}' --dry-run",
    completed=_with_options_of_ingest,
)
def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Cycler files, folders, or patterns as `data/*.csv`."),
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write the report to a `.csv`, `.parquet` or `.json` file."),
    ] = None,
    executor: ExecutorOption = None,
    as_json: JsonOption = False,
    **options: Unpack[declared.IngestKeywords],
) -> None:
    """Read cycler files or folders into the store, and report on each file.

    Specifications, batches and cells that do not exist yet are made. A file that cannot be read does not stop the
    others; the exit code is then 1."""
    if not paths and not options["again"]:
        raise typer.BadParameter("Missing argument 'PATH...'. Only --again can do without.")
    if executor is None:
        from ..ingest.processes import warm_workers

        warm_workers.start()  # it takes as long as the imports and the store that follow
    with temporary_folder() as scratch:
        place = meant_store(store)
        if options["dry_run"] and not place.exists():
            place = scratch / "workbench.db"  # a dry run makes no store either
        with open_bench(place, project, organization, executor=executor) as bench, progress_bar("Reading") as step:
            name = bench.backend.project.name
            try:
                done = bench.ingest(paths or [], progress=step, **options)
            except KeyboardInterrupt as stopped:
                if stopped.args:
                    err.print(str(stopped), markup=False, soft_wrap=True)
                raise
    if report is not None:
        done.save(report)
    if as_json:
        print_json(done.as_dict())
    else:
        _print(done, f"{meant_store(store)}, project '{name}'")
    if not done.ok:
        raise typer.Exit(1)


def _print(report: Report, where: str) -> None:
    out.print(report)
    if report.stored and not report.dry_run:
        hint = "`workbench catalog` shows what you can plot now."
        out.print(f"\nStored in {where}. {hint}", markup=False, soft_wrap=True)


@commands.add("workbench watch data/ --sheet cells.csv --store lab.db", completed=_with_options_of_watch)
def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that the cyclers write to.")],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Time between two looks at the folder.")
    ] = 5.0,
    settle: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.0, help="How long a file must stay unchanged before it is read."),
    ] = 10.0,
    once: Annotated[
        bool, typer.Option("--once", help="Stop when all files that are in the folder now have been read.")
    ] = False,
    executor: ExecutorOption = None,
    as_json: JsonOption = False,
    **options: Unpack[declared.IngestKeywords],
) -> None:
    """Read files into the store when they appear or grow in a folder, until Ctrl-C.

    A file is read when it has stopped changing. An unfinished last line is read when it is complete. You can stop the
    command and start it again at any time; it finds out from the store what it has read."""
    if not folder.is_dir():  # before a store is made for nothing
        raise BadRequest(f"There is no folder '{folder}'. Name the folder that the cyclers write to.")
    with at_the_start(meant_store(store)):
        opened = open_bench(meant_store(store), project, organization, executor=executor)
    with opened as bench:
        if not as_json:
            where = f"{meant_store(store)}, project '{bench.backend.project.name}'"
            out.print(f"Watching '{folder}' for {where}. Stop with Ctrl-C.", markup=False, soft_wrap=True)
        stop, said = threading.Event(), set[tuple[str, str]]()
        with _asked_to_stop(stop):
            rounds = bench.watch(folder, every=every, settle=settle, once=once, stopped=stop.is_set, **options)
            for report in rounds:
                _print_round(report, said, as_json=as_json)
                if not as_json:
                    _print_alerts(bench)
            if not as_json:
                _print_alerts(bench)


def _print_alerts(bench: Bench) -> None:
    """Say what alerts found, once each."""
    for one in bench.backend.heard():
        of = row_in_words(one.key, one.found)
        out.print(f"Alert     '{one.alert_name}': {of}", style="yellow", markup=False, soft_wrap=True)


_HELD_BACK = "unfinished_line"


def _print_round(report: Report, said: set[tuple[str, str]], *, as_json: bool) -> None:
    """Print what a round read. A warning of a file that grows is the same in each round, so it is printed once:
    ``said`` are those that were."""
    if as_json:
        print_json(report.as_dict())
        return
    for file in report:
        what = f"{file.status:9} {file.path}  {file.instance} {file.measurement}".rstrip()
        rows = f", {counted(file.added, 'row')}" if file.added else ""
        out.print(what + rows, markup=False, soft_wrap=True)
        refused = file.status == "refused"
        remarks = [(remark, remark) for remark in ([file.why] if refused else file.odd)]
        # What is left out of a file that ends so stays out, so it is said; its length changes with each round.
        remarks += [
            (code, text) for code, text in zip(file.codes, file.assumed, strict=False) if code == _HELD_BACK
        ]
        for told, remark in remarks:
            if (file.path, told) in said and not refused:
                continue
            said.add((file.path, told))
            out.print(f"          {remark}", markup=False, soft_wrap=True)


@commands.add("workbench export-tests exported/ --where batch=A --ending .bdf.csv", "export-tests")
def export_tests(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write to. It must exist.", show_default=False)
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="KEY=VALUE", help="Only these tests, by a filter of a `list` step: `batch=A`."
        ),
    ] = None,
    ending: Annotated[
        str, typer.Option(metavar="ENDING", help="`.bdf.csv`, `.bdf.parquet` or `.parquet`.")
    ] = ".bdf.parquet",
    executor: ExecutorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write many tests and everything known about them to a folder, a file for each.

    Files have the names of cell and test. `workbench ingest` reads them back without any loss."""
    from ..ingest.recompute import filters, require_some

    path, chosen = existing(store), filters(where or [])
    with (
        open_bench(path, project, organization, read_only=True, executor=executor) as bench,
        progress_bar("Writing") as told,
    ):
        found = 0

        def counting(done: int, of: int, name: str) -> None:
            nonlocal found
            found = of
            told(done, of, name)

        if chosen:
            require_some(chosen, bench.backend.listing)
        failed = bench.export_tests(folder, chosen, ending=ending, progress=counting)
    written = found - len(failed)
    if as_json:
        print_json({"folder": str(folder), "written": written, "failed": failed})
    else:
        for name, why in failed.items():
            out.print(f"{name}: {why}", style="red", markup=False, soft_wrap=True)
        said = (
            f"Wrote {counted(written, 'test')} to {folder}."
            if found
            else "No test was found, so nothing was written."
        )
        out.print(said, markup=False, soft_wrap=True)
    if failed:
        raise typer.Exit(1)


@commands.add("workbench export 'RPT 1' --instance M50-A-01 -o rpt.bdf.parquet")
def export(
    measurement: Annotated[
        str, typer.Argument(metavar="MEASUREMENT", help="Name or id of the measurement.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", metavar="OUT", help="The file to write, ending in `.bdf.csv`, `.bdf.parquet` or `.parquet`."
        ),
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    instance: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name or id of the cell, if several cells have a measurement of this name."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a measurement and everything known about it to a file.

    `workbench ingest` reads the file back without any loss."""
    with open_bench(existing(store), project, organization) as bench, progress_bar("Writing"):
        record = bench.backend.measurement(measurement, instance)
        written = bench.measurements.export(record, output)
    if as_json:
        print_json({"files": [str(path) for path in written], "measurement_id": record.id})
    else:
        names = " and ".join(str(path) for path in written)
        out.print(f"Wrote {names}.", markup=False, soft_wrap=True)


class _asked_to_stop:  # noqa: N801
    """While inside, a request to end (SIGTERM) waits until the current file is finished."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._before: Callable[[int, FrameType | None], object] | int | None = None

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGTERM, lambda *_: self._stop.set())

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)
