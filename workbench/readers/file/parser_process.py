"""Parsers in C that a damaged file can crash run in a process of their own, with limits on memory and time."""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NotRequired, TypedDict, final

import orjson
import pyarrow as pa

from ...cycling.findings import FindingFields
from ...errors import FileRefused, TooLarge, WorkbenchError
from ...import_path import bare_environment, bare_program, pythonpath
from ...messages import Place, place, typed_in
from .. import limits
from ..reading import Sign
from . import locked_child
from .archives import ScratchFolder


class Job(TypedDict):
    """What the process is to do, as JSON."""

    loader: str
    """``module:function``."""
    path: str
    name: str
    """What messages call the file."""
    table: str
    """The file into which the process writes its table."""
    column_map: dict[str, str]
    typed_in: Place
    """Where the user typed the options, for messages."""
    seconds: int


class TestFacts(TypedDict):
    """What a loader says of one of several tests: its rows of the table come after those of the tests before it."""

    name: str
    set: str | None
    sign: Sign
    start: str | None
    notes: list[FindingFields]
    rows: int
    columns: list[str]
    """The columns of the table that it has."""
    metadata: dict[str, str | int | float]
    """Names and values beside its samples."""


@final
class Facts(TypedDict):
    """What a loader says of the table that it read. All but ``set`` are there only where ``set`` is a name."""

    set: str | None
    sign: NotRequired[Sign]
    start: NotRequired[str | None]
    """ISO 8601."""
    notes: NotRequired[list[FindingFields]]
    tests: NotRequired[list[TestFacts]]
    """The tests in the table, of a file that may hold several."""


@final
class Refusal(TypedDict):
    """What the process answers where the loader refused the file."""

    refused: str
    kind: str


Loader = Callable[[Job], tuple[Facts, pa.Table]]
_SECONDS, _SECONDS_PER_MB = 8.0, 1.0
"""CPU time that a parser may use. A file of 1 MB that is not damaged takes some hundredths of a second."""
PATIENCE = 120.0
"""Time that the process may take in addition, s: to start, and to wait on a busy machine."""
_OUT_OF_TIME = 24
"""The signal (SIGXCPU) that ends a process when its CPU time is used up."""
_PROGRAM = "from workbench.readers.file.parser_process import main; main()"


def load_in_process(
    loader: Loader | str, path: Path, name: str, column_map: Mapping[str, str] | None
) -> tuple[Facts, pa.Table]:
    """What ``loader``, a function of a module, makes of a file in a process of its own.

    A text "module:function" names it too, as packages with formats wrote for 0.1.0.

    Raises
    ------
    FileRefused, TooLarge
        If the loader raises it; ``FileRefused`` also if the process crashes or takes too long.
    """
    scratch = ScratchFolder()
    table = scratch.path / "table.arrow"
    seconds = _SECONDS + _SECONDS_PER_MB * path.stat().st_size / 1e6
    job: Job = {
        "loader": loader if isinstance(loader, str) else f"{loader.__module__}:{loader.__qualname__}",
        "path": os.fsencode(path).decode("latin-1"),
        "name": name,
        "table": str(table),
        "column_map": dict(column_map or {}),
        "typed_in": place(),
        "seconds": math.ceil(seconds),
    }
    answer = _ask(job, name, seconds)
    if "refused" in answer:
        kind = TooLarge if answer["kind"] == "TooLarge" else FileRefused
        raise kind(answer["refused"])
    with pa.memory_map(str(table)) as source:
        return answer, pa.ipc.open_file(source).read_all()


