"""Parquet files of strangers, read in processes of their own.

A small file may unpack to any size, and a damaged one may bring its parser down. So a server lets a process with little
memory read it and takes the tables from a spool file: what goes wrong costs that process and that file alone.
"""

from __future__ import annotations

import errno
import io
import os
import queue
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import orjson

from ...errors import FileRefused, StoreFull, TooLarge, WorkbenchError
from ...readers.limits import MOST_UNPACKED
from ...readers.table.typed_columns import parquet_tables
from ...table import Table
from ..limits import JsonObject
from ..processes.worker_process import READY, Worker, kind_of
from . import samples_file
from .locked_reader import Task, reader_of
from .worker import end_with_the_pipe

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MEMORY = 3 << 30
"""Bytes of address space that reading may take beside what the process has from its start."""
SPOOL = 64 << 30
SECONDS = 900.0
PROGRAM = (
    "import pathlib, sys; from workbench.ingest.read.parquet_subprocess import main; "
    "main(pathlib.Path(sys.argv[1]))"
)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_DIED = "'{}' could not be read: it is damaged, or one batch of its rows needs more memory than is allowed."


class ParquetJob(TypedDict):
    """A file, the name it goes by, how many bytes it may unpack to, and where its tables go."""

    path: str
    name: str
    most: int
    spool: str


class ParquetSubprocess:
    """Processes that read parquet files for this one, at most ``size`` at a time, started when they are needed.

    With ``size`` 0 files are read in this process, for those who trust whoever sends them.
    """

    def __init__(self, folder: Path, size: int = 2) -> None:
        self._folder = folder
        self._workers = [Worker(kind_of(PROGRAM), folder) for _ in range(size)]
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._starting = threading.Lock()
        self._is_closed = False

    def start(self) -> None:
        """Start one process, so that the first file need not wait for it; none after ``close``, which may be called
        meanwhile."""
        if self._workers:
            self._place()
            worker = self._free.get()
            try:
                with self._starting:
                    if not self._is_closed:
                        worker.start()
            finally:
                self._free.put(worker)

    def tables(
        self, path: Path, name: str | None = None, most: int = MOST_UNPACKED
    ) -> Callable[[], Iterator[Table]]:
        """The rows of a file in batches, as often as the answer is called; ``most`` bytes unpacked.

        Raises
        ------
        FileRefused, TooLarge
        StoreFull
            If the disk has no room for what is in the file.
        """
        if not self._workers:
            return parquet_tables(path, name, most)
        spool = self._place() / f"spool-{secrets.token_hex(8)}"
        spool.touch(mode=0o600, exist_ok=False)
        try:
            self._asked(ParquetJob(path=str(path.absolute()), name=name or path.name, most=most, spool=str(spool)))
            held = _Held(spool)
        except BaseException:
            spool.unlink(missing_ok=True)
            raise

        def tables() -> Iterator[Table]:
            for _, table in samples_file.tables(io.BufferedReader(_At(held))):
                yield table

        return tables

    def close(self) -> None:
        with self._starting:
            self._is_closed = True
        for worker in self._workers:
            worker.kill()

    def _place(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._folder

    def _asked(self, job: ParquetJob) -> None:
        worker = self._free.get()
        try:
            answer = worker.ask(job, SECONDS)
        finally:
            self._free.put(worker)
        if "why" in answer:
            raise (TooLarge if answer["status"] == TooLarge.status else FileRefused)(answer["why"])
        if "no_lock" in answer:
            raise FileRefused(answer["refused"])
        if "no_room" in answer:
            raise StoreFull(
                f"'{job['name']}' could not be unpacked in '{self._folder}': {answer['no_room']}. Make room there."
            )
        if "refused" in answer:
            raise FileRefused(_DIED.format(job["name"]))


class _Held:
    """A file that is gone when nothing reads from it any more."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._alone = threading.Lock()
        self._path: Path | None = path
        self._remove()

    def read(self, place: int, size: int) -> bytes:
        with self._alone:
            self._file.seek(place)
            return self._file.read(size) or b""

    def _remove(self) -> None:
        if self._path is not None:
            with suppress(PermissionError):  # Windows does not remove a file that is open
                self._path.unlink(missing_ok=True)
                self._path = None

    def __del__(self) -> None:
        self._file.close()
        self._remove()


class _At(io.RawIOBase):
    """A reader of a held file with a place of its own, so that several may read at once."""

    def __init__(self, held: _Held) -> None:
        self._held = held
        self._place = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        into = memoryview(buffer).cast("B")
        data = self._held.read(self._place, len(into))
        into[: len(data)] = data
        self._place += len(data)
        return len(data)


def main(folder: Path) -> None:
    """Answer jobs until the parent closes the pipe or dies. A locked process reads each file."""
    end_with_the_pipe()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    reader = reader_of(folder, answer_to, memory=MEMORY, written=SPOOL)
    answers.write(READY)
    answers.flush()
    with suppress(BrokenPipeError):  # the parent was killed: nothing is wrong here
        for run, line in enumerate(sys.stdin.buffer, 1):
            job: ParquetJob = orjson.loads(line)
            answers.write(reader.answer(line, Task(run, Path(job["spool"]), [job["path"]], required=True)) + b"\n")
            answers.flush()
    reader.close()


def answer_to(line: bytes) -> bytes:
    """The answer to a job, as JSON. Its tables are in the spool that the job names."""
    return orjson.dumps(_read(orjson.loads(line)))


def _read(job: ParquetJob) -> JsonObject:
    try:
        parts = parquet_tables(Path(job["path"]), job["name"], most=job["most"])()
        size = 0
        with Path(job["spool"]).open("wb") as file:
            for table in parts:
                size += sum(column.values.nbytes for column in table.columns.values())
                if size > job["most"]:
                    raise TooLarge(
                        f"'{job['name']}' unpacks to more than {job['most'] >> 30} GiB. Split the file."
                    )
                samples_file.put(file, "series", table)
    except WorkbenchError as error:
        return {"why": str(error), "status": error.status}
    except OSError as error:
        if error.errno in _NO_ROOM:
            return {"no_room": error.strerror}
        return {"refused": type(error).__name__}
    except Exception as error:  # a hostile file may break any parser in any way
        return {"refused": type(error).__name__}
    return {}
