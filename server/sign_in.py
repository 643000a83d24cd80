"""The sign-in of the web page in requests and answers: one cookie, and one header that only the page can send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from workbench.errors import Forbidden
from workbench.store.records.sign_ins import CODE_SECONDS

HEADER = "x-workbench"
_NAME = "wb_session"
_MOST = 100
ATTEMPT_SECONDS = 600
"""How long a person may take at an identity provider."""
_LONGEST_ATTEMPT = 4000
_SITE = "same-origin"


@dataclass(frozen=True)
class Secrets:
    """The two secrets of a sign-in, as a request sent them."""

    secret: str
    token: str


def secrets_of(request: Request, public_url: str | None) -> Secrets | None:
    """The secrets in a request; None if one of them is missing: a cookie alone opens nothing.

    Raises
    ------
    Forbidden
        If the browser says that a page of another site sent it.
    """
    secret = request.cookies.get(_name(request, public_url))
    token = request.headers.get(HEADER)
    if not secret or not token or max(len(secret), len(token)) > _MOST:
        return None
    refuse_other_sites(request)
    return Secrets(secret, token)


def refuse_other_sites(request: Request) -> None:
    """Refuse what a browser sends for a page of another site."""
    if request.headers.get("sec-fetch-site", _SITE) != _SITE:
        raise Forbidden("A page of another site sent this request. Open the page of the workbench itself.")


def refuse_without_header(request: Request) -> None:
    """Refuse a request to sign in that a form of another page could have sent."""
    refuse_other_sites(request)
    if not request.headers.get(HEADER):
        raise Forbidden("Send the header 'X-Workbench: 1' with this request; the page of the workbench does.")


def keep(answer: Response, request: Request, public_url: str | None, secret: str, seconds: int) -> Response:
    """An answer that makes the browser keep the first secret for so long; 0 makes it forget it."""
    name, secure = _name(request, public_url), _is_secure(request, public_url)
    _kept(answer, name, secret, seconds, "strict", secure=secure)
    answer.headers["cache-control"] = "no-store"
    return answer


def keep_attempt(answer: Response, request: Request, public_url: str | None, ticket: str | None) -> Response:
    """An answer that makes the browser keep what it is asked for when it comes back from a provider; None forgets it.

    The way back begins at another site, so this cookie is sent then, unlike that of a sign-in.
    """
    name, secure = _attempt_name(request, public_url), _is_secure(request, public_url)
    return _kept(answer, name, ticket, ATTEMPT_SECONDS, "lax", secure=secure)


def attempt_of(request: Request, public_url: str | None) -> str:
    """What the browser kept; empty if it kept nothing."""
    kept = request.cookies.get(_attempt_name(request, public_url), "")
    return kept if len(kept) <= _LONGEST_ATTEMPT else ""


def keep_binding(answer: Response, request: Request, public_url: str | None, bound: str | None) -> Response:
    """An answer that makes the browser keep what a one-time code is bound to, as long as the code is valid; None
    forgets it. The page itself sends it back, and no other site can have it sent."""
    name, secure = _binding_name(request, public_url), _is_secure(request, public_url)
    return _kept(answer, name, bound, CODE_SECONDS, "strict", secure=secure)


def binding_of(request: Request, public_url: str | None) -> str:
    """What the browser's one-time code is bound to; empty if it has none."""
    kept = request.cookies.get(_binding_name(request, public_url), "")
    return kept if len(kept) <= _MOST else ""


def _kept(
    answer: Response, name: str, value: str | None, seconds: int, site: Literal["lax", "strict"], *, secure: bool
) -> Response:
    """An answer that makes the browser keep a cookie for so long, or forget it if it has no value."""
    answer.set_cookie(
        name,
        value or "",
        max_age=seconds if value else 0,
        path="/",
        secure=secure,
        httponly=True,
        samesite=site,
    )
    return answer


def _binding_name(request: Request, public_url: str | None) -> str:
    return f"{_name(request, public_url)}_code"


def _attempt_name(request: Request, public_url: str | None) -> str:
    return f"{_name(request, public_url)}_attempt"


def _name(request: Request, public_url: str | None) -> str:
    # With this prefix a browser refuses the cookie if a page without TLS or of another host name sets it.
    return f"__Host-{_NAME}" if _is_secure(request, public_url) else _NAME


def _is_secure(request: Request, public_url: str | None) -> bool:
    return request.url.scheme == "https" or (public_url or "").startswith("https:")
