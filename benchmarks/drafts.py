"""What the check of an author's answer costs beside the figure itself: ``python benchmarks/drafts.py [--store FILE]``.

Each plot of the demo is drawn as a figure, and as the draft of an answer, in turn; each time with another plan and
script, so that nothing comes from a cache. Times are those of the processor, of this process and of the locked ones
together, so that other work on the machine matters little. ``--store`` is the store of a demo; without it one is made.
A missed gate ends with exit code 1.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.demo import make_demo
from workbench.transform.protected import shared

RESULT = Path(__file__).parent / "results" / "drafts.md"
GATE = 1.5
ROUNDS = 8
HEAD = (
    "# From a draft to its picture",
    "",
    "Milliseconds of processor time of this process and the locked ones; medians of rounds in turn. *figure*: the",
    "recipe drawn in a locked process, with its data read anew. *draft*: the same recipe as the answer of an author,",
    f"until it has its picture, hints and numbers. The gate is {GATE} times the figure, over all plots together.",
    "`python benchmarks/drafts.py` makes this page.",
    "",
    "| plot of the demo | figure | draft | ratio |",
    "|---|---|---|---|",
)
TAIL = (
    "",
    "What was taken away: a second locked process that only read the script (the one that draws reads it first, with",
    "the names of steps and params), and a run of the plan for the check before the run for the picture. A draft that",
    "fails is looked at again for all that is wrong, and costs more than one that is sound.",
    "",
)


@dataclass(frozen=True)
class Locked:
    """What the process that forks the locked ones, and those that have ended, took so far: the processor in seconds,
    and pages of memory that were copied, filled or found at their first use."""

    seconds: float
    faults: int


def locked_facts() -> Locked:
    """The facts so far."""
    fields = Path(f"/proc/{shared().zygote_process()}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(int(one) for one in fields[11:15])
    return Locked(ticks / os.sysconf("SC_CLK_TCK"), int(fields[7]) + int(fields[8]))


def spent() -> float:
    """Seconds of the processor so far: this process, and the locked ones that have ended."""
    return time.process_time() + locked_facts().seconds


def settled() -> float:
    """``spent``, when the processes of the last figure have ended."""
    before = spent()
    while True:
        time.sleep(0.02)
        now = spent()
        if now - before < 0.005:
            return now
        before = now


def cost(work: Callable[[], None]) -> float:
    """Milliseconds of the processor that it takes."""
    began = settled()
    work()
    return (settled() - began) * 1e3


def saved_plots(bench: wb.Bench) -> dict[str, dict[str, Any]]:
    """The recipes of all dashboards, by the names of their plots."""
    boards = [bench.dashboards.get(name) for name in bench.dashboards.list(fields=["name"])["name"]]
    return {plot.name: dict(plot.record.config) for board in boards for plot in board.plots()}


def measured(store: Path) -> dict[str, tuple[float, float]]:
    """Plot -> figure and draft, in ms."""
    turn = count(1)

    def fresh(config: dict[str, Any]) -> dict[str, Any]:
        made = copy.deepcopy(config)
        number = next(turn)
        made["plan"]["caps"] = {"max_list_rows": 5000 - number % 1000}
        made["transform"] += f"\n# {number} {time.time_ns()}\n"
        return made

    found = {}
    with wb.open(store) as bench:
        plots = saved_plots(bench)

        def figure(config: dict[str, Any]) -> None:
            bench.backend.figure(config, {}, protected=True)

        def draft(config: dict[str, Any]) -> None:
            checked = bench.check_answer({"say": "", "draft": {"name": "Draft", "config": config}})
            if not checked.is_sound:
                raise AssertionError(checked.words)

        for name, config in plots.items():
            times: tuple[list[float], list[float]] = ([], [])
            for work in (figure, draft):
                work(fresh(config))  # the first of a kind reads modules
            for _ in range(ROUNDS):
                for place, work in enumerate((figure, draft)):
                    one = fresh(config)
                    times[place].append(cost(lambda work=work, one=one: work(one)))
            found[name] = (statistics.median(times[0]), statistics.median(times[1]))
            print(f"{name}: {found[name][0]:.0f}, {found[name][1]:.0f}", flush=True)
    return found


def main() -> int:
    """Measure, write the page, and say whether the gate held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--full", action="store_true", help="changes nothing here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(asked.store or make_demo(Path(folder) / "demo").store)
    rows = [f"| {name} | {a:.0f} | {b:.0f} | {b / a:.2f} |" for name, (a, b) in found.items()]
    figure, draft = (sum(one[place] for one in found.values()) for place in (0, 1))
    rows.append(f"| **all** | {figure:.0f} | {draft:.0f} | **{draft / figure:.2f}** |")
    RESULT.write_text("\n".join([*HEAD, *rows, *TAIL]), "utf-8")
    print(f"{draft / figure:.2f}, at most {GATE}")
    return 0 if draft / figure <= GATE else 1


if __name__ == "__main__":
    sys.exit(main())
