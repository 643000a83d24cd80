"""Files that are read where work fans out: there too in processes of their own, locked where the machine can.

What a reader leaves is a spool of samples. A worker that sees the scratch folder of this process puts it there; one on
another machine sends it.
"""

from __future__ import annotations

import secrets
import shutil
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ExecutorAway, WorkerDied
from ...fan_out import FanOut, own_task
from ...temporary_folder import temporary_folder
from ..plan.jobs import Job
from ..plan.read_options import ReadOptions
from ..processes.worker_process import as_path, as_text
from .worker import Outcome
from .worker_pool import Done, outcomes

_MARK = "scratch-of"


@dataclass(frozen=True)
class _Task:
    """A file to be read, in plain values. ``scratch`` holds ``mark``, so that a worker knows whether it sees it."""

    paths: tuple[str, ...]
    options: dict[str, Any]
    scratch: str
    mark: str
    number: int
    locked: bool
    host: str
    there: bool
    """Whether who asks sees all the files."""


def outcomes_apart(
    jobs: Sequence[Job], fan_out: FanOut, processes: int | None, *, locked: bool = False
) -> Iterator[Done]:
    """As `outcomes`, by the workers of an executor.

    Raises
    ------
    ExecutorAway
        If the executor, or a worker the files, cannot be reached.
    """
    with temporary_folder() as scratch:
        mark = secrets.token_hex(8)
        (scratch / _MARK).write_text(mark)
        tasks = [
            _Task(
                tuple(as_text(path) for path in job.paths),
                job.options.as_json(),
                as_text(scratch),
                mark,
                number,
                locked,
                socket.gethostname(),
                all(path.exists() for path in (*job.paths, *map(Path, job.options.parts))),
            )
            for number, job in enumerate(jobs)
        ]
        for task, read in fan_out.results(read_file, tasks, lambda task: (task,), jobs=processes):
            job = jobs[task.number]
            try:
                outcome, sent = read()
            except WorkerDied as error:
                outcome, sent = {"refused": str(error), "format": ""}, b""
            spool = scratch / f"{task.number}.spool"
            if sent is not None:
                spool.write_bytes(sent)
            with spool.open("r+b") as file:
                yield job, outcome, file
            spool.unlink(missing_ok=True)


@own_task
def read_file(task: _Task) -> tuple[Outcome, bytes | None]:
    """What became of a file, and its samples, or None where they are in the scratch folder."""
    paths = tuple(map(as_path, task.paths))
    options = ReadOptions.from_json(task.options)
    missing = next((path for path in (*paths, *map(Path, options.parts)) if not path.exists()), None)
    if missing is not None and task.there:
        raise ExecutorAway(
            f"A worker on '{socket.gethostname()}' cannot reach the file '{missing}' of '{task.host}'. Workers open "
            "files by their paths: give them the same folder under the same path, or use `--executor processes`."
        )
    scratch = as_path(task.scratch)
    (done,) = _read(Job(paths, options), task, scratch)
    return done


def _read(job: Job, task: _Task, scratch: Path) -> Iterator[tuple[Outcome, bytes | None]]:
    for _, outcome, file in outcomes([job], 1, isolated=True, locked=task.locked):
        file.seek(0)
        if not _sees(scratch, task.mark):
            yield outcome, file.read()
            continue
        with (scratch / f"{task.number}.spool").open("wb") as target:
            shutil.copyfileobj(file, target, 1 << 20)
        yield outcome, None


def _sees(scratch: Path, mark: str) -> bool:
    """Whether this process and the one that asks have the same scratch folder."""
    try:
        return (scratch / _MARK).read_text() == mark
    except OSError:
        return False
