"""Ingest of cycler files: a client sends them one by one, begins a run that reads them, and asks for its state.

The files and the state of each run are in the folder beside the store, so that every server process on the store can
answer for a run; of a store on PostgreSQL they are there, for servers on other machines. The process that took a run
reads its files. If that process is killed, the run has failed: the store holds no half of a file, and the client may
send the same files again.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NotRequired

import orjson
from pydantic import JsonValue
from typing_extensions import TypedDict

from workbench.analyses import background
from workbench.analyses.run import ARRIVAL_JOB, Analysed, Progress, analyse
from workbench.errors import BadRequest, Busy, Forbidden, NotFound, StoreError, StoreFull, WorkbenchError
from workbench.fan_out import FanOut
from workbench.ingest import Report, ingest
from workbench.ingest.options import Sent
from workbench.ingest.plan.jobs import Job
from workbench.ingest.plan.labels import Labels
from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.plan.sheet import Row, Sheet
from workbench.store.again import Again, write_note, write_note_over
from workbench.store.db import lease
from workbench.store.scope import Scope
from workbench.store.shared import Shared
from workbench.store.store import Store

from . import log
from .requests import SentFile
from .schemas import Json

KEPT_SECONDS = 24 * 3600
"""How long the server keeps a file that no run took, and the state of a run."""
STOPPED = "The server was stopped before it had read the files. Ingest the same files again."
UNNOTED = (
    "The files were read, and the server could not note how that ended: its disk may be full. Look at what the project "
    "holds. Ingest the same files again for what is missing: nothing is stored twice."
)
_STORE_FAILED = (
    "The store of this server {why}. What was read before is stored; ingest the same files again. The log "
    "of the server has the reason under the ingest id {id}."
)
_TEST_FAILED = (
    "The stored samples of this test cannot be read on the server. The log of the server has the reason under the "
    "ingest id {id}; give that to the operator."
)
BEAT_SECONDS = 300.0
"""How often the server notes that it is at work on its runs, for servers on other machines: a run may wait for others,
or read one file, for longer than they wait for a word."""
AGAIN_SECONDS = 30.0
"""How long the server waits before it tries again what a full disk refused."""
MOST_JOBS = 4
MOST_WAITING = 16
_ID = re.compile(r"[0-9a-f]{32}")
_FILE, _RUN = "ingest file", "ingest run"
_BLOCK = 1 << 20


class Owner(TypedDict):
    """Whose a file or a run is."""

    project_id: str
    user_id: str


class IngestShown(TypedDict):
    """What its user is shown of a run: ``done`` of ``of`` tests, and at the end its report."""

    id: str
    state: Literal["running", "done", "failed"]
    done: int
    of: int
    at: str
    report: NotRequired[Json]
    error: NotRequired[str]


class _Run(IngestShown, Owner):
    """What the folder keeps of a run; ``beat`` is when that was written, in microseconds since 1970."""

    lease: str
    beat: NotRequired[int]


class Ingests:
    """The runs of one process. The state of all runs is on the disk.

    With ``locked`` files are read in locked processes only.
    """

    def __init__(self, store: Store, files: Path, *, locked: bool = True, fan_out: FanOut | None = None) -> None:
        self.store = store
        self._fan_out = fan_out
        self.files = files
        self._locked = locked
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="workbench-ingests")
        self._lock = threading.Lock()
        self._runs: dict[str, tuple[Future[None], _Run]] = {}
        self._said: dict[str, _Run] = {}
        """What was last noted of each run that has not ended."""
        self._noting = threading.Lock()
        self._stop = threading.Event()
        self._beating: threading.Thread | None = None
        self._unkept: dict[str, _Run] = {}
        """Ends of runs that could not be written down yet."""
        self._again = Again(AGAIN_SECONDS)
        self.told: Callable[[str], None] = lambda status: None
        """Called with the status of each file that was read."""

    def waiting(self) -> int:
        """How many runs there are that have not ended."""
        return len(self._runs)

    @property
    def _folder(self) -> Path:
        place = self.files / "ingests"
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        return place

    # Files

    def keep(self, sent: SentFile, name: str, owner: Owner) -> str:
        """Keep a file that was sent until a run takes it; gives its id."""
        id = secrets.token_hex(16)
        place = self._folder / f"file-{id}"
        place.mkdir(mode=0o700)
        with sent.path.open("rb") as file:
            os.fsync(file.fileno())
        sent.path.replace(place / "bytes")
        about: Json = {**owner, "name": name}
        shared = self.store.shared
        if shared is not None:
            with (place / "bytes").open("rb") as file:
                about["blob"] = self.store.blobs.put(iter(lambda: file.read(_BLOCK), b""))
            shutil.rmtree(place)
            shared.note(_FILE, id, orjson.dumps(about))
        else:
            _write(place / "about.json", about)
        return id

    def _file(self, id: str, owner: Owner) -> tuple[Path, str]:
        """The folder and the name of a file that was sent by the same user for the same project."""
        place = self._folder / f"file-{id}"
        about = self._about(id, place) if _ID.fullmatch(id) else None
        if about is None or any(about.get(key) != value for key, value in owner.items()):
            raise NotFound(f"No file '{id[:80]}' was sent for this project. Send it first.")
        return place, str(about["name"])

    def _about(self, id: str, place: Path) -> Json | None:
        """What was noted of a file that was sent."""
        shared = self.store.shared
        if shared is None:
            return _read(place / "about.json")
        found = shared.noted(_FILE, id)
        about: Json | None = None if found is None else orjson.loads(found)
        return about

    def _fetch(self, shared: Shared, id: str, place: Path) -> None:
        """Bring a file that was sent to any server here. Of several runs that want it, one gets it."""
        found = shared.take_note(_FILE, id)
        if found is None:
            raise NotFound(f"No file '{id[:80]}' was sent for this project. Send it first.")
        place.mkdir(mode=0o700, exist_ok=True)
        with (place / "bytes").open("wb") as file:
            file.writelines(self.store.blobs.get(orjson.loads(found)["blob"]))

    # Runs

    def begin(
        self,
        files: Sequence[str],
        options: Sent,
        scope: Scope,
        owner: Owner,
        tests: Sequence[Test] | None = None,
    ) -> str:
        """Start to read files that were sent, together, in their order; gives the id of the run.

        ``tests`` says which of them belong together and what they are; without it each is a test of its own.

        Raises
        ------
        NotFound
            If one of them was not sent.
        BadRequest
            If a file has the name of another one that it is beside.
        Busy
            If too many runs are waiting.
        """
        found = [self._file(id, owner) for id in files]
        names = [name for _, name in found]
        meant = [Test((place,)) for place in range(len(names))] if tests is None else list(tests)
        _refuse_same_names(names, meant)
        if len(self._runs) >= MOST_WAITING:
            raise Busy("Too many files are waiting to be read. Try again in half a minute.", retry_after=30)
        if self.store.shared is not None:
            for sent, (folder, _) in zip(files, found, strict=True):
                self._fetch(self.store.shared, sent, folder)
        id = secrets.token_hex(16)
        run = self._folder / f"run-{id}"
        run.mkdir(mode=0o700)
        for place, (folder, name) in enumerate(found):
            target = run / f"{place:06}"
            folder.rename(target)
            (target / "about.json").unlink(missing_ok=True)  # first: the file itself may have this name
            (target / "bytes").rename(target / name)
        _lay_beside(run, names, meant)
        known: _Run = {
            "id": id,
            "state": "running",
            "done": 0,
            "of": len(meant),
            "at": "",
            "lease": lease.take(),
            "project_id": owner["project_id"],
            "user_id": owner["user_id"],
        }
        self._keep(known)
        with self._lock:
            self._runs[id] = self._pool.submit(self._run, run, known, names, meant, options, scope), known
            if self.store.shared is not None and self._beating is None:
                self._beating = threading.Thread(target=self._beat, name="workbench-ingest-beat", daemon=True)
                self._beating.start()
        return id

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            self.beat()

    def beat(self) -> None:
        """Note of each run that has not ended that this process has it."""
        for id in list(self._said):
            with self._noting, suppress(StoreError, OSError):
                if (said := self._said.get(id)) is not None:
                    self._note(said)

    def shown(self, id: str, owner: Owner) -> IngestShown:
        """What is known of a run.

        Raises
        ------
        NotFound
            If there is none of that id in this project.
        Forbidden
            If another user began it.
        """
        found = self._known(id)
        if found is None or found["project_id"] != owner["project_id"]:
            raise NotFound(f"There is no ingest '{id[:80]}'.")
        if found["user_id"] != owner["user_id"]:
            raise Forbidden("Only the user who began an ingest may look at it.")
        if found["state"] == "running" and not self.store.is_held(found["lease"], found.get("beat", 0)):
            found = self._known(id) or found  # its process may have noted the end after the first look, and ended
            if found["state"] == "running":
                found |= {"state": "failed", "error": STOPPED}
        shown: IngestShown = {
            "id": id,
            "state": found["state"],
            "done": found["done"],
            "of": found["of"],
            "at": found["at"],
        }
        if "report" in found:
            shown["report"] = found["report"]
        if "error" in found:
            shown["error"] = found["error"]
        return shown

    def _known(self, id: str) -> _Run | None:
        """What is kept of a run."""
        if id in self._unkept:
            return self._unkept[id].copy()
        if self.store.shared is not None:
            noted = self.store.shared.noted(_RUN, id) if _ID.fullmatch(id) else None
            known: _Run | None = None if noted is None else orjson.loads(noted)
            return known
        try:
            found: _Run | None = orjson.loads(self._note_of(id).read_bytes()) if _ID.fullmatch(id) else None
        except FileNotFoundError:
            return None
        return found

    def _run(
        self,
        run: Path,
        known: _Run,
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
                with suppress(StoreError, OSError):  # the next one says so too; a full disk stops no run
                    self._keep({**known, "done": done, "of": of, "at": at})

        try:
            paths = [run / f"{place:06}" / name for place, name in enumerate(names)]
            loose = {paths[place] for test in tests if test.loose for place in test.files}
            jobs = min(max(options.options.jobs, 1), MOST_JOBS)
            report = ingest(
                self.store,
                scope,
                [],
                options.options.model_copy(update={"jobs": jobs}),
                actor=known["user_id"],
                isolated=True,
                locked=self._locked,
                progress=progress,
                tests=lambda meant: [_job(number, test, paths, meant) for number, test in enumerate(tests)],
                loose=loose,
                whole_lines=options.whole_lines,
                fan_out=self._fan_out,
            )
            for file in report.files:
                if (error := report.store_errors.get(file.path)) is not None:
                    log.warn("the store refused a file of an ingest", ingest=known["id"], why=str(error))
                    file.why = _TEST_FAILED.format(id=known["id"])
            later = [number for number, test in enumerate(tests) if report.later & {paths[k] for k in test.files}]
            told = _named(report, run, names, tests) | ({"later": later} if later else {})
            known |= {"state": "done", "done": len(tests), "report": told}
            for file in report.files:
                self.told(file.status)
            if report.stored:
                self._arrived(scope, known["user_id"])
        except StoreError as error:  # its text may hold a path or an address, so it is only in the log
            log.failed("the store failed an ingest", ingest=known["id"])
            why = "has no room for it" if isinstance(error, StoreFull) else "could not be used"
            known |= {"state": "failed", "error": _STORE_FAILED.format(why=why, id=known["id"])}
        except WorkbenchError as error:
            known |= {"state": "failed", "error": _without(str(error), run)}
        except Exception:  # Whatever broke, the run must end as failed, and its user must not wait for ever.
            log.failed("ingest broke", ingest=known["id"])
            known |= {"state": "failed", "error": "The files could not be read. The server's log has the reason."}
        finally:
            with self._lock:
                self._runs.pop(known["id"], None)
            shutil.rmtree(run, ignore_errors=True)
        try:
            self._keep(known)
        except (StoreError, OSError) as error:  # a full disk: its user must not wait for ever
            self._unkept[known["id"]] = known
            log.failed("ingest not noted", ingest=known["id"], why=str(error)[:200])
            if self.store.shared is None:
                short: _Run = {**known, "state": "failed", "error": UNNOTED}
                short.pop("report", None)
                with suppress(OSError):
                    write_note_over(self._note_of(known["id"]), orjson.dumps(short))
            self._again.add(known["id"], lambda: self._keep_late(known))

    def _keep_late(self, known: _Run) -> None:
        """Write down an end that could not be written before, for the other servers of the store."""
        self._keep(known)
        self._unkept.pop(known["id"], None)

    def _arrived(self, scope: Scope, user: str) -> None:
        """Begin the analyses of what arrived, if the project asks for them; the ingest does not wait."""
        if not self.store.switches.is_on("analyse on arrival", scope):
            return

        def work(told: Progress, stop: threading.Event) -> Analysed:
            return analyse(self.store, scope, user, ARRIVAL_JOB, fan_out=self._fan_out, progress=told, cancel=stop)

        def again() -> None:
            self._again.add(("arrived", scope), lambda: self._arrived(scope, user))

        background.begin_once(self.store, scope, user, ARRIVAL_JOB, work, again)

    def _keep(self, known: _Run) -> None:
        """Write down what is known of a run, for every process on the store."""
        with self._noting:
            self._said.pop(known["id"], None)
            self._note(known)
            if known["state"] == "running":
                self._said[known["id"]] = known.copy()

    def _note(self, known: _Run) -> None:
        noted: Json = {**known, "beat": int(time.time() * 1e6)}
        if self.store.shared is not None:
            self.store.shared.note(_RUN, known["id"], orjson.dumps(noted))
        else:
            _write(self._note_of(known["id"]), noted)

    def _note_of(self, id: str) -> Path:
        return self._folder / f"told-{id}.json"

    def sweep(self) -> None:
        """Remove files that no run took, and the states of old runs."""
        before = time.time() - KEPT_SECONDS
        for path in self._folder.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < before:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self) -> None:
        """Wait for the run at hand. Runs that have not begun are given up and kept as failed."""
        self._again.close()
        self._stop.set()
        for run, known in list(self._runs.values()):
            if run.cancel():
                self._keep({**known, "state": "failed", "error": STOPPED})
        self._pool.shutdown(wait=True)
        for known in list(self._unkept.values()):
            with suppress(StoreError, OSError):
                self._keep_late(known)


@dataclass(frozen=True)
class Test:
    """One test: the places of its files in the request, the files ``beside`` the first, and what is known of it.

    ``odd`` are its warnings; ``folder`` and ``above`` are as in `Job`. ``rows`` are about single tests of its file.
    ``loose`` says that a folder was given, so that a file of no known format is skipped.
    """

    files: tuple[int, ...]
    beside: tuple[int, ...] = ()
    labels: Labels = field(default_factory=Labels)
    assumed: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    loose: bool = False
    folder: str = ""
    above: int = 0
    rows: tuple[Row, ...] = ()


def _refuse_same_names(names: Sequence[str], tests: Sequence[Test]) -> None:
    """Refuse files that would take each other's place in one folder."""
    for test in tests:
        together = [names[place] for place in (*test.files[:1], *test.beside)]
        twice = next((name for at, name in enumerate(together) if name in together[:at]), None)
        if twice is not None:
            raise BadRequest(
                f"Two files beside each other are called '{twice[:80]}'. Send one, or give it another name."
            )


