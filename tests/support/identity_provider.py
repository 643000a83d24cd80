"""A small identity provider for tests (OpenID Connect, the code flow with PKCE), which can also misbehave."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, OctKey

CLIENT, SECRET = "workbench", "the secret of the client"


@dataclass
class Provider:
    """``person`` is who signs in next; ``changed`` are claims of the token that are not as they should be, ``absent``
    those that are missing, ``header`` that of the token; ``extra`` comes along with the code."""

    address: str = ""
    person: dict[str, Any] = field(default_factory=lambda: dict(PERSON))
    changed: dict[str, Any] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "ES256"})
    extra: dict[str, str] = field(default_factory=dict)
    configured: dict[str, Any] = field(default_factory=dict)
    key: Any = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "one"}))
    signs_with: Any = None
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def configuration(self) -> dict[str, Any]:
        """What the provider says of itself."""
        places = {
            "authorization_endpoint": "/authorize",
            "token_endpoint": "/token",
            "jwks_uri": "/keys",
            "end_session_endpoint": "/logout",
        }
        return {
            "issuer": self.address,
            **{name: f"{self.address}{path}" for name, path in places.items()},
            **self.configured,
        }

    def sign_in(self, address: str) -> str:
        """Where a browser is sent that goes to an address of the provider, and whose person signs in."""
        parts = urlsplit(address)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.address}/authorize"
        asked = {name: value for name, (value,) in parse_qs(parts.query).items()}
        assert (asked["response_type"], asked["client_id"], asked["scope"]) == (
            "code",
            CLIENT,
            "openid email profile",
        )
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], **self.extra})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The answer to a code: an ID token if the client, its secret and its verifier are right."""
        asked = self.codes.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            asked is None
            or form.get("client_secret") != SECRET
            or form.get("redirect_uri") != asked["redirect_uri"]
            or challenge.rstrip(b"=").decode() != asked["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **self.person,
            **self.changed,
        }
        claims = {name: value for name, value in claims.items() if name not in self.absent}
        if self.header["alg"] == "none":
            parts = [self.header, claims]
            text = ".".join(
                base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in parts
            )
            return 200, {"id_token": f"{text}.", "access_token": "a", "token_type": "Bearer"}
        token = jwt.encode(
            {**self.header, "kid": "one"}, claims, self.signs_with or self.key, [self.header["alg"]]
        )
        return 200, {"id_token": token, "access_token": "a", "token_type": "Bearer"}


PERSON = {"sub": "subject-1", "email": "Ada@Lab.example", "email_verified": True, "name": "Ada"}


def of_the_client() -> OctKey:
    """The client's secret as a key: a provider must not sign with that here."""
    return OctKey.import_key(SECRET)


@contextmanager
def running() -> Iterator[Provider]:
    """A provider at a port of the loopback."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            return

        def do_GET(self) -> None:
            provider.asked.append(self.path)
            if self.path == "/.well-known/openid-configuration":
                self._answer(200, provider.configuration())
            elif self.path == "/keys":
                self._answer(200, {"keys": [provider.key.as_dict(private=False)]})
            elif self.path.startswith("/authorize"):
                self._redirect(provider.sign_in(f"{provider.address}{self.path}"))
            elif self.path.startswith("/logout"):
                asked = parse_qs(urlsplit(self.path).query)
                self._redirect(asked["post_logout_redirect_uri"][0])
            else:
                self._answer(404, {})

        def _redirect(self, address: str) -> None:
            self.send_response(302)
            self.send_header("location", address)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            provider.asked.append(self.path)
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            self._answer(*provider.token({name: value for name, (value,) in parse_qs(body).items()}))

        def _answer(self, status: int, value: dict[str, Any]) -> None:
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
