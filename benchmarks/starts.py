"""What a new process takes until it has something to show: the import, a list of cells, the help, the catalog.

``python benchmarks/starts.py [--beside FOLDER] [--rounds N]``. ``--beside`` names a checkout of another version: both
run in turn, each with a store of its own, in a new environment with the core of this version alone, as a user has it.
Needs the package registry. 1 if a gate was missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compiled import keep_compiled
from install import environment, install
from waits import Times, compared, table

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "starts.md"
PANDAS, LIST = "`import pandas`", "`import workbench`, open a store of 1 000 cells, list them"
TYPER, HELP, CATALOG = "`import typer, rich.console`", "`workbench --help`", "`workbench catalog` of these cells"
STARTS = {
    PANDAS: "import pandas",
    LIST: "import workbench as wb\nwith wb.open({store!r}) as b: b.instances.list()",
    TYPER: "import typer, rich.console",
    HELP: "import sys\nsys.argv = ['workbench', '--help']\nfrom workbench.cli import main\nmain()",
    CATALOG: (
        "import sys\nsys.argv = ['workbench', 'catalog', '--store', {store!r}]\n"
        "from workbench.cli import main\nmain()"
    ),
}
"""Programs that are started. What is imported alone is what the others are compared with."""
GATES = ((LIST, PANDAS, 200), (HELP, TYPER, 150), (CATALOG, PANDAS, 300))
FILL = """
import workbench as wb
volts = {"voltage_min": {"value": 2.5, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
with wb.open(STORE) as bench:
    spec = bench.specifications.create(name="cell", ratings={"capacity": {"value": 3.0, "unit": "A.h"}, **volts})
    for k in range(1000):
        note = None if k % 3 else "from the pilot line"
        bench.instances.create(name=f"Cell {k:06d}", specification=spec, notes=note, properties={"lot": f"L{k % 50}"})
"""
TRIED = (
    "What was tried and did not help:",
    "",
    "- Of what a list takes beyond pandas half is pydantic: its import, its look for plugins among all packages, the",
    "  models of 18 kinds of records. `defer_build` saves 15 ms, but pydantic then builds a model where it is first",
    "  used, and two threads may do so at once. Plugins switched off save 15 ms where 270 packages are installed, as",
    "  for development, and 3 ms beside the core alone; that is for the process to decide.",
    "- The classes between `Record` and the kinds left unbuilt: `model_rebuild` of each kind takes 100 ms more.",
    "- Arrays of texts made from bytes, which spares pyarrow's look at the version of pandas: pandas looks then.",
    "",
)


def started(python: Path, program: str, version: str) -> tuple[float, float]:
    """A new process: ms until it ends, and of processor time, all threads."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    own = {**os.environ, "PYTHONPATH": version}
    subprocess.run([python, "-P", "-c", program], env=own, stdout=subprocess.DEVNULL, check=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took * 1e3, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def main(beside: str | None, rounds: int) -> int:
    """Make environment and stores, measure, and write the page; 1 if a gate was missed."""
    keep_compiled()
    versions = [str(HERE.parent), *([str(Path(beside).resolve())] if beside else [])]
    with tempfile.TemporaryDirectory() as name:
        python = environment(Path(name, "core"))
        install(python)
        stores = {version: str(Path(name, f"{place}.db")) for place, version in enumerate(versions)}
        for version, store in stores.items():
            started(python, FILL.replace("STORE", repr(store)), version)

        def all_of(version: str) -> Times:
            store, times = repr(stores[version]), {}
            for what, text in STARTS.items():
                times[what], times[f"{what}: processor"] = started(
                    python, text.replace("{store!r}", store), version
                )
            return times

        for version in versions:
            all_of(version)  # compiles what is new, and leaves the catalog in the cache
        found = compared(versions, all_of, rounds)
    gates, missed = [], 0
    for what, base, most in GATES:
        more = found[0][what] - found[0][base]
        missed += more > most
        gates.append(
            f"- {'met' if more <= most else 'MISSED'}: {what} at most {most} ms more than {base}: +{more:.0f} ms"
        )
    page = [
        "# A new process",
        "",
        "Milliseconds until the process ends, and of processor time, all threads: one looks for damage in the store",
        "while pandas is imported. Medians of processes in turn, in a new environment with the core alone. *before*:",
        "the version that `--beside` names. A catalog was asked for by a process before.",
        "`python benchmarks/starts.py --beside FOLDER` makes this page.",
        "",
        *table("a new process", found),
        *gates,
        "",
        *TRIED,
    ]
    print("\n".join(page))
    RESULT.write_text("\n".join(page), "utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="changes nothing here")
    parser.add_argument("--beside", metavar="FOLDER", help="a checkout of another version")
    parser.add_argument("--rounds", type=int, default=9, help="processes of each version; 9 by default")
    given = parser.parse_args()
    sys.exit(main(given.beside, given.rounds))
