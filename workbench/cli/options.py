"""The options that all commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..environment import EXECUTOR, ORGANIZATION, PROJECT, STORE, is_address, meant_store, store_place
from ..errors import BadRequest, StoreAway
from ..fan_out import setting as executor_setting
from ..near_files import near_store
from ..quick_import import not_collected

if TYPE_CHECKING:
    from ..bench import Bench
    from ..store.store import Store

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="PATH",
        parser=store_place,
        help=f"The store: a file, or postgresql://USER@HOST/DATABASE. Without it: `${STORE}`, or `./workbench.db`.",
    ),
]
ProjectOption = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        envvar=PROJECT,
        show_envvar=False,
        help=f"Name or id of the project. Without it: `${PROJECT}`, or the only project.",
    ),
]
OrganizationOption = Annotated[
    str | None,
    typer.Option(
        "--organization",
        metavar="NAME",
        envvar=ORGANIZATION,
        show_envvar=False,
        help=f"Name or id of the organization. Without it: `${ORGANIZATION}`, or the only one.",
    ),
]
RoleOption = Annotated[
    str | None,
    typer.Option(
        "--role",
        metavar="ROLE",
        help="`admin`: of the organization. `contributor` or `viewer`: of every project, also of later ones, or only "
        "of the one that `--project` names. Without it a new user is a contributor, and a known user keeps the role.",
    ),
]
ExecutorOption = Annotated[
    str | None,
    typer.Option("--executor", metavar="WHERE", envvar=EXECUTOR, show_envvar=False, help=executor_setting.HELP),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def open_bench(
    path: Path,
    project: str | None,
    organization: str | None,
    *,
    read_only: bool = False,
    executor: str | None = None,
) -> Bench:
    """A bench on a store; what a bench needs is imported when the first one is opened."""
    with not_collected():
        from ..bench.bench import Bench
        from ..local import LocalBackend

    return Bench(LocalBackend.open(path, project, organization, read_only=read_only, executor=executor))


@contextmanager
def at_the_start(path: Path) -> Iterator[None]:
    """While a command that runs until Ctrl-C opens its store: where a database does not answer, say how to wait."""
    try:
        yield
    except StoreAway as error:
        if is_address(path):
            error.args = (
                f"{error} This command does not wait for it: start it when 'pg_isready' succeeds, or let systemd start "
                "it again (Restart=on-failure).",
            )
        raise


def open_store(path: Path, *, create: bool, read_only: bool = False) -> Store:
    """The store in a file, which must exist unless it may be created."""
    from ..store.store import Store

    return Store.open(path, create=create, read_only=read_only)


def existing(store: Path | None) -> Path:
    """The store that a command is about, which must exist."""
    path = meant_store(store)
    if not path.exists():
        raise BadRequest(
            f"There is no store at '{path}'.{near_store(path)} Make one with `workbench ingest` or `workbench demo`, "
            f"or name one with --store or ${STORE}."
        )
    return path
