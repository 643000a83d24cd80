"""The commands of the shared server: serve, keys, users."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import BadRequest, NotFound, NotProtected, instead
from ..place import meant_store
from ..records import Organization, Project
from ..store.people import ADMIN, KEY_ROLES, MEMBER, ROLES
from ..store.scope import Scope
from ..store.store import Store
from ..table import time_text, to_micros
from .console import out, print_json, print_rows
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing

commands = typer.Typer()
keys = typer.Typer(no_args_is_help=True, help="Make, list and revoke keys.")
users = typer.Typer(no_args_is_help=True, help="List, add and remove the members of an organization.")
commands.add_typer(keys, name="keys")
commands.add_typer(users, name="users")

PORT = 8765

UserArgument = Annotated[str, typer.Argument(metavar="EMAIL", help="The user's address.", show_default=False)]
RoleOption = Annotated[
    str | None,
    typer.Option(
        "--role",
        metavar="ROLE",
        help="admin: of the organization; contributor or viewer: on every project, later ones too, or on --project "
        "alone. A new user is a contributor by default, a known one stays what they are.",
    ),
]


@commands.command(epilog="Example: `workbench serve --store lab.db --port 8765`")
def serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")] = PORT,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Processes that share the store.")] = 1,
    trust_transforms: Annotated[
        bool,
        typer.Option(
            "--trust-transforms", help="Run the scripts of plots in the server itself, with all its rights."
        ),
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The address that people use, where a proxy stands before the server."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name to answer to, beside those of this machine; repeatable."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="An origin whose pages may call the server; repeatable."),
    ] = None,
    billing_portal: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the billing portal redirects to.")
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serve a store to a team. The first start makes an administrator's key and prints it, once."""
    from server.serving import Serving, run

    path = meant_store(store)
    _first_key(path, project, organization, as_json=as_json)
    run(
        Serving(
            store=str(path.resolve()),
            host=host,
            port=port,
            workers=workers,
            trust_transforms=trust_transforms,
            public_url=public_url,
            hosts=tuple(allow_host or ()),
            origins=tuple(allow_origin or ()),
            billing_portal=billing_portal,
        ),
        told=lambda address: _listening(address, as_json=as_json),
    )


def serve_demo(
    store: Path, port: int | None, project: str | None, organization: str | None, *, as_json: bool
) -> None:
    """Serve a demo on this machine; where scripts cannot be locked in, say so and stop."""
    from server.serving import Serving, listen, run

    if port is None:
        try:
            listen("127.0.0.1", PORT).close()
            port = PORT
        except BadRequest:
            port = 0
    known = _first_key(store, project, organization, as_json=as_json)

    def told(address: str) -> None:
        _listening(address, as_json=as_json)
        if as_json:
            return
        key = "the key above" if not known else "your key"
        out.print(
            f"In Python: wb.connect('{address}', api_key='wb_...') with {key}. Stop with Ctrl-C.", markup=False
        )
        if known:
            made = f"workbench keys create --store {store} --user local@localhost --role admin"
            out.print(f"The key was shown at the first start; another one: {made}", markup=False, soft_wrap=True)

    try:
        run(Serving(store=str(store.resolve()), port=port, quiet=True), told)
    except NotProtected as error:
        out.print(f"No server was started. {error}", markup=False, soft_wrap=True)


def _first_key(path: Path, project: str | None, organization: str | None, *, as_json: bool) -> bool:
    """The key of the store's first user, where nobody has one yet; True where somebody has."""
    with Store.open(path) as opened:
        chosen = _organization(opened, organization, project)
        if opened.people.any_key():
            return True
        user = opened.rows.user("local@localhost")
        issued = opened.people.issue(chosen.id, user.id)
    if as_json:
        _line({"key": issued.key, "id": issued.id, "organization_id": chosen.id, "user_id": user.id})
    else:
        out.print(f"Key of {user.email}, Admin of '{chosen.name}', shown this once:", markup=False)
        out.print(issued.key, markup=False, soft_wrap=True)
    return False


def _listening(address: str, *, as_json: bool) -> None:
    if as_json:
        _line({"listening": address})
    else:
        typer.echo(f"Listening on {address}")


def _line(value: Any) -> None:
    import orjson

    typer.echo(orjson.dumps(value).decode())


