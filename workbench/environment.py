"""The default store, project and organization: those that environment variables name."""

from __future__ import annotations

import os
from pathlib import Path

STORE = "WORKBENCH_STORE"
PROJECT = "WORKBENCH_PROJECT"
ORGANIZATION = "WORKBENCH_ORGANIZATION"
API_KEY = "WORKBENCH_API_KEY"
MODEL = "WORKBENCH_MODEL"
MODEL_URL = "WORKBENCH_MODEL_URL"
MODEL_KEY = "WORKBENCH_MODEL_KEY"
MODEL_TOKENS = "WORKBENCH_MODEL_TOKENS"
OBJECT_CACHE_GB = "WORKBENCH_OBJECT_CACHE_GB"
SCRIPT_SECONDS = "WORKBENCH_SCRIPT_SECONDS"


def meant_store(given: Path | None) -> Path:
    """The store file: the given one, else that of ``$WORKBENCH_STORE``, else ``workbench.db`` in this folder."""
    return given or Path(os.environ.get(STORE) or "workbench.db")


def go_to(store: Path | None, project: str | None, organization: str | None) -> None:
    """Make these the defaults of this process and of each process that it starts."""
    if store is not None:
        os.environ[STORE] = str(store.resolve())
    for name, given in ((PROJECT, project), (ORGANIZATION, organization)):
        if given is not None:
            os.environ[name] = given
