"""Signed addresses: an address that itself gives the right to read or write one thing for a while."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Literal

import orjson

from workbench.errors import NotFound

Act = Literal["get", "put", "sign-in"]
_MARK = 16


@dataclass(frozen=True)
class Ticket:
    """What an address allows: to ``act`` on the thing that ``what`` names, such as ``("object", id)``."""

    act: Act
    what: tuple[str, ...]


class Signer:
    """Makes and checks tickets with the store's secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sign(self, ticket: Ticket, seconds: float) -> str:
        """The ticket as text for an address."""
        payload = orjson.dumps([ticket.act, int(time.time() + seconds), *ticket.what])
        return base64.urlsafe_b64encode(self._mark(payload) + payload).rstrip(b"=").decode()

    def read(self, text: str, act: Act) -> Ticket:
        """The ticket of an address that must allow ``act``.

        Raises
        ------
        NotFound
            If it was not signed here, allows something else, or has expired.
        """
        refused = NotFound("This address is not valid, or has expired. Ask for a new one.")
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except ValueError:
            raise refused from None
        mark, payload = raw[:_MARK], raw[_MARK:]
        if not hmac.compare_digest(mark, self._mark(payload)):
            raise refused
        allowed, until, *what = orjson.loads(payload)
        if allowed != act or until < time.time():
            raise refused
        return Ticket(act, tuple(what))

    def _mark(self, payload: bytes) -> bytes:
        return hmac.new(self._secret, payload, hashlib.sha256).digest()[:_MARK]
