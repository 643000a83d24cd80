"""The drawer of systems without the lock (macOS, Windows): it draws nothing, and says what to do instead.

A process of its own would not stop a script there: it could still read files and reach the network.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pydantic import JsonValue

from ...errors import NotProtected
from ..used_names import Names
from .messages import Kind
from .outcome import FIX, CancelledBy, Ended, Fence, Limits, ProcessDrawer
from .queue import Turns

_NAMES = {"darwin": "macOS", "win32": "Windows"}


class Unlockable(ProcessDrawer):
    """A drawer that refuses every script, so that none runs with rights that nobody gave it."""

    def __init__(self, limits: Limits | None = None, *, workers: int | None = None) -> None:
        self.limits = limits or Limits()
        self.workers = workers or max(2, os.cpu_count() or 2)
        self.turns = Turns(self.workers)

    @property
    def is_running(self) -> bool:
        """False: there is nothing to run."""
        return False

    def fence(self) -> Fence:
        """The answer that there is no lock on this system, and what to do."""
        system = _NAMES.get(sys.platform, sys.platform)
        return Fence(False, f"Scripts cannot be locked in on {system}: only Linux has such a lock. {FIX}")

    def run(
        self,
        script: str,
        packed: bytes | bytearray | memoryview | None,
        params: Mapping[str, JsonValue],
        *,
        kind: Kind = "draw",
        content: str | None = None,
        organization: str | None = None,
        cancelled: CancelledBy | None = None,
        seconds: float | None = None,
        account: bool = False,
        names: Names | None = None,
    ) -> Ended:
        """As ``ProcessDrawer.run``, but it always refuses.

        Raises
        ------
        NotProtected
            Always. The script did not run.
        """
        raise NotProtected(self.fence().why)

    def close(self) -> None:
        """Does nothing: no process is ever started."""
