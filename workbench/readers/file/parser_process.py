"""Parsers in C that a damaged file can crash run in a process of their own, with limits on memory and time."""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NotRequired, TypedDict, final

import orjson
import pyarrow as pa

from ...cycling.findings import FindingFields
from ...errors import FileRefused, TooLarge, WorkbenchError
from ...import_path import pythonpath
from ...messages import Place, place, typed_in
from .. import limits
from ..reading import Sign
from .archives import Scratch


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


@final
class Facts(TypedDict):
    """What a loader says of the table that it read. All but ``set`` are there only where ``set`` is a name."""

    set: str | None
    sign: NotRequired[Sign]
    start: NotRequired[str | None]
    """ISO 8601."""
    notes: NotRequired[list[FindingFields]]


@final
class Refusal(TypedDict):
    """What the process answers where the loader refused the file."""

    refused: str
    kind: str


Loader = Callable[[Job], tuple[Facts, pa.Table]]
_SECONDS, _SECONDS_PER_MB = 8.0, 1.0
"""CPU time that a parser may use. A file of 1 MB that is not damaged takes some hundredths of a second."""
_PATIENCE = 120.0
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
    scratch = Scratch(".arrow")
    seconds = _SECONDS + _SECONDS_PER_MB * path.stat().st_size / 1e6
    job: Job = {
        "loader": loader if isinstance(loader, str) else f"{loader.__module__}:{loader.__qualname__}",
        "path": os.fsencode(path).decode("latin-1"),
        "name": name,
        "table": str(scratch.path),
        "column_map": dict(column_map or {}),
        "typed_in": place(),
        "seconds": math.ceil(seconds),
    }
    answer = _ask(job, name, seconds)
    if "refused" in answer:
        kind = TooLarge if answer["kind"] == "TooLarge" else FileRefused
        raise kind(answer["refused"])
    with pa.memory_map(str(scratch.path)) as source:
        return answer, pa.ipc.open_file(source).read_all()


def _ask(job: Job, name: str, seconds: float) -> Facts | Refusal:
    program = [sys.executable, "-c", _PROGRAM]
    try:
        done = subprocess.run(  # noqa: S603
            program,
            input=orjson.dumps(job),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds + _PATIENCE,
            env={**os.environ, "PYTHONPATH": pythonpath()},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _too_long(name, seconds) from None
    lines = done.stdout.splitlines()
    if done.returncode == -_OUT_OF_TIME:
        raise _too_long(name, seconds)
    if done.returncode or not lines:
        raise FileRefused(f"'{name}' is so damaged that its parser crashed. Write or copy it again.")
    answer: Facts | Refusal = orjson.loads(lines[-1])
    return answer


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
    answers.write(orjson.dumps(answer) + b"\n")
    answers.flush()


def _loader(name: str) -> Loader:
    module, _, function = name.partition(":")
    found: Loader = getattr(importlib.import_module(module), function)
    return found


def _bound(seconds: int) -> None:
    """Limit memory and CPU time from here on."""
    with suppress(ImportError, ValueError, OSError):  # some systems have no such limits
        import resource

        most = 3 * limits.MOST_IN_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
        spent = math.ceil(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