def _ask(job: Job, name: str, seconds: float) -> Facts | Refusal:
    if locked_child.is_locked():
        return _ask_the_parent(job, name, seconds)
    locks = can_lock()
    program = bare_program(_PROGRAM) if locks else [sys.executable, "-c", _PROGRAM]
    try:
        done = subprocess.run(  # noqa: S603
            program,
            input=orjson.dumps(job),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds + PATIENCE,
            env=bare_environment() if locks else {**os.environ, "PYTHONPATH": pythonpath()},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _too_long(name, seconds) from None
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        raise _ended(name, done.returncode, seconds)
    answer: Facts | Refusal = orjson.loads(lines[-1])
    return answer


def _ask_the_parent(job: Job, name: str, seconds: float) -> Facts | Refusal:
    """Let the parent of this locked process start the other one, which this one may not."""
    found = locked_child.ask("parse", {"job": job})
    if "answer" not in found:
        raise _ended(name, int(found["died"]), seconds)
    answer: Facts | Refusal = found["answer"]
    return answer


def _ended(name: str, status: int, seconds: float) -> FileRefused:
    """The refusal of a file whose parser ended without an answer."""
    if status == -_OUT_OF_TIME:
        return _too_long(name, seconds)
    return FileRefused(f"'{name}' is so damaged that its parser crashed. Write or copy it again.")


def _too_long(name: str, seconds: float) -> FileRefused:
    return FileRefused(
        f"'{name}' takes longer to read than {seconds:.0f} s. It is damaged or hostile. Write or copy it again."
    )


def main() -> None:
    """Do one job from the standard input: answer with a line of JSON, and write the table into its file."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a parser may print, and that is not an answer
    job: Job = orjson.loads(sys.stdin.buffer.read())
    _bound(job["seconds"])
    if can_lock():
        _loader(job["loader"])
        import_libraries_of(job["loader"])  # they may lie anywhere
        _lock(job)
    answers.write(orjson.dumps(answer_to(job)) + b"\n")
    answers.flush()


def import_libraries_of(loader: str) -> bool:
    """Import what a loader's module names as its ``LIBRARIES``, before the lock; whether one of them is new."""
    before = len(sys.modules)
    module = sys.modules.get(loader.partition(":")[0])
    for name in getattr(module, "LIBRARIES", ()):
        with suppress(Exception):  # one that is not installed, or broken, is the loader's to report
            importlib.import_module(name)
    return len(sys.modules) > before


def can_lock() -> bool:
    """Whether this machine can lock a parser in."""
    if sys.platform != "linux":
        return False
    from ...lock.reader_lock import missing  # other systems cannot import it

    return missing() is None


def _lock(job: Job) -> None:
    """Lock this process: it reads the file of the job alone, and writes into the folder of its table."""
    from ...lock.reader_lock import Bounds, ReaderLock

    folder = os.path.dirname(job["table"])
    tempfile.tempdir = folder
    os.environ.clear()
    path = os.fsdecode(job["path"].encode("latin-1"))
    ReaderLock().apply(os.getppid(), [path], folder, Bounds(limits.MOST_UNPACKED))


def answer_to(job: Job) -> Facts | Refusal:
    """Do one job, and write its table."""
    answer: Facts | Refusal
    try:
        with typed_in(job["typed_in"]):
            answer, table = _loader(job["loader"])({**job, "path": os.fsdecode(job["path"].encode("latin-1"))})
        with pa.OSFile(job["table"], "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    except MemoryError:
        answer = {"refused": f"'{job['name']}' needs more memory than a file may.", "kind": "TooLarge"}
    except WorkbenchError as error:
        answer = {"refused": str(error), "kind": type(error).__name__}
    return answer


def _loader(name: str) -> Loader:
    module, _, function = name.partition(":")
    found: Loader = getattr(importlib.import_module(module), function)
    return found


def _bound(seconds: int) -> None:
    """Limit memory and CPU time from here on. Windows has no such limits."""
    if sys.platform == "win32":
        return
    import resource

    spent = math.ceil(time.process_time())
    for what, most in (
        (resource.RLIMIT_AS, 3 * limits.MOST_IN_MEMORY),
        (resource.RLIMIT_CPU, spent + seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # macOS does not limit addresses
            resource.setrlimit(what, (most, resource.getrlimit(what)[1]))
