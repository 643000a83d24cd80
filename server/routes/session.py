"""Sign-in of the web page. Programs send their key with each request, and need none of this."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench.errors import Invalid, Problem, Unauthorized
from workbench.recipe.strict import NotNull
from workbench.store.records.sign_ins import LONGEST_SECONDS, SignIn
from workbench.table import time_text

from .. import responses, sign_in
from ..auth import Anyone
from ..context import RequestContext
from ..routing import Route, checked_first, takes
from ..schemas import Body, Text
from .people import Me, me_of

router = APIRouter(route_class=Route, tags=["Sign-in of the web page"])

Secret = Annotated[Text | None, NotNull(), Field(json_schema_extra={"maxLength": 200})]


class Credentials(Body):
    """A key, or a one-time code in its place."""

    key: Secret = None
    code: Secret = None


class SessionShown(TypedDict):
    """Who is signed in. ``user`` is null if nobody is; then the rest is null too."""

    user: Me | None
    expires_at: str | None


class SessionAsked(SessionShown):
    """``provider``: the name of the identity provider by which people may sign in too; null if there is none."""

    provider: str | None


class SessionOpened(SessionShown):
    """A new sign-in. ``token`` is the value of ``X-Workbench`` for all further requests."""

    token: str


def _only_the_page(context: RequestContext) -> None:
    sign_in.refuse_without_header(context.request)


@router.get("/session", response_model=SessionAsked)
def read_session(context: Anyone) -> Response:
    """Who is signed in with the cookie and the header ``X-Workbench``. Nobody is an answer too, not an error."""
    found = _present(context)
    known: SessionShown = {"user": None, "expires_at": None} if found is None else _shown(found)
    provider = context.state.settings.provider
    shown: SessionAsked = {**known, "provider": None if provider is None else provider.shown_name}
    return Response(responses.dumps(shown), 200, {"cache-control": "no-store"}, responses.JSON)


@router.post("/session", response_model=SessionOpened)
@checked_first(_only_the_page)
@takes("tiny")
def sign_in_with_key(context: Anyone, body: Credentials) -> Response:
    """Sign in with a key or with a one-time code.

    The answer sets a cookie that no script can read, and has ``token``: send it as ``X-Workbench`` with every further
    request. The two together are accepted wherever a key is. The request itself needs the header ``X-Workbench``,
    with any value. After five failed tries in a minute an address has to wait.
    """
    if (body.key is None) == (body.code is None):
        raise Invalid(Problem(("key",), "Send a key, or a one-time code in its place.", "missing"))
    client = context.request.client
    bound = sign_in.binding_of(context.request, _public(context))
    opened = context.store.sign_ins.open(
        "" if client is None else client.host, key=body.key, code=body.code, bound=bound
    )
    shown: SessionOpened = {**_shown(opened), "token": opened.token}
    answer = Response(responses.dumps(shown), media_type=responses.JSON)
    if bound:
        sign_in.keep_binding(answer, context.request, _public(context), None)
    return sign_in.keep(answer, context.request, _public(context), opened.secret, LONGEST_SECONDS)


@router.delete("/session", status_code=204)
@checked_first(_only_the_page)
def sign_out(context: Anyone) -> Response:
    """End this sign-in at once, and remove its cookie."""
    sent = sign_in.secrets_of(context.request, _public(context))
    if sent is not None:
        context.store.sign_ins.close(sent.secret, sent.token)
    return sign_in.keep(Response(status_code=204), context.request, _public(context), "", 0)


def _public(context: RequestContext) -> str | None:
    return context.state.settings.public_url


def _present(context: RequestContext) -> SignIn | None:
    sent = sign_in.secrets_of(context.request, _public(context))
    if sent is None:
        return None
    try:
        return context.store.sign_ins.signed_in(sent.secret, sent.token)
    except Unauthorized:
        return None


def _shown(found: SignIn) -> SessionShown:
    return {"user": me_of(found.caller), "expires_at": time_text(found.expires_at)}
