"""Other people's scripts, locked in: each figure is drawn by a process of its own that can do nothing else.

``draw`` is the whole of it for one script; ``Pool`` is what a server or a workbench holds.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Mapping
from typing import Any

from .given import packed_of
from .pool import Ended, Fence, Limits, Pool

__all__ = ["Ended", "Fence", "Limits", "Pool", "draw", "shared"]

_shared: dict[int, Pool] = {}
_making = threading.Lock()


def draw(script: str, data: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Run one script on a dataset, protected, and tell how it ended. Never raises for what a script does.

    Parameters
    ----------
    script : Python that defines ``transform(data, params)``.
    data : packed bytes, or steps as frames, tables or records (see ``packed_of``).
    params : effective values by name.

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
    ended = shared().run(script, packed_of(data), params, account=True)
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


def shared() -> Pool:
    """The pool of this process, made at its first use."""
    with _making:
        pool = _shared.get(os.getpid())
        if pool is None:
            _shared.clear()  # a forked process holds no zygote of its parent's
            pool = _shared[os.getpid()] = Pool()
            atexit.register(pool.close)
        return pool
