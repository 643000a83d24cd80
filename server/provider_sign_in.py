"""How a browser goes to an identity provider and back. These are addresses to go to, not part of the HTTP interface.

The way back ends at the page with a one-time code, as the address of a demo has it. The page signs in with that, so the
sign-in is the same as with a key: two secrets, of which no other site can read both.
"""

from __future__ import annotations

import html as markup
import re
import secrets
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from workbench.errors import BadRequest, NotFound, Unauthorized, WorkbenchError
from workbench.store.records.identities import Entry

from . import log, sign_in
from .identity_provider import Attempt, IdentityProvider
from .signing import Ticket
from .state import State

PLACE = "/session/provider"
_PATH = re.compile(r"/(?![/\\])[\w\-./~%?=&+,:@]{0,500}", re.ASCII)
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_QUIET = {"cache-control": "no-store", "referrer-policy": "no-referrer"}
Work = Callable[[State, IdentityProvider, Request], Response]


def routes() -> list[Route]:
    """The addresses, for a server that knows a provider."""
    return [
        Route(PLACE, _answered_by(_begin), methods=["GET"], include_in_schema=False),
        Route(f"{PLACE}/answer", _answered_by(_end), methods=["GET"], include_in_schema=False),
        Route(f"{PLACE}/sign-out", _answered_by(_sign_out), methods=["GET"], include_in_schema=False),
    ]


def _answered_by(work: Work) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        state: State = request.app.state.workbench

        def answer() -> Response:
            try:
                state.outsiders.take("" if request.client is None else request.client.host)
                if state.provider is None:
                    raise NotFound("This server knows no identity provider. Sign in with a key.")
                return work(state, state.provider, request)
            except WorkbenchError as error:
                log.failed("nobody was signed in by the provider")
                return _sorry(error)

        try:
            return await state.plans.run(state.parties.of(request), answer, lambda: None)
        except WorkbenchError as error:  # too many requests wait
            return _sorry(error)

    return endpoint


def _begin(state: State, provider: IdentityProvider, request: Request) -> Response:
    """Go to the provider, and then to ``next``, a path of the page."""
    address, attempt = provider.begin(_back(state, request))
    wanted = request.query_params.get("next", "/")
    where = wanted if _PATH.fullmatch(wanted) else "/"
    ticket = Ticket("sign-in", (attempt.state, attempt.nonce, attempt.verifier, where))
    kept = state.signer.sign(ticket, sign_in.ATTEMPT_SECONDS)
    return sign_in.keep_attempt(_to(address), request, state.settings.public_url, kept)


def _end(state: State, provider: IdentityProvider, request: Request) -> Response:
    """Take what the provider answers, and go to the page with a code that signs this browser in once."""
    public = state.settings.public_url
    try:
        made = _signed_in(state, provider, request)
    except NotFound:
        made = _sorry(Unauthorized("This sign-in took too long, or was begun in another browser. Begin again."))
    except WorkbenchError as error:
        log.failed("nobody was signed in by the provider")
        made = _sorry(error)
    return sign_in.keep_attempt(made, request, public, None)


def _signed_in(state: State, provider: IdentityProvider, request: Request) -> Response:
    kept = state.signer.read(sign_in.attempt_of(request, state.settings.public_url), "sign-in")
    state_sent, nonce, verifier, where = kept.what
    names = [name for name, _ in request.query_params.multi_items()]
    if len(names) != len(set(names)):
        raise BadRequest("The provider's answer says something twice. Begin again.")
    claimed = provider.claimed(
        dict(request.query_params), Attempt(state_sent, nonce, verifier), _back(state, request)
    )
    wanted = provider.settings
    key = state.store.identities.key_of(claimed, Entry(wanted.organization, wanted.new_people, wanted.domains))
    bound = secrets.token_urlsafe(32)
    answer = _to(f"{where}#code={state.store.sign_ins.code(key, bound)}")
    return sign_in.keep_binding(answer, request, state.settings.public_url, bound)


def _sign_out(state: State, provider: IdentityProvider, request: Request) -> Response:
    """Sign out of the provider itself, and come back. DELETE /session ends the sign-in here."""
    return _to(provider.sign_out(f"{_address(state, request)}/") or "/")


def _address(state: State, request: Request) -> str:
    return (state.settings.public_url or str(request.base_url)).rstrip("/")


def _back(state: State, request: Request) -> str:
    return f"{_address(state, request)}{PLACE}/answer"


def _to(address: str) -> Response:
    return Response(status_code=303, headers={**_QUIET, "location": address})


def _sorry(error: WorkbenchError) -> Response:
    """A page that says to a person why they are not signed in."""
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Not signed in</title><h1>Not signed in</h1><p>{markup.escape(str(error))}</p>"
        '<p><a href="/">Back to the workbench</a></p></html>'
    )
    return Response(page, error.status, {**_QUIET, "content-security-policy": _POLICY}, "text/html; charset=utf-8")
