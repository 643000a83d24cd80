"""Users, organizations, roles and members."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated, Literal, NotRequired

from fastapi import APIRouter
from pydantic import Field
from typing_extensions import TypedDict

from workbench.errors import Invalid, NotFound, Problem
from workbench.recipe.strict import NotNull
from workbench.records import Project, User
from workbench.store.records.people import ROLES, Caller, Right
from workbench.table import from_micros, time_text, to_micros

from ..auth import Member, OrganizationAdmin, ProjectManager
from ..context import RequestContext
from ..parameters import Paging, paging
from ..routing import Route, takes
from ..schemas import Body, Empty, Json, Page, Text, page

router = APIRouter(route_class=Route, tags=["People"])

OrganizationRole = Annotated[Text, Field(json_schema_extra={"enum": ["Admin", "Member"]})]
ProjectRole = Annotated[Text, Field(json_schema_extra={"enum": list(ROLES)})]
Can = Literal["read", "write", "manage"]
"""What a caller may do."""
UserId = Annotated[Text, Field(json_schema_extra={"x-record": "users"})]


class Named(TypedDict):
    id: str
    name: str


class RoleName(TypedDict):
    name: OrganizationRole


class Me(TypedDict):
    id: str
    email: str
    name: str
    organization_role: RoleName
    authorized_organization: Named
    organizations: list[Named]
    organization_can: list[Can]


class Usage(TypedDict):
    period_start: str
    period_end: str
    simulation: Json
    compute: Json


class RoleIn(TypedDict):
    project_id: str
    project_role_id: str


class OrganizationMember(TypedDict):
    id: str
    email: str | None
    name: str | None
    is_active: bool
    organization_role: RoleName
    every_project_role_id: str | None
    user_project_roles: list[RoleIn]


class ProjectRoleShown(TypedDict):
    id: str
    name: str
    description: str | None


class Invited(TypedDict):
    user_id: str
    invite_sent: bool
    already_member: bool
    role_name: NotRequired[str | None]


class AuditEntry(TypedDict):
    """What somebody did, or with a ``status`` what was refused. ``target`` is the id of the record or key."""

    at: str
    user_id: str | None
    email: str | None
    key_id: str | None
    action: str
    target: str | None
    status: int | None
    request: str | None
    detail: Json | None


class NewMember(Body):
    email: Text
    role_name: Annotated[OrganizationRole | None, NotNull()] = None


class Activity(Body):
    is_active: bool


class NewRole(Body):
    role_name: OrganizationRole


class NewProjectMember(Body):
    user_id: UserId
    project_role_id: ProjectRole


class NewProjectRole(Body):
    project_role_id: ProjectRole


class Invitation(Body):
    email: Text
    project_role_id: ProjectRole


@router.get("/users/me")
def me(context: Member) -> Me:
    """The user and the organization of the key, and what the key may do in the organization.

    ``organization_can`` has ``write`` if it may make and change records that belong to no project, and projects; and
    ``manage`` if it may change members.
    """
    return me_of(context.caller)


def me_of(caller: Caller) -> Me:
    """A caller as the interface shows them."""
    organization: Named = {"id": caller.organization.id, "name": caller.organization.name}
    return {
        "id": caller.user.id,
        "email": caller.user.email,
        "name": caller.user.name,
        "organization_role": {"name": "Admin" if caller.is_admin else "Member"},
        "authorized_organization": organization,
        "organizations": [organization],
        "organization_can": can(Right.MANAGE if caller.is_admin else min(caller.highest, Right.WRITE)),
    }


def can(right: Right) -> list[Can]:
    """The words for what a right allows."""
    words: tuple[Can, ...] = ("read", "write", "manage")
    return [
        word
        for word, needed in zip(words, (Right.READ, Right.WRITE, Right.MANAGE), strict=True)
        if right >= needed
    ]


@router.get("/organizations/current/usage")
def usage(context: Member) -> Usage:
    """What was used in the present month. Nothing is metered here, so it is 0 and has no limit."""
    now = datetime.fromtimestamp(time.time(), UTC)
    start = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    end = start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
    return {
        "period_start": time_text(to_micros(start)),
        "period_end": time_text(to_micros(end)),
        "simulation": {"usage": 0, "limit": None},
        "compute": {"usage": 0.0, "usage_by_type": {}, "limit": None},
    }


@router.get("/roles/project")
def project_roles(context: Member) -> list[ProjectRoleShown]:
    """The roles that a user can have in a project."""
    return [{"id": role.id, "name": role.name, "description": role.description} for role in ROLES.values()]


# Members of the organization


def own_organization(context: RequestContext) -> str:
    """The organization of the path, which must be that of the caller."""
    if context.path["organization_id"] != context.organization:
        raise NotFound(f"No organization '{context.path['organization_id']}' here.")
    return context.organization


@router.get("/organizations/{organization_id}/users")
def list_users(context: Member) -> list[OrganizationMember]:
    """The members of the organization.

    ``every_project_role_id`` is the role that a member has in every project, also in later ones; null if there is none.
    """
    organization, people = own_organization(context), context.store.people
    seen = set(people.visible(context.caller))
    return [
        {
            "id": member["user_id"],
            "email": member["email"],
            "name": member["name"],
            "is_active": bool(member["is_active"]),
            "organization_role": {"name": member["role"]},
            "every_project_role_id": member["everywhere"],
            "user_project_roles": [
                {"project_id": project, "project_role_id": role}
                for project, role in people.roles_of(organization, member["user_id"]).items()
                if project in seen
            ],
        }
        for member in people.members(organization)
    ]


@router.get("/organizations/{organization_id}/audit-log")
def read_audit_log(context: OrganizationAdmin, paged: Annotated[Paging, paging()]) -> Page[AuditEntry]:
    """The audit log of the organization, the newest entries first."""
    organization, people = own_organization(context), context.store.people
    shown: list[AuditEntry] = [
        {
            "at": time_text(entry["at"]),
            "user_id": entry["user_id"],
            "email": entry["email"],
            "key_id": entry["key_id"],
            "action": entry["action"],
            "target": entry["target"],
            "status": entry["status"],
            "request": entry["request"],
            "detail": entry["detail"],
        }
        for entry in people.audit_log(organization, limit=paged.limit, offset=paged.offset)
    ]
    return page(shown, people.audit_entries(organization))


@router.post("/organizations/{organization_id}/users/by-email")
@takes("small")
def add_user(context: OrganizationAdmin, body: NewMember) -> Invited:
    """Make somebody a member; the server sends no mail."""
    organization = own_organization(context)
    with context.writing(organization, email=body.email):
        return _invited(context, organization, body.email, body.role_name)


def _invited(context: RequestContext, organization: str, email: str, role: str | None) -> Invited:
    user, _, already = _enrolled(context, organization, email, role)
    member = context.store.people.member(organization, user.id) or {}
    return {
        "user_id": user.id,
        # The server sends no mail: an administrator hands the key over.
        "invite_sent": False,
        "already_member": already,
        "role_name": member.get("role"),
    }


def _enrolled(context: RequestContext, organization: str, email: str, role: str | None) -> tuple[User, bool, bool]:
    # An invite to a project must not undo what an Admin of the organization decided.
    readmit = context.caller.is_admin
    try:
        return context.store.people.enrol(organization, email, role=role, invited=True, readmit=readmit)
    except Invalid as error:
        raise Invalid([Problem(("email",), problem.msg, problem.type) for problem in error.problems]) from None


@router.patch("/organizations/{organization_id}/users/{user_id}", status_code=204)
@takes("small")
def change_user(context: OrganizationAdmin, user_id: str, body: Activity) -> None:
    """Suspend a member, or end that."""
    organization = own_organization(context)
    with context.writing(user_id, is_active=body.is_active):
        context.store.people.change_member(organization, user_id, is_active=body.is_active)


@router.patch("/organizations/{organization_id}/users/{user_id}/role", status_code=204)
@takes("small")
def change_role(context: OrganizationAdmin, user_id: str, body: NewRole) -> None:
    """Give a member another role in the organization."""
    organization = own_organization(context)
    with context.writing(user_id, role_name=body.role_name):
        context.store.people.change_member(organization, user_id, role=body.role_name)


@router.post("/organizations/{organization_id}/users/{user_id}/resend-invite", status_code=204)
@takes("small")
def invite_again(context: OrganizationAdmin, user_id: str, body: Empty | None = None) -> None:
    """Has no effect: the membership stays, and the server sends no mail."""
    if context.store.people.member(own_organization(context), user_id) is None:
        raise NotFound(f"There is no user '{user_id}'.")


@router.delete("/organizations/{organization_id}/users/{user_id}", status_code=204)
def remove_user(context: OrganizationAdmin, user_id: str) -> None:
    """Remove a member from the organization; their keys are revoked, their records stay."""
    organization = own_organization(context)
    with context.writing(user_id):
        context.store.people.remove_member(organization, user_id)


# Members of a project


@router.post("/projects/{project_id}/members", status_code=204)
@takes("small")
def add_member(context: ProjectManager, project_id: str, body: NewProjectMember) -> None:
    """Give a user a role in the project."""
    _give_role(context, project_id, body.user_id, body.project_role_id)


@router.patch("/projects/{project_id}/members/{user_id}", status_code=204)
@takes("small")
def change_member(context: ProjectManager, project_id: str, user_id: str, body: NewProjectRole) -> None:
    """Change a user's role in the project."""
    _give_role(context, project_id, user_id, body.project_role_id)


