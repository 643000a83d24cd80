"""Runs untrusted scripts: a locked process of its own draws each figure and can do nothing else.

``draw`` runs one script. ``shared`` is the drawer of a workbench. ``required`` is called by a server at its start.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict

from pydantic import JsonValue

from ...errors import NotProtected
from .dataset_forms import Form, packed_of
from .outcome import Ended, Fence, Limits, ProcessDrawer
from .unlockable import Unlockable

if sys.platform == "linux" or TYPE_CHECKING:
    from .pool import Pool

__all__ = ["Ended", "Fence", "Limits", "draw", "new", "required", "shared"]

_shared: dict[int, Pool | Unlockable] = {}
_making = threading.Lock()


class Outcome(TypedDict, total=False):
    """How a script ended; see ``draw``."""

    outcome: str
    figure: str
    why: str
    log: str
    peak_mb: float
    processes_left: int


def draw(
    script: str,
    data: Form,
    params: Mapping[str, JsonValue],
    *,
    seconds: float | None = None,
    by: ProcessDrawer | None = None,
) -> Outcome:
    """Run one script on a dataset, protected, and say how it ended. Nothing that a script does raises an error here.

    Parameters
    ----------
    script : Python that defines ``transform(data, params)``.
    data : packed bytes, or steps as frames, tables or records (see ``packed_of``).
    params : name -> value.
    seconds : a shorter time limit than that of all scripts.
    by : the drawer; ``shared()`` by default.

    Returns
    -------
    dict
        ``outcome``: "figure", "refused" (an error for the author), "limited" (time, memory or size) or "killed" (the
        process was ended); ``figure``: its JSON, only with "figure"; ``why``: text for the author; ``log``: what the
        script printed; ``peak_mb``: most memory that it took, MB; ``processes_left``: how many of its processes still
        run.

    Raises
    ------
    NotProtected
        If the lock does not hold on this machine. The script did not run.
    """
    ended = (by or shared()).run(script, packed_of(data), params, seconds=seconds, account=True)
    told: Outcome = {
        "outcome": ended.outcome,
        "why": "\n".join(one.msg for one in ended.problems),
        "log": ended.log,
    }
    if ended.figure is not None:
        told["figure"] = ended.figure.decode()
    if ended.peak_mb is not None:
        told["peak_mb"] = round(ended.peak_mb, 1)
    if ended.processes_left is not None:
        told["processes_left"] = ended.processes_left
    return told


def new(limits: Limits | None = None, *, workers: int | None = None) -> Pool | Unlockable:
    """A new drawer: locked processes on Linux, elsewhere one that refuses every script (see ``fence()``)."""
    return Pool(limits, workers=workers) if sys.platform == "linux" else Unlockable(limits, workers=workers)


def shared() -> Pool | Unlockable:
    """The drawer of this process, made at its first use."""
    with _making:
        pool = _shared.get(os.getpid())
        if pool is None:
            _shared.clear()  # a forked process cannot use the zygote of its parent
            pool = _shared[os.getpid()] = new()
            atexit.register(pool.close)
        return pool


def required() -> Fence:
    """Start and test the drawer of ``shared``, for a server with several users.

    Raises
    ------
    NotProtected
        If scripts are not locked in here. The text says why and what to do.
    """
    fence = shared().fence()
    if not fence.holds:
        raise NotProtected(fence.why)
    return fence
