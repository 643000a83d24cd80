"""Files on their way in through the readers: sent one by one, read together after the answer, told about meanwhile.

What is sent and what is known of a run lie as files in the folder beside the store, so that every process on the store
can tell of a run; the process that took it reads. One that was killed leaves its run behind as failed: nothing is half
in the store, and the same files may be sent again.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from workbench.errors import Busy, Forbidden, NotFound, WorkbenchError
from workbench.ingest import Report, ingest
from workbench.ingest.options import Sent
from workbench.ingest.plan.jobs import Job
from workbench.ingest.plan.labels import Labels
from workbench.ingest.plan.read_options import ReadOptions
from workbench.store.db import lease
from workbench.store.scope import Scope

from . import log
from .requests import SentFile

if TYPE_CHECKING:
    from .state import State

KEPT_SECONDS = 24 * 3600
"""How long a file that no run took, and the account of a run, are kept."""
STOPPED = "The server was stopped meanwhile; ingest the same files again."
MOST_JOBS = 4
MOST_WAITING = 16
_SHOWN = ("id", "state", "done", "of", "at", "report", "error")
_ID = re.compile(r"[0-9a-f]{32}")


class Ingests:
    """The runs of one process; what is known of all runs stands on the disk."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="workbench-ingests")
        self._lock = threading.Lock()
        self._runs: dict[str, tuple[Future[None], dict[str, Any]]] = {}

    @property
    def _folder(self) -> Path:
        place = self.state.files / "ingests"
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        return place

    # Files

    def keep(self, sent: SentFile, name: str, owner: Mapping[str, str]) -> str:
        """Keep a file that was sent until a run takes it; answers the id by which it is named."""
        id = secrets.token_hex(16)
        place = self._folder / f"file-{id}"
        place.mkdir(mode=0o700)
        with sent.path.open("rb") as file:
            os.fsync(file.fileno())
        sent.path.replace(place / "bytes")
        _write(place / "about.json", {**owner, "name": name})
        return id

    def _file(self, id: str, owner: Mapping[str, str]) -> tuple[Path, str]:
        """The folder and the name of a file that was sent by the same user for the same project."""
        place = self._folder / f"file-{id}"
        about = _read(place / "about.json") if _ID.fullmatch(id) else None
        if about is None or any(about.get(key) != value for key, value in owner.items()):
            raise NotFound(f"No file '{id[:80]}' was sent for this project; send it first.")
        return place, str(about["name"])

    # Runs

    def begin(
        self,
        files: Sequence[str],
        options: Sent,
        scope: Scope,
        owner: Mapping[str, str],
        tests: Sequence[Test] | None = None,
    ) -> str:
        """Start to read files that were sent, together, in their order; answers the id of the run.

        ``tests`` says which of them belong together and what they are; without it each is a test of its own.

        Raises
        ------
        NotFound
            If one of them was not sent.
        Busy
            If too many runs are waiting.
        """
        found = [self._file(id, owner) for id in files]
        if len(self._runs) >= MOST_WAITING:
            raise Busy("Too many files are waiting to be read; try again in a while.", retry_after=30)
        id = secrets.token_hex(16)
        run = self._folder / f"run-{id}"
        run.mkdir(mode=0o700)
        names = []
        for place, (folder, name) in enumerate(found):
            target = run / f"{place:06}"
            folder.rename(target)
            (target / "bytes").rename(target / name)
            (target / "about.json").unlink()
            names.append(name)
        meant = [Test((place,)) for place in range(len(names))] if tests is None else list(tests)
        _lay_beside(run, names, meant)
        told = {
            "id": id,
            "state": "running",
            "done": 0,
            "of": len(meant),
            "at": "",
            "lease": lease.take(),
            **owner,
        }
        self._tell(id, told)
        with self._lock:
            self._runs[id] = self._pool.submit(self._run, run, told, names, meant, options, scope), told
        return id

    def told(self, id: str, owner: Mapping[str, str]) -> dict[str, Any]:
        """What is known of a run: ``state`` (running, done, failed), ``done`` of ``of`` files, and the ``report``.

        Raises
        ------
        NotFound
            If there is none of that id in this project.
        Forbidden
            If another user began it.
        """
        found = _read(self._folder / f"told-{id}.json") if _ID.fullmatch(id) else None
        if found is None or found.get("project_id") != owner["project_id"]:
            raise NotFound(f"No ingest '{id[:80]}' here.")
        if found.get("user_id") != owner["user_id"]:
            raise Forbidden("Only who began an ingest may look at it.")
        beat = int(found.get("beat", 0))
        if found["state"] == "running" and not lease.is_held(found["lease"], beat):
            found |= {"state": "failed", "error": STOPPED}
        return {key: found[key] for key in _SHOWN if key in found}

    def _run(
        self,
        run: Path,
        told: dict[str, Any],
        names: list[str],
        tests: list[Test],
        options: Sent,
        scope: Scope,
    ) -> None:
        last = 0.0

        def progress(done: int, of: int, at: str) -> None:
            nonlocal last
            if time.monotonic() - last > 0.2:
                last = time.monotonic()
                self._tell(told["id"], {**told, "done": done, "of": of, "at": at})

        try:
            paths = [run / f"{place:06}" / name for place, name in enumerate(names)]
            loose = {paths[place] for test in tests if test.loose for place in test.files}
            jobs = min(max(options.options.jobs, 1), MOST_JOBS)
            report = ingest(
                self.state.store,
                scope,
                [],
                options.options.model_copy(update={"jobs": jobs}),
                actor=told["user_id"],
                isolated=True,
                progress=progress,
                tests=lambda meant: [_job(number, test, paths, meant) for number, test in enumerate(tests)],
                loose=loose,
                whole_lines=options.whole_lines,
            )
            ended = {"state": "done", "done": len(tests), "report": _named(report, run, names, tests)}
        except WorkbenchError as error:
            ended = {"state": "failed", "error": _without(str(error), run)}
        except Exception:
            log.failed("ingest broke", ingest=told["id"])
            ended = {"state": "failed", "error": "The files could not be read; the server's log has the reason."}
        finally:
            with self._lock:
                self._runs.pop(told["id"], None)
            shutil.rmtree(run, ignore_errors=True)
        self._tell(told["id"], {**told, **ended})

    def _tell(self, id: str, told: Mapping[str, Any]) -> None:
        _write(self._folder / f"told-{id}.json", {**told, "beat": int(time.time() * 1e6)})

    def sweep(self) -> None:
        """Remove what nobody took, and what nobody asks for any more."""
        before = time.time() - KEPT_SECONDS
        for path in self._folder.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < before:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self) -> None:
        """Wait for the run at hand; runs that wait are given up, and told as failed."""
        for id, (run, told) in list(self._runs.items()):
            if run.cancel():
                self._tell(id, {**told, "state": "failed", "error": STOPPED})
        self._pool.shutdown(wait=True)