def _give_role(context: RequestContext, project_id: str, user_id: str, role: str) -> None:
    with context.writing(user=user_id, role=role):
        context.store.people.give_role(context.organization, project_id, user_id, role)


@router.delete("/projects/{project_id}/members/{user_id}", status_code=204)
def remove_member(context: ProjectManager, project_id: str, user_id: str) -> None:
    """Remove a user from the project."""
    with context.writing(user=user_id):
        context.store.people.take_role(project_id, user_id)


@router.post("/projects/{project_id}/invites")
@takes("small")
def invite(context: ProjectManager, project_id: str, body: Invitation) -> Invited:
    """Make somebody a member of the organization with a role in the project; the server sends no mail."""
    with context.writing(email=body.email, role=body.project_role_id):
        answer = _invited(context, context.organization, body.email, None)
        context.store.people.give_role(context.organization, project_id, answer["user_id"], body.project_role_id)
    return {**answer, "role_name": ROLES[body.project_role_id].name}


def roles_shown(context: RequestContext, projects: list[Project]) -> dict[str, list[Json]]:
    """The roles given in these projects, as the interface shows them."""
    found = context.store.people.roles_in([project.id for project in projects])
    made = time_text(to_micros(context.caller.organization.created_at))
    return {
        project: [
            {
                "user_id": row["user_id"],
                "project_id": project,
                "project_role_id": row["role"],
                "created_at": time_text(to_micros(from_micros(row["created_at"]))),
                "updated_at": time_text(to_micros(from_micros(row["updated_at"]))),
                "project_roles": {
                    "id": row["role"],
                    "name": ROLES[row["role"]].name,
                    "created_at": made,
                    "updated_at": made,
                    "project_role_permissions": [],
                },
            }
            for row in rows
        ]
        for project, rows in found.items()
    }
