"""Requests to a server: the caller waits for the answer or cancels the request; errors are our own classes."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import secrets
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlsplit

import httpx2 as httpx
import orjson
from pydantic import JsonValue

from ..background_loop import background_loop
from ..engine import arrow
from ..engine.reader import Cancel
from ..errors import BadRequest, Cancelled, Conflict, Later, ServerAway
from ..operations.operation import Sent
from .errors import error_of

T = TypeVar("T")
Params = Mapping[str, str | int | float | bool | list[str] | None]
"""Query parameters; a list is sent as several."""
CONNECT_S, READ_S = 10.0, 600.0
TRIES = 4
"""How often a request that changes nothing is sent before it fails."""
_LOOK_S = 0.05
_LOOP = "workbench-remote"
_BLOCK = 1 << 20
_SOON = 5
"""The longest wait for a busy server, in seconds, before the same request is sent again."""


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Sent:
        """The value of a JSON answer."""
        return orjson.loads(self.content)


class Client:
    """A server at one address, with one key.

    All clients of the process share one event loop in a background thread. A request that is cancelled closes its
    connection, so that the server stops to work on it. A forked process has a loop and connections of its own.
    """

    def __init__(self, url: str, api_key: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.url = address(url)
        self._make = partial(
            httpx.AsyncClient,
            base_url=self.url,
            # In a local network packing takes longer than sending.
            headers={
                "X-API-Key": _header(api_key),
                **({"Accept-Encoding": "identity"} if _is_local(self.url) else {}),
            },
            timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=8),
            trust_env=not _is_loopback(self.url),
            verify=_certificates(self.url),
            transport=transport,
        )
        self._of_process = {os.getpid(): self._make()}
        self.accept = arrow.MEDIA_TYPE if _is_local(self.url) else f"{arrow.MEDIA_TYPE}; {arrow.PACKED}"
        self.requests = 0
        self.version = "0.1.0"
        """The version that the server said it runs."""

    def is_before(self, version: str) -> bool:
        """Whether the server runs an older version than this."""
        return _numbers(self.version) < _numbers(version)

    def get(self, path: str, params: Params | None = None, cancel: Cancel | None = None) -> Reply:
        """The answer to a GET request."""
        return self.ask("GET", path, params=params, cancel=cancel)

    def ask(
        self,
        method: str,
        path: str,
        *,
        json: JsonValue | Mapping[str, Sent] = None,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        changes: bool = False,
        cancel: Cancel | None = None,
    ) -> Reply:
        """The answer to a request.

        Parameters
        ----------
        json : the body, JSON values.
        changes : the request changes something, so it is sent once. Other requests are sent again if the server is
            busy or the connection breaks.
        cancel : cancels the request as soon as it is set.

        Raises
        ------
        ServerAway
            If the server cannot be reached, or the connection breaks.
        WorkbenchError
            The error that the server answers, as its own class.
        """
        body = None if json is None else orjson.dumps(json)
        told = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
        return self._run(self._asked(method, path, params, told, body, changes=changes), cancel)

    def upload(
        self,
        path: str,
        file: Path,
        *,
        params: Params | None = None,
        sent: Callable[[int], None] | None = None,
    ) -> Reply:
        """Send the bytes of a file; ``sent`` is called with the number of bytes sent so far."""
        size = file.stat().st_size
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        body = _blocks(file, size, sent)
        return self._run(self._answer("POST", path, params=params, headers=headers, content=body), None)

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
                async with self._http().stream("GET", path) as answer:
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
        self._run(self._http().aclose(), None)

    def _http(self) -> httpx.AsyncClient:
        """The connections of this process: a forked one would get answers to its parent on those of its parent."""
        process = os.getpid()
        if process not in self._of_process:
            self._of_process[process] = self._make()
        return self._of_process[process]

    async def _asked(
        self,
        method: str,
        path: str,
        params: Params | None,
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

    async def _answer(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | AsyncIterator[bytes] | None = None,
        data: Mapping[str, str] | None = None,
        files: Mapping[str, tuple[str, BinaryIO]] | None = None,
    ) -> Reply:
        with self._reached():
            answer = await self._http().request(
                method, path, params=params, headers=headers, content=content, data=data, files=files
            )
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
                words += " Try http:// instead of https://."
            if "CERTIFICATE_VERIFY_FAILED" in why:
                words += " If your own authority signed its certificate, set SSL_CERT_FILE=/path/ca.pem."
            raise ServerAway(words, again=True) from None

    def _run(self, work: Coroutine[Any, Any, T], cancel: Cancel | None) -> T:
        return self._wait(asyncio.run_coroutine_threadsafe(work, background_loop(_LOOP)), cancel)

    def _wait(self, future: Future[T], cancel: Cancel | None) -> T:
        """The answer; Cancelled as soon as ``cancel`` is set. An interrupt cancels the request too."""
        try:
            if cancel is None:
                return future.result()
            while not cancel.is_set():
                try:
                    return future.result(_LOOK_S)
                except NotYet:
                    if future.done():
                        raise
            raise Cancelled("The request was cancelled.")
        finally:
            future.cancel()


async def _blocks(file: Path, most: int, sent: Callable[[int], None] | None) -> AsyncIterator[bytes]:
    """The first ``most`` bytes of a file, so that a file that grows meanwhile is sent as it was at the beginning."""
    size = 0
    with file.open("rb") as opened:
        while block := await asyncio.to_thread(opened.read, min(_BLOCK, most - size)):
            yield block
            size += len(block)
            if sent is not None:
                sent(size)


def address(url: str) -> str:
    """The address of a server with its scheme and without a slash at the end.

    Raises
    ------
    BadRequest
        If it is not the address of a server.
    """
    given = url.strip() if isinstance(url, str) else ""
    parts = urlsplit(given if "://" in given else f"http://{given}")
    try:
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise BadRequest(
            f"'{url}' is not the address of a server. Write it as http://lab:8765 or https://lab.example."
        )
    return parts.geturl().rstrip("/")


def _header(key: str) -> str:
    if not isinstance(key, str) or not key or not key.isascii() or not key.isprintable() or " " in key:
        raise BadRequest(
            "This is not a key. Give the whole text that `workbench keys create` printed; it begins with wb_."
        )
    return key


def _certificates(url: str) -> ssl.SSLContext:
    """The usual authorities, those of this system, and those of ``$SSL_CERT_FILE``: a company may have its own. A proxy
    may want them too."""
    if url.startswith("http:") and _is_loopback(url):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # nothing is encrypted, and to read them takes 30 ms
    made: ssl.SSLContext = httpx.create_ssl_context()
    made.load_default_certs()
    return made


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_local(url: str) -> bool:
    """Whether a server is on this machine or in the local network, where packing takes longer than sending."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")[:3] if part.isdigit()]
