"""Health of the server, and the billing portal."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench.errors import NotFound, StoreError
from workbench.transform.protected import shared

from .. import log, responses
from ..auth import Anyone, Member, StoreAdmin
from ..metrics import CONTENT_TYPE
from ..responses import redirect
from ..routing import Route
from ..settings import VERSION

router = APIRouter(route_class=Route, tags=["The server"])


class Health(TypedDict):
    status: str
    version: str


class Readiness(Health):
    """``status``: ready or not ready, and then why."""

    reasons: list[str]


@router.get("/healthz")
def health(context: Anyone) -> Health:
    """Whether the server and its store answer."""
    context.store.identity()
    return {"status": "ok", "version": VERSION}


@router.get("/readyz", response_model=Readiness, responses={503: {"description": "Not ready; says why."}})
def ready(context: Anyone) -> Response:
    """Whether this process can take requests: its store answers and has the right format, and scripts can be drawn.

    A proxy sends requests only to processes that answer 200. 503 says in ``reasons`` what is missing.
    """
    state = context.state
    reasons = []
    try:
        state.store.identity()
        if not state.store.format_is_ours():
            reasons.append(
                "The store has another format than this version writes. Install the version that it needs."
            )
    except StoreError:
        log.failed("not ready")
        reasons.append("The store does not answer. The log of the server has the reason.")
    if state.protected and not shared().is_running:
        state.start_scripts()
        reasons.append("The process that draws scripts does not run. It is being started.")
    shown: Readiness = {"status": "not ready" if reasons else "ready", "version": VERSION, "reasons": reasons}
    return Response(responses.dumps(shown), 503 if reasons else 200, {"cache-control": "no-store"}, responses.JSON)


@router.get("/metrics", response_class=Response)
def show_metrics(context: StoreAdmin) -> Response:
    """Counts and times of all processes of the server, as Prometheus reads them. Only for Admins of every organization.
    The server keeps them if it was started with ``--metrics``."""
    metrics = context.state.metrics
    if metrics is None:
        raise NotFound("This server keeps no metrics. Its operator can start it with --metrics.")
    return Response(metrics.text(), 200, {"cache-control": "no-store"}, CONTENT_TYPE)


@router.get("/user/billing-portal", status_code=307, response_class=Response)
def billing(context: Member) -> Response:
    """Redirect to the billing portal."""
    address = context.state.settings.billing_portal
    if address is None:
        raise NotFound("No billing portal is configured. The operator can set its address with --billing-portal.")
    return redirect(address)
