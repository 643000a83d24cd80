"""Follows a run of an analysis on a server until it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..analyses.background import Run
from ..analyses.run import Analysed
from ..engine.reader import Cancel
from ..errors import WorkbenchError

if TYPE_CHECKING:
    from . import RemoteBackend

_LOOK_S = (0.05, 1.0)
"""The first and the longest pause, s, between two questions about the state of a run."""


def followed(
    backend: RemoteBackend, run: Run, progress: Callable[[int, int, str], None] | None, cancel: Cancel | None
) -> Analysed:
    """The report of a run at its end; a caller who gives up stops the run.

    Raises
    ------
    WorkbenchError
        If the run failed, with its reason.
    """
    pause, stopping = _LOOK_S[0], False
    try:
        while run["state"] == "running":
            if cancel is not None and cancel.is_set() and not stopping:
                backend.stop_run(run["id"])
                stopping = True
            time.sleep(pause)
            pause = min(2 * pause, _LOOK_S[1])
            run = backend.run_state(run["id"])
            if progress is not None and run["of"]:
                progress(run["done"], run["of"], run["at"])
    except KeyboardInterrupt:
        backend.stop_run(run["id"])
        raise
    if "report" not in run:
        raise WorkbenchError(run.get("error", "The run ended without a report."))
    return Analysed.of(run["report"])
