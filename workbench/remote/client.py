"""Requests to a server: one at a time for who asks, withdrawn when nobody waits any more, errors as our own classes."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import secrets
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2 as httpx
import orjson

from ..engine import arrow
from ..engine.reader import Cancel
from ..errors import BadRequest, Cancelled, Conflict, Later, ServerAway
from .errors import error_of

T = TypeVar("T")
CONNECT_S, READ_S = 10.0, 600.0
TRIES = 4
"""How often a request that changes nothing is sent before the server is given up."""
_LOOK_S = 0.05
_BLOCK = 1 << 20
_SOON = 5
"""Seconds that are waited for a busy server before the same is asked again."""


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """The value of a JSON answer."""
        return orjson.loads(self.content)


class Client:
    """A server under one address, with one key.

    Requests run on a loop of their own in a background thread, which all clients of the process share: a request that
    is withdrawn closes its connection, so that the server stops to work on it.
    """

    def __init__(self, url: str, api_key: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.url = address(url)
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers={"X-API-Key": _header(api_key)},
            timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=8),
            trust_env=not _is_loopback(self.url),
            verify=_certificates() if self.url.startswith("https:") else True,
            transport=transport,
        )
        self.accept = arrow.MEDIA_TYPE if _is_near(self.url) else f"{arrow.MEDIA_TYPE}; {arrow.PACKED}"
        self.requests = 0
        self.version = "0.1.0"
        """The version that the server said it runs."""

    def get(self, path: str, params: Mapping[str, Any] | None = None, cancel: Cancel | None = None) -> Reply:
        """What stands at a path."""
        return self.ask("GET", path, params=params, cancel=cancel)

    def ask(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        changes: bool = False,
        cancel: Cancel | None = None,
    ) -> Reply:
        """The answer to a request.

        Parameters
        ----------
        json : the body, JSON values.
        changes : the request changes something, so it is sent once; others again where the server is busy or a
            connection broke.
        cancel : once it is set, the request is withdrawn.

        Raises
        ------
        ServerAway
            If the server cannot be reached, or breaks off.
        WorkbenchError
            What the server says is wrong.
        """
        body = None if json is None else orjson.dumps(json)
        told = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
        return self._run(self._asked(method, path, params, told, body, changes=changes), cancel)

    def upload(
        self,
        path: str,
        file: Path,
        *,
        params: Mapping[str, Any] | None = None,
        sent: Callable[[int], None] | None = None,
    ) -> Reply:
        """Send the bytes of a file; ``sent`` is told how many of them are on their way."""
        size = file.stat().st_size
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        return self._run(self._sent("POST", path, params, headers, lambda: _blocks(file, size, sent)), None)

    def download(self, path: str, target: Path) -> None:
        """Write what is at a path to a new file, whole or not at all.

        Raises
        ------
        Conflict
            If the file exists.
        """
        taken = Conflict(f"'{target}' exists already. Give a new name.")
        if target.exists():
            raise taken
        partial = target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")

        async def receive() -> None:
            with self._reached():
                async with self._http.stream("GET", path) as answer:
                    if answer.status_code >= 400:
                        raise error_of(answer.status_code, answer.headers, await answer.aread(), self.url)
                    with partial.open("wb") as file:
                        async for block in answer.aiter_bytes(_BLOCK):
                            await asyncio.to_thread(file.write, block)
            self.requests += 1

        try:
            self._run(receive(), None)
            os.link(partial, target)
        except FileExistsError:
            raise taken from None
        finally:
            partial.unlink(missing_ok=True)

    def form(self, path: str, fields: Mapping[str, str], files: Mapping[str, Path]) -> Reply:
        """Send a form with files."""

        async def send() -> Reply:
            opened = {name: file.open("rb") for name, file in files.items()}
            try:
                parts = {name: (f"{name}.parquet", file) for name, file in opened.items()}
                return await self._answer("POST", path, data=dict(fields), files=parts or None)
            finally:
                for file in opened.values():
                    file.close()

        return self._run(send(), None)

    def close(self) -> None:
        """Close the connections."""
        self._wait(asyncio.run_coroutine_threadsafe(self._http.aclose(), _loop()), None)

    async def _asked(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        changes: bool,
    ) -> Reply:
        tries = 1 if changes else TRIES
        for tried in range(1, tries + 1):
            try:
                return await self._answer(method, path, params=params, headers=headers, content=body)
            except (Later, ServerAway) as error:
                wait = error.retry_after if isinstance(error, Later) else 0.2 * tried
                if (
                    tried == tries
                    or wait > _SOON
                    or not (isinstance(error, Later) or (error.again and self.requests))
                ):
                    raise
                await asyncio.sleep(wait)
        raise ServerAway(f"The server at {self.url} does not answer.")

    async def _sent(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        body: Callable[[], AsyncIterator[bytes]],
    ) -> Reply:
        return await self._answer(method, path, params=params, headers=headers, content=body())

    async def _answer(self, method: str, path: str, **more: Any) -> Reply:
        with self._reached():
            answer = await self._http.request(method, path, **more)
        self.requests += 1
        if answer.status_code >= 400:
            raise error_of(answer.status_code, answer.headers, answer.content, self.url)
        return Reply(answer.status_code, answer.headers, answer.content)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Words what goes wrong between here and the server."""
        try:
            yield
        except httpx.TimeoutException:
            raise ServerAway(f"The server at {self.url} did not answer in time. Ask again later.") from None
        except httpx.TransportError as error:
            why = str(error) or type(error).__name__
            words = f"The server at {self.url} cannot be reached ({why}). Is it running, and is the address right?"
            if "WRONG_VERSION_NUMBER" in why:
                words += " It may speak http:// rather than https://."
            if "CERTIFICATE_VERIFY_FAILED" in why:
                words += " If its certificate is of your own authority, name that: SSL_CERT_FILE=/path/ca.pem."
            raise ServerAway(words, again=True) from None

    def _run(self, work: Coroutine[Any, Any, T], cancel: Cancel | None) -> T:
        return self._wait(asyncio.run_coroutine_threadsafe(work, _loop()), cancel)

    def _wait(self, future: Future[T], cancel: Cancel | None) -> T:
        """The answer, or Cancelled as soon as nobody waits for it; an interrupt withdraws it too."""
        try:
            if cancel is None:
                return future.result()
            while not cancel.is_set():
                try:
                    return future.result(_LOOK_S)
                except NotYet:
                    if future.done():
                        raise
            raise Cancelled("The request was withdrawn.")
        finally:
            future.cancel()


