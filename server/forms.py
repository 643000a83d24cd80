"""What was sent, by its declared form: a JSON value, the fields and the file of a multipart form, or raw bytes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from python_multipart import MultipartParser
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import parse_options_header
from starlette.requests import Request

from workbench.errors import Invalid, Problem, TooLarge, instead

from . import body
from .operation import Body

if TYPE_CHECKING:
    from .state import State

_MOST_PARTS = 32


@dataclass
class SentFile:
    """A file that was sent, waiting on disk; whoever keeps it moves it away."""

    filename: str
    content_type: str
    path: Path
    size: int = 0

    def blocks(self) -> Iterator[bytes]:
        """Its bytes, a MiB at a time."""
        with self.path.open("rb") as file:
            while block := file.read(1 << 20):
                yield block


@dataclass
class Form:
    """The fields of a multipart form by name, and its files."""

    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, SentFile] = field(default_factory=dict)

    def get(self, name: str) -> str | None:
        return self.fields.get(name)

    def file(self, name: str = "file") -> SentFile:
        """The file of a part.

        Raises
        ------
        Invalid
            If it is missing.
        """
        if name not in self.files:
            raise Invalid(Problem((name,), f"The form needs a file '{name}'.", "missing"))
        return self.files[name]

    def json(self, name: str, default: Any = None) -> Any:
        """The value of a field that holds JSON text."""
        if name not in self.fields:
            return default
        try:
            return body.strict_json(self.fields[name].encode(), f"'{name}'")
        except Invalid as error:
            raise Invalid([Problem((name,), problem.msg, problem.type) for problem in error.problems]) from None

    def only(self, *names: str) -> None:
        """Refuse parts of other names."""
        unknown = [name for name in (*self.fields, *self.files) if name not in names]
        if unknown:
            message = f"There is no part '{unknown[0][:80]}' here. {instead(unknown[0], names, 'parts')}"
            raise Invalid(Problem((unknown[0],), message, "extra_forbidden"))


async def received(request: Request, declared: Body, state: State) -> Any:
    """The body of a request in its declared form."""
    settings = state.settings
    most = {"small": settings.small_body, "large": settings.large_body, "upload": settings.upload}[declared.most]
    if declared.form == "raw":
        return await _raw(request, most, state)
    if declared.form == "multipart":
        return await _form(request, most, state)
    data = await body.read(request, most)
    if not data and declared.optional:
        return {}
    return body.as_object(body.strict_json(data))


def dispose(sent: Any) -> None:
    """Remove the files of a body that nobody kept."""
    files = [sent] if isinstance(sent, SentFile) else list(sent.files.values()) if isinstance(sent, Form) else []
    for file in files:
        file.path.unlink(missing_ok=True)


def new_file(folder: Path, filename: str = "", content_type: str = "application/octet-stream") -> SentFile:
    """A file in the folder of what comes in, under a name that cannot be guessed."""
    place = folder / "incoming"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return SentFile(filename, content_type, place / secrets.token_hex(16))


async def _raw(request: Request, most: int, state: State) -> SentFile:
    content_type = request.headers.get("content-type", "application/octet-stream")
    sent = new_file(state.files, content_type=content_type[:200])
    try:
        with sent.path.open("xb") as file:
            async for part in body.unpacked(request, most):
                sent.size += len(part)
                await asyncio.to_thread(file.write, part)
    except BaseException:
        sent.path.unlink(missing_ok=True)
        raise
    return sent


async def _form(request: Request, most: int, state: State) -> Form:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise Invalid(Problem((), "This takes a form (multipart/form-data).", "form"))
    parts = _Parts(state)
    try:
        parser = MultipartParser(boundary, parts.callbacks())
        async for part in body.unpacked(request, most):
            await asyncio.to_thread(parser.write, part)
        parser.finalize()
        if not parts.ended:
            raise Invalid(Problem((), "The form is cut off.", "form"))
    except BaseException as error:
        parts.close()
        dispose(parts.form)
        if isinstance(error, MultipartParseError):
            raise Invalid(Problem((), f"The form cannot be read ({error}).", "form")) from None
        raise
    parts.close()
    return parts.form


class _Parts:
    """Takes the parts of a form as the parser finds them: fields into memory, files onto the disk."""

    def __init__(self, state: State) -> None:
        self.form = Form()
        self.ended = False
        self._state = state
        self._headers: dict[bytes, bytes] = {}
        self._name, self._value = b"", b""
        self._part = ""
        self._sent: SentFile | None = None
        self._file: IO[bytes] | None = None
        self._field = bytearray()
        self._count = 0

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_done,
            "on_end": self._all,
        }

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _begin(self) -> None:
        self._count += 1
        if self._count > _MOST_PARTS:
            raise TooLarge(f"A form has at most {_MOST_PARTS} parts.")
        self._headers, self._field = {}, bytearray()
        self._sent, self._file = None, None

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name, self._value = b"", b""

    def _headers_done(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._part = options.get(b"name", b"").decode("utf-8", "replace")
        if not self._part:
            raise Invalid(Problem((), "A part of the form has no name.", "form"))
        if self._part in self.form.fields or self._part in self.form.files:
            raise Invalid(Problem((self._part,), f"The part '{self._part}' stands twice in the form.", "form"))
        if b"filename" in options:
            filename = options[b"filename"].decode("utf-8", "replace")
            content_type = self._headers.get(b"content-type", b"application/octet-stream").decode("latin-1")
            self._sent = new_file(self._state.files, filename, content_type[:200])
            self.form.files[self._part] = self._sent
            self._file = self._sent.path.open("xb")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None and self._sent is not None:
            self._file.write(data[start:end])
            self._sent.size += end - start
            return
        self._field += data[start:end]
        if len(self._field) > self._state.settings.small_body:
            raise TooLarge("A field of the form is larger than 1 MiB.")

    def _end(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            return
        try:
            self.form.fields[self._part] = self._field.decode("utf-8")
        except UnicodeDecodeError:
            raise Invalid(Problem((self._part,), f"'{self._part}' is no UTF-8 text.", "form")) from None

    def _all(self) -> None:
        self.ended = True
