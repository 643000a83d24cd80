"""How a tool asks the HTTP interface: in this process, or whoever else can answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias
from urllib.parse import urlencode

import orjson
from pydantic import JsonValue
from starlette.types import ASGIApp, Message

from workbench.operations.operation import Sent

from ..assistant_header import HEADER, written
from ..responses import dumps
from ..schemas import Json

Query: TypeAlias = Mapping[str, Sent]
"""Query parameters: texts, numbers, booleans, or lists of these."""
KEYS = ("x-api-key", "authorization", "x-organization-id")
"""The headers that say who asks."""


@dataclass(frozen=True)
class Reply:
    """What the HTTP interface answered."""

    status: int
    content: bytes

    @property
    def ok(self) -> bool:
        return self.status < 400

    def json(self) -> Json:
        """The JSON object of the answer; an answer that is a list is under ``items``."""
        found: JsonValue = orjson.loads(self.content) if self.content else {}
        return found if isinstance(found, dict) else {"items": found}


class Door(Protocol):
    """Whoever answers requests to the HTTP interface."""

    async def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """The answer to a request; ``path`` has the query."""
        ...


@dataclass(frozen=True)
class Asking:
    """One call of a tool: asks with the key of the assistant, and says who it is."""

    door: Door
    credentials: Mapping[str, str]
    client: str = "unknown"
    tool: str = ""
    session: str | None = None
    project: str | None = None
    """Name or id of the project where a call names none."""

    async def ask(self, method: str, path: str, query: Query | None = None, body: JsonValue = None) -> Reply:
        """The answer of the HTTP interface to a request."""
        headers = {**self.credentials, HEADER: written(self.client, self.tool, self.session)}
        words = urlencode({name: _word(value) for name, value in (query or {}).items()}, doseq=True)
        sent = None if body is None else dumps(body)
        if sent is not None:
            headers["content-type"] = "application/json"
        return await self.door.ask(method, f"{path}?{words}" if words else path, headers, sent)


def _word(value: Sent) -> Sent:
    if isinstance(value, bool):
        return "true" if value else "false"
    return orjson.dumps(value).decode() if isinstance(value, dict) else value


@dataclass(frozen=True)
class InProcess:
    """Asks an application of this process, as if the request had come over the network."""

    app: ASGIApp
    host: str = "localhost"
    client: tuple[str, int] = field(default=("127.0.0.1", 0))
    scheme: str = "http"

    async def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """The answer of the application. If the caller is cancelled, so is the work."""
        bare, _, query = path.partition("?")
        named = {"host": self.host, **headers, "content-length": str(len(body or b""))}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": self.scheme,
            "path": bare,
            "raw_path": bare.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in named.items()
            ],
            "client": self.client,
            "server": ("localhost", 0),
            "state": {},
        }
        conversation = _Conversation(body or b"")
        await self.app(scope, conversation.receive, conversation.send)
        return Reply(conversation.status, b"".join(conversation.parts))


class _Conversation:
    """The messages of one request: its body, then nothing until the application has answered."""

    def __init__(self, body: bytes) -> None:
        self.status = 500
        self.parts: list[bytes] = []
        self._body: bytes | None = body
        self._never = asyncio.Event()

    async def receive(self) -> Message:
        if self._body is None:
            await self._never.wait()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.parts.append(message.get("body", b""))
