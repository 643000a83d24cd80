"""Where one is when nothing is said: the store, project and organization that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

STORE = "WORKBENCH_STORE"
PROJECT = "WORKBENCH_PROJECT"
ORGANIZATION = "WORKBENCH_ORGANIZATION"
API_KEY = "WORKBENCH_API_KEY"


def meant_store(given: Path | None) -> Path:
    """The store file that is meant: the given one, else the environment's, else ``workbench.db`` here."""
    return given or Path(os.environ.get(STORE) or "workbench.db")


def go_to(store: Path | None, project: str | None, organization: str | None) -> None:
    """Make this the place of this process and of every one that it starts."""
    if store is not None:
        os.environ[STORE] = str(store.resolve())
    for name, given in ((PROJECT, project), (ORGANIZATION, organization)):
        if given is not None:
            os.environ[name] = given
