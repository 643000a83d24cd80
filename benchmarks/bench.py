"""What a person waits for: the operations of ``store.py`` asked at ``bench.dataset`` and ``bench.figure``.

``python benchmarks/bench.py [--full]``. Beside each stands the same at the store and at DuckDB, in the same run. A
dataset that is not in the cache is had by a step of another name in each round.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import profiles
from peers import FADED, DuckDB

import workbench as wb
from workbench.records import Measurement
from workbench.store.scope import EVERYTHING
from workbench.table import Table

MOST = 2000
GROUPS, EACH = 200, 1000
WAYS = ("bench", "frames", "in memory", "hit", "store", "DuckDB")
RESULT = Path(__file__).parent / "results" / "bench.md"
OURS = {"t": "Time [s]", "U": "Voltage [V]", "I": "Current [A]"}
SCRIPT = """
def transform(data, params):
    curves = next(iter(data.values()))
    traces = [
        {"type": "scatter", "x": f["Time [s]"], "y": f["Voltage [V]"], "line": {"width": params["width"]}}
        for f in curves.values()
    ]
    return {"data": traces, "layout": {}}
"""


def medians(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median of each in ms, all run once a round; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds + 1):
        for name, one in work.items():
            began = time.perf_counter()
            one()
            times[name].append((time.perf_counter() - began) * 1e3)
    return {name: statistics.median(spent[1:]) for name, spent in times.items()}


def filled(bench: wb.Bench, duck: DuckDB, sources: int) -> tuple[list[str], list[str]]:
    """Ids of the long series and of the tests with summaries."""
    bench.specifications.create(
        name="cell",
        ratings={
            "capacity": {"value": 3.0, "unit": "A.h"},
            "voltage_min": {"value": 2.5, "unit": "V"},
            "voltage_max": {"value": 4.2, "unit": "V"},
        },
    )
    cell = bench.instances.create(name="cell", specification="cell")
    long, cycled = [], []

    def made(name: str, tables: dict[str, Table]) -> str:
        fields = {"name": name, "instance_id": cell.id, "measurement_type": "time_series"}
        return bench.backend.create_with_tables(Measurement, fields, tables).id

    for k in range(sources):
        columns = profiles.decimal(1_000_000, k)
        table = Table.of({OURS.get(name, name): values for name, values in columns.items()})
        long.append(made(f"long {k}", {"series": table}))
        duck.ingest(long[-1], columns)
    tables = {}
    rng = np.random.default_rng(0)
    for k in range(GROUPS):
        cycle = np.arange(EACH, dtype=float)
        Q = 5.0 - 0.002 * cycle + rng.normal(0, 1e-3, EACH)
        E = 3.6 * Q
        table = Table.of({"Cycle count": cycle, "Discharge capacity [A.h]": Q, "Discharge energy [W.h]": E})
        cycled.append(made(f"cycled {k}", {"cycles": table}))
        tables[cycled[-1]] = {"cycle": cycle, "Q": Q, "E": E}
    duck.put_summaries(tables)
    return long, cycled


def series_plan(ids: list[str], name: str, window: tuple[float, float] | None) -> dict[str, Any]:
    step = {
        "op": "series",
        "source": "measurements",
        "ids": ids,
        "x": OURS["t"],
        "columns": [OURS["U"], OURS["I"]],
        "max_points": MOST,
    }
    return {"steps": {name: step | ({"window": {"min": window[0], "max": window[1]}} if window else {})}}


def summary_plan(ids: list[str], name: str) -> dict[str, Any]:
    columns = ["Cycle count", "Discharge capacity [A.h]", "Discharge energy [W.h]"]
    capacity, energy = columns[1], columns[2]
    below = {"column": capacity, "op": "lt", "value": {"ratio_of": "first", "factor": FADED}}
    metrics = {
        "rows": {"fn": "count"},
        "first": {"fn": "first", "column": capacity},
        "last": {"fn": "last", "column": capacity},
        "most": {"fn": "max", "column": capacity},
        "least": {"fn": "min", "column": energy},
        "mean": {"fn": "mean", "column": energy},
        "sum": {"fn": "sum", "column": energy},
        "end": {"fn": "first_where", "column": columns[0], "where": below},
    }
    return {
        "steps": {
            name: {"op": "summary", "dataset": "cycles", "ids": ids, "columns": columns},
            "fade": {
                "op": "aggregate",
                "input": name,
                "group_by": ["measurement_id"],
                "sort_by": columns[0],
                "metrics": metrics,
            },
        }
    }


def frames_of(data: wb.Data) -> None:
    for step in data.values():
        for key in step:
            step[key]


def measured(bench: wb.Bench, duck: DuckDB, long: list[str], cycled: list[str], rounds: int) -> list[str]:
    store, turn = bench.backend.store, count()
    lines = []

    def line(what: str, ms: dict[str, float]) -> None:
        cells = [f"{ms[name]:.1f}" if name in ms else "" for name in WAYS]
        lines.append(f"| {what} | {' | '.join(cells)} | {ms['DuckDB'] / ms['bench']:.1f} |")
        print(lines[-1], flush=True)

    windows = {"overview": None, "window of 20 000 rows": (400_000.0, 419_999.0)}
    for what, window in windows.items():

        def at_store(window: tuple[float, float] | None = window) -> None:
            store.series.recent.forget()
            for one in long:
                store.series.sample(
                    one, OURS["t"], [OURS["U"], OURS["I"]], window=window, most=MOST, scope=EVERYTHING
                )

        def at_duck(window: tuple[float, float] | None = window) -> None:
            for one in long:
                duck.reduced(one, "t", ["U", "I"], MOST, window)

        def in_memory(window: tuple[float, float] | None = window) -> wb.Data:
            return bench.dataset(series_plan(long, f"v{next(turn)}", window))

        def new(in_memory: Callable[[], wb.Data] = in_memory) -> wb.Data:
            store.series.recent.forget()
            return in_memory()

        kept = series_plan(long, "kept", window)
        work = {
            "bench": new,
            "in memory": in_memory,
            "frames": lambda new=new: frames_of(new()),
            "hit": lambda kept=kept: bench.dataset(kept),
            "store": at_store,
            "DuckDB": at_duck,
        }
        line(f"{what}, {len(long)} x 1M, two columns, {MOST} points each", medians(work, rounds))
    names = ["Cycle count", "Discharge capacity [A.h]", "Discharge energy [W.h]"]
    kept = summary_plan(cycled, "kept")

    def remembered() -> wb.Data:
        return bench.dataset(summary_plan(cycled, f"s{next(turn)}"))

    def forgotten(ask: Callable[[], object]) -> Callable[[], object]:
        def anew() -> object:
            store.series.recent.forget()
            return ask()

        return anew

    work = {
        "bench": forgotten(remembered),
        "in memory": remembered,
        "hit": lambda: bench.dataset(kept),
        "store": forgotten(lambda: store.series.many(cycled, names, "cycles", scope=EVERYTHING)),
        "DuckDB": lambda: duck.summarise(cycled),
    }
    line(
        f"summary of {GROUPS * EACH:,} rows and {GROUPS} groups of 8 metrics (at the store: read)",
        medians(work, rounds),
    )
    return lines


def drawn(bench: wb.Bench, long: list[str], rounds: int) -> list[str]:
    param = {"width": {"kind": "view", "default": 1.0}}
    recipe = wb.Recipe(plan=series_plan(long, "kept", None), transform=SCRIPT, params=param)
    raw, turn = recipe.config, count(2)
    bench.figure(recipe)

    def changed() -> None:
        figure = bench.backend.figure(raw, {"width": float(next(turn))})
        if figure.reads != {"steps": 0, "sources": 0}:
            raise RuntimeError(f"a view change read {figure.reads}")

    ms = medians(
        {
            "view change, to bytes": changed,
            "the same figure again, to bytes": lambda: bench.backend.figure(raw, {}),
            "the same figure again, as a plotly figure": lambda: bench.figure(recipe),
        },
        rounds,
    )
    return [f"| {what} | {spent:.1f} |" for what, spent in ms.items()]


def main(full: bool) -> None:
    """Run everything and write the page."""
    sources, rounds = (100, 7) if full else (20, 9)
    with tempfile.TemporaryDirectory() as name:
        duck = DuckDB(Path(name))
        with wb.open(Path(name) / "ours.db") as bench:
            long, cycled = filled(bench, duck, sources)
            lines = measured(bench, duck, long, cycled, rounds)
            figures = drawn(bench, long, rounds)
        duck.connection.close()
    text = "\n".join(
        [
            "# At the bench",
            "",
            "Median ms of interleaved rounds. *bench*: `bench.dataset` of a plan that is not in the cache, with all",
            "checks, packing and the cache's own write; *frames*: and a DataFrame of every source; *in memory*: a plan",
            "that is not in the cache, of samples that another plan has just read; *hit*: asked again, checked for",
            "freshness; *store*: the same reads without a plan; *DuckDB*: its file, MinMaxLTTB per column or SQL.",
            "`python -m benchmarks bench` makes this page.",
            "",
            "| operation | bench | frames | in memory | hit | store | DuckDB | DuckDB / bench |",
            "|---|---|---|---|---|---|---|---|",
            *lines,
            "",
            f"| figure of {sources} traces x {MOST} points, dataset in the cache | ms |",
            "|---|---|",
            *figures,
            "",
        ]
    )
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="100 sources instead of 20")
    main(parser.parse_args().full)
