"""The commands of users: list, add, remove."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import NotFound
from .console import out, print_json, print_rows
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, RoleOption, StoreOption, existing, open_store

commands = Commands(
    "List, add and remove the members of an organization.", "workbench users list --organization Lab"
)

UserArgument = Annotated[
    str, typer.Argument(metavar="EMAIL", help="E-mail address of the user.", show_default=False)
]


@commands.add("workbench users list --organization Lab", "list")
def list_users(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the members of an organization and their roles."""
    from ..records import Project
    from ..store.records.people import ROLES
    from ..store.scope import Scope
    from . import members

    with open_store(existing(store), create=False) as opened:
        chosen = members.organization_of(opened, organization, project)
        names = {p.id: p.name for p in opened.rows.page(Project, Scope(chosen.id, None), limit=None).items}
        rows = [
            {
                "email": member["email"],
                "id": member["user_id"],
                "role": member["role"],
                "every project": ROLES[member["everywhere"]].name if member["everywhere"] else None,
                "projects": ", ".join(
                    f"{names[place]}: {ROLES[role].name}"
                    for place, role in opened.people.roles_of(chosen.id, member["user_id"]).items()
                ),
                "active": "yes" if member["is_active"] else "no",
            }
            for member in opened.people.members(chosen.id)
        ]
    if as_json:
        print_json(rows)
    else:
        print_rows(rows, ["email", "role", "every project", "projects", "active", "id"])


@commands.add("workbench users add ada@lab.org --role contributor", "add")
def add_user(
    user: UserArgument,
    role: RoleOption = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a user to the organization, or change the role of a member.

    A user needs a key to use the server: see `workbench keys create`."""
    from . import members

    with open_store(existing(store), create=False) as opened, opened.transaction():
        chosen = members.organization_of(opened, organization, project)
        member = members.enrolled(opened, chosen, user, role, project)
        standing = opened.people.member(chosen.id, member) or {}
        reach = members.reach(opened, chosen, member)
    if as_json:
        print_json({"user_id": member, "organization_id": chosen.id, "role": standing.get("role")})
    else:
        said = f"{user} is {standing.get('role')} of '{chosen.name}'{reach}."
        out.print(said, markup=False, soft_wrap=True)


@commands.add("workbench users remove ada@lab.org", "remove")
def remove_user(
    user: UserArgument,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a user from the organization. Their keys stop working; their records stay."""
    from . import members

    with open_store(existing(store), create=False) as opened:
        chosen = members.organization_of(opened, organization, project)
        found = opened.rows.user(user)
        if opened.people.member(chosen.id, found.id) is None:
            raise NotFound(f"'{user}' is not a member of '{chosen.name}'.")
        opened.people.remove_member(chosen.id, found.id)
    if as_json:
        print_json({"user_id": found.id, "removed": True})
    else:
        out.print(f"{user} is not a member of '{chosen.name}' any more.", markup=False, soft_wrap=True)
