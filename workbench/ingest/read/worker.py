"""A process that reads files for another one: a job is one JSON line in, its outcome one JSON line out.

It is started as a program, not forked or spawned, so the caller's script is not run again and what a notebook
holds in memory is not copied. The samples stay in the spool file that the job names.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypedDict

import orjson

from ...c_allocator import keep_what_is_freed
from ...errors import FileRefused, WorkbenchError
from ...exchange.passport import TEXTS, sidecar_of
from ...messages import typed_in
from ...readers import SeveralTests, format_of
from ...readers.non_series.recognise import HoldingFields, holding
from ..plan import sheet, unpack
from ..plan.paths import shown
from ..plan.read_options import ReadOptions
from ..processes.worker_process import READY, as_path
from . import unknown_files
from .locked_reader import Task, reader_of
from .prepare import prepare


class Outcome(TypedDict, total=False):
    """What became of the reading of a file; either it is ``prepared``, or it has a ``holding`` instead of a series, or
    it holds several ``tests`` and each is to be read by its name, or it is ``refused`` with a sentence, and then, if it
    could be opened, with the format as which it was read."""

    prepared: Mapping[str, Any]
    tests: list[str]
    holding: HoldingFields
    refused: str
    format: str
    unmapped: bool


def outcome_of(path: Path, options: ReadOptions, file: IO[bytes]) -> Outcome:
    """Read a file and leave its samples in ``file``; whatever goes wrong is in the outcome."""
    unmapped = False
    try:
        with typed_in(options.typed_in):
            other = None if options.format or options.column_map or options.parts else holding(path)
            if other is not None:
                return {"holding": other.as_dict()}
            return {"prepared": prepare(path, options, file).as_dict()}
    except SeveralTests as found:
        if not options.parts:
            return {"tests": list(found.tests)}
        why = f"'{path.name}' is a part of a test, but one of its parts holds several tests. {found}"
    except WorkbenchError as error:
        why, unmapped = str(error), isinstance(error, FileRefused) and error.unmapped
        if isinstance(error, FileRefused) and error.unopened:
            return {"refused": why}
    except MemoryError:
        why = f"'{path.name}' needs more memory than there is. Split the file."
    except Exception as error:  # a hostile file may break any parser in any way; the others must go on
        why = f"Reading '{path.name}' failed ({type(error).__name__}: {error})."
    return {"refused": why, "format": _format_of(path, options), "unmapped": unmapped}


def _format_of(path: Path, options: ReadOptions) -> str:
    """The format as which a refused file was read; empty if it is of none."""
    if not os.path.isfile(path):
        return ""
    try:
        return format_of(path, format=options.format, column_map=options.column_map)
    except Exception:  # what made the reading fail may fail here again
        return ""


def end_with_the_pipe() -> None:
    """Let the parent alone say when to end: Ctrl-C and a service that stops reach all processes at once, and the parent
    may want the file that is being read."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def main(scratch: Path) -> None:
    """Answer jobs until the parent closes the pipe; if it died, clear its scratch folder.

    A locked process does each job where the machine has the lock. A job that is to be ``locked`` is done nowhere else.
    """
    end_with_the_pipe()
    keep_what_is_freed()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a parser prints must not be taken for an answer
    with _temporary_files_in(scratch):
        reader = reader_of(scratch, answer_to, warm_up=warm_up)
    with suppress(BrokenPipeError):  # the parent was killed: nothing is wrong here
        answers.write(READY)
        answers.flush()
        run, listed, places = 0, set[str](), list[str]()
        for line in sys.stdin.buffer:
            job = orjson.loads(line)
            if not scratch.is_dir():
                return
            if "list" in job and job["run"] != run:
                run, listed = job["run"], set(orjson.loads(as_path(job["list"]).read_bytes()))
                places = _with_passports(listed)
            files = job["reading"] if "reading" in job else [job["path"], *job["options"]["parts"]]
            reading = places if run == job["run"] and listed.issuperset(files) else _with_passports(files)
            task = Task(job["run"], as_path(job["spool"]), reading, required=bool(job.get("locked")))
            answers.write(reader.answer(line, task) + b"\n")
            answers.flush()
    reader.close()
    shutil.rmtree(scratch, ignore_errors=True)


def _with_passports(files: Iterable[str]) -> list[str]:
    """Files, each with what an exported text has beside it."""
    paths = [as_path(file) for file in files]
    return [str(path) for path in paths] + [
        str(sidecar_of(path)) for path in paths if path.name.lower().endswith(TEXTS)
    ]


@contextmanager
def _temporary_files_in(scratch: Path) -> Iterator[None]:
    """Make temporary files in a folder that goes also with a process that is killed while it starts."""
    tempfile.tempdir = str(scratch) if scratch.is_dir() else None
    try:
        yield
    finally:
        tempfile.tempdir = None


def warm_up() -> None:
    """Read a small file of our own, so that what is made at the first use is there before the first fork. Where the
    disk has no room for it, the first file that is read says so."""
    rows = "".join(f"{n},{(-1) ** (n // 50)},{3.5 + n / 1000},25.0,{n // 50}\n" for n in range(200))
    with suppress(OSError), tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "test.csv")
        path.write_text(f"Time [s],Current [A],Voltage [V],Temperature [degC],Step\n{rows}")
        with Path(folder, "spool").open("w+b") as file:
            outcome_of(path, ReadOptions(), file)


def answer_to(line: bytes) -> bytes:
    """The outcome of a job, as JSON. What it makes is where the job names its ``spool``."""
    job = orjson.loads(line)
    return orjson.dumps(JOBS[job["do"]](job), option=orjson.OPT_SERIALIZE_NUMPY, default=str)


def _read(job: Mapping[str, Any]) -> Outcome:
    with as_path(job["spool"]).open("w+b") as file:
        outcome = outcome_of(as_path(job["path"]), ReadOptions.from_json(job["options"]), file)
    if "refused" in outcome:
        outcome["refused"] = shown(outcome["refused"])
    return outcome


JOBS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "read": _read,
    "unknown": unknown_files.unknown_by,
    "archives": unpack.archives_among,
    "unpack": unpack.unpacked_by,
    "sheet": sheet.cells_by,
}
"""What a worker does. A job names one of these as ``do``, and the files that it is about."""
