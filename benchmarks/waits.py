"""What people wait for in a large project, and when they ask again; and the same by another version.

``python benchmarks/waits.py [--full] [--beside FOLDER] [--stores FOLDER] [--rounds N]``. ``--beside`` names a checkout
of another version: both run in turn, in processes of their own, on the same stores. Times are those of the processor,
of all threads of a process, so that other work on the machine matters little. ``--stores`` keeps the stores: it takes
minutes to make one of 100 000 cells.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import chain, count
from pathlib import Path

import orjson

import workbench as wb
from workbench.records import Dashboard, Instance, Measurement
from workbench.table import Table

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "waits.md"
OTHERS = "abcdefgh"
GROUPS, EACH, TRACES = 200, 1000, 20
SLOW_MS = 50
Times = dict[str, float]
HEAD = (
    "# What people wait for",
    "",
    "Milliseconds of processor time, all threads; medians of processes in turn. *before*: the version that",
    "`--beside` names. A search is asked again and again, as while somebody types; a plan is new each time.",
    "Each version has its own copy of the store.",
    "`python benchmarks/waits.py --full --beside FOLDER` makes this page.",
    "",
)
TRIED = (
    "What was tried and did not help:",
    "",
    "- A list by `ORDER BY rowid` alone: SQLite still read all rows of the project by its index and sorted them, until",
    "  records with and without a project were asked for apart.",
    "- Of many hits by words, asking the index only about the first names: SQLite 3.40 reads all hits for twenty too.",
    "- The first call of a catalog in a process had the garbage collector's first look at all objects in it,",
    "  80 ms, since imports are made without it. So here it looks before that call is measured.",
    "- Taking texts and numbers within open objects as they are, before anything else is looked at: 6.0 µs a record",
    "  became 4.2, a thirtieth of a list of 25.",
    "",
)
SCRIPT = """
def transform(data, params):
    curves = [{"type": "scatter", "x": list(range(2000)), "y": [k] * 2000} for k in range(20)]
    return {"data": curves, "layout": {}}
