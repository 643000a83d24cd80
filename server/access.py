"""Whose records a request may touch. Nothing else in the server decides that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from workbench.errors import Forbidden, Invalid, NotFound, Problem, Unauthorized
from workbench.records import Project, Record
from workbench.store.people import Caller, Right
from workbench.store.scope import Scope
from workbench.store.store import Store

from .call import Call
from .forms import Form
from .operation import PLACES, Need

R = TypeVar("R", bound=Record)
_RIGHTS = {Need.READ: Right.READ, Need.WRITE: Right.WRITE, Need.MANAGE: Right.MANAGE}
_WORDS = {Right.READ: "a role", Right.WRITE: "a contributor", Right.MANAGE: "an admin"}
_LONGEST_KEY = 200


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
        raise Forbidden(
            "The credential belongs to another organization than the one that X-Organization-Id names."
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


def arrive(call: Call) -> None:
    """Settle the scope of a call: find what its path names, and refuse what its caller may not do there.

    Raises
    ------
    NotFound
        If something does not exist or lies out of the caller's reach: one answer for both.
    Forbidden
        If it may be read, but not what is asked.
    """
    need, operation = call.operation.need, call.operation
    organization = call.caller.organization.id
    if need is Need.ADMIN and not call.caller.is_admin:
        raise Forbidden("This takes an Admin of the organization.")
    call.scope = Scope(organization, None, call.store.people.visible(call.caller))
    if operation.project == "path":
        _enter(call, call.path["project_id"])
    elif operation.project in ("query", "body"):
        given = _given(call)
        if given is not None:
            _enter(call, given)
    _find(call, operation.path_names)
    _permit(call)


def _given(call: Call) -> str | None:
    """The project that the query or the body names."""
    if call.operation.project == "query":
        value = call.query.get("project_id")
    else:
        value = call.body.get("project_id") if isinstance(call.body, dict | Form) else None
    if value is None or isinstance(value, str):
        return value
    raise Invalid(Problem(("project_id",), "'project_id' is the id of a project.", "string_type"))


def under(call: Call, kind: type[R], id: str) -> R:
    """The record of an id that stands in the query or the body; the call is bound to its project, with the rights
    that its operation takes."""
    record = call.store.rows.get(kind, id, call.scope)
    project_id = getattr(record, "project_id", None)
    if project_id is not None:
        _enter(call, project_id)
    _permit(call)
    return record


def enter(call: Call, project_id: str) -> None:
    """Bind a call to one project, for handlers that learn of it late; rights are checked as for any other."""
    _enter(call, project_id)
    _permit(call)


def _enter(call: Call, project_id: str) -> None:
    if call.caller.right_in(project_id) < Right.READ:
        raise NotFound(f"No project '{project_id}' here.")
    call.project = call.store.rows.get(Project, project_id, Scope(call.caller.organization.id, None))
    call.scope = Scope(call.caller.organization.id, project_id)


def _find(call: Call, names: list[str]) -> None:
    """The records that the path names; the first settles the project, and each must stand under those before it."""
    for name in names:
        kind = PLACES.get(name)
        if kind is None or (kind is Project and call.project is not None):
            continue
        record: Any = call.store.rows.get(kind, call.path[name], call.scope)
        if record.private and record.created_by != call.actor:
            raise NotFound(f"No {kind.label} '{record.id}' here.")
        if call.operation.project == "path" and getattr(record, "project_id", None) not in (
            None,
            call.scope.project_id,
        ):
            raise NotFound(f"No {kind.label} '{record.id}' here.")
        _stands_under(call, record, kind)
        call.records[name] = record
        if call.operation.project == "record" and call.project is None:
            project_id = record.id if kind is Project else getattr(record, "project_id", None)
            if project_id is not None:
                _enter(call, project_id)


def _stands_under(call: Call, record: Record, kind: type[Record]) -> None:
    parent = kind.parent()
    if parent is None or parent.link is None:
        return
    above = next((r for r in call.records.values() if r.table == parent.link.table), None)
    if above is not None and getattr(record, parent.name) != above.id:
        raise NotFound(f"No {kind.label} '{record.id}' here.")


def _permit(call: Call) -> None:
    """Refuse a caller whose right does not reach what the operation takes; a system record is nobody's to change."""
    right = _RIGHTS.get(call.operation.need)
    if right is None:
        return
    shared = next(
        (r for r in call.records.values() if r.shared and getattr(r, "organization_id", "") is None), None
    )
    if shared is not None and right > Right.READ:
        raise Forbidden(f"The {shared.label} '{shared.name}' is the system's; make one of your own from it.")
    held = call.caller.highest if call.project is None else call.caller.right_in(call.project.id)
    if held < right and not (right is Right.READ and call.project is None):
        raise Forbidden(f"This takes {_WORDS[right]} of the project; your role there is a lower one.")


def to_write(call: Call, project_id: str | None) -> Scope:
    """The scope in which records of a project, or of none, may be changed, for handlers that learn late which.

    Raises
    ------
    Forbidden
        If the caller is no contributor there.
    """
    if (call.caller.highest if project_id is None else call.caller.right_in(project_id)) < Right.WRITE:
        raise Forbidden("This takes a contributor of the project; your role there is a lower one.")
    return call.scope if project_id is None else Scope(call.caller.organization.id, project_id)
