"""Projects, and the cell specifications and catalog of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import Conflict
from workbench.records import Project
from workbench.store.people import Right
from workbench.store.scope import Scope

from .. import access, query
from .. import schemas as s
from ..answers import Nothing
from ..call import Call
from ..operation import Body, Need, Operation
from . import crud, people


def shown(call: Call, projects: Sequence[Project]) -> list[dict[str, Any]]:
    roles = people.roles_shown(call, list(projects))
    return [{**project.wire(), "user_project_roles": roles[project.id]} for project in projects]


def create(call: Call) -> dict[str, Any]:
    """A new project; who makes it without being an Admin becomes its admin."""
    scope = call.scope
    call.scope = Scope(scope.organization_id, None)
    access.to_write(call, None)
    try:
        with call.store.transaction():
            made = crud.create(call, Project, call.body)
            if call.caller.right_in(made.id) < Right.MANAGE:
                call.store.people.give_role(scope.organization_id, made.id, call.actor, "project-admin")
    except Conflict as taken:
        seen = taken.existing_id in (scope.projects or ())
        raise Conflict(str(taken), taken.existing_id if seen else None) from None
    return shown(call, [made])[0]


def catalog(call: Call) -> dict[str, Any]:
    return call.work.catalog().as_dict()


def change(call: Call) -> dict[str, Any]:
    call.scope = Scope(call.scope.organization_id, None)
    return shown(call, [crud.change(call, call.record(Project), call.body)])[0]


def delete(call: Call) -> Nothing:
    call.scope = Scope(call.scope.organization_id, None)
    crud.delete(call, call.record(Project))
    return Nothing()


_ONE = s.kind(Project)
_CATALOG = s.record({"sources": s.array(s.FREE), "steps": s.array(s.FREE), "cycles": s.array(s.FREE)})

OPERATIONS = (
    Operation(
        "GET",
        "/projects",
        crud.lists(Project, shown),
        Need.READ,
        "Projects of the organization that the caller has a role in",
        query=query.listing(Project, most=100),
        answer=s.listed(_ONE),
    ),
    Operation(
        "POST",
        "/projects",
        create,
        Need.MEMBER,
        "Make a project; takes a contributor of some project",
        body=Body(s.given(Project)),
        answer=_ONE,
    ),
    Operation(
        "GET",
        "/projects/{project_id}",
        crud.reads(Project, shown),
        Need.READ,
        "One project",
        project="record",
        answer=_ONE,
    ),
    Operation(
        "PATCH",
        "/projects/{project_id}",
        change,
        Need.MANAGE,
        "Change a project",
        project="record",
        body=Body(s.given(Project, changing=True)),
        answer=_ONE,
    ),
    Operation(
        "DELETE",
        "/projects/{project_id}",
        delete,
        Need.MANAGE,
        "Delete a project and all it holds",
        project="record",
        status=204,
    ),
    Operation(
        "GET",
        "/projects/{project_id}/catalog",
        catalog,
        Need.READ,
        "Sources, columns, units and counts as the caller may see them",
        project="path",
        answer=_CATALOG,
        heavy=True,
    ),
)