"""


def fill(path: Path, cells: int) -> None:
    """A store with so many cells of ten specifications, and a test for each hundredth."""
    volts = {"voltage_min": {"value": 2.5, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
    with wb.open(path) as bench:
        store, scope = bench.backend.store, bench.backend.scope
        capacities = [{"capacity": {"value": 3.0 + k / 10, "unit": "A.h"}, **volts} for k in range(10)]
        specs = [bench.specifications.create(name=f"Spec {k}", ratings=held) for k, held in enumerate(capacities)]
        tested = []
        with store.transaction() as db:
            for k in range(cells):
                fields = {
                    "name": f"Cell {k:06d} {OTHERS[k % 8]}x{k % 97}",
                    "specification_id": specs[k % 10].id,
                    "notes": None if k % 3 else "from the pilot line",
                    "properties": {"lot": f"L{k % 50}", "mass": {"value": 45 + k % 7 / 10, "unit": "g"}},
                }
                made = store.rows.create(Instance, fields, scope=scope, connection=db)
                tested += [made.id] if k % 100 == 0 else []
            for n, id in enumerate(tested):
                fields = {"name": f"Aging {n}", "instance_id": id, "measurement_type": "time_series"}
                more = {"tags": ["aging"], "protocol": {"name": f"P{n % 5}"}}
                store.rows.create(Measurement, {**fields, **more}, scope=scope, connection=db)


def fill_cycles(path: Path) -> None:
    """A store with the cycles of 200 tests."""
    with wb.open(path) as bench:
        volts = {"voltage_min": {"value": 2.5, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
        bench.specifications.create(name="cell", ratings={"capacity": {"value": 3.0, "unit": "A.h"}, **volts})
        cell = bench.instances.create(name="cell", specification="cell")
        for k in range(GROUPS):
            fade = [5.0 - 0.002 * n + (k * n % 7) * 1e-3 for n in range(EACH)]
            columns = {"Cycle count": [float(n) for n in range(EACH)], "Discharge capacity [A.h]": fade}
            table = Table.of({**columns, "Discharge energy [W.h]": [3.6 * value for value in fade]})
            fields = {"name": f"cycled {k}", "instance_id": cell.id, "measurement_type": "time_series"}
            bench.backend.create_with_tables(Measurement, fields, {"cycles": table})


def spent(work: Callable[[], object]) -> float:
    """The median processor time of one call in ms; the first is not counted. What takes long is called less often."""
    times = []
    for _ in range(8):
        began = time.process_time()
        work()
        times.append((time.process_time() - began) * 1e3)
        if len(times) > 3 and times[-1] > SLOW_MS:
            break
    return statistics.median(times[1:])


def once(work: Callable[[], object]) -> float:
    """The processor time of one call in ms. The garbage collector looks at all objects before: its first look takes
    longer than many a call, and falls into whichever comes then."""
    gc.collect()
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1e3


def measured(path: str) -> Times:
    """What is asked of a store of cells."""
    found: Times = {}
    turn = count(int(time.time()))
    with wb.open(path) as bench:
        backend = bench.backend
        store = backend.store
        getattr(store, "wait_verified", lambda seconds: None)(600)  # versions before 0.1.1 verify at once

        def plan(**step: object) -> dict[str, object]:
            return {"steps": {f"s{next(turn)}": {"op": "list", "source": "instances", "limit": 100, **step}}}

        for text in ("ce", "cell", "pilot", "cell 000", "cell 000123"):
            found[f"search '{text}'"] = spent(lambda text=text: backend.search(text))
        found["list of 100 in a plan"] = spent(lambda: bench.dataset(plan()))
        for text in ("ell", "000123"):
            where = {"nameContains": text}
            found[f"names with '{text}' in a plan"] = spent(lambda where=where: bench.dataset(plan(where=where)))
        found["page of 25 records, with their total"] = spent(
            lambda: store.rows.page(Instance, backend.scope, limit=25)
        )
        found["catalog, first time in a process"] = once(backend.catalog)
        found["catalog"] = spent(backend.catalog)
        cell = store.rows.page(Instance, backend.scope, limit=1).items[0]
        store.rows.update(Instance, cell.id, {"notes": f"seen {next(turn)}"}, backend.scope)
        found["catalog, after a change of a cell"] = once(backend.catalog)
        board = backend.create(Dashboard, {"name": f"Board {next(turn)}"})
        found["authoring context"] = spent(lambda: backend.authoring_context(board, "capacity of all cells"))
    found["opening"] = spent(lambda: wb.open(path).close())
    return found


def asked(path: str) -> Times:
    """What is asked of the cycles of many tests, and a figure that is in the cache."""
    from bench import summary_plan

    found: Times = {}
    turn = count(int(time.time() * 1e3))
    with wb.open(path) as bench:
        ids = bench.measurements.list()["id"].tolist()
        found[f"summary of {GROUPS * EACH} rows, aggregate of 8 metrics"] = spent(
            lambda: bench.dataset(summary_plan(ids, f"s{next(turn)}"))
        )
        recipe = wb.Recipe(
            plan={"steps": {"cells": {"op": "list", "source": "instances"}}}, transform=SCRIPT, params={}
        )
        found[f"a figure of {TRACES} traces from the cache"] = spent(lambda: bench.figure(recipe))
        found["the same, with its plotly object"] = spent(lambda: bench.figure(recipe).data)
    return found


def by_version(version: str, script: str, *measure: str | Path) -> Times:
    """The times of one version, in a process of its own: what a script of this folder prints with ``--measure``."""
    paths = os.pathsep.join([version, str(HERE)])
    made = subprocess.run(
        [sys.executable, "-P", str(HERE / script), "--measure", *map(str, measure)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        check=True,
    )
    times: Times = json.loads(made.stdout.splitlines()[-1])
    return times


def compared(versions: list[str], work: Callable[[str], Times], rounds: int) -> list[Times]:
    """The medians of each version, in turn. What a run does not have took no time in it."""
    taken: list[list[Times]] = [[] for _ in versions]
    for _ in range(rounds):
        for place, version in enumerate(versions):
            taken[place].append(work(version))
    return [
        {name: statistics.median(one.get(name, 0.0) for one in rows) for name in dict.fromkeys(chain(*rows))}
        for rows in taken
    ]


def table(title: str, found: list[Times]) -> list[str]:
    """A table of the times, the older version first, and how many times as fast the newer one is."""
    if len(found) == 1:
        return [f"| {title} | ms |", "|---|---|", *(f"| {name} | {ms:.1f} |" for name, ms in found[0].items()), ""]
    after, before = found
    rows = [f"| {name} | {before[name]:.1f} | {ms:.1f} | {before[name] / ms:.1f} |" for name, ms in after.items()]
    return [f"| {title} | before | now | before / now |", "|---|---|---|---|", *rows, ""]


def main(full: bool, beside: str | None, folder: Path, rounds: int) -> None:
    """Make the stores that are not there, measure, and write the page."""
    versions = [str(HERE.parent), *([str(Path(beside).resolve())] if beside else [])]
    sizes = (100_000, 1_000) if full else (10_000, 1_000)
    lines: list[str] = []

    def shown(title: str, work: Callable[[str], Times], times: int = rounds) -> None:
        """Measure, and write the page as far as it is: the whole takes long."""
        lines.extend(table(title, compared(versions, work, times)))
        print("\n".join(lines), flush=True)
        RESULT.write_text("\n".join([*HEAD, *lines, *TRIED]), "utf-8")

    def copies(store: Path) -> dict[str, Path]:
        """A copy for each version: an older one cannot open what a newer one has opened."""
        own = {version: folder / f"{store.stem}-{place}.db" for place, version in enumerate(versions)}
        for path in own.values():
            shutil.copy(store, path)
        return own

    for size in sizes:
        store = folder / f"cells-{size}.db"
        if not store.exists():
            fill(store, size)
        own = copies(store)
        shown(
            f"{size} cells in a project",
            lambda version, own=own: by_version(version, "waits.py", "cells", own[version]),
        )
    cycles = folder / "cycles.db"
    if not cycles.exists():
        fill_cycles(cycles)
    of_cycles = copies(cycles)
    shown("asked at the bench", lambda version: by_version(version, "waits.py", "cycles", of_cycles[version]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="100 000 cells instead of 10 000")
    parser.add_argument("--beside", metavar="FOLDER", help="a checkout of another version")
    parser.add_argument("--stores", metavar="FOLDER", type=Path, help="where the stores are kept")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each version; 3 by default")
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "STORE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        kind, place = given.measure
        print(orjson.dumps(measured(place) if kind == "cells" else asked(place)).decode())
    elif given.stores:
        given.stores.mkdir(parents=True, exist_ok=True)
        main(given.full, given.beside, given.stores, given.rounds)
    else:
        with tempfile.TemporaryDirectory() as made:
            main(given.full, given.beside, Path(made), given.rounds)
