"""The commands about where samples are kept: show, move, collect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..environment import meant_store
from ..messages import counted
from .console import out, print_json, progress_bar
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench, open_store

commands = Commands(
    "Keep samples in a folder or an object store instead of the store itself.",
    "workbench samples show --store lab.db",
)


@commands.add("workbench samples show --store lab.db", "show")
def show(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print where the samples are kept, and how much is there.

    It counts what the store knows; the place itself is not asked."""
    from ..store.objects.status import status

    path = existing(store)
    _check_named(path, project, organization)
    with open_store(path, create=False, read_only=True) as opened:
        found = status(opened)
    if as_json:
        print_json(found._asdict())
        return
    out.print(f"Samples are kept in: {found.place}", markup=False, soft_wrap=True)
    if found.series:
        out.print(
            f"{counted(found.series, 'object')} there, {found.size / 1e6:.1f} MB.", markup=False, soft_wrap=True
        )
    if found.waiting:
        out.print(f"{counted(found.waiting, 'series', 'series')} still in the store, to be moved.", markup=False)
    if found.leftovers:
        out.print(
            f"{counted(found.leftovers, 'object')} no longer needed, {found.leftover_size / 1e6:.1f} MB: "
            "see 'workbench samples collect'.",
            markup=False,
            soft_wrap=True,
        )
    if not found.may_write:
        out.print(
            "This store is a copy, or was moved: it reads these objects, and keeps new samples in itself. If no other "
            "copy is in use, see 'workbench samples move --help'.",
            markup=False,
            soft_wrap=True,
        )


@commands.add("workbench samples move s3://lab-data/workbench --store lab.db", "move")
def move(
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE",
            help="Where to keep them: `folder:PATH`, `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, "
            "`az://CONTAINER/PREFIX`, or `file` for the store itself, its file or database.",
            show_default=False,
        ),
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    take_over: Annotated[
        bool,
        typer.Option(
            "--take-over",
            help="This store is a restored copy, or was moved, and no other copy is in use: it may write and delete "
            "there from now on.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Keep samples at a place from now on, and move those that are there already.

    The store remembers the place; later commands need no option. A store that does not exist is made. The store may be
    in use meanwhile. After a stop, the same command goes on. Credentials come from the environment."""
    from ..store.objects.relocate import relocate, written_as
    from ..store.objects.status import status

    path = meant_store(store)
    if project is not None or organization is not None:
        _check_named(existing(store), project, organization)
    address = written_as(place, path)
    with open_store(path, create=True) as opened, progress_bar("Moving") as step:
        before = status(opened).place
        moved = relocate(opened, address, take_over=take_over, progress=step)
    if as_json:
        print_json({"place": address, "moved": moved})
    else:
        out.print(f"{path} keeps its samples in {address}.", markup=False, soft_wrap=True)
        out.print(f"{counted(moved, 'series', 'series')} moved.", markup=False, soft_wrap=True)
        if before not in (address, "file"):
            left = f"What is in {before} stays there. Delete it when no backup needs it."
            out.print(left, markup=False, soft_wrap=True)


@commands.add("workbench samples collect --delete --store lab.db", "collect")
def collect(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete them. Without it they are only counted.")
    ] = False,
    keep_days: Annotated[
        float,
        typer.Option(
            "--keep-days",
            metavar="DAYS",
            min=1,
            help="Days that an object stays after it was last needed. Backups of the file alone need it as long.",
        ),
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Count the objects that nothing needs any more, and with `--delete` delete them.

    These are objects of deleted and replaced tests, and those that a killed process left. What a reader or a writer
    may still need stays: at least a day."""
    from datetime import timedelta

    from ..store.objects import collect as library

    path = existing(store)
    _check_named(path, project, organization)
    with open_store(path, create=False, read_only=not delete) as opened, progress_bar("Listing"):
        work = library.collect if delete else library.surplus
        found = work(opened, timedelta(days=keep_days))
    if as_json:
        print_json({"place": found.place, "names": found.names, "bytes": found.size, "kept": found.kept})
        return
    done = "were deleted" if delete else "can be deleted"
    out.print(
        f"{counted(len(found.names), 'object')} {done}: {found.size / 1e6:.1f} MB.", markup=False, soft_wrap=True
    )
    if found.kept:
        out.print(f"{counted(found.kept, 'object')} must stay for now.", markup=False, soft_wrap=True)
    if found.names and not delete:
        out.print("Delete them with --delete.", markup=False)


def _check_named(path: Path, project: str | None, organization: str | None) -> None:
    """Refuse a project or an organization that the store does not have; the command is about all of them."""
    if project is not None or organization is not None:
        open_bench(path, project, organization, read_only=True).close()
