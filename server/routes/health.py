"""Whether the server lives, and what the interface asks of a server beside its data."""

from __future__ import annotations

from typing import Any

from workbench.errors import NotFound

from .. import schemas as s
from ..answers import Redirect
from ..call import Call
from ..operation import Need, Operation
from ..settings import VERSION


def healthz(call: Call) -> dict[str, Any]:
    call.store.identity()
    return {"status": "ok", "version": VERSION}


def billing(call: Call) -> Redirect:
    """The billing portal.

    Raises
    ------
    NotFound
        If none is configured; names the setting.
    """
    address = call.state.settings.billing_portal
    if address is None:
        raise NotFound("No billing portal is configured; the operator sets its address with --billing-portal.")
    return Redirect(address)


OPERATIONS = (
    Operation(
        "GET",
        "/healthz",
        healthz,
        Need.NOTHING,
        "Whether the server and its store answer",
        answer=s.record({"status": s.TEXT, "version": s.TEXT}),
    ),
    Operation("GET", "/user/billing-portal", billing, Need.MEMBER, "Redirect to the billing portal", status=307),
)
