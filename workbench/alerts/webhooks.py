"""Webhooks: messages to addresses that an Admin allowed, at least once, with bounded time and number of tries.

A redirect is not followed. The name of the host is looked up once, every address it has is checked, and the connection
goes to one that was checked, so that no second answer of the name server can lead elsewhere.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import orjson

from ..errors import BadRequest
from ..store.records.alerts import Address, Due, Occurrence
from ..store.store import Store
from ..table import time_text
from ..version import __version__

SECONDS = 10.0
"""Most seconds that one try takes once the host is known."""
MOST_TRIES = 30
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 3600.0
"""Seconds between tries: each pause is twice the one before it."""
TAKEN_SECONDS = 120.0
"""After so long a message that a process took and did not settle is due again."""
MOST_AT_ONCE = 50
_PORTS = {"http": 80, "https": 443}
_LONGEST = 2000
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""Addresses that a gateway turns into those of IPv4, which are their last 32 bits: https://www.rfc-editor.org/rfc/rfc6052"""


class NotSent(Exception):
    """A message did not arrive; the text says why."""


class Target(NamedTuple):
    """An address, taken apart."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def text(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def target_of(address: str) -> Target:
    """An address, taken apart.

    Raises
    ------
    BadRequest
        If it is not one of http or https, or holds a name, a password, a query or a fragment.
    """
    try:
        parts: SplitResult = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise BadRequest(f"'{address[:200]}' is not an address: {error}.") from None
    if parts.scheme not in _PORTS or not parts.hostname or len(address) > _LONGEST:
        raise BadRequest(f"'{address[:200]}' is not an address. Write it like https://hooks.example.com/lab.")
    if parts.username is not None or parts.query or parts.fragment or any(c <= " " or c > "~" for c in address):
        raise BadRequest("An address of a webhook has neither a name, a password, a query, a fragment nor spaces.")
    if "/../" in f"{parts.path}/" or "/./" in f"{parts.path}/" or "\\" in address or "%" in parts.path:
        raise BadRequest("The path of a webhook is written out, without '..', '%' and backslashes.")
    return Target(parts.scheme, parts.hostname.lower(), port or _PORTS[parts.scheme], parts.path or "/")


def allowed(address: str, addresses: Iterable[Address]) -> Address:
    """The allowed address that an address begins with.

    Raises
    ------
    BadRequest
        If no Admin has allowed it.
    """
    wanted = target_of(address)
    for one in addresses:
        begins = target_of(one.address)
        inside = wanted.path == begins.path or wanted.path.startswith(begins.path.rstrip("/") + "/")
        if wanted[:3] == begins[:3] and inside:
            return one
    # Which are allowed only Admins may know: many such addresses are secrets, and others' organizations have some.
    raise BadRequest(
        f"Webhooks may not go to '{wanted.text}': no Admin has allowed it. An Admin does with "
        f"'workbench webhooks allow {wanted._replace(path='/').text}...'."
    )


@dataclass(frozen=True)
class _Way:
    """How to reach a host: one of its addresses, which was checked."""

    family: socket.AddressFamily
    address: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]


def _way(target: Target, *, private: bool) -> _Way:
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotSent(f"the host '{target.host}' is not known ({error})") from None
    for *_, place in found:
        if not is_allowed(str(place[0]), private=private):
            raise NotSent(f"'{target.host}' is at an address of a private network, which was not allowed")
    family, *_, place = found[0]
    return _Way(family, place)


def is_allowed(text: str, *, private: bool) -> bool:
    """Whether a message may go to an IP address: one of the internet, or with ``private`` one of the own network.

    Never one of the link itself, where clouds keep their keys, nor one of many hosts.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    if mapped is not None:
        address = mapped
    elif address in _TRANSLATED:
        address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.is_multicast or address.is_unspecified or address.is_link_local:
        return False
    return address.is_global or (private and (address.is_private or address.is_loopback))


class _Connection(http.client.HTTPConnection):
    """A connection to an address that was checked, under the name of its host."""

    def __init__(self, target: Target, way: _Way) -> None:
        super().__init__(target.host, target.port, timeout=SECONDS)
        self._target, self._way = target, way

    def connect(self) -> None:
        plain = socket.socket(self._way.family, socket.SOCK_STREAM)
        plain.settimeout(SECONDS)
        try:
            plain.connect(self._way.address)
            self.sock = plain
            if self._target.scheme == "https":
                self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self._target.host)
        except BaseException:
            plain.close()
            raise


def send(address: str, body: bytes, id: str, *, private: bool) -> None:
    """Send a message once.

    Raises
    ------
    NotSent
        If it did not arrive: no connection, another answer than 2xx, or no answer in time.
    """
    target = target_of(address)
    connection = _Connection(target, _way(target, private=private))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"battery-workbench/{__version__}",
        "X-Workbench-Delivery": id,
        "Connection": "close",
    }
    late = threading.Timer(SECONDS, _cut, [connection])
    late.daemon = True
    late.start()
    try:
        connection.request("POST", target.path, body, headers)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise NotSent(f"{type(error).__name__}: {error}"[:300]) from None
    finally:
        late.cancel()
        connection.close()
    if 300 <= status < 400:
        raise NotSent(f"the answer was a redirect ({status}), which is not followed")
    if not 200 <= status < 300:
        raise NotSent(f"the answer was {status}")


def _cut(connection: _Connection) -> None:
    """End a connection whose other side is too slow: reading from it then fails."""
    held = connection.sock
    if held is not None:
        try:
            held.shutdown(socket.SHUT_RDWR)
        except OSError:  # it is over already
            return


def message(one: Occurrence) -> bytes:
    """What a webhook gets; ``id`` is the same at every try."""
    return orjson.dumps(
        {
            "id": one.id,
            "alert": {"id": one.alert_id, "name": one.alert_name},
            "project_id": one.project_id,
            "dashboard_id": one.dashboard_id,
            "plot_id": one.plot_id,
            "key": one.key,
            "found": one.found,
            "first_true": time_text(one.first_true),
        }
    )


def deliver(store: Store, *, most: int = MOST_AT_ONCE) -> int:
    """Send the messages that are due, at most so many; gives how many arrived.

    A message is taken for a while before it is sent. A process that ends before it notes the success leaves it to be
    sent again, under the same id.
    """
    arrived = 0
    for _ in range(most):
        now = time.time_ns() // 1000
        due = store.alerts.take_due(now, now + round(TAKEN_SECONDS * 1e6))
        if due is None:
            break
        arrived += _deliver(store, due)
    return arrived


def _deliver(store: Store, due: Due) -> bool:
    one = due.occurrence
    problem: str | None = None
    last = one.tries >= MOST_TRIES
    try:
        rule = allowed(due.address, store.alerts.addresses())
        send(due.address, message(one), one.id, private=rule.private)
    except BadRequest as error:
        problem, last = str(error), True
    except NotSent as error:
        problem = str(error)
    pause = min(FIRST_PAUSE * 2 ** (one.tries - 1), LONGEST_PAUSE)
    again = None if problem is None or last else time.time_ns() // 1000 + round(pause * 1e6)
    with store.transaction() as db:
        store.alerts.settle(db, one.id, delivered=problem is None, next_at=again, problem=problem)
    return problem is None
