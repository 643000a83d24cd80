"""The commands of a store as a whole: catalog, search, backup, verify, upgrade, recompute."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..environment import is_address, meant_store, store_place
from ..errors import BadRequest, StoreTooOld
from ..messages import counted, quoted, spaced
from .console import err, out, print_json, print_rows, progress_bar
from .help import Commands
from .options import (
    ExecutorOption,
    JsonOption,
    OrganizationOption,
    ProjectOption,
    StoreOption,
    existing,
    open_bench,
    open_store,
)

if TYPE_CHECKING:
    from ..fan_out import FanOut
    from ..ingest.recompute import Recomputed
    from ..store.db.upgrade_plan import Plan
    from ..store.store import Store

commands = Commands()

MOST_OF_A_KIND = 20
"""How many records of one kind a search shows at most."""


@commands.add("workbench catalog --store lab.db")
def catalog(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what you can plot: sources, their columns, units and counts."""
    with open_bench(existing(store), project, organization, read_only=True) as bench, progress_bar("Counting"):
        found = bench.catalog()
    if as_json:
        print_json(found.as_dict())
    else:
        out.print(found)


@commands.add("workbench search nmc --limit 50")
def search(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What to look for, at least two characters.", show_default=False)
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="How many records to print at most.")
    ] = 25,
    as_json: JsonOption = False,
) -> None:
    """Search the names and notes of all records."""
    if len(text.strip()) < 2:
        raise BadRequest("A search text needs at least two characters.")
    with open_bench(existing(store), project, organization, read_only=True) as bench:
        found = bench.find(text, limit=limit, per_type=MOST_OF_A_KIND)
    if as_json:
        print_json(asdict(found))
        return
    if not found.results:
        out.print(f"No name and no note holds '{found.query}'.", markup=False)
        return
    rows = [{**asdict(hit), "of": hit.parent_name} for hit in found.results]
    print_rows(rows, ["entity_type", "name", "of", "id"])
    if found.total > len(rows):
        out.print(f"{spaced(len(rows))} of {spaced(found.total)} are shown; see more with --limit.")
    by_kind = Counter(hit.entity_type for hit in found.results)
    if full := [kind for kind, count in by_kind.items() if count == MOST_OF_A_KIND]:
        out.print(f"Only the first {MOST_OF_A_KIND} are shown of: {', '.join(full)}. A longer text finds fewer.")


