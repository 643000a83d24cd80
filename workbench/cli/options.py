"""The options that all commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import BadRequest
from ..place import ORGANIZATION, PROJECT, STORE, meant_store

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="PATH", help=f"The store file; else ${STORE}, else ./workbench.db."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        envvar=PROJECT,
        show_envvar=False,
        help=f"Name or id; else ${PROJECT}, else the only one.",
    ),
]
OrganizationOption = Annotated[
    str | None,
    typer.Option(
        "--organization",
        metavar="NAME",
        envvar=ORGANIZATION,
        show_envvar=False,
        help=f"Name or id; else ${ORGANIZATION}, else the only one.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def existing(store: Path | None) -> Path:
    """The store that is meant, which must be there."""
    path = meant_store(store)
    if not path.exists():
        raise BadRequest(
            f"There is no store at '{path}'. Make one with `workbench ingest` or `workbench demo`, "
            f"or name one with --store or ${STORE}."
        )
    return path
