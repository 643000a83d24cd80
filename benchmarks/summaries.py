"""The cycles of many tests through a plan: 200 000 rows read, and reduced by test, beside DuckDB's file and its SQL.

``python benchmarks/summaries.py [--beside FOLDER] [--rounds N]``. ``--beside`` names a checkout of another version. All
run in turn, each in a process of its own. On a busy machine read the processor time, of all threads of a process; a
plan is new each time, so no answer comes from the cache.
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
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from bench import summary_plan
from peers import DuckDB

import workbench as wb
from workbench.records import Measurement
from workbench.table import Table

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "summaries.md"
SIZES = ((20, 1000), (200, 1000), (500, 400))
"""Tests, and cycles of each; a plan reads at most 200 000 rows of 500 tests."""
CALLS = 25
AT_LEAST = 2.0
KINDS = {"new": "", "other": ", another plan", "again": ", again"}
HEAD = f"""# Cycles of many tests through a plan

A plan of two steps: all cycles of the tests (3 columns), and 8 metrics for each test, one of them the first cycle below
80 % of the first capacity. Beside it DuckDB's file with the same SQL, which gives the reduced table alone.
*before*: the version that `--beside` names; *another plan*: over the same cycles, which another one has just read;
*again*: the same plan asked again. Medians of {CALLS} calls in each of some processes that ran in turn; ms of the
processor (all threads), and ms on the clock. DuckDB works with two threads, ours with one.
`python benchmarks/summaries.py --beside FOLDER` makes this page.
"""


def fill(folder: Path, tests: int, cycles: int) -> None:
    """A store and DuckDB's file with the same cycles."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    volts = {"voltage_min": {"value": 2.5, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
    tables = {}
    with wb.open(folder / "ours.db") as bench:
        bench.specifications.create(name="cell", ratings={"capacity": {"value": 3.0, "unit": "A.h"}, **volts})
        cell = bench.instances.create(name="cell", specification="cell")
        for k in range(tests):
            cycle = np.arange(cycles, dtype=float)
            Q = 5.0 * (1 - 0.4 * cycle / cycles) + rng.normal(0, 1e-3, cycles)
            E = 3.6 * Q
            table = Table.of({"Cycle count": cycle, "Discharge capacity [A.h]": Q, "Discharge energy [W.h]": E})
            fields = {"name": f"test {k}", "instance_id": cell.id, "measurement_type": "time_series"}
            made = bench.backend.create_with_tables(Measurement, fields, {"cycles": table})
            tables[made.id] = {"cycle": cycle, "Q": Q, "E": E}
    duck = DuckDB(folder)
    duck.put_summaries(tables)
    duck.connection.close()
    (folder / "ids.json").write_text(json.dumps(list(tables)), "utf-8")


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """The median ms of one call, of the processor and on the clock; the first three are not counted."""
    times = []
    for _ in range(CALLS + 3):
        began, clock = time.process_time(), time.perf_counter()
        work()
        times.append(((time.process_time() - began) * 1e3, (time.perf_counter() - clock) * 1e3))
    return tuple(statistics.median(one) for one in zip(*times[3:], strict=True))  # type: ignore[return-value]


def measured(folder: Path, what: str) -> dict[str, tuple[float, float]]:
    """The times of the plan, or of DuckDB, and the most memory of this process in MB."""
    ids = json.loads((folder / "ids.json").read_text("utf-8"))
    if what == "DuckDB":
        duck = DuckDB(folder)
        made = {"new": spent(lambda: duck.summarise(ids))}
        duck.connection.close()
        return made
    turn = count(time.time_ns())
    with wb.open(folder / "ours.db") as bench:
        store: Any = bench.backend.store
        store.wait_verified(600)
        recent = getattr(store.series, "recent", None)  # 0.1.0 and versions soon after it kept no tables

        def other() -> object:
            return bench.dataset(summary_plan(ids, f"s{next(turn)}"))

        def new() -> object:
            if recent is not None:
                recent.forget()
            return other()

        made = {"new": spent(new), "other": spent(other)}
        kept = summary_plan(ids, "kept")
        made["again"] = spent(lambda: bench.dataset(kept))
    made["MB"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 0.0)
    return made


def apart(version: str, folder: Path, what: str) -> dict[str, list[float]]:
    """As ``measured``, by one version in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-P", str(HERE / "summaries.py"), "--measure", str(folder), what],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([version, str(HERE)])},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(beside: str | None, rounds: int) -> int:
    """Measure and write the page; 1 if the plan over 200 000 rows of 200 tests misses its gate."""
    ways = {"now": (str(HERE.parent), "plan"), "DuckDB file": (str(HERE.parent), "DuckDB")}
    if beside:
        ways = {"before": (str(Path(beside).resolve()), "plan"), **ways}
    lines, missed = [], 0
    with tempfile.TemporaryDirectory() as name:
        for tests, cycles in SIZES:
            folder = Path(name) / f"{tests}"
            fill(folder, tests, cycles)
            taken: dict[str, list[dict[str, list[float]]]] = {way: [] for way in ways}
            for _ in range(rounds):
                for way, (version, what) in ways.items():
                    taken[way].append(apart(version, folder, what))
            peer = _median(taken["DuckDB file"], "new")
            lines += [
                "",
                f"| {tests * cycles} rows of {tests} tests | processor | clock | DuckDB / this: processor | clock |",
            ]
            lines += ["|---|---|---|---|---|"]
            for way, found in taken.items():
                for kind, words in KINDS.items():
                    if kind not in found[0]:
                        continue
                    cpu, clock = _median(found, kind)
                    lines.append(
                        f"| {way}{words} | {cpu:.1f} | {clock:.1f} | {peer[0] / cpu:.1f} | {peer[1] / clock:.1f} |"
                    )
            if (tests, cycles) == SIZES[1]:
                missed = int(peer[0] / _median(taken["now"], "new")[0] < AT_LEAST)
                memory = ", ".join(
                    f"{way} {_median(found, 'MB')[0]:.0f}" for way, found in taken.items() if "MB" in found[0]
                )
            print("\n".join(lines), flush=True)
    lines += ["", f"Most memory of the process with 200 000 rows of 200 tests, with its cache, in MB: {memory}."]
    tried = RESULT.read_text("utf-8").partition("\n## ")[2] if RESULT.exists() else ""
    RESULT.write_text(HEAD + "\n".join(lines) + "\n" + (f"\n## {tried}" if tried else ""), "utf-8")
    return missed


def _median(found: list[dict[str, list[float]]], kind: str) -> tuple[float, float]:
    cpu, clock = zip(*(one[kind] for one in found), strict=True)
    return statistics.median(cpu), statistics.median(clock)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="the same: this benchmark has one size")
    parser.add_argument("--beside", metavar="FOLDER", help="a checkout of another version")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each; 3 by default")
    parser.add_argument("--measure", nargs=2, metavar=("FOLDER", "WHAT"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measured(Path(given.measure[0]), given.measure[1])))
    else:
        sys.exit(main(given.beside, given.rounds))
