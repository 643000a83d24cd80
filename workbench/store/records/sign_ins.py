"""Sign-ins of the web page: a browser holds two secrets in the place of a key, and the store holds their hashes.

The first secret is in a cookie, which the browser sends to every server under the same host name. So the cookie alone
opens nothing: the page also sends the second secret, which no page of another scheme, host or port can read.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from sqlite3 import Connection

from ...errors import TooMany, Unauthorized
from .people import Caller, People

IDLE_SECONDS = 12 * 3600
"""A sign-in ends when it is not used for so long."""
LONGEST_SECONDS = 7 * 24 * 3600
"""A sign-in ends after so long in any case."""
CODE_SECONDS = 60
"""How long a one-time code is valid."""
MOST_TRIES = 5
"""Failed sign-ins of one address in a minute, over all processes."""
_NOTED_SECONDS = 60
"""The use of a sign-in is noted at most once in this time."""
_OVER = "This sign-in is over. Sign in again with your key."


@dataclass(frozen=True)
class SignIn:
    """A sign-in: its caller, and when it ends if it is not used until then (microseconds since 1970)."""

    caller: Caller
    expires_at: int


@dataclass(frozen=True)
class Opened(SignIn):
    """A new sign-in; its secrets are here and never again."""

    secret: str
    token: str


class SignIns:
    """The sign-ins of a store. Every process sees at once which of them have ended."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._store = people.store

    def open(self, address: str, *, key: str | None = None, code: str | None = None, bound: str = "") -> Opened:
        """Sign in with a key or with a one-time code, from a network address; ``bound`` is what the browser holds for
        its code.

        Raises
        ------
        Unauthorized
            If the key is not in force, or the code is unknown, used or expired.
        TooMany
            After too many failed tries of this address.
        """
        network = _network(address)
        tried = self._try(network)
        caller = self._by_code(code or "", bound) if key is None else self._people.caller(key)
        with self._store.transaction() as db:
            now = self._store.tick(db)
            db.execute("delete from sign_in_tries where rowid = ?", [tried])
            db.execute(
                "delete from sign_ins where used_at < ? or created_at < ?",
                [now - IDLE_SECONDS * 10**6, now - LONGEST_SECONDS * 10**6],
            )
            secret, token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
            row = [_hash(secret), _hash(token), caller.key_id, now, now]
            db.execute("insert into sign_ins values (?, ?, ?, ?, ?)", row)
            self._note(db, "session.opened", caller)
        return Opened(caller, _ends(now, now), secret, token)

    def _try(self, network: str) -> int:
        """Note a try of an address; gives its row. Another process counts it too."""
        with self._store.transaction() as db:
            now = self._store.tick(db)
            db.execute("delete from sign_in_tries where at < ?", [now - 60 * 10**6])
            count, first = db.execute(
                "select count(*), min(at) from sign_in_tries where address = ?", [network]
            ).fetchone()
            if count < MOST_TRIES:
                return int(db.execute("insert into sign_in_tries values (?, ?)", [network, now]).lastrowid or 0)
        wait = max(1, 60 - (now - first) // 10**6)
        raise TooMany(f"Too many failed sign-ins from this address. Try again in {wait} s.", retry_after=wait)

    def code(self, key_id: str, bound: str = "") -> str:
        """A code that signs its bearer in once, with the rights of a key, within a minute. With ``bound`` it does so
        only together with that, which one browser holds: nobody can sign others in by sending them an address."""
        made = secrets.token_urlsafe(32)
        with self._store.transaction() as db:
            now = self._store.tick(db)
            db.execute("delete from sign_in_codes where expires_at < ?", [now])
            db.execute(
                "insert into sign_in_codes values (?, ?, ?)",
                [_code(made, bound), key_id, now + CODE_SECONDS * 10**6],
            )
        return made

    def _by_code(self, code: str, bound: str) -> Caller:
        either = [_code(code, bound), _code(code, "")]
        with self._store.transaction() as db:
            row = db.execute(
                "delete from sign_in_codes where code in (?, ?) returning key_id, expires_at", either
            ).fetchone()
        if row is None or row[1] < time.time() * 1e6:
            raise Unauthorized("This one-time code is unknown, used or expired. Sign in with your key.")
        return self._people.holder(row[0])

    def signed_in(self, secret: str, token: str) -> SignIn:
        """The sign-in of two secrets.

        Raises
        ------
        Unauthorized
            If there is none, if it has ended, or if its key is not in force any more: the answer is the same.
        """
        wanted = _hash(secret)
        query = "select token, key_id, created_at, used_at from sign_ins where secret = ?"
        row = self._store.remembered(("sign-in", wanted), lambda: self._store.execute(query, [wanted]).fetchone())
        now = time.time_ns() // 1000
        if row is None or not hmac.compare_digest(bytes(row[0]), _hash(token)) or _ends(row[2], row[3]) <= now:
            raise Unauthorized(_OVER)
        caller = None
        with suppress(Unauthorized):
            caller = self._people.holder(row[1])
        if caller is None:
            raise Unauthorized(_OVER)
        if now - row[3] > _NOTED_SECONDS * 10**6:
            with self._store.transaction() as db:
                db.execute("update sign_ins set used_at = ? where secret = ?", [now, _hash(secret)])
        return SignIn(caller, _ends(row[2], max(row[3], now)))

    def close(self, secret: str, token: str) -> None:
        """End a sign-in at once. One that is over already stays so."""
        with suppress(Unauthorized):
            found = self.signed_in(secret, token)
            with self._store.transaction() as db:
                db.execute("delete from sign_ins where secret = ?", [_hash(secret)])
                self._note(db, "session.closed", found.caller)

    def _note(self, db: Connection, action: str, caller: Caller) -> None:
        self._people.note(db, action, caller.organization.id, caller.user.id, key_id=caller.key_id)


def _ends(created: int, used: int) -> int:
    return min(created + LONGEST_SECONDS * 10**6, used + IDLE_SECONDS * 10**6)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _code(code: str, bound: str) -> bytes:
    """What the store keeps of a code."""
    return _hash(f"{code} {bound}" if bound else code)


def _network(address: str) -> str:
    """What counts as one address: of IPv6 the /64 network, which one machine may have for itself."""
    with suppress(ValueError):
        found = ipaddress.ip_address(address.partition("%")[0])
        if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
            return str(ipaddress.ip_network((found, 64), strict=False))
    return address[:100]
