"""Keys of an organization: who has them, new ones, and revoking them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench.errors import Invalid, NotFound, Problem
from workbench.store.records.key_state import KeyState, state_of
from workbench.store.records.people import PERMISSIONS
from workbench.store.records.tables import Row
from workbench.table import time_text, to_micros

from .. import responses
from ..auth import OrganizationAdmin
from ..context import RequestContext
from ..routing import Route, takes
from ..schemas import Body, Text
from .people import UserId, own_organization

router = APIRouter(route_class=Route, tags=["People"])

_KEYS = "/organizations/{organization_id}/keys"
LONGEST_DAYS = 3650.0
Permission = Annotated[Text, Field(json_schema_extra={"enum": list(PERMISSIONS)})]


class KeyShown(TypedDict):
    """A key without its secret. ``permission`` is the most that it gives; null: all that its user's role does."""

    id: str
    user_id: str
    email: str
    permission: Permission | None
    state: KeyState
    created_at: str
    expires_at: str | None
    used_at: str | None
    revoked_at: str | None


class KeyMade(KeyShown):
    """A new key. ``key`` is in this answer and never again: the store has only its hash."""

    key: str


class NewKey(Body):
    """For whom a key is, how many days it lasts (null: until it is revoked), and the most that it gives."""

    user_id: UserId
    days: Annotated[float | None, Field(gt=0, le=LONGEST_DAYS)] = None
    permission: Permission | None = None


@router.get(_KEYS)
def list_keys(context: OrganizationAdmin) -> list[KeyShown]:
    """The keys of the organization, the newest first."""
    organization = own_organization(context)
    now = datetime.now(UTC)
    return [_shown(one, now) for one in reversed(context.store.people.keys(organization))]


@router.post(_KEYS, response_model=KeyMade)
@takes("small")
def create_key(context: OrganizationAdmin, body: NewKey) -> Response:
    """Make a key for a member. A key that expires makes none that lasts longer than itself."""
    organization, people = own_organization(context), context.store.people
    if body.permission is not None and body.permission not in PERMISSIONS:
        words = ", ".join(f"'{one}'" for one in PERMISSIONS)
        raise Invalid(Problem(("permission",), f"The permission of a key is one of {words}, or null.", "enum"))
    now = datetime.now(UTC)
    _refuse_longer_life(context, body.days, now)
    with context.writing(body.user_id, days=body.days, permission=body.permission):
        issued = people.issue(organization, body.user_id, days=body.days, permission=body.permission)
    (made,) = (one for one in people.keys(organization) if one["id"] == issued.id)
    answer: KeyMade = {**_shown(made, now), "key": issued.key}
    return Response(responses.dumps(answer), 200, {"cache-control": "no-store"}, responses.JSON)


def _refuse_longer_life(context: RequestContext, days: float | None, now: datetime) -> None:
    """Else a key that was meant for a day could give itself a successor for ever."""
    keys = context.store.people.keys(context.organization)
    own = next((one for one in keys if one["id"] == context.caller.key_id), None)
    ends = None if own is None else own["expires_at"]
    if ends is None:
        return
    left = (ends - now).total_seconds() / 86_400
    if days is None or days > left:
        message = f"The key that you use ends in {left:.1f} days. A key that it makes can last at most as long."
        raise Invalid(Problem(("days",), message, "value_error"))


@router.delete(f"{_KEYS}/{{key_id}}", status_code=204)
def revoke_key(context: OrganizationAdmin, key_id: str) -> None:
    """Revoke a key at once and for ever. Sign-ins that were opened with it end too."""
    organization = own_organization(context)
    if key_id not in {one["id"] for one in context.store.people.keys(organization)}:
        raise NotFound(f"There is no key '{key_id}'.")
    with context.writing(key_id):
        context.store.people.revoke(organization, key_id)


def _shown(key: Row, now: datetime) -> KeyShown:
    return {
        "id": key["id"],
        "user_id": key["user_id"],
        "email": key["email"],
        "permission": key["permission"],
        "state": state_of(key, now),
        "created_at": time_text(to_micros(key["created_at"])),
        "expires_at": _time(key["expires_at"]),
        "used_at": _time(key["used_at"]),
        "revoked_at": _time(key["revoked_at"]),
    }


def _time(value: datetime | None) -> str | None:
    return None if value is None else time_text(to_micros(value))
