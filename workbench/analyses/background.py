"""Runs of analyses in the background, for callers who do not wait: a run is begun, asked for, and stopped.

The state of each run is a small file beside the store, so that every process on the store can answer for it; of a store
on PostgreSQL it is there, for processes on other machines. Only the
process that began a run works on it. If that process ends, the run is stopped: what was computed is kept, and the same
run begun again goes on with the rest.
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NotRequired

import orjson
from pydantic import JsonValue
from typing_extensions import TypedDict

from ..errors import Busy, NotFound, StoreError, WorkbenchError
from ..store import Scope, Store
from ..store.again import may_pass, write_note, write_note_over
from ..store.db import lease
from .run import Analysed

KEPT_SECONDS = 24 * 3600
"""How long the state of a run is kept."""
MOST_RUNS = 4
"""How many runs one process works on at the same time."""
SILENT_SECONDS = 60.0
"""After so long without a word, a run on another machine counts as ended. On this one the system knows."""
STOPPED = "The process that computed this ended. Begin the same run again: it goes on with what is missing."
UNNOTED = (
    "This run ended, and how could not be noted: the disk of the store may be full. What it computed is kept. Begin "
    "the same run again: it goes on with what is missing."
)
_RUN, _STOP = "analysis run", "analysis stop"
_ID = re.compile(r"[0-9a-f]{32}")
_EVERY = 0.5


class Run(TypedDict):
    """A run as its user sees it: ``done`` of ``of`` tests, the test at hand, and at the end what was done."""

    id: str
    type: str
    state: Literal["running", "done", "cancelled", "failed"]
    done: int
    of: int
    at: str
    report: NotRequired[dict[str, JsonValue]]
    error: NotRequired[str]


class _State(Run):
    """What the file of a run holds; ``beat`` is when it was written, s since 1970, ``lease`` who works on it."""

    project_id: str
    user_id: str
    beat: float
    lease: NotRequired[str]


Work = Callable[[Callable[[int, int, str], None], threading.Event], Analysed]
"""Does the work of a run: takes what to call with the progress, and what says that it shall stop."""
_Waiting = tuple[Store, Scope, str, str, Work, Callable[[], None]]
_running: dict[str, threading.Event] = {}
_Key = tuple[str, Scope, str]
_due: dict[_Key, _Waiting] = {}
"""Runs that wait for a place, or for the end of one of the same store, scope and type."""
_alone: set[_Key] = set()
"""What runs of `begin_once` are at work on."""
_lock = threading.Lock()


def begin(store: Store, scope: Scope, user: str, type: str, work: Work) -> Run:
    """Begin a run in a thread of its own.

    Raises
    ------
    Busy
        If this process works on as many runs as it may already.
    """
    return _begin(store, scope, user, type, work, lambda: None, None)


def begin_once(
    store: Store, scope: Scope, user: str, type: str, work: Work, again: Callable[[], None] = lambda: None
) -> None:
    """Begin a run as soon as there is a place and no other of its type is at work in the scope; nobody waits for it.

    Those that wait meanwhile are one: it begins after the last of them was asked for, so it misses nothing. ``again``
    is called if it could not begin, or if something ended it that may pass, such as a full disk.
    """
    with _lock:
        _due[store.place, scope, type] = store, scope, user, type, work, again
    _begin_due()


def _begin_due() -> None:
    """Begin what waits, as far as there are places. Called again whenever a run ends."""
    while True:
        with _lock:
            key = next((one for one in _due if one not in _alone), None)
            if key is None or len(_running) >= MOST_RUNS:
                return
            waiting = _due.pop(key)
            _alone.add(key)
        try:
            _begin(*waiting, key)
        except Busy:  # somebody else was first; at the end of that run this one gets another chance
            with _lock:
                _alone.discard(key)
                _due.setdefault(key, waiting)
            return
        except (StoreError, OSError):  # the folder of its store is full or gone: it goes on with the next one
            with _lock:
                _alone.discard(key)
            waiting[-1]()


def _begin(
    store: Store, scope: Scope, user: str, type: str, work: Work, again: Callable[[], None], key: _Key | None
) -> Run:
    _tidy(_folder(store))
    id, stop = secrets.token_hex(16), threading.Event()
    with _lock:
        if len(_running) >= MOST_RUNS:
            raise Busy(f"{MOST_RUNS} runs of analyses are being computed already. Try again when one is done.")
        _running[id] = stop
    state: _State = {
        "id": id,
        "type": type,
        "state": "running",
        "done": 0,
        "of": 0,
        "at": "",
        "project_id": scope.project_id or "",
        "user_id": user,
        "beat": time.time(),
        "lease": lease.take(),
    }
    shown = _shown(state)
    try:
        _write(store, state)
        args = (store, state, stop, work, again, key)
        threading.Thread(target=_work, args=args, name="workbench-analyses", daemon=True).start()
    except BaseException:  # it has not begun, so it must not keep its place
        with _lock:
            _running.pop(id, None)
        raise
    return shown


def find(store: Store, scope: Scope, id: str) -> Run:
    """The state of a run of the project.

    Raises
    ------
    NotFound
        If there is none of this id in the project.
    """
    return _shown(_read(store, scope, id))


def stop(store: Store, scope: Scope, id: str) -> Run:
    """Stop a run after the test at hand, whichever process works on it; what was computed is kept."""
    state = _read(store, scope, id)
    if state["state"] == "running":
        if store.shared is not None:
            store.shared.note(_STOP, id, b"")
        else:
            (_folder(store) / f"{id}.stop").touch()
        if id in _running:
            _running[id].set()
    return _shown(state)


def _work(
    store: Store,
    state: _State,
    stop: threading.Event,
    work: Work,
    again: Callable[[], None],
    key: _Key | None,
) -> None:
    last = 0.0
    ended_by: Exception | None = None

    def progress(done: int, of: int, at: str) -> None:
        nonlocal last
        state["done"], state["of"], state["at"] = done, of, at
        if time.monotonic() - last > _EVERY:
            last = time.monotonic()
            with suppress(StoreError, OSError):  # the next one says so too; a full disk stops no run
                _write(store, state)
                if _is_to_stop(store, state["id"]):
                    stop.set()

    try:
        report = work(progress, stop)
        state["state"] = "cancelled" if report.cancelled else "done"
        state["report"] = report.as_dict()
        state["done"], state["of"] = report.unchanged + len(report.computed), report.tests
    except WorkbenchError as error:
        state["state"], state["error"], ended_by = "failed", str(error), error
    except Exception as error:  # whatever it is, the run must not stay "running" for ever
        state["state"], state["error"], ended_by = "failed", f"{type(error).__name__}: {error}", error
    finally:
        state["at"] = ""
        _write_end(store, state)
        with suppress(StoreError, OSError):
            _is_to_stop(store, state["id"])
        with _lock:
            _running.pop(state["id"], None)
            if key is not None:
                _alone.discard(key)
        if ended_by is not None and may_pass(ended_by):
            again()
        _begin_due()


def _write_end(store: Store, state: _State) -> None:
    """Note the end of a run. On a full disk its report is left out."""
    with suppress(StoreError, OSError):
        _write(store, state)
        return
    if store.shared is None:
        short: _State = {**state, "state": "failed", "error": UNNOTED, "beat": time.time()}
        short.pop("report", None)
        with suppress(OSError):  # this process says that it ended; others wait until this process ends
            write_note_over(_folder(store) / f"{state['id']}.json", orjson.dumps(short))


def _is_to_stop(store: Store, id: str) -> bool:
    """Whether a process asked for the end of a run, which is then forgotten."""
    if store.shared is not None:
        return store.shared.take_note(_STOP, id) is not None
    with suppress(FileNotFoundError):
        (_folder(store) / f"{id}.stop").unlink()
        return True
    return False


def _folder(store: Store) -> Path:
    place = Path(f"{store.path}.runs")
    place.mkdir(exist_ok=True, mode=0o700)
    return place


def _read(store: Store, scope: Scope, id: str) -> _State:
    found = _noted(store, scope, id)
    if found["state"] == "running" and not _is_worked_on(found):
        # It may have ended after its state was read: who ends a run notes that first, and stops working on it then.
        found = _noted(store, scope, id)
        if found["state"] == "running":
            found["state"], found["error"] = "failed", STOPPED
    return found


def _noted(store: Store, scope: Scope, id: str) -> _State:
    """The state of a run of the project as it was written."""
    kept = _kept(store, id) if _ID.fullmatch(id) else None
    state: _State | None = None if kept is None else orjson.loads(kept)
    if state is None or state["project_id"] != (scope.project_id or ""):
        raise NotFound(f"There is no run '{id[:80]}' in this project.")
    return state


def _is_worked_on(state: _State) -> bool:
    """Whether this or another process may work on a run. One test may take longer than ``SILENT_SECONDS``."""
    if state["id"] in _running:
        return True
    held, is_fresh = state.get("lease"), time.time() - state["beat"] <= SILENT_SECONDS
    if held is None:  # an older workbench began it
        return is_fresh
    if held == lease.take():  # this process does not work on it any more, and could not say so: its disk was full
        return False
    # A process of this machine is known to live, or known to have ended, whenever it last wrote.
    return lease.is_held(held, time.time_ns() // 1000) and (is_fresh or lease.is_held(held, 0))


def _kept(store: Store, id: str) -> bytes | None:
    """What is kept of a run."""
    if store.shared is not None:
        return store.shared.noted(_RUN, id)
    try:
        return (_folder(store) / f"{id}.json").read_bytes()
    except FileNotFoundError:
        return None


def _write(store: Store, state: _State) -> None:
    state["beat"] = time.time()
    if store.shared is not None:
        store.shared.note(_RUN, state["id"], orjson.dumps(state))
        return
    write_note(_folder(store) / f"{state['id']}.json", orjson.dumps(state))


def _shown(state: _State) -> Run:
    made: Run = {
        "id": state["id"],
        "type": state["type"],
        "state": state["state"],
        "done": state["done"],
        "of": state["of"],
        "at": state["at"],
    }
    if "report" in state:
        made["report"] = state["report"]
    if "error" in state:
        made["error"] = state["error"]
    return made


def _tidy(folder: Path) -> None:
    """Remove the states of runs that ended long ago."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another process tidies too
            if time.time() - path.stat().st_mtime > KEPT_SECONDS:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
