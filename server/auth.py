"""Who may do what: the credential of a request, the right that a route needs, and the scope that follows from both.

No other module of the server decides which records a request may reach.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from fastapi import Depends
from pydantic import JsonValue
from starlette.datastructures import FormData
from starlette.requests import Request

from workbench.errors import Forbidden, Invalid, NotFound, Problem, Unauthorized
from workbench.records import KINDS, Project, Record
from workbench.records.record import InProject
from workbench.store import Transaction
from workbench.store.records.deletion import projects_with
from workbench.store.records.people import ADMIN, PERMISSIONS, Caller, Right
from workbench.store.scope import Scope
from workbench.store.store import Store

from . import sign_in
from .context import RequestContext

R = TypeVar("R", bound=Record)
Named = Literal["path", "query", "body", "record", "anywhere"]
_NEEDED = {Right.READ: "a role", Right.WRITE: "the role of a contributor", Right.MANAGE: "the role of an admin"}
_LONGEST_KEY = 200

POSITIONS: dict[str, type[Record]] = {
    f"{name}_id": KINDS[table]
    for name, table in (
        ("project", "projects"),
        ("specification", "specifications"),
        ("instance", "instances"),
        ("batch", "batches"),
        ("measurement", "measurements"),
        ("material", "materials"),
        ("property_set", "material_properties"),
        ("analysis", "analyses"),
        ("study", "studies"),
        ("simulation", "simulations"),
        ("model", "models"),
        ("drive_cycle", "drive_cycles"),
        ("dashboard", "dashboards"),
        ("plot", "plots"),
        ("raw_data", "raw_data"),
        ("session", "sessions"),
    )
}
"""The kind of record whose id is at a position of a path, by the name of the position."""


@dataclass(frozen=True)
class Access:
    """What a route needs of its caller; a FastAPI dependency that gives the `RequestContext`.

    Parameters
    ----------
    right : in the project of the request; None if any key of the organization is enough.
    project : where the request names its project: in the path, the query or the body. ``record``: the project of the
        first record of the path. ``anywhere``: the request is about all projects that the caller can reach.
    credential : a key, a signed address, the token of a link for outsiders in the path, or none.
    admin : only for Admins of the organization.
    whole_store : only for Admins of every organization in the store.
    """

    right: Right | None = None
    project: Named = "anywhere"
    credential: Literal["key", "signed", "shared", "none"] = "key"
    admin: bool = False
    whole_store: bool = False

    async def __call__(self, request: Request) -> RequestContext:
        context: RequestContext = request.scope["workbench"]
        return context


Anyone = Annotated[RequestContext, Depends(Access(credential="none"))]
Signed = Annotated[RequestContext, Depends(Access(credential="signed"))]
Outsider = Annotated[RequestContext, Depends(Access(credential="shared"))]
Member = Annotated[RequestContext, Depends(Access())]
OrganizationAdmin = Annotated[RequestContext, Depends(Access(admin=True))]
StoreAdmin = Annotated[RequestContext, Depends(Access(admin=True, whole_store=True))]
AnyReader = Annotated[RequestContext, Depends(Access(Right.READ))]
AnyWriter = Annotated[RequestContext, Depends(Access(Right.WRITE))]
ProjectReader = Annotated[RequestContext, Depends(Access(Right.READ, "path"))]
ProjectWriter = Annotated[RequestContext, Depends(Access(Right.WRITE, "path"))]
ProjectManager = Annotated[RequestContext, Depends(Access(Right.MANAGE, "path"))]
QueryReader = Annotated[RequestContext, Depends(Access(Right.READ, "query"))]
BodyWriter = Annotated[RequestContext, Depends(Access(Right.WRITE, "body"))]
RecordReader = Annotated[RequestContext, Depends(Access(Right.READ, "record"))]
RecordWriter = Annotated[RequestContext, Depends(Access(Right.WRITE, "record"))]
RecordManager = Annotated[RequestContext, Depends(Access(Right.MANAGE, "record"))]


def caller(store: Store, request: Request, public_url: str | None) -> Caller:
    """The caller whose key is in the headers of a request, or who is signed in with the two secrets of the web page. A
    request with both counts as the key.

    Raises
    ------
    Unauthorized
        Without a credential, or with one that is unknown, revoked or expired.
    Forbidden
        If ``X-Organization-Id`` names another organization than that of the key, or a page of another site sent it.
    """
    headers = request.headers
    keyed = "x-api-key" in headers or "authorization" in headers
    secrets = None if keyed else sign_in.secrets_of(request, public_url)
    if secrets is None:
        found = store.people.caller(_credential(headers))
    else:
        found = store.sign_ins.signed_in(secrets.secret, secrets.token).caller
    wanted = headers.get("x-organization-id")
    if wanted is not None and wanted != found.organization.id:
        raise Forbidden(
            "This key belongs to another organization than X-Organization-Id says. Leave that header out."
        )
    return found


def _credential(headers: Mapping[str, str]) -> str:
    key = headers.get("x-api-key")
    if key is None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        key = token.strip() if scheme.lower() == "bearer" else ""
    if not key:
        raise Unauthorized("Send a key as 'X-API-Key: <key>' or as 'Authorization: Bearer <key>'.")
    if len(key) > _LONGEST_KEY or not re.fullmatch(r"[\x21-\x7e]+", key):
        raise Unauthorized("This key is unknown, revoked or expired. Ask an administrator for a new one.")
    return key


def admit(context: RequestContext, access: Access) -> None:
    """Check the key of a request and its rate.

    Raises
    ------
    Unauthorized, Forbidden
        As ``caller``.
    TooMany
        If the key sends too many requests.
    """
    if access.credential == "key" and context.signed_in is None:
        try:
            found = caller(context.store, context.request, context.state.settings.public_url)
        except Unauthorized:
            context.state.parties.forget(context.request)
            raise
        context.signed_in = found
        context.state.parties.keep(context.request, context.party)
        context.count(context.state.rates, found.key_id or found.user.id)
    elif access.credential == "shared" and context.signed_in is None:
        context.open_share(context.path["token"])


def arrive(context: RequestContext, access: Access, body: JsonValue | FormData = None) -> None:
    """Find the scope of a request and the records of its path, and refuse what the caller may not do there.

    Raises
    ------
    NotFound
        If a record does not exist, or the caller cannot reach it: one answer for both.
    Forbidden
        If the caller may read it, but not do this.
    """
    if access.credential != "key" or context.arrived:
        return
    if access.admin and not context.caller.is_admin:
        _refuse_narrow(context.caller, Right.MANAGE)
        raise Forbidden("Only an Admin of the organization may do this.")
    if access.whole_store and not _is_admin_everywhere(context):
        raise Forbidden("Only an Admin of every organization in the store may do this.")
    with context.store.snapshot():
        context.scope = Scope(context.organization, None, context.store.people.visible(context.caller))
        if access.project == "path":
            _enter(context, context.path["project_id"])
        elif access.project in ("query", "body"):
            named = _named(context, access, body)
            if named is not None:
                _enter(context, named)
        _find(context, access)
        _permit(context, access)
    context.arrived = True


def _is_admin_everywhere(context: RequestContext) -> bool:
    people, user = context.store.people, context.actor
    members = (people.member(one.id, user) for one in context.store.rows.organizations())
    return all(one is not None and one["is_active"] and one["role"] == ADMIN for one in members)


def _named(context: RequestContext, access: Access, body: JsonValue | FormData) -> str | None:
    """The project that the query or the body names."""
    if access.project == "query":
        return context.request.query_params.get("project_id")
    value = body.get("project_id") if isinstance(body, Mapping) else None
    if value is None or isinstance(value, str):
        return value
    raise Invalid(Problem(("project_id",), "'project_id' must be a text: the id of a project.", "string_type"))


def enter(context: RequestContext, project_id: str) -> None:
    """Bind a request to a project that its endpoint found out; the caller must be allowed to write there."""
    _enter(context, project_id)
    _permit(context, Access(Right.WRITE))


def under(context: RequestContext, kind: type[R], id: str, right: Right = Right.WRITE) -> R:
    """The record of an id in the query or the body. Binds the request to its project, and checks ``right`` there."""
    record = context.store.rows.get(kind, id, context.scope)
    project_id = getattr(record, "project_id", None)
    if project_id is not None:
        _enter(context, project_id)
    _permit(context, Access(right))
    return record


def _enter(context: RequestContext, project_id: str) -> None:
    if context.caller.right_in(project_id) < Right.READ:
        raise NotFound(f"There is no project '{project_id}'.")
    scope = Scope(context.organization, None)
    known = context.store.remembered(
        ("project", project_id, scope), lambda: context.store.rows.get(Project, project_id, scope)
    )
    context.project = known.model_copy()
    context.scope = Scope(context.organization, project_id)


def _find(context: RequestContext, access: Access) -> None:
    """Find the records of the path. The first decides the project; each must belong to those before it."""
    for name, id in context.path.items():
        kind = POSITIONS.get(name)
        if kind is None or (kind is Project and context.project is not None):
            continue
        record: Record = context.store.rows.get(kind, id, context.scope)
        project_id: str | None = getattr(record, "project_id", None)
        refuse_of_others(context, record)
        if access.project == "path" and project_id not in (None, context.scope.project_id):
            raise NotFound(f"There is no {kind.label} '{record.id}'.")
        _refuse_other_parent(context, record, kind)
        context.records[name] = record
        if access.project == "record" and context.project is None:
            project_id = record.id if kind is Project else project_id
            if project_id is not None:
                _enter(context, project_id)


def refuse_of_others(context: RequestContext, record: Record) -> None:
    """Refuse a record that only the user who made it sees to all others, as if there were none."""
    if record.private and getattr(record, "created_by", None) != context.actor:
        raise NotFound(f"There is no {record.label} '{record.id}'.")


def own(context: RequestContext, kind: type[Record]) -> dict[str, str]:
    """The condition that keeps records of others out of a list, of a kind that only the user who made one sees."""
    return {"created_by": context.actor} if kind.private else {}


def _refuse_other_parent(context: RequestContext, record: Record, kind: type[Record]) -> None:
    parent = kind.parent()
    if parent is None or parent.link is None:
        return
    above = next((one for one in context.records.values() if one.table == parent.link.table), None)
    if above is not None and getattr(record, parent.name) != above.id:
        raise NotFound(f"There is no {kind.label} '{record.id}'.")


def _permit(context: RequestContext, access: Access) -> None:
    """Refuse a caller who does not have the right that the route needs. Nobody may change a record of the system."""
    right = access.right
    if right is None:
        return
    shared = next(
        (one for one in context.records.values() if one.shared and getattr(one, "organization_id", "") is None),
        None,
    )
    if shared is not None and right > Right.READ:
        raise Forbidden(
            f"The {shared.label} '{shared.name}' belongs to the system and cannot be changed. Make your own copy of it."
        )
    held = context.caller.highest if context.project is None else context.caller.right_in(context.project.id)
    if held < right and not (right is Right.READ and context.project is None):
        raise _too_low(context.caller, right)


def refuse_loss(context: RequestContext, record: Record, connection: Transaction) -> None:
    """Refuse to delete a record of all projects with which one would lose records that the caller may not change there,
    as a specification with its cells and their tests.

    Raises
    ------
    Forbidden
    """
    if not isinstance(record, InProject) or record.project_id is not None:
        return  # what goes with it is in its project
    losing = projects_with(connection, type(record), [record.id])
    if any(context.caller.right_in(id) < Right.WRITE for id in losing):
        raise Forbidden(
            f"With the {record.label} '{record.name}' records of a project would be deleted in which you are not a "
            "contributor. Ask an Admin of the organization."
        )


def _refuse_narrow(caller: Caller, right: Right) -> None:
    """Refuse a caller whose key does not let them do this, whatever their role."""
    name = caller.permission
    if name is not None and PERMISSIONS.get(name, Right.NOTHING) < right:
        needed = next(one for one, gives in PERMISSIONS.items() if gives >= right)
        raise Forbidden(
            f"This key has the permission '{name}', and this needs '{needed}'. Use another key, or ask an "
            f"administrator for one (workbench keys create --permission {needed})."
        )


def _too_low(caller: Caller, right: Right) -> Forbidden:
    _refuse_narrow(caller, right)
    return Forbidden(f"This needs {_NEEDED[right]} in the project. Ask an admin of the project for it.")


def to_write(context: RequestContext, project_id: str | None) -> Scope:
    """The scope in which an endpoint may change records of a project, or of none.

    Raises
    ------
    Forbidden
        If the caller is not a contributor there.
    """
    held = context.caller.highest if project_id is None else context.caller.right_in(project_id)
    if held < Right.WRITE:
        raise _too_low(context.caller, Right.WRITE)
    return context.scope if project_id is None else Scope(context.organization, project_id)
