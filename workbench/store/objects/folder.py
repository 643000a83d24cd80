"""Objects as files in a folder: written under a temporary name, synchronised, then renamed."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO

from ...whole_file import synchronise
from .place import Listed, ObjectMissing, PlaceAway, Range

_PARTIAL = ".partial"
_BLOCK = 1 << 20


class Folder:
    """A folder, on a disk of this machine or mounted from another one. It is made when the first object is written."""

    is_remote = False

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text

    def put(self, name: str, data: IO[bytes], size: int) -> None:
        with self._errors("written"):
            place = self.path / name
            with self._partial(place, data) as partial:
                partial.rename(place)
            synchronise(place.parent)

    def put_new(self, name: str, data: bytes) -> bool:
        with self._errors("written"):
            place = self.path / name
            if place.exists():
                return False
            with self._partial(place, BytesIO(data)) as partial:
                try:
                    os.link(partial, place)
                except FileExistsError:
                    return False
                except OSError:  # a file system without links
                    partial.rename(place)
            synchronise(self.path)
            return True

    @contextmanager
    def _partial(self, place: Path, data: IO[bytes]) -> Iterator[Path]:
        """A whole file under a temporary name, gone afterwards: a kill or a full disk leaves nothing half."""
        _make(place.parent)
        partial = place.with_name(f"{place.name}.{secrets.token_hex(4)}{_PARTIAL}")
        try:
            with partial.open("xb") as file:
                shutil.copyfileobj(data, file, _BLOCK)
                file.flush()
                os.fsync(file.fileno())
            yield partial
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def whole(self, name: str) -> bytes | None:
        with self._errors("read"):
            try:
                return (self.path / name).read_bytes()
            except FileNotFoundError:
                return None

    def ranges(self, name: str, wanted: Sequence[Range]) -> list[bytes]:
        with self._errors("read"):
            try:
                with (self.path / name).open("rb", buffering=0) as file:
                    return [self._range(file, name, *one) for one in wanted]
            except FileNotFoundError:
                if not self.path.is_dir():
                    raise
                raise ObjectMissing(f"'{name}' is not in {self.text}; restore a backup of that folder.") from None

    def _range(self, file: IO[bytes], name: str, start: int, stop: int) -> bytes:
        file.seek(start)
        got = file.read(stop - start)
        while got and len(got) < stop - start and (more := file.read(stop - start - len(got))):
            got += more
        if len(got) != stop - start:
            raise ObjectMissing(
                f"'{name}' in {self.text} is shorter than it was; restore a backup of that folder."
            )
        return got

    def listed(self) -> Iterator[Listed]:
        with self._errors("read"):
            for folder, _, names in os.walk(self.path, onerror=_raise):
                for name in sorted(names):
                    place = Path(folder, name)
                    with suppress(FileNotFoundError):  # deleted meanwhile
                        found = place.stat()
                        modified = datetime.fromtimestamp(found.st_mtime, UTC)
                        yield Listed(place.relative_to(self.path).as_posix(), found.st_size, modified)

    def delete(self, names: Iterable[str]) -> None:
        with self._errors("changed"):
            for name in names:
                (self.path / name).unlink(missing_ok=True)

    @contextmanager
    def _errors(self, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise PlaceAway(
                f"The folder of samples {self.text} ('{self.path}') cannot be {done}: {error.strerror or error}. "
                "Mount it or make room, and try again."
            ) from error


def _make(folder: Path) -> None:
    """Make a folder and those above it, so that their names survive a power cut as those of the objects do."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(exist_ok=True)
        synchronise(folder.parent)


def _raise(error: OSError) -> None:
    raise error
