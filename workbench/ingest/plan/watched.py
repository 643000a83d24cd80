"""Which files of a watched folder are taken in now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .jobs import Job


@dataclass
class Growing:
    """The files that changed and came to rest (``ready``), all that are at rest, and the folder that is watched.

    Parts of a test are read together, so one that is ready waits for those that are not at rest.
    """

    ready: set[Path]
    at_rest: set[Path]
    root: Path | None = None

    def with_unpacked(self, archives: Mapping[Path, Path]) -> Growing:
        """With the files of archives (file -> its archive), which are ready and at rest as these are."""
        return Growing(
            self.ready | {file for file, archive in archives.items() if archive in self.ready},
            self.at_rest | {file for file, archive in archives.items() if archive in self.at_rest},
        )

    def of(self, jobs: Iterable[Job]) -> tuple[list[Job], set[Path]]:
        """The jobs to do now, and the ready files that wait."""
        touched = [job for job in jobs if self.ready & set(job.paths)]
        now = [job for job in touched if set(job.paths) <= self.at_rest]
        left = {path for job in touched if not set(job.paths) <= self.at_rest for path in job.paths}
        return now, left & self.ready
