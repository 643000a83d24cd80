"""Work over all dashboards or all tests of a project: the data of plots are made ready, tests are written to files."""

from __future__ import annotations

import itertools
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from .backend import Backend
from .engine.reader import Cancel
from .errors import BadRequest, ExecutorAway, WorkbenchError
from .exchange import ENDINGS
from .fan_out import FanOut, own_task
from .local import LocalBackend
from .messages import counted
from .recipe.check import sound
from .recipe.plot import PlotConfig
from .records import Dashboard, Measurement, Plot
from .store.cache.cache import Cache
from .store.reached import Reached

Progress = Callable[[int, int, str], None]
"""Called with how many are done, of how many, and the name of the next."""


@dataclass
class Warmed:
    """What a warming did: ``plots`` that are ready, and those that ``failed``, "dashboard: plot" -> why."""

    plots: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, JsonValue]:
        """The same as JSON values."""
        return asdict(self)

    def __repr__(self) -> str:
        lines = [f"{counted(self.plots, 'plot')} ready."]
        return "\n".join([*lines, *(f"  {name}: {why}" for name, why in self.failed.items())])


class Place:
    """A project for a task that may run elsewhere: this backend here, one on the same store in another process."""

    def __init__(self, backend: LocalBackend) -> None:
        self._backend: LocalBackend | None = backend
        self._reached = Reached(backend.store)
        self._who = (backend.organization, backend.project, backend.actor, backend.scope)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_backend": None}

    def do(self, work: Callable[[LocalBackend], None]) -> None:
        """Do something with the backend. What it adds to the cache is there for other processes when this returns."""
        if self._backend is not None:
            work(self._backend)
            return
        organization, project, actor, scope = self._who
        store = self._reached.store
        with Cache(f"{store.path}.cache") as cache:  # that of this machine, also if the store is at an address
            work(LocalBackend(store, cache, organization, project, actor, scope=scope))


@own_task
def dataset_kept(place: Place, config: dict[str, Any]) -> None:
    """Run the plan of a recipe at its defaults; its dataset is in the cache then."""
    place.do(lambda backend: _answered(backend, sound(config)))


def _answered(backend: LocalBackend, config: PlotConfig) -> None:
    backend.answered(config, {})


@own_task
def measurement_written(place: Place, id: str, path: str) -> None:
    """Write a measurement to a file, whose folder this process must see."""
    if not Path(path).parent.is_dir():
        raise ExecutorAway(
            f"A worker on '{socket.gethostname()}' cannot reach the folder '{Path(path).parent}'. Workers write files "
            "by their paths: give them the same folder under the same path, or use `--executor processes`."
        )
    place.do(lambda backend: _written(backend, id, path))


def _written(backend: LocalBackend, id: str, path: str) -> None:
    backend.export_measurement(backend.get(Measurement, id), Path(path))


def warm(
    backend: Backend,
    boards: Sequence[Dashboard],
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Warmed:
    """Make what the plots of dashboards show at their defaults, so that whoever opens them next does not wait.

    Datasets are made where work fans out. Each figure is drawn here, by the rules for its script.
    """
    done = Warmed()
    plots: list[tuple[str, Plot]] = [
        (f"{board.name}: {plot.name}", plot) for board in boards for plot in backend.plots(board)
    ]
    ready = plots
    if isinstance(backend, LocalBackend):
        ready = []
        place = Place(backend)
        results = backend.fan_out.results(
            dataset_kept, plots, lambda one: (place, one[1].config), jobs=None, cancel=cancel
        )
        for one, made in results:
            try:
                made()
            except ExecutorAway:
                raise
            except WorkbenchError as error:
                done.failed[one[0]] = str(error)
            else:
                ready.append(one)
    for number, (name, plot) in enumerate(ready):
        if cancel is not None and cancel.is_set():
            return done
        if progress is not None:
            progress(number, len(ready), name)
        try:
            drawn = backend.figure(plot.config, {}, cancel=cancel)
            if isinstance(backend, LocalBackend):
                _ = drawn.traced, drawn.hinted  # the page asks for these with the figure
        except WorkbenchError as error:
            done.failed[name] = str(error)
        else:
            done.plots += 1
    if progress is not None:
        progress(len(ready), len(ready), "")
    return done


def export(
    backend: Backend,
    measurements: Sequence[Measurement],
    folder: Path,
    ending: str,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> dict[str, str]:
    """Write each measurement to a file of its own; gives file name -> why it could not be written, of those.

    Raises
    ------
    BadRequest
        For another ending, or a folder that does not exist.
    """
    if ending not in ENDINGS:
        raise BadRequest(f"A test cannot be written as '{ending}'. The endings are {', '.join(ENDINGS)}.")
    if not folder.is_dir():
        raise BadRequest(f"There is no folder '{folder}' to write to.")
    files = list(zip(_names(measurements, ending), measurements, strict=True))
    local = backend if isinstance(backend, LocalBackend) else None
    place = None if local is None else Place(local)
    where = FanOut.of("serial") if local is None else local.fan_out
    failed: dict[str, str] = {}
    if place is None:
        for number, (name, one) in enumerate(files):
            if cancel is not None and cancel.is_set():
                break
            _told(progress, number, len(files), name)
            _tried(partial(backend.export_measurement, one, folder / name), name, failed)
    else:
        results = where.results(
            measurement_written,
            files,
            lambda file: (place, file[1].id, str((folder / file[0]).absolute())),
            cancel=cancel,
        )
        for number, ((name, _), written) in enumerate(results):
            _told(progress, number, len(files), name)
            _tried(written, name, failed)
    _told(progress, len(files), len(files), "")
    return failed


def _told(progress: Progress | None, done: int, of: int, name: str) -> None:
    if progress is not None:
        progress(done, of, name)


def _tried(work: Callable[[], object], name: str, failed: dict[str, str]) -> None:
    try:
        work()
    except ExecutorAway:
        raise
    except WorkbenchError as error:
        failed[name] = str(error)
    except OSError as error:  # of this file; another may be written, as where its name is not too long
        failed[name] = f"{error.strerror}." if error.strerror else str(error)


def _names(measurements: Sequence[Measurement], ending: str) -> list[str]:
    """The name of each file: cell and test, with a number where that is not of one alone."""
    names: list[str] = []
    taken: set[str] = set()
    for one in measurements:
        stem = re.sub(r"[^\w.+-]+", "_", f"{one.instance_name} {one.name}").strip("._") or "test"
        numbered = (stem if number == 1 else f"{stem}_{number}" for number in itertools.count(1))
        # A test may be called as another one is with its number: no file may take the place of another.
        name = next(name for name in numbered if name.casefold() not in taken)
        taken.add(name.casefold())
        names.append(f"{name}{ending}")
    return names
