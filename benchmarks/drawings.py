"""What the first drawing of a saved plot costs: ``python benchmarks/drawings.py [--beside FOLDER] [--rounds N]``.

Each plot of the demo is drawn by a locked process, with its data in the cache and a script that no cache has; also in
this process, which shows what the script itself takes. ``--beside`` names a checkout of an older version: both run in
turn, in processes of their own, each on a copy of the older one's demo, so that they draw the same plots. Times are
those of the processor, of this process and of the locked ones together, so that other work on the machine matters
little.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from drafts import locked_facts, saved_plots, settled
from waits import Times, by_version, compared, table

import workbench as wb

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "drawings.md"
DRAWINGS = 8
PAGES = "pages"
HEAD = (
    "# The first drawing of a saved plot",
    "",
    "Milliseconds of processor time of this process and the locked ones; the data are in the cache, the script is new.",
    f"Medians of processes in turn, each with the mean of {DRAWINGS} drawings of each plot. *before*: the version that",
    "`--beside` names; both draw the plots of its demo.",
    "`python benchmarks/drawings.py --beside FOLDER` makes this page.",
    "",
)
TAIL = (
    "A drawing in this process is the script and the bytes of its figure: most of that is plotly, which checks each",
    "property. What a locked process adds is its fork, its end, a small figure that it draws while nobody waits, and",
    "the pages of memory that it writes to: the first write to a page copies it, which takes 2 to 3 µs.",
    "",
    "What was taken away: gaps in the memory of the process that forks (a new object went into a gap on a page of its",
    "own, which was copied for it), the check of the properties of `battery.template()`, and the second check of each",
    "trace (`workbench/transform/traces_checked_once.py`).",
    "",
    "What was tried and did not help: large pages for what a locked process allocates; keeping what it frees; copying",
    "pages ahead by `madvise` (the copy is what takes the time); a collector of garbage that looks less often. Pages",
    "that are still copied hold functions and classes, whose counters change when a script uses them; Python 3.11 has",
    "no objects without a counter.",
    "",
)


def measured(store: Path) -> Times:
    """Plot -> processor time in ms, and the medians of all plots."""
    found: Times = {}
    with wb.open(store) as bench:
        backend = bench.backend
        plots = saved_plots(bench)

        def draw(config: dict[str, Any], protected: bool) -> None:
            made = copy.deepcopy(config)
            made["transform"] += f"\n# {time.time_ns()}\n"
            backend.figure(made, {}, protected=protected)

        def mean(config: dict[str, Any], protected: bool) -> float:
            draw(config, protected)
            began = settled()
            for _ in range(DRAWINGS):
                draw(config, protected)
            return (settled() - began) * 1e3 / DRAWINGS

        for config in plots.values():
            draw(config, True)
        before = locked_facts().faults
        for name, config in plots.items():
            found[name] = mean(config, True)
        pages = (locked_facts().faults - before) / len(plots) / (DRAWINGS + 1)
        own = [mean(config, False) for config in plots.values()]
    return {
        **found,
        "**median**": statistics.median(found.values()),
        "median in this process": statistics.median(own),
        PAGES: pages,
    }


def main(beside: str | None, rounds: int) -> None:
    """Make the demos, measure, and write the page."""
    versions = [str(HERE.parent), *([str(Path(beside).resolve())] if beside else [])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = (
            f"from pathlib import Path\nfrom workbench.demo import make_demo\nmake_demo(Path({name!r}, 'demo'))"
        )
        environment = {**os.environ, "PYTHONPATH": versions[-1]}
        subprocess.run([sys.executable, "-P", "-c", program], env=environment, check=True)
        (demo,) = (folder / "demo").glob("*.db")
        stores = {version: folder / f"{place}.db" for place, version in enumerate(versions)}
        for store in stores.values():
            shutil.copy(demo, store)
        found = compared(versions, lambda version: by_version(version, "drawings.py", stores[version]), rounds)
    pages = [one.pop(PAGES) for one in found]
    said = f"{pages[0]:.0f}" if len(pages) == 1 else f"{pages[1]:.0f} before, {pages[0]:.0f} now"
    copied = (
        f"Pages of memory that a drawing copies, fills, or finds at their first use, in locked processes: {said}."
    )
    page = [*HEAD, *table("plot of the demo", found), copied, "", *TAIL]
    print("\n".join(page))
    RESULT.write_text("\n".join(page), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="changes nothing here")
    parser.add_argument("--beside", metavar="FOLDER", help="a checkout of another version")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each version; 3 by default")
    parser.add_argument("--measure", metavar="STORE", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measured(given.measure)))
    else:
        main(given.beside, given.rounds)
