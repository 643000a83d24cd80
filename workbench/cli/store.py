"""The commands of a store as a whole: catalog, search, backup, verify."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import BadRequest
from ..phrases import spaced
from ..place import meant_store
from .console import err, out, print_json, print_rows, progress_bar
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench, open_store

if TYPE_CHECKING:
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
    with open_bench(existing(store), project, organization) as bench, progress_bar("Counting"):
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
    with open_bench(existing(store), project, organization) as bench:
        found = bench.find(text, limit=limit, per_type=MOST_OF_A_KIND)
    if as_json:
        print_json(asdict(found))
        return
    if not found.results:
        out.print(f"No name and no note holds '{found.query}'.", markup=False)
        return
    rows = [asdict(hit) for hit in found.results]
    print_rows(rows, ["entity_type", "name", "id"])
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
    as_json: JsonOption = False,
) -> None:
    """Copy the whole store to a new file. The store may be in use meanwhile.

    The copy has all projects of all organizations and can be used as a store itself."""
    with _whole(store, project, organization) as opened, progress_bar("Copying"):
        opened.backup(destination)
    size = destination.stat().st_size
    if as_json:
        print_json({"file": str(destination), "bytes": size})
    else:
        out.print(f"Wrote {destination} ({size / 1e6:.1f} MB).", markup=False, soft_wrap=True)


@commands.add("workbench verify --store lab.db")
def verify(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read the whole store and print everything that is damaged.

    Records, samples, summaries and files of all projects are read and compared with their checksums."""
    with _whole(store, project, organization) as opened, progress_bar("Reading everything"):
        findings = opened.verify()
    if as_json:
        print_json(findings)
    else:
        for finding in findings:
            err.print(finding, style="red", markup=False, soft_wrap=True)
        if not findings:
            out.print(f"{meant_store(store)} is sound.", markup=False, soft_wrap=True)
    if findings:
        raise typer.Exit(1)


def _whole(store: Path | None, project: str | None, organization: str | None) -> Store:
    """The store itself. A project that is named must be in it, although the command is about the whole store."""
    path = existing(store)
    if project is not None or organization is not None:
        open_bench(path, project=project, organization=organization).close()
    return open_store(path, create=False)
