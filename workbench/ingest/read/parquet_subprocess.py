"""Parquet files of strangers, read in processes of their own.

A small file may unpack to any size, and a damaged one may bring its parser down. So a server lets a process with little
memory read it and takes the tables from a spool file: what goes wrong costs that process and that file alone.
"""

from __future__ import annotations

import io
import os
import queue
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import orjson

from ...errors import FileRefused, TooLarge, WorkbenchError
from ...readers.limits import MOST_UNPACKED
from ...readers.table.typed_columns import parquet_tables
from ...table import Table
from ..limits import JsonObject
from . import samples_file
from .worker import READY, end_with_the_pipe
from .worker_pool import Worker

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MEMORY = 3 << 30
"""Bytes of address space that reading may take beside what the process has from its start."""
SPOOL = 64 << 30
SECONDS = 900.0
_PROGRAM = (
    "import pathlib, sys; from workbench.ingest.read.parquet_subprocess import main; "
    "main(pathlib.Path(sys.argv[1]))"
)
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
        self._workers = [Worker(folder, _PROGRAM) for _ in range(size)]
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)

    def start(self) -> None:
        """Start one process, so that the first file need not wait for it."""
        if self._workers:
            worker = self._free.get()
            try:
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
        """
        if not self._workers:
            return parquet_tables(path, name, most)
        with tempfile.NamedTemporaryFile(dir=self._place(), prefix="spool-") as file:
            job = ParquetJob(path=str(path.absolute()), name=name or path.name, most=most, spool=file.name)
            self._asked(job)
            descriptor = _Held(os.open(file.name, os.O_RDONLY))

        def tables() -> Iterator[Table]:
            for _, table in samples_file.tables(io.BufferedReader(_At(descriptor))):
                yield table

        return tables

    def close(self) -> None:
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
        if "refused" in answer:
            raise FileRefused(_DIED.format(job["name"]))


class _Held:
    """A descriptor that is closed when nothing reads from it any more."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.close(self.number)


class _At(io.RawIOBase):
    """A reader of a descriptor with a place of its own, so that several may read at once."""

    def __init__(self, held: _Held) -> None:
        self._held = held
        self._place = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        into = memoryview(buffer).cast("B")
        data = os.pread(self._held.number, len(into), self._place)
        into[: len(data)] = data
        self._place += len(data)
        return len(data)


def main(folder: Path) -> None:
    """Answer jobs until the parent closes the pipe or dies."""
    end_with_the_pipe()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit()
    answers.write(READY)
    answers.flush()
    for line in sys.stdin.buffer:
        answers.write(orjson.dumps(_read(orjson.loads(line))) + b"\n")
        answers.flush()


def _limit() -> None:
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _PROC else 1 << 30
    for what, most in (
        (resource.RLIMIT_AS, taken + MEMORY),
        (resource.RLIMIT_FSIZE, SPOOL),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


_PROC = Path("/proc/self/statm").exists()


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
    except Exception as error:  # a hostile file may break any parser in any way
        return {"refused": type(error).__name__}
    return {}