def _lay_beside(run: Path, names: Sequence[str], tests: Sequence[Test]) -> None:
    """Put the files that belong to another file into its folder."""
    for test in tests:
        for place in test.beside:
            (run / f"{place:06}" / names[place]).rename(run / f"{test.files[0]:06}" / names[place])


def _job(number: int, test: Test, paths: Sequence[Path], options: ReadOptions) -> Job:
    """A test as the ingest takes it; the report calls it by its number."""
    chosen = tuple(paths[place] for place in test.files)
    read = replace(options.with_reading(test.labels.reading), parts=tuple(map(str, chosen[1:])))
    return Job(
        chosen,
        read,
        test.labels,
        list(test.assumed),
        list(test.odd),
        called=str(number),
        folder=test.folder,
        above=test.above,
        sheet=Sheet(Path("sheet"), [*test.rows]) if test.rows else None,
    )


def _named(report: Report, run: Path, names: Sequence[str], tests: Sequence[Test]) -> Json:
    """A report that calls files by their names, and tests by their places in the request."""
    named = report.as_dict()
    for file in named["files"]:
        number, mark, one = file["path"].partition("!")  # behind the mark: a test of a file that holds several
        file["test"] = int(number)
        file["path"] = f"{names[tests[file['test']].files[0]]}{mark}{one}"
        if not any(test.folder for test in tests):  # a client of 0.1.0, which knows no other keys
            del file["fixes"]
    return {key: _plain(value, run) for key, value in named.items()}


def _plain(value: JsonValue, run: Path) -> JsonValue:
    """JSON values without the folder of the run in their texts."""
    if isinstance(value, dict):
        return {key: _plain(item, run) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, run) for item in value]
    return _without(value, run) if isinstance(value, str) else value


def _without(text: str, run: Path) -> str:
    """A text without the folder in which the files lie."""
    return re.sub(re.escape(str(run)) + r"/(\d{6}/)?", "", text)


def _write(path: Path, value: Json) -> None:
    write_note(path, orjson.dumps(value))


def _read(path: Path) -> Json | None:
    try:
        found: Json = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return found
