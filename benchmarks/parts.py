"""Where the time of what people wait for goes, before and now: ``python benchmarks/parts.py [--beside FOLDER]``.

Each operation is profiled in a process of its own, of this version and of the one in the checkout that ``--beside``
names. Time is counted where it is spent: by library, and within the workbench by folder. What Python itself does counts
for whoever called it.
"""

from __future__ import annotations

import argparse
import copy
import cProfile
import json
import os
import pstats
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from bench import summary_plan
from drafts import saved_plots
from waits import SCRIPT, Times, by_version, compared

import workbench as wb

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "parts.md"
CELLS, CALLS, ROWS = 10_000, 5, 100_000
LEAST = 0.05
"""The share of the time, before or now, from which a part has its line."""
TOTAL = "**all of it**"
LIBRARIES = {
    "sqlite3": "SQLite",
    "_hashlib": "hashes",
    "zstandard": "zstandard",
    "numpy": "numpy",
    "orjson": "orjson",
    "pydantic_core": "pydantic",
    "pyarrow": "pyarrow",
    "pandas": "pandas",
    "compiled_loops": "compiled loops",
}
"""What the name of a function in C holds, and whose it is."""
HEAD = f"""# Where the time goes

Milliseconds of the processor for one call, in one thread, profiled: the profiler makes calls from Python dearer than
they are, so compare the parts, and take ratios from the other pages. *before*: the version that `--beside` names.
A part is a library, or a folder of the workbench; what Python itself does counts for whoever called it. Parts below
{LEAST:.0%} are together. Medians of processes in turn.
`python benchmarks/parts.py --beside FOLDER` makes this page.
"""
TAIL = """Why each part takes less now, and what was tried and did not help, is on the page of its operation:
[waits](waits.md), [summaries](summaries.md), [drawings](drawings.md), [files](files.md).
"""

Function = tuple[str, int, str]


def owner(function: Function) -> str | None:
    """Whose a function is; None for one of Python itself."""
    path, _, name = function
    if path in ("~", "") or path.startswith("<"):
        return next((whose for mark, whose in LIBRARIES.items() if mark in name), None)
    parts = Path(path).parts
    if "site-packages" in parts:
        library = parts[parts.index("site-packages") + 1].removesuffix(".py")
        return "plotly" if library == "_plotly_utils" else library.strip("_")
    if "workbench" in parts:
        place = len(parts) - 1 - parts[::-1].index("workbench")
        return f"workbench/{parts[place + 1]}".removesuffix(".py")
    return None


