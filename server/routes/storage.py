"""Signed addresses: what they allow to send, and what they give, in parts too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from workbench.errors import NotFound

from .. import downloads, ranges, uploading
from .. import schemas as s
from ..answers import Blocks, Bytes
from ..call import Call
from ..operation import Body, Need, Operation
from ..signing import Ticket

_BLOCK = 1 << 20


def address(call: Call, what: tuple[str, ...], filename: str) -> str:
    """A signed address, from the root of this server, under which something can be read for a while."""
    ticket = call.state.signer.sign(Ticket("get", what), call.state.settings.url_seconds)
    return f"/storage/{ticket}/{quote(filename, safe='')}"


def of_series(call: Call, owner: str, dataset: str, filename: str, label: str) -> str:
    """The signed address of a series as parquet.

    Raises
    ------
    NotFound
        If there is none.
    """
    info = call.store.series.info(owner, dataset, scope=call.scope)
    if info is None:
        raise NotFound(f"This {label} has no {'steps' if dataset == 'steps' else 'samples'}.")
    return address(call, ("series", owner, dataset, downloads.revision(info)), filename)


def of_piece(call: Call, piece: str, filename: str, content_type: str) -> str:
    """The signed address of bytes that the store keeps."""
    return address(call, ("piece", piece, content_type), filename)


def get(call: Call) -> Blocks | Bytes:
    ticket = call.state.signer.read(call.path["ticket"], "get")
    filename = call.path["filename"]
    kind, *about = ticket.what
    if kind == "piece":
        piece, content_type = about
        size = call.store.pieces.size(piece)

        def read(start: int, stop: int) -> Iterator[bytes]:
            return call.store.pieces.get(piece, start, stop)

        return ranges.served(read, size, piece, content_type, call.headers, filename)
    owner, dataset, revision = about
    settings = call.state.settings
    path = downloads.prepared(call.store, call.state.files, owner, dataset, revision, settings.downloads)
    tag = f"{owner}-{dataset}-{revision}"
    return ranges.served(_of_file(path), path.stat().st_size, tag, downloads.MEDIA, call.headers, filename)


def _of_file(path: Path) -> ranges.Reader:
    def read(start: int, stop: int) -> Iterator[bytes]:
        # Opened at once, not with the first block: afterwards it may be tidied away.
        return _blocks(path.open("rb"), start, stop)

    return read


def _blocks(file: IO[bytes], start: int, stop: int) -> Iterator[bytes]:
    with file:
        file.seek(start)
        while start < stop and (block := file.read(min(_BLOCK, stop - start))):
            start += len(block)
            yield block


def put(call: Call) -> dict[str, Any]:
    """Keep the bytes that were sent.

    Raises
    ------
    NotFound
        If the address does not allow it.
    """
    ticket = call.state.signer.read(call.path["ticket"], "put")
    uploading.arrive(call.state, ticket.what[1], call.body)
    return {"size": call.body.size}


def checked(call: Call) -> None:
    """Refuse a signed address before a byte of its body is read."""
    call.state.signer.read(call.path["ticket"], "put")


OPERATIONS = (
    Operation(
        "GET",
        "/storage/{ticket}/{filename}",
        get,
        Need.SIGNED,
        "What a signed address gives, whole or in a range",
        media=("application/octet-stream",),
        heavy=True,
    ),
    Operation(
        "PUT",
        "/storage/{ticket}/{filename}",
        put,
        Need.SIGNED,
        "Send the bytes that a signed address is for",
        body=Body({"type": "string", "format": "binary"}, "upload", "raw"),
        answer=s.record({"size": s.NUMBER}),
        heavy=True,
        before=checked,
    ),
)
