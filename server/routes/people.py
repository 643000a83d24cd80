"""Users, organizations, roles and members."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from workbench.errors import Invalid, NotFound, Problem
from workbench.records import KINDS, Project, Record, User
from workbench.store.people import ROLES
from workbench.table import from_micros, time_text, to_micros

from .. import schemas as s
from ..answers import Nothing
from ..call import Call
from ..operation import Body, Need, Operation
from . import fields

_NAMED = s.record({"id": s.TEXT, "name": s.TEXT})


def me(call: Call) -> dict[str, Any]:
    caller = call.caller
    organization = {"id": caller.organization.id, "name": caller.organization.name}
    return {
        "id": caller.user.id,
        "email": caller.user.email,
        "name": caller.user.name,
        "organization_role": {"name": "Admin" if caller.is_admin else "Member"},
        "authorized_organization": organization,
        "organizations": [organization],
    }


def usage(call: Call) -> dict[str, Any]:
    """Nothing is metered here, so all usage is 0 and nothing is limited."""
    now = datetime.fromtimestamp(time.time(), UTC)
    start = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    end = start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
    return {
        "period_start": time_text(to_micros(start)),
        "period_end": time_text(to_micros(end)),
        "simulation": {"usage": 0, "limit": None},
        "compute": {"usage": 0.0, "usage_by_type": {}, "limit": None},
    }


def project_roles(call: Call) -> list[dict[str, Any]]:
    return [{"id": role.id, "name": role.name, "description": role.description} for role in ROLES.values()]


def _own(call: Call) -> str:
    """The organization of the path, which must be the caller's."""
    if call.path["organization_id"] != call.caller.organization.id:
        raise NotFound(f"No organization '{call.path['organization_id']}' here.")
    return call.caller.organization.id


def users(call: Call) -> list[dict[str, Any]]:
    organization, people = _own(call), call.store.people
    seen = set(people.visible(call.caller))
    return [
        {
            "id": member["user_id"],
            "email": member["email"],
            "name": member["name"],
            "is_active": bool(member["is_active"]),
            "organization_role": {"name": member["role"]},
            "user_project_roles": [
                {"project_id": project, "project_role_id": role}
                for project, role in people.roles_of(organization, member["user_id"]).items()
                if project in seen
            ],
        }
        for member in people.members(organization)
    ]


def add_user(call: Call) -> dict[str, Any]:
    organization = _own(call)
    given = fields.read(call.body, {"email": str, "role_name": str}, required=("email",))
    with call.writing(organization, email=given["email"]):
        return _invited(call, organization, given["email"], given.get("role_name"))


def _invited(call: Call, organization: str, email: str, role: str | None) -> dict[str, Any]:
    user, _, already = _checked_email(call, organization, email, role)
    member = call.store.people.member(organization, user.id) or {}
    return {
        "user_id": user.id,
        # No mail goes out from here: an administrator hands the key over.
        "invite_sent": False,
        "already_member": already,
        "role_name": member.get("role"),
    }


def _checked_email(call: Call, organization: str, email: str, role: str | None) -> tuple[User, bool, bool]:
    try:
        return call.store.people.enrol(organization, email, role=role, invited=True)
    except Invalid as error:
        raise Invalid([Problem(("email",), problem.msg, problem.type) for problem in error.problems]) from None


def change_user(call: Call) -> Nothing:
    organization = _own(call)
    given = fields.read(call.body, {"is_active": bool}, required=("is_active",))
    with call.writing(call.path["user_id"], **given):
        call.store.people.change_member(organization, call.path["user_id"], is_active=given["is_active"])
    return Nothing()


def change_role(call: Call) -> Nothing:
    organization = _own(call)
    given = fields.read(call.body, {"role_name": str}, required=("role_name",))
    with call.writing(call.path["user_id"], **given):
        call.store.people.change_member(organization, call.path["user_id"], role=given["role_name"])
    return Nothing()


def invite_again(call: Call) -> Nothing:
    """Harmless: the membership stands, and no mail goes out from here."""
    fields.read(call.body, {})
    if call.store.people.member(_own(call), call.path["user_id"]) is None:
        raise NotFound(f"No user '{call.path['user_id']}' here.")
    return Nothing()


def remove_user(call: Call) -> Nothing:
    organization = _own(call)
    with call.writing(call.path["user_id"]):
        call.store.people.remove_member(organization, call.path["user_id"])
    return Nothing()


# Members of a project


def add_member(call: Call) -> Nothing:
    given = fields.read(
        call.body, {"user_id": str, "project_role_id": str}, required=("user_id", "project_role_id")
    )
    return _give(call, given["user_id"], given["project_role_id"])


def change_member(call: Call) -> Nothing:
    given = fields.read(call.body, {"project_role_id": str}, required=("project_role_id",))
    return _give(call, call.path["user_id"], given["project_role_id"])


def _give(call: Call, user: str, role: str) -> Nothing:
    with call.writing(user=user, role=role):
        call.store.people.give_role(call.caller.organization.id, call.path["project_id"], user, role)
    return Nothing()


def remove_member(call: Call) -> Nothing:
    with call.writing(user=call.path["user_id"]):
        call.store.people.take_role(call.path["project_id"], call.path["user_id"])
    return Nothing()


