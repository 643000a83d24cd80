"""The options that all commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from .errors import BadRequest

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="PATH", help="The store file; else $WORKBENCH_STORE, else ./workbench.db."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", metavar="NAME", help="Name or id; else $WORKBENCH_PROJECT, else the only one."),
]
OrganizationOption = Annotated[
    str | None, typer.Option("--organization", metavar="NAME", help="Name or id; needed where there are several.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def store_path(store: Path | None) -> Path:
    """The store that is meant."""
    return store or Path(os.environ.get("WORKBENCH_STORE") or "workbench.db")


def existing(store: Path | None) -> Path:
    """The store that is meant, which must be there."""
    path = store_path(store)
    if not path.exists():
        raise BadRequest(
            f"There is no store at '{path}'. Make one with `workbench ingest` or `workbench demo`, "
            "or name one with --store or $WORKBENCH_STORE."
        )
    return path