def parts_of(profile: cProfile.Profile, calls: int) -> Times:
    """Part -> ms of one call."""
    stats: dict[Function, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    found: Counter[str] = Counter()

    def shared(function: Function, seconds: float, seen: frozenset[Function]) -> None:
        """Count time for the owner of a function, or in shares for those of its callers."""
        whose = owner(function)
        callers = {one: held[2] or held[3] for one, held in stats[function][4].items() if one not in seen}
        whole = sum(callers.values())
        if whose is not None or not whole:
            found[whose or "Python"] += seconds
            return
        for caller, weight in callers.items():
            if weight > whole / 1000:
                shared(caller, seconds * weight / whole, seen | {function})

    for function, (_, _, own, _, _) in stats.items():
        shared(function, own, frozenset())
    return {part: seconds * 1e3 / calls for part, seconds in found.items()}


def profiled(work: Callable[[], object], calls: int = CALLS) -> Times:
    """The parts of one call; the first is not counted."""
    work()
    profile = cProfile.Profile(time.thread_time)
    profile.enable()
    for _ in range(calls):
        work()
    profile.disable()
    return parts_of(profile, calls)


def search(store: str) -> Times:
    with wb.open(store) as bench:
        return profiled(lambda: bench.search("cell"))


def catalog(store: str) -> Times:
    """After a change of a cell, as on a server that others use."""
    with wb.open(store) as bench:
        cell, turn = bench.instances.list(limit=1)["id"].iloc[0], count()

        def changed() -> None:
            bench.instances.update(cell, notes=f"seen {next(turn)} {time.time_ns()}")
            bench.catalog()

        return profiled(changed)


def cycles(store: str) -> Times:
    with wb.open(store) as bench:
        ids, turn = bench.measurements.list()["id"].tolist(), count(time.time_ns())
        return profiled(lambda: bench.dataset(summary_plan(ids, f"s{next(turn)}")))


def cached_figure(store: str) -> Times:
    with wb.open(store) as bench:
        plan = {"steps": {"cells": {"op": "list", "source": "instances"}}}
        recipe = wb.Recipe(plan=plan, transform=SCRIPT, params={})
        return profiled(lambda: bench.figure(recipe))


def drawing(store: str) -> Times:
    """The plots of the demo, each with a script that no cache has, in this process."""
    with wb.open(store) as bench:
        plots = saved_plots(bench).values()

        def all_of_them() -> None:
            for config in plots:
                made = copy.deepcopy(config)
                made["transform"] += f"\n# {time.time_ns()}\n"
                bench.backend.figure(made, {}, protected=False)

        return {part: ms / len(plots) for part, ms in profiled(all_of_them, 1).items()}


def text_file(path: str) -> Times:
    from workbench.readers import read

    return profiled(lambda: sum(batch.n for batch in read(Path(path), sign="charge").batches), 2)


OPERATIONS: dict[str, tuple[Callable[[str], Times], str]] = {
    "search": (search, f"A search for 'cell' among {CELLS:,} cells"),
    "catalog": (catalog, f"The catalog of {CELLS:,} cells, after a change of one"),
    "cycles": (cycles, "200 000 cycles of 200 tests through a plan, with 8 metrics for each test"),
    "cached_figure": (cached_figure, "A figure of 20 traces from the cache"),
    "drawing": (drawing, "The first drawing of a plot of the demo, in this process, on average"),
    "text_file": (text_file, f"A text file of {ROWS:,} rows, read"),
}
"""Name -> what is profiled of a store or a file, and its title."""


def write_text(path: Path) -> None:
    """A file as a cycler writes it: a clock, a time, counters, voltage, current."""
    lines = ["Date,Test Time (s),Step,Cycle,Voltage (V),Current (A)"]
    for k in range(ROWS):
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1_700_000_000 + 10 * k))
        current = 1.0 if k // 360 % 2 else -1.0
        lines.append(f"{clock},{10 * k},{k // 360 + 1},{k // 720 + 1},{3 + k % 360 / 300:.4f},{current:.4f}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def made(folder: Path, oldest: str) -> dict[str, Path]:
    """What is profiled, made by the older version, which cannot open the stores of a newer one."""
    program = (
        f"from pathlib import Path\nfrom waits import fill, fill_cycles\nfrom workbench.demo import make_demo\n"
        f"place = Path({str(folder)!r})\nfill(place / 'cells.db', {CELLS})\nfill_cycles(place / 'cycles.db')\n"
        f"make_demo(place / 'demo')"
    )
    paths = os.pathsep.join([oldest, str(HERE)])
    subprocess.run([sys.executable, "-P", "-c", program], env={**os.environ, "PYTHONPATH": paths}, check=True)
    write_text(folder / "text.csv")
    (demo,) = (folder / "demo").glob("*.db")
    return {
        **dict.fromkeys(("search", "catalog", "cached_figure"), folder / "cells.db"),
        "cycles": folder / "cycles.db",
        "drawing": demo,
        "text_file": folder / "text.csv",
    }


def table(found: list[Times]) -> list[str]:
    """A line for each part that matters, the largest before first."""
    now, before = found[0], found[-1]
    whole = [sum(one.values()) for one in (before, now)]
    large = [part for part in {**before, **now} if _share(part, before, now, whole) >= LEAST]
    large.sort(key=lambda part: -before.get(part, 0.0))
    rows = [(part, before.get(part, 0.0), now.get(part, 0.0)) for part in large]
    rest = [total - sum(row[place] for row in rows) for place, total in enumerate(whole, 1)]
    rows += [("the rest", *rest), (TOTAL, *whole)]
    if len(found) == 1:
        return ["| part | ms |", "|---|---|", *(f"| {part} | {ms:.1f} |" for part, _, ms in rows), ""]
    lines = [f"| {part} | {old:.1f} | {ms:.1f} |" for part, old, ms in rows]
    return ["| part | before | now |", "|---|---|---|", *lines, ""]


def _share(part: str, before: Times, now: Times, whole: list[float]) -> float:
    return max(one.get(part, 0.0) / total for one, total in zip((before, now), whole, strict=True))


def main(beside: str | None, rounds: int) -> None:
    """Make the stores, profile both versions in turn, and write the page."""
    versions = [str(HERE.parent), *([str(Path(beside).resolve())] if beside else [])]
    page = [HEAD]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = made(folder, versions[-1])
        for operation, (_, title) in OPERATIONS.items():
            own = {
                version: folder / f"own-{place}{sources[operation].suffix}"
                for place, version in enumerate(versions)
            }
            for path in own.values():
                shutil.copy(sources[operation], path)

            def parts(version: str, operation: str = operation, own: dict[str, Path] = own) -> Times:
                return by_version(version, "parts.py", operation, own[version])

            found = compared(versions, parts, rounds)
            page += [f"## {title}", "", *table(found)]
            print("\n".join(page[-20:]), flush=True)
    RESULT.write_text("\n".join([*page, TAIL]), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="changes nothing here")
    parser.add_argument("--beside", metavar="FOLDER", help="a checkout of another version")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each version; 3 by default")
    parser.add_argument("--measure", nargs=2, metavar=("OPERATION", "PATH"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        asked, place = given.measure
        print(json.dumps(OPERATIONS[asked][0](place)))
    else:
        main(given.beside, given.rounds)
