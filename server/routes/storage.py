"""Signed addresses: bytes that are sent to them, and downloads, also in parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench.errors import NotFound

from .. import downloads, ranges
from ..auth import Signed
from ..context import RequestContext
from ..requests import SentFile, streamed_to_disk
from ..responses import PARQUET
from ..routing import Route, checked_first, heavy, takes
from ..signing import Ticket

router = APIRouter(route_class=Route, tags=["Signed addresses"])

_BLOCK = 1 << 20
_MEDIA_TYPE = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,199}")
_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


class Address(TypedDict):
    url: str


class Received(TypedDict):
    size: int


def address(context: RequestContext, what: tuple[str, ...], filename: str) -> str:
    """A signed address, without the host, that gives something for a while."""
    ticket = context.state.signer.sign(Ticket("get", what), context.state.settings.url_seconds)
    return f"/storage/{ticket}/{quote(filename, safe='')}"


def of_series(context: RequestContext, owner: str, dataset: str, filename: str, label: str) -> str:
    """The signed address of a series as parquet.

    Raises
    ------
    NotFound
        If there is none.
    """
    info = context.store.series.info(owner, dataset, scope=context.scope)
    if info is None:
        raise NotFound(f"This {label} has no {'steps' if dataset == 'steps' else 'samples'}.")
    return address(context, ("series", owner, dataset, downloads.revision(info)), filename)


def is_media_type(text: str) -> bool:
    """Whether a text can be the content type of an answer. Others would end in the middle of its headers."""
    return _MEDIA_TYPE.fullmatch(text) is not None


def of_blob(context: RequestContext, content: str, filename: str, content_type: str) -> str:
    """The signed address of bytes that the store keeps; ``content`` is their hash."""
    if not is_media_type(content_type):  # an older server took any text
        content_type = "application/octet-stream"
    return address(context, ("piece", content, content_type), filename)


@router.get("/storage/{ticket}/{filename}", response_class=Response, responses={200: {"content": _BYTES}})
@heavy
def read_content(context: Signed, ticket: str, filename: str) -> Response:
    """What a signed address gives, whole or in a range."""
    kind, *about = context.state.signer.read(ticket, "get").what
    headers = context.request.headers
    if kind == "piece":
        content, content_type = about
        store = context.store.blobs
        return ranges.served(
            lambda start, stop: store.get(content, start, stop),
            store.size(content),
            content,
            content_type,
            headers,
            filename,
        )
    owner, dataset, revision = about
    state = context.state
    path = downloads.prepared(state.store, state.files, owner, dataset, revision, state.settings.downloads)
    tag = f"{owner}-{dataset}-{revision}"
    return ranges.served(_of_file(path), path.stat().st_size, tag, PARQUET, headers, filename)


def _of_file(path: Path) -> ranges.Reader:
    def read(start: int, stop: int) -> Iterator[bytes]:
        # Opened now, not with the first block: it may be removed before that.
        return _blocks(path.open("rb"), start, stop)

    return read


def _blocks(file: IO[bytes], start: int, stop: int) -> Iterator[bytes]:
    with file:
        file.seek(start)
        while start < stop and (block := file.read(min(_BLOCK, stop - start))):
            start += len(block)
            yield block


def _refuse_unsigned(context: RequestContext) -> None:
    """Refuse an address that does not allow sending, before a byte of the body is read."""
    context.state.signer.read(context.path["ticket"], "put")


async def _sent(context: Signed) -> SentFile:
    return context.keep_until_end(await streamed_to_disk(context.request, context.state.files))


@router.put("/storage/{ticket}/{filename}", openapi_extra={"requestBody": {"required": True, "content": _BYTES}})
@takes("upload")
@heavy
@checked_first(_refuse_unsigned)
def send_content(context: Signed, ticket: str, sent: Annotated[SentFile, Depends(_sent)]) -> Received:
    """Send the bytes that a signed address is for."""
    _, object_id = context.state.signer.read(ticket, "put").what
    context.state.intake.receive(object_id, sent)
    return {"size": sent.size}
