"""What a user says of where work runs, read in one place: ``threads``, ``processes:4``, ``dask://host:8786``."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from typing import NamedTuple, TypeAlias

from ..environment import EXECUTOR
from ..errors import BadRequest, instead

Given: TypeAlias = str | Executor | None
"""What ``executor=`` takes."""
HELP = (
    "Where work over many tests runs: `serial`, `threads`, `processes`, `processes:N` for N of them, or the scheduler "
    f"of a Dask cluster, `dask://host:8786`. Without it: `${EXECUTOR}`, or threads."
)
KINDS = ("serial", "threads", "processes", "dask")
SCHEMES = {"dask": "tcp", "dask+tls": "tls"}
"""How an address begins here, and what Dask calls it."""
MOST_WORKERS = 1024


class Setting(NamedTuple):
    """The kind of an executor, how many workers it has where that is said, and the address of a scheduler."""

    kind: str
    workers: int | None = None
    address: str | None = None


def setting_of(text: str) -> Setting:
    """The setting that a text names.

    Raises
    ------
    BadRequest
        If it names none; says which there are.
    """
    scheme, is_address, rest = text.strip().partition("://")
    if is_address and scheme in SCHEMES and rest:
        return Setting("dask", address=f"{SCHEMES[scheme]}://{rest}")
    if is_address:
        raise BadRequest(f"'{text[:200]}' is not the address of a scheduler. Write it as dask://host:8786.")
    kind, has_number, number = text.strip().partition(":")
    if kind == "dask":
        raise BadRequest("A Dask cluster is named by the address of its scheduler: dask://host:8786.")
    if kind not in KINDS:
        raise BadRequest(f"There is no executor '{kind[:80]}'. {instead(kind, KINDS, 'executors')}")
    if not has_number:
        return Setting(kind)
    if kind == "serial" or not number.isdecimal() or not 1 <= int(number) <= MOST_WORKERS:
        raise BadRequest(
            f"'{text[:80]}' is not an executor. A number of workers goes with threads and processes, as `processes:4`."
        )
    return Setting(kind, int(number))


def meant(given: Given) -> Given:
    """What was said, else what the environment says; None for neither."""
    return given if given is not None else os.environ.get(EXECUTOR) or None