@commands.add("workbench backup lab-2026-11-21.db --store lab.db")
def backup(
    destination: Annotated[
        Path, typer.Argument(metavar="DEST", help="The file to write. It must not exist yet.", show_default=False)
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    without_log: Annotated[
        bool,
        typer.Option(
            "--without-log", help="Copy a store whose log is lost. Its last changes are missing in the copy."
        ),
    ] = False,
    samples: Annotated[
        str | None,
        typer.Option(
            "--samples",
            metavar="PLACE",
            help="For a store that keeps samples outside of its file: the place to copy them to, as in "
            "`workbench samples move`. What is there already is not copied again. `file`: copy them into the backup. "
            "`none`: copy the file alone. Without it: the folder `DEST.samples`.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the whole store to a new file. The store may be in use meanwhile.

    The copy has all projects of all organizations and can be used as a store itself."""
    from ..store.objects.backup import backup as whole_backup

    place: str | None = None
    if without_log:
        from ..store.db.backup import backup_without_log

        if is_address(existing(store)):
            raise BadRequest("A store on PostgreSQL has no log of its own. Leave out --without-log.")
        backup_without_log(existing(store), destination)
        err.print(
            "The changes that were only in the log are missing.", style="yellow", markup=False, soft_wrap=True
        )
    else:
        with _whole(store, project, organization) as opened, progress_bar("Copying") as step:
            place = whole_backup(opened, destination, samples, progress=step)
    size = destination.stat().st_size
    if as_json:
        print_json({"file": str(destination), "bytes": size, **({"samples": place} if place else {})})
    else:
        out.print(f"Wrote {destination} ({size / 1e6:.1f} MB).", markup=False, soft_wrap=True)
    if place and not as_json:
        out.print(f"Its samples are in {place}; the backup needs them.", markup=False, soft_wrap=True)


@commands.add("workbench copy-store lab.db large.db --samples s3://lab-data/workbench", "copy-store")
def copy_store(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", parser=store_place, help="The store to copy.", show_default=False)
    ],
    destination: Annotated[
        Path,
        typer.Argument(
            metavar="DST",
            parser=store_place,
            help="The store to make: a file, or postgresql://USER@HOST/DATABASE. It must not exist yet.",
            show_default=False,
        ),
    ],
    samples: Annotated[
        str,
        typer.Option(
            "--samples", metavar="PLACE", help="Where the copy keeps its samples, as in `workbench samples move`."
        ),
    ] = "file",
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a store to a new one, on PostgreSQL or with its samples in another place, and compare both by hashes.

    All projects of all organizations are copied. The source may be in use, and is not changed. After a stop, the same
    command goes on."""
    from ..store.objects.copying import copy_store as library

    path = existing(source)
    _check_named(path, project, organization)
    with open_store(path, create=False, read_only=True) as opened, progress_bar("Copying") as step:
        done = library(opened, destination, samples, step)
    made = done.store if is_address(destination) else str(destination)  # without a password
    if as_json:
        print_json({"file": made, "place": done.place, "rows": done.rows, "series": done.series})
    else:
        same = f"{counted(done.rows, 'row')} and {counted(done.series, 'series', 'series')} are the same."
        out.print(f"Wrote {made}, with its samples in: {done.place}.", markup=False, soft_wrap=True)
        out.print(same, markup=False, soft_wrap=True)


@commands.add("workbench verify --store lab.db")
def verify(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    executor: ExecutorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read the whole store and print everything that is damaged.

    Records, samples, summaries and files of all projects are read and compared with their checksums. Notes say which
    measurements were made by older rules; they are not damage."""
    from ..store.series.rule_notes import notes
    from ..store.verify_apart import verify as verified

    with _where(executor) as fan_out, _whole(store, project, organization) as opened:
        with progress_bar("Reading everything"):
            findings = verified(opened, fan_out)
        remarks = notes(opened) if not findings else []
    for remark in remarks:
        err.print(f"Note: {remark}", markup=False, soft_wrap=True)
    if as_json:
        print_json(findings)
    else:
        for finding in findings:
            err.print(finding, style="red", markup=False, soft_wrap=True)
        if not findings:
            out.print(f"{meant_store(store)} is sound.", markup=False, soft_wrap=True)
    if findings:
        raise typer.Exit(1)


@commands.add("workbench upgrade --check --store lab.db")
def upgrade(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Only print what would be done. The exit code is 1 if there is something to do."
        ),
    ] = False,
    no_backup: Annotated[bool, typer.Option("--no-backup", help="Make no backup of the store.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a store of an older version of the workbench up to date.

    Stop the server and close the notebooks on this store first. A backup is made beside the store; one on PostgreSQL is
    backed up by PostgreSQL, and `--no-backup` says that this was done. If the upgrade is stopped at any moment, each
    step is done or not begun. Run the same command again: it goes on from there."""
    from ..store.db import upgrade_command

    path = existing(store)
    with suppress(StoreTooOld):  # of such a store nothing can be read yet
        _check_named(path, project, organization)
    if check:
        plan = upgrade_command.plan(path, backup=not no_backup)
    else:
        with progress_bar("Upgrading") as told:
            plan = upgrade_command.upgrade(path, backup=not no_backup, progress=told)
    if as_json:
        print_json(asdict(plan))
    elif plan.is_nothing:
        out.print(f"{path} is up to date: format {plan.format}.", markup=False, soft_wrap=True)
    else:
        _print_plan(plan, check)
    if check and not plan.is_nothing:
        raise typer.Exit(1)


def _print_plan(plan: Plan, check: bool) -> None:
    verb = "would be brought" if check else "was brought"
    out.print(f"{plan.path} {verb} from format {plan.format} to {plan.to}:", markup=False, soft_wrap=True)
    for step in plan.steps:
        out.print(f"  {step}", markup=False, soft_wrap=True)
    if plan.backup is not None:
        out.print(f"The backup {'would be' if check else 'is'} {plan.backup}.", markup=False, soft_wrap=True)
    if check and isinstance(plan.path, Path):
        room = f"It needs {plan.needs / 1e6:.0f} MB in this folder, {plan.free / 1e6:.0f} MB are free."
        out.print(room, markup=False, soft_wrap=True)


@commands.add("workbench recompute --store lab.db --where batch=A")
def recompute(
    store: StoreOption = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", metavar="NAME", help="Only this project, by name or id. Without it: all of them."
        ),
    ] = None,
    organization: Annotated[
        str | None,
        typer.Option("--organization", metavar="NAME", help="Only this organization. Without it: all of them."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="KEY=VALUE",
            help="Only these measurements, by a filter of a `list` step: `batch=A`.",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="How many are computed at the same time.")
    ] = None,
    executor: ExecutorOption = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Only print what would be done. The exit code is 1 if there is something to do."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Recompute steps, cycles and the search index where an older rule made them.

    A newer version may have a better rule for steps or cycles. It does not change what is stored: the notes of
    `workbench verify` list what older rules made, and this command computes it again from the stored samples. Step
    tables that came with their samples stay. Cells that share the specification "Unspecified" of 0.1.0 get one each.
    After a stop, the same command goes on."""
    from ..ingest import recompute as library

    path = existing(store)
    with _where(executor) as fan_out, open_store(path, create=False, read_only=check) as opened:
        chosen = library.chosen_in(opened, project, organization, library.filters(where or []))
        with progress_bar("Recomputing") as told:
            done = library.recompute(opened, chosen, check=check, jobs=jobs, fan_out=fan_out, progress=told)
    if as_json:
        tables = [asdict(one) for one in done.measurements]
        print_json({"measurements": tables, "failed": done.failed, "cells": done.cells})
    else:
        _print_recomputed(done, path, check)
    if done.failed or (check and not done.is_nothing):
        raise typer.Exit(1)


def _print_recomputed(done: Recomputed, path: Path, check: bool) -> None:
    if done.is_nothing:
        out.print(f"{path} is up to date: today's rules made everything in it.", markup=False, soft_wrap=True)
        return
    verb = "would be recomputed" if check else "were recomputed"
    tables = f"Steps or cycles of {counted(len(done.measurements), 'measurement')} {verb}."
    out.print(tables, markup=False, soft_wrap=True)
    if done.cells:
        verb = "would get" if check else "got"
        cells = (
            f"{counted(len(done.cells), 'cell')} {verb} a specification of its own: {quoted(done.cells, most=10)}."
        )
        out.print(cells, markup=False, soft_wrap=True)
    if done.search:
        out.print(f"The search index {'would be' if check else 'was'} built again.", markup=False, soft_wrap=True)
    for name, reason in done.failed.items():
        err.print(f"{name}: {reason}", style="red", markup=False, soft_wrap=True)


def _where(executor: str | None) -> AbstractContextManager[FanOut]:
    """Where work over many tests runs."""
    from ..fan_out import FanOut
    from ..store.db.parallel import CORES

    return closing(FanOut.of(executor, cores=CORES))


def _whole(store: Path | None, project: str | None, organization: str | None) -> Store:
    """The store itself. A project that is named must be in it, although the command is about the whole store."""
    path = existing(store)
    _check_named(path, project, organization)
    return open_store(path, create=False, read_only=True)


def _check_named(path: Path, project: str | None, organization: str | None) -> None:
    """Refuse a project or an organization that the store does not have."""
    if project is not None or organization is not None:
        open_bench(path, project, organization, read_only=True).close()
