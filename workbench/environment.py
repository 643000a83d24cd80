"""The default store, project and organization: those that environment variables name."""

from __future__ import annotations

import os
from pathlib import Path

STORE = "WORKBENCH_STORE"
PROJECT = "WORKBENCH_PROJECT"
ORGANIZATION = "WORKBENCH_ORGANIZATION"
API_KEY = "WORKBENCH_API_KEY"
EXECUTOR = "WORKBENCH_EXECUTOR"
MODEL = "WORKBENCH_MODEL"
MODEL_URL = "WORKBENCH_MODEL_URL"
MODEL_KEY = "WORKBENCH_MODEL_KEY"
MODEL_TOKENS = "WORKBENCH_MODEL_TOKENS"
OBJECT_CACHE_GB = "WORKBENCH_OBJECT_CACHE_GB"
SCRIPT_SECONDS = "WORKBENCH_SCRIPT_SECONDS"


_POSTGRES = ("postgresql:", "postgres:")


class StoreAddress(type(Path())):  # type: ignore[misc]  # the class of paths of this system
    """The address of a store on PostgreSQL where the path of a file is expected. Its text stays as it was given."""

    address: str

    def __new__(cls, address: str) -> StoreAddress:
        made: StoreAddress = super().__new__(cls, address)
        made.address = address
        return made

    def __str__(self) -> str:
        return self.address

    def __fspath__(self) -> str:
        return self.address

    def __reduce__(self) -> tuple[type[StoreAddress], tuple[str]]:
        return StoreAddress, (self.address,)

    def resolve(self, strict: bool = False) -> StoreAddress:
        """It is whole as it is."""
        return self

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Opening it says whether there is a store."""
        return True


def is_address(place: str | Path) -> bool:
    """Whether a store's place is an address of PostgreSQL, not a file."""
    return str(place).startswith(_POSTGRES)


def store_place(text: str) -> Path:
    """The place of a store: the path of a file, or an address of PostgreSQL."""
    return StoreAddress(text) if is_address(text) else Path(text)


def meant_store(given: Path | None) -> Path:
    """The store: the given one, else that of ``$WORKBENCH_STORE``, else ``workbench.db`` in this folder."""
    return given or store_place(os.environ.get(STORE) or "workbench.db")


def go_to(store: Path | None, project: str | None, organization: str | None) -> None:
    """Make these the defaults of this process and of each process that it starts."""
    if store is not None:
        os.environ[STORE] = str(store.resolve())
    for name, given in ((PROJECT, project), (ORGANIZATION, organization)):
        if given is not None:
            os.environ[name] = given