def invite(call: Call) -> dict[str, Any]:
    given = fields.read(call.body, {"email": str, "project_role_id": str}, required=("email", "project_role_id"))
    organization = call.caller.organization.id
    with call.writing(email=given["email"], role=given["project_role_id"]):
        answer = _invited(call, organization, given["email"], None)
        call.store.people.give_role(
            organization, call.path["project_id"], answer["user_id"], given["project_role_id"]
        )
    return {**answer, "role_name": ROLES[given["project_role_id"]].name}


def roles_shown(call: Call, projects: list[Project]) -> dict[str, list[dict[str, Any]]]:
    """The roles given in these projects, as the interface shows them."""
    found = call.store.people.roles_in([project.id for project in projects])
    made = time_text(to_micros(call.caller.organization.created_at))
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


_INVITED = s.record(
    {"user_id": s.TEXT, "invite_sent": s.FLAG, "already_member": s.FLAG}, {"role_name": s.TEXT_OR_NULL}
)
_ROLE: s.Schema = {"enum": list(ROLES)}
_ROLE_IN = s.record({"project_id": s.TEXT, "project_role_id": _ROLE})
_USER: dict[str, type[Record]] = {"user_id": KINDS["users"]}

OPERATIONS = (
    Operation(
        "GET",
        "/users/me",
        me,
        Need.MEMBER,
        "Who the credential belongs to",
        answer=s.record(
            {
                "id": s.TEXT,
                "email": s.TEXT,
                "authorized_organization": _NAMED,
                "organizations": s.array(_NAMED),
            }
        ),
    ),
    Operation(
        "GET",
        "/organizations/current/usage",
        usage,
        Need.MEMBER,
        "What was used in the present month",
        answer=s.record({"period_start": s.TIME, "period_end": s.TIME, "simulation": s.FREE, "compute": s.FREE}),
    ),
    Operation(
        "GET",
        "/organizations/{organization_id}/users",
        users,
        Need.MEMBER,
        "The members of the organization",
        answer=s.array(
            s.record(
                {
                    "id": s.TEXT,
                    "email": s.TEXT_OR_NULL,
                    "organization_role": s.record({"name": {"enum": ["Admin", "Member"]}}),
                    "user_project_roles": s.array(_ROLE_IN),
                }
            )
        ),
    ),
    Operation(
        "POST",
        "/organizations/{organization_id}/users/by-email",
        add_user,
        Need.ADMIN,
        "Make somebody a member; no mail goes out",
        body=Body(s.body({"email": s.TEXT}, {"role_name": {"enum": ["Admin", "Member"]}}), "small"),
        answer=_INVITED,
    ),
    Operation(
        "PATCH",
        "/organizations/{organization_id}/users/{user_id}",
        change_user,
        Need.ADMIN,
        "Suspend or readmit a member",
        body=Body(s.body({"is_active": s.FLAG}), "small"),
        status=204,
    ),
    Operation(
        "PATCH",
        "/organizations/{organization_id}/users/{user_id}/role",
        change_role,
        Need.ADMIN,
        "Give a member another role in the organization",
        body=Body(s.body({"role_name": {"enum": ["Admin", "Member"]}}), "small"),
        status=204,
    ),
    Operation(
        "POST",
        "/organizations/{organization_id}/users/{user_id}/resend-invite",
        invite_again,
        Need.ADMIN,
        "Harmless; no mail goes out",
        body=Body(s.body({}), "small", optional=True),
        status=204,
    ),
    Operation(
        "DELETE",
        "/organizations/{organization_id}/users/{user_id}",
        remove_user,
        Need.ADMIN,
        "Take a member out of the organization; their keys are revoked, their records stay",
        status=204,
    ),
    Operation(
        "GET",
        "/roles/project",
        project_roles,
        Need.MEMBER,
        "The roles there are in a project",
        answer=s.array(s.record({"id": s.TEXT, "name": s.TEXT}, {"description": s.TEXT_OR_NULL})),
    ),
    Operation(
        "POST",
        "/projects/{project_id}/members",
        add_member,
        Need.MANAGE,
        "Give a user a role in the project",
        project="path",
        body=Body(s.body({"user_id": s.TEXT, "project_role_id": _ROLE}), "small", ids=_USER),
        status=204,
    ),
    Operation(
        "PATCH",
        "/projects/{project_id}/members/{user_id}",
        change_member,
        Need.MANAGE,
        "Change a user's role in the project",
        project="path",
        body=Body(s.body({"project_role_id": _ROLE}), "small"),
        status=204,
    ),
    Operation(
        "DELETE",
        "/projects/{project_id}/members/{user_id}",
        remove_member,
        Need.MANAGE,
        "Take a user's role in the project",
        project="path",
        status=204,
    ),
    Operation(
        "POST",
        "/projects/{project_id}/invites",
        invite,
        Need.MANAGE,
        "Make somebody a member of the organization with a role in the project; no mail goes out",
        project="path",
        body=Body(s.body({"email": s.TEXT, "project_role_id": _ROLE}), "small"),
        answer=_INVITED,
    ),
)
