"""A worker process that reads files under the lock, or the same one without it, asked directly."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.processes.warm_workers import PROGRAM
from workbench.ingest.processes.worker_process import Worker, as_text, kind_of
from workbench.ingest.read.worker import Outcome

UNLOCKED = """
import os, sys
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
import workbench.readers.file.parser_process as parsers
parsers.can_lock = lambda: False
import workbench.ingest.read.locked_reader as reader
reader.why_not = lambda: "for comparison"
"""


class Asked:
    """One worker; ``before`` runs in it before its own program."""

    def __init__(self, folder: Path, before: str = "", *, locked: bool = True) -> None:
        folder.mkdir()
        self.worker = Worker(kind_of(before + PROGRAM), folder)
        self.spool = folder / "spool"
        self._locked = locked
        self._runs = itertools.count(1)

    def __call__(self, path: Path, *others: Path, seconds: float = 120.0) -> Outcome:
        """What it says of a file, in a run of its own with ``others``."""
        run = next(self._runs)
        listed = self.worker.scratch / f"{run}.json"
        listed.write_text(json.dumps([as_text(one) for one in (path, *others)]))
        self.spool.unlink(missing_ok=True)
        outcome: Outcome = self.worker.ask(
            {
                "do": "read",
                "run": run,
                "locked": self._locked,
                "list": as_text(listed),
                "path": as_text(path),
                "spool": as_text(self.spool),
                "options": ReadOptions().as_json(),
            },
            seconds,
        )
        return outcome

    def with_samples(self, path: Path) -> tuple[Outcome, bytes]:
        """What it says of a file, and the bytes of its samples."""
        return self(path), self.spool.read_bytes() if self.spool.exists() else b""
