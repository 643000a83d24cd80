"""The connections of a server process: how many there may be, and how long a client may take to send and to receive.

A client needs no key to connect, so nothing here waits for one without an end. uvicorn limits none of this: its
``limit_concurrency`` refuses requests, and counts connections on which nothing happens.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from . import descriptors, log
from .responses import JSON, dumps

GRACE = 30
"""How long a stop waits for running requests, in seconds."""
_SILENCE = 60
"""How long a worker may be silent before it is killed, in seconds. On a busy machine a start takes more than uvicorn's
five, and a worker that is killed then never starts."""
_BATCH = 512
"""How many connections asyncio accepts at once, before it looks at how many there are."""
_RESERVED = 256 + _BATCH
"""Descriptors that are kept for the store, its caches, other processes, and a batch of new connections."""
_FEWEST = 64
_REASONS = {408: b"Request Timeout", 503: b"Service Unavailable"}

App: TypeAlias = FastAPI | str


@dataclass(frozen=True)
class ConnectionLimits:
    """What a client may take.

    Parameters
    ----------
    most : connections of one process. One more closes the connection that has waited longest for a request, or else
        the one whose body is furthest behind; if all are at work, the new one is refused with 503. The limit of
        descriptors of the process may allow fewer.
    header_seconds : until the headers of a request are complete, from the connection or from their first byte.
    body_seconds : until the next bytes of a body, while the server waits for them.
    body_rate : bytes of a body that must come in a second. A body that comes more slowly, also in parts with pauses, is
        refused once it is ``body_seconds`` behind.
    answer_seconds : until the client takes more bytes of an answer.
    """

    most: int = 2000
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    body_rate: int = 1024
    answer_seconds: float = 60.0

    @property
    def allowed(self) -> int:
        """``most``, or what the descriptors of this process allow."""
        limit = descriptors.limit()
        return self.most if limit is None else min(self.most, max(limit - _RESERVED, _FEWEST))


class HttpConfig(uvicorn.Config):
    """How uvicorn serves our application: with limits on connections, and a log of our own."""

    def __init__(
        self, app: App, *, factory: bool = False, workers: int = 1, limits: ConnectionLimits | None = None
    ) -> None:
        super().__init__(
            app,
            factory=factory,
            workers=workers,
            http=Connection,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=_BATCH,
            timeout_graceful_shutdown=GRACE,
            timeout_worker_healthcheck=_SILENCE,
        )
        self.limits = limits or ConnectionLimits()
        self.connections: Connections | None = None


class Connections:
    """All connections of a server, and which of them wait for a request, the oldest first."""

    def __init__(self, limits: ConnectionLimits, loop: asyncio.AbstractEventLoop) -> None:
        self.limits = limits
        self.most = limits.allowed
        self._loop = loop
        self._all: set[Connection] = set()
        self._waiting: OrderedDict[Connection, None] = OrderedDict()
        self._every = min(1.0, limits.header_seconds / 4, limits.body_seconds / 4, limits.answer_seconds / 4)
        self._timer: asyncio.TimerHandle | None = None
        self._crowded_at = -60.0

    def add(self, connection: Connection) -> None:
        """Take a new connection. If there are too many, one is closed."""
        self._all.add(connection)
        if len(self._all) > self.most:
            self._crowded()
            oldest = next(iter(self._waiting), None)
            if oldest is not None:
                oldest.end()
            elif (slow := max(self._all, key=lambda one: one.behind)).behind:
                slow.give_up(
                    "The server has too many connections, and this body comes slowly. Try again in a moment."
                )
            else:
                connection.refuse(503, "BUSY", "The server has too many connections. Try again in a moment.")
                return
        self._waiting[connection] = None
        if self._timer is None:
            self._timer = self._loop.call_later(self._every, self._look)

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        self._all.discard(connection)
        self._waiting.pop(connection, None)

    def ended(self, connection: Connection) -> None:
        """A connection is being closed: it is not one to close again."""
        self._waiting.pop(connection, None)

    def waits(self, connection: Connection) -> None:
        """A connection waits for its next request."""
        self._waiting[connection] = None
        self._waiting.move_to_end(connection)

    def works(self, connection: Connection) -> None:
        """The headers of a request are complete."""
        self._waiting.pop(connection, None)

    def _look(self) -> None:
        """End what takes too long. One timer for all costs less than one for each request."""
        now = self._loop.time()
        for connection in tuple(self._all):
            connection.check(now)
        self._timer = self._loop.call_later(self._every, self._look) if self._all else None

    def _crowded(self) -> None:
        """Say it in the log, once a minute: who floods a server must not fill its disk."""
        now = self._loop.time()
        if now - self._crowded_at >= 60:
            self._crowded_at = now
            log.warn("too many connections: those that wait longest are closed", connections=self.most)


class Connection(H11Protocol):
    """uvicorn's connection, with our limits."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        if not isinstance(config, HttpConfig):
            raise TypeError("A Connection takes its limits from an HttpConfig.")
        if config.connections is None:
            config.connections = Connections(config.limits, self.loop)
        self._registry = config.connections
        self._limits = config.limits
        self._since = self._heard = self._taken_at = self.loop.time()
        self._begun, self._partly = True, False
        """Whether the time for headers runs. After an answer it runs from the first byte of the next request; until
        then uvicorn's time for kept connections does. ``_partly``: some bytes of a request have arrived."""
        self.behind = 0.0
        """How many seconds the body of the request at work is behind ``body_rate``."""
        self._looked_at, self._arrived = self._since, 0
        """When that was last looked at, and the bytes that have arrived since."""
        self._left = 0
        """Bytes of answers that the client had not taken when they were last counted."""

    # What uvicorn calls

    # asyncio passes the transport of the protocol's own kind; its base class declares the wider one.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._registry.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._registry.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = self.loop.time()
        self._arrived += len(data)
        if not self._works:
            self._partly = True
            if not self._begun:
                self._begun, self._since = True, self._heard
        super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        if self._works:
            self._registry.works(self)

    def on_response_complete(self) -> None:
        self.behind = 0.0
        # First, since uvicorn may find the next request in what was sent already.
        self._begun, self._partly, self._since = False, False, self.loop.time()
        if not self.transport.is_closing():
            self._registry.waits(self)
        super().on_response_complete()

    # The limits

    @property
    def _works(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def check(self, now: float) -> None:
        """End this connection if its client takes too long."""
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent != self._left:
            self._left, self._taken_at = unsent, now
        elif now - self._taken_at > self._limits.answer_seconds:
            self.transport.abort()
            return
        passed, arrived = now - self._looked_at, self._arrived
        self._looked_at, self._arrived = now, 0
        if self.transport.is_closing():
            return
        if not self._works:
            self._check_headers(now)
        elif self.cycle.more_body:
            self._check_body(now, passed, arrived)
        else:
            self.behind = 0.0

    def _check_headers(self, now: float) -> None:
        """The headers of the next request, or the rest of a body that was answered before its end."""
        if not self._begun or now - self._since <= self._limits.header_seconds:
            return
        if self._partly and self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE:
            seconds = self._limits.header_seconds
            self.refuse(408, "TIMEOUT", f"The headers of the request took longer than {seconds:g} s.")
        else:
            self.end()

    def _check_body(self, now: float, passed: float, arrived: int) -> None:
        """``passed``: seconds since the last look, in which so many bytes have ``arrived``."""
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self._heard = now  # the client waits for us
            return
        limits = self._limits
        self.behind = max(0.0, self.behind + passed - arrived / limits.body_rate)
        if now - self._heard > limits.body_seconds:
            self.give_up(f"The next bytes of the body took longer than {limits.body_seconds:g} s.")
        elif self.behind > limits.body_seconds:
            self.give_up(f"The body came with less than {limits.body_rate} bytes a second.")

    def give_up(self, message: str) -> None:
        """End a request whose body does not come."""
        begun = self.cycle.response_started
        # The application gets an answer too: the client is gone.
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        if begun:
            self.end()
        else:
            self.refuse(408, "TIMEOUT", message)

    def end(self) -> None:
        """Close this connection, which has no request at work."""
        self.behind = 0.0
        self._registry.ended(self)
        self._unset_keepalive_if_required()
        self.transport.close()

    def refuse(self, status: int, code: str, message: str) -> None:
        """Answer with an error, and close."""
        content = dumps({"error_code": code, "message": message})
        headers = [(b"content-type", JSON.encode()), (b"content-length", str(len(content)).encode())]
        headers += [(b"connection", b"close"), (b"retry-after", b"2")]
        parts: tuple[Callable[[], h11.Event], ...] = (
            lambda: h11.Response(status_code=status, headers=headers, reason=_REASONS[status]),
            lambda: h11.Data(data=content),
            h11.EndOfMessage,
        )
        for part in parts:
            self.transport.write(self.conn.send(part()) or b"")
        self.end()
