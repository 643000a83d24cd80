"""The commands that read files into a store, and write measurements to files: ingest, watch, export."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import BadRequest
from ..phrases import spaced
from ..place import meant_store
from .console import out, print_json, progress_bar
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench

if TYPE_CHECKING:
    from ..bench import Bench
    from ..ingest import Report

commands = Commands()

SpecificationOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Specification of the cells, made if absent. Without it: `Unspecified`."),
]
RatingOption = Annotated[
    str | None,
    typer.Option(
        metavar="RATING",
        help="Ratings of a new specification, as `5Ah,2.5V,4.2V`. Without it: estimated from the data.",
    ),
]
InstanceOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="The cell, made if absent. Without it: the name of the file.")
]
BatchOption = Annotated[str | None, typer.Option(metavar="NAME", help="Batch of the cells, made if absent.")]
SheetOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A csv file or a workbook that says what each file is: a column `file`, and any of `specification`, "
        "`batch`, `cell`, `test`, `tags`, `temperature [degC]` ... The same sheet given again updates the store.",
    ),
]
NameRuleOption = Annotated[
    str | None,
    typer.Option("--name-rule", metavar="RULE", help="What the file names say, as `{batch}_{cell}_{test}`."),
]
FormatOption = Annotated[
    str | None,
    typer.Option(metavar="FORMAT", help="Format of the files. Without it: recognised from the content."),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map", metavar="THEIRS=OURS", help="A column of the file and what it is, as `Volts=Voltage [V]`."
    ),
]
SignOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN", help="What a positive current in the file means: `discharge`, `charge` or `unsigned`."
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        metavar="ZONE", help="Time zone of clock times that name none, as `Europe/Berlin`. Without it: `UTC`."
    ),
]
RepairOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT", help="What may be repaired. `time`: where a clock jumps back, it stands still instead."
    ),
]
JobsOption = Annotated[int, typer.Option(metavar="N", min=1, help="How many files are read at the same time.")]
KeepOption = Annotated[bool, typer.Option("--keep-file", help="Keep a copy of each file in the store too.")]


@commands.add("workbench ingest data/ --sheet cells.csv --name-rule '{batch}_{cell}_{test}' --dry-run")
def ingest(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Cycler files, folders, or patterns as `data/*.csv`.")
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    sheet: SheetOption = None,
    name_rule: NameRuleOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would happen and change nothing.")] = False,
    specification: SpecificationOption = None,
    rating: RatingOption = None,
    instance: InstanceOption = None,
    batch: BatchOption = None,
    format: FormatOption = None,
    column_map: MapOption = None,
    sign: SignOption = None,
    zone: ZoneOption = None,
    repair: RepairOption = None,
    jobs: JobsOption = 1,
    keep_file: KeepOption = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write the report to a `.csv`, `.parquet` or `.json` file."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read cycler files or folders into the store, and report on each file.

    Specifications, batches and cells that do not exist yet are made. A file that cannot be read does not stop the
    others; the exit code is then 1."""
    given = {
        "sheet": sheet,
        "name_rule": name_rule,
        "specification": specification,
        "rating": rating,
        "instance": instance,
        "batch": batch,
        "format": format,
        "column_map": _pairs(column_map),
        "sign": sign,
        "zone": zone,
        "repair": repair or (),
        "jobs": jobs,
        "keep_file": keep_file,
        "dry_run": dry_run,
    }
    with TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as scratch:
        place = meant_store(store)
        if dry_run and not place.exists():
            place = Path(scratch, "workbench.db")  # a dry run makes no store either
        with open_bench(place, project, organization) as bench, progress_bar("Reading") as step:
            name = bench.work.project.name
            told = bench.ingest(paths, **given, progress=step)  # type: ignore[arg-type]
    if report is not None:
        told.save(report)
    if as_json:
        print_json(told.as_dict())
    else:
        _print(told, f"{meant_store(store)}, project '{name}'")
    if not told.ok:
        raise typer.Exit(1)


def _print(told: Report, where: str) -> None:
    out.print(told)
    if told.stored and not told.dry_run:
        hint = "`workbench catalog` shows what you can plot now."
        out.print(f"\nStored in {where}. {hint}", markup=False, soft_wrap=True)


@commands.add("workbench watch data/ --sheet cells.csv --store lab.db")
def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that the cyclers write to.")],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    sheet: SheetOption = None,
    name_rule: NameRuleOption = None,
    specification: SpecificationOption = None,
    rating: RatingOption = None,
    instance: InstanceOption = None,
    batch: BatchOption = None,
    format: FormatOption = None,
    column_map: MapOption = None,
    sign: SignOption = None,
    zone: ZoneOption = None,
    repair: RepairOption = None,
    jobs: JobsOption = 1,
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
    as_json: JsonOption = False,
) -> None:
    """Read files into the store when they appear or grow in a folder, until Ctrl-C.

    A file is read when it has stopped changing. An unfinished last line is read when it is complete. You can stop the
    command and start it again at any time; it finds out from the store what it has read."""
    given = {
        "sheet": sheet,
        "name_rule": name_rule,
        "specification": specification,
        "rating": rating,
        "instance": instance,
        "batch": batch,
        "format": format,
        "column_map": _pairs(column_map),
        "sign": sign,
        "zone": zone,
        "repair": repair or (),
        "jobs": jobs,
    }
    with open_bench(meant_store(store), project, organization) as bench:
        if not as_json:
            where = f"{meant_store(store)}, project '{bench.work.project.name}'"
            out.print(f"Watching '{folder}' for {where}. Stop with Ctrl-C.", markup=False, soft_wrap=True)
        _watch(bench, folder, {"every": every, "settle": settle, "once": once, **given}, as_json=as_json)


def _watch(bench: Bench, folder: Path, options: dict[str, Any], *, as_json: bool) -> None:
    stop = threading.Event()
    with _asked_to_stop(stop):
        for report in bench.watch(folder, stopped=stop.is_set, **options):
            if as_json:
                print_json(report.as_dict())
                continue
            for file in report:
                what = f"{file.status:9} {file.path}  {file.instance} {file.measurement}".rstrip()
                rows = f", {spaced(file.added)} rows" if file.added else ""
                out.print(what + rows, markup=False, soft_wrap=True)
                for remark in [file.why] if file.status == "refused" else file.odd:
                    out.print(f"          {remark}", markup=False, soft_wrap=True)


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
        record = bench.work.measurement(measurement, instance)
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
        self._before: Callable[[int, FrameType | None], Any] | int | None = None

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGTERM, lambda *_: self._stop.set())

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)


def _pairs(items: list[str] | None) -> dict[str, str] | None:
    if not items:
        return None
    pairs = {}
    for item in items:
        theirs, equals, ours = item.partition("=")
        if not equals or not theirs.strip() or not ours.strip():
            raise BadRequest(
                f"--map takes 'their column=our column', not '{item}'. For example: --map 'Volts=Voltage [V]'."
            )
        pairs[theirs.strip()] = ours.strip()
    return pairs
