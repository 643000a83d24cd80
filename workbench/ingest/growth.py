"""Which files of a watched folder are taken in now."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .jobs import Job
from .paths import Paths, is_known, shown


@dataclass
class Growing:
    """The files that changed and came to rest (``ready``), and all that are at rest.

    Parts of a test are read together, so one that is ready waits for those that are not at rest.
    """

    ready: set[Path]
    at_rest: set[Path]
    skipped: list[str] = field(default_factory=list)

    def at_hand(self, paths: Paths, *, any_format: bool) -> list[Path]:
        """All files but those that are ready and of no known format."""
        named = [paths] if isinstance(paths, str | os.PathLike) else paths
        listed = [Path(path) for path in named]
        strange = {path for path in self.ready if not any_format and not is_known(path)}
        self.skipped = sorted(map(shown, strange))
        return [path for path in listed if path not in strange]

    def of(self, jobs: Iterable[Job]) -> tuple[list[Job], set[Path]]:
        """The jobs to do now, and the ready files that wait."""
        touched = [job for job in jobs if self.ready & set(job.paths)]
        now = [job for job in touched if set(job.paths) <= self.at_rest]
        left = {path for job in touched if not set(job.paths) <= self.at_rest for path in job.paths}
        return now, left & self.ready
