"""Where objects are kept: the port that a folder and the object stores implement, and the addresses of such places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, NamedTuple, Protocol, TypeAlias

from ...errors import BadRequest, Damaged, StoreError, instead

Range: TypeAlias = tuple[int, int]
"""The bytes of an object from the first number to before the second."""
CLOUDS = {"s3": "S3", "gs": "Google Cloud Storage", "az": "Azure Blob Storage"}
IN_FILE = "file"
"""The address that means the store's own file."""
FORMS = "`folder:PATH`, `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX`, or `file`"
_CLOUD = re.compile(r"(s3|gs|az)://([^/@?#:\s]+)(?:/([^?#\s]*))?")


class PlaceAway(StoreError):
    """A place of objects cannot be used now: it is not there, does not answer, or refuses."""

    status = 503
    code = "PLACE_AWAY"


class ObjectMissing(Damaged):
    """An object that a row of the store names is not at its place, or is shorter than it was."""


class Listed(NamedTuple):
    """An object that is at a place: its name, its size in bytes, and when it was written, UTC."""

    name: str
    size: int
    modified: datetime


class Place(Protocol):
    """Keeps immutable objects by name. A name is written once and never again with other bytes, but for the claim.

    Every method raises `PlaceAway` where the place cannot be used, after a bounded time.
    """

    text: str
    """The address, as a person writes it."""
    is_remote: bool
    """Whether each request crosses a network: then ranges are joined, read ahead and kept in a local cache."""

    def put(self, name: str, data: IO[bytes], size: int) -> None:
        """Write an object. When this returns, it is there as a whole and survives a power cut; else it is not there."""

    def put_new(self, name: str, data: bytes) -> bool:
        """Write a small object, whole or not at all, unless there is one of this name; False if there is."""

    def whole(self, name: str) -> bytes | None:
        """All bytes of a small object, None if there is none."""

    def ranges(self, name: str, wanted: Sequence[Range]) -> list[bytes]:
        """Some ranges of an object, many at once; `ObjectMissing` if it is not there or ends before one of them."""

    def listed(self) -> Iterator[Listed]:
        """Everything that is at the place."""

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; names that are not there are no error."""


@dataclass(frozen=True)
class Address:
    """Where objects are kept. ``kind`` is "folder" or a scheme of ``CLOUDS``; ``path`` is the folder, absolute or
    relative to the folder of the store's file, or the bucket and the prefix."""

    kind: str
    path: str

    @property
    def text(self) -> str:
        return f"folder:{self.path}" if self.kind == "folder" else f"{self.kind}://{self.path}"


def parse(text: str) -> Address | None:
    """The address of a place; None for the store's own file.

    Raises
    ------
    BadRequest
        If the text has another form, or holds credentials.
    """
    given = text.strip()
    if given == IN_FILE:
        return None
    kind, colon, rest = given.partition(":")
    if kind == "folder" and colon and rest:
        return Address("folder", rest)
    found = _CLOUD.fullmatch(given)
    if found is not None:
        prefix = (found[3] or "").strip("/")
        return Address(found[1], f"{found[2]}/{prefix}" if prefix else found[2])
    if kind in CLOUDS and ("@" in rest or "?" in rest):
        raise BadRequest(
            "An address of objects holds no keys and no options, because it is kept in the store. "
            "Give credentials in the environment: see docs/how-to/keep-samples-elsewhere.md."
        )
    raise BadRequest(
        f"'{given}' is not a place for samples. {instead(kind, ['folder', *CLOUDS, IN_FILE], 'kinds of places')} "
        f"Write {FORMS}."
    )
