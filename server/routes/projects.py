"""Projects, and the cell specifications of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, ClassVar

from fastapi import APIRouter

from workbench.errors import Conflict
from workbench.records import Project
from workbench.store.records.people import PERMISSIONS, Caller, Right
from workbench.store.scope import Scope

from .. import auth, records
from ..auth import AnyReader, Member, RecordManager, RecordReader
from ..context import RequestContext
from ..kept_answers import from_store
from ..parameters import Asked, listing
from ..routing import Route
from ..schemas import Changed, Given, Json, Page, Shown, page
from . import people

router = APIRouter(route_class=Route, tags=["Projects"])


class ShownProject(Shown[Project]):
    """A project with the roles that people have in it, and what the caller can do there."""

    more: ClassVar = {"user_project_roles": list[Json], "can": list[people.Can]}


def shown(context: RequestContext, projects: Sequence[Project], *, own: bool = False) -> list[ShownProject]:
    """Projects as the wire shows them. ``own`` ones were just made by the caller, who is their admin."""
    roles = people.roles_shown(context, list(projects))
    return [
        ShownProject({**one.wire(), "user_project_roles": roles[one.id], "can": _can(context.caller, one, own)})
        for one in projects
    ]


def _can(caller: Caller, project: Project, own: bool) -> list[people.Can]:
    if not own:
        return people.can(caller.right_in(project.id))
    return people.can(
        Right.MANAGE if caller.permission is None else PERMISSIONS.get(caller.permission, Right.READ)
    )


@router.get("/projects")
@from_store()
def list_projects(context: AnyReader, asked: Annotated[Asked, listing(Project, most=100)]) -> Page[ShownProject]:
    """Projects of the organization that the caller has a role in."""
    with context.store.snapshot():
        found = asked.page(context.store.rows, Project, context.scope)
        return page(shown(context, found.items), found.total)


@router.post("/projects")
def create_project(context: Member, body: Given[Project]) -> ShownProject:
    """Make a project; needs a contributor of any project.

    A caller who is not an Admin becomes an admin of the new project.
    """
    context.scope = Scope(context.organization, None)
    auth.to_write(context, None)
    with _hiding_others(context), context.store.transaction():
        made = records.create(context, Project, body)
        if context.caller.right_in(made.id) < Right.MANAGE:
            context.store.people.give_role(context.organization, made.id, context.actor, "project-admin")
    return shown(context, [made], own=True)[0]


@contextmanager
def _hiding_others(context: RequestContext) -> Iterator[None]:
    """Names are unique in the organization: of a project that the caller has no role in, the id stays hidden."""
    try:
        yield
    except Conflict as taken:
        visible = context.store.people.visible(context.caller)
        raise Conflict(str(taken), taken.existing_id if taken.existing_id in visible else None) from None


@router.get("/projects/{project_id}")
@from_store()
def read_project(context: RecordReader) -> ShownProject:
    """One project."""
    return shown(context, [context.record(Project)])[0]


@router.patch("/projects/{project_id}")
def change_project(context: RecordManager, body: Changed[Project]) -> ShownProject:
    """Change a project."""
    context.scope = Scope(context.organization, None)
    with _hiding_others(context):
        return shown(context, [records.change(context, context.record(Project), body)])[0]


@router.delete("/projects/{project_id}", status_code=204)
def delete_project(context: RecordManager) -> None:
    """Delete a project and all it holds."""
    context.scope = Scope(context.organization, None)
    records.delete(context, context.record(Project))
