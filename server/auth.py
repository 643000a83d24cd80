"""Who may do what: the credential of a request, the right that a route takes, and the scope that comes of both.

Nothing else in the server decides whose records a request may touch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from fastapi import Depends
from starlette.requests import Request

from workbench.errors import Forbidden, Invalid, NotFound, Problem, Unauthorized
from workbench.records import KINDS, Project, Record
from workbench.store.records.people import ADMIN, Caller, Right
from workbench.store.scope import Scope
from workbench.store.store import Store

from .context import RequestContext

R = TypeVar("R", bound=Record)
Named = Literal["path", "query", "body", "record", "anywhere"]
_WORDS = {Right.READ: "a role", Right.WRITE: "a contributor", Right.MANAGE: "an admin"}
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
"""The kind of record that an id in a path names, by the name of its position."""


@dataclass(frozen=True)
class Access:
    """What a route takes of its caller; a FastAPI dependency that gives the `RequestContext`.

    Parameters
    ----------
    right : in the project that the request is about; None where any key of the organization will do.
    project : where the request names that project: in its path, query or body, or (``record``) it is that of the
        first record of its path. ``anywhere`` is for requests about all projects in reach at once.
    credential : a key, a signed address, or nothing.
    admin : takes an Admin of the organization.
    whole_store : takes an Admin of every organization in the store.
    """

    right: Right | None = None
    project: Named = "anywhere"
    credential: Literal["key", "signed", "none"] = "key"
    admin: bool = False
    whole_store: bool = False

    async def __call__(self, request: Request) -> RequestContext:
        context: RequestContext = request.scope["workbench"]
        return context


Anyone = Annotated[RequestContext, Depends(Access(credential="none"))]
Signed = Annotated[RequestContext, Depends(Access(credential="signed"))]
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


def caller(store: Store, headers: Mapping[str, str]) -> Caller:
    """Who sent these headers.

    Raises
    ------
    Unauthorized
        Without a credential, or with one that is not in force.
    Forbidden
        If ``X-Organization-Id`` names another organization than the credential's.
    """
    found = store.people.caller(_credential(headers))
    wanted = headers.get("x-organization-id")
    if wanted is not None and wanted != found.organization.id:
        raise Forbidden("The credential belongs to another organization than X-Organization-Id names.")
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
    """Check the credential of a request and the rate of its key.

    Raises
    ------
    Unauthorized, Forbidden
        As ``caller``.
    TooMany
        If the key sends too many requests.
    """
    if access.credential == "key" and context.signed_in is None:
        found = caller(context.store, context.request.headers)
        context.signed_in = found
        context.state.rates.take(found.key_id or found.user.id)


def arrive(context: RequestContext, access: Access, body: object = None) -> None:
    """Settle the scope of a request: find what its path names, and refuse what its caller may not do there.

    Raises
    ------
    NotFound
        If something does not exist or is out of the caller's reach: one answer for both.
    Forbidden
        If it may be read, but not what is asked.
    """
    if access.credential != "key" or context.arrived:
        return
    if access.admin and not context.caller.is_admin:
        raise Forbidden("This takes an Admin of the organization.")
    if access.whole_store and not _is_admin_everywhere(context):
        raise Forbidden("This takes an Admin of every organization in the store.")
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


def _named(context: RequestContext, access: Access, body: object) -> str | None:
    """The project that the query or the body names."""
    if access.project == "query":
        return context.request.query_params.get("project_id")
    value = body.get("project_id") if isinstance(body, Mapping) else None
    if value is None or isinstance(value, str):
        return value
    raise Invalid(Problem(("project_id",), "'project_id' is the id of a project.", "string_type"))


def enter(context: RequestContext, project_id: str, right: Right = Right.WRITE) -> None:
    """Bind a request to one project, for endpoints that learn late which; ``right`` is checked there."""
    _enter(context, project_id)
    _permit(context, Access(right))


def under(context: RequestContext, kind: type[R], id: str, right: Right = Right.WRITE) -> R:
    """The record of an id in the query or the body. The request is bound to its project; ``right`` is checked there."""
    record = context.store.rows.get(kind, id, context.scope)
    project_id = getattr(record, "project_id", None)
    if project_id is not None:
        _enter(context, project_id)
    _permit(context, Access(right))
    return record


def _enter(context: RequestContext, project_id: str) -> None:
    if context.caller.right_in(project_id) < Right.READ:
        raise NotFound(f"No project '{project_id}' here.")
    context.project = context.store.rows.get(Project, project_id, Scope(context.organization, None))
    context.scope = Scope(context.organization, project_id)


def _find(context: RequestContext, access: Access) -> None:
    """The records that the path names. The first settles the project; each must belong to those before it."""
    for name, id in context.path.items():
        kind = POSITIONS.get(name)
        if kind is None or (kind is Project and context.project is not None):
            continue
        record: Record = context.store.rows.get(kind, id, context.scope)
        project_id: str | None = getattr(record, "project_id", None)
        if record.private and getattr(record, "created_by", None) != context.actor:
            raise NotFound(f"No {kind.label} '{record.id}' here.")
        if access.project == "path" and project_id not in (None, context.scope.project_id):
            raise NotFound(f"No {kind.label} '{record.id}' here.")
        _refuse_other_parent(context, record, kind)
        context.records[name] = record
        if access.project == "record" and context.project is None:
            project_id = record.id if kind is Project else project_id
            if project_id is not None:
                _enter(context, project_id)


def _refuse_other_parent(context: RequestContext, record: Record, kind: type[Record]) -> None:
    parent = kind.parent()
    if parent is None or parent.link is None:
        return
    above = next((one for one in context.records.values() if one.table == parent.link.table), None)
    if above is not None and getattr(record, parent.name) != above.id:
        raise NotFound(f"No {kind.label} '{record.id}' here.")


def _permit(context: RequestContext, access: Access) -> None:
    """Refuse a caller whose right does not reach what the route takes. Nobody may change a record of the system."""
    right = access.right
    if right is None:
        return
    shared = next(
        (one for one in context.records.values() if one.shared and getattr(one, "organization_id", "") is None),
        None,
    )
    if shared is not None and right > Right.READ:
        raise Forbidden(f"The {shared.label} '{shared.name}' belongs to the system. Make your own copy of it.")
    held = context.caller.highest if context.project is None else context.caller.right_in(context.project.id)
    if held < right and not (right is Right.READ and context.project is None):
        raise Forbidden(f"This takes {_WORDS[right]} of the project; your role there is a lower one.")


def to_write(context: RequestContext, project_id: str | None) -> Scope:
    """The scope in which records of a project, or of none, may be changed, for endpoints that learn late which.

    Raises
    ------
    Forbidden
        If the caller is not a contributor there.
    """
    held = context.caller.highest if project_id is None else context.caller.right_in(project_id)
    if held < Right.WRITE:
        raise Forbidden("This takes a contributor of the project; your role there is a lower one.")
    return context.scope if project_id is None else Scope(context.organization, project_id)
