"""Objects in S3, Google Cloud Storage or Azure, through obstore. Credentials come from the environment alone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import IO, TYPE_CHECKING, TypeVar

from .place import CLOUDS, Address, Listed, ObjectMissing, PlaceAway, Range

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")
_ALLOW_HTTP = ("AWS_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP")
_PART = 8 << 20
_DELETED_AT_ONCE = 500


@dataclass(frozen=True)
class Patience:
    """How long one request may take, how often it is tried, and how long all tries together, in seconds."""

    connect: float = 5.0
    request: float = 30.0
    tries: int = 4
    all: float = 60.0


class Cloud:
    """A bucket, or a prefix in it."""

    is_remote = True
    patience = Patience()

    def __init__(self, address: Address) -> None:
        self.text = address.text
        self._what = f"{CLOUDS[address.kind]} at {address.text}"
        self._lock = threading.Lock()
        self._store: ObjectStore | None = None

    def _opened(self) -> ObjectStore:
        with self._lock:
            if self._store is None:
                self._store = self._connected()
            return self._store

    def _connected(self) -> ObjectStore:
        try:
            from obstore.exceptions import BaseError
            from obstore.store import from_url
        except ImportError as error:
            raise PlaceAway(
                f"The samples are in {self._what}, and obstore is not installed here. "
                "Install it: pip install 'battery-workbench[object]'."
            ) from error
        wait = self.patience
        plain = any(os.environ.get(name, "").lower() in ("1", "true", "yes") for name in _ALLOW_HTTP)
        try:
            return from_url(
                self.text,
                client_options={
                    "connect_timeout": timedelta(seconds=wait.connect),
                    "timeout": timedelta(seconds=wait.request),
                    "allow_http": plain,
                },
                retry_config={
                    "max_retries": wait.tries - 1,
                    "retry_timeout": timedelta(seconds=wait.all),
                    "backoff": {
                        "init_backoff": timedelta(milliseconds=100),
                        "max_backoff": timedelta(seconds=3),
                        "base": 2,
                    },
                },
            )
        except (BaseError, ValueError) as error:
            raise self._away("be used", error) from error

    def put(self, name: str, data: IO[bytes], size: int) -> None:
        def put(store: ObjectStore) -> None:
            import obstore

            data.seek(0)
            # One request where it fits: a killed process then leaves no parts of an upload behind.
            obstore.put(store, name, data, use_multipart=size > _PART, chunk_size=_PART, max_concurrency=4)

        self._tried("be written", put)

    def put_new(self, name: str, data: bytes) -> bool:
        def put(store: ObjectStore) -> bool:
            import obstore

            try:
                obstore.put(store, name, data, mode="create", use_multipart=False)
            except obstore.exceptions.AlreadyExistsError:
                return False
            return True

        return self._tried("be written", put)

    def whole(self, name: str) -> bytes | None:
        def get(store: ObjectStore) -> bytes | None:
            import obstore

            try:
                return bytes(obstore.get(store, name).bytes())
            except FileNotFoundError as error:
                if _is_of_bucket(error):
                    raise
                return None

        return self._tried("be read", get)

    def ranges(self, name: str, wanted: Sequence[Range]) -> list[bytes]:
        def get(store: ObjectStore) -> list[bytes]:
            import obstore

            starts, ends = [start for start, _ in wanted], [stop for _, stop in wanted]
            try:
                got = [bytes(one) for one in obstore.get_ranges(store, name, starts=starts, ends=ends)]
            except FileNotFoundError as error:
                if _is_of_bucket(error):
                    raise
                raise ObjectMissing(
                    f"'{name}' is not in {self.text}; restore it, for example an earlier version in the bucket."
                ) from None
            if [len(one) for one in got] != [stop - start for start, stop in wanted]:
                raise ObjectMissing(f"'{name}' in {self.text} is shorter than it was; restore a backup of it.")
            return got

        return self._tried("be read", get) if wanted else []

    def listed(self) -> Iterator[Listed]:
        def everything(store: ObjectStore) -> list[Listed]:
            import obstore

            parts = obstore.list(store)
            return [Listed(one["path"], one["size"], one["last_modified"]) for part in parts for one in part]

        yield from self._tried("be listed", everything)

    def delete(self, names: Iterable[str]) -> None:
        left = list(names)

        def delete(store: ObjectStore, part: Sequence[str]) -> None:
            import obstore

            try:
                obstore.delete(store, part)
            except FileNotFoundError:  # some stores say that a name was not there
                if len(part) > 1:
                    for name in part:
                        delete(store, [name])

        for start in range(0, len(left), _DELETED_AT_ONCE):
            part = left[start : start + _DELETED_AT_ONCE]
            self._tried("be changed", partial(delete, part=part))

    def _tried(self, done: str, work: Callable[[ObjectStore], T]) -> T:
        """The result of ``work``. obstore repeats a request that got no answer; an answer that broke off in the middle
        is asked for again here."""
        store = self._opened()
        from obstore.exceptions import (
            BaseError,
            GenericError,
            PermissionDeniedError,
            UnauthenticatedError,
        )

        began = time.monotonic()
        for left in range(self.patience.tries - 1, -1, -1):
            try:
                return work(store)
            except GenericError as error:
                is_late = time.monotonic() - began > self.patience.request
                if left == 0 or is_late or "after " in str(error).partition("\n")[0]:
                    raise self._away(done, error) from error
            except (PermissionDeniedError, UnauthenticatedError) as error:
                raise PlaceAway(
                    f"The samples in {self._what} may not {done} with the credentials of this environment: "
                    f"{_said(error)}. See docs/how-to/keep-samples-elsewhere.md."
                ) from error
            except (BaseError, FileNotFoundError, ValueError) as error:
                raise self._away(done, error) from error
        raise AssertionError("the last try returns or raises")

    def _away(self, done: str, error: Exception) -> PlaceAway:
        return PlaceAway(
            f"The samples in {self._what} cannot {done} now: {_said(error)}. Check the address, the network and the "
            "credentials in the environment, then try again."
        )


def _is_of_bucket(error: FileNotFoundError) -> bool:
    """Whether the bucket itself is not there, rather than an object in it."""
    return any(sign in str(error) for sign in ("NoSuchBucket", "ContainerNotFound", "bucket does not exist"))


def _said(error: Exception) -> str:
    """What obstore says, without its debug text."""
    return " ".join(str(error).partition("\n\n")[0].split()).rstrip(".")[:300]