@dataclass(frozen=True)
class Test:
    """One test to be: the places of its files in the request, what lies ``beside`` the first, what is said of it."""

    files: tuple[int, ...]
    beside: tuple[int, ...] = ()
    labels: Labels = field(default_factory=Labels)
    assumed: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    loose: bool = False


def _lay_beside(run: Path, names: Sequence[str], tests: Sequence[Test]) -> None:
    """Put what goes along with a file into its folder."""
    for test in tests:
        for place in test.beside:
            (run / f"{place:06}" / names[place]).rename(run / f"{test.files[0]:06}" / names[place])


def _job(number: int, test: Test, paths: Sequence[Path], options: ReadOptions) -> Job:
    """A test as the ingest takes it; the report calls it by its number."""
    chosen = tuple(paths[place] for place in test.files)
    read = replace(options.with_reading(test.labels.reading), parts=tuple(map(str, chosen[1:])))
    return Job(chosen, read, test.labels, list(test.assumed), list(test.odd), called=str(number))


def _named(report: Report, run: Path, names: Sequence[str], tests: Sequence[Test]) -> dict[str, Any]:
    """A report as its reader knows the files: by their names, and tests by their places in the request."""
    told = report.as_dict()
    for file in told["files"]:
        file["test"] = int(file["path"])
        file["path"] = names[tests[file["test"]].files[0]]
    plain: dict[str, Any] = _plain(told, run)
    return plain


def _plain(value: Any, run: Path) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item, run) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, run) for item in value]
    return _without(value, run) if isinstance(value, str) else value


def _without(text: str, run: Path) -> str:
    """A text without the folder in which the files lie."""
    return re.sub(re.escape(str(run)) + r"/(\d{6}/)?", "", text)


def _write(path: Path, value: Mapping[str, Any]) -> None:
    draft = path.with_name(f".{secrets.token_hex(8)}")
    draft.write_bytes(orjson.dumps(value))
    draft.replace(path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return found
