"""Files and parts of files: answers to the header ``Range``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

from starlette.responses import Response

from .responses import streamed

Reader = Callable[[int, int], Iterator[bytes]]
"""Gives the bytes from the first number to before the second."""


def served(
    read: Reader, size: int, tag: str, media_type: str, headers: Mapping[str, str], filename: str
) -> Response:
    """A file of ``size`` bytes, or the part of it that the ``Range`` header asks for.

    206 with ``Content-Range`` for one range; 416 for one beyond the end. Any other header, and a range of another
    version (``If-Range``), gives the whole file.
    """
    sent = {
        "accept-ranges": "bytes",
        "etag": f'"{tag}"',
        "content-disposition": f"attachment; filename*=UTF-8''{quote(filename)}",
        "cache-control": "private, max-age=300",
    }
    wanted = headers.get("range")
    if wanted is None or headers.get("if-range", f'"{tag}"') != f'"{tag}"':
        return streamed(read(0, size), media_type, sent, length=size)
    span = _span(wanted, size)
    if span is None:
        return streamed(read(0, size), media_type, sent, length=size)
    start, stop = span
    if start >= stop:
        return Response(b"", 416, {**sent, "content-range": f"bytes */{size}"}, media_type)
    sent["content-range"] = f"bytes {start}-{stop - 1}/{size}"
    return streamed(read(start, stop), media_type, sent, length=stop - start, status=206)


def _span(header: str, size: int) -> tuple[int, int] | None:
    """The first byte, and the one after the last; None for a header that is not a single range."""
    found = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", header.strip())
    if found is None or found.group() == "bytes=-" or not (found[1] or found[2]):
        return None
    if not found[1]:
        return max(size - int(found[2]), 0) if int(found[2]) else size, size
    start = int(found[1])
    if not found[2]:
        return start, size
    return None if int(found[2]) < start else (start, min(int(found[2]) + 1, size))
