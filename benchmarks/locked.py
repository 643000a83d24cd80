"""Files read by a locked process, beside the same process without the lock, both warm.

``python benchmarks/locked.py [--full] [FOLDER]``. ``FOLDER`` has real files of many formats; ``../shared/data``
is it where that is there. Without one the files are generated, of six brands. Each file is read by both, in turn, in
an order that changes. Their answers, and the bytes of the samples, must be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cyclers

from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.processes.warm_workers import PROGRAM
from workbench.ingest.processes.worker_process import Worker, as_text, kind_of
from workbench.messages import counted

MOST = 1.10
REAL = Path(__file__).parents[2] / "shared" / "data"
RESULT = Path(__file__).parent / "results" / "locked.md"
UNLOCKED = (
    "import os, sys; os.environ['PYTHONPATH'] = os.pathsep.join(sys.path)\n"
    "import workbench.readers.file.parser_process as parsers; parsers.can_lock = lambda: False\n"
    "import workbench.ingest.read.locked_reader as reader; reader.why_not = lambda: 'for comparison'\n"
)


class Side:
    """A worker with or without the lock."""

    def __init__(self, program: str, scratch: Path) -> None:
        scratch.mkdir()
        self.worker = Worker(kind_of(program), scratch)
        self.times: dict[str, list[float]] = defaultdict(list)

    def read(self, path: Path, run: int, listed: Path) -> tuple[Any, bytes]:
        """What it says of a file, and the samples."""
        spool = self.worker.scratch / "spool"
        spool.unlink(missing_ok=True)
        job = {
            "do": "read",
            "run": run,
            "list": as_text(listed),
            "path": as_text(path),
            "spool": as_text(spool),
            "options": ReadOptions().as_json(),
        }
        began = time.perf_counter()
        said = self.worker.ask(job, 600)
        self.times[str(path)].append(time.perf_counter() - began)
        return said, spool.read_bytes() if spool.exists() else b""


def measured(files: Sequence[Path], rounds: int, scratch: Path) -> tuple[Side, Side, list[str]]:
    """Both sides after all rounds, and the names of files of which they gave different answers."""
    sides = {name: Side(before + PROGRAM, scratch / name) for name, before in (("locked", ""), ("free", UNLOCKED))}
    listed = scratch / "list.json"
    listed.write_text(json.dumps([as_text(path) for path in files]))
    different = []
    try:
        for number in range(rounds + 1):  # the first makes them warm
            for place, path in enumerate(files):
                order = ("locked", "free") if (number + place) % 2 else ("free", "locked")
                said = {name: sides[name].read(path, number + 1, listed) for name in order}
                if said["locked"] != said["free"]:
                    different.append(path.name)
            if number == 0:
                for side in sides.values():
                    side.times.clear()
    finally:
        for side in sides.values():
            side.worker.close()
    return sides["locked"], sides["free"], sorted(set(different))


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--full", action="store_true", help="more rounds, longer generated files")
    asked.add_argument("--rounds", type=int, default=0, metavar="N", help="another number of rounds")
    asked.add_argument("folder", nargs="?", type=Path, help="a folder of real files")
    given = asked.parse_args()
    rounds = given.rounds or (5 if given.full else 3)
    real = given.folder or (REAL if REAL.is_dir() else None)
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as scratch:
        if real is None:
            cyclers.folder(Path(scratch, "data"), 30, 40_000 if given.full else 16_000)
        place = real or Path(scratch, "data")
        files = sorted(path for path in place.rglob("*") if path.is_file() and not path.name.startswith("."))
        size = sum(path.stat().st_size for path in files)
        locked, free, different = measured(files, rounds, Path(scratch))
    sums = [
        [sum(side.times[str(path)][number] for path in files) for number in range(rounds)]
        for side in (locked, free)
    ]
    ratios = [one / other for one, other in zip(*sums, strict=True)]
    ratio = statistics.median(ratios)
    good = ratio <= MOST and not different
    lines = [
        "# Files read under the lock",
        "",
        f"{counted(len(files), 'file')} {'of real cyclers' if real else 'of six brands, generated'}, "
        f"{size / 1e6:.0f} MB, {counted(rounds, 'round')} on warm "
        f"workers, each file by both in turn, on {os.cpu_count()} cores (load at the end {os.getloadavg()[0]:.1f}). "
        "`benchmarks/locked.py` makes this page.",
        "",
        "| what | measured | gate | kept |",
        "|---|---|---|---|",
        f"| the whole folder by a locked process, median | {statistics.median(sums[0]):.2f} s | | |",
        f"| the same without the lock | {statistics.median(sums[1]):.2f} s | | |",
        f"| locked : without, median of rounds ({', '.join(f'{one:.2f}' for one in ratios)}) "
        f"| {ratio:.2f} | <= {MOST:.2f} | {_kept(ratio <= MOST)} |",
        f"| the same answers and samples{': not of ' + ', '.join(different) if different else ''} "
        f"| {_kept(not different)} | yes | {_kept(not different)} |",
        "",
        "By ending, locked : without, sums of medians:",
        "",
        "| ending | files | locked | without | ratio |",
        "|---|---|---|---|---|",
        *_by_ending(files, locked, free),
        "",
        "HDF5, MATLAB and `.mpr` are read in a process of their own on both sides. Without the lock that one is "
        "started as a program and imports its libraries for each file; under the lock it is forked.",
        "",
    ]
    text = "\n".join(lines)
    RESULT.write_text(text)
    print(text)
    return 0 if good else 1


def _by_ending(files: Sequence[Path], locked: Side, free: Side) -> list[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for path in files:
        groups[path.suffix.lower() or "none"].append(str(path))
    rows = []
    for ending, names in sorted(groups.items()):
        one, other = (sum(statistics.median(side.times[name]) for name in names) for side in (locked, free))
        rows.append(f"| {ending} | {len(names)} | {one:.3f} s | {other:.3f} s | {one / other:.2f} |")
    return rows


def _kept(good: bool) -> str:
    return "yes" if good else "no"


if __name__ == "__main__":
    sys.exit(main())
