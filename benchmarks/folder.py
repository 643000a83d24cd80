"""A laboratory's folder: files of six brands with a sheet, by one command, with one job and with two.

``python benchmarks/folder.py [--full]``. Every command is a process of its own, as a person starts it; the runs with
one and with two jobs are interleaved, each into a store of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import cyclers
from compiled import keep_compiled

import workbench as wb
from workbench.messages import counted
from workbench.store.scope import EVERYTHING

FILES = 200
RULE = "{batch}_{cell}_{test}"
FASTER = 1.5
AGAIN = 5.0
RESULT = Path(__file__).parent / "results" / "folder.md"


def ingest(place: Path, store: Path, sheet: Path, jobs: int) -> tuple[float, float, dict[str, Any]]:
    """Seconds that the command took, seconds that it and its processes computed, and its report."""
    program = "from workbench.cli import main; main()"
    command = [sys.executable, "-c", program, "ingest", str(place), "--store", str(store), "--sheet", str(sheet)]
    began, before = time.perf_counter(), computed()
    done = subprocess.run(
        [*command, "--name-rule", RULE, "--jobs", str(jobs), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    took = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(done.stderr or done.stdout[-2000:])
    return took, computed() - before, json.loads(done.stdout)


def computed() -> float:
    """Processor seconds of all processes that this one started and that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def content(store: Path) -> list[tuple[Any, ...]]:
    """All that a store holds of the tests, without ids and times of making: samples by their hash."""
    with wb.open(store) as bench:
        if findings := bench.verify():
            raise RuntimeError(f"{store.name} is not sound: {findings}")
        fields = [
            "id",
            "name",
            "instance_name",
            "batch_name",
            "specification_name",
            "tags",
            "start_time",
            "end_time",
        ]
        fields += ["sample_count", "step_count", "cycle_count", "content_hash", "properties.temperature.value"]
        listed = bench.measurements.list(fields=fields)
        series = bench.backend.store.series
        found = []
        for row in listed.to_dict("records"):
            id = row.pop("id")
            hashes = [
                info.content_hash
                for d in ("series", "steps", "cycles")
                if (info := series.info(id, d, scope=EVERYTHING))
            ]
            found.append((*map(str, row.values()), *hashes))
        return sorted(found)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--full", action="store_true", help="longer files, five rounds")
    asked.add_argument("--rounds", type=int, default=0, metavar="N", help="another number of rounds")
    given = asked.parse_args()
    rounds, rows = (5, 40_000) if given.full else (3, 16_000)
    rounds = given.rounds or rounds
    keep_compiled()
    times: dict[int, list[float]] = {1: [], 2: []}
    work: dict[int, list[float]] = {0: [], 1: [], 2: []}
    again: list[float] = []
    same = True
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as scratch:
        root = Path(scratch)
        sheet = cyclers.folder(root / "data", FILES, rows)
        size = sum(path.stat().st_size for path in (root / "data").iterdir())
        for number in range(rounds):
            stores = {}
            for jobs in (1, 2) if number % 2 else (2, 1):
                stores[jobs] = root / f"{number}-{jobs}.db"
                took, spent, report = ingest(root / "data", stores[jobs], sheet, jobs)
                times[jobs].append(took)
                work[jobs].append(spent)
                if [file["status"] for file in report["files"]] != ["stored"] * FILES:
                    raise RuntimeError(report["summary"])
            same = same and content(stores[1]) == content(stores[2])
            took, spent, report = ingest(root / "data", stores[2], sheet, 2)
            again.append(took)
            work[0].append(spent)
            same = same and {file["status"] for file in report["files"]} == {"duplicate"}
            for store in stores.values():
                store.unlink()
    ratios = [one / two for one, two in zip(times[1], times[2], strict=True)]
    ratio, repeated = statistics.median(ratios), max(again)
    busy = {jobs: statistics.median(work[jobs]) / statistics.median(times[jobs]) for jobs in (1, 2)}
    limit = 2 * statistics.median(times[1]) / statistics.median(work[2])
    load = os.getloadavg()[0]
    good = ratio >= FASTER and repeated < AGAIN and same
    lines = [
        "# A folder of a laboratory",
        "",
        f"{FILES} files of six brands ({', '.join(cyclers.BRANDS)}), {size / 1e6:.0f} MB, about {rows:,} rows each, a "
        f"sheet and a name rule; `workbench ingest` as a command, {counted(rounds, 'round')}, jobs interleaved, on "
        f"{os.cpu_count()} cores (load at the end {load:.1f}). `benchmarks/folder.py` makes this page.",
        "",
        "| what | measured | gate | kept |",
        "|---|---|---|---|",
        f"| `--jobs 1`, median; processor time | {_both(times[1], work[1])} | | |",
        f"| `--jobs 2`, median; processor time | {_both(times[2], work[2])} | | |",
        f"| how much faster two jobs are, median of rounds ({', '.join(f'{r:.2f}' for r in ratios)}) "
        f"| {ratio:.2f}x | >= {FASTER}x | {_kept(ratio >= FASTER)} |",
        f"| the same again, slowest: nothing new | {repeated:.1f} s; {max(work[0]):.1f} s "
        f"| < {AGAIN:g} s | {_kept(repeated < AGAIN)} |",
        f"| the same content with one job and with two, verified | {_kept(same)} | yes | {_kept(same)} |",
        "",
        "A job is a process that reads. The command itself is one more: it writes to the store what was read, while "
        f"its jobs read on. So one job keeps {busy[1]:.2f} processors busy already, and two keep {busy[2]:.2f}. With "
        f"both of two cores busy all the time two jobs would be {limit:.2f} times as fast as one, and twice as fast "
        "is out of reach. Where the processor time of a command is far below what two cores give in its time, others "
        "were at work, and the ratio says little.",
        "",
    ]
    text = "\n".join(lines)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text)
    print(text)
    return 0 if good else 1


def _both(times: list[float], work: list[float]) -> str:
    return f"{statistics.median(times):.1f} s; {statistics.median(work):.1f} s"


def _kept(good: bool) -> str:
    return "yes" if good else "no"


if __name__ == "__main__":
    sys.exit(main())