async def _blocks(file: Path, most: int, sent: Callable[[int], None] | None) -> AsyncIterator[bytes]:
    """The first ``most`` bytes of a file: one that is written to meanwhile goes out as it was at the beginning."""
    size = 0
    with file.open("rb") as opened:
        while block := await asyncio.to_thread(opened.read, min(_BLOCK, most - size)):
            yield block
            size += len(block)
            if sent is not None:
                sent(size)


def address(url: str) -> str:
    """An address as requests take it.

    Raises
    ------
    BadRequest
        If it is none of a server.
    """
    told = url.strip()
    parts = urlsplit(told if "://" in told else f"http://{told}")
    try:
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise BadRequest(f"'{url}' is no address of a server, such as http://lab:8765 or https://lab.example.")
    return parts.geturl().rstrip("/")


def _header(key: str) -> str:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise BadRequest("The key is the whole text that `workbench keys create` printed, such as wb_...")
    return key


def _certificates() -> ssl.SSLContext:
    """The usual authorities, and those of this system and of ``$SSL_CERT_FILE``: a house may have its own."""
    made: ssl.SSLContext = httpx.create_ssl_context()
    made.load_default_certs()
    return made


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_near(url: str) -> bool:
    """Whether a server is on this machine or in this house, where packing takes longer than sending."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop on which the requests of this process run."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="workbench-remote", daemon=True).start()
    return loop
