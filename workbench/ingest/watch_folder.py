"""A folder that cyclers write into: what appears or grows is taken in when it has come to rest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias, TypedDict

from ..errors import BadRequest, Damaged, Later, ServerAway, StoreError, StoreTooNew, StoreTooOld
from .plan import paths as places
from .plan.watched import Growing
from .report.report import FileReport, Report

State: TypeAlias = tuple[int, int]
"""Size and time of change of a file; another one means that it was written to."""
Take: TypeAlias = Callable[[list[Path], Growing], Report]
"""Takes in of these files those that have grown."""
_STEP = 0.2
_LONGEST_S = 300.0
"""The longest pause before a file is tried again whose samples have no place now: it is read, or sent, each time."""
_LASTING = (Damaged, StoreTooNew, StoreTooOld)
"""Of the errors of a store, or of its server, those that do not pass while a watch waits."""


class Watching(TypedDict, total=False):
    """When a watch looks at its folder and when it stops, as keyword arguments."""

    every: float
    settle: float
    once: bool
    stopped: Callable[[], bool] | None


def watch(
    folder: str | os.PathLike[str],
    take: Take,
    *,
    every: float = 5.0,
    settle: float = 10.0,
    once: bool = False,
    stopped: Callable[[], bool] | None = None,
    also: Path | None = None,
) -> Iterator[Report]:
    """A report of each round in which something was taken in.

    Nothing is kept but in memory: after a restart every file is looked at again, and known by its bytes. A store, or a
    server, that cannot be used now is named once, and tried again at every look.

    Parameters
    ----------
    every : seconds between two looks at the folder.
    settle : a file is read when its size and its time of change have stood still for so many seconds.
    once : end when all that was there has come to rest and was taken in.
    also : a sheet; when it changes, all files are looked at again.
    stopped : asked a few times a second.

    Raises
    ------
    BadRequest
        If there is no such folder.
    StoreError
        If the store is damaged, or of another version. With ``once`` also if it cannot be used now.
    ServerAway, Later
        With ``once``: if the server cannot be used now.
    """
    root = Path(folder)
    if not root.is_dir():
        raise BadRequest(f"There is no folder '{places.shown(root)}'.")
    looks = Looks(settle)
    sheet, away = _state(also), ""
    said: set[tuple[str, str]] = set()
    known: dict[str, str] = {}
    ended = stopped or (lambda: False)
    while not ended():
        closed: dict[str, str] = {}
        looks.look(_files(root, also, closed), time.monotonic())
        if closed.keys() - known.keys():
            yield Report([FileReport(name, why=why) for name, why in closed.items() if name not in known])
        known = closed
        ready = looks.ready(time.monotonic())
        sheet_now = _state(also)
        if sheet_now != sheet:
            ready |= looks.again()
        try:
            report = _taken(take, looks, ready, root, also) if ready else None
        except (StoreError, ServerAway, Later) as error:
            if once or isinstance(error, _LASTING):
                raise
            if str(error) != away:
                away = str(error)
                yield Report([FileReport(places.shown(root), why=f"{away} The watch goes on and tries again.")])
        else:
            sheet = sheet_now
            if report is not None:
                away = ""
                later = set() if once else ready & report.later
                looks.taken(ready - later, report)
                looks.put_off(later, every, time.monotonic())
                said = _leave_out(report, said)
                if report.files or report.skipped or report.unmapped:
                    yield report
        if once and not looks.waiting():
            return
        _pause(settle / 4 if once else every, every, ended)


def _taken(take: Take, looks: Looks, ready: set[Path], root: Path, also: Path | None) -> Report:
    try:
        return take(sorted(looks.files), Growing(ready, ready | looks.again(), root))
    except BadRequest as error:  # a sheet that is being edited; what it is about waits for its next change
        return Report([FileReport(places.shown(also or root), why=str(error))])


def _leave_out(report: Report, said: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out of a report what was refused in the round before too, where files are tried at every look. What was
    refused now."""
    now = {(one.path, one.why) for one in report.refused} if report.later else set()
    report.files = [one for one in report.files if (one.path, one.why) not in now & said]
    return now


class Looks:
    """What was seen of the files, and which of them have come to rest since they were last taken in."""

    def __init__(self, settle: float) -> None:
        self.files: set[Path] = set()
        self._settle = settle
        self._seen: dict[Path, tuple[State, float]] = {}
        self._done: dict[Path, State] = {}
        self._off: dict[Path, tuple[float, float]] = {}
        """When a file is tried again, and the pause before it."""

    def look(self, found: dict[Path, State], now: float) -> None:
        """Take note of the files as they are now."""
        self.files = set(found)
        for path, state in found.items():
            before = self._seen.get(path)
            if before is None or before[0] != state:
                self._seen[path] = state, now
                self._off.pop(path, None)
        for gone in self._seen.keys() - found.keys():
            del self._seen[gone]
            self._done.pop(gone, None)
            self._off.pop(gone, None)

    def ready(self, now: float) -> set[Path]:
        """Files that changed since they were taken in, and stand still."""
        return {
            path
            for path, (state, since) in self._seen.items()
            if self._done.get(path) != state
            and now - since >= self._settle
            and self._off.get(path, (now, 0.0))[0] <= now
        }

    def again(self) -> set[Path]:
        """Files that were taken in as they are."""
        return {path for path, (state, _) in self._seen.items() if self._done.get(path) == state}

    def taken(self, paths: set[Path], report: Report) -> None:
        """These were read, or refused; those the report says nothing of wait for other parts of their test."""
        left = report.left
        for path in paths - left:
            if path in self._seen:
                self._done[path] = self._seen[path][0]
                self._off.pop(path, None)

    def put_off(self, paths: set[Path], pause: float, now: float) -> None:
        """Try these again after a pause, which doubles each time."""
        for path in paths:
            _, before = self._off.get(path, (now, pause / 2))
            wait = min(2 * before, _LONGEST_S)
            self._off[path] = now + wait, wait

    def waiting(self) -> bool:
        """Whether a file has still to come to rest, or to be taken in."""
        return any(self._done.get(path) != state for path, (state, _) in self._seen.items())


def _files(root: Path, but: Path | None, closed: dict[str, str]) -> dict[Path, State]:
    """The files in a folder and below; ``closed`` gets the folders that cannot be read, and why."""
    found = {}
    for parent, folders, names in os.walk(root, onerror=lambda error: _note(error, closed)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(parent, name)
            state = None if places.is_hidden(name, names) else _state(path)
            if state is not None and (but is None or path.absolute() != but.absolute()):
                found[path] = state
    return found


def _note(error: OSError, closed: dict[str, str]) -> None:
    if not isinstance(error, FileNotFoundError):  # it went while its names were read
        closed[places.shown(error.filename)] = places.no_look(error)


def _state(path: Path | None) -> State | None:
    if path is None or not os.path.isfile(path):
        return None
    try:
        seen = path.stat()
    except OSError:  # it went between two looks
        return None
    return seen.st_size, seen.st_mtime_ns


def _pause(wanted: float, most: float, ended: Callable[[], bool]) -> None:
    until = time.monotonic() + min(wanted, most)
    while time.monotonic() < until and not ended():
        time.sleep(min(_STEP, max(until - time.monotonic(), 0.0)))
