"""Sign-in by an identity provider with OpenID Connect: addresses by discovery, the code flow with PKCE, the ID token.

The provider says who somebody is. What they may do, the store says: see `workbench.store.records.identities`.
"""

from __future__ import annotations

import hmac
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2 as httpx
import orjson
from pydantic import JsonValue

from workbench.errors import BadRequest, ServerAway, Unauthorized
from workbench.store.records.identities import Claimed

SECRET = "WORKBENCH_OIDC_SECRET"  # noqa: S105 - the name of a variable
"""The environment variable that has the client's secret; a client without one is public, and has PKCE alone."""
SCOPE = "openid email profile"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names of this machine, which another cannot claim: they need no https, and are hosts of every server."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key. Neither ``none`` nor one with the client's secret is taken."""
_KEPT_SECONDS = 3600.0
_AGAIN_SECONDS = 30.0
"""Keys are asked for again at most once in this time, when a token names one that is not known."""
_TIMEOUT = 5.0
_LEEWAY = 60
_MOST = 1 << 20


@dataclass(frozen=True)
class ProviderSettings:
    """What the operator says of the provider.

    Parameters
    ----------
    issuer : its address, ``https://login.example.org``.
    client : the id of this server there.
    name : what the page calls it.
    new_people : the role of people whom nobody has made a member: ``viewer`` or ``contributor``; None lets none in.
    domains : ends of the e-mail addresses of such people; one that is ``any`` is every address.
    organization : name or id of the organization in which people sign in, where the store has several.
    """

    issuer: str
    client: str
    name: str = ""
    new_people: str | None = None
    domains: tuple[str, ...] = ()
    organization: str | None = None

    @property
    def shown_name(self) -> str:
        """What the page calls the provider."""
        return self.name or urlsplit(self.issuer).hostname or self.issuer


@dataclass(frozen=True)
class Attempt:
    """What a browser keeps while it is at the provider: the answer must fit to it."""

    state: str
    nonce: str
    verifier: str


def check(settings: ProviderSettings) -> None:
    """Refuse settings with which nobody could sign in, or too many could.

    Raises
    ------
    BadRequest
        If a package is missing, an address is not safe, or new people are let in without a word about which.
    """
    if find_spec("authlib") is None or find_spec("joserfc") is None:
        raise BadRequest("Sign-in by a provider needs authlib: pip install 'battery-workbench[oidc]'.")
    _refuse_unsafe(settings.issuer, "The address of the provider")
    if not settings.client:
        raise BadRequest("Say under which id the provider knows this server: --oidc-client ID.")
    if settings.new_people not in (None, "viewer", "contributor"):
        raise BadRequest("New people become a 'viewer' or a 'contributor': --oidc-new-people viewer.")
    if settings.new_people is not None and not settings.domains:
        raise BadRequest(
            "Say whose addresses may come in as new people: --oidc-domain lab.example, or --oidc-domain any for "
            "everybody whom the provider knows."
        )


def _refuse_unsafe(address: str, what: str) -> None:
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme != "http" or parts.hostname not in LOOPBACK:
        raise BadRequest(f"{what} must begin with https://, not '{address[:200]}'.")


