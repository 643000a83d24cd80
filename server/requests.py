"""Bodies of requests: their size is bounded, gzip is unpacked, JSON is read strictly, files go to the disk."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import secrets
import zlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import orjson
from pydantic import JsonValue
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from workbench.errors import BadRequest, Cancelled, Invalid, Problem, TooLarge
from workbench.messages import said_of_json

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_PARTS = 32
_BLOCK = 1 << 20
_BINARY = "application/octet-stream"
_LONG = 1 << 20
"""JSON of more bytes is parsed in a thread, so that others are answered meanwhile."""
MOST_CONTAINERS = 4_000_000
"""Most lists and objects of a JSON text: more than the rows of a drive cycle that fit in a body, whose times rise. Each
takes some hundred bytes of memory."""


class BoundedRequest(Request):
    """A request whose body has at most ``most`` bytes, may be packed, and is strict JSON or a form.

    FastAPI reads a body through ``body``, ``json`` and ``form``; all of them read from `stream`.
    """

    def __init__(self, raw: Request, most: int, folder: Path) -> None:
        """``most``: the most bytes of the body, unpacked. Files of a form are written into ``folder``."""
        super().__init__(raw.scope, raw.receive, raw._send)
        self.most = most
        self.folder = folder
        self._uploads: list[Upload] = []
        self.files: list[SentFile] = []
        """Files that are removed when the request ends, unless somebody moved them away before."""

    def read_as_json(self) -> None:
        """Read the body as JSON, whatever its content type: `curl -d` calls every body a form."""
        if not self.headers.get("content-type", "").startswith("application/json"):
            others = [pair for pair in self.scope["headers"] if pair[0] != b"content-type"]
            self.scope["headers"] = [*others, (b"content-type", b"application/json")]
            del self._headers

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """The body in parts, unpacked, at most ``most`` bytes in all.

        Raises
        ------
        TooLarge
            As soon as more than ``most`` bytes are announced, sent or unpacked.
        BadRequest
            For a coding other than gzip, or a damaged gzip stream.
        """
        if hasattr(self, "_body"):
            yield self._body
            return
        announced = self.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > self.most:
            raise _too_large(self.most)
        coding = self.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip", ""):
            raise BadRequest(
                f"The coding '{coding[:40]}' of the body is not supported. Send it plain or with gzip."
            )
        unpack = _Gzip(self.most) if coding == "gzip" else None
        size = 0
        try:
            async for sent in super().stream():
                for part in [sent] if unpack is None else unpack.feed(sent):
                    size += len(part)
                    if size > self.most:
                        raise _too_large(self.most)
                    if part:
                        yield part
        except ClientDisconnect:
            raise Cancelled("The client went away while it sent the body.") from None
        if unpack is not None:
            unpack.finish()

    def is_long(self, most: int) -> bool:
        """Whether the body has more than ``most`` bytes, or does not say how many come out of it."""
        announced = self.headers.get("content-length", "")
        return not announced.isdigit() or int(announced) > most or "content-encoding" in self.headers

    async def json(self) -> JsonValue:
        """The JSON value of the body."""
        if not hasattr(self, "_json"):
            body = await self.body()
            is_long = len(body) > _LONG
            self._json = await asyncio.to_thread(strict_json, body) if is_long else strict_json(body)
        found: JsonValue = self._json
        return found

    @property
    def parsed(self) -> JsonValue | FormData:
        """The body as far as it was parsed: a JSON value or a form."""
        found: JsonValue | FormData = getattr(self, "_json", None) or getattr(self, "_form", None)
        return found

    @property
    def read(self) -> bytes:
        """The body, unpacked, if it was read whole; else nothing."""
        found: bytes = getattr(self, "_body", b"")
        return found

    def opened(self, sent: SentFile, headers: Headers) -> Upload:
        """A file of a form, opened to be written; it is closed and removed when the request ends."""
        self.files.append(sent)
        upload = Upload(sent, headers)
        self._uploads.append(upload)
        return upload

    def dispose(self) -> None:
        """Close what was sent, and remove what nobody kept."""
        for upload in self._uploads:
            upload.file.close()
        for sent in self.files:
            sent.path.unlink(missing_ok=True)

    async def _get_form(self, **limits: float) -> FormData:
        kind, options = parse_options_header(self.headers.get("content-type", ""))
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise Invalid(Problem((), "The body must be a form (multipart/form-data).", "form"))
        parser = _FormParser(self)
        try:
            form = await parser.parse()
        except MultiPartException as error:
            if "Too many" in error.message or "exceeded" in error.message:
                raise TooLarge(
                    f"The form is too large: it may have {_MOST_PARTS} parts, and 1 MiB in each field."
                ) from None
            raise Invalid(Problem((), f"The form cannot be read ({error.message}).", "form")) from None
        self._form = form
        names = [name for name, _ in form.multi_items()]
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise Invalid(Problem((twice,), f"The part '{twice}' is in the form twice. Send it once.", "form"))
        return form


class Upload(UploadFile):
    """A file of a form, written to its place on disk as it arrives."""

    def __init__(self, sent: SentFile, headers: Headers) -> None:
        self.sent = sent
        super().__init__(sent.path.open("x+b"), size=0, filename=sent.filename, headers=headers)

    def saved(self) -> SentFile:
        """The file, whole on disk."""
        self.file.flush()
        self.sent.size = self.size or 0
        return self.sent


class _FormParser(MultiPartParser):
    """Writes files into the folder of the request; refuses a form that is cut off, and texts that are not UTF-8."""

    def __init__(self, request: BoundedRequest) -> None:
        super().__init__(request.headers, request.stream(), max_files=_MOST_PARTS, max_fields=_MOST_PARTS)
        self._request = request
        self._ended = False

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        spooled = self._current_part.file
        if spooled is None:
            return
        # Starlette writes to memory first, and then to the system's folder for temporary files, which may be small.
        self._files_to_close_on_error.pop().close()
        sent = new_file(self._request.folder, spooled.filename or "", spooled.content_type or _BINARY)
        self._current_part.file = self._request.opened(sent, spooled.headers)

    def on_part_end(self) -> None:
        part = self._current_part
        try:
            if part.file is None:
                part.data.decode("utf-8")
        except UnicodeDecodeError:
            name = part.field_name
            raise Invalid(Problem((name,), f"'{name[:80]}' is not a UTF-8 text.", "form")) from None
        super().on_part_end()

    def on_end(self) -> None:
        self._ended = True

    async def parse(self) -> FormData:
        form = await super().parse()
        if not self._ended:
            await form.close()
            raise Invalid(Problem((), "The form is cut off.", "form"))
        return form


class _Gzip:
    """Unpacks at most ``most`` bytes, a block at a time, so that a small body cannot fill the memory."""

    BLOCK = 1 << 18

    def __init__(self, most: int) -> None:
        self._object = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self._most = most

    def feed(self, data: bytes) -> list[bytes]:
        parts: list[bytes] = []
        size = 0
        try:
            # After a full block there may be more output, although all of the input was taken.
            while (data or (parts and len(parts[-1]) == self.BLOCK)) and size <= self._most:
                if data and self._object.eof:
                    raise BadRequest("The body goes on after its gzip stream ended.")
                parts.append(self._object.decompress(data, self.BLOCK))
                size += len(parts[-1])
                data = self._object.unconsumed_tail or self._object.unused_data
        except zlib.error as error:
            raise BadRequest(f"The body is not a gzip stream ({error}).") from None
        return parts

    def finish(self) -> None:
        if not self._object.eof:
            raise BadRequest("The gzip stream of the body is cut off.")


def _too_large(most: int) -> TooLarge:
    size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most} bytes"
    return TooLarge(f"The body is larger than {size}, the limit here.")


def strict_json(data: bytes, what: str = "The body") -> JsonValue:
    """The value of a JSON text, by the standard: UTF-8, no NaN, no key twice in one object.

    ``what`` names the text in problems.

    Raises
    ------
    Invalid
        With line and column where there are any.
    TooLarge
        If it has more than ``MOST_CONTAINERS`` lists and objects.
    """
    if data.count(b"[") + data.count(b"{") > MOST_CONTAINERS:
        raise TooLarge(f"{what} has more than {MOST_CONTAINERS} lists and objects, the limit here.")
    try:
        with _not_collected(len(data)):
            value: JsonValue = json.loads(
                data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
            )
        if _SURROGATE.search(data):
            _refuse_halves(data)
        return value
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        message = f"{what} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        raise Invalid(Problem((), message, "json_invalid", place)) from None
    except (UnicodeDecodeError, ValueError) as error:
        raise Invalid(Problem((), f"{what} is not JSON: {said_of_json(error)}.", "json_invalid")) from None
    except RecursionError:
        raise Invalid(Problem((), f"{what} is nested too deep.", "json_depth")) from None


@contextmanager
def _not_collected(size: int) -> Iterator[None]:
    """Inside, the garbage collector does not run while a long text is parsed: it would look again and again at the
    millions of lists that are made, which takes eight times as long as making them, and no thread runs meanwhile."""
    was_on = size > _LONG and gc.isenabled()
    if was_on:
        gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _refuse_halves(data: bytes) -> None:
    """Refuse a text with half of a surrogate pair: it is not valid Unicode, and cannot be stored."""
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"a text holds half of a surrogate pair ({error})") from None


def _once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key '{key[:80]}' is twice in one object")
            seen.add(key)
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; use null")


@dataclass
class SentFile:
    """A file that was sent. It is removed when its request ends, unless it was moved away before."""

    filename: str
    content_type: str
    path: Path
    size: int = 0

    def blocks(self) -> Iterator[bytes]:
        """Its bytes, a MiB at a time."""
        with self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block


def new_file(folder: Path, filename: str = "", content_type: str = _BINARY) -> SentFile:
    """A place for a file that arrives, under a name that cannot be guessed."""
    place = folder / "incoming"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return SentFile(filename, content_type[:200], place / secrets.token_hex(16))


async def streamed_to_disk(request: Request, folder: Path) -> SentFile:
    """The body of a request as a file."""
    sent = new_file(folder, content_type=request.headers.get("content-type", _BINARY))
    try:
        with sent.path.open("xb") as file:
            async for part in request.stream():
                sent.size += len(part)
                await asyncio.to_thread(file.write, part)
    except BaseException:  # also when the request is cancelled: half of a body is of no use
        sent.path.unlink(missing_ok=True)
        raise
    return sent
