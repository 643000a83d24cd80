"""The side of the parent: it forks a process for each file, which locks itself before it looks at the file.

The parent parses nothing. It has imported the parsers, so that a fork costs some milliseconds, and does for its
children what they may not do: start another parser or a program, which it locks for the same file and folder.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from ...lock import LockFailed
from ...lock.launcher import Launcher, Programs, Run
from ...lock.reader_lock import Bounds, ReaderLock
from .. import limits
from ..reading import JsonObject
from . import locked_child as child
from .lock_self_test import what_works
from .locked_child import ANSWER, QUESTION, UNLOCKED, Place, Question, Work
from .parser_process import PATIENCE, Job, answer_to, import_libraries_of

PROGRAMS = ("mdb-tables", "mdb-export")
"""The programs that a parser may ask for."""
_MOST_PROGRAMS = 4
"""How many of them may run at once."""
_LONGEST = 24 * 3600.0
_LOOK = 0.25
"""Seconds between two looks at the size of the folder."""
_SHARE = 10
"""A look may take at most this part of the time: a folder with many files takes long to look at."""
MOST_WRITTEN = limits.MOST_UNPACKED
_MOST_FILES = 100_000
"""Files and folders that a process may make: an archive may have as many members, each in a folder of its own."""


class Died(Exception):
    """The process ended without an answer; ``status`` is its exit code, or minus the signal. ``why`` says more."""

    def __init__(self, status: int, why: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.why = why


class _Child:
    """A process that was forked and waits for its files."""

    def __init__(self, lock: ReaderLock, bounds: Bounds, work: Work) -> None:
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        self.process = os.fork()
        if self.process == 0:
            ours.close()
            child.serve(theirs, parent, lock, bounds, work)
        theirs.close()
        self.connection = ours
        self.place: Place = {"reading": [], "writing": ""}
        self._code: int | None = None

    def begin(self, place: Place) -> None:
        self.place = place
        with suppress(OSError):
            child.send(self.connection.fileno(), ANSWER, orjson.dumps(_in_json(place)))

    def end(self) -> int:
        """End the process; gives its exit code."""
        self.connection.close()
        if self._code is None:
            os.kill(self.process, signal.SIGKILL)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return self._code

    def ended(self) -> int:
        """The exit code of a process that has closed its connection; it is given a moment to end by itself."""
        until = time.monotonic() + 1
        while self._code is None and time.monotonic() < until:
            found, status = os.waitpid(self.process, os.WNOHANG)
            if found:
                self._code = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.002)
        return self.end()


class LockedParent:
    """Answers jobs by locked processes, one after the other. It writes in folders of its own below ``scratch``."""

    def __init__(self, scratch: Path, work: Work, bounds: Bounds | None = None) -> None:
        self._scratch = scratch
        self._work = work
        self._bounds = bounds or Bounds(MOST_WRITTEN)
        self._lock = ReaderLock()
        self._launcher = Launcher()
        self._current: _Child | None = None
        self._run = 0
        self._spare: _Child | None = None
        self._number = 0
        _freeze()

    def test(self) -> None:
        """Let a locked process try what it must not be able to do.

        Raises
        ------
        LockFailed
            If the lock does not hold, or a step of it fails.
        """
        tested = _Child(self._lock, self._bounds, lambda _: orjson.dumps(what_works()))
        tested.begin({"reading": [], "writing": self._folder()})
        try:
            worked = orjson.loads(self._exchange(tested, b"", None))
        except Died as died:
            raise LockFailed(f"The test of the lock ended early (status {died.status}).") from None
        finally:
            tested.end()
            shutil.rmtree(tested.place["writing"], ignore_errors=True)
        if worked:
            raise LockFailed(f"The lock does not hold: {', '.join(worked)}.")

    def answer(self, job: bytes, run: int, reading: Sequence[str], *, times: int = 0) -> tuple[bytes, Path]:
        """The answer to a job about some files, and the folder with what was written.

        A process answers as long as the jobs are of the same run and about the same files.

        Raises
        ------
        Died, LockFailed
        """
        current, fresh = self._current, False
        if current is None or self._run != run or current.place["reading"] != reading:
            self.finish()
            current, self._spare = self._spare or self._fork(), None
            self._current, self._run, fresh = current, run, True
            current.begin({"reading": list(reading), "writing": self._folder()})
        try:
            return self._exchange(current, job, self._prepared), Path(current.place["writing"])
        except Died as died:
            self.finish()
            # One that answered before may have been broken by the file before; a new one has this file first.
            again = died.status == child.LACKS or not (fresh or died.why)
            if not again or times == len(child.LOADED_WHEN_USED):
                raise
        except BaseException:
            self.finish()
            raise
        return self.answer(job, run, reading, times=times + 1)

    def finish(self) -> None:
        """End the process at work: the next job has another one."""
        current, self._current = self._current, None
        if current is not None:
            current.end()
            shutil.rmtree(current.place["writing"], ignore_errors=True)

    def close(self) -> None:
        self.finish()
        self._launcher.close()
        if self._spare is not None:
            self._spare.end()
            self._spare = None

    def _fork(self) -> _Child:
        return _Child(self._lock, self._bounds, self._work)

    def _prepared(self) -> None:
        """Fork the next process while this one works."""
        if self._spare is None:
            self._spare = self._fork()

    def _folder(self) -> str:
        self._number += 1
        folder = self._scratch / f"reading-{os.getpid()}-{self._number}"
        folder.mkdir(mode=0o700, parents=True)
        return str(folder.absolute())

    def _exchange(
        self, asked: _Child, job: bytes, meanwhile: Callable[[], None] | None, seconds: float | None = None
    ) -> bytes:
        """Send a job; help the process until it answers.

        Raises
        ------
        Died, LockFailed
        """
        until = None if seconds is None else time.monotonic() + seconds
        with suppress(OSError):
            child.send(asked.connection.fileno(), ANSWER, job)
        if meanwhile is not None:
            meanwhile()
        while True:
            self._await(asked, until)
            try:
                found = child.receive(asked.connection.fileno())
            except OSError:
                found = None
            if found is None:
                raise Died(asked.ended())
            kind, data = found
            if kind == ANSWER:
                return data
            if kind == UNLOCKED:
                raise LockFailed(data.decode("utf-8", "replace"))
            if kind != QUESTION:
                raise Died(asked.ended())
            answer = self._help(orjson.loads(data), asked.place)
            with suppress(OSError):
                child.send(asked.connection.fileno(), ANSWER, orjson.dumps(answer))

    def _await(self, asked: _Child, until: float | None) -> None:
        """Wait for a message, and watch the folder and the clock meanwhile."""
        pause = _LOOK
        while not select.select([asked.connection], [], [], pause)[0]:
            began = time.monotonic()
            if until is not None and began > until:
                raise Died(-signal.SIGXCPU)
            if why := _over(asked.place["writing"]):
                raise Died(-signal.SIGXFSZ, why)
            pause = max(_LOOK, _SHARE * (time.monotonic() - began))

    # What a process asks for

    def _help(self, question: Question, place: Place) -> JsonObject:
        if question.get("what") == "parse":
            return self._parse(question, place)
        if question.get("what") == "programs":
            return self._programs(question, place)
        if question.get("what") == "imported":
            return {"new": self._import(question["modules"])}
        if question.get("what") == "remove":
            _remove(place["writing"], question["names"])
        return {}

    def _import(self, modules: Sequence[str]) -> bool:
        """Import libraries that a file has needed, so that the next process has them; whether one is new."""
        before = len(sys.modules)
        for name in set(modules) & set(child.LOADED_WHEN_USED):
            with suppress(ImportError):
                importlib.import_module(name)
        self._renew()
        return len(sys.modules) > before

    def _renew(self) -> None:
        """Let the next process have what was imported."""
        self._lock = ReaderLock()
        _freeze()
        if self._spare is not None:
            self._spare.end()
            self._spare = None

    def _parse(self, question: Question, place: Place) -> JsonObject:
        """Let another process parse: a crash of it ends neither this one nor the one that asked."""
        job: Job = question["job"]
        seconds = int(job["seconds"])
        bounds = Bounds(MOST_WRITTEN, memory=3 * limits.MOST_IN_MEMORY, seconds=seconds)
        if import_libraries_of(str(job["loader"])):
            self._renew()
        parser = _Child(self._lock, bounds, _parsed)
        parser.begin(place)
        try:
            return {"answer": orjson.loads(self._exchange(parser, orjson.dumps(job), None, seconds + PATIENCE))}
        except Died as died:
            return {"died": died.status}
        except LockFailed as error:
            return {"died": 1, "why": str(error)}
        finally:
            parser.end()

    def _programs(self, question: Question, place: Place) -> JsonObject:
        """Run some programs beside each other, each locked for the same files and folder, into files of that folder."""
        found = {name: shutil.which(name) for name in PROGRAMS}
        asked = question["runs"][: _MOST_PROGRAMS + 1]
        if len(asked) > _MOST_PROGRAMS or not all(found.get(one["program"]) for one in asked):
            return {"missing": True}
        runs: list[Run] = [
            {
                "program": os.path.realpath(str(found[one["program"]])),
                "words": [str(word) for word in one["words"]],
                "output": str(one["output"]),
            }
            for one in asked
        ]
        inside = _in_json(place)
        programs: Programs = {
            "runs": runs,
            "reading": inside["reading"],
            "writing": inside["writing"],
            "written": limits.MOST_IN_MEMORY,
            "seconds": min(max(float(question["seconds"]), 0.0), _LONGEST),
        }
        return {"status": list(self._launcher.run(programs))}


def _remove(folder: str, names: Sequence[str]) -> None:
    """Remove what a process has made in its folder: it may not itself, or what it holds open could not be measured."""
    for name in map(child.as_path, names):
        path = os.path.join(folder, name)
        if name in ("", ".", "..") or os.sep in name:
            continue  # not a name of something in the folder
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(path)


def _in_json(place: Place) -> Place:
    return {
        "reading": [child.as_text(one) for one in place["reading"]],
        "writing": child.as_text(place["writing"]),
    }


def _freeze() -> None:
    """Keep what is there out of the garbage collector, so that a child does not copy it."""
    gc.collect()
    gc.freeze()


def _parsed(job: bytes) -> bytes:
    return orjson.dumps(answer_to(orjson.loads(job)))


def _over(folder: str) -> str:
    """What is too much in a folder; empty if nothing is."""
    size = files = 0
    for root, _, names in os.walk(folder):
        files += len(names) + 1
        for name in names:
            with suppress(OSError):
                size += os.stat(os.path.join(root, name)).st_blocks * 512
        if files > _MOST_FILES or size > MOST_WRITTEN:
            return f"it writes more than {MOST_WRITTEN >> 30} GiB"
    return ""