class IdentityProvider:
    """A provider, as this process knows it. It is asked when somebody signs in, and not at the start."""

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._known: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, dict[str, Any]] | None = None

    def begin(self, back: str) -> tuple[str, Attempt]:
        """The address at the provider to which a browser goes, and what it keeps meanwhile; ``back`` is where it comes
        back to.

        Raises
        ------
        ServerAway
            If the provider does not answer as OpenID Connect says.
        """
        from authlib.common.security import generate_token
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        attempt = Attempt(generate_token(32), generate_token(32), generate_token(64))
        address: str = prepare_grant_uri(
            self._address("authorization_endpoint"),
            self.settings.client,
            "code",
            redirect_uri=back,
            scope=SCOPE,
            state=attempt.state,
            nonce=attempt.nonce,
            code_challenge=create_s256_code_challenge(attempt.verifier),
            code_challenge_method="S256",
        )
        return address, attempt

    def claimed(self, answer: Mapping[str, str], attempt: Attempt, back: str) -> Claimed:
        """Who signed in, by the answer that the browser brought back.

        Raises
        ------
        Unauthorized
            If the provider refused, or the answer is not one to this attempt, or its ID token is not sound.
        ServerAway
            If the provider does not answer as OpenID Connect says.
        """
        if not hmac.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
            raise Unauthorized("This answer does not belong to a sign-in of this browser. Begin again.")
        # A server that knows several providers could be given the answer of another one (RFC 9207).
        if answer.get("iss", self.settings.issuer) != self.settings.issuer:
            raise Unauthorized("This answer is from another provider. Begin again.")
        if "error" in answer or not answer.get("code"):
            raise Unauthorized("The provider did not sign you in. Begin again, or ask its administrator.")
        sent = {
            "grant_type": "authorization_code",
            "code": answer["code"],
            "redirect_uri": back,
            "client_id": self.settings.client,
            "code_verifier": attempt.verifier,
        }
        if secret := os.environ.get(SECRET):
            sent["client_secret"] = secret
        given = self._asked("POST", self._address("token_endpoint"), sent)
        claims = self._claims(str(given.get("id_token", "")), attempt.nonce, str(given.get("access_token", "")))
        email = claims.get("email")
        return Claimed(
            self.settings.issuer,
            str(claims["sub"]),
            email.strip().lower() if isinstance(email, str) and claims.get("email_verified") is True else None,
        )

    def sign_out(self, back: str) -> str | None:
        """The address at which people sign out of the provider itself; None if it has none."""
        known = self._configuration()
        if not isinstance(known.get("end_session_endpoint"), str):
            return None
        address = self._address("end_session_endpoint")
        asked = urlencode({"client_id": self.settings.client, "post_logout_redirect_uri": back})
        return f"{address}{'&' if '?' in address else '?'}{asked}"

    def _claims(self, token: str, nonce: str, access_token: str) -> dict[str, Any]:
        """The claims of an ID token whose signature, issuer, audience, time and nonce are right."""
        from authlib.common.errors import AuthlibBaseError
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            try:
                found = jwt.decode(token, KeySet.import_key_set(self._key_set()), list(ALGORITHMS))
            except (JoseError, ValueError):  # the provider may have new keys
                found = jwt.decode(token, KeySet.import_key_set(self._key_set(again=True)), list(ALGORITHMS))
            wanted = {"iss": self.settings.issuer, "aud": self.settings.client, "nonce": nonce}
            options = {name: {"essential": True, "value": value} for name, value in wanted.items()}
            params = {"nonce": nonce, "client_id": self.settings.client, "access_token": access_token}
            claims = CodeIDToken(found.claims, found.header, options, params)
            claims.validate(leeway=_LEEWAY)
            if not isinstance(claims.get("sub"), str) or not claims["sub"]:
                raise ValueError("it names nobody")
        except (JoseError, AuthlibBaseError, ValueError, TypeError, KeyError) as error:
            raise Unauthorized(
                "The provider's answer is not sound, so nobody was signed in. Begin again; the operator finds the "
                f"reason in the log ({type(error).__name__})."
            ) from error
        return dict(claims)

    def _key_set(self, *, again: bool = False) -> dict[str, Any]:
        with self._lock:
            kept = self._keys
        now = time.monotonic()
        if kept is None or now - kept[0] > (_AGAIN_SECONDS if again else _KEPT_SECONDS):
            kept = (now, self._asked("GET", self._address("jwks_uri")))
            if not isinstance(kept[1].get("keys"), list):
                raise ServerAway(f"'{self.settings.shown_name}' gives no keys, so nobody can sign in.")
            with self._lock:
                self._keys = kept
        return kept[1]

    def _address(self, name: str) -> str:
        address = self._configuration().get(name)
        if not isinstance(address, str):
            raise ServerAway(f"'{self.settings.shown_name}' does not say its {name}, so nobody can sign in.")
        try:
            _refuse_unsafe(address, f"The {name} of the provider")
        except BadRequest as error:
            raise ServerAway(str(error)) from None
        return address

    def _configuration(self) -> dict[str, Any]:
        """What the provider says of itself."""
        with self._lock:
            kept = self._known
        if kept is None or time.monotonic() - kept[0] > _KEPT_SECONDS:
            place = f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
            found = self._asked("GET", place)
            if found.get("issuer") != self.settings.issuer:
                raise ServerAway(
                    f"The provider calls itself '{str(found.get('issuer'))[:200]}', and --oidc-issuer says "
                    f"'{self.settings.issuer}'. They must be the same."
                )
            kept = (time.monotonic(), found)
            with self._lock:
                self._known = kept
        return kept[1]

    def _asked(self, method: str, address: str, form: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A JSON object that the provider gives. It is asked once; no redirect is followed."""
        name = self.settings.shown_name
        try:
            with (
                httpx.Client(timeout=_TIMEOUT, follow_redirects=False) as client,
                client.stream(method, address, data=form, headers={"accept": "application/json"}) as answer,
            ):
                read = b""
                for part in answer.iter_bytes():
                    read += part
                    if len(read) > _MOST:
                        raise ServerAway(f"'{name}' sent more than {_MOST} bytes.")
                status = answer.status_code
        except httpx.HTTPError as error:
            raise ServerAway(
                f"'{name}' does not answer ({type(error).__name__}). Try again in a minute."
            ) from error
        if form is not None and status in (400, 401, 403):
            raise Unauthorized("The provider did not accept this sign-in. Begin again.")
        try:
            found: JsonValue = orjson.loads(read) if status == 200 else None
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise ServerAway(f"'{name}' gave no answer that can be used (status {status}).")
        return found
