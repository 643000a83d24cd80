"""The members of an organization and their roles, for the commands of keys and users."""

from __future__ import annotations

from ..errors import BadRequest, NotFound, instead
from ..records import Organization, Project
from ..store.people import ADMIN, KEY_ROLES, MEMBER, ROLES
from ..store.scope import Scope
from ..store.store import Store


def organization_of(store: Store, name: str | None, project: str | None) -> Organization:
    """The organization of this name or id, or the only one. A project that is named must be in it."""
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


def organization_made(store: Store, name: str | None) -> Organization:
    """The organization of this name, made with a project `Default` if it is absent."""
    known = store.rows.organizations()
    found = next((one for one in known if name in (one.id, one.name)), None)
    if found is not None or name is None:
        return found or organization_of(store, None, None)
    made = store.rows.create(Organization, {"name": name}, scope=Scope("", None))
    store.rows.create(Project, {"name": "Default"}, scope=Scope(made.id, None))
    return made


def enrolled(store: Store, organization: Organization, email: str, role: str | None, project: str | None) -> str:
    """The id of a user, who is a member with this role afterwards. The user is made if absent."""
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


def reach(store: Store, organization: Organization, member: str) -> str:
    """The roles of a member in the projects, as the end of a sentence."""
    standing = store.people.member(organization.id, member) or {}
    everywhere = standing.get("everywhere")
    parts = [f", {ROLES[everywhere].name} on every project"] if everywhere else []
    parts += [
        f", {ROLES[role].name} of '{store.rows.get(Project, place, Scope(organization.id, None)).name}'"
        for place, role in store.people.roles_of(organization.id, member).items()
    ]
    return "".join(parts)
