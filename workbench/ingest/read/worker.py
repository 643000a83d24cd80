"""A process that prepares files one after the other: a job is one JSON line in, its outcome one JSON line out.

It is started as a program, not forked or spawned, so the caller's script is not run again and what a notebook
holds in memory is not copied. The samples stay in the spool file that the job names.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, TypedDict

import orjson

from ...errors import FileRefused, WorkbenchError
from ...messages import typed_in
from ...readers import format_of
from ...readers.non_series.recognise import HoldingFields, holding
from ..limits import Limits
from ..plan.paths import shown
from ..plan.read_options import ReadOptions
from .prepare import prepare

READY = b"ready\n"
"""What a process says before its first answer; until then no file's time runs."""


class Outcome(TypedDict, total=False):
    """What became of the reading of a file; either it is ``prepared``, or it has a ``holding`` instead of a series, or
    it is ``refused`` with a sentence, and then with the format as which it was read."""

    prepared: Mapping[str, Any]
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
    except WorkbenchError as error:
        why, unmapped = str(error), isinstance(error, FileRefused) and error.unmapped
    except MemoryError:
        why = f"'{path.name}' needs more memory than there is. Split the file."
    except Exception as error:  # a hostile file may break any parser in any way; the others must go on
        why = f"Reading '{path.name}' failed ({type(error).__name__}: {error})."
    return {"refused": why, "format": _format_of(path, options), "unmapped": unmapped}


def _format_of(path: Path, options: ReadOptions) -> str:
    """The format as which a refused file was read; empty if it is of none."""
    if not path.is_file():
        return ""
    try:
        return format_of(path, format=options.format, column_map=options.column_map)
    except Exception:  # what made the reading fail may fail here again
        return ""


def options_of(raw: Mapping[str, Any]) -> ReadOptions:
    parts = tuple(str(_path(part)) for part in raw["parts"])
    given = {"limits": Limits(**raw["limits"]), "repair": tuple(raw["repair"]), "parts": parts}
    return ReadOptions(**{**raw, **given})


def _path(text: str) -> Path:
    """A path from a job: its name need not be Unicode."""
    return Path(os.fsdecode(text.encode("latin-1")))


def end_with_the_pipe() -> None:
    """Let the parent alone say when to end: Ctrl-C and a service that stops reach all processes at once, and the parent
    may want the file that is being read."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def main(scratch: Path) -> None:
    """Answer jobs until the parent closes the pipe; if it died, clear its scratch folder."""
    end_with_the_pipe()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a parser prints must not be taken for an answer
    answers.write(READY)
    answers.flush()
    for line in sys.stdin.buffer:
        job = orjson.loads(line)
        if not scratch.is_dir():
            return
        with Path(job["spool"]).open("w+b") as file:
            outcome = outcome_of(_path(job["path"]), options_of(job["options"]), file)
        if "refused" in outcome:
            outcome["refused"] = shown(outcome["refused"])
        answers.write(orjson.dumps(outcome, option=orjson.OPT_SERIALIZE_NUMPY, default=str) + b"\n")
        answers.flush()
    shutil.rmtree(scratch, ignore_errors=True)
