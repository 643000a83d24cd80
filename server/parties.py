"""Whose a request is before its credential is checked: a hint for its turn among others, and never a right."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from starlette.requests import Request

from workbench.errors import Forbidden

from . import sign_in
from .limits import Party

_MOST = 10_000


class Parties:
    """The parties of credentials that were in force when they were last checked. The credential itself is not kept."""

    def __init__(self, public_url: str | None) -> None:
        self._public_url = public_url
        self._known: OrderedDict[bytes, Party] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, request: Request) -> Party:
        """The party of a request. Without a credential that was in force it is that of the address it came from."""
        with self._lock:
            found = self._known.get(self._mark(request))
        return found or Party("", "" if request.client is None else request.client.host)

    def keep(self, request: Request, party: Party) -> None:
        """Note whose the credential of a request is, which was checked."""
        mark = self._mark(request)
        with self._lock:
            self._known[mark] = party
            self._known.move_to_end(mark)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)

    def forget(self, request: Request) -> None:
        """Note that the credential of a request is not in force."""
        with self._lock:
            self._known.pop(self._mark(request), None)

    def _mark(self, request: Request) -> bytes:
        """A hash of the credential of a request; the same for all without one."""
        headers = request.headers
        credential = headers.get("x-api-key", headers.get("authorization", ""))
        if not credential:
            try:
                secrets = sign_in.secrets_of(request, self._public_url)
            except Forbidden:
                secrets = None
            credential = "" if secrets is None else f"{secrets.secret} {secrets.token}"
        return hashlib.sha256(credential.encode("utf-8", "surrogatepass")).digest()
