"""Health of the server, and the billing portal."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench.errors import NotFound

from ..auth import Anyone, Member
from ..responses import redirect
from ..routing import Route
from ..settings import VERSION

router = APIRouter(route_class=Route, tags=["The server"])


class Health(TypedDict):
    status: str
    version: str


@router.get("/healthz")
def health(context: Anyone) -> Health:
    """Whether the server and its store answer."""
    context.store.identity()
    return {"status": "ok", "version": VERSION}


@router.get("/user/billing-portal", status_code=307, response_class=Response)
def billing(context: Member) -> Response:
    """Redirect to the billing portal."""
    address = context.state.settings.billing_portal
    if address is None:
        raise NotFound("No billing portal is configured. The operator can set its address with --billing-portal.")
    return redirect(address)