@keys.command(
    "create", epilog="Example: `workbench keys create --organization Lab --user ada@lab.org --role viewer`"
)
def create_key(
    user: Annotated[str, typer.Option("--user", metavar="EMAIL", help="Whose key; made if absent.")],
    role: RoleOption = None,
    expires: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0, help="After so many days the key is void.")
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: Annotated[
        str | None,
        typer.Option("--organization", metavar="NAME", help="Made if absent; else the only one there is."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key, and the organization and the user where they are absent. The key is shown this once."""
    with Store.open(meant_store(store)) as opened, opened.transaction():
        chosen = _made(opened, organization)
        member = _member(opened, chosen, user, role, project)
        issued = opened.people.issue(chosen.id, member, days=expires)
    if as_json:
        print_json({"key": issued.key, "id": issued.id, "organization_id": chosen.id, "user_id": member})
    else:
        out.print(f"Key of {user} in '{chosen.name}', shown this once:", markup=False, soft_wrap=True)
        out.print(issued.key, markup=False, soft_wrap=True)


def _made(store: Store, name: str | None) -> Organization:
    """The organization of this name, made with a project of its own if it is absent."""
    known = store.rows.organizations()
    found = next((one for one in known if name in (one.id, one.name)), None)
    if found is not None or name is None:
        return found or _organization(store, None, None)
    made = store.rows.create(Organization, {"name": name}, scope=Scope("", None))
    store.rows.create(Project, {"name": "Default"}, scope=Scope(made.id, None))
    return made


def _member(store: Store, organization: Organization, email: str, role: str | None, project: str | None) -> str:
    """The id of the user, who is a member with this role afterwards."""
    if role is not None and role not in KEY_ROLES:
        raise BadRequest(f"There is no role '{role}'. {instead(role, KEY_ROLES, 'roles')}")
    known = {member["email"] for member in store.people.members(organization.id)}
    wanted = role or (None if email.lower() in known else "contributor")
    given = KEY_ROLES[wanted] if wanted is not None else None
    standing = None if wanted is None else ADMIN if given is None else MEMBER
    everywhere = given.id if given is not None and project is None else None
    user, _, _ = store.people.enrol(organization.id, email, role=standing, everywhere=everywhere)
    if project is not None:
        place = store.rows.find(Project, project, Scope(organization.id, None))
        if given is not None:
            store.people.give_role(organization.id, place.id, user.id, given.id)
    return user.id


@keys.command("list", epilog="Example: `workbench keys list --organization Lab`")
def list_keys(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the keys of an organization: whose, since when, until when, used when. No secret is kept to show."""
    with Store.open(existing(store), create=False) as opened:
        chosen = _organization(opened, organization, project)
        found = [
            {
                name: time_text(to_micros(value)) if hasattr(value, "tzinfo") else value
                for name, value in key.items()
            }
            for key in opened.people.keys(chosen.id)
        ]
    if as_json:
        print_json(found)
        return
    rows = [{**key, "state": _state(key)} for key in found]
    print_rows(rows, ["id", "email", "state", "created_at", "expires_at", "used_at"])


def _state(key: dict[str, Any]) -> str:
    if key["revoked_at"] is not None:
        return "revoked"
    return "expired" if key["expires_at"] is not None and key["expires_at"] < _now() else "in force"


def _now() -> str:
    return time_text(time.time_ns() // 1000)


@keys.command("revoke", epilog="Example: `workbench keys revoke 5gp01edg`")
def revoke_key(
    key: Annotated[str, typer.Argument(metavar="ID", help="The key's id, its eight letters.", show_default=False)],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key void, at once and for good."""
    with Store.open(existing(store), create=False) as opened:
        chosen = _organization(opened, organization, project)
        opened.people.revoke(chosen.id, key)
    if as_json:
        print_json({"id": key, "revoked": True})
    else:
        out.print(f"The key {key} is void.", markup=False)


@users.command("list", epilog="Example: `workbench users list --organization Lab`")
def list_users(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the members of an organization and their roles."""
    with Store.open(existing(store), create=False) as opened:
        chosen = _organization(opened, organization, project)
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


@users.command("add", epilog="Example: `workbench users add ada@lab.org --role contributor`")
def add_user(
    user: UserArgument,
    role: RoleOption = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make somebody a member, or give a member another role. They need a key to do anything."""
    with Store.open(existing(store), create=False) as opened, opened.transaction():
        chosen = _organization(opened, organization, project)
        member = _member(opened, chosen, user, role, project)
        standing = opened.people.member(chosen.id, member) or {}
        reach = _reach(opened, chosen, member)
    if as_json:
        print_json({"user_id": member, "organization_id": chosen.id, "role": standing.get("role")})
    else:
        told = f"{user} is {standing.get('role')} of '{chosen.name}'{reach}."
        out.print(told, markup=False, soft_wrap=True)


def _reach(store: Store, organization: Organization, member: str) -> str:
    """What a member is in which projects, as the end of a sentence."""
    standing = store.people.member(organization.id, member) or {}
    everywhere = standing.get("everywhere")
    told = [f", {ROLES[everywhere].name} on every project"] if everywhere else []
    told += [
        f", {ROLES[role].name} of '{store.rows.get(Project, place, Scope(organization.id, None)).name}'"
        for place, role in store.people.roles_of(organization.id, member).items()
    ]
    return "".join(told)


@users.command("remove", epilog="Example: `workbench users remove ada@lab.org`")
def remove_user(
    user: UserArgument,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a member out of the organization: their keys are void, their records stay."""
    with Store.open(existing(store), create=False) as opened:
        chosen = _organization(opened, organization, project)
        found = opened.rows.user(user)
        opened.people.remove_member(chosen.id, found.id)
    if as_json:
        print_json({"user_id": found.id, "removed": True})
    else:
        out.print(f"{user} is no member of '{chosen.name}' any more.", markup=False, soft_wrap=True)


def _organization(store: Store, name: str | None, project: str | None) -> Organization:
    """The organization that is meant, or the only one; a project that is named must be one of its."""
    known = store.rows.organizations()
    found = next((one for one in known if name in (one.id, one.name)), None)
    if name is None and len(known) == 1:
        found = known[0]
    names = ", ".join(f"'{one.name}'" for one in known)
    if found is None and name is None:
        raise BadRequest(
            f"There are {len(known)} organizations here: {names}. Say which with --organization NAME."
        )
    if found is None:
        raise NotFound(f"There is no organization '{name}'. The organizations are {names}.")
    if project is not None:
        store.rows.find(Project, project, Scope(found.id, None))
    return found
