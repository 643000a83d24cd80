"""Stored analyses of many small tests: the first run, and the same again, which has nothing to do. The gallery of
these tests, before anything has recorded of what kind they are. And each analysis of one test and of one ten times as
long, which must not take much more than ten times as much.

``python benchmarks/analyses.py [--full]``. Both runs are in this process, one after the other: read the ratios. That of
processor time counts, since a busy machine strikes the threads of a first run harder.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import workbench as wb
from workbench.analyses.run import Analysed

GATES = {"outliers": 10.0}
GATE = 50.0
"""Of each test alone. A comparison of cells is one computation for all tests, whose first run takes less."""
GALLERY_GATE = 3.0
ROUNDS = 5
CYCLES, EACH = 12, 40
FADE = 0.003
LONG_CYCLES, LONG_EACH, TIMES_LONGER = 300, 60, 10
GROWTH_GATE = 15.0
"""So many times as much for a test that is ten times as long, at most."""
NOTABLE = 0.05
"""s; less says nothing of how it grows."""
FITS_EACH_REST = "relaxation"
"""It fits each rest alone, 5 to 25 ms for those of real files. The rests here are straight lines, the worst case."""
TYPES = ("kinds", "retention", "efficiency", "capacity_by_step", "dcir", "outliers")
"""Analyses of cycles, of steps, of samples, and the kinds of tests."""
BEFORE = (
    "What took longer before, for the test of 3 000 cycles on another day: `dcir` and `power_capability` 38 s, since "
    "each pulse looked at all samples; `capacity_by_step` 3.8 s, since each cycle looked at all steps; `pseudo_ocv`, "
    "`ic_peaks` and `dva_features` 4.1 s, with a frame of pandas for each half cycle; `rate_capability` and `peukert` "
    "0.9 s and `efficiency` 0.3 s, which read a column again for each row. All give the same bits.",
    "",
)
RESULT = Path(__file__).parent / "results" / "analyses.md"


def aged(number: int, cycles: int = CYCLES, each: int = EACH, fade: float = FADE) -> pd.DataFrame:
    """The samples of an ageing test: full cycles, each with a pulse after a rest of half an hour; ``each`` samples in
    each of the six steps of a cycle."""
    rng = np.random.default_rng(number)
    parts: list[tuple[float, float, float, float]] = []
    for cycle in range(cycles):
        full = 3600.0 * (1 - fade * cycle * (1 + number % 3))
        legs = ((-1.0, full, 3.0, 4.2), (0.0, 1800.0, 4.15, 4.14), (2.0, 10.0, 4.05, 4.04))
        parts += [*legs, (0.0, 60.0, 4.13, 4.13), (1.0, full, 4.1, 3.0), (0.0, 600.0, 3.3, 3.35)]
    begins = np.concatenate([[0.0], np.cumsum([seconds for _, seconds, *_ in parts])[:-1]])
    shares = np.linspace(0.0, 1.0, each, endpoint=False)
    time_s = np.concatenate([at + part[1] * shares for at, part in zip(begins, parts, strict=True)])
    volts = np.concatenate([part[2] + (part[3] - part[2]) * shares for part in parts])
    return pd.DataFrame(
        {
            "Time [s]": time_s,
            "Current [A]": np.repeat([part[0] for part in parts], each),
            "Voltage [V]": volts + rng.normal(0, 2e-4, len(volts)),
            "Step count": np.repeat(np.arange(len(parts), dtype=float), each),
            "Cycle count": np.repeat(np.arange(cycles, dtype=float), 6 * each),
        }
    )


def filled(bench: wb.Bench, tests: int) -> None:
    """As many small tests, ten of each cell."""
    ratings = {"capacity": {"value": 1.0, "unit": "A.h"}, "voltage_min": {"value": 3.0, "unit": "V"}}
    bench.specifications.create(name="cell", ratings={**ratings, "voltage_max": {"value": 4.2, "unit": "V"}})
    for number in range(tests):
        if number % 10 == 0:
            cell = bench.instances.create(name=f"cell {number // 10}", specification="cell")
        fields = {"name": f"test {number}", "instance": cell, "sign": "discharge"}
        bench.measurements.create(time_series=aged(number), **fields)


def timed(bench: wb.Bench, type: str) -> tuple[float, float, Analysed]:
    """Seconds that a run took and that it computed, and what it did."""
    began, before = time.perf_counter(), time.process_time()
    done = bench.analyse(type)
    return time.perf_counter() - began, time.process_time() - before, done


def gallery(bench: wb.Bench, tests: int) -> tuple[str, bool]:
    """What the gallery takes at first and then, as a part of the page, and whether its gate is kept.

    Raises
    ------
    RuntimeError
        If the default choice of a recipe cannot be drawn.
    """
    began, before = time.perf_counter(), time.process_time()
    items = bench.gallery().items
    first, first_work = time.perf_counter() - began, time.process_time() - before
    again, recipe = [], []
    for number in range(ROUNDS):
        bench.measurements.update(f"test {number}", tags=[f"round {number}"])  # what was kept is of before
        again.append(_work(bench.gallery))
        recipe.append(_work(lambda: bench.gallery().recipe("fade")))
    kept = _work(bench.gallery)
    drawn = 0
    for item in items:
        if item["ready"]:
            try:
                drawn += bool(bench.figure(item["name"]).data)
            except wb.WorkbenchError as error:
                raise RuntimeError(f"{item['name']}: {error}") from error
    ratio = first_work / statistics.median(again)
    text = (
        f"The gallery of these tests, before their kinds are recorded: {first:.2f} s at first (processor "
        f"{first_work:.2f} s), after each change of a test {1e3 * statistics.median(again):.0f} ms, {ratio:.1f}x as "
        f"fast (gate >= {GALLERY_GATE:g}x: {'yes' if ratio >= GALLERY_GATE else 'no'}), and then a recipe of it "
        f"{1e3 * statistics.median(recipe):.0f} ms; without a change {1e3 * kept:.1f} ms. {drawn} recipes draw what "
        f"they choose at first of the {tests} tests."
    )
    return text, ratio >= GALLERY_GATE


def arrival(bench: wb.Bench, tests: int) -> str:
    """What is computed when one more test arrives, as a part of the page."""
    bench.analyse("arrival")
    bench.measurements.create(time_series=aged(tests), name="newest", instance="cell 0", sign="discharge")
    before = time.process_time()
    done = bench.analyse("arrival", "newest")
    return (
        f"All that a project computes on arrival, for one more test: {time.process_time() - before:.2f} s of processor "
        f"time for {len(done.computed)} results. Cells are compared with each other, so each of them has a new one."
    )


def growth(bench: wb.Bench) -> tuple[list[str], bool]:
    """Processor time of each analysis of a test and of one ten times as long, as lines of a table, and whether none
    grows by more than its gate."""
    lengths = (LONG_CYCLES, TIMES_LONGER * LONG_CYCLES)
    for cycles in lengths:
        samples = aged(0, cycles, LONG_EACH, 0.3 / cycles)
        cell = bench.instances.create(name=f"cell of {cycles}", specification="cell")
        bench.measurements.create(time_series=samples, name=f"{cycles} cycles", instance=cell, sign="discharge")
        bench.analyse("retention", f"{cycles} cycles")  # reads the cycles, as every analysis after it
    rows, good = [], True
    for type in bench.analysis_types()["type"]:
        if type == FITS_EACH_REST:
            continue
        short, long = (_work(partial(bench.analyse, type, f"{cycles} cycles")) for cycles in lengths)
        if long < NOTABLE:
            continue
        kept = long / short <= GROWTH_GATE
        good = good and kept
        cells = [f"`{type}`", f"{1e3 * short:.0f} ms", f"{1e3 * long:.0f} ms", f"{long / short:.1f}x"]
        rows.append(f"| {' | '.join([*cells, 'yes' if kept else 'no'])} |")
    return rows, good


def _work(ask: Callable[[], object]) -> float:
    """Seconds of processor time."""
    before = time.process_time()
    ask()
    return time.process_time() - before


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--full", action="store_true", help="1 000 tests instead of 200")
    asked.add_argument("--tests", type=int, default=0, metavar="N", help="another number of tests")
    given = asked.parse_args()
    tests = given.tests or (1000 if given.full else 200)
    rows = []
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as scratch, wb.open(f"{scratch}/a.db") as bench:
        filled(bench, tests)
        of_gallery, good = gallery(bench, tests)
        for type in TYPES:
            first, first_work, done = timed(bench, type)
            if len(done.computed) != tests:
                raise RuntimeError(f"{type}: {done}")
            again, again_work = [], []
            for _ in range(ROUNDS):
                took, work, repeated = timed(bench, type)
                again.append(took)
                again_work.append(work)
                good = good and repeated.unchanged == tests and not repeated.computed
            took, work = statistics.median(again), statistics.median(again_work)
            ratio, gate = first_work / work, GATES.get(type, GATE)
            good = good and ratio >= gate
            cells = [f"`{type}`", f"{first:.2f}; {first_work:.2f} s", f"{1e3 * took:.0f}; {1e3 * work:.0f} ms"]
            cells += [f"{first / took:.0f}x; {ratio:.0f}x", f">= {gate:g}x", "yes" if ratio >= gate else "no"]
            rows.append(f"| {' | '.join(cells)} |")
        of_arrival = arrival(bench, tests)
        of_growth, linear = growth(bench)
    good = good and linear
    text = "\n".join(
        [
            "# Stored analyses, first and again",
            "",
            f"{tests} small tests of {CYCLES * 6 * EACH:,} samples and {CYCLES * 6} steps on {os.cpu_count()} cores "
            f"(load at the end {os.getloadavg()[0]:.1f}). The same again is the median of {ROUNDS} calls, and has "
            "to find nothing to do. `benchmarks/analyses.py` makes this page.",
            "",
            "| analysis | first; processor | the same again; processor | how much faster; processor | gate | kept |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            of_gallery,
            "",
            of_arrival,
            "",
            "## Long tests",
            "",
            f"Processor time of one test of {LONG_CYCLES} cycles, {6 * LONG_CYCLES * LONG_EACH:,} samples with "
            f"{LONG_CYCLES} pulses, and of one {TIMES_LONGER} times as long. Gate <= {GROWTH_GATE:g}x; analyses that "
            f"take less than {1e3 * NOTABLE:.0f} ms are not here, nor is `{FITS_EACH_REST}`, which fits each rest "
            "alone in 5 to 25 ms.",
            "",
            "| analysis | the test | ten times as long | growth | kept |",
            "|---|---|---|---|---|",
            *of_growth,
            "",
            *BEFORE,
        ]
    )
    RESULT.write_text(text)
    print(text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
