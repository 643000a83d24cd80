"""The commands of keys: create, list, revoke."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from ..environment import meant_store
from ..messages import quoted
from .console import out, print_json, print_rows
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, RoleOption, StoreOption, existing, open_store

commands = Commands("Make, list and revoke keys.", "workbench keys list --store lab.db")


@commands.add("workbench keys create --organization Lab --user ada@lab.org --role viewer", "create")
def create_key(
    user: Annotated[
        str, typer.Option("--user", metavar="EMAIL", help="User that the key is for, made if absent.")
    ],
    role: RoleOption = None,
    expires: Annotated[
        float | None,
        typer.Option(metavar="DAYS", min=0, help="Days until the key expires. Without it: never."),
    ] = None,
    permission: Annotated[
        str | None,
        typer.Option(
            metavar="PERMISSION",
            help="The most that the key allows: `read`, `write` or `admin`. It narrows the role of the user and never "
            "widens it. Without it: all that the role allows.",
        ),
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: Annotated[
        str | None,
        typer.Option(
            "--organization",
            metavar="NAME",
            help="Name of the organization, made if absent. Without it: the only one.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key for a user and print it. It cannot be shown again.

    The organization and the user are made if they do not exist."""
    from . import members

    path = meant_store(store)
    is_new = not path.exists()
    with open_store(path, create=True) as opened, opened.transaction():
        before = [one.name for one in opened.rows.organizations()]
        chosen = members.organization_made(opened, organization)
        member = members.enrolled(opened, chosen, user, role, project)
        issued = opened.people.issue(chosen.id, member, days=expires, permission=permission)
    if as_json:
        print_json({"key": issued.key, "id": issued.id, "organization_id": chosen.id, "user_id": member})
    else:
        if is_new:
            out.print(f"There was no store at '{path}', so one was made.", markup=False, soft_wrap=True)
        if chosen.name not in before:
            made = f"There was no organization '{chosen.name}' beside {quoted(before)}, so it was made."
            out.print(made, markup=False, soft_wrap=True)
        out.print(
            f"Key of {user} in '{chosen.name}'. Keep it, it is not shown again:", markup=False, soft_wrap=True
        )
        out.print(issued.key, markup=False, soft_wrap=True)


@commands.add("workbench keys list --organization Lab", "list")
def list_keys(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the keys of an organization: the user, the permission, the state, and the times of creation, expiry and use.

    The key itself is not stored, so it cannot be listed."""
    from ..store.records.key_state import state_of
    from ..table import time_text, to_micros
    from . import members

    with open_store(existing(store), create=False) as opened:
        chosen = members.organization_of(opened, organization, project)
        found = opened.people.keys(chosen.id)
    now = datetime.now(UTC)
    rows = [
        {name: time_text(to_micros(value)) if hasattr(value, "tzinfo") else value for name, value in key.items()}
        | {"state": state_of(key, now)}
        for key in found
    ]
    if as_json:
        print_json(rows)
        return
    print_rows(rows, ["id", "email", "permission", "state", "created_at", "expires_at", "used_at"])


@commands.add("workbench keys revoke 5gp01edg", "revoke")
def revoke_key(
    key: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of the key, as `workbench keys list` shows it.", show_default=False),
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key at once. This cannot be undone."""
    from . import members

    with open_store(existing(store), create=False) as opened:
        chosen = members.organization_of(opened, organization, project)
        opened.people.revoke(chosen.id, key)
    if as_json:
        print_json({"id": key, "revoked": True})
    else:
        out.print(f"The key {key} is revoked.", markup=False)
