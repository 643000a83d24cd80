"""A worker process: started when it is needed, and asked by lines of JSON."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from ... import temporary_folder
from ...import_path import bare_environment, bare_program, pythonpath
from ...readers.file.parser_process import can_lock
from .answer_lines import AnswerLines

READY = b"ready\n"
"""What a process says before its first answer; until then no file's time runs."""
DIED = "The process that read the file died. The file may be damaged or too large."
_NOT_STARTED = "The process that reads files did not start ({}). Nothing is known of the file; try again."
GRACE = 10.0
_START = 120.0
_WORDS = 64 << 20


def as_text(path: Path) -> str:
    """A path as JSON takes it: its name need not be Unicode."""
    return os.fsencode(path.absolute()).decode("latin-1")


def as_path(text: str) -> Path:
    """The path that :func:`as_text` wrote."""
    return Path(os.fsdecode(text.encode("latin-1")))


Kind = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
"""The command and the environment of a process. Two that are equal do the same."""


def kind_of(program: str) -> Kind:
    """What runs a program in Python, which takes its scratch folder as a word. Where the machine has the lock it gets
    nothing of the environment of this process: it reads the files of strangers."""
    if can_lock():
        command, environment = bare_program(program), bare_environment()
    else:
        command, environment = [sys.executable, "-c", program], {**os.environ, "PYTHONPATH": pythonpath()}
    return tuple(command), tuple(sorted(environment.items()))


class Worker:
    """One worker process, started when it is needed and again after it died. ``scratch`` is its folder; without one it
    has a folder of its own, which goes with it."""

    def __init__(self, kind: Kind, scratch: Path | None = None) -> None:
        self.kind = kind
        self._own = scratch is None
        self.scratch = temporary_folder.make() if scratch is None else scratch
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: AnswerLines | None = None
        self._ready = False

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process now, not with the first job; where it does not start, that job says so."""
        if not self.is_alive:
            with suppress(OSError):
                self._start()

    def ask(self, job: Mapping[str, Any], seconds: float) -> Any:
        """The answer to a job, as JSON; ``{"refused": why}`` if the process does not start, dies or takes too long."""
        try:
            process = self._running()
        except OSError as error:
            self.kill()
            return {"refused": _NOT_STARTED.format(error.strerror or error)}
        try:
            line = self._exchange(process, orjson.dumps(job) + b"\n", seconds)
        except (OSError, TimeoutError) as error:
            self.kill()
            if isinstance(error, TimeoutError):
                return {"refused": f"Reading took longer than {seconds - GRACE:g} s and was stopped."}
            line = b""
        if line.endswith(b"\n"):
            with suppress(orjson.JSONDecodeError):  # a file that took the process over may let it say anything
                return orjson.loads(line)
        self.kill()
        return {"refused": DIED}

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, ready for a job; OSError if it does not start."""
        process = self._process if self.is_alive and self._process is not None else self._start()
        if not self._ready:
            with suppress(TimeoutError):
                self._ready = self._line(_START) == READY
            if not self._ready:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                code = process.returncode
                raise OSError("it said nothing" if code is None else f"it ended with {code}")
        return process

    def _exchange(self, process: subprocess.Popen[bytes], job: bytes, seconds: float) -> bytes:
        if process.stdin is None:
            raise OSError("the pipe is closed")
        process.stdin.write(job)
        process.stdin.flush()
        return self._line(seconds)

    def _line(self, seconds: float) -> bytes:
        """The next line that the process says; TimeoutError if it takes longer."""
        if self._lines is None:
            raise OSError("the pipe is closed")
        return self._lines.next(seconds)

    def _start(self) -> subprocess.Popen[bytes]:
        self._ready = False
        command, environment = self.kind
        self._process = subprocess.Popen(  # noqa: S603
            [*command, str(self.scratch.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environment),
            # Its parent ends it. A kernel that is shut down waits half a minute for processes of its own group.
            start_new_session=True,
        )
        self._lines = None if self._process.stdout is None else AnswerLines(self._process.stdout, _WORDS)
        return self._process

    def kill(self) -> None:
        """End the process at once. The next job starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            self._wait(process)

    def close(self) -> None:
        """Let it end by itself, which it does when its input ends. No job may follow. One that has had no job yet may
        be starting still: it is not waited for."""
        if not self._ready:
            self.kill()
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
            self._wait(process)
        if self._own:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:  # the other one is closed by the thread that reads it
            with suppress(OSError):
                process.stdin.close()
