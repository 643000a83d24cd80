"""Other people's scripts, locked in: each figure is drawn by a process of its own that can do nothing else.

``draw`` is the whole of it for one script; ``shared`` is what a workbench draws with, ``required`` what a server asks
for at its start.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import NotProtected
from .dataset_forms import packed_of
from .outcome import Ended, Fence, Limits
from .unprotected import Lone

if sys.platform == "linux" or TYPE_CHECKING:
    from .pool import Pool

__all__ = ["Ended", "Fence", "Limits", "draw", "new", "required", "shared"]

_shared: dict[int, Pool | Lone] = {}
_making = threading.Lock()


def draw(
    script: str,
    data: Any,
    params: Mapping[str, Any],
    *,
    seconds: float | None = None,
    by: Pool | Lone | None = None,
) -> dict[str, Any]:
    """Run one script on a dataset, protected, and tell how it ended. Never raises for what a script does.

    Parameters
    ----------
    script : Python that defines ``transform(data, params)``.
    data : packed bytes, or steps as frames, tables or records (see ``packed_of``).
    params : effective values by name.
    seconds : a shorter time limit than that of all scripts.
    by : who draws; ``shared()`` by default.

    Returns
    -------
    dict
        ``outcome``: "figure", "refused" (an error for the author), "limited" (time, memory or size) or "killed" (the
        process was ended); ``figure``: its JSON, only with "figure"; ``why``: text for the author; ``log``: what it
        printed; ``peak_mb``: most memory of its own; ``processes_left``: of this run, that still live.

    Raises
    ------
    NotProtected
        If the lock does not hold on this machine; nothing was run.
    """
    ended = (by or shared()).run(script, packed_of(data), params, seconds=seconds, account=True)
    told: dict[str, Any] = {
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


def new(limits: Limits | None = None, *, workers: int | None = None) -> Pool | Lone:
    """Processes that draw: locked in on Linux, elsewhere with limits alone (see its ``fence()``)."""
    return Pool(limits, workers=workers) if sys.platform == "linux" else Lone(limits, workers=workers)


def shared() -> Pool | Lone:
    """Those that this process draws with, made at their first use."""
    with _making:
        pool = _shared.get(os.getpid())
        if pool is None:
            _shared.clear()  # a forked process holds no zygote of its parent's
            pool = _shared[os.getpid()] = new()
            atexit.register(pool.close)
        return pool


def required() -> Fence:
    """The fence of ``shared``, for a server that more than one uses: started and tested.

    Raises
    ------
    NotProtected
        If scripts are not locked in here; says why and what to do.
    """
    fence = shared().fence()
    if not fence.holds:
        raise NotProtected(fence.why)
    return fence
